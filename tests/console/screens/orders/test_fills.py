"""The fills of all agents on screen 9: complete, by currency, found, and the same as before."""

from dataclasses import replace

import pytest
from textual.widgets import Input

from kit.console.doors import Running, running, seen_before
from kit.console.pictures import SIZES, assert_each
from kit.samples.desk import NOW, sample_state
from service_tui.console import formats
from service_tui.console.screens.orders.fills import FILLS, describe_fill, totals
from service_tui.console.screens.orders.screen import BlotterScreen
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.line_fit import fitted_bits, joined
from service_tui.desk.all_fills import all_fills
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import Deal
from service_tui.desk.state import DeskState
from service_tui.terms import Action, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = seen_before(sample_state())
VIEW = ViewContext.of(STATE, NOW, 70)
OWN = STATE.account.agent_id
REAL = replace(
    STATE.fills[0],
    agent_id=OWN,
    trade_id="real-1",
    venue=Venue.EVM,
    action=Action.SELL,
    money=Micros(12 * ONE),
    realized=Micros(-3 * ONE),
    fee=Micros(ONE // 10),
)


def screen(seen: Running) -> BlotterScreen:
    front = seen.app.front
    assert isinstance(front, BlotterScreen)
    return front


def listed(seen: Running) -> list[str]:
    order = screen(seen).table.order
    rows = (order[place] for place in range(len(order)))
    return [row.trade_id for row in rows if isinstance(row, FillView)]


def test_each_trade_of_any_agent_is_one_row() -> None:
    fills = all_fills(STATE)
    own = {trade.trade_id for trade in STATE.trades if trade.deal in {Deal.BUY, Deal.SALE}}
    every = {fill.trade_id for fill in STATE.fills} | own
    assert {fill.trade_id for fill in fills} == every
    assert [fill.at for fill in fills] == sorted((fill.at for fill in fills), reverse=True)
    # Both the stream and the own history have it: it is one row.
    trade = next(trade for trade in STATE.trades if trade.deal is Deal.BUY)
    both = replace(STATE, fills=(replace(STATE.fills[0], trade_id=trade.trade_id),))
    assert [fill.trade_id for fill in all_fills(both)].count(trade.trade_id) == 1


def test_sums_never_hold_two_currencies_and_no_unknown_fee() -> None:
    play = replace(STATE.fills[0], action=Action.BUY, money=Micros(5 * ONE), fee=Micros(0))
    bits = [bit.text.plain for bit in totals((play, REAL, REAL), VIEW)]
    assert bits == [
        "2 in USDC.e  bought 0.00  sold 24.00  fees 0.20  sales P&L -6.00",
        "1 in $SIM  bought 5.00  sold 0.00  fees 0.00  sales P&L 0.00",
    ]
    unknown = totals((REAL, replace(REAL, fee=None)), VIEW)
    assert f"fees {formats.NOT_KNOWN}" in unknown[0].text.plain
    masked = totals((REAL,), replace(VIEW, masked=True))
    assert "12" not in masked[0].text.plain


def test_where_room_is_short_the_sums_of_each_currency_are_shortened() -> None:
    play = replace(STATE.fills[0], action=Action.BUY, money=Micros(5 * ONE), fee=Micros(0))
    bits = totals((play, REAL, REAL), VIEW)
    for width, line in (
        (
            100,
            (
                "2 in USDC.e  bought 0.00  sold 24.00  fees 0.20  sales P&L -6.00  "
                "1 in $SIM  sales P&L 0.00"
            ),
        ),
        (64, "2 in USDC.e  sales P&L -6.00  1 in $SIM  sales P&L 0.00"),
        (36, "2 in USDC.e  sales P&L -6.00  1 in …"),
    ):
        assert joined(fitted_bits(bits, width), width).plain == line


def test_a_fill_whose_order_still_works_is_partial() -> None:
    order = OpenOrderView(
        order_id="o-1",
        trade_id="real-1",
        market_id=REAL.market_id,
        question=REAL.question,
        side=REAL.side,
        action=REAL.action,
        venue=Venue.EVM,
        shares=Micros(ONE),
        filled=REAL.shares,
        price=0.5,
        money=Micros(ONE),
        created_at=NOW,
    )
    assert "✓ filled" in describe_fill(REAL, VIEW).plain
    view = ViewContext.of(replace(STATE, orders=(order,)), NOW, 70)
    text = describe_fill(REAL, view).plain
    assert "◐ partial" in text
    assert "P&L, USDC.e" in text
    assert "-3.00" in text


def state_of(fill: FillView, state: DeskState) -> str:
    column = next(one for one in FILLS.columns if one.id == "state")
    return str(column.cell(fill, ViewContext.of(state, NOW, 70)))


def test_a_fill_is_complete_only_where_its_order_is_known() -> None:
    assert state_of(REAL, STATE) == "✓ filled"
    seen = {topic: at for topic, at in STATE.seen.items() if topic is not Topic.ORDERS}
    unread = replace(STATE, seen=seen)
    assert state_of(REAL, unread) == formats.NOT_KNOWN
    # A market order of play money leaves nothing open.
    assert state_of(replace(REAL, venue=Venue.SIM), unread) == "✓ filled"
    # The open orders of other agents are not read.
    assert state_of(replace(REAL, agent_id="another"), STATE) == formats.NOT_KNOWN
    dropped = replace(STATE, service=replace(STATE.service, dropped={Topic.ORDERS: 1}))
    assert state_of(REAL, dropped) == formats.NOT_KNOWN
    part = replace(STATE.trades[0], trade_id=REAL.trade_id, status=TradeStatus.PARTIALLY_FILLED)
    assert state_of(REAL, replace(STATE, trades=(part,))) == "◐ partial"


def test_the_time_of_another_day_is_its_day() -> None:
    column = next(column for column in FILLS.columns if column.id == "time")
    today = str(column.cell(REAL, VIEW))
    earlier = replace(REAL, at=Timestamp(NOW - 3 * 86_400))
    assert today.count(":") == 2
    assert ":" not in str(column.cell(earlier, VIEW))
    long_ago = replace(REAL, at=Timestamp(NOW - 500 * 86_400))
    assert str(column.cell(long_ago, VIEW)).isdecimal()


@pytest.mark.slow
async def test_a_search_for_a_column_of_the_fills_waits_while_orders_are_in_front() -> None:
    async with running(STATE, first="blotter", size=(120, 40)) as seen:
        await seen.press("o")
        front = screen(seen)
        assert front.spec is FILLS
        await seen.press("slash", *"side:yes", "enter")
        found = listed(seen)
        assert front.line.typed == "side:yes"
        await seen.press("o")
        assert front.spec is not FILLS
        assert (front.line.typed, front.search.problem) == ("", "")
        assert len(front.table.order) > len(STATE.tickets)
        await seen.press("o")
        assert front.line.typed == "side:yes"
        assert listed(seen) == found
        # A word is for both lists.
        await seen.press("slash", "ctrl+u", *"buy", "enter", "o")
        assert front.line.typed == "buy"


@pytest.mark.slow
async def test_fills_are_searched_summed_and_exported() -> None:
    state = replace(STATE, fills=(REAL, *STATE.fills))
    async with running(state, first="blotter", size=(120, 40)) as seen:
        await seen.press("o")
        assert len(listed(seen)) == len(all_fills(state))
        await seen.press("slash")
        screen(seen).line.query_one(Input).value = "evm_venue"
        await seen.until(lambda: listed(seen) == ["real-1"])
        await seen.until(lambda: "1 in USDC.e" in seen.text)
        await seen.press("enter", "ctrl+s")
        assert any(isinstance(command, ExportData) for command in seen.doors.submitted)
        await seen.press("o")
        assert screen(seen).place == 0


@pytest.mark.slow
async def test_the_fills_look_like_this() -> None:
    async with running(STATE, first="blotter", size=SIZES[0]) as seen:
        await seen.press("o")
        await assert_each(seen.pilot, "fills")
