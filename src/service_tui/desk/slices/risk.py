"""Monitors, alerts, exits and price alerts, as an operator sees them."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.slices.orders import limit_text, moment_text
from service_tui.desk.slices.position_key import position_key
from service_tui.terms import THRESHOLDS, AlertCondition, ExitReason, Side, Venue
from service_tui.units import Micros, Timestamp

ALERT_LIFE_S: Final = 3_600.0
"""Source: spec, "Risk alert lifecycle"."""

REASONS: Final = {reason: reason.value.replace("_", " ") for reason in ExitReason}
"""Known reasons of an alert, in plain English."""

BY_MONITOR: Final = "risk:"
"""Begins the source of the trades by which a service exits."""

BY_DESK: Final = "desk:"
"""Begins the source of the trades by which this desk exits."""


def exit_cause(source: str) -> str:
    """The cause of an exit by the source of its trade; empty for another trade."""
    who, _, reason = source.partition(":")
    is_exit = f"{who}:" in {BY_MONITOR, BY_DESK} and reason in set(ExitReason)
    return REASONS[ExitReason(reason)] if is_exit else ""


def exit_source(cause: str) -> str:
    """The source of a trade by which this desk exits; empty for a cause without a word."""
    return next((f"{BY_DESK}{reason}" for reason, word in REASONS.items() if word == cause), "")


def seller(*, by_service: bool) -> str:
    """Who sells, or sold, a position at its stop or target."""
    return "the service" if by_service else "this desk"


POINTS: Final = 100
"""Points of a price of 1."""

UNNAMED: Final = "~"
"""Begins the id of an alert to which the service gives none; no id of a service may begin so."""

EXIT: Final = "exit-"
"""Begins the name of every exit."""

_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class MonitorState(StrEnum):
    """State of a monitor; the values are the labels of its row."""

    WATCHING = "watching"
    BREACHED = "breached"
    EXITING = "exiting"
    NOT_HELD = "not held"
    CLOSED = "market closed"


class AlertState(StrEnum):
    """State of an alert's exit.

    `expired`: its hour passed before any exit. `missed`: it passed while an exit failed. `unknown`:
    the exit was sent and had no answer; it is looked up. `failed`: tried, nothing was sold yet.
    `ended`: nothing was left to sell, the market ended, or it was dismissed.
    """

    PENDING = "pending"
    EXITING = "exiting"
    UNKNOWN = "unknown"
    EXECUTED = "executed"
    EXPIRED = "expired"
    MISSED = "missed"
    FAILED = "failed"
    ENDED = "ended"

    @property
    def is_open(self) -> bool:
        """True while an exit may still happen."""
        return self in {
            AlertState.PENDING,
            AlertState.EXITING,
            AlertState.UNKNOWN,
            AlertState.FAILED,
        }


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a monitor watches; None is off.

    `stop_loss_pct` is a fraction down of the entry, in (0, 1], `take_profit_pct` a fraction up,
    above 0. A trailing stop is `trailing_stop_pct`, a fraction of the highest mark, or
    `trailing_stop_points` of price below it: one of the two. `exit_at` is the wall time of a time
    stop.
    """

    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    exit_at: Timestamp | None = None

    @property
    def is_empty(self) -> bool:
        """True if it watches nothing."""
        return self == NO_THRESHOLDS

    @property
    def trails(self) -> bool:
        """True with a trailing stop."""
        return self.trailing_stop_pct is not None or self.trailing_stop_points is not None

    def trail_price(self, peak: float | None) -> float | None:
        """The price at or below which the trailing stop sells; None without one."""
        if peak is None or not self.trails:
            return None
        if self.trailing_stop_points is not None:
            return peak - self.trailing_stop_points
        return peak * (1.0 - (self.trailing_stop_pct or 0.0))

    def describe(self) -> str:
        """The thresholds in plain English."""
        parts = [
            "no stop" if self.stop_loss_pct is None else f"stop {self.stop_loss_pct:.1%} down",
            "no target"
            if self.take_profit_pct is None
            else f"target {self.take_profit_pct:.1%} up",
        ]
        if self.trailing_stop_points is not None:
            parts.append(
                f"trailing stop {self.trailing_stop_points * POINTS:.1f} pt below the peak"
            )
        elif self.trailing_stop_pct is not None:
            parts.append(f"trailing stop {self.trailing_stop_pct:.1%} below the peak")
        if self.exit_at is not None:
            parts.append(f"time stop {moment_text(self.exit_at)} wall time")
        return ", ".join(parts)


