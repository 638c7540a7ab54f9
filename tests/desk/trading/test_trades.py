"""Orders on a desk: fills, refusals, and lost answers."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import (
    CASH,
    Fault,
    at_work,
    buy,
    ended,
    is_order,
    is_quote,
    ready,
    rows,
    sell,
    until,
)
from kit.samples.desk import NOW, sample_state
from kit.service.line import change
from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import preflight
from service_tui.storage.blotter import StoredState
from service_tui.terms import PROSE_MAX, Action, Mode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal

# -- done ---------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_buy_is_filled_and_shows_in_the_portfolio(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, open_test_desk(stage) as desk:
        await until(desk, ready, stage)
        market = stage.open_markets()[0]
        ticket = desk.submit(buy(market))
        state = await until(desk, lambda s: s.positions, stage)
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert state.positions[0].market_id == market.market_id
        assert state.account.cash == CASH - 25 * ONE
        assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_a_quote_says_what_the_same_order_then_gets(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        order = buy(stage.open_markets()[3])
        desk.submit(RequestQuote(1, order))
        quote = (await until(desk, lambda s: s.quote, stage)).quote
        desk.submit(order)
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        assert quote.ok
        assert quote.shares == held.shares
        assert quote.cash_after == CASH - 25 * ONE
        assert quote.max_win == held.shares - order.amount


@pytest.mark.slow
async def test_a_sale_of_everything_closes_the_position(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(buy(stage.open_markets()[0], side=Side.NO))
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        ticket = desk.submit(sell(held))
        await until(desk, lambda s: not s.positions, stage)
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert len(line.orders()) == 2
        assert desk.state.account.equity == desk.state.account.cash == stage.world.cash(stage.agent)


@pytest.mark.slow
async def test_the_row_of_the_intent_is_on_disk_before_the_order_leaves(tmp_path: Path) -> None:
    found = []

    def look(request: httpx.Request) -> None:
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


@pytest.mark.slow
async def test_an_order_carries_its_reference_as_idempotency_key(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        view = await ended(desk, ticket, stage)
        (order,) = [one for one in line.sent if is_order(one)]
        assert order.headers["idempotency-key"] == view.client_ref


@pytest.mark.slow
async def test_the_end_of_each_order_is_one_row_and_one_notice(tmp_path: Path) -> None:
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
    "too large": ({"amount": 500 * ONE + 1}, "limit per trade"),
    "nothing": ({"amount": 0}, "$SIM cash"),
    "negative": ({"amount": -5 * ONE}, "$SIM cash"),
    "not held": ({"action": Action.SELL, "amount": 0, "shares": ONE}, "no YES position"),
    "no shares": ({"action": Action.SELL, "amount": 0}, "no YES position"),
}


@pytest.mark.slow
async def test_what_cannot_be_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        for changes, words in REFUSED_HERE.values():
            order = replace(buy(stage.open_markets()[0]), **changes)
            view = await ended(desk, desk.submit(order), stage)
            assert view.state is TicketState.REFUSED
            assert words in view.outcome
            assert view.fix
        assert line.orders() == []
        assert desk.state.account.cash == CASH


@pytest.mark.slow
async def test_more_than_is_held_is_not_sold(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(buy(stage.open_markets()[0]))
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        view = await ended(desk, desk.submit(sell(held, held.shares + 1)), stage)
        assert view.state is TicketState.REFUSED
        most = f"{decimal(held.shares):.5f}".rstrip("0").rstrip(".")
        assert view.outcome == f"above your {most} shares"
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_a_refusal_here_is_a_row_of_the_blotter_as_well(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await ended(desk, desk.submit(buy(stage.open_markets()[0], 501 * ONE)), stage)
        (row,) = await rows(stage)
        assert row.state is StoredState.REFUSED
        assert "limit per trade" in row.outcome


@pytest.mark.slow
async def test_words_that_the_wire_does_not_take_are_refused_and_end_nothing(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        for order in (
            buy(market, reasoning="x" * (PROSE_MAX + 1)),
            buy(market, reasoning="half \ud800 a letter"),
            replace(buy(market), market_id="../etc"),
            replace(buy(market), market_id=""),
            replace(buy(market), shares=ONE),
        ):
            view = await ended(desk, desk.submit(order), stage)
            assert view.state is TicketState.REFUSED
            desk.submit(RequestQuote(1, order))
            quote = (await until(desk, lambda s: s.quote, stage)).quote
            assert not quote.ok
            assert quote.problem
            assert quote.fix
        assert line.orders() == line.quotes() == []
        assert (await ended(desk, desk.submit(buy(market)), stage)).state is TicketState.DONE


@pytest.mark.slow
async def test_a_read_only_desk_trades_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path, read_only=True) as (desk, stage, line):
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert (view.state, view.outcome) == (
            TicketState.REFUSED,
            "this desk is read-only: no orders",
        )
        assert line.orders() == []


STATE = sample_state()
MARKET = STATE.markets["m-00001"]


def with_limits(**changes: object) -> DeskState:
    return replace(STATE, limits=replace(STATE.limits, **changes))


OBJECTIONS = {
    "none": (STATE, None),
    "paused": (with_limits(paused=True), "trading is paused"),
    "unknown limits": (replace(STATE, limits=None), "limits not loaded yet"),
    "hostile limits": (with_limits(max_trade=Micros(-1)), "limit per trade"),
    "no account": (replace(STATE, account=None), "not loaded yet"),
    "no cash": (
        replace(STATE, account=replace(STATE.account, cash=Micros(1))),
        "$SIM cash",
    ),
    "read-only": (replace(STATE, service=replace(STATE.service, read_only=True)), "read-only"),
    "dry": (
        replace(STATE, service=replace(STATE.service, mode=Mode.DRY)),
        "no play-money trading",
    ),
    "live": (
        replace(STATE, service=replace(STATE.service, mode=Mode.LIVE)),
        "no play-money trading",
    ),
}


@pytest.mark.parametrize("name", OBJECTIONS)
def test_the_desk_objects_to_a_buy(name: str) -> None:
    state, said = OBJECTIONS[name]
    objection = preflight(state, buy(MARKET), NOW)
    assert (objection is None) == (said is None)
    assert said is None or said in objection[0]


@pytest.mark.parametrize("venue", [Venue.EVM, Venue.SOL])
def test_an_order_for_a_real_venue_is_refused_whatever_it_does(venue: Venue) -> None:
    for order in (buy(MARKET), sell(STATE.positions[0])):
        assert "live trading is off" in preflight(STATE, replace(order, venue=venue), NOW)[0]
        there = replace(STATE, service=replace(STATE.service, venue=venue))
        assert preflight(there, order, NOW) is not None


def test_a_pause_does_not_block_a_sale() -> None:
    paused = replace(STATE, limits=replace(STATE.limits, paused=True), account=None)
    assert preflight(paused, sell(STATE.positions[0]), NOW) is None
    assert preflight(replace(paused, limits=None), sell(STATE.positions[0]), NOW) is None


def test_what_is_in_doubt_counts_as_spent_until_the_person_may_send_again() -> None:
    account = replace(STATE.account, cash=Micros(30 * ONE))
    unknown = TicketView(
        "k", "trade", "m", "buy", TicketState.UNKNOWN, Timestamp(0.0), amount=Micros(25 * ONE)
    )
    poor = replace(STATE, account=account, tickets=(unknown,))
    assert preflight(poor, buy(MARKET, 6 * ONE), NOW) is not None
    assert preflight(poor, buy(MARKET, 5 * ONE), NOW) is None
    decided = replace(unknown, outcome=NO_TRACE)
    assert preflight(replace(poor, tickets=(decided,)), buy(MARKET, 30 * ONE), NOW) is None


def test_two_orders_at_once_never_spend_the_same_money_twice() -> None:
    account = replace(STATE.account, cash=Micros(30 * ONE))
    first, second = (
        TicketView(
            name, "trade", "m", "buy", TicketState.QUEUED, Timestamp(0.0), amount=Micros(20 * ONE)
        )
        for name in ("first", "second")
    )
    poor = replace(STATE, account=account, tickets=(second, first))
    assert preflight(poor, buy(MARKET, 20 * ONE), NOW, ticket_id="first") is None
    objection = preflight(poor, buy(MARKET, 20 * ONE), NOW, ticket_id="second")
    assert objection is not None
    assert objection == ("above the 10.00 $SIM cash left by pending orders", Fix.LOWER_AMOUNT)


def test_shares_that_are_being_sold_are_not_sold_again() -> None:
    held = STATE.positions[0]
    under_way = TicketView(
        "k",
        "trade",
        held.market_id,
        "sell",
        TicketState.UNKNOWN,
        Timestamp(0.0),
        holding=held.key,
        shares=held.shares,
    )
    state = replace(STATE, tickets=(under_way,))
    assert "is pending" in preflight(state, sell(held), NOW)[0]
    assert preflight(replace(STATE, tickets=()), sell(held), NOW) is None


def test_nothing_is_traded_on_data_that_is_too_old_or_from_a_clock_that_was_set_back() -> None:
    for shift in (-3_600.0, 3_600.0):
        assert "too old" in preflight(STATE, buy(MARKET), Timestamp(NOW + shift))[0]


# -- refused there ------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_venues_no_is_told_with_its_advice(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        # The service's limits became narrower since this desk has asked for them.
        await change(stage, max_position=Micros(20 * ONE))
        view = await ended(desk, desk.submit(buy(market, 500 * ONE)), stage)
        assert view.state is TicketState.REFUSED
        assert view.outcome
        assert view.fix
        assert len(line.orders()) == 1
        assert (await rows(stage))[0].state is StoredState.REFUSED
        assert stage.world.cash(stage.agent) == CASH


@pytest.mark.slow
async def test_a_market_that_is_full_is_refused_here(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        for _ in range(4):
            await ended(desk, desk.submit(buy(market, 500 * ONE)), stage)
        view = await ended(desk, desk.submit(buy(market, 500 * ONE)), stage)
        assert view.state is TicketState.REFUSED
        assert "(per market) is 2,000.00" in view.outcome
        assert view.fix
        assert len(line.orders()) == 4
        assert (await rows(stage))[0].state is StoredState.REFUSED
        assert stage.world.cash(stage.agent) == CASH - 2_000 * ONE


@pytest.mark.slow
async def test_an_order_for_a_market_that_is_gone_is_refused_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        order = replace(buy(stage.open_markets()[0]), market_id="gone")
        view = await ended(desk, desk.submit(order), stage)
        assert view.state is TicketState.REFUSED
        assert len(line.orders()) == 1


# -- quotes -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_question_without_an_answer_does_not_hold_up_the_next(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        line.fault = lambda request: Fault.SILENT if is_quote(request) else None
        first = desk.submit(RequestQuote(1, buy(market)))
        await until(desk, lambda _: line.waiting, stage)
        line.fault = lambda _: None
        desk.submit(RequestQuote(2, buy(market)))
        assert (await until(desk, lambda s: s.quote, stage)).quote.request_id == 2
        await first.wait()
        assert not line.waiting
