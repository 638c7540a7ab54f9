"""Parsing of typed thresholds: stop, target, trailing stop, time stop; or the problem."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from service_tui.console.fields import (
    PERCENT,
    FieldError,
    figure_rule,
    is_off,
    parse_number,
    parse_percent,
    percent_text,
)
from service_tui.console.forms.moment import read_moment
from service_tui.console.keys import cap, with_keys
from service_tui.desk.commands.risk import SetMonitor
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.risk import (
    NO_THRESHOLDS,
    MonitorState,
    MonitorView,
    Thresholds,
    stop_price,
    target_price,
)
from service_tui.terms import STOP_MAX, TRAIL_MAX
from service_tui.units import ONE, Micros, Timestamp

USUAL_STOP: Final = 0.20
"""Default of a new monitor. Source: spec, "Risk monitor settings"."""

STOP_RULE: Final = figure_rule(
    "stop",
    Micros(1),
    Micros(STOP_MAX * PERCENT * ONE),
    beyond=f"stop: above 0 %, at most {STOP_MAX * PERCENT} % down",
    unit="%",
)
TARGET_RULE: Final = figure_rule("target", Micros(1), beyond="target: above 0 % up", unit="%")
_STOP_PRICE: Final = figure_rule("stop price")
_TARGET_PRICE: Final = figure_rule("target price")
_POINT: Final = "pt"
_TRAIL: Final = figure_rule(
    "trailing stop",
    Micros(1),
    Micros(TRAIL_MAX * PERCENT * ONE - 1),
    beyond=f"trailing stop: above 0 %, below {TRAIL_MAX * PERCENT} % of the peak",
    unit="%",
)
_TRAIL_POINTS: Final = figure_rule(
    "trailing stop",
    Micros(1),
    Micros(TRAIL_MAX * PERCENT * ONE - 1),
    beyond=f"trailing stop: above 0, below {TRAIL_MAX * PERCENT} points",
    unit=_POINT,
)
_NEITHER: Final = "Enter a stop, a target, a trailing stop or a time"
_NONE_LEFT: Final = (
    f"{_NEITHER}. To watch nothing: {{form.cancel}}, then {{monitors.remove}} removes the monitor"
)


@dataclass(frozen=True, slots=True)
class TypedThreshold:
    """The typed text of one threshold: a percentage, or a price of the side.

    `kept` is the threshold that a text was made from: untouched, it loses no digits.
    """

    text: str
    is_price: bool = False
    kept: float | None = None
    kept_text: str = ""


@dataclass(frozen=True, slots=True)
class TypedExits:
    """The typed text of a trailing stop and of a time stop.

    `kept` is what both texts were made from: an untouched text keeps its threshold.
    """

    trail: str = ""
    exit_at: str = ""
    kept: Thresholds = NO_THRESHOLDS
    kept_trail: str = ""
    kept_exit_at: str = ""


NO_EXITS: Final = TypedExits()


@dataclass(frozen=True, slots=True)
class Change:
    """The new thresholds of one monitor."""

    monitor: MonitorView
    thresholds: Thresholds

    @property
    def command(self) -> SetMonitor:
        """The command that sets it."""
        return monitor_command(self.monitor, self.thresholds)

    def is_same_as(self, monitor: MonitorView) -> bool:
        """True if the monitor has these thresholds already."""
        return self.thresholds == monitor.thresholds

    @property
    def exits_at_once(self) -> str:
        """The threshold that the mark has passed already; empty if none."""
        about = self.monitor
        stop = stop_price(about.stop_from, self.thresholds.stop_loss_pct)
        target = target_price(about.entry, self.thresholds.take_profit_pct)
        if about.mark is not None and stop is not None and about.mark <= stop:
            return "stop"
        if about.mark is not None and target is not None and about.mark >= target:
            return "target"
        # A monitor that trails already keeps the peak that it has seen.
        trail = self.thresholds.trail_price(about.peak)
        if about.mark is not None and trail is not None and about.mark <= trail:
            return "trailing stop"
        return ""


def monitor_command(about: MonitorView, wanted: Thresholds) -> SetMonitor:
    """The command that gives a position these thresholds."""
    return SetMonitor(about.market_id, about.side, about.venue, wanted, about.question)


def read_stop(typed: TypedThreshold, start: float | None) -> float | None:
    """Parse a stop; `start` is the price that it is measured from (`MonitorView.stop_from`).

    Returns:
        A fraction in (0, 1]; None when it is off.

    Raises:
        FieldError: it is no stop; the sentence gives the fix.
    """
    if is_off(typed.text):
        return None
    if typed.kept is not None and typed.text == typed.kept_text:
        return typed.kept
    if not typed.is_price:
        return parse_percent(typed.text, STOP_RULE)
    price = parse_number(typed.text, _STOP_PRICE) / ONE
    if start is None:
        raise FieldError("stop price: entry unknown, enter a percentage")
    if not price < start:
        raise FieldError(f"stop price: must be below {start:.4f}, the price at the buy")
    return 1.0 - price / start


def read_target(typed: TypedThreshold, entry: float | None) -> float | None:
    """Parse a target.

    Returns:
        A fraction above 0; None when it is off.

    Raises:
        FieldError: it is no target; the sentence gives the fix.
    """
    if is_off(typed.text):
        return None
    if typed.kept is not None and typed.text == typed.kept_text:
        return typed.kept
    if not typed.is_price:
        return parse_percent(typed.text, TARGET_RULE)
    price = parse_number(typed.text, _TARGET_PRICE) / ONE
    if entry is None:
        raise FieldError("target price: entry unknown, enter a percentage")
    if not entry < price < 1:
        raise FieldError(f"target price: must be above the entry, {entry:.4f}, and below 1")
    return price / entry - 1.0


def read_trail(text: str) -> tuple[float | None, float | None]:
    """Parse a trailing stop: `5` or `5%` of the peak, or `3pt`, points of price.

    Returns:
        Fraction of the peak, or price below it; the other is None, both when it is off.

    Raises:
        FieldError: it is none; the sentence gives the fix.
    """
    given = "".join(text.casefold().split())
    if is_off(given):
        return None, None
    if given.endswith(_POINT):
        return None, parse_number(given, _TRAIL_POINTS) / (PERCENT * ONE)
    return parse_percent(given, _TRAIL), None


def trail_text(known: Thresholds) -> str:
    """A trailing stop as a person types it; empty without one."""
    if known.trailing_stop_points is not None:
        return f"{percent_text(known.trailing_stop_points)}{_POINT}"
    return "" if known.trailing_stop_pct is None else f"{percent_text(known.trailing_stop_pct)}%"


def exit_terms(known: Thresholds) -> tuple[str, ...]:
    """The trailing stop and the time stop, in a few words each."""
    trail = trail_text(known)
    return (
        *((f"trailing {trail}",) if trail else ()),
        *(() if known.exit_at is None else (f"time stop {moment_text(known.exit_at)} wall time",)),
    )


def _exits(typed: TypedExits, now: Timestamp) -> Thresholds:
    """The typed trailing stop and time stop."""
    kept = typed.kept
    trail = kept.trailing_stop_pct, kept.trailing_stop_points
    if typed.trail.strip() != typed.kept_trail:
        trail = read_trail(typed.trail)
    exit_at = kept.exit_at
    if typed.exit_at.strip() != typed.kept_exit_at:
        exit_at = None if is_off(typed.exit_at) else read_moment(typed.exit_at, now)
    return replace(kept, trailing_stop_pct=trail[0], trailing_stop_points=trail[1], exit_at=exit_at)


def read_change(
    monitor: MonitorView,
    stop: TypedThreshold,
    target: TypedThreshold,
    *,
    exits: TypedExits = NO_EXITS,
    now: Timestamp = Timestamp(0.0),
) -> Change:
    """Parse the change that a form would set.

    Args:
        monitor: as it is now.
        stop: the typed stop.
        target: the typed target.
        exits: the typed trailing stop and time stop.
        now: wall time, from which a duration counts.

    Returns:
        The thresholds, at least one of them.

    Raises:
        FieldError: it cannot be set; the sentence gives the fix.
    """
    why = monitor_block_reason(monitor)
    if why:
        raise FieldError(why)
    thresholds = replace(
        _exits(exits, now),
        stop_loss_pct=read_stop(stop, monitor.stop_from),
        take_profit_pct=read_target(target, monitor.entry),
    )
    change = Change(monitor, thresholds)
    if change.thresholds.is_empty:
        is_set = not monitor.thresholds.is_empty
        raise FieldError(with_keys(_NONE_LEFT) if is_set else _NEITHER)
    floor = change.thresholds.trail_price(peak_of(monitor))
    if floor is not None and not floor > 0:
        raise FieldError("trailing stop: must be less than the mark, or it never sells")
    return change


def peak_of(monitor: MonitorView) -> float | None:
    """The highest mark that a trailing stop counts from; None if unknown."""
    return max((price for price in (monitor.peak, monitor.mark) if price is not None), default=None)


def read_changes(monitors: Sequence[MonitorView], stop: str, target: str) -> tuple[Change, ...]:
    """Parse the changes of many monitors: an empty line keeps a threshold, `off` removes it.

    Returns:
        The changes, at least one.

    Raises:
        FieldError: the text is empty or no threshold, changes nothing, or would leave a monitor
        with neither.
    """
    if not stop.strip() and not target.strip():
        raise FieldError("Enter a stop or a target; empty means unchanged")
    new_stop, new_target = (
        read_stop(TypedThreshold(stop), None),
        read_target(TypedThreshold(target), None),
    )
    changes = [
        Change(
            monitor,
            replace(
                monitor.thresholds,
                stop_loss_pct=new_stop if stop.strip() else monitor.stop_loss_pct,
                take_profit_pct=new_target if target.strip() else monitor.take_profit_pct,
            ),
        )
        for monitor in monitors
        if not monitor_block_reason(monitor)
    ]
    bare = sum(change.thresholds.is_empty for change in changes)
    if bare:
        raise FieldError(
            f"{bare} would have no threshold left. {cap('monitors.remove')} removes a monitor"
        )
    changed = tuple(change for change in changes if not change.is_same_as(change.monitor))
    if not changed:
        raise FieldError("No change: all have these thresholds already")
    return changed


def monitor_block_reason(monitor: MonitorView) -> str:
    """Why no monitor can be set, in one sentence; empty if it can."""
    if monitor.state is MonitorState.CLOSED:
        return "Market closed. Nothing to protect"
    if monitor.state is MonitorState.NOT_HELD:
        return f"Position closed. {cap('monitors.remove')} removes the monitor"
    if monitor.state is MonitorState.EXITING:
        return "Sale pending. Nothing to protect"
    return ""
