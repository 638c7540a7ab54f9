"""Consumes the service's event stream, so that changes need not wait for the next poll.

While there is no stream everything is polled as ever.
"""

import asyncio
import logging
import random
from collections.abc import Iterator
from contextlib import aclosing
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.client.retry import next_delay
from service_tui.desk.agents.translate import fill_view
from service_tui.desk.facts import Acted, FillsReceived, Listening, Noticed
from service_tui.desk.ports import Listen, Ports
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.log import LogEvent, registered_text
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.wire.events import EventBody, EventKind, FillPart, MarketPart


def actions_of(body: EventBody) -> Iterator[Acted]:
    """Log entries of an event; fills are logged as trades instead."""
    if body.order is not None and body.fill is None:
        order = body.order
        if order.state == "claimed":
            # No order at all: a position was redeemed, its money was in the event before.
            text = f"redeemed the position in {order.question or order.market_id}"
            yield Acted(order.agent_name, LogEvent.RESULT, order.market_id, text)
        else:
            text = f"{order.state}: {order.shares:.2f} shares of {order.market_id}"
            yield Acted(order.agent_name, LogEvent.ORDER, order.order_id, text)
    if body.agent is not None:
        agent = body.agent
        new = body.kind == EventKind.AGENT_REGISTERED
        pause = "buys paused" if agent.trading_paused else "buys allowed"
        named = (pause if one == PAUSED else one.replace("_", " ") for one in agent.changed)
        changes = [agent.status.value, agent.plan.value, *named]
        text = f"{agent.name} {'registered' if new else 'changed'}: {', '.join(changes)}"
        yield Acted(agent.name, LogEvent.AGENT, body.kind, text)
    if body.risk_alert is not None:
        alert = body.risk_alert
        at = f"{alert.side.value.upper()} {alert.market_id} at {alert.price:.4f}"
        reason = str(alert.exit_reason).replace("_", " ")
        text = f"{reason} {alert.state}, {at} (alert {alert.id})"
        yield Acted(alert.agent_name, LogEvent.RISK, "alert", text)
    if body.monitor is not None:
        monitor = body.monitor
        text = f"monitor {monitor.state}: {monitor.side.value.upper()} {monitor.market_id}"
        yield Acted(monitor.agent_name, LogEvent.RISK, "monitor", text)
    if body.experiment is not None:
        experiment = body.experiment
        text = f"experiment {experiment.experiment_number}: {experiment.state}"
        yield Acted(experiment.agent_name, LogEvent.RESULT, experiment.skill_slug, text)


log = logging.getLogger(__name__)

TOGETHER_S: Final = 2.0
"""ours: agents that are registered within this time are told in one notice."""

PAUSED: Final = "trading_paused"
"""Name of the field of an agent that stops its buys."""

REFRESH_EVERY_S: Final = 0.5
"""A topic that is touched again and again is looked at no more often than this."""

FILLS_EVERY_S: Final = 0.1
"""Least pause between two facts with fills: twenty busy programs trade hundreds a second."""

RETURN_S: Final = 4.0
"""Longest pause before a stream is opened again. Source: failures, F-08."""

_OWN: Final = frozenset({
    Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES, Topic.MONITORS, Topic.ORDERS,
})  # fmt: skip
_PLAIN: Final = {
    EventKind.ORDER: frozenset({Topic.AGENTS}),
    EventKind.AGENT_REGISTERED: frozenset({Topic.AGENTS}),
    EventKind.AGENT_CHANGED: frozenset({Topic.AGENTS}),
    EventKind.MARKET_LISTED: frozenset({Topic.MARKETS}),
    # Whatever is marked at prices: of a world that stands still, all must be of one moment.
    EventKind.SPEED: frozenset({
        Topic.WORLD,
        Topic.MARKETS,
        Topic.AGENTS,
        Topic.FLEET,
        Topic.POSITIONS,
        Topic.ACCOUNT,
        Topic.MONITORS,
        Topic.DETAIL,
    }),
    EventKind.PLAN: frozenset({Topic.AGENTS}),
    EventKind.MONITOR: frozenset({Topic.MONITORS}),
    EventKind.RISK_ALERT: frozenset({Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS}),
    EventKind.HALT: frozenset({Topic.WORLD, Topic.ACCOUNT, Topic.BRIEFING}),
    EventKind.EXPERIMENT: frozenset({Topic.RESEARCH}),
    EventKind.PENDING: frozenset({Topic.FLEET}),
    EventKind.LEASH: frozenset({Topic.FLEET}),
    EventKind.RESET: frozenset(Topic),
}
"""Topics that each type of event affects, whichever agent it is about."""


