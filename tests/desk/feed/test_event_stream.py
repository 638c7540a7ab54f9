"""Trades that come in a burst: all are told, and the state changes few times."""

import asyncio
import random
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import Line, breaking
from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from kit.service.scripted import HastyClock
from kit.service.stage import Stage, open_stage, open_test_desk, until
from service_tui.app.exits_desk import listen_to
from service_tui.client.errors import Called, UnreachableError
from service_tui.clock import ManualClock
from service_tui.desk.facts import Acted, FillsReceived, Listening, Noticed
from service_tui.desk.feed.event_stream import (
    FILLS_EVERY_S,
    REFRESH_EVERY_S,
    RETURN_S,
    TOGETHER_S,
    EventStreamConsumer,
    _of_resolution,
    actions_of,
    topics_of,
)
from service_tui.desk.feed.pollers import PERIODS, QUIET_S
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.slices.log import LogEvent
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, AgentStatus, Plan, Side, Venue
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE
from service_tui.wire.events import (
    AgentPart,
    EventBody,
    ExperimentPart,
    FillPart,
    MarketPart,
    MonitorPart,
    OrderPart,
    PayoutPart,
    RiskAlertPart,
)
from service_tui.wire.trades import TradeRequest
from service_tui.wire.world import SpeedRequest

BURST = 20


async def buy(stage: Stage, market_id: str) -> None:
    request = TradeRequest(market_id=market_id, side=Side.YES, amount=1.0)
    assert (await stage.client.call(PLACE_TRADE, body=request)).answer.success


def test_a_resolution_touches_the_queue_of_who_holds_the_market_on_a_real_venue() -> None:
    market = MarketPart(market_id="m", question="Q", outcome=True)
    nobody = _of_resolution(market, "heron", is_held=False)
    assert nobody == {Topic.MARKETS, Topic.DETAIL}
    held = _of_resolution(market, "heron", is_held=True)
    assert held >= {Topic.REDEMPTIONS, Topic.POSITIONS, Topic.ACCOUNT}


