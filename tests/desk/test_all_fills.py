"""The list of fills is complete: what the history tells, and what the stream tells, each once."""

from collections import Counter
from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import trade_of
from service_tui.console.screens.agents.table import TRADES
from service_tui.console.screens.orders.fills import describe_fill
from service_tui.console.view_context import ViewContext
from service_tui.desk.all_fills import all_fills, fill_of
from service_tui.desk.audit.exports import trade_rows
from service_tui.desk.audit.listings import fill_rows
from service_tui.desk.audit.why import why_ticket
from service_tui.desk.facts import FillsRead, FillsReceived
from service_tui.desk.feed.fills import FillsWatch
from service_tui.desk.fill_tickets import fill_tickets, ticket_of_fill, with_book
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.agents import AgentDetailView, FillView, ReasonedTradeView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.risk import REASONS, exit_cause, exit_source
from service_tui.desk.slices.tickets import OnBook, TicketState, TicketView
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state()
FILL = replace(STATE.fills[0], trade_id="t-9", at=Timestamp(NOW - 60), seq=0)


def ids(fills: tuple[FillView, ...]) -> list[str]:
    return [fill.trade_id for fill in fills]


def test_what_was_read_and_what_was_heard_is_one_list_by_time() -> None:
    state = replace(STATE, fills=())
    older = replace(FILL, trade_id="t-1", at=Timestamp(NOW - 900))
    state = reduce(state, FillsRead((FILL, older)))
    assert ids(state.fills) == ["t-9", "t-1"]
    heard = replace(FILL, trade_id="t-10", seq=41, at=Timestamp(NOW))
    state = reduce(state, FillsReceived((heard,)))
    assert ids(state.fills) == ["t-10", "t-9", "t-1"]
    # Told once more by the history, and once more by the stream: each still stands there once.
    state = reduce(state, FillsRead((replace(heard, seq=0), FILL, older)))
    state = reduce(state, FillsReceived((heard, replace(FILL, seq=42))))
    assert sorted(ids(state.fills)) == ["t-1", "t-10", "t-9"]
    assert len({fill.key for fill in state.fills}) == 3


def test_a_fill_has_shares_on_the_screen_and_in_the_list() -> None:
    bought = replace(trade_of(1).trade, trade_id="t1")
    paid = replace(bought, action="redeem", trade_id="t2")
    bare = {"shares": Micros(0), "status": TradeStatus.CANCELLED, "average": None}
    cancelled = replace(bought, trade_id="t3", cost=Micros(0), **bare)
    odd = replace(bought, trade_id="t4", **bare)
    trades = (bought, paid, cancelled, odd)
    own = STATE.account.agent_id
    past = AgentDetailView(own, tuple(ReasonedTradeView(one, "") for one in trades), ())
    state = replace(STATE, trades=trades, fills=())
    assert ids(all_fills(state)) == ["t1"]
    assert [row["trade"] for row in fill_rows(state, {own: past})] == ["t1"]
    assert [row["trade"] for row in trade_rows(state, {own: past})] == ["t1", "t2", "t3", "t4"]


def test_another_part_of_an_order_is_another_row() -> None:
    state = reduce(replace(STATE, fills=()), FillsRead((FILL,)))
    part = replace(FILL, seq=7, shares=Micros(ONE), at=Timestamp(NOW))
    state = reduce(state, FillsReceived((part,)))
    assert [fill.seq for fill in state.fills] == [7, 0]


def test_what_was_read_moves_no_price() -> None:
    state = reduce(STATE, FillsRead((FILL,)))
    assert state.markets is STATE.markets


def test_an_agent_is_read_again_only_where_trades_were_missed() -> None:
    own, *_ = STATE.fleet.agents
    fleet = replace(STATE.fleet, agents=(replace(own, trades_count=5),))
    watch = FillsWatch()
    (behind,) = watch.behind(fleet, Counter())
    watch.take(behind, streamed=0)
    assert watch.behind(fleet, Counter()) == ()
    grown = replace(fleet, agents=(replace(own, trades_count=6),))
    assert watch.behind(grown, Counter({own.agent_id: 1})) == ()
    assert watch.behind(grown, Counter()) == grown.agents


def test_the_blotter_has_a_row_for_each_fill_that_is_none_of_its_commands() -> None:
    bought = replace(trade_of(1).trade, client_ref="mine", trade_id="t1")
    skills = replace(trade_of(2).trade, client_ref="", trade_id="t2", source="sdk:momentum")
    paid = replace(bought, action="redeem", client_ref="", trade_id="t3")
    ticket = replace(STATE.tickets[0], client_ref="mine")
    (row,) = fill_tickets((bought, skills, paid), (ticket,))
    assert (row.ticket_id, row.state, row.what) == ("fill:t2", TicketState.DONE, "sell 12.00 YES")
    assert (
        row.outcome
        == "sold 12.00 shares, brought 7.00 $SIM (average 0.420), P&L +1.25, by sdk:momentum"
    )
    assert [one.deal for one in (bought, skills, paid)] == [Deal.BUY, Deal.SALE, Deal.PAYOUT]
    # A command of the console that nobody knows any more leaves its fill all the same.
    assert len(fill_tickets((bought, skills), ())) == 2
    state = replace(STATE, trades=(skills,))
    fill = next(one for one in why_ticket(state, row).links if one.name == "fill")
    assert fill.at == skills.at


