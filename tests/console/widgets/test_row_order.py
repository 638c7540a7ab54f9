"""The order of rows: selection, lost cursors, and marks."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.console.widgets.row_order import RowOrder


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    rank: float | None


def order_of(*rows: Row) -> RowOrder[Row]:
    order = RowOrder[Row](lambda row: row.key)
    order.replace(rows)
    return order


def keys(order: RowOrder[Row]) -> list[str]:
    return [order.key_at(index) for index in range(len(order))]


A, B, C, D = Row("a", 3.0), Row("b", 1.0), Row("c", None), Row("d", 2.0)

ROWS = st.lists(
    st.builds(Row, st.sampled_from("abcdefgh"), st.none() | st.integers(0, 3).map(float)),
    unique_by=lambda row: row.key,
    max_size=8,
)
EVENTS = st.one_of(
    st.tuples(st.just("replace"), ROWS),
    st.tuples(st.just("sort"), st.sampled_from([None, False, True])),
    st.tuples(st.just("filter"), st.none() | st.sets(st.sampled_from("abcdefgh"))),
)
PRESSES = st.one_of(
    st.tuples(st.just("move"), st.integers(-3, 3).filter(bool)),
    st.tuples(st.just("move_to"), st.integers(-1, 9)),
    st.tuples(st.just("mark"), st.none()),
)


def happen(order: RowOrder[Row], event: tuple[str, object]) -> None:
    kind, what = event
    match kind, what:
        case "replace", list():
            order.replace(what)
        case "sort", None:
            order.sort(None, reverse=False)
        case "sort", bool():
            order.sort(lambda row: row.rank, reverse=what)
        case "filter", None:
            order.filter(None)
        case "filter", set():
            order.filter(lambda row: row.key in what)
        case _:
            raise AssertionError(event)


def press(order: RowOrder[Row], key: tuple[str, int | None]) -> None:
    actions: dict[str, Callable[[int], object]] = {
        "move": order.move,
        "move_to": order.move_to,
        "mark": lambda _: order.toggle_mark(),
    }
    actions[key[0]](key[1] or 0)


@pytest.mark.slow
@given(st.lists(st.tuples(PRESSES, st.lists(EVENTS, max_size=5)), max_size=12))
def test_between_two_keys_the_selected_row_is_the_highlighted_one_or_none(
    story: list[tuple[tuple[str, int | None], list[tuple[str, object]]]],
) -> None:
    order = order_of(A, B, C, D)
    for key, events in story:
        press(order, key)
        row = order.selected()
        highlighted = None if row is None else row.key
        for event in events:
            happen(order, event)
            now = order.selected()
            assert now is None or highlighted is None or now.key == highlighted
            if highlighted is None and order.cursor is not None:
                assert now is None or now.key == order.cursor
            assert (order.index is None) is (now is None)


@pytest.mark.slow
@given(st.lists(st.tuples(PRESSES, st.lists(EVENTS, max_size=5)), max_size=12))
def test_an_action_never_applies_to_a_row_that_was_neither_marked_nor_highlighted(
    story: list[tuple[tuple[str, int | None], list[tuple[str, object]]]],
) -> None:
    order = order_of(A, B, C, D)
    for key, events in story:
        press(order, key)
        row, marked = order.selected(), order.marked
        meant = marked or ({row.key} if row is not None else {order.cursor})
        for event in events:
            happen(order, event)
            assert {each.key for each in order.selected_or_marked()} <= meant


@pytest.mark.slow
@given(rows=ROWS, reverse=st.booleans())
def test_the_order_is_the_sorted_one_with_unknown_values_last(
    *, rows: list[Row], reverse: bool
) -> None:
    order = order_of(*rows)
    order.sort(lambda row: row.rank, reverse=reverse)
    known = [row for row in rows if row.rank is not None]
    unknown = [row for row in rows if row.rank is None]
    expected = sorted(known, key=lambda row: row.rank or 0.0, reverse=reverse) + unknown
    assert keys(order) == [row.key for row in expected]


def test_the_first_row_ever_shown_gets_the_cursor() -> None:
    order = order_of()
    assert order.selected() is None
    order.replace((A, B))
    assert order.selected() is A


def test_a_row_that_vanishes_leaves_nothing_highlighted_until_a_move() -> None:
    order = order_of(A, B, C)
    order.move(1)
    order.replace((A, C))
    assert order.cursor_lost
    assert order.selected() is None
    order.move(1)
    assert order.selected() is C


def test_a_move_up_from_a_lost_row_highlights_the_one_above_it() -> None:
    order = order_of(A, B, C)
    order.move(1)
    order.replace((A, C))
    order.move(-1)
    assert order.selected() is A


def test_a_row_that_comes_back_is_highlighted_again() -> None:
    order = order_of(A, B, C)
    order.move(1)
    order.filter(lambda row: row.key != "b")
    assert order.selected() is None
    order.filter(None)
    assert order.selected() is B


def test_a_newer_version_of_the_row_is_what_is_selected() -> None:
    order = order_of(A, B)
    newer = Row("a", 9.0)
    order.replace((B, newer))
    assert order.selected() is newer


def test_a_cursor_put_on_a_row_that_is_not_here_waits_for_it() -> None:
    order = order_of(A, B)
    order.put("d")
    assert order.selected() is None
    order.replace((A, B, D))
    assert order.selected() is D


def test_moves_stop_at_both_ends() -> None:
    order = order_of(A, B)
    order.move(-5)
    assert order.selected() is A
    order.move(5)
    assert order.selected() is B


def test_a_move_in_an_empty_order_does_nothing() -> None:
    order = order_of()
    order.move(1)
    order.move_to(3)
    assert order.selected() is None
    assert not order.toggle_mark()


def test_without_marks_an_action_applies_to_the_highlighted_row() -> None:
    assert order_of(A, B).selected_or_marked() == (A,)


def test_marked_rows_come_in_the_order_shown() -> None:
    order = order_of(A, B, D)
    order.toggle_mark()
    order.move_to(2)
    order.toggle_mark()
    order.sort(lambda row: row.rank, reverse=False)
    assert order.selected_or_marked() == (D, A)


def test_a_second_mark_takes_the_first_away() -> None:
    order = order_of(A, B)
    order.toggle_mark()
    order.toggle_mark()
    assert order.marked == frozenset()


def test_marks_that_the_filter_hides_apply_to_nothing() -> None:
    order = order_of(A, B)
    order.toggle_mark()
    order.filter(lambda row: row is B)
    order.move(1)
    assert order.marked == {"a"}
    assert order.selected_or_marked() == ()


def test_marks_that_all_vanish_do_not_fall_back_to_the_highlighted_row() -> None:
    order = order_of(A, B)
    order.toggle_mark()
    order.move(1)
    order.replace((B,))
    assert order.selected() is B
    assert order.selected_or_marked() == ()
    order.move(1)
    assert order.selected_or_marked() == (B,)


def test_a_mark_after_lost_ones_counts_again() -> None:
    order = order_of(Row("a", 1), Row("b", 2))
    order.toggle_mark()
    order.move(1)
    order.replace((Row("b", 2),))
    assert order.selected_or_marked() == ()
    order.toggle_mark()
    order.toggle_mark()
    assert order.selected_or_marked() == (Row("b", 2),)


def test_cleared_marks_are_gone() -> None:
    order = order_of(A, B)
    order.toggle_mark()
    order.clear_marks()
    order.move(1)
    assert order.selected_or_marked() == (B,)


def test_all_are_unmarked_where_all_that_are_shown_are_marked_already() -> None:
    order = order_of(Row("a", 1), Row("b", 2), Row("c", 3))
    order.toggle_all_marks()
    order.filter(lambda row: row.key != "c")
    order.toggle_all_marks()
    assert order.marked == frozenset()


def test_lost_marks_stay_lost_over_a_fall_and_a_newer_list_until_a_move() -> None:
    order = order_of(Row("a", 1), Row("b", 2), Row("c", 3))
    order.toggle_mark()
    order.replace([Row("b", 2), Row("c", 3)])
    order.put_near(0)
    assert order.selected_or_marked() == ()
    order.replace([Row("b", 2), Row("c", 4)])
    assert order.selected_or_marked() == ()
    order.move_to(1)
    assert order.selected_or_marked() == (Row("c", 4),)


def test_a_cursor_that_waits_for_its_row_is_put_at_the_first_place_too() -> None:
    order = order_of(Row("a", 1), Row("b", 2), Row("c", 3))
    order.move_to(2)
    order.put("z", 0)
    assert order.place == 0
    order.put("y")
    assert order.place == 0


def test_marks_of_which_one_is_left_are_not_lost() -> None:
    order = order_of(Row("a", 1), Row("b", 2), Row("c", 3))
    order.toggle_all_marks()
    order.replace([Row("b", 2)])
    assert order.selected_or_marked() == (Row("b", 2),)
