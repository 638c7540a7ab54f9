"""Garbage collection: when it runs, and that busy programs are seldom interrupted."""

import gc
from collections.abc import Iterator

import pytest

from service_tui.app import collecting
from service_tui.app.collecting import (
    AT_LEAST_EVERY,
    EVERY,
    NEVER,
    Collecting,
    collect_from_now,
)


@pytest.fixture
def whole() -> Iterator[list[int]]:
    """One entry for each whole collection; the collector is left as it was found.

    What is there already stays out of it: to walk every object of the process takes half a second.
    """
    found: list[int] = []
    gc.freeze()
    before = gc.get_threshold()

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start" and about["generation"] == 2:
            found.append(1)

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.set_threshold(*before)


@pytest.mark.slow
def test_what_is_old_is_collected_by_nobody_else(whole: list[int]) -> None:
    young, middle, _ = gc.get_threshold()
    Collecting().begin()
    assert gc.get_threshold()[:2] == (young, middle)
    kept = [[number] for number in range(200_000)]
    assert len(kept) == 200_000
    assert whole == []


def test_a_whole_collection_comes_while_nobody_types(whole: list[int]) -> None:
    one = Collecting()
    one.begin()
    for _ in range(EVERY - 1):
        one.collect(idle=True)
    assert whole == []
    one.collect(idle=True)
    assert len(whole) == 1


def test_whoever_never_rests_is_interrupted_seldom(whole: list[int]) -> None:
    one = Collecting()
    one.begin()
    for _ in range(AT_LEAST_EVERY - 1):
        one.collect(idle=False)
    assert whole == []
    one.collect(idle=False)
    assert len(whole) == 1


def test_what_is_loaded_is_skipped_from_now_on(whole: list[int]) -> None:
    gc.disable()
    collect_from_now()
    assert gc.isenabled()
    assert len(gc.get_objects(generation=2)) < 1_000
    assert whole == []


class Collector:
    """In place of Python's own: what it was asked to do."""

    def __init__(self, *, is_on: bool = True) -> None:
        self.done: list[object] = []
        self._is_on = is_on

    def isenabled(self) -> bool:
        return self._is_on

    def get_threshold(self) -> tuple[int, int, int]:
        return (700, 10, 20)

    def __getattr__(self, name: str) -> object:
        return lambda *given: self.done.append((name, *given))


def test_the_first_whole_collections_keep_what_is_there_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collector = Collector()
    monkeypatch.setattr(collecting, "gc", collector)
    one = Collecting()
    one.begin()
    assert collector.done == [("set_threshold", 700, 10, NEVER)]
    collector.done.clear()
    for _ in range(3 * EVERY):
        one.collect(idle=True)
    kept = [("collect",), ("freeze",)]
    assert collector.done == [*kept, *kept, ("collect",)]


def test_a_collector_that_is_off_stays_off(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = Collector(is_on=False)
    monkeypatch.setattr(collecting, "gc", collector)
    one = Collecting()
    for _ in range(2 * AT_LEAST_EVERY):
        one.collect(idle=True)
    assert collector.done == []
