"""Monitors and alerts of the wire as views."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from service_tui.desk.reduce_risk import EXPIRED_TEXT
from service_tui.desk.slices.risk import (
    ALERT_LIFE_S,
    REASONS,
    UNNAMED,
    AlertState,
    AlertView,
    ExitView,
    MonitorView,
    exit_name,
)
from service_tui.desk.wire_values import amount
from service_tui.terms import THRESHOLDS, AlertStatus, ExitReason, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.monitors import MonitorBody, RiskAlertBody

_STATES: Final = {
    AlertStatus.PENDING: AlertState.PENDING,
    AlertStatus.EXECUTED: AlertState.EXECUTED,
    AlertStatus.EXPIRED: AlertState.EXPIRED,
    AlertStatus.DISMISSED: AlertState.ENDED,
    AlertStatus.RESOLVED: AlertState.ENDED,
    AlertStatus.REMAINDER: AlertState.ENDED,
}
_TEXTS: Final = {
    AlertStatus.EXPIRED: EXPIRED_TEXT,
    AlertStatus.DISMISSED: "dismissed without a sale",
    AlertStatus.RESOLVED: "nothing left to sell",
    AlertStatus.REMAINDER: "rest below the venue's minimum order",
}


def monitor_view(body: MonitorBody) -> MonitorView:
    """One monitor; without a venue it is one of sim."""
    shares = amount(body.shares)
    entry = body.entry_price
    if entry is None and body.shares > 0:
        entry = body.cost_basis / body.shares
    return MonitorView(
        market_id=body.market_id,
        question=body.question,
        side=body.side,
        venue=body.venue or Venue.SIM,
        shares=shares,
        cost=amount(body.cost_basis),
        entry=entry,
        mark=body.current_price,
        exit_value=amount(body.exit_value) if "exit_value" in body.model_fields_set else None,
        automatic=body.automatic,
        trail_price=body.trailing_stop_price,
        peak=body.peak_price,
        reference=body.reference_price,
        **{kind.name: _threshold(getattr(body, kind.name)) for kind in THRESHOLDS},
    )


def _threshold(value: float | datetime | None) -> Any:  # noqa: ANN401 - a field of the view
    """A threshold of the wire; 0 is off."""
    return timestamp(value) if isinstance(value, datetime) else value or None


def alert_view(body: RiskAlertBody, now: Timestamp) -> AlertView:
    """View of one alert; an unknown state counts as ended."""
    venue = body.venue or Venue.SIM
    breached = now if body.breached_at is None else timestamp(body.breached_at)
    expires = breached + ALERT_LIFE_S if body.expires_at is None else timestamp(body.expires_at)
    status = AlertStatus(body.status) if body.status in set(AlertStatus) else None
    unnamed = f"{UNNAMED}{body.market_id}:{body.side.value}:{venue.value}"
    return AlertView(
        alert_id=body.id if body.id and not body.id.startswith(UNNAMED) else unnamed,
        market_id=body.market_id,
        question=body.question,
        side=body.side,
        venue=venue,
        shares=amount(body.shares),
        reason=_reason(body.exit_reason),
        trigger_price=_trigger(body),
        breached_at=breached,
        expires_at=Timestamp(expires),
        state=AlertState.ENDED if status is None else _STATES[status],
        detail=body.error or ("" if status is None else _TEXTS.get(status, "")),
        managed=body.executed_by == "service",
        entry=body.entry_price,
        threshold_pct=body.threshold_pct,
        level=body.threshold_price,
    )


def exit_views(bodies: Iterable[RiskAlertBody]) -> tuple[ExitView, ...]:
    """The exits among ended alerts."""
    return tuple(
        _exit_view(body)
        for body in bodies
        if body.status == AlertStatus.EXECUTED and body.ended_at and body.shares_sold > 0
    )


def _exit_view(body: RiskAlertBody) -> ExitView:
    ended = body.ended_at or body.breached_at
    at = Timestamp(0.0) if ended is None else timestamp(ended)
    breached = at if body.breached_at is None else timestamp(body.breached_at)
    return ExitView(
        exit_id=body.trade_id or exit_name(body.id, breached),
        at=at,
        market_id=body.market_id,
        question=body.question,
        side=body.side,
        venue=body.venue or Venue.SIM,
        shares=amount(body.shares_sold),
        trigger_price=_trigger(body),
        proceeds=amount(body.proceeds),
        pnl=amount(body.realized_pnl),
        cause=_reason(body.exit_reason),
        by_service=body.executed_by == "service",
    )


def _trigger(body: RiskAlertBody) -> float | None:
    """The price that breached, else the threshold that it breached."""
    return body.triggered_price if body.triggered_price is not None else body.threshold_price


def _reason(text: str) -> str:
    return REASONS[ExitReason(text)] if text in set(ExitReason) else text.replace("_", " ")
