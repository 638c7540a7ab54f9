"""An output that is followed shows its end; whoever scrolls up reads on in peace."""

from types import SimpleNamespace
from typing import Any

import pytest
from textual.geometry import Size

from service_tui.console.widgets.output_view import OutputView


def view(count: int, *, top: float = 0.0, height: int = 10, follows: bool = True) -> Any:
    """A view of so many lines that only notes where it is placed."""
    made = SimpleNamespace(
        _shown=[SimpleNamespace(text=f"line {number}") for number in range(count)],
        scroll_y=top, size=Size(40, height), follows=follows, placed=[], posted=[],
        refreshed=[], Scrolled=lambda: "scrolled", _is_placing=False,
    )  # fmt: skip
    made.place = made.placed.append
    made.post_message = made.posted.append
    made.refresh = lambda: made.refreshed.append(True)
    made.top = round(top)
    return made


@pytest.mark.parametrize(
    ("count", "top", "below"), [(30, 0.0, 20), (30, 5.4, 15), (30, 20.0, 0), (5, 0.0, 0)]
)
def test_lines_below_are_those_that_nobody_sees(count: int, top: float, below: int) -> None:
    assert OutputView.below.fget(view(count, top=top)) == below


@pytest.mark.parametrize("on", [True, False])
def test_who_follows_comes_to_the_end_and_who_stops_stays(*, on: bool) -> None:
    made = view(30, top=3.0, follows=not on)
    OutputView.follow(made, on=on)
    assert made.follows is on
    assert made.placed == ([30] if on else [])


@pytest.mark.parametrize("follows", [True, False])
def test_new_lines_move_only_who_follows(*, follows: bool) -> None:
    made = view(0, follows=follows)
    lines = [SimpleNamespace(text="a"), SimpleNamespace(text="b")]
    OutputView.show(made, lines, [1], 1)
    assert (made._shown, made._found, made._at) == (lines, frozenset({1}), 1)
    assert made.virtual_size == Size(40, 2)
    assert made.placed == ([2] if follows else [])
    assert made.refreshed == [True]


@pytest.mark.parametrize(
    ("by", "follows", "stays"),
    [(-1, True, False), (1, True, True), (1, False, False), (0, True, True)],
)
def test_a_step_up_ends_following(by: int, *, follows: bool, stays: bool) -> None:
    made = view(30, top=7.0, follows=follows)
    OutputView.step(made, by)
    assert (made.follows, made.placed, made.posted) == (stays, [7 + by], ["scrolled"])


def test_a_line_that_is_looked_for_comes_into_the_middle() -> None:
    made = view(30)
    OutputView.reveal(made, 17)
    assert (made.follows, made.placed) == (False, [12])


@pytest.mark.parametrize(("line", "y"), [(-3, 0), (4, 4), (20, 20), (99, 20)])
def test_a_line_is_placed_as_far_as_there_are_lines(line: int, y: int) -> None:
    made = view(30)
    moved: list[tuple[int, bool]] = []
    made.scroll_to = lambda **given: moved.append((given["y"], made._is_placing))
    OutputView.place(made, line)
    assert moved == [(y, True)]
    assert made._is_placing is False


def test_only_scrolling_up_by_hand_ends_following() -> None:
    for before, after, is_placing, stays in (
        (9.0, 8.0, False, False), (9.0, 8.0, True, True), (8.0, 9.0, False, True),
        (9.0, 9.0, False, True),
    ):  # fmt: skip
        made = OutputView()
        given: Any = made
        given.post_message = lambda _: None
        given._is_placing = is_placing
        made.watch_scroll_y(before, after)
        assert made.follows is stays


def test_a_line_that_matches_is_marked_and_the_one_in_focus_more() -> None:
    made: Any = view(4)
    made.left, made._found, made._at = 2, frozenset({1, 2}), 2
    made._paint = SimpleNamespace(prepare=lambda: None, style=lambda ink="": ink)
    inks: list[str] = []
    for y in range(5):
        strip = OutputView.render_line(made, y)
        inks.append(str(next(iter(strip)).style))
        assert strip.cell_length == 40
        assert strip.text.strip() == ("" if y == 4 else f"ne {y}")
    assert inks == ["", "bold accent", "bold reverse accent", "", ""]


def test_the_lines_from_the_top_on_are_shown_at_the_columns_from_the_left_on() -> None:
    made: Any = view(30, top=7.0)
    made.left, made._found, made._at = 3, frozenset[int](), None
    made._paint = SimpleNamespace(prepare=lambda: None, style=lambda ink="": ink)
    assert OutputView.render_line(made, 0).text.rstrip() == "e 7"
    assert OutputView.render_line(made, 9).text.rstrip() == "e 16"
