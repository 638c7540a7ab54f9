"""Requests on monitors and alerts: set, delete, acknowledge.

Each makes its event, applies it, and returns it to be written down.
"""

from typing import NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.errors import (
    AlertNotFound,
    MonitorNotFound,
    NothingWatched,
    PositionNotFound,
)
from service_tui.engine.events import AlertEnded, MonitorDeleted, MonitorSet
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.world import World
from service_tui.terms import AlertStatus, Side, Venue
from service_tui.units import Timestamp


class Spot(NamedTuple):
    """One side of one market; on whatever venue where that is None."""

    market_id: str
    side: Side
    venue: Venue | None = None


class ThresholdRequest(NamedTuple):
    """Thresholds for a side, fractions of its average cost; None removes one.

    Those that `kept` names were not sent: they stay as they are.
    """

    spot: Spot
    stop_loss_pct: float | None
    take_profit_pct: float | None
    kept: frozenset[str] = frozenset()


def _venues_of(world: World, spot: Spot) -> tuple[Venue, ...]:
    """Where a side may be held; the real venue first, as the published service takes that one."""
    # ours: clients send no venue, so the holding decides.
    if spot.venue is not None:
        return (spot.venue,)
    market = world.markets.get(spot.market_id)
    homes = {Venue.SIM} if market is None else {market.listing.home, Venue.SIM}
    return tuple(sorted(homes, key=lambda venue: venue is Venue.SIM))


def set_monitor(
    world: World, agent: Agent, request: ThresholdRequest, at: Timestamp
) -> tuple[MonitorSet, Monitor]:
    """Watch a side that the agent holds; what is not sent stays as an earlier monitor has it.

    The first monitor of a side takes the agent's default stop, unless one is sent or removed.
    Source: decisions, "Changing a monitor".

    Returns:
        The event, already applied, and the monitor.

    Raises:
        MarketNotFound: there is no such market.
        MarketNotOpen: it is over, so that nothing could be sold.
        PositionNotFound: the agent does not hold the side there.
        NothingWatched: no threshold would be left.
    """
    spot = request.spot
    world.market(spot.market_id).check_open(world.world_at)
    risk = world.risk
    risk.settle()
    for venue in _venues_of(world, spot):
        held = MonitoredSide(agent.agent_id, venue, spot.market_id, spot.side)
        if risk.held_on(held).shares:
            known = risk.monitors.get(held)
            thresholds = _thresholds(request, known, agent.settings.stop_loss_pct)
            event = MonitorSet(agent.agent_id, at, venue, spot.market_id, spot.side, *thresholds)
            risk.apply(event)
            monitor = risk.monitors.get(held)
            if monitor is None:
                raise AssertionError("a monitor of what is held stands after it was set")
            return event, monitor
    where = "" if spot.venue is None else f" on {spot.venue.value}"
    raise PositionNotFound(
        f"position not found: no {spot.side.value.upper()} is held in {spot.market_id}{where}",
        "buy first, or take market and side from GET /api/sdk/positions",
    )


def _thresholds(
    request: ThresholdRequest, known: Monitor | None, default_stop: float | None
) -> tuple[float | None, float | None]:
    """The stop and the target that a monitor has from now on."""
    stop, target = request.stop_loss_pct, request.take_profit_pct
    if "stop_loss_pct" in request.kept:
        stop = default_stop if known is None else known.stop_loss_pct
    if "take_profit_pct" in request.kept and known is not None:
        target = known.take_profit_pct
    if stop is None and target is None:
        spot = request.spot
        removes = f"DELETE /api/sdk/positions/{spot.market_id}/monitor?side={spot.side.value}"
        raise NothingWatched(
            "no threshold left: a monitor needs one",
            f"keep one threshold, or remove the monitor: {removes}",
        )
    return stop, target


def delete_monitor(world: World, agent: Agent, spot: Spot, at: Timestamp) -> MonitorDeleted:
    """Stop watching a side.

    Returns:
        The event, already applied.

    Raises:
        MonitorNotFound: there is no monitor.
    """
    world.risk.settle()
    for venue in (spot.venue,) if spot.venue else tuple(Venue)[::-1]:
        if world.risk.monitors.get(MonitoredSide(agent.agent_id, venue, spot.market_id, spot.side)):
            event = MonitorDeleted(agent.agent_id, at, venue, spot.market_id, spot.side)
            world.risk.apply(event)
            return event
    raise MonitorNotFound(
        f"monitor not found: {spot.side.value.upper()} of {spot.market_id} is not watched"
    )


def acknowledge(
    world: World, agent: Agent, spot: Spot, at: Timestamp, *, alert_id: str | None = None
) -> tuple[AlertEnded, RiskAlert]:
    """Take the word of an agent that an alert is dealt with.

    An exit that was seen already comes first, for its acknowledgement is what a client sends after
    its sale; else the oldest alert of the side that waits ends: executed if any of it was sold.

    Returns:
        The event, already applied, and the alert.

    Raises:
        AlertNotFound: no alert of the side waits, nor was any sold within the hour.
    """
    risk = world.risk
    mine = [
        alert
        for alert in (*risk.history_of(agent.agent_id)[::-1], *risk.alerts_of(agent.agent_id))
        if alert.breach.market_id == spot.market_id
        and alert.breach.side is spot.side
        and spot.venue in {None, alert.breach.venue}
        and alert_id in {None, alert.breach.alert_id}
        and _may_be_meant(alert, at)
    ]
    if not mine:
        raise AlertNotFound(
            f"risk alert not found: nothing waits for {spot.side.value.upper()} of {spot.market_id}"
        )
    alert = mine[0]
    sold = alert.sold or alert.status is AlertStatus.EXECUTED
    status = AlertStatus.EXECUTED if sold else AlertStatus.DISMISSED
    event = AlertEnded(alert.breach.alert_id, agent.agent_id, at, spot.market_id, status)
    risk.apply(event)
    return event, alert


def _may_be_meant(alert: RiskAlert, at: Timestamp) -> bool:
    """True while an agent may still act on an alert."""
    if alert.status is AlertStatus.PENDING:
        return True
    is_sold = alert.status is AlertStatus.EXECUTED
    return is_sold and not alert.is_acknowledged and at < alert.expires_at
