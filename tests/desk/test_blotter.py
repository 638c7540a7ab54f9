"""The blotter: stored intents, and orders of unknown end after a restart."""

import json
import sqlite3
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kit.desk.faults import (
    CASH,
    TRADE,
    TRADES,
    UNANSWERED,
    Fault,
    asleep,
    at_work,
    breaking,
    buy,
    ended,
    is_order,
    is_quote,
    killed_while_sending,
    no_page_more,
    ready,
    room_again,
    rows,
    said,
    until,
    world_holds,
)
from kit.samples.desk import sample_state
from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.blotter import _fields, intent_of, ticket_of
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.tickets import NO_TRACE, TicketState
from service_tui.storage.blotter import Blotter, StoredState, StoredTicket
from service_tui.storage.errors import StorageFullError
from service_tui.terms import Venue
from service_tui.units import ONE

# -- not sent, or sent and not answered ---------------------------------------------------------


@pytest.mark.slow
async def test_without_a_line_nothing_was_sent_and_nothing_is_in_doubt(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.NO_LINE) as (desk, stage, line):
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.FAILED
        assert "nothing sent" in view.outcome
        assert len(line.orders()) == 1
        assert world_holds(stage) == 0
        await stage.clock.advance(15)
        assert len(line.orders()) == 1
        assert (await rows(stage))[0].state is StoredState.FAILED


@pytest.mark.slow
async def test_an_order_without_an_answer_is_unknown_then_found_and_never_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_tui.client.client.WRITE_DEADLINE_S", 0.05)
    async with at_work(tmp_path) as (desk, stage, line):
        for number, fault in enumerate(UNANSWERED, start=1):
            # Nobody finds it before it is unknown, however long the machine takes to say so.
            broken = {TRADE: fault, TRADES: Fault.NO_LINE}
            line.fault = lambda request, broken=broken: (
                broken.get(request.url.path) if not is_quote(request) else None
            )
            ticket = desk.submit(buy(stage.open_markets()[number]))
            view = await ended(desk, ticket, stage)
            assert view.state is TicketState.UNKNOWN, fault
            line.fault = lambda _: None
            assert "do not resend" in view.fix
            assert view.settled_at is None
            assert desk.state.in_flight == 1
            assert (await rows(stage))[0].state is StoredState.UNKNOWN
            await until(desk, lambda s: s.in_flight == 0, stage)
            assert ticket.view.state is TicketState.DONE, fault
            assert ticket.view.outcome.startswith("order found")
            assert (await rows(stage))[0].state is StoredState.DONE
            cash = CASH - number * 25 * ONE
            state = await until(desk, lambda s, cash=cash: s.account.cash == cash, stage)
            assert len(state.positions) == number
            assert len(line.orders()) == number
            assert world_holds(stage) == sum(held.shares for held in state.positions)
            assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_an_order_that_never_came_stays_unknown_and_the_person_decides(
    tmp_path: Path,
) -> None:
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
        assert "if needed" in ticket.view.fix
        asked = line.asked(TRADES)
        await stage.clock.advance(60)
        # By the poller every 30 s, and to look it up every 60 s, no longer every 10.
        assert line.asked(TRADES) - asked <= 4
        assert len([one for one in desk.state.notices if NO_TRACE in one.text]) == 1
        assert len(line.orders()) == 1
        assert world_holds(stage) == 0


@pytest.mark.slow
async def test_an_unknown_order_is_found_behind_many_newer_trades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_tui.desk.trading.lookup.TRADES_PAGE_MAX", 2)
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        lost = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, lost, stage)
        line.fault = lambda _: None
        for market in stage.open_markets()[1:6]:
            assert (await ended(desk, desk.submit(buy(market)), stage)).state is TicketState.DONE
        await until(desk, lambda _: lost.view.state is TicketState.DONE, stage)
        assert len(line.orders()) == 6


@pytest.mark.slow
async def test_rows_that_cannot_be_read_prove_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        await ended(desk, ticket, stage)
        broken = {"trades": [{"id": 7}], "total_count": 1}
        line.fault = lambda request: said(broken) if request.url.path == TRADES else None
        await asleep(stage.clock, 700)
        await stage.clock.advance(15)
        assert ticket.view.state is TicketState.UNKNOWN
        assert ticket.view.outcome != NO_TRACE
        line.fault = lambda _: None
        await until(desk, lambda _: ticket.view.state is TicketState.DONE, stage)


@pytest.mark.slow
async def test_an_order_that_the_venue_lists_as_failed_is_failed(tmp_path: Path) -> None:
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
            said({"trades": [row], "total_count": 1}) if request.url.path == TRADES else None
        )
        await until(desk, lambda _: ticket.view.state is TicketState.FAILED, stage)
        assert any(b"include_failed=true" in one.url.query for one in line.sent)


# -- the disk -----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_full_disk_refuses_before_anything_is_sent_and_recovers(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        # Long enough to need a page of its own.
        order = buy(stage.open_markets()[0], reasoning="x" * 4_000)
        await stage.database.write(no_page_more)
        view = await ended(desk, desk.submit(order), stage)
        assert view.state is TicketState.FAILED
        assert "disk is full" in view.outcome
        assert "nothing traded" in view.outcome
        assert line.orders() == []
        await stage.database.write(room_again)
        assert (await ended(desk, desk.submit(order), stage)).state is TicketState.DONE