class EventStreamConsumer:
    """Consumes the event stream and refreshes the topics that each event affects.

    Four loops run for ever: `run` consumes, `refresh_touched` wakes pollers, `emit_fills` emits
    trades, `emit_registered` new agents. An event that arrives twice is harmless.
    """

    def __init__(self, listen: Listen, ports: Ports, rng: random.Random) -> None:
        self._listen = listen
        self._ports = ports
        self._rng = rng
        self._touched: set[Topic] = set()
        self._awake = asyncio.Event()
        self._fills: list[FillView] = []
        self._traded = asyncio.Event()
        self._registered: list[str] = []
        self._joined = asyncio.Event()
        self._last: int | None = None
        self._failures = 0

    async def run(self) -> None:
        """Consume events; reconnect where a stream ended."""
        while True:
            try:
                await self._follow()
            except ServiceError as error:
                log.info("not listening: %s", error)
            self._ports.emit(Listening(on=False))
            self._failures += 1
            await self._ports.clock.sleep(min(RETURN_S, next_delay(self._failures, self._rng)))

    async def refresh_touched(self) -> None:
        """Refresh affected topics at once, then at most every `REFRESH_EVERY_S`."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            touched, self._touched = self._touched, set()
            for topic in touched:
                self._ports.refresh(topic)
            await self._ports.clock.sleep(REFRESH_EVERY_S)

    async def emit_fills(self) -> None:
        """Emit collected fills at once, then at most every `FILLS_EVERY_S`."""
        while True:
            await self._traded.wait()
            self._traded.clear()
            fills, self._fills = self._fills, []
            self._ports.emit(FillsReceived(tuple(fills)))
            await self._ports.clock.sleep(FILLS_EVERY_S)

    async def emit_registered(self) -> None:
        """Notify of agents that were registered; of those that came together, once."""
        while True:
            await self._joined.wait()
            await self._ports.clock.sleep(TOGETHER_S)
            self._joined.clear()
            names, self._registered = self._registered, []
            self._ports.emit(Noticed("info", f"{registered_text(names)}: see Agents"))

    async def _follow(self) -> None:
        """Consume one stream to its end."""
        async with aclosing(self._listen(self._last)) as events:
            async for body in events:
                self._failures = 0
                self._on_event(body)

    def _on_event(self, body: EventBody) -> None:
        self._last = body.seq
        if body.kind in {EventKind.READY, EventKind.RESET}:
            self._ports.emit(Listening(on=True))
        if body.fill is not None:
            self._fills.append(fill_view(body, body.fill))
            self._traded.set()
        for acted in actions_of(body):
            self._ports.emit(acted)
        if body.kind == EventKind.AGENT_REGISTERED and body.agent is not None:
            self._registered.append(body.agent.name)
            self._joined.set()
        self._touch(topics_of(body, self._ports.state()))

    def _touch(self, topics: frozenset[Topic]) -> None:
        # A poller that does not run here leaves its topic poked, which does no harm.
        self._touched |= topics
        if self._touched:
            self._awake.set()


_NONE: Final[frozenset[Topic]] = frozenset()
_KINDS: Final = frozenset(kind.value for kind in EventKind)


def topics_of(body: EventBody, state: DeskState) -> frozenset[Topic]:
    """Topics that an event affects, on a desk that knows this."""
    account = state.account
    own = "" if account is None else account.agent_id
    part = body.risk_alert or body.monitor
    if part is not None and part.agent_id != own:
        # An alert is one of the needs of its agent, which the fleet lists.
        return _NONE if body.risk_alert is None else frozenset({Topic.FLEET})
    if body.fill is not None:
        touched = _of_fill(body.fill, own)
        detail = state.supervision.detail
        # Its timeline is on screen.
        is_seen = detail is not None and detail.agent_id == body.fill.agent_id
        return touched | {Topic.FLEET} if is_seen else touched
    if body.kind == EventKind.MARKET_RESOLVED and body.market is not None:
        held = state.on_venues
        is_held = any(one.market_id == body.market.market_id for one in held)
        return _of_resolution(body.market, own, is_held=is_held)
    topics = _PLAIN.get(EventKind(body.kind), frozenset()) if body.kind in _KINDS else _NONE
    is_own = body.agent is not None and body.agent.agent_id == own
    if is_own and body.agent is not None and "wallet" in body.agent.changed:
        # Another wallet has other money, positions and payouts.
        return topics | _OWN | {Topic.REDEMPTIONS, Topic.WALLET, Topic.BRIEFING}
    return topics | {Topic.ACCOUNT} if is_own else topics


def _of_fill(fill: FillPart, own: str) -> frozenset[Topic]:
    # The price came with the event: the list of markets need not be read for it.
    touched = frozenset({Topic.AGENTS, Topic.DETAIL})
    return touched | _OWN if fill.agent_id == own else touched


def _of_resolution(market: MarketPart, own: str, *, is_held: bool) -> frozenset[Topic]:
    """What a resolution touches; `is_held`: the own agent has a position in it on a real venue."""
    paid = {payout.agent_id for payout in market.payouts}
    touched = frozenset({Topic.MARKETS, Topic.DETAIL})
    if paid:
        touched |= {Topic.AGENTS}
    if is_held:
        # It is redeemed from now on, or lost.
        touched |= {Topic.REDEMPTIONS, Topic.WALLET}
    return touched | _OWN if own in paid or is_held else touched
