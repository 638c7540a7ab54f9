import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager, closing
from dataclasses import replace

import pytest

from faults import UNANSWERED, Fault, asleep, breaking, ended, is_order, said, until
from service_tui.desk.commands import AskQuote, PlaceTrade
from service_tui.desk.facts import LimitsSeen, PositionsSeen
from service_tui.desk.handlers.trades import NO_TRACE, preflight
from service_tui.desk.records import LimitsView, Phase, TicketState, TicketView
from service_tui.desk.reduce import reduce
from service_tui.engine.ledger import Ledger
from service_tui.storage.blotter import Blotter
from service_tui.storage.blotter import TicketState as StoredState
from service_tui.terms import Action, Mode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from samples import sample_state
from support import first_state, open_stage, open_test_desk

CASH = 10_000 * ONE


def buy(market, amount=25 * ONE, side=Side.YES, **other):
    return PlaceTrade(
        market_id=market.market_id,
        side=side,
        action=Action.BUY,
        venue=Venue.SIM,
        amount=Micros(amount),
        **other,
    )


def sell(held, shares=None):
    return PlaceTrade(
        market_id=held.market_id,
        side=held.side,
        action=Action.SELL,
        venue=Venue.SIM,
        shares=Micros(held.shares if shares is None else shares),
    )


def ready(state):
    return (
        state.service.phase is Phase.ONLINE
        and state.account
        and state.limits
        and state.markets
        and not state.from_cache
    )


@asynccontextmanager
async def at_work(tmp_path, fault=None, **initial):
    """A desk on a paused world, behind a line that may break."""
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole, fault)
        async with open_test_desk(stage, first_state(**initial)) as desk:
            await until(desk, ready, stage)
            yield desk, stage, line


def world_holds(stage) -> int:
    """What the agent holds, in shares of either side, over all markets."""
    return sum(
        position.shares(side) for position in stage.agent.positions.values() for side in Side
    )


async def rows(stage):
    """The blotter's rows, newest first, with all that was written until now."""
    await stage.database.write(lambda _: None)
    return Blotter(stage.database).recent(50)


# -- done ---------------------------------------------------------------------------------------


async def test_a_buy_is_filled_and_shows_in_the_portfolio(tmp_path):
    async with open_stage(tmp_path) as stage, open_test_desk(stage) as desk:
        await until(desk, ready, stage)
        market = stage.open_markets()[0]
        ticket = desk.submit(buy(market))
        state = await until(desk, lambda s: s.positions, stage)
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert state.positions[0].market_id == market.market_id
        assert state.account.cash == CASH - 25 * ONE
        assert stage.world.ledger.total() == 0


async def test_a_quote_says_what_the_same_order_then_gets(tmp_path):
    async with at_work(tmp_path) as (desk, stage, _):
        order = buy(stage.open_markets()[3])
        desk.submit(AskQuote(1, order))
        quote = (await until(desk, lambda s: s.quote, stage)).quote
        desk.submit(order)
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        assert quote.ok
        assert quote.shares == held.shares
        assert quote.cash_after == CASH - 25 * ONE
        assert quote.max_win == held.shares - order.amount


