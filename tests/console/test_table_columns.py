"""The columns that many tables have: what each shows, sorts by and hides."""

from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text

from kit.samples.desk import NOW, sample_state
from service_tui.console import formats
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    clock_column,
    date_column,
    ending_market_column,
    figure_column,
    marked_question,
    market_column,
    price_column,
    side_column,
    venue_mark,
    venue_market_column,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state(6)
VIEW = ViewContext(STATE, NOW)
LONG = "Will the harbour at Port Ellery log gusts above 92 km/h by Friday 18:00 UTC?"
ROW = replace(
    STATE.positions[0], question=LONG, side=Side.NO, venue=Venue.EVM, average=0.4,
    cost=Micros(5 * ONE), resolves_at=NOW,
)  # fmt: skip


def plain(cell: Text | str) -> str:
    return cell if isinstance(cell, str) else cell.plain


def shown(column: Any, view: ViewContext = VIEW, **other: Any) -> str:
    return plain(column.cell(replace(ROW, **other), view))


def key(column: Any) -> Any:
    return column.sort_key(ROW, VIEW)


@pytest.mark.parametrize(
    ("venue", "mark"), [(Venue.EVM, "EVM"), (Venue.SOL, "SOL"), (Venue.SIM, "SIM")]
)
def test_a_venue_has_a_mark_of_three_letters(venue: Venue, mark: str) -> None:
    assert venue_mark(venue) == mark


def test_a_question_has_its_real_venue_before_it() -> None:
    assert marked_question("Will it?", Venue.SIM).plain == "Will it?"
    marked = marked_question("Will it?", Venue.EVM)
    assert marked.plain == "EVM Will it?"
    assert [str(span.style) for span in marked.spans] == ["live"]
    column = venue_market_column(20)
    assert shown(column).startswith("EVM The harbour at")
    assert shown(column, venue=Venue.SIM).startswith("The harbour at")


@pytest.mark.parametrize(
    ("column", "width"),
    [
        (market_column(), 14), (market_column("m", "M", 30), 30), (venue_market_column(20), 20),
    ],
)  # fmt: skip
def test_a_question_takes_the_room_that_is_left_and_keeps_its_end(column: Any, width: int) -> None:
    assert (column.width, column.flex, column.keeps_end) == (width, True, True)
    assert key(column) == LONG
    assert "Port Ellery" in shown(column)


@pytest.mark.parametrize("column", [market_column(), venue_market_column()])
def test_a_question_that_two_markets_have_is_followed_by_its_end(column: Any) -> None:
    end, question = Timestamp(NOW + 60), "Will Harborne win?"
    asked = replace(ROW, market_id="one", question=question, resolves_at=NOW)
    twin = replace(asked, market_id="another", resolves_at=end)
    view = ViewContext(replace(STATE, positions=(asked, twin), on_venues=()), NOW)
    shown = [plain(column.cell(each, view)).removeprefix("EVM ") for each in (asked, twin)]
    assert shown == [f"Will Harborne win? ({formats.date_time(each).plain})" for each in (NOW, end)]


def test_a_question_beside_its_end_is_without_that_time() -> None:
    column = ending_market_column("m", "M", 22)
    assert (column.width, column.flex, column.keeps_end) == (22, True, True)
    end = "Will it rain by 15 Jan 08:00 UTC?"
    assert len(shown(column, question=end)) <= len(shown(market_column(), question=end))


def test_a_side_is_shown_and_sorted_by_its_name() -> None:
    column = side_column()
    assert (shown(column).strip(), key(column), column.width) == ("NO", "no", 4)
    assert shown(column, side=Side.YES).strip() == "YES"


def test_a_figure_is_written_by_its_format_and_sorted_by_itself() -> None:
    column: Any = figure_column(
        "edge", "edge %", 7, lambda row: row.average, lambda value: Text(f"<{value}>"), tier=120
    )
    assert (column.id, column.title, column.width, column.tier) == ("edge", "edge %", 7, 120)
    assert (shown(column), key(column)) == ("<0.4>", 0.4)
    assert (column.numeric, column.of_row, column.is_right) == (True, True, True)


def test_a_price_is_aligned_at_its_point() -> None:
    column: Any = price_column("price", "price", 6, lambda row: row.average, tier=80)
    assert shown(column) == formats.price(0.4, aligned=True).plain
    assert (key(column), column.tier, column.numeric) == (0.4, 80, True)
    assert shown(column, average=None) == formats.price(None, aligned=True).plain


def test_an_amount_is_hidden_while_amounts_are_masked() -> None:
    column: Any = amount_column("cash", "cash", 9, lambda row: row.cost, formats.money, tier=160)
    masked = replace(VIEW, masked=True)
    assert "5.00" in shown(column)
    assert "5" not in shown(column, masked)
    assert shown(column, masked) == formats.money(ROW.cost, masked=True).plain
    assert (key(column), column.tier, column.numeric, column.of_row) == (5 * ONE, 160, True, True)


def test_times_are_the_rows_own_and_the_clock_does_not_glow() -> None:
    clock: Any = clock_column(lambda row: row.resolves_at - 9)
    assert (shown(clock), key(clock)) == (formats.clock_time(Timestamp(NOW - 9)).plain, NOW - 9)
    assert (clock.glows, clock.numeric, clock.title) == (False, True, "wall time")
    date: Any = date_column("end", "ends", lambda row: row.resolves_at, tier=80)
    assert (shown(date), key(date)) == (formats.date_time(NOW).plain, NOW)
    assert (date.is_right, date.numeric, date.tier) == (True, False, 80)


def test_a_word_is_one_line_and_sorted_by_itself() -> None:
    column: Any = word_column("why", "why", 12, lambda _: "two\nlines", tier=80)
    assert "\n" not in shown(column)
    assert (key(column), column.tier, column.of_row, column.is_right) == (
        "two\nlines", 80, True, False,
    )  # fmt: skip


def spec(*rows: Any, **other: Any) -> TableSpec[Any]:
    return TableSpec(
        "open", lambda _: rows, lambda row: row.question, (), lambda *_: "", lambda _: "", **other
    )


def test_a_tab_has_its_name_and_how_many_rows_it_is_known_to_have() -> None:
    assert (spec(ROW, ROW).label(STATE), spec().label(STATE)) == ("open 2", "open 0")
    unknown = spec(is_loaded=lambda state: state is not STATE).label(STATE)
    assert unknown.startswith("open ")
    assert "0" not in unknown
    assert (spec().sort, spec().falling, dict(spec().compared)) == ("", False, {})
