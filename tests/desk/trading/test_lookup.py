"""Looking up orders of unknown end, with clocks that differ."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import (
    CASH,
    TRADES,
    Fault,
    Line,
    asleep,
    at_work,
    breaking,
    buy,
    ended,
    is_order,
    killed_while_sending,
    ready,
    said,
    sell,
    until,
)
from kit.samples.desk import sample_state
from kit.service.stage import Stage, open_stage, open_test_desk
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.desk import HELD_BACK_S, Desk
from service_tui.desk.persistent_banners import persistent_banners
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND, TicketState, TicketView
from service_tui.desk.tickets import Ticket
from service_tui.desk.trading.lookup import is_overdue, surely_before
from service_tui.desk.trading.preflight import preflight
from service_tui.terms import Side
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.trades import TradeRequest

HOUR_S = 3_600.0
Rows = Callable[[int], list[dict[str, Any]]]


def row(number: int, at: float, ref: str = "another", **other: Any) -> dict[str, Any]:
    """A row of a service's history."""
    return {
        "id": f"t{number}", "market_id": "m", "side": "yes", "action": "buy", "shares": 50.0,
        "cost": 25.0, "signal_data": {"client_ref": ref},
        "created_at": datetime.fromtimestamp(at, UTC).isoformat(), **other,
    }  # fmt: skip


def history(line: Line, rows: Rows, **headers: str) -> None:
    """From now on the service answers with these rows, by their offset."""

    def fault(request: httpx.Request) -> Fault | httpx.Response | None:
        if request.url.path != TRADES:
            return None
        query = parse_qs(request.url.query.decode())
        found = rows(int(query.get("offset", ["0"])[0]))
        return said({"trades": found, "total_count": len(found)}, **headers)

    line.fault = fault


async def lost(desk: Desk, stage: Stage, line: Line, amount: int = 25 * ONE) -> Ticket:
    """An order that was sent, and had no answer."""
    line.fault = lambda request: Fault.SWALLOWED if is_order(request) else None
    ticket = desk.submit(buy(stage.open_markets()[0], amount))
    await ended(desk, ticket, stage)
    return ticket


def reference(line: Line) -> str:
    return line.orders()[0]["signal_data"]["client_ref"]


