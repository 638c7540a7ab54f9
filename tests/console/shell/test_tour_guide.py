"""The tour in the console: when it begins, goes on and ends, and where it leads."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.shell import Shell
from kit.samples.desk import NOW, sample_state
from service_tui.console.keys import cap, with_keys
from service_tui.console.messages import TourRequested
from service_tui.console.shell import tour_guide
from service_tui.console.shell.tour_guide import NEEDS_PLAY_MONEY, TourGuide
from service_tui.console.tour import DONE, STEPS, Tour
from service_tui.console.widgets.banner import LastingCondition

STATE = replace(sample_state(6), rewound_to=None)


def guide(*, place: int | None = None, **other: Any) -> tuple[TourGuide, Shell]:
    shell = Shell(replace(STATE, **other))
    made = TourGuide(shell.app)
    if place is not None:
        made.tour = Tour(STATE, place)
    return made, shell


def test_a_tour_begins_with_play_money_alone() -> None:
    made, shell = guide()
    made.begin_or_end(TourRequested())
    words = f"five steps with play money; {cap('app.command')} tour end leaves"
    assert (shell.toasts, shell.shown_count) == ([(words, "info")], 1)
    assert made.tour == Tour(shell.desk_state)
    made, shell = guide(service=replace(STATE.service, embedded=False))
    made.begin_or_end(TourRequested())
    assert (shell.toasts, made.tour) == ([(NEEDS_PLAY_MONEY, "warn")], None)
    assert shell.shown_count == 1


@pytest.mark.parametrize(("place", "words"), [(1, "tour ended"), (None, "no tour is under way")])
def test_a_tour_is_ended_by_a_word(place: int | None, words: str) -> None:
    made, shell = guide(place=place)
    made.begin_or_end(TourRequested(ends=True))
    assert (shell.toasts, made.tour, shell.shown_count) == ([(words, "info")], None, 1)


def test_the_next_step_comes_once_the_present_one_is_done() -> None:
    made, shell = guide(place=0)
    made.follow(shell.desk_state)
    assert made.tour is not None
    assert made.tour.place == 0
    shell.front.name_in_keys = "markets"
    made.follow(shell.desk_state)
    assert made.tour.place == 1
    assert shell.toasts == []
    guide()[0].follow(STATE)


def test_the_last_step_ends_the_tour_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made, shell = guide(place=len(STEPS) - 1)
    last = replace(STEPS[-1], is_done=lambda _: True)
    monkeypatch.setattr("service_tui.console.tour.STEPS", (*STEPS[:-1], last))
    made.follow(shell.desk_state)
    assert (made.tour, shell.toasts) == (None, [(with_keys(DONE), "good")])


def test_the_step_stands_in_its_line_with_its_number() -> None:
    made, shell = guide(place=1)
    (line,) = made.conditions(shell.desk_state)
    text = with_keys("{markets.buy} opens a ticket: type 25, read the quote")
    assert line == LastingCondition("accent", f"tour 2/{len(STEPS)}", text)
    assert guide()[0].conditions(STATE) == ()


class Steps:
    """A step whose row is given; notes which one it had before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *rows: str) -> None:
        self.rows = list(rows)
        self.before: list[str] = []
        monkeypatch.setattr(tour_guide.Tour, "row", lambda _, __, before: self.row(before))

    def row(self, before: str) -> str:
        self.before.append(before)
        return self.rows.pop(0)


def test_the_cursor_is_put_on_the_row_of_a_step_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch, "", "a", "a", "b", "", "b")
    made, shell = guide(place=3)
    for _ in range(6):
        made.lead()
    assert shell.front.focused == ["a", "b", "b"]
    assert steps.before == ["", "", "a", "a", "b", ""]


@pytest.mark.parametrize("why", ["no tour", "a dialog", "a recorded state"])
def test_the_cursor_stays_where_it_is_otherwise(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    Steps(monkeypatch, "a")
    made, shell = guide(place=None if why == "no tour" else 3)
    if why == "a dialog":
        shell.screen_stack.append("a dialog")
    if why == "a recorded state":
        shell.desk_state = replace(STATE, rewound_to=NOW)
    made.lead()
    assert shell.front.focused == []