NO_THRESHOLDS: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class MonitorView:
    """Thresholds of one position, with its mark and exit price between them.

    `stop_loss_pct` is a fraction down in (0, 1], `take_profit_pct` a fraction up above 0; None is
    off. `entry` is the average price paid, None where it is not known; `reference` the price that
    its stop is measured from, None where that is the entry; `mark` the price now. `exit_value` is
    what selling all of it would bring now. `automatic`: a buy enrolled it, else it was set by hand.
    A trailing stop is `trailing_stop_pct` of the `peak`, the highest mark seen since it was set, or
    `trailing_stop_points`, below it: at `trail_price` now. `exit_at` is the wall time of a time
    stop. `is_spent`: it has breached and watches no more; the row stays until the alert has come to
    its end, with the one threshold that was crossed.
    """

    market_id: str
    question: str
    side: Side
    venue: Venue
    shares: Micros
    cost: Micros
    entry: float | None
    mark: float | None
    exit_value: Micros | None
    stop_loss_pct: float | None
    take_profit_pct: float | None
    automatic: bool = False
    state: MonitorState = MonitorState.WATCHING
    is_spent: bool = False
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    trail_price: float | None = None
    peak: float | None = None
    exit_at: Timestamp | None = None
    reference: float | None = None

    @property
    def key(self) -> str:
        """Identity of the row: that of its position."""
        return position_key(self.market_id, self.side, self.venue)

    @property
    def thresholds(self) -> Thresholds:
        """What it watches."""
        return Thresholds(**{kind.name: getattr(self, kind.name) for kind in THRESHOLDS})

    @property
    def stop_price(self) -> float | None:
        """Price of the side at or below which its stop breaches; None without a stop."""
        return stop_price(self.stop_from, self.stop_loss_pct)

    @property
    def stop_from(self) -> float | None:
        """The price that its stop is measured from; None where it is not known."""
        return self.entry if self.reference is None else self.reference

    @property
    def floor_price(self) -> float | None:
        """The higher one of stop and trailing stop; None without both."""
        floors = (price for price in (self.stop_price, self.trail_price) if price is not None)
        return max(floors, default=None)

    @property
    def is_trailing(self) -> bool:
        """True if the trailing stop is the one that would sell first."""
        return self.trail_price is not None and self.trail_price == self.floor_price

    @property
    def target_price(self) -> float | None:
        """Exit value a share at or above which it breaches; at 1 or more it is never reached."""
        return target_price(self.entry, self.take_profit_pct)

    @property
    def to_stop(self) -> float | None:
        """Distance to the stop: 1 at the entry or above, 0 at the stop or below.

        To a trailing stop: 1 at the peak, 0 at the stop or below.
        """
        start = self.peak if self.is_trailing else self.stop_from
        return _distance(self.mark, start, self.floor_price)

    @property
    def to_target(self) -> float | None:
        """Distance of an exit now to the target: 1 at the entry or below, 0 at the target."""
        # Source: decisions, "Stop and target prices": a target is measured by the exit value.
        return _distance(self.exit_price, self.entry, self.target_price)

    @property
    def exit_price(self) -> float | None:
        """Average price of selling all of it; None if unknown."""
        if self.exit_value is None or not self.shares:
            return None
        return self.exit_value / self.shares

    @property
    def exit_pnl(self) -> Micros | None:
        """P&L of an exit now, on the open shares."""
        return None if self.exit_value is None else Micros(self.exit_value - self.cost)


def stop_price(entry: float | None, stop_loss_pct: float | None) -> float | None:
    """The price at which a stop of this fraction breaches, >= 0."""
    return None if entry is None or stop_loss_pct is None else entry * (1.0 - stop_loss_pct)


def target_price(entry: float | None, take_profit_pct: float | None) -> float | None:
    """The price at which a target of this fraction breaches; above 1 it is out of reach."""
    return None if entry is None or take_profit_pct is None else entry * (1.0 + take_profit_pct)


def _distance(price: float | None, entry: float | None, end: float | None) -> float | None:
    """Distance of a price to `end`, as a part of the way from `entry`, 0 to 1."""
    if price is None or entry is None or end is None:
        return None
    if entry == end:
        return 0.0
    return min(1.0, max(0.0, (price - end) / (entry - end)))


