import gc
from collections.abc import Iterator

import pytest

from service_tui.wiring.collecting import AT_LEAST_EVERY, EVERY, Collecting, collect_from_now


@pytest.fixture
def whole() -> Iterator[list[int]]:
    """One entry for each whole collection; the collector is left as it was found."""
    found: list[int] = []
    before = gc.get_threshold()

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start" and about["generation"] == 2:
            found.append(1)

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_is_old_is_collected_by_nobody_else(whole: list[int]) -> None:
    young, middle, _ = gc.get_threshold()
    Collecting().begin()
    assert gc.get_threshold()[:2] == (young, middle)
    kept = [[number] for number in range(200_000)]
    assert len(kept) == 200_000
    assert whole == []


def test_a_whole_collection_comes_while_nobody_types(whole: list[int]) -> None:
    collecting = Collecting()
    collecting.begin()
    for _ in range(EVERY - 1):
        collecting.collect(idle=True)
    assert whole == []
    collecting.collect(idle=True)
    assert len(whole) == 1


def test_whoever_never_rests_is_interrupted_seldom(whole: list[int]) -> None:
    collecting = Collecting()
    collecting.begin()
    for _ in range(AT_LEAST_EVERY - 1):
        collecting.collect(idle=False)
    assert whole == []
    collecting.collect(idle=False)
    assert len(whole) == 1


def test_what_is_loaded_is_skipped_from_now_on(whole: list[int]) -> None:
    gc.disable()
    collect_from_now()
    assert gc.isenabled()
    assert len(gc.get_objects(generation=2)) < 1_000
    assert whole == []
