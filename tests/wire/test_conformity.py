"""The interface spec against the running service: every statement, covered and checked."""

from collections import Counter
from collections.abc import Generator
from typing import Final

import pytest

import wire.conformity_risk  # noqa: F401  (registers its rows)
from kit.service.scene import Scene
from kit.service.threaded import Threaded
from wire import reactor_rows, research_rows, wallet_rows  # noqa: F401  (in the table)
from wire.conformity import ROWS, Row
from wire.statements import SPEC, committed, statements_of

LATER: Final[dict[str, int]] = {}
"""Rows that wait for other work, by its subject; each count reaches zero when that lands."""

CHECKED: Final = [
    pytest.param(one, marks=[pytest.mark.process] if one.place in research_rows.STARTS_GIT else [])
    for one in ROWS
    if one.check is not None
]


AGENTS_MAX: Final = 12
"""Of the 20 that an account may have: what a check takes for itself must still fit."""


class Scenes:
    """Scenes one after the other: a new service when the last one has many agents."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._now: Scene | None = None

    def next(self) -> Scene:
        if self._now is None or len(self._now.service.stage.world.agents) > AGENTS_MAX:
            self.close()
            service = Threaded()
            service.open(self._folders.mktemp("conformity"))
            self._now = Scene(service)
        return self._now

    def close(self) -> None:
        if self._now is not None:
            self._now.service.close()


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scenes]:
    made = Scenes(tmp_path_factory)
    yield made
    made.close()


def test_the_list_of_statements_is_that_of_the_spec() -> None:
    if not SPEC.exists():
        # The list stands in for the spec where that is not at hand; the other tests go by it.
        assert len(committed()) > 200
        return
    assert list(statements_of(SPEC.read_text(encoding="utf-8"))) == committed()


def test_every_statement_is_covered_and_nothing_else_is() -> None:
    covered = {one.place for one in ROWS}
    stated = {one.place for one in committed()}
    assert stated - covered == set()
    assert covered - stated == set()


def test_every_row_is_one_thing() -> None:
    for one in ROWS:
        assert sum(map(bool, (one.check, one.subject, one.silence))) == 1


def test_what_is_left_for_later_is_counted() -> None:
    counts = Counter(one.subject for one in ROWS if one.subject)
    assert counts == LATER


@pytest.mark.slow
@pytest.mark.parametrize("one", CHECKED, ids=lambda one: f"{one.section[:24]}: {one.name}")
def test_a_statement_of_the_spec(one: Row, scenes: Scenes) -> None:
    assert one.check is not None
    one.check(scenes.next())