def test_fills_are_in_the_order_of_time_whoever_told_them() -> None:
    time = next(one for one in TRADES if one.id == "time")
    assert time.sort_key is not None
    assert time.sort_key(FILL, ViewContext.of(STATE, NOW)) == FILL.at


@pytest.mark.parametrize("source", ["risk:stop_loss", "desk:stop_loss"])
def test_an_exit_has_one_wording_whoever_sold_it(source: str) -> None:
    sold = replace(trade_of(2).trade, trade_id="t2", client_ref="", source=source)
    (row,) = fill_tickets((sold,), ())
    assert row.what == "exit, stop loss: sell 12.00 YES"
    assert source not in row.outcome
    (unknown,) = fill_tickets((replace(sold, pnl=None),), ())
    assert "P&L" not in unknown.outcome
    (known,) = fill_tickets((replace(sold, pnl=Micros(-2 * ONE)),), ())
    assert known.outcome.startswith(
        "sold 12.00 shares, brought 7.00 $SIM (average 0.420), P&L -2.00"
    )
    assert ticket_of_fill(fill_of(sold, "a", "desk")).what == row.what
    (real,) = fill_tickets((replace(sold, venue=Venue.EVM),), ())
    assert real.what == "exit, stop loss: LIVE sell 12.00 YES on evm_venue"
    shown = describe_fill(fill_of(sold, "a", "desk"), ViewContext.of(STATE, NOW, 80)).plain
    by = "the service" if source.startswith("risk") else "this desk"
    assert f"exit, stop loss, by {by}" in shown


def test_a_desk_names_itself_and_the_cause_of_its_exits() -> None:
    for cause in REASONS.values():
        assert exit_cause(exit_source(cause)) == cause
        assert exit_source(cause).startswith("desk:")
    assert exit_source("a reason of tomorrow") == ""
    assert exit_cause("desk:reactor") == exit_cause("desk") == exit_cause("risk:of_tomorrow") == ""


def order_of(name: str, **changes: object) -> tuple[TicketView, TradeView]:
    ticket = replace(
        STATE.tickets[0],
        ticket_id=name,
        client_ref=name,
        state=TicketState.DONE,
        limit=0.4,
        outcome="open at 0.40: nothing filled yet",
    )
    bare = replace(
        trade_of(1).trade,
        trade_id=f"trade of {name}",
        client_ref=name,
        shares=Micros(0),
        cost=Micros(0),
        average=None,
        status=TradeStatus.SUBMITTED,
    )
    return ticket, replace(bare, **changes)


def test_an_order_that_rested_shows_what_became_of_it() -> None:
    got = {"shares": Micros(12 * ONE), "cost": Micros(7 * ONE), "action": "buy", "average": 0.42}
    made = {
        "open": order_of("open"),
        "cancelled": order_of("cancelled", status=TradeStatus.CANCELLED),
        "partly": order_of("partly", status=TradeStatus.CANCELLED, **got),
        "filled": order_of("filled", status=TradeStatus.FILLED, **got),
        "unlisted": order_of("unlisted"),
        "part": order_of("part", status=TradeStatus.PARTIALLY_FILLED, **got),
        "strange": order_of("strange", status=TradeStatus.UNCONFIRMED, **got),
    }
    tickets, trades = zip(*made.values(), strict=True)
    first = OpenOrderView(
        "o-1", "trade of open", "m", "", Side.YES, Action.BUY, Venue.EVM,
        Micros(ONE), Micros(0), 0.4, Micros(ONE), Timestamp(NOW),
    )  # fmt: skip
    shown = with_book(tickets, trades, (first,))
    assert [one.on_book for one in shown] == [
        OnBook.OPEN, OnBook.CANCELLED, OnBook.CANCELLED, OnBook.FILLED, None,
        OnBook.PARTIAL, None,
    ]  # fmt: skip
    assert [one.outcome for one in shown] == [
        "open at 0.40: nothing filled yet",
        "cancelled: nothing filled",
        "cancelled; bought 12.00 shares, for 7.00 $SIM (average 0.420)",
        "bought 12.00 shares, for 7.00 $SIM (average 0.420)",
        "open at 0.40: nothing filled yet",
        "bought 12.00 shares, for 7.00 $SIM (average 0.420); the rest is no longer open",
        "open at 0.40: nothing filled yet",
    ]
    # While the open orders are unknown, none is called ended.
    assert with_book(tickets, trades, None) == tickets
    market = replace(tickets[1], limit=None)
    assert with_book((market,), trades, ()) == (market,)