@dataclass(frozen=True, slots=True)
class AlertView:
    """A breach that waits for its exit, or an ended one. Newest first in every list.

    `reason` is "stop loss" or "take profit", else the service's own text. `detail` describes the
    state of its exit, and the fix if one is needed. `managed`: the service itself exits.
    `ticket_id` names the exit's row in the blotter, empty before there is one; `attempts` counts
    the exits that were tried. `entry` is the price paid, `threshold_pct` the fraction crossed.
    `level` is the price of the stop or target itself, which `trigger_price` has passed.
    """

    alert_id: str
    market_id: str
    question: str
    side: Side
    venue: Venue
    shares: Micros
    reason: str
    trigger_price: float | None
    breached_at: Timestamp
    expires_at: Timestamp
    state: AlertState = AlertState.PENDING
    detail: str = ""
    managed: bool = False
    ticket_id: str = ""
    attempts: int = 0
    entry: float | None = None
    threshold_pct: float | None = None
    level: float | None = None

    @property
    def holding(self) -> str:
        """Row key of the position that it is about."""
        return position_key(self.market_id, self.side, self.venue)

    @property
    def exit_name(self) -> str:
        """Name of its exits."""
        return exit_name(self.alert_id, self.breached_at)

    def left_s(self, now: Timestamp) -> float:
        """Seconds left of its hour, >= 0; `now` is wall time."""
        return max(0.0, self.expires_at - now)


def exit_name(alert_id: str, breached_at: Timestamp) -> str:
    """Name of an alert's exits, in the blotter and on the service.

    The time of the breach is a part of it, as services may count their alerts from one. An alert
    without a name has no time to rely on either.

    Returns:
        Letters, digits, - and _, at most 90 of them.
    """
    text = alert_id if alert_id.startswith(UNNAMED) else f"{alert_id}-{breached_at:.0f}"
    plain = _PLAIN_ID.fullmatch(text) is not None
    return f"{EXIT}{text if plain else hashlib.sha256(text.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class ExitView:
    """An exit that happened. `cause` is its reason; `pnl` is None if unknown.

    `by_service`: the service sold it (managed wallet), else this program or another client did.
    """

    exit_id: str
    at: Timestamp
    market_id: str
    question: str
    side: Side
    venue: Venue
    shares: Micros
    trigger_price: float | None
    proceeds: Micros
    pnl: Micros | None
    cause: str
    by_service: bool = False


@dataclass(frozen=True, slots=True)
class PriceAlertView:
    """A one-shot alert for a price. `threshold` is of the side.

    The service keeps it under its `service_id`; without one this console alone does, and `is_armed`
    there once the price was seen on the near side, so that a crossing can be detected. `sent_at` is
    the time at which it was sent to the service, until that has answered.
    """

    alert_id: str
    market_id: str
    question: str
    side: Side
    condition: AlertCondition
    threshold: float
    created_at: Timestamp
    triggered_at: Timestamp | None = None
    triggered_price: float | None = None
    is_armed: bool = False
    service_id: str = ""
    sent_at: Timestamp | None = None

    @property
    def is_open(self) -> bool:
        """True until it has fired."""
        return self.triggered_at is None

    @property
    def is_local(self) -> bool:
        """True if only this console knows it, so that only this console compares prices."""
        return not self.service_id and self.sent_at is None

    def describe(self) -> str:
        """Describe the alert in plain English."""
        return f"{self.side.value.upper()} {self.condition.sign} {limit_text(self.threshold)}"


@dataclass(frozen=True, slots=True)
class RiskView:
    """Monitors, alerts, exits and price alerts. Their ages are in the state's `seen`.

    `alerts` are those that wait and those that ended lately, `exits` the history, both newest
    first. `executes`: this program carries out exits; else another one on the data directory does,
    or nobody may. `briefing_late` is a text with the time since the last briefing, empty while they
    arrive.
    """

    monitors: tuple[MonitorView, ...] = ()
    alerts: tuple[AlertView, ...] = ()
    exits: tuple[ExitView, ...] = ()
    price_alerts: tuple[PriceAlertView, ...] = ()
    executes: bool = False
    briefing_late: str = ""

    def monitor(self, key: str) -> MonitorView | None:
        """The monitor with this row key, which is that of its position."""
        return next((one for one in self.monitors if one.key == key), None)

    def alert(self, alert_id: str) -> AlertView | None:
        """The alert with this id."""
        return next((one for one in self.alerts if one.alert_id == alert_id), None)

    @property
    def open_alerts(self) -> tuple[AlertView, ...]:
        """Alerts that still wait for their exit."""
        return tuple(alert for alert in self.alerts if alert.state.is_open)


@dataclass(frozen=True, slots=True)
class AlertsSeen:
    """Waiting alerts, ended alerts and known exits were read.

    `at` is wall time.
    """

    at: Timestamp
    waiting: tuple[AlertView, ...]
    ended: tuple[AlertView, ...] = ()
    exits: tuple[ExitView, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefingLate:
    """The briefing is overdue; `text` describes since when, empty once one arrived."""

    text: str


RiskFact = AlertsSeen | BriefingLate | Loaded | Changed | Removed
"""Every fact about monitors, alerts, exits and price alerts."""
