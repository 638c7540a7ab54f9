"""Requests on monitors and alerts: set, delete, acknowledge.

Each makes its event, applies it, and returns it to be written down.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.errors import (
    AlertNotFound,
    MonitorNotFound,
    NothingWatched,
    PositionNotFound,
    TimeStopPast,
    TrailingStopTooWide,
)
from service_tui.engine.events import AlertEnded, MonitorDeleted, MonitorSet
from service_tui.engine.exit_values import mark_of
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.world import World
from service_tui.terms import THRESHOLDS, AlertStatus, Side, Venue
from service_tui.units import Timestamp


class Spot(NamedTuple):
    """One side of one market; on whatever venue where that is None."""

    market_id: str
    side: Side
    venue: Venue | None = None


class ThresholdRequest(NamedTuple):
    """Thresholds for a side, by their names in the engine.

    None removes one; one that is left out stays as it is.
    """

    spot: Spot
    terms: Mapping[str, float | None]


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
        TimeStopPast: its time stop is not in the future.
        TrailingStopTooWide: its trailing stop would begin at 0 or below.
    """
    spot = request.spot
    world.market(spot.market_id).check_open(world.world_at)
    risk = world.risk
    risk.settle()
    for venue in _venues_of(world, spot):
        watched = MonitoredSide(agent.agent_id, venue, spot.market_id, spot.side)
        if risk.position_of(watched).shares:
            known = risk.monitors.get(watched)
            exit_at = request.terms.get("exit_at")
            if exit_at is not None and not exit_at > at:
                raise TimeStopPast("the time stop is not in the future")
            terms = _terms(request, known, agent.settings.stop_loss_pct)
            event = MonitorSet(agent.agent_id, at, venue, spot.market_id, spot.side, **terms)
            event = event._replace(peak=_peak(world, event, known))
            _check_trail(request, event.peak)
            risk.apply(event)
            monitor = risk.monitors.get(watched)
            if monitor is None:
                raise AssertionError("a monitor of what is held stands after it was set")
            return event, monitor
    where = "" if spot.venue is None else f" on {spot.venue.value}"
    raise PositionNotFound(
        f"position not found: no {spot.side.value.upper()} is held in {spot.market_id}{where}",
        "buy first, or take market and side from GET /api/sdk/positions",
    )


def _peak(world: World, event: MonitorSet, known: Monitor | None) -> float:
    """The highest mark that a trailing stop starts from; one that is there keeps what it has seen.

    0 without a trailing stop.
    """
    if event.trailing_stop_pct is None and event.trailing_stop_points is None:
        return 0.0
    times = (event.at, world.world_at)
    mark = mark_of(world, event.venue, event.market_id, times)
    mark = mark if event.side is Side.YES else 1.0 - mark
    return mark if known is None else max(known.peak, mark)


def _check_trail(request: ThresholdRequest, peak: float) -> None:
    """Refuse points of price that reach from the peak to 0 or below."""
    # ours: the wire bounds the points by 1 alone; such a stop would never sell at this price.
    points = request.terms.get("trailing_stop_points")
    if points is not None and not points < peak:
        raise TrailingStopTooWide(
            f"the trailing stop of {points:g} reaches below 0: the highest price is {peak:.4f}"
        )


def _terms(
    request: ThresholdRequest, known: Monitor | None, default_stop: float | None
) -> dict[str, Any]:
    """The thresholds that a monitor has from now on, by name."""
    first = {kind.name: None for kind in THRESHOLDS} | {"stop_loss_pct": default_stop}
    before: dict[str, Any] = first if known is None else known.terms()
    terms = {**before, **request.terms}
    # There is one trailing stop: a distance of the one kind replaces one of the other.
    if request.terms.get("trailing_stop_pct") is not None:
        terms["trailing_stop_points"] = None
    elif request.terms.get("trailing_stop_points") is not None:
        terms["trailing_stop_pct"] = None
    if all(term is None for term in terms.values()):
        spot = request.spot
        removes = f"DELETE /api/sdk/positions/{spot.market_id}/monitor?side={spot.side.value}"
        raise NothingWatched(
            "no threshold left: a monitor needs one",
            f"keep one threshold, or remove the monitor: {removes}",
        )
    return terms


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
