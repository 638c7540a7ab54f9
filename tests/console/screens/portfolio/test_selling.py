"""The sale of marked positions: one question that lists them, then an order for each."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.questions import short_question
from service_tui.console.screens.portfolio.selling import SALES_MAX, sales_of, sales_question
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Venue
from service_tui.units import ONE

STATE = seen_before(guarded_state())
FIRST, SECOND, *_ = STATE.positions


def view(state: DeskState = STATE) -> ViewContext:
    return ViewContext.of(state, NOW)


async def test_marked_positions_are_sold_after_one_question_that_lists_them() -> None:
    async with running(STATE, first="portfolio", size=(120, 40)) as seen:
        rows = [seen.app.front.table.order[place] for place in (0, 1)]
        await seen.press("space", "space")
        assert "2 marked" in seen.text
        await seen.press("x")
        for row in rows:
            assert short_question(row.question)[:24] in seen.text
        assert "Sells 2 positions" in seen.text
        assert not seen.doors.submitted
        await seen.until(lambda: seen.app.screen.is_armed)
        await seen.press("y")
        assert seen.doors.submitted == [
            PlaceTrade(
                row.market_id,
                row.side,
                Action.SELL,
                row.venue,
                shares=row.shares,
                question=row.question,
                everything=True,
            )
            for row in rows
        ]
        assert "marked" not in seen.text


async def test_one_marked_position_opens_its_ticket_wherever_the_cursor_is() -> None:
    async with running(STATE, first="portfolio", size=(120, 40)) as seen:
        row = seen.app.front.table.order[0]
        await seen.press("space", "x")
        assert row.question[:30] in seen.text
        assert not seen.doors.submitted


LEFT_OUT = {
    "a closed market": (
        replace(
            STATE,
            markets={
                **STATE.markets,
                FIRST.market_id: replace(
                    STATE.markets[FIRST.market_id], status=MarketStatus.CLOSED
                ),
            },
        ),
        FIRST,
        "closed",
    ),
    "real money": (
        replace(
            STATE,
            service=replace(STATE.service, embedded=False),
            wallet=replace(STATE.wallet, simulated=False),
        ),
        replace(FIRST, venue=Venue.EVM),
        "1 real money, sell each by its ticket",
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_cannot_be_sold_with_the_others_is_left_out_and_named(case: str) -> None:
    state, position, why = LEFT_OUT[case]
    sales = sales_of((position, SECOND), view(state))
    assert [one for one, _ in sales.able] == [SECOND]
    assert why in sales.left_out
    question, lines = sales_question(sales, view(state))
    assert "NOT sold" in question.body.plain
    assert len(lines) == 1


def test_no_more_are_sold_at_once_than_the_desk_takes() -> None:
    many = [FIRST] * (SALES_MAX + 3)
    sales = sales_of(many, view())
    assert len(sales.able) == SALES_MAX
    assert sales.left_out.startswith("3 beyond")


def test_masked_the_question_tells_no_amount() -> None:
    masked = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    question, lines = sales_question(sales_of((FIRST, SECOND), view(masked)), view(masked))
    told = "\n".join(text.plain for text in (question.body, *lines))
    assert not any(f"{held.shares / ONE:,.2f}" in told for held in (FIRST, SECOND))