# -- by whose clock -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("off_s", [-2 * HOUR_S, -1_800.0, 0.0, 2 * HOUR_S])
@pytest.mark.parametrize("says_its_time", [True, False])
async def test_an_order_that_happened_is_found_however_far_the_clocks_are_apart(
    tmp_path: Path,
    off_s: float,
    says_its_time: bool,  # noqa: FBT001
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = await lost(desk, stage, line)
        there = stage.clock.now() + off_s
        market = stage.open_markets()[0].market_id
        known = [row(1, there, reference(line), market_id=market), row(0, there - 9 * 86_400)]
        headers = {"date": formatdate(there, usegmt=True)} if says_its_time else {}
        history(line, lambda offset: known[offset:], **headers)
        await asleep(stage.clock, 700)
        await until(desk, lambda _: ticket.view.state is TicketState.DONE, stage)
        assert ticket.view.outcome == "order found: filled 50.00 shares for 25.00"
        assert not any(b"since" in one.url.query for one in line.sent)
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_a_search_ends_where_the_trades_are_older_than_the_order(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = await lost(desk, stage, line)
        began = stage.clock.now()
        offsets: list[int] = []

        def rows(offset: int) -> list[dict[str, Any]]:
            offsets.append(offset)
            return [row(offset + n, began - (offset + n) * 600.0) for n in range(3)]

        date = formatdate(began + 700, usegmt=True)
        history(line, rows, date=date)
        await asleep(stage.clock, 700)
        await until(desk, lambda _: ticket.view.outcome == NO_TRACE, stage)
        # An hour further than the order, by three rows of ten minutes each.
        assert sorted(set(offsets)) == [0, 3, 6]
        assert ticket.view.has_no_trace


@pytest.mark.slow
async def test_a_service_whose_clock_is_off_is_told_for_as_long_as_it_is(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        assert list(persistent_banners(desk.state)) == []

        def fault(request: httpx.Request) -> httpx.Response | None:
            there = formatdate(stage.clock.now() - 2 * HOUR_S, usegmt=True)
            trades = {"trades": [], "total_count": 0}
            return said(trades, date=there) if request.url.path == TRADES else None

        line.fault = fault
        state = await until(desk, lambda s: s.service.skew_s, stage)
        assert state.service.skew_s == pytest.approx(7_200, abs=2)
        ((word, (sentence, _)),) = persistent_banners(state)
        assert word == "clock"
        assert "s behind this machine's" in sentence


# -- what unreadable ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead_s", "before"),
    [
        # Our clock shows 2 hours more than the service's: its trades look older than the order.
        (7_200.0, -10_800.0),
        (0.0, -3_600.0),
        (-7_200.0, -3_600.0),
        # Its clock is unknown.
        (None, -86_400.0),
    ],
)
def test_a_search_goes_back_as_far_as_the_clocks_may_be_apart(
    ahead_s: float | None, before: float
) -> None:
    opened = Timestamp(1_800_000_000.0)
    assert surely_before(opened, ahead_s) - opened == before


@pytest.mark.parametrize(
    ("sent_at", "now", "is_over"),
    [(1_000.0, 1_600.0, False), (1_000.0, 1_600.1, True), (None, 1_500.1, True)],
)
def test_an_order_is_overdue_ten_minutes_after_it_was_sent(
    sent_at: float | None, now: float, *, is_over: bool
) -> None:
    ticket = TicketView(
        "t", "trade", "m", "buy YES", TicketState.UNKNOWN, Timestamp(900.0),
        sent_at=None if sent_at is None else Timestamp(sent_at),
    )  # fmt: skip
    assert is_overdue(ticket, Timestamp(now)) is is_over


def broken_row(_: Stage) -> Rows:
    return lambda offset: [{"id": "x", "created_at": "garbage"}][offset:]


def same_page(stage: Stage) -> Rows:
    now = stage.clock.now()
    return lambda _: [row(n, now - n) for n in range(50)]


def endless(stage: Stage) -> Rows:
    now = stage.clock.now()
    return lambda offset: [row(offset + n, now - offset / 1e6) for n in range(5)]


def out_of_order(stage: Stage) -> Rows:
    now = stage.clock.now()
    return lambda offset: [row(offset, now - 9 * 86_400), row(offset + 1, now)]


def nameless(stage: Stage) -> Rows:
    market = stage.open_markets()[0].market_id
    held = row(1, stage.clock.now(), market_id=market, signal_data=None)
    return lambda offset: [held][offset:]


UNREADABLE = {
    "a row that is none": (broken_row, "unreadable"),
    "the repeats one page again": (same_page, "repeats one page"),
    "trades without end": (endless, "too many trades"),
    "trades in no order": (out_of_order, "too many trades"),
    "trades without references": (nameless, "without a reference"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNREADABLE)
async def test_what_cannot_be_read_leaves_the_person_a_way_out_that_says_how_sure_it_is(
    tmp_path: Path, name: str
) -> None:
    make, words = UNREADABLE[name]
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = await lost(desk, stage, line)
        history(line, make(stage))
        await stage.clock.advance(30)
        desk.submit(GiveUp(ticket.view.ticket_id))
        await stage.clock.advance(1)
        assert ticket.view.state is TicketState.UNKNOWN
        await asleep(stage.clock, 600)
        await until(desk, lambda _: ticket.view.is_lost, stage)
        assert ticket.view.outcome.startswith(NOT_FOUND)
        assert words in ticket.view.outcome
        assert "may have executed" in ticket.view.fix
        assert not ticket.view.has_no_trace
        noticed = [one for one in desk.state.notices if NOT_FOUND in one.text]
        await leap(stage.clock, 130, step_s=10)
        assert [one for one in desk.state.notices if NOT_FOUND in one.text] == noticed
        assert len(noticed) == 1
        desk.submit(GiveUp(ticket.view.ticket_id))
        await until(desk, lambda _: ticket.view.state is TicketState.FAILED, stage)
        assert words in ticket.view.outcome
        assert "closed by you" in ticket.view.outcome
        assert len(line.orders()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("answer", [said({"error": "gone"}, 404), Fault.NO_LINE])
async def test_trades_that_cannot_be_asked_for_leave_a_way_out_as_well(
    tmp_path: Path, answer: Fault | httpx.Response
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = await lost(desk, stage, line)

        def fault(request: httpx.Request) -> Fault | httpx.Response | None:
            if request.url.path != TRADES:
                return None
            return said({"error": "gone"}, 404) if isinstance(answer, httpx.Response) else answer

        line.fault = fault
        await until(desk, lambda s: s.service.lookup_problem, stage)
        ((word, (sentence, _)),) = persistent_banners(desk.state)
        assert word == "unknown order"
        assert "buy YES for 25.00 cannot be looked up" in sentence
        await asleep(stage.clock, 700)
        await until(desk, lambda _: ticket.view.is_lost, stage)
        assert "trades unavailable" in ticket.view.outcome
        line.fault = lambda _: None
        await until(desk, lambda _: ticket.view.outcome == NO_TRACE, stage)
        assert list(persistent_banners(desk.state)) == []


def test_what_may_have_happened_is_reserved_until_the_person_closes_it() -> None:
    state = sample_state()
    unknown = next(one for one in state.tickets if one.state is TicketState.UNKNOWN)
    order = buy(state.markets["m-00001"], 10 * ONE)
    now = state.service.last_ok_at
    assert now is not None
    poor = replace(state, account=replace(state.account, cash=Micros(30 * ONE)))
    for outcome, is_free in ((NO_TRACE, True), (f"{NOT_FOUND}: a row unreadable", False)):
        left = replace(unknown, outcome=outcome)
        assert left.is_lost
        objection = preflight(replace(poor, tickets=(left,)), order, now)
        assert (objection is None) is is_free


@pytest.mark.slow
async def test_what_the_person_closed_while_it_was_looked_up_stays_closed(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = await lost(desk, stage, line)
        history(line, broken_row(stage))
        await asleep(stage.clock, 700)
        await until(desk, lambda _: ticket.view.is_lost, stage)
        line.fault = lambda request: Fault.STUCK if request.url.path == TRADES else None
        asked = line.asked(TRADES)
        await until(desk, lambda _: line.waiting and line.asked(TRADES) > asked, stage)
        desk.submit(GiveUp(ticket.view.ticket_id))
        await until(desk, lambda _: ticket.view.state is TicketState.FAILED, stage, step_s=0.1)
        line.fault = lambda _: None
        line.released.set()
        await stage.clock.advance(70)
        assert desk.state.tickets[0].state is TicketState.FAILED


# -- after a restart ----------------------------------------------------------------------------


@pytest.mark.slow
async def test_after_a_restart_buys_are_held_back_for_a_minute_and_sales_not_at_all(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        bought = TradeRequest(
            market_id=stage.open_markets()[1].market_id, side=Side.YES, amount=25.0
        )
        await stage.client.call(PLACE_TRADE, body=bought)
        line.fault = lambda request: Fault.STUCK if is_order(request) else None
        await killed_while_sending(stage, line)
        line.fault = lambda request: (
            said({"error": "gone"}, 404) if request.url.path == TRADES else None
        )
        async with open_test_desk(stage) as desk:
            held = (await until(desk, lambda s: ready(s) and s.positions, stage)).positions[0]
            began = stage.clock.monotonic()
            view = await ended(desk, desk.submit(sell(held, held.shares // 20 * 10)), stage)
            assert view.state is TicketState.DONE, view.outcome
            assert stage.clock.monotonic() - began < 2
            view = await ended(desk, desk.submit(buy(stage.open_markets()[2], 5 * ONE)), stage)
            assert view.state is TicketState.FAILED
            assert view.outcome.startswith("earlier order still being looked up: buys are possible")
            assert view.outcome.endswith("; nothing sent")
            orders = len(line.orders())
            await stage.clock.advance(HELD_BACK_S)
            view = await ended(desk, desk.submit(buy(stage.open_markets()[2], 5 * ONE)), stage)
            assert view.state is TicketState.DONE, view.outcome
            assert len(line.orders()) == orders + 1
            assert any("is still unknown" in one.text for one in desk.state.notices)
            assert [word for word, _ in persistent_banners(desk.state)] == ["unknown order"]
            # What the unknown one may have spent is still set aside.
            spare = desk.state.account.cash - 24 * ONE
            assert spare < CASH
            limits = replace(desk.state.limits, max_trade=Micros(CASH))
            state = replace(desk.state, limits=limits)
            order = buy(stage.open_markets()[2], spare)
            why = preflight(state, order, stage.clock.now())
            assert "cash left by pending orders" in why[0]
