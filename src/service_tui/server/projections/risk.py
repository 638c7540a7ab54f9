"""Monitors and alerts as wire bodies."""

from typing import Any, Final, Literal

from service_tui.engine.books import orders
from service_tui.engine.books.book import Times
from service_tui.engine.books.catalogue import has_event
from service_tui.engine.errors import Refusal
from service_tui.engine.exit_values import exit_value, mark_of
from service_tui.engine.exits import (
    exit_order,
    is_for_service,
    on_venue,
    reason_of,
)
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Monitor
from service_tui.engine.world import World
from service_tui.server.projections.venues import chain_ids
from service_tui.server.results.venues import question_of
from service_tui.terms import (
    THRESHOLDS,
    AlertStatus,
    ExitReason,
    Side,
    ThresholdKind,
    ThresholdUnit,
    Venue,
)
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.monitors import MonitorBody, RiskAlertBody
from service_tui.wire.settings import RemovedMonitorBody

PRICE_DIGITS: Final = 9
"""Digits of a computed price; further ones are rounding errors of the double."""


def _price(price: float | None) -> float | None:
    return None if price is None else round(price, PRICE_DIGITS)


def monitor_body(world: World, monitor: Monitor, times: Times) -> MonitorBody:
    """A monitor with the present figures of its position."""
    watched = monitor.watched
    position = world.risk.position_of(watched)
    yes_price = mark_of(world, watched.venue, watched.market_id, times)
    price = yes_price if watched.side is Side.YES else 1.0 - yes_price
    return MonitorBody(
        market_id=watched.market_id,
        side=watched.side,
        venue=watched.venue,
        question=question_of(world, watched.market_id),
        shares=decimal(position.shares),
        cost_basis=decimal(position.cost),
        stop_price=_price(monitor.stop_price()),
        take_profit_price=_price(monitor.target_price()),
        entry_price=_price(monitor.entry),
        reference_price=_price(monitor.reference),
        current_price=_price(price),
        current_value=decimal(position.mark_value(price)),
        exit_value=decimal(exit_value(world, watched, times)),
        automatic=monitor.automatic,
        set_at=moment(monitor.set_at),
        simulated=watched.venue is not Venue.SIM,
        trailing_stop_price=_price(monitor.trail_price()),
        peak_price=None if monitor.trail_distance is None else _price(monitor.peak),
        **{kind.name: _threshold(kind, getattr(monitor, kind.name)) for kind in THRESHOLDS},
    )


def _threshold(kind: ThresholdKind, value: float | None) -> Any:  # noqa: ANN401 - a field of a body
    """A threshold as its field of the wire."""
    if value is None or kind.unit is not ThresholdUnit.MOMENT:
        return value
    return moment(Timestamp(value))


def removed_body(world: World, monitor: Monitor) -> RemovedMonitorBody:
    """A removed monitor."""
    watched = monitor.watched
    return RemovedMonitorBody(
        market_id=watched.market_id,
        side=watched.side,
        venue=watched.venue,
        question=question_of(world, watched.market_id),
    )


def alert_body(world: World, alert: RiskAlert, times: Times) -> RiskAlertBody:
    """An alert with its breach and result; a pending one sells at most the open shares."""
    breach, watched = alert.breach, alert.watched
    waits = alert.status is AlertStatus.PENDING
    service = waits and is_for_service(world, alert)
    market = world.markets.get(breach.market_id)
    neg_risk = None if market is None else has_event(market.listing)
    ids = chain_ids(breach.market_id, breach.venue, neg_risk=neg_risk)
    shares, by_clock = breach.shares, breach.reason is ExitReason.TIME_STOP
    if waits:
        shares = Micros(min(alert.left(), world.risk.position_of(watched).shares))
    return RiskAlertBody(
        market_id=breach.market_id,
        side=breach.side,
        shares=decimal(shares),
        exit_reason=breach.reason.value,
        venue=breach.venue,
        token_id=ids.token_id_yes if breach.side is Side.YES else ids.token_id_no,
        id=breach.alert_id,
        question=question_of(world, breach.market_id),
        threshold_pct=None if by_clock or breach.in_points else breach.threshold_pct,
        threshold_price=None if by_clock else _price(breach.level),
        entry_price=_price(breach.entry),
        triggered_price=_price(breach.price),
        breached_at=moment(breach.at),
        expires_at=moment(alert.expires_at),
        status=alert.status.value,
        ended_at=None if alert.ended_at is None else moment(alert.ended_at),
        shares_sold=decimal(alert.sold),
        proceeds=decimal(alert.proceeds),
        realized_pnl=decimal(alert.realized),
        trade_id=alert.trade_id or None,
        executed_by=_executed_by(world, alert),
        error=_hindrance(world, alert, times) if service else _why_ended(world, alert),
        message=reason_of(breach),
        simulated=breach.venue is not Venue.SIM,
    )


def _executed_by(world: World, alert: RiskAlert) -> Literal["service", "client"] | None:
    """The seller of an alert's exit, service or client, also while pending; None if none."""
    by_service = alert.by_service
    if by_service is None and (alert.sold or alert.status is AlertStatus.PENDING):
        # An alert of an older program does not say; then it was who always sells there.
        by_service = is_for_service(world, alert)
    if by_service is None:
        # A client may say that it has sold before the service sees the sale.
        return "client" if alert.status is AlertStatus.EXECUTED else None
    return "service" if by_service else "client"


def _why_ended(world: World, alert: RiskAlert) -> str | None:
    """Why an alert ended with shares left unsold; None for any other status."""
    if alert.status is not AlertStatus.REMAINDER:
        return None
    watched = world.risk.position_of(alert.watched).shares
    least = orders.ORDER_MIN.get(alert.breach.venue)
    floor = "" if least is None else f" of {decimal(least):g}"
    return (
        f"not sold: {decimal(watched):,.5f} shares are left, below the venue's least order{floor}; "
        "they wait for the outcome, or are sold with what is bought beside them"
    )


def _hindrance(world: World, alert: RiskAlert, times: Times) -> str | None:
    """Why the service cannot sell now; None if it can and will at the next tick."""
    order = exit_order(world, alert)
    try:
        if order.venue is alert.breach.venue:
            world.quote(order)
        else:
            orders.quote(world.venues, on_venue(alert.breach.venue, order), times)
    except Refusal as refusal:
        return refusal.error
    return None
