"""What just became known of monitors, alerts, exits and price alerts.

Knows records. Must not know where a fact came from.
Used by pollers and handlers (which yield them) and by desk.reduce_risk.
"""

from dataclasses import dataclass

from service_tui.desk.records_risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class MonitorsSeen:
    """The service listed its monitors."""

    monitors: tuple[MonitorView, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class MonitorChanged:
    """A monitor was set."""

    monitor: MonitorView


@dataclass(frozen=True, slots=True)
class MonitorGone:
    """The monitor with this row key was removed."""

    key: str


@dataclass(frozen=True, slots=True)
class AlertsSeen:
    """The service told which alerts wait for their exit, which ended, and the exits that it knows.

    `at` is wall time.
    """

    at: Timestamp
    waiting: tuple[AlertView, ...]
    ended: tuple[AlertView, ...] = ()
    exits: tuple[ExitView, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertChanged:
    """The exit of an alert has come further."""

    alert: AlertView


@dataclass(frozen=True, slots=True)
class PriceAlertChanged:
    """A price alert was set, armed, or has fired."""

    alert: PriceAlertView


@dataclass(frozen=True, slots=True)
class PriceAlertGone:
    """A price alert was forgotten."""

    alert_id: str


@dataclass(frozen=True, slots=True)
class BriefingLate:
    """No briefing came for too long; `words` say since when, empty once one came."""

    words: str


RiskFact = (
    MonitorsSeen
    | MonitorChanged
    | MonitorGone
    | AlertsSeen
    | AlertChanged
    | PriceAlertChanged
    | PriceAlertGone
    | BriefingLate
)
"""Every fact about monitors, alerts, exits and price alerts."""
