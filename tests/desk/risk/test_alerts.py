"""Exits of alerts on a desk: each breach is sold once."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import (
    Fault,
    Line,
    asleep,
    breaking,
    reading_seldom,
    ready,
    rows,
    said,
    until,
    world_holds,
)
from kit.service.line import change, line_to, sink_on
from kit.service.stage import (
    Stage,
    client_of,
    first_state,
    open_directory,
    open_stage,
    open_test_desk,
)
from service_tui.client.client import Client
from service_tui.desk.briefing import heartbeat
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.desk import Desk
from service_tui.desk.feed import pollers
from service_tui.desk.feed.pollers import PERIODS
from service_tui.desk.opening import DeskMemory, open_desk
from service_tui.desk.persistent_banners import persistent_banners
from service_tui.desk.ports import DeskContext
from service_tui.desk.reasons import Reason
from service_tui.desk.reduce_risk import BY_HOLDER
from service_tui.desk.slices.risk import AlertState, MonitorState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import Blotter, StoredState
from service_tui.terms import Action, Side, Venue, WalletKind
from service_tui.units import ONE
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.public import (
    BRIEFING,
    MONITORS,
    PATCH_USER_SETTINGS,
    PLACE_TRADE,
    REGISTER,
    RISK_ALERTS,
    SET_MONITOR,
)
from service_tui.wire.monitors import MonitorRequest, RiskAlertsQuery
from service_tui.wire.settings import UserSettingsPatch
from service_tui.wire.trades import TradeRequest

pytestmark = pytest.mark.slow

HOUR_S = 3_600.0
HAIR = 0.0001
"""On a book a buy costs more than the middle: such a stop is reached at the next tick."""


async def external(stage: Stage) -> None:
    await change(stage, wallet=WalletKind.EXTERNAL, claimed=True, real_trading_enabled=True)


async def order(  # noqa: PLR0917
    client: Client, market_id: str, side: Side, amount: float, venue: Venue = Venue.SIM
) -> None:
    request = TradeRequest(market_id=market_id, side=side, amount=amount, venue=venue)
    reply = await client.call(PLACE_TRADE, body=request)
    assert reply.answer.success, reply.answer.error


@asynccontextmanager
async def somebody(stage: Stage) -> AsyncGenerator[Client]:
    """Another agent, by whose trades prices move."""
    async with client_of(stage.sim, stage.clock, None) as nobody:
        reply = await nobody.call(REGISTER, body=RegisterRequest(name="mover"))
    async with client_of(stage.sim, stage.clock, reply.answer.api_key) as mover:
        yield mover


async def hold(stage: Stage, amount: float = 50.0, venue: Venue = Venue.SIM) -> str:
    """Buy YES of a market near even odds; the service enrols a monitor at 20 % down."""
    found = [one for one in stage.open_markets() if venue in {Venue.SIM, one.listing.home}]
    market = min(found, key=lambda one: abs(one.price() - 0.5))
    await order(stage.client, market.market_id, Side.YES, amount, venue)
    return market.market_id


async def breach(stage: Stage, market_id: str) -> None:
    """The stop is moved near, and others sell on the book."""
    body = MonitorRequest(side=Side.YES, stop_loss_pct=HAIR)
    await stage.client.call(SET_MONITOR, path={"market_id": market_id}, body=body)
    await sink_on(stage, market_id)
    await stage.clock.advance(1.0)
    query = RiskAlertsQuery(include_history=True)
    listed = await stage.client.call(RISK_ALERTS, query=query)
    assert listed.answer.risk_alerts or listed.answer.history, "no breach came of it"


async def breach_on_sim(stage: Stage, market_id: str) -> None:
    """Others sell the side down, below the stop."""
    async with somebody(stage) as mover:
        for _ in range(12):
            await order(mover, market_id, Side.NO, 500.0)
            await stage.clock.advance(1.0)
            query = RiskAlertsQuery(include_history=True)
            listed = await stage.client.call(RISK_ALERTS, query=query)
            if listed.answer.risk_alerts or listed.answer.history:
                return
    raise AssertionError("no breach came of it")


@asynccontextmanager
async def guarded(path: Path) -> AsyncGenerator[tuple[Stage, Line, str]]:
    """An agent with an external wallet that holds a guarded position."""
    async with open_stage(path, speed=0) as whole:
        await external(whole)
        stage, line = breaking(whole)
        market_id = await hold(stage, 10, Venue.SOL)
        with reading_seldom(Topic.REACTOR, Topic.REDEMPTIONS, Topic.WALLET):
            yield stage, line, market_id


def alert_is(state: AlertState) -> Callable[[DeskState], bool]:
    return lambda s: any(one.state is state for one in s.risk.alerts)


def sold(line: Line) -> list[float]:
    return [one["shares"] for one in line.orders() if one["action"] == Action.SELL]


async def acknowledged(stage: Stage) -> bool:
    return not (await stage.client.call(RISK_ALERTS)).answer.risk_alerts


# -- a breach -----------------------------------------------------------------------------------


async def test_a_breach_is_exited_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        async with open_test_desk(stage) as desk:
            state = await until(desk, lambda s: ready(s) and s.risk.monitors, stage)
            (monitor,) = state.risk.monitors
            assert (monitor.market_id, monitor.automatic) == (market_id, True)
            assert monitor.state is MonitorState.WATCHING
            assert monitor.stop_loss_pct == pytest.approx(0.2)
            assert monitor.to_stop == pytest.approx(1.0, abs=0.3)
            held = world_holds(stage)
            await breach(stage, market_id)
            state = await until(desk, alert_is(AlertState.EXECUTED), stage)
            assert world_holds(stage) == 0
            state = await until(desk, lambda s: s.risk.exits and not s.risk.monitors, stage)
            (alert,) = state.risk.alerts
            assert alert.reason == "stop loss"
            assert alert.attempts == 1
            (left,) = state.risk.exits
            assert (left.shares, left.cause) == (held, "stop loss")
            assert left.proceeds > 0
            assert left.pnl is not None
            assert left.pnl < 0
            assert any("stop loss" in one.text for one in state.notices)
            await leap(stage.clock, 40)
        assert len(sold(line)) == 1
        assert world_holds(stage) == 0
        assert await acknowledged(stage)
        (row,) = await rows(stage)
        assert (row.kind, row.state) == ("exit", StoredState.DONE)
        assert stage.world.ledger.total() == 0


async def test_an_exit_passes_while_trading_is_paused(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        await stage.client.call(PATCH_USER_SETTINGS, body=UserSettingsPatch(trading_paused=True))
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.limits and s.limits.paused, stage)
            await breach(stage, market_id)
            await until(desk, alert_is(AlertState.EXECUTED), stage)
        assert len(sold(line)) == 1
        assert world_holds(stage) == 0


@pytest.mark.parametrize(("minutes", "exits"), [(59, 1), (61, 0)])
async def test_a_breach_while_closed_is_exited_within_its_hour_only(
    tmp_path: Path, minutes: int, exits: int
) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        held = world_holds(stage)
        await breach(stage, market_id)
        await asleep(stage.clock, minutes * 60.0)
        async with open_test_desk(stage) as desk:
            wanted = AlertState.EXECUTED if exits else AlertState.EXPIRED
            state = await until(desk, alert_is(wanted), stage)
            await leap(stage.clock, 60)
            assert len(sold(line)) == exits
            assert (world_holds(stage) == 0) == bool(exits)
            assert exits or world_holds(stage) == held
            if not exits:
                assert any("expired unsold" in one.text for one in state.notices)
                assert state.risk.exits == ()


async def test_a_managed_wallet_is_left_to_the_service(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        market_id = await hold(stage)
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: ready(s) and s.risk.monitors, stage)
            await breach_on_sim(stage, market_id)
            state = await until(desk, lambda s: any(e.by_service for e in s.risk.exits), stage)
            assert len(state.risk.exits) == 1
            assert state.risk.alerts[0].state is AlertState.EXECUTED
            assert any(one.text.startswith("Stopped out: ") for one in state.notices)
        assert sold(line) == []


# -- crashes ------------------------------------------------------------------------------------


async def killed(stage: Stage, line: Line) -> None:
    """Run a desk until something of it hangs on the line, then end it without any closing."""
    around = DeskContext(
        stage.client, stage.database, stage.clock, lambda: f"k{len(line.sent)}", random.Random(2)
    )
    initial = replace(first_state(), polls=PERIODS)
    desk = Desk(initial, around, Blotter(stage.database), DeskMemory(stage.database, stage.clock))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        await until(desk, lambda _: line.waiting, stage)
        running.cancel()
    assert line.waiting == 0


def is_sale(request: httpx.Request) -> bool:
    return request.url.path == PLACE_TRADE.path and b'"action":"sell"' in request.content


def is_ack(request: httpx.Request) -> bool:
    return request.method == "DELETE" and "/risk-alerts/" in request.url.path


def is_removal(request: httpx.Request) -> bool:
    return request.method == "DELETE" and request.url.path.endswith("/monitor")


CRASHES = [
    (is_sale, Fault.STUCK), (is_sale, Fault.SILENT),
    (is_removal, Fault.STUCK), (is_removal, Fault.SILENT),
    (is_ack, Fault.STUCK), (is_ack, Fault.SILENT),
]  # fmt: skip


@pytest.mark.parametrize(("where", "fault"), CRASHES)
async def test_a_desk_killed_in_the_middle_of_an_exit_sells_once(
    tmp_path: Path, where: Callable[[httpx.Request], bool], fault: Fault
) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        await breach(stage, market_id)
        line.fault = lambda request: fault if where(request) else None
        await killed(stage, line)
        line.fault = lambda _: None
        async with open_test_desk(stage) as desk:
            await until(desk, alert_is(AlertState.EXECUTED), stage)
            await until(desk, lambda s: s.risk.exits and not s.risk.monitors, stage)
            await leap(stage.clock, 35)
        assert world_holds(stage) == 0
        assert await acknowledged(stage)
        assert len({str(one.headers["idempotency-key"]) for one in line.sent if is_sale(one)}) == 1
        # Only what never came is sent again, and under its own key.
        assert len(sold(line)) == (2 if (where, fault) == (is_sale, Fault.STUCK) else 1)
        (row,) = await rows(stage)
        assert row.state is StoredState.DONE
        assert stage.world.ledger.total() == 0


# -- no answer, or a no -------------------------------------------------------------------------


async def test_an_exit_without_an_answer_is_found_and_not_sent_again(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            line.fault = lambda request: Fault.LOST if is_sale(request) else None
            await breach(stage, market_id)
            await until(desk, alert_is(AlertState.UNKNOWN), stage)
            await until(desk, alert_is(AlertState.EXECUTED), stage)
            await until(desk, lambda s: not s.risk.monitors, stage)
        assert len(sold(line)) == 1
        assert world_holds(stage) == 0
        assert await acknowledged(stage)


async def test_a_refused_exit_is_shown_and_tried_again_after_ever_longer_pauses(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            no = {"error": "the book is empty", "fix": "wait"}
            line.fault = lambda request: said(no, 400) if is_sale(request) else None
            await breach(stage, market_id)
            state = await until(desk, alert_is(AlertState.FAILED), stage)
            assert "the book is empty" in state.risk.alerts[0].detail
            assert state.risk.monitors[0].state is MonitorState.BREACHED
            assert state.risk.monitors[0].is_spent
            assert state.risk.monitors[0].stop_loss_pct == pytest.approx(HAIR)
            await leap(stage.clock, 90)
            tries = len(sold(line))
            assert 3 <= tries <= 4
            assert not await acknowledged(stage)
            # The person need not wait.
            line.fault = lambda _: None
            desk.submit(ExitAlert(state.risk.alerts[0].alert_id))
            await until(desk, alert_is(AlertState.EXECUTED), stage)
            assert len(sold(line)) == tries + 1
        assert world_holds(stage) == 0
        states = {row.state for row in await rows(stage)}
        assert states == {StoredState.REFUSED, StoredState.DONE}


async def test_an_alert_whose_exits_all_failed_is_missed_after_its_hour(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            line.fault = lambda request: said({"error": "no"}, 400) if is_sale(request) else None
            await breach(stage, market_id)
            await until(desk, alert_is(AlertState.FAILED), stage)
            await asleep(stage.clock, HOUR_S)
            await until(desk, alert_is(AlertState.MISSED), stage)
            line.fault = lambda _: None
            await leap(stage.clock, 60)
            assert alert_is(AlertState.MISSED)(desk.state)
        assert world_holds(stage) > 0


async def test_what_the_person_has_sold_is_not_sold_again(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            half = world_holds(stage) // 2 // 10 * 10
            line.fault = lambda request: said({"error": "no"}, 400) if is_sale(request) else None
            await breach(stage, market_id)
            await until(desk, alert_is(AlertState.FAILED), stage)
            line.fault = lambda request: (
                None
                if b"exit of a risk alert" not in request.content
                else said({"error": "no"}, 400)
            )
            by_hand = {"market_id": market_id, "side": "yes", "action": "sell"}
            by_hand |= {"venue": "sol_venue", "shares": half / ONE, "order_type": "FAK"}
            assert (await line_to(stage).said(PLACE_TRADE, json=by_hand))["success"]
            line.fault = lambda _: None
            await until(desk, alert_is(AlertState.EXECUTED), stage)
        assert world_holds(stage) == 0
        assert stage.world.ledger.total() == 0


# -- two consoles -------------------------------------------------------------------------------


@asynccontextmanager
async def beside(stage: Stage, path: Path) -> AsyncGenerator[Desk]:
    """A second console on the same service, with a database of its own."""
    ids = (f"second{number}" for number in range(100_000))
    async with (
        open_directory(path, stage.clock) as database,
        client_of(stage.sim, stage.clock, stage.key) as client,
    ):
        around = DeskContext(
            client, database, stage.clock, lambda: next(ids), random.Random(3), executes=False
        )
        async with open_desk(first_state(), around) as desk:
            yield desk


async def test_only_the_holder_of_the_directory_exits(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path / "one") as (stage, line, market_id),
        beside(stage, tmp_path / "two") as second,
    ):
        await until(second, lambda s: ready(s) and s.risk.monitors, stage)
        await breach(stage, market_id)
        state = await until(second, alert_is(AlertState.PENDING), stage)
        assert state.risk.alerts[0].detail == BY_HOLDER
        second.submit(ExitAlert(state.risk.alerts[0].alert_id))
        await leap(stage.clock, 35)
        assert world_holds(stage) > 0
        async with open_test_desk(stage) as first:
            await until(first, alert_is(AlertState.EXECUTED), stage)
            await until(second, alert_is(AlertState.EXECUTED), stage)
            await until(second, lambda s: s.risk.exits and not s.risk.monitors, stage)
        assert len(sold(line)) == 1
        assert world_holds(stage) == 0


async def test_a_desk_that_only_looks_exits_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        await breach(stage, market_id)
        async with open_test_desk(stage, first_state(read_only=True)) as desk:
            await until(desk, alert_is(AlertState.PENDING), stage)
            await leap(stage.clock, 60)
        assert sold(line) == []


# -- the heartbeat ------------------------------------------------------------------------------


async def test_a_briefing_that_stays_away_is_said_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "LATE_S", 40.0)
    monkeypatch.setattr(heartbeat, "AT_LEAST_S", 100.0)
    async with guarded(tmp_path) as (stage, line, _), open_test_desk(stage) as desk:
        await until(desk, lambda s: Topic.BRIEFING in s.seen, stage)
        line.fault = lambda request: (
            said({"error": "broken"}, 500) if request.url.path == BRIEFING.path else None
        )
        await leap(stage.clock, 30)
        assert not desk.state.risk.briefing_late
        state = await until(desk, lambda s: s.risk.briefing_late, stage)
        assert ("no briefing", Reason(state.risk.briefing_late)) in list(persistent_banners(state))
        assert [one.tone for one in state.notices if "no briefing" in one.text] == ["bad"]
        await leap(stage.clock, 90)
        state = desk.state
        assert "may have expired" in state.risk.briefing_late
        assert len([one for one in state.notices if "no briefing" in one.text]) == 2
        line.fault = lambda _: None
        await until(desk, lambda s: not s.risk.briefing_late, stage, step_s=2)
        assert any("briefings resumed" in one.text for one in desk.state.notices)


async def test_a_machine_that_was_asleep_asks_before_it_complains(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, _, _), open_test_desk(stage) as desk:
        await until(desk, lambda s: Topic.BRIEFING in s.seen, stage)
        await asleep(stage.clock, 2 * HOUR_S)
        await leap(stage.clock, 40)
        assert not any("no briefing" in one.text for one in desk.state.notices)


async def test_a_refused_plan_does_not_end_the_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pollers.REFUSED_BRIEFING_S < heartbeat.AT_LEAST_S
    monkeypatch.setattr(pollers, "REFUSED_BRIEFING_S", 40.0)
    async with guarded(tmp_path) as (stage, line, _), open_test_desk(stage) as desk:
        await until(desk, lambda s: Topic.BRIEFING in s.seen, stage)
        line.fault = lambda request: (
            said({"error": "no plan"}, 403) if request.url.path == BRIEFING.path else None
        )
        await leap(stage.clock, 20)
        asked = line.asked(BRIEFING.path)
        await leap(stage.clock, 60)
        assert line.asked(BRIEFING.path) > asked


async def test_one_briefing_comes_first_and_nothing_is_exited_from_memory(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        await breach(stage, market_id)
        line.fault = lambda request: (
            said({"error": "broken"}, 500) if request.url.path == RISK_ALERTS.path else None
        )
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            await leap(stage.clock, 60)
            assert sold(line) == []
            line.fault = lambda _: None
            await until(desk, alert_is(AlertState.EXECUTED), stage)
        assert line.asked(MONITORS.path) > 0
        assert len(sold(line)) == 1


def named(market_id: str, alert_id: str) -> dict[str, object]:
    return {
        "id": alert_id, "market_id": market_id, "side": "yes", "venue": "sol_venue", "shares": 10.0,
        "exit_reason": "stop_loss", "executed_by": "client", "status": "pending",
    }  # fmt: skip


async def test_names_that_cannot_be_sent_end_no_desk(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (stage, line, market_id):
        listed = [named("../../x", "a-1"), named("\x07", "a-2"), named(market_id, "x" * 300)]
        listed += [named(market_id, "spaces in it"), named(market_id, "../a")]
        line.fault = lambda request: (
            said({"risk_alerts": listed}) if request.url.path == RISK_ALERTS.path else None
        )
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: len(s.risk.alerts) == len(listed) and sold(line), stage)
            await leap(stage.clock, 60)
            states = {alert.alert_id: alert.state for alert in desk.state.risk.alerts}
            assert states["a-1"] is states["a-2"] is AlertState.FAILED
            ends = [one.url for one in line.sent if is_ack(one)]
            assert ends
            assert not any("alert_id" in str(url) for url in ends)
