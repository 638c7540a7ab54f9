"""Monitors and alerts as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.events import Breached, MonitorSet
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.risk.risk import Risk
from service_tui.records import Fields, Named, read
from service_tui.terms import AlertStatus, Side, Venue

_ALERT: tuple[str, ...] = tuple(RiskAlert.__slots__)

_LATE: tuple[str, ...] = MonitorSet._fields[7:]
"""What came after stop and target, in the order of the journal."""


def risk_fields(risk: Risk) -> Named:
    """The state of risk beyond the positions."""
    risk.settle()
    alerts = risk.alerts
    return {
        "alert_count": risk.alert_count,
        "monitors": [
            [
                *monitor.watched,
                monitor.stop_loss_pct,
                monitor.take_profit_pct,
                monitor.automatic,
                monitor.set_at,
                *_late_fields(monitor),
            ]
            for monitor in sorted(risk.monitors, key=lambda one: one.watched)
        ],
        "pending": [_alert_fields(alert) for alert in alerts.pending.values()],
        "ended": [_alert_fields(alert) for _, own in sorted(alerts.ended.items()) for alert in own],
    }


def _late_fields(monitor: Monitor) -> Fields:
    """What only a monitor with more than stop and target has: others stay as they were written."""
    late = [getattr(monitor, name) for name in _LATE]
    is_set = any(getattr(monitor, name) is not None for name in _LATE if name != "peak")
    return late if is_set else []


def restore_risk(risk: Risk, fields: Named | None) -> None:
    """Take monitors and alerts from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    risk.alert_count = fields["alert_count"]
    for agent_id, venue, market_id, side, *rest in fields["monitors"]:
        watched = MonitoredSide(agent_id, Venue(venue), market_id, Side(side))
        stop, take, automatic, set_at, *late = rest
        if risk.position_of(watched).shares:
            # A snapshot of an older program ends earlier: what it did not know has its default.
            known: Named = dict(zip(_LATE, late, strict=False))
            monitor = Monitor(watched, stop, take, automatic=automatic, set_at=set_at, **known)
            risk.monitors.add(monitor)
            risk.put_back(monitor)
    for row in fields["pending"]:
        risk.alerts.add(_alert_of(row))
    for row in fields["ended"]:
        risk.alerts.remember(_alert_of(row))


def _alert_fields(alert: RiskAlert) -> Fields:
    return [getattr(alert, name) for name in _ALERT]


def _alert_of(row: Fields) -> RiskAlert:
    breach, status, *rest = row
    return RiskAlert(read(Breached, breach), AlertStatus(status), *rest)
