"""Fires the alerts on agents: measures each one's condition at every tick."""

from collections.abc import Callable, Iterator
from typing import Final

from service_tui.engine import halting
from service_tui.engine.amm.market import Market
from service_tui.engine.books.venues import REAL
from service_tui.engine.events import Event
from service_tui.engine.notify.agent_alerts import MINUTE_S, greatest_move
from service_tui.engine.notify_events import AgentAlertArmed, AgentAlertFired, AgentAlertSet
from service_tui.engine.world import World
from service_tui.terms import AgentAlertAction, AgentAlertKind
from service_tui.units import ONE, Micros, Timestamp

Measured = tuple[Micros, str]
"""What an alert watches, in the unit of its limit, and the market that it is about."""


def fire_due(world: World, at: Timestamp) -> list[Event]:
    """Fire each alert whose limit is reached, once; let those fire again that have come back.

    Returns:
        The events, already applied: the firing, and after it what its action changed.
    """
    book = world.agent_alerts
    if not book.by_id:
        return []
    events: list[Event] = world.did(book.unwritten())
    for alert in list(book.by_id.values()):
        placed = alert.placed
        settings = world.agents[placed.agent_id].settings
        if settings.retired or settings.suspended:
            # ours: it trades no more, and its silence is wanted.
            continue
        value, market_id = MEASURES[placed.kind](world, placed, at)
        if not alert.has_turned(value):
            continue
        if alert.is_beyond:
            events += world.did([AgentAlertArmed(placed.alert_id, at)])
            continue
        fired = AgentAlertFired(placed.alert_id, placed.agent_id, at, value, market_id)
        events += [*world.did([fired]), *_act(world, placed, at)]
    return events


def _act(world: World, placed: AgentAlertSet, at: Timestamp) -> list[Event]:
    """What an alert does beside telling; nothing where it is so already."""
    agent = world.agents[placed.agent_id]
    match placed.action:
        case AgentAlertAction.TELL:
            return []
        case AgentAlertAction.PAUSE:
            is_paused = agent.settings.operator_paused
            return [] if is_paused else world.change(agent, {"operator_paused": True}, at)
        case AgentAlertAction.HALT:
            return halting.halt(world, at)


def _silence(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    minutes = world.agent_alerts.silence(placed, at) / MINUTE_S
    return Micros(int(minutes * ONE)), ""


def _drawdown(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    del at
    agent = world.agents[placed.agent_id]
    equity = world.exit_equity(agent)
    peak = max(agent.peak, equity)
    return Micros((peak - equity) * ONE // peak if peak > 0 else 0), ""


def _day_loss(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    return Micros(max(0, -world.gained_today(world.agents[placed.agent_id], at))), ""


def _spend(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    return world.agents[placed.agent_id].spent_within(placed.minutes, at), ""


def _errors(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    return Micros(world.agent_alerts.errors_of(placed, at) * ONE), ""


def _move(world: World, placed: AgentAlertSet, at: Timestamp) -> Measured:
    """The greatest move of a market that the agent holds. # ours: by the tape's time."""
    del at
    since = world.world_at - placed.minutes * MINUTE_S
    moves = (
        (Micros(round(greatest_move(_prices(market, since), market.price()) * ONE)), market_id)
        for market_id, market in _held(world, placed.agent_id)
    )
    return max(moves, default=(Micros(0), ""))


def _prices(market: Market, since: float) -> Iterator[float]:
    """Prices of a market since a moment of the tape: by the tick, and of before by the step."""
    for history in (market.recent, market.samples):
        for at, price in reversed(history):
            if at < since:
                break
            yield price


def _held(world: World, agent_id: str) -> Iterator[tuple[str, Market]]:
    """The open markets in which an agent holds shares, on any venue."""
    held = {one.market_id for one in world.agents[agent_id].open_positions()}
    for venue in REAL:
        holdings = world.venues.account(agent_id, venue).holdings
        held |= {market_id for market_id, one in holdings.items() if one.is_held()}
    for market_id in sorted(held):
        market = world.markets.get(market_id)
        if market is not None and market.resolved_at is None:
            yield market_id, market


MEASURES: Final[dict[AgentAlertKind, Callable[[World, AgentAlertSet, Timestamp], Measured]]] = {
    AgentAlertKind.SILENT: _silence,
    AgentAlertKind.DRAWDOWN: _drawdown,
    AgentAlertKind.DAY_LOSS: _day_loss,
    AgentAlertKind.SPEND: _spend,
    AgentAlertKind.MOVE: _move,
    AgentAlertKind.ERRORS: _errors,
}
"""How each kind is measured."""