@pytest.mark.slow
async def test_a_change_of_speed_renews_all_that_is_marked_at_prices(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:

        async def listen(after: int | None) -> AsyncGenerator[EventBody]:
            async with stage.sim.service.subscribe(after) as events:
                async for body in events:
                    yield body

        async with open_test_desk(stage, listen=listen) as desk:
            await until(desk, lambda now: now.listening and now.fleet is not None, stage.clock)
            await stage.clock.advance(1.0)
            before = desk.state.seen
            await stage.client.call(SET_SPEED, body=SpeedRequest(speed=0))
            at = stage.clock.now()
            await stage.clock.advance(REFRESH_EVERY_S)
            # Long before the next poll of the slowest of them.
            marked = {Topic.AGENTS, Topic.POSITIONS, Topic.ACCOUNT, Topic.MONITORS, Topic.MARKETS}
            await until(desk, lambda now: all(now.seen[one] >= at for one in marked), stage.clock)
            assert stage.clock.now() - at < 2
            assert all(before[one] < at for one in marked)


@pytest.mark.slow
async def test_a_paused_world_is_polled_rarely_while_its_events_tell_all(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        async with open_test_desk(stage, listen=listen_to(stage.sim)) as desk:
            told = {Topic.MARKETS, Topic.WORLD, Topic.POSITIONS, Topic.AGENTS, Topic.ACCOUNT}
            quiet = await until(desk, lambda now: told <= set(now.seen), stage.clock)
            assert quiet.listening
            # Old is what was not read for longer than it is read now.
            assert quiet.polls[Topic.MARKETS] == QUIET_S > PERIODS[Topic.MARKETS]
            assert await asked_for_markets(line, stage, 60) <= 7

            market_id = stage.open_markets()[0].market_id
            await buy(stage, market_id)
            at = stage.clock.now()
            state = await until(desk, lambda now: now.positions, stage.clock, step_s=0.25)
            assert stage.clock.now() - at < 2
            price = stage.world.markets[market_id].price()
            assert abs(state.markets[market_id].price - price) < 1e-9


@pytest.mark.slow
async def test_a_world_that_runs_again_is_polled_as_usual_at_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        async with open_test_desk(stage, listen=listen_to(stage.sim)) as desk:
            await until(desk, lambda now: now.polls[Topic.MARKETS] == QUIET_S, stage.clock)
            await stage.clock.advance(5)
            await stage.client.call(SET_SPEED, body=SpeedRequest(speed=1))
            at = stage.clock.now()
            await until(desk, lambda now: now.polls == PERIODS, stage.clock, step_s=0.25)
            await until(desk, lambda now: now.seen[Topic.MARKETS] > at, stage.clock, step_s=0.25)
            assert stage.clock.now() - at < 2
            assert await asked_for_markets(line, stage, 30) >= 13


@pytest.mark.slow
async def test_without_its_stream_a_paused_world_is_polled_as_usual(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        open_test_desk(stage, listen=listen_to(stage.sim)) as desk,
    ):
        await until(desk, lambda now: now.polls[Topic.MARKETS] == QUIET_S, stage.clock)
        await stage.clock.advance(5)
        stage.sim.service.world_store.events.close()
        at = stage.clock.now()
        lost = await until(desk, lambda now: not now.listening, stage.clock, step_s=0.0)
        assert lost.polls == PERIODS
        await until(desk, lambda now: now.seen[Topic.MARKETS] >= at, stage.clock, step_s=0.25)
        assert stage.clock.now() - at < 2
        await until(desk, lambda now: now.polls[Topic.MARKETS] == QUIET_S, stage.clock)


async def asked_for_markets(line: Line, stage: Stage, seconds: float) -> int:
    """Readings of the list while so much time passes."""
    line.sent.clear()
    await stage.clock.advance(seconds)
    return sum(one.url.path == MARKETS.path for one in line.sent)


@pytest.mark.slow
async def test_a_burst_of_trades_is_told_together_and_whole(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:

        async def listen(after: int | None) -> AsyncGenerator[EventBody]:
            async with stage.sim.service.subscribe(after) as events:
                async for body in events:
                    yield body

        async with open_test_desk(stage, listen=listen) as desk:
            market_id = stage.open_markets()[0].market_id
            await until(desk, lambda now: now.listening and market_id in now.markets, stage.clock)
            await stage.clock.advance(1.0)
            seen: list[tuple[int, ...]] = []

            def note(state: DeskState) -> bool:
                told = tuple(fill.seq for fill in state.fills)
                if not seen or seen[-1] != told:
                    seen.append(told)
                return len(told) == BURST

            for _ in range(BURST):
                await buy(stage, market_id)
                note(desk.state)
            await stage.clock.advance(FILLS_EVERY_S)
            state = await until(desk, note, stage.clock)
            assert len(seen) <= 4
            assert [fill.seq for fill in state.fills] == sorted(seen[-1], reverse=True)
            price = stage.world.markets[market_id].price()
            assert abs(state.markets[market_id].price - price) < 1e-9


MARKET = "m-00001"
STATE = sample_state(8)
OWN = "a-1"
NEWS_OF_OWN = {
    Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES, Topic.MONITORS, Topic.ORDERS,
}  # fmt: skip
FILL: dict[str, Any] = {
    "trade_id": "t-1", "agent_id": "a-2", "agent_name": "heron", "market_id": MARKET,
    "question": "Q", "side": Side.YES, "action": Action.BUY, "shares": 5.0, "price": 0.4,
    "price_after": 0.41, "money": 2.0,
}  # fmt: skip
AGENT: dict[str, Any] = {
    "agent_id": "a-2", "name": "heron", "status": AgentStatus.ACTIVE, "plan": Plan.PRO,
    "claimed": True, "trading_paused": False, "suspended": False, "changed": ("key", "limits"),
}  # fmt: skip
ORDER: dict[str, Any] = {
    "order_id": "o-1", "agent_id": "a-2", "agent_name": "heron", "market_id": MARKET,
    "question": "Will it rain?", "state": "submitted", "shares": 12.345, "money": 4.0,
}  # fmt: skip
ALERT: dict[str, Any] = {
    "id": "al-1", "agent_id": OWN, "agent_name": "desk", "market_id": MARKET, "question": "Q",
    "venue": "sim", "side": Side.NO, "state": "triggered", "exit_reason": "stop_loss",
    "shares": 3.0, "price": 0.12345, "breached_at": datetime.fromtimestamp(NOW, UTC),
}  # fmt: skip
MONITOR: dict[str, Any] = {
    "agent_id": OWN, "agent_name": "desk", "market_id": MARKET, "question": "Q", "venue": "sim",
    "side": Side.NO, "state": "set",
}  # fmt: skip


def event(kind: str, seq: int = 7, **parts: Any) -> EventBody:
    return EventBody(kind=kind, seq=seq, at=datetime.fromtimestamp(NOW, UTC), **parts)


@pytest.mark.parametrize(
    ("body", "entry"),
    [
        (event("order", order=OrderPart(**ORDER)),
         ("heron", LogEvent.ORDER, "o-1", f"submitted: 12.35 shares of {MARKET}")),
        (event("order", order=OrderPart(**ORDER | {"state": "claimed"})),
         ("heron", LogEvent.RESULT, MARKET, "redeemed the position in Will it rain?")),
        (event("order", order=OrderPart(**ORDER | {"state": "claimed", "question": ""})),
         ("heron", LogEvent.RESULT, MARKET, f"redeemed the position in {MARKET}")),
        (event("agent_registered", agent=AgentPart(**AGENT)),
         ("heron", LogEvent.AGENT, "agent_registered",
          "heron registered: active, pro, key, limits")),
        (event("agent_changed", agent=AgentPart(**AGENT)),
         ("heron", LogEvent.AGENT, "agent_changed", "heron changed: active, pro, key, limits")),
        (event("risk_alert", risk_alert=RiskAlertPart(**ALERT)),
         ("desk", LogEvent.RISK, "alert",
          f"stop loss triggered, NO {MARKET} at 0.1235 (alert al-1)")),
        (event("monitor", monitor=MonitorPart(**MONITOR)),
         ("desk", LogEvent.RISK, "monitor", f"monitor set: NO {MARKET}")),
        (event("experiment", experiment=ExperimentPart(
            id="e", agent_id="a-2", agent_name="heron", skill_slug="ebb", experiment_number=4,
            segment=1, state="keep")),
         ("heron", LogEvent.RESULT, "ebb", "experiment 4: keep")),
    ],
)  # fmt: skip
def test_an_event_is_one_line_of_the_log(body: EventBody, entry: tuple[Any, ...]) -> None:
    assert list(actions_of(body)) == [Acted(*entry)]


def test_a_fill_is_a_trade_and_no_line_of_its_own() -> None:
    fill = FillPart(**FILL)
    assert list(actions_of(event("fill", fill=fill))) == []
    assert list(actions_of(event("order", fill=fill, order=OrderPart(**ORDER)))) == []
    assert list(actions_of(event("halt", halted=True))) == []


class Stream:
    """A desk that hears what a test says."""

    def __init__(self, state: DeskState = STATE, *streams: Any) -> None:
        self.clock = HastyClock() if streams else ManualClock()
        self.on = Offline(state, clock=self.clock)
        self.after: list[int | None] = []
        self.streams = list(streams)
        self.consumer = EventStreamConsumer(self.listen, self.on.ports, random.Random(1))

    async def listen(self, after: int | None) -> AsyncGenerator[EventBody]:
        self.after.append(after)
        if not self.streams:
            raise RuntimeError("over")
        for body in self.streams.pop(0):
            if isinstance(body, Exception):
                raise body
            yield body

    async def hear(self, *bodies: EventBody) -> None:
        """Hear events of one more stream."""
        self.streams.append([*bodies, RuntimeError("over")])
        with pytest.raises(RuntimeError, match="over"):
            await self.consumer.run()


FOCUSED = replace(
    STATE,
    supervision=replace(STATE.supervision, detail=AgentDetailView("a-2", (), ())),
    on_venues=(replace(STATE.positions[0], market_id="m-real", venue=Venue.EVM),),
)


@pytest.mark.parametrize(
    ("kind", "topics"),
    [
        ("order", {Topic.AGENTS}),
        ("agent_registered", {Topic.AGENTS}),
        ("agent_changed", {Topic.AGENTS}),
        ("market_listed", {Topic.MARKETS}),
        ("plan", {Topic.AGENTS}),
        ("monitor", {Topic.MONITORS}),
        ("risk_alert", {Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS}),
        ("halt", {Topic.WORLD, Topic.ACCOUNT, Topic.BRIEFING}),
        ("experiment", {Topic.RESEARCH}),
        ("held", {Topic.FLEET}),
        ("leash", {Topic.FLEET}),
        ("reset", set(Topic)),
        ("ready", set()),
        ("of_tomorrow", set()),
    ],
)
def test_each_kind_of_event_touches_its_topics(kind: str, topics: set[Topic]) -> None:
    assert topics_of(event(kind), STATE) == topics


@pytest.mark.parametrize(
    ("parts", "topics"),
    [
        ({"fill": FillPart(**FILL)}, {Topic.AGENTS, Topic.DETAIL, Topic.FLEET}),
        ({"fill": FillPart(**FILL | {"agent_id": "a-3"})}, {Topic.AGENTS, Topic.DETAIL}),
        ({"fill": FillPart(**FILL | {"agent_id": OWN})},
         {Topic.AGENTS, Topic.DETAIL} | NEWS_OF_OWN),
        ({"agent": AgentPart(**AGENT)}, {Topic.AGENTS}),
        ({"agent": AgentPart(**AGENT | {"agent_id": OWN})}, {Topic.AGENTS, Topic.ACCOUNT}),
        ({"risk_alert": RiskAlertPart(**ALERT | {"agent_id": "a-2"})}, {Topic.FLEET}),
        ({"monitor": MonitorPart(**MONITOR | {"agent_id": "a-2"})}, set()),
    ],
)  # fmt: skip
def test_what_an_event_touches_depends_on_whose_it_is(
    parts: dict[str, Any], topics: set[Topic]
) -> None:
    assert topics_of(event("agent_changed", **parts), FOCUSED) == topics


def test_an_own_alert_or_monitor_touches_what_it_is_about() -> None:
    monitor = event("monitor", monitor=MonitorPart(**MONITOR))
    assert topics_of(monitor, STATE) == {Topic.MONITORS}
    alert = event("risk_alert", risk_alert=RiskAlertPart(**ALERT))
    assert topics_of(alert, STATE) == {Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS}
    assert topics_of(alert, replace(STATE, account=None)) == {Topic.FLEET}


@pytest.mark.parametrize(
    ("market_id", "paid", "more"),
    [
        ("m-1", (), set()),
        ("m-1", ("a-2",), {Topic.AGENTS}),
        ("m-1", ("a-2", OWN), {Topic.AGENTS} | NEWS_OF_OWN),
        ("m-real", (), {Topic.REDEMPTIONS, Topic.WALLET} | NEWS_OF_OWN),
        ("m-real", ("a-2",), {Topic.AGENTS, Topic.REDEMPTIONS, Topic.WALLET} | NEWS_OF_OWN),
    ],
)
def test_a_resolution_touches_those_who_were_paid_or_hold_it(
    market_id: str, paid: tuple[str, ...], more: set[Topic]
) -> None:
    payouts = tuple(PayoutPart(agent_id=one, payout=1.0, pnl=1.0) for one in paid)
    market = MarketPart(market_id=market_id, question="Q", outcome=True, payouts=payouts)
    body = event("market_resolved", market=market)
    assert topics_of(body, FOCUSED) == {Topic.MARKETS, Topic.DETAIL} | more


async def test_a_stream_is_heard_from_its_first_word_on() -> None:
    agent = AgentPart(**AGENT)
    it = Stream()
    await it.hear(
        event("ready"), event("fill", 8, fill=FillPart(**FILL)),
        event("agent_changed", 9, agent=agent), event("agent_registered", 10, agent=agent),
        event("reset", 11),
    )  # fmt: skip
    told = [fact for fact in it.on.facts if not isinstance(fact, Acted)]
    assert told[:2] == [Listening(on=True), Listening(on=True)]
    assert len([fact for fact in it.on.facts if isinstance(fact, Acted)]) == 2
    # Another world counts anew.
    await it.hear(event("reset", 2))
    await it.hear()
    assert it.after == [None, 11, 2]


async def test_a_stream_that_ends_is_opened_again_behind_what_was_heard() -> None:
    away = UnreachableError("away", Called("GET", "/events"))
    it = Stream(STATE, [event("ready", 3)], [away], [away], [event("ready", 5), away])
    with pytest.raises(RuntimeError):
        await it.consumer.run()
    assert it.after == [None, 3, 3, 3, 5]
    listening = [fact.on for fact in it.on.facts if isinstance(fact, Listening)]
    assert listening == [True, False, False, False, True, False]
    assert isinstance(it.clock, HastyClock)
    assert len(it.clock.slept) == 4
    assert all(0 < one <= RETURN_S for one in it.clock.slept)


async def test_touched_topics_are_woken_at_once_and_then_after_a_pause() -> None:
    it = Stream()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(it.consumer.refresh_touched())
        await it.hear(event("ready"))
        await it.on.clock.advance(5.0)
        assert it.on.woken == []
        await it.hear(event("market_listed", 1))
        await it.on.clock.advance(0)
        assert it.on.woken == [Topic.MARKETS]
        await it.hear(event("experiment", 2), event("experiment", 3))
        await it.on.clock.advance(REFRESH_EVERY_S - 0.01)
        assert it.on.woken == [Topic.MARKETS]
        await it.on.clock.advance(0.01)
        assert it.on.woken == [Topic.MARKETS, Topic.RESEARCH]
        task.cancel()


async def test_fills_are_told_at_once_and_then_together() -> None:
    it = Stream()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(it.consumer.emit_fills())
        for seq in (1, 2, 3):
            await it.hear(event("fill", seq, fill=FillPart(**FILL)))
            await it.on.clock.advance(0)
        await it.on.clock.advance(FILLS_EVERY_S)
        facts = [one for one in it.on.facts if isinstance(one, FillsReceived)]
        assert [[one.seq for one in fact.fills] for fact in facts] == [[1], [2, 3]]
        task.cancel()


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("heron",), "heron registered: see Agents"),
        (("tide", "moss", "heron"), "3 agents registered (tide, moss, heron): see Agents"),
    ],
)
async def test_agents_that_are_registered_together_are_told_once(
    names: tuple[str, ...], text: str
) -> None:
    it = Stream()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(it.consumer.emit_registered())
        for seq, name in enumerate(names, 1):
            agent = AgentPart(**{**AGENT, "name": name})
            await it.hear(event("agent_registered", seq, agent=agent))
            await it.on.clock.advance(0.1)
        await it.on.clock.advance(TOGETHER_S)
        assert [one for one in it.on.facts if isinstance(one, Noticed)] == [Noticed("info", text)]
        task.cancel()
