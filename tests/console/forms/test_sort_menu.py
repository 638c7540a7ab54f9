"""The sort menu: one letter for each column, and the sort that it sets."""

import pytest

from kit.console.doors import Running, running, seen_before
from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.sort_menu import (
    USUAL,
    SortChoice,
    SortMenu,
    letters_of,
    sort_choices,
)
from service_tui.console.screens.markets.table import MARKETS
from service_tui.console.screens.portfolio.table import TABLES
from service_tui.console.widgets.record_table import TableState

STATE = seen_before(sample_state())


def order_of(seen: Running) -> TableState:
    return seen.app.front.table.state()


def test_each_column_has_a_letter_of_its_own_name_or_another_free_one() -> None:
    assert letters_of(("market", "side", "shares", "", "mark $")) == ("m", "s", "h", "a", "r")
    assert letters_of(("jkq",)) == ("a",)
    many = letters_of(["a"] * 40)
    assert len({letter for letter in many if letter}) == 23 + 9
    assert many[-1] == ""


def test_the_menu_lists_every_sortable_column_and_the_direction_of_the_present_one() -> None:
    state = TableState(sort="price", falling=True)
    choices = sort_choices(MARKETS.columns, state, frozenset({"price"}))
    sortable = [column.id for column in MARKETS.columns if column.sort_key]
    assert [choice.column for choice in choices] == [*sortable, USUAL]
    assert {one.column: one.falling for one in choices if one.falling is not None} == {
        "price": True
    }
    assert [one.column for one in choices if one.is_shown] == ["price", USUAL]
    assert sort_choices(MARKETS.columns[:0], state, frozenset()) == ()


@pytest.mark.parametrize("spec", TABLES)
def test_no_letter_of_a_table_sorts_by_two_columns(spec: object) -> None:
    choices = sort_choices(spec.columns, TableState(), frozenset())  # type: ignore[attr-defined]
    keys = [choice.key for choice in choices]
    assert len(set(keys)) == len(keys)
    assert "" not in keys


@pytest.mark.slow
async def test_two_keys_sort_by_a_column_and_two_more_reverse_it() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        letters = {
            one.column: one.key
            for one in sort_choices(MARKETS.columns, order_of(seen), frozenset())
        }
        await seen.press("comma", letters["price"])
        assert (order_of(seen).sort, order_of(seen).falling) == ("price", True)
        assert len(seen.app.screen_stack) == 1
        await seen.press("f6", letters["price"])
        assert (order_of(seen).sort, order_of(seen).falling) == ("price", False)
        row = seen.app.front.current_row()
        await seen.press("comma", "0")
        assert (order_of(seen).sort or "", order_of(seen).falling) == (
            MARKETS.sort,
            MARKETS.falling,
        )
        assert seen.app.front.current_row() == row


@pytest.mark.slow
async def test_the_cursor_of_the_menu_begins_at_the_present_column_and_esc_changes_nothing() -> (
    None
):
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        await seen.press("s", "comma")
        before = order_of(seen)
        menu = seen.app.screen
        assert isinstance(menu, SortMenu)
        assert menu.at == before.sort
        await seen.press("j", "k", "j", "escape")
        assert order_of(seen) == before
        await seen.press("comma", "j", "enter")
        assert order_of(seen).sort == menu.at != before.sort


@pytest.mark.slow
async def test_the_menu_shows_each_column_and_how_it_would_sort() -> None:
    for falls, words in ((True, "↓ reverse to ↑"), (False, "↑ reverse to ↓")):
        choices = (
            SortChoice("price", "price", "p"),
            SortChoice("age", "age", "a", falling=falls),
            SortChoice("cost", "cost", "c", is_shown=False),
            SortChoice(USUAL, "usual order", "0"),
        )
        async with opened(SortMenu(STATE, NOW, choices), STATE) as t:
            for line in ("p price", f"▌ a age {words}", "c cost hidden at this width", "0 usual"):
                assert line in " ".join(t.text.split())
            # A letter that no column has does nothing.
            await t.press("z", "enter")
            assert t.returned == ["age"]
    async with opened(SortMenu(STATE, NOW, (choices[0], choices[-1])), STATE) as t:
        await t.press("enter")
        assert t.returned == ["price"]


@pytest.mark.slow
async def test_a_click_in_the_menu_sorts() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        await seen.press("comma")
        y, line = next(
            (y, line) for y, line in enumerate(seen.lines) if " YES" in line and "│" in line
        )
        await seen.pilot.click(offset=(line.index(" YES") + 2, y))
        await seen.until(lambda: len(seen.app.screen_stack) == 1)
        assert order_of(seen).sort == "price"


@pytest.mark.slow
async def test_a_list_without_sortable_columns_says_so() -> None:
    async with running(STATE, first="attention") as seen:
        await seen.press("comma")
        assert len(seen.app.screen_stack) == 1
        assert seen.toasts == ["! no sortable column"]
