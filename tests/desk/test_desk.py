"""The desk: states for slow and fast readers, commands, refreshes, and its end."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import CASH, Fault, at_work, breaking, buy, ended, is_quote, ready, rows, until
from kit.samples.desk import NOW
from kit.service.stage import Stage, open_stage, open_test_desk
from service_tui.desk.commands.settings import Refresh, SetPreference, SetStar
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.desk import (
    IN_FLIGHT_MAX,
    INBOX_MAX,
    PROBE_S,
    Desk,
    held_back_text,
    is_back,
    unknown_of,
)
from service_tui.desk.opening import DeskMemory
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import StoredState
from service_tui.units import ONE, Timestamp
from service_tui.wire.endpoints.public import HEALTH

pytestmark = pytest.mark.slow

# -- changes ------------------------------------------------------------------------------------


async def test_whoever_is_slow_gets_the_latest_and_none_between(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, _, _):
        changes = desk.changes()
        assert await anext(changes) is desk.state
        for number in range(10):
            await desk.submit(SetStar(f"m{number}", on=True)).wait()
        latest = await anext(changes)
        assert latest is desk.state
        assert len(latest.stars) == 10


async def test_every_listener_hears_the_last_state(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, _, _):
        async with asyncio.TaskGroup() as tasks:
            heard = [tasks.create_task(listened(desk, pause)) for pause in range(12)]
            for number in range(30):
                await asyncio.sleep(0)
                desk.submit(SetPreference("count", str(number)))
        for task in heard:
            states = task.result()
            assert states[-1].preferences["count"] == "29"
            assert all(a is not b for a, b in itertools.pairwise(states))


async def listened(desk: Desk, pause: int) -> list[DeskState]:
    """The states that a listener sees who takes so many turns of the loop for each."""
    states = []
    async for state in desk.changes():
        states.append(state)
        if state.preferences.get("count") == "29":
            break
        for _ in range(pause):
            await asyncio.sleep(0)
    return states


# -- submit -------------------------------------------------------------------------------------


async def test_too_many_commands_at_once_fail_and_were_not_sent(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        order = buy(stage.open_markets()[0], ONE)
        tickets = [desk.submit(order) for _ in range(INBOX_MAX + 3)]
        failed = [one for one in tickets if one.view.state is TicketState.FAILED]
        assert failed == tickets[INBOX_MAX:]
        assert failed[0].view.outcome == "too many commands at once; nothing sent"
        assert "nothing sent" in desk.state.notices[-1].text
        assert (await failed[0].wait()) is failed[0].view
        for ticket in tickets[:INBOX_MAX]:
            assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert len(line.orders()) == INBOX_MAX
        assert stage.world.cash(stage.agent) == CASH - INBOX_MAX * ONE


async def test_commands_that_hang_are_counted_as_well(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.STUCK) as (desk, stage, line):
        order = buy(stage.open_markets()[0], ONE)
        for _ in range(INBOX_MAX):
            desk.submit(order)
            await stage.clock.advance(0.0)
        assert desk.submit(order).view.state is TicketState.FAILED
        assert desk.submit(Refresh()).view.state is TicketState.FAILED
        assert len(line.orders()) <= IN_FLIGHT_MAX
        line.released.set()


async def test_orders_that_hang_hold_up_nothing_else(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.STUCK) as (desk, stage, line):
        order = buy(stage.open_markets()[0], ONE)
        for _ in range(IN_FLIGHT_MAX + 1):
            desk.submit(order)
        await until(desk, lambda _: line.waiting == IN_FLIGHT_MAX, stage, step_s=0.1)
        await desk.submit(SetStar("m", on=True)).wait()
        assert desk.state.stars == {"m"}
        desk.submit(RequestQuote(1, order))
        assert (await until(desk, lambda s: s.quote, stage, step_s=0.1)).quote.ok
        line.released.set()


async def test_an_order_that_waited_too_long_for_its_turn_is_not_sent(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.STUCK) as (desk, stage, line):
        order = buy(stage.open_markets()[0], ONE)
        tickets = [desk.submit(order) for _ in range(IN_FLIGHT_MAX + 1)]
        await until(desk, lambda _: line.waiting == IN_FLIGHT_MAX, stage, step_s=0.1)
        await stage.clock.advance(11)
        line.released.set()
        states = [(await ended(desk, ticket, stage)).state for ticket in tickets]
        assert states == [TicketState.DONE] * IN_FLIGHT_MAX + [TicketState.FAILED]
        assert "waited too long" in tickets[-1].view.outcome
        assert "nothing sent" in tickets[-1].view.outcome
        assert len(line.orders()) == IN_FLIGHT_MAX
        assert tickets[-1].view in desk.state.tickets


async def test_of_several_quotes_the_newest_alone_is_answered(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: Fault.STUCK if is_quote(request) else None
        order = buy(stage.open_markets()[0], ONE)
        first = desk.submit(RequestQuote(1, order))
        await until(desk, lambda _: line.waiting, stage, step_s=0.1)
        later = [desk.submit(RequestQuote(number, order)) for number in (2, 3)]
        await first.wait()
        await later[0].wait()
        line.released.set()
        state = await until(desk, lambda s: s.quote, stage, step_s=0.1)
        assert state.quote is not None
        assert state.quote.request_id == 3


async def test_who_stops_waiting_for_a_ticket_does_not_stop_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        async with asyncio.TaskGroup() as tasks:
            waiter = tasks.create_task(ticket.wait())
            await asyncio.sleep(0)
            waiter.cancel()
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE


async def test_what_is_in_flight_is_counted_until_it_ends(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.STUCK) as (desk, stage, line):
        ticket = desk.submit(buy(stage.open_markets()[0]))
        assert desk.state.in_flight == 1
        assert desk.state.tickets[0].state is TicketState.QUEUED
        await until(desk, lambda _: line.waiting, stage, step_s=0.1)
        assert desk.state.tickets[0].state is TicketState.SENT
        line.released.set()
        await ended(desk, ticket, stage)
        assert desk.state.in_flight == 0


# -- an earlier run, and a service that was away ------------------------------------------------


def test_buys_are_held_back_for_so_long_and_no_longer() -> None:
    assert held_back_text(49.6) == (
        "earlier order still being looked up: buys are possible in 50 s at the latest"
    )
    assert held_back_text(0.0) == held_back_text(-1.0) == ""


def test_unknown_orders_are_looked_up_and_old_ones_more_seldom() -> None:
    fresh = TicketView("f", "trade", "m", "buy YES", TicketState.UNKNOWN, Timestamp(NOW - 10))
    old = replace(fresh, ticket_id="o", opened_at=Timestamp(NOW - 86_400))
    rows = (replace(fresh, state=TicketState.SENT), fresh, old)
    assert unknown_of(rows, NOW, with_old=True) == [fresh, old]
    assert unknown_of(rows, NOW, with_old=False) == [fresh]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Phase.OFFLINE, Phase.ONLINE, True),
        (Phase.UNAUTHORIZED, Phase.ONLINE, True),
        (Phase.CONNECTING, Phase.ONLINE, False),
        (Phase.ONLINE, Phase.ONLINE, False),
        (Phase.OFFLINE, Phase.OFFLINE, False),
    ],
)
def test_a_service_is_back_once_it_answers_again(
    before: Phase, after: Phase, *, expected: bool
) -> None:
    assert is_back(before, after) is expected


async def test_a_service_that_is_back_is_noticed_soon_and_read_anew(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda _: Fault.NO_LINE
        await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
        await stage.clock.advance(2 * PROBE_S)
        assert line.asked(HEALTH.path) > 0
        line.fault = lambda _: None
        back = stage.clock.now()
        state = await until(
            desk, lambda s: s.seen[Topic.FLEET] > back and s.seen[Topic.POSITIONS] > back, stage
        )
        assert state.service.phase is Phase.ONLINE
        assert stage.clock.now() - back < 3 * PROBE_S
        probes = line.asked(HEALTH.path)
        await stage.clock.advance(3 * PROBE_S)
        assert line.asked(HEALTH.path) == probes


async def test_once_its_health_answers_everything_is_asked_for_before_its_own_turn(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda _: Fault.NO_LINE
        await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
        # By now each reading rests for long between two attempts.
        await stage.clock.advance(300)
        line.fault = lambda one: None if one.url.path == HEALTH.path else Fault.NO_LINE
        before = len(line.sent)
        await stage.clock.advance(PROBE_S + 0.5)
        asked = {one.url.path for one in line.sent[before:]}
        for name in ("agents/me", "positions", "orders/open", "markets", "briefing"):
            assert f"/api/sdk/{name}" in asked


# -- closing ------------------------------------------------------------------------------------


async def test_closing_waits_for_what_was_ordered_and_takes_nothing_more(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            tickets = [desk.submit(buy(stage.open_markets()[0], ONE)) for _ in range(5)]
            star = desk.submit(SetStar("m", on=True))
        assert [ticket.view.state for ticket in tickets] == [TicketState.DONE] * 5
        await star.wait()
        assert desk.state.stars == {"m"}
        late = desk.submit(buy(stage.open_markets()[0]))
        assert late.view.state is TicketState.FAILED
        assert late.view.outcome == "the desk is closing; nothing sent"
        assert len(line.orders()) == 5
        assert {row.state for row in await rows(stage)} == {StoredState.DONE}


async def test_closing_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_tui.desk.desk.DRAIN_S", 0.05)
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole, Fault.STUCK)
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            order = buy(stage.open_markets()[0], ONE)
            tickets = [desk.submit(order) for _ in range(IN_FLIGHT_MAX + 1)]
            await until(desk, lambda _: line.waiting == IN_FLIGHT_MAX, stage, step_s=0.1)
        *sent, queued = [await ticket.wait() for ticket in tickets]
        assert {view.state for view in sent} == {TicketState.SENT}
        assert queued.state is TicketState.FAILED
        assert queued.outcome == "the desk was closed; nothing sent"
        # Those that were sent are looked up at the next start; the other one never was.
        assert {row.ticket_id for row in await rows(stage)} == {view.ticket_id for view in sent}
        assert stage.world.cash(stage.agent) == CASH


async def test_closing_does_not_wait_for_a_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service_tui.desk.desk.DRAIN_S", 60.0)
    async with asyncio.timeout(30), open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        line.fault = lambda request: Fault.STUCK if is_quote(request) else None
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            desk.submit(RequestQuote(1, buy(stage.open_markets()[0])))
            await until(desk, lambda _: line.waiting, stage, step_s=0.1)


async def test_a_closed_desk_leaves_no_task_behind(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        before = asyncio.all_tasks()
        for _ in range(2):
            async with open_test_desk(stage) as desk:
                await until(desk, ready, stage)
                desk.submit(RequestQuote(1, order_of(stage)))
                desk.submit(order_of(stage))
        assert asyncio.all_tasks() == before


def order_of(stage: Stage) -> PlaceTrade:
    return buy(stage.open_markets()[0], ONE)


async def test_a_fault_in_a_handler_ends_its_command_alone_and_is_not_swallowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("0xsecret")

    async with at_work(tmp_path) as (desk, stage, line):
        with monkeypatch.context() as patched:
            patched.setattr("service_tui.desk.trading.handlers.preflight", broken)
            failed = await ended(desk, desk.submit(order_of(stage)), stage)
        assert failed.state is TicketState.FAILED
        assert "a fault in the program (ZeroDivisionError at " in failed.outcome
        assert "nothing sent" in failed.outcome
        assert not line.orders()
        assert "ZeroDivisionError" in caplog.text
        assert "0xsecret" not in caplog.text
        done = await ended(desk, desk.submit(order_of(stage)), stage)
        assert done.state is TicketState.DONE


async def test_a_loop_that_fails_begins_anew_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError

    async with at_work(tmp_path) as (desk, stage, _):
        with monkeypatch.context() as patched:
            patched.setattr("service_tui.desk.desk.is_overdue", broken)
            patched.setattr("service_tui.desk.feed.pollers.position_views", broken)
            patched.setattr(DeskMemory, "back_up", broken)
            state = await until(
                desk, lambda s: any("keeping the state: " in one.text for one in s.notices), stage
            )
            assert state.service.phase is Phase.ONLINE
        before = desk.state.seen[Topic.POSITIONS]
        await until(desk, lambda s: s.seen[Topic.POSITIONS] > before, stage)
