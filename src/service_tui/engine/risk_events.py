"""What happens to what guards a position, in the past tense.

Knows terms and units. `events` lists these with all others, and takes them in for everybody.
Used by events.
"""

from typing import NamedTuple

from service_tui.terms import AlertStatus, ExitReason, Side, Venue
from service_tui.units import Micros, Timestamp


class MonitorSet(NamedTuple):
    """Somebody put thresholds on a side that an agent holds; an earlier monitor there is replaced.

    Those that come with a buy have no event of their own: the buy and the settings say them.
    """

    agent_id: str
    at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    stop_loss_pct: float | None
    take_profit_pct: float | None


class MonitorDeleted(NamedTuple):
    """Somebody took a monitor away."""

    agent_id: str
    at: Timestamp
    venue: Venue
    market_id: str
    side: Side


class Breached(NamedTuple):
    """A price tick crossed a threshold: the monitor is used up, an alert waits for its exit.

    `level` is the price that the threshold made, of the side held as all prices here; `entry` the
    average cost, `shares` what was held. `at` is the breach's own wall time.
    """

    alert_id: str
    agent_id: str
    at: Timestamp
    world_at: Timestamp
    venue: Venue
    market_id: str
    side: Side
    reason: ExitReason
    threshold_pct: float
    level: float
    entry: float
    price: float
    shares: Micros


class AlertEnded(NamedTuple):
    """An alert waits no more, but for those that a sale or the outcome has ended."""

    alert_id: str
    agent_id: str
    at: Timestamp
    market_id: str
    status: AlertStatus


RiskEvent = MonitorSet | MonitorDeleted | Breached | AlertEnded
"""What happens to monitors and alerts."""