async def test_a_sale_of_everything_closes_the_position(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(buy(stage.open_markets()[0], side=Side.NO))
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        ticket = desk.submit(sell(held))
        await until(desk, lambda s: not s.positions, stage)
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert len(line.orders()) == 2
        assert desk.state.account.equity == desk.state.account.cash == stage.world.cash(stage.agent)


async def test_the_row_of_the_intent_is_on_disk_before_the_order_leaves(tmp_path):
    found = []

    def look(request):
        if is_order(request):
            with closing(sqlite3.connect(tmp_path / "desk.sqlite3")) as beside:
                found.extend(beside.execute("SELECT state, client_ref, body FROM tickets"))

    async with at_work(tmp_path) as (desk, stage, line):
        line.seen = look
        await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        (state, reference, body), *more = found
        assert not more
        assert state == "queued"
        assert line.orders()[0]["signal_data"] == {"client_ref": reference}
        assert line.sent[-1] is not None
        assert json.loads(json.loads(body)["sent"])["signal_data"] == {"client_ref": reference}


async def test_an_order_carries_its_reference_as_idempotency_key(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        view = await ended(desk, ticket, stage)
        (order,) = [one for one in line.sent if is_order(one)]
        assert order.headers["idempotency-key"] == view.client_ref


async def test_the_end_of_each_order_is_one_row_and_one_notice(tmp_path):
    async with at_work(tmp_path) as (desk, stage, _):
        before = len(desk.state.notices)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        (row,) = await rows(stage)
        assert (row.state, row.ticket_id) == (StoredState.DONE, view.ticket_id)
        assert row.settled_at == view.settled_at == stage.clock.now()
        assert [notice.tone for notice in desk.state.notices[before:]] == ["good"]
        assert desk.state.in_flight == 0


# -- refused here, before anything is sent ------------------------------------------------------


REFUSED_HERE = {
    "too large": (lambda market, _: buy(market, 500 * ONE + 1), "limit of one trade is 500.00"),
    "nothing": (lambda market, _: buy(market, 0), "limit of one trade"),
    "negative": (lambda market, _: buy(market, -5 * ONE), "limit of one trade"),
    "not held": (lambda market, _: replace(sell_of(market), shares=ONE), "more than is held"),
    "no shares": (lambda market, _: sell_of(market), "more than is held"),
}


def sell_of(market):
    return PlaceTrade(
        market_id=market.market_id, side=Side.YES, action=Action.SELL, venue=Venue.SIM
    )


@pytest.mark.parametrize("name", REFUSED_HERE)
async def test_what_cannot_be_is_refused_before_anything_is_sent(tmp_path, name):
    make, said = REFUSED_HERE[name]
    async with at_work(tmp_path) as (desk, stage, line):
        view = await ended(desk, desk.submit(make(stage.open_markets()[0], desk.state)), stage)
        assert view.state is TicketState.REFUSED
        assert said in view.outcome
        assert view.fix
        assert line.orders() == []
        assert desk.state.account.cash == CASH


async def test_more_than_is_held_is_not_sold(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(buy(stage.open_markets()[0]))
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        view = await ended(desk, desk.submit(sell(held, held.shares + 1)), stage)
        assert (view.state, view.outcome) == (TicketState.REFUSED, "more than is held")
        assert len(line.orders()) == 1


async def test_a_refusal_here_is_a_row_of_the_blotter_as_well(tmp_path):
    async with at_work(tmp_path) as (desk, stage, _):
        await ended(desk, desk.submit(buy(stage.open_markets()[0], 501 * ONE)), stage)
        (row,) = await rows(stage)
        assert row.state is StoredState.REFUSED
        assert "limit of one trade" in row.outcome


async def test_words_that_the_wire_does_not_take_are_refused_and_end_nothing(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        for order in (
            buy(market, reasoning="x" * 4_001),
            buy(market, reasoning="half \ud800 a letter"),
            replace(buy(market), market_id="../etc"),
            replace(buy(market), market_id=""),
            replace(buy(market), shares=ONE),
        ):
            view = await ended(desk, desk.submit(order), stage)
            assert view.state is TicketState.REFUSED
            desk.submit(AskQuote(1, order))
            quote = (await until(desk, lambda s: s.quote, stage)).quote
            assert not quote.ok
            assert quote.problem
            assert quote.fix
        assert line.orders() == line.quotes() == []
        assert (await ended(desk, desk.submit(buy(market)), stage)).state is TicketState.DONE


async def test_a_read_only_desk_trades_nothing(tmp_path):
    async with at_work(tmp_path, read_only=True) as (desk, stage, line):
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert (view.state, view.outcome) == (TicketState.REFUSED, "this desk is read-only")
        assert line.orders() == []


STATE = sample_state()
MARKET = STATE.markets["m-00001"]


def with_limits(**changes):
    return replace(STATE, limits=replace(STATE.limits, **changes))


OBJECTIONS = {
    "none": (STATE, None),
    "paused": (with_limits(paused=True), "trading is paused"),
    "unknown limits": (replace(STATE, limits=None), "trading is paused"),
    "hostile limits": (with_limits(max_trade=Micros(-1)), "limit of one trade"),
    "no account": (replace(STATE, account=None), "not enough cash"),
    "no cash": (replace(STATE, account=replace(STATE.account, cash=Micros(1))), "not enough cash"),
    "read-only": (replace(STATE, service=replace(STATE.service, read_only=True)), "read-only"),
    "dry": (replace(STATE, service=replace(STATE.service, mode=Mode.DRY)), "only play money"),
    "live": (replace(STATE, service=replace(STATE.service, mode=Mode.LIVE)), "only play money"),
}


@pytest.mark.parametrize("name", OBJECTIONS)
def test_the_desk_objects_to_a_buy(name):
    state, said = OBJECTIONS[name]
    objection = preflight(state, buy(MARKET))
    assert (objection is None) == (said is None)
    assert said is None or said in objection[0]


def test_a_pause_does_not_block_a_sale():
    paused = replace(STATE, limits=replace(STATE.limits, paused=True), account=None)
    assert preflight(paused, sell(STATE.positions[0])) is None
    assert preflight(replace(paused, limits=None), sell(STATE.positions[0])) is None


def test_what_is_in_doubt_counts_as_spent_until_the_person_may_send_again():
    account = replace(STATE.account, cash=Micros(30 * ONE))
    unknown = TicketView(
        "k", "trade", "m", "buy", TicketState.UNKNOWN, Timestamp(0.0), amount=Micros(25 * ONE)
    )
    poor = replace(STATE, account=account, tickets=(unknown,))
    assert preflight(poor, buy(MARKET, 6 * ONE)) is not None
    assert preflight(poor, buy(MARKET, 5 * ONE)) is None
    decided = replace(unknown, outcome=NO_TRACE)
    assert preflight(replace(poor, tickets=(decided,)), buy(MARKET, 30 * ONE)) is None


# -- refused there ------------------------------------------------------------------------------


async def test_the_venues_no_is_told_with_its_advice(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        for _ in range(4):
            await ended(desk, desk.submit(buy(market, 500 * ONE)), stage)
        view = await ended(desk, desk.submit(buy(market, 500 * ONE)), stage)
        assert view.state is TicketState.REFUSED
        assert view.outcome
        assert view.fix
        assert len(line.orders()) == 5
        assert (await rows(stage))[0].state is StoredState.REFUSED
        assert stage.world.cash(stage.agent) == CASH - 2_000 * ONE


async def test_an_order_for_a_market_that_is_gone_is_refused_once(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        order = replace(buy(stage.open_markets()[0]), market_id="gone")
        view = await ended(desk, desk.submit(order), stage)
        assert view.state is TicketState.REFUSED
        assert len(line.orders()) == 1


# -- not sent, or sent and not answered ---------------------------------------------------------


async def test_without_a_line_nothing_was_sent_and_nothing_is_in_doubt(tmp_path):
    async with at_work(tmp_path, Fault.NO_LINE) as (desk, stage, line):
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.FAILED
        assert "nothing was sent" in view.outcome
        assert len(line.orders()) == 1
        assert world_holds(stage) == 0
        await stage.clock.advance(15)
        assert len(line.orders()) == 1
        assert (await rows(stage))[0].state is StoredState.FAILED


@pytest.mark.parametrize("fault", UNANSWERED, ids=lambda fault: fault.name.lower())
async def test_an_order_without_an_answer_is_unknown_then_found_and_never_sent_again(
    tmp_path, fault, monkeypatch
):
    monkeypatch.setattr("service_tui.client.client.WRITE_DEADLINE_S", 0.05)
    async with at_work(tmp_path, fault) as (desk, stage, line):
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.UNKNOWN
        assert "do not send it again" in view.fix
        assert desk.state.in_flight == 1
        assert (await rows(stage))[0].state is StoredState.UNKNOWN
        state = await until(desk, lambda s: s.in_flight == 0 and s.positions, stage)
        assert state.tickets[0].state is TicketState.DONE
        assert state.tickets[0].outcome.startswith("it did happen")
        assert (await rows(stage))[0].state is StoredState.DONE
        await until(desk, lambda s: s.account.cash == CASH - 25 * ONE, stage)
        assert len(line.orders()) == 1
        assert world_holds(stage) == state.positions[0].shares
        assert stage.world.ledger.total() == 0


async def test_an_order_that_never_came_stays_unknown_and_the_person_decides(tmp_path):
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: Fault.SWALLOWED if is_order(request) else None
        ticket = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, ticket, stage)
        await asleep(stage.clock, 580)
        await stage.clock.advance(15)
        assert ticket.view.state is TicketState.UNKNOWN
        assert ticket.view.outcome.startswith("sent, no answer")
        await until(desk, lambda _: ticket.view.outcome == NO_TRACE, stage)
        assert ticket.view.state is TicketState.UNKNOWN
        assert "yourself" in ticket.view.fix
        asked = line.asked("/api/sdk/trades")
        await stage.clock.advance(120)
        # By the poller every 30 s, and to look it up every 60 s, no longer every 10.
        assert line.asked("/api/sdk/trades") - asked <= 7
        assert len([one for one in desk.state.notices if NO_TRACE in one.text]) == 1
        assert len(line.orders()) == 1
        assert world_holds(stage) == 0


async def test_an_unknown_order_is_found_behind_many_newer_trades(tmp_path, monkeypatch):
    monkeypatch.setattr("service_tui.desk.lookup.PAGE", 2)
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        lost = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, lost, stage)
        line.fault = lambda _: None
        for market in stage.open_markets()[1:6]:
            assert (await ended(desk, desk.submit(buy(market)), stage)).state is TicketState.DONE
        await until(desk, lambda _: lost.view.state is TicketState.DONE, stage)
        assert len(line.orders()) == 6


async def test_rows_that_cannot_be_read_prove_nothing(tmp_path):
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, ticket, stage)
        broken = {"trades": [{"id": 7}], "total_count": 1}
        line.fault = lambda request: (
            said(broken) if request.url.path == "/api/sdk/trades" else None
        )
        await asleep(stage.clock, 700)
        await stage.clock.advance(15)
        assert ticket.view.state is TicketState.UNKNOWN
        assert ticket.view.outcome != NO_TRACE
        line.fault = lambda _: None
        await until(desk, lambda _: ticket.view.state is TicketState.DONE, stage)


async def test_an_order_that_the_venue_lists_as_failed_is_failed(tmp_path):
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, ticket, stage)
        (order,) = line.orders()
        row = {
            "id": "t1",
            "trade_id": "t1",
            "market_id": order["market_id"],
            "side": "yes",
            "action": "buy",
            "shares": 0.0,
            "cost": 0.0,
            "status": "failed",
            "signal_data": order["signal_data"],
            "created_at": "2027-01-15T08:00:00Z",
        }
        line.fault = lambda request: (
            said({"trades": [row], "total_count": 1})
            if request.url.path == "/api/sdk/trades"
            else None
        )
        await until(desk, lambda _: ticket.view.state is TicketState.FAILED, stage)
        assert any(b"include_failed=true" in one.url.query for one in line.sent)


# -- the disk -----------------------------------------------------------------------------------


async def test_a_full_disk_refuses_before_anything_is_sent_and_recovers(tmp_path, monkeypatch):
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        await fill(stage.database)
        view = await ended(desk, desk.submit(buy(market)), stage)
        assert view.state is TicketState.FAILED
        assert "nothing was traded" in view.outcome
        assert "disk is full" in view.outcome
        assert line.orders() == []
        await empty(stage.database)
        assert (await ended(desk, desk.submit(buy(market)), stage)).state is TicketState.DONE


async def fill(database):
    """No page more than there are: SQLite then says what it says of a full disk."""

    await database.write(lambda c: c.execute("CREATE TABLE ballast (x)"))

    def work(connection):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")

    await database.write(work)

    def stuff(connection):
        connection.executemany("INSERT INTO ballast VALUES (?)", [("x" * 300,)] * 40)

    for _ in range(200):
        try:
            await database.write(stuff)
        except Exception:  # noqa: BLE001  (full is what is wanted)
            break


async def empty(database):
    await database.write(lambda c: c.execute("PRAGMA max_page_count=1000000").fetchone())
