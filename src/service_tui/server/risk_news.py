"""What the briefing says of risk: alerts, what the client is to sell, and what wants attention.

Knows engine and wire. Must not know HTTP.
Used by the briefing. Source: wire reference, 3.7.
"""

from typing import Final, NamedTuple

from service_tui.engine.agents import Agent
from service_tui.engine.book import Times
from service_tui.engine.monitors import Held
from service_tui.engine.transitions import PositionState
from service_tui.engine.venues import REAL
from service_tui.engine.world import World
from service_tui.server.present_risk import alert_body
from service_tui.terms import AlertStatus, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.monitors import RiskAlertBody

WARNINGS_MAX: Final = 20
"""Warnings of one briefing. # ours: the list is for reading."""


class RiskNews(NamedTuple):
    """`alerts` wait for their exit; of these `triggered` are for the client to execute."""

    alerts: tuple[RiskAlertBody, ...]
    triggered: tuple[RiskAlertBody, ...]
    warnings: tuple[str, ...]
    actions: tuple[str, ...]


def risk_news(world: World, agent: Agent, times: Times, since: Timestamp) -> RiskNews:
    """Everything about risk that an agent should know now, and what was missed since a moment."""
    risk, now = world.risk, times[0]
    alerts = tuple(
        alert_body(world, alert, times)
        for alert in risk.alerts_of(agent.agent_id)
        if now < alert.expires_at
    )
    triggered = tuple(one for one in alerts if one.executed_by == "client")
    stuck = [f"the exit waits: {one.error} ({one.message})" for one in alerts if one.error]
    missed = [
        f"an alert expired without its exit: {alert_body(world, alert, times).message}"
        for alert in risk.history_of(agent.agent_id)
        if alert.status is AlertStatus.EXPIRED and (alert.ended_at or 0.0) >= since
    ]
    return RiskNews(
        alerts=alerts,
        triggered=triggered,
        warnings=(*stuck, *missed, *_unguarded(world, agent))[:WARNINGS_MAX],
        actions=tuple(_action(one, now) for one in triggered),
    )


def _action(alert: RiskAlertBody, now: Timestamp) -> str:
    """What a client is to do for an alert, and until when."""
    left_s = alert.expires_at.timestamp() - now if alert.expires_at else 0.0
    return (
        f"sell {alert.shares:g} {alert.side.value.upper()} of {alert.market_id} within "
        f"{max(1, int(left_s // 60))} min ({alert.exit_reason})"
    )


def _unguarded(world: World, agent: Agent) -> list[str]:
    """How many sides the agent holds that nothing watches and for which no alert waits."""
    risk = world.risk
    guarded = {monitor.held for monitor in risk.monitors_of(agent.agent_id)}
    guarded |= {alert.held for alert in risk.alerts_of(agent.agent_id)}
    bare = [held for held in _held_by(world, agent) if held not in guarded]
    if not bare:
        return []
    what = "1 position has" if len(bare) == 1 else f"{len(bare)} positions have"
    return [f"{what} no monitor"]


def _held_by(world: World, agent: Agent) -> list[Held]:
    """Sides with shares that can still be sold."""
    found = [
        Held(agent.agent_id, Venue.SIM, market_id, side)
        for market_id, position in agent.positions.items()
        for side in Side
        if position.shares(side)
    ]
    for venue in REAL:
        holdings = world.venues.account(agent.agent_id, venue).holdings
        found += [
            Held(agent.agent_id, venue, market_id, side)
            for market_id, holding in holdings.items()
            if holding.state is PositionState.ACTIVE
            for side in Side
            if holding.position.shares(side)
        ]
    return found