@pytest.mark.slow
async def test_a_disk_that_fails_after_the_answer_loses_no_trade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):

        async def refuse(*_: object, **__: object) -> None:
            raise StorageFullError("the disk is full")

        monkeypatch.setattr(Blotter, "settle", refuse)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE
        assert any("blotter write failed" in one.text for one in desk.state.notices)
        (row,) = await rows(stage)
        assert row.state is StoredState.QUEUED
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_a_writer_that_gave_up_is_taken_up_again(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        stage.database._writer._failure = sqlite3.OperationalError("the commit failed")
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.FAILED
        assert line.orders() == []
        await until(desk, lambda _: stage.database.failure is None, stage)
        view = await ended(desk, desk.submit(buy(stage.open_markets()[0])), stage)
        assert view.state is TicketState.DONE


# -- killed between sending and answer ----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("arrived", [True, False])
async def test_a_desk_killed_in_the_middle_settles_its_order_at_the_next_start(
    tmp_path: Path, *, arrived: bool
) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole, Fault.SILENT if arrived else Fault.STUCK)
        await killed_while_sending(stage, line)
        reference = line.orders()[0]["signal_data"]["client_ref"]
        line.fault = lambda _: None
        held_before = world_holds(stage)
        assert (held_before > 0) == arrived
        calls = len(line.sent)
        async with open_test_desk(stage) as desk:
            (ticket,) = desk.state.tickets
            assert ticket.state is TicketState.UNKNOWN
            assert ticket.client_ref == reference
            await until(desk, ready, stage)
            view = await ended(desk, desk.submit(buy(stage.open_markets()[1], 5 * ONE)), stage)
            assert view.state is TicketState.DONE
            own = [one for one in desk.state.tickets if one.ticket_id == ticket.ticket_id]
            assert own[0].state is (TicketState.DONE if arrived else TicketState.UNKNOWN)
        paths = [one.url.path for one in line.sent[calls:]]
        assert paths.index(TRADES) < paths.index(TRADE)
        assert len(line.orders()) == 2
        spent = (25 if arrived else 0) + 5
        assert stage.world.cash(stage.agent) == CASH - spent * ONE
        assert stage.world.ledger.total() == 0
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            states = {one.ticket_id: one.state for one in desk.state.tickets}
            assert states[ticket.ticket_id] is own[0].state
        assert len(line.orders()) == 2


@pytest.mark.slow
async def test_nothing_trades_while_an_earlier_order_cannot_be_looked_up(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole, Fault.STUCK)
        await killed_while_sending(stage, line)
        line.fault = lambda request: Fault.NO_LINE if request.url.path == TRADES else None
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.limits and s.account and s.markets, stage)
            view = await ended(desk, desk.submit(buy(stage.open_markets()[1])), stage)
            assert view.state is TicketState.FAILED
            assert "nothing sent" in view.outcome
            assert len(line.orders()) == 1
            # What moves no money is not held up by it.
            desk.submit(RequestQuote(1, buy(stage.open_markets()[1])))
            await until(desk, lambda s: s.quote and s.quote.ok, stage)
            line.fault = lambda _: None
            await stage.clock.advance(12)
            view = await ended(desk, desk.submit(buy(stage.open_markets()[1])), stage)
            assert view.state is TicketState.DONE


@pytest.mark.slow
async def test_closing_leaves_an_unanswered_order_to_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_tui.desk.desk.DRAIN_S", 0.05)
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole, Fault.SILENT)
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            ticket = desk.submit(buy(stage.open_markets()[0]))
            await until(desk, lambda _: line.waiting, stage)
        assert ticket.view.state is TicketState.SENT
        line.fault = lambda _: None
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.tickets[0].state is TicketState.DONE, stage)
        assert len(line.orders()) == 1
        assert stage.world.cash(stage.agent) == CASH - 25 * ONE


@pytest.mark.parametrize("venue", list(Venue))
def test_a_row_keeps_on_which_venue_its_order_was(venue: Venue) -> None:
    ticket = replace(sample_state().tickets[0], venue=venue)
    intent = intent_of(ticket, "{}")
    row = StoredTicket(
        **asdict(intent), state=StoredState.DONE, sent_at=None, settled_at=None, outcome=None
    )
    assert ticket_of(row).venue is venue
    body = {key: value for key, value in json.loads(row.body).items() if key != "venue"}
    assert ticket_of(replace(row, body=json.dumps(body))).venue is Venue.SIM


def test_a_row_of_nested_brackets_is_an_empty_one() -> None:
    assert _fields("[" * 100_000) == {}
    assert _fields('{"what": "buy"}') == {"what": "buy"}


@pytest.mark.parametrize(
    ("stored", "in_outcome", "sent_at"),
    [(None, None, None), (5.0, None, 5.0), (5.0, 7.5, 7.5), (None, 7.5, 7.5)],
)
def test_an_order_was_sent_when_its_outcome_says_so_else_when_its_row_does(
    stored: float | None, in_outcome: float | None, sent_at: float | None
) -> None:
    outcome = json.dumps({"outcome": "done", "sent_at": in_outcome})
    intent = asdict(intent_of(sample_state().tickets[0], "{}"))
    row = StoredTicket(
        **intent, state=StoredState.DONE, sent_at=stored, settled_at=None, outcome=outcome
    )
    assert ticket_of(row).sent_at == sent_at
