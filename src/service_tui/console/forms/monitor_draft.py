"""Parsing of a typed stop and target: thresholds, or one sentence on the problem."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.console.fields import (
    PERCENT,
    FieldError,
    figure_rule,
    is_off,
    parse_number,
    parse_percent,
)
from service_tui.console.keys import cap
from service_tui.desk.commands.risk import SetMonitor
from service_tui.desk.slices.risk import MonitorState, MonitorView, stop_price, target_price
from service_tui.terms import STOP_MAX
from service_tui.units import ONE, Micros

USUAL_STOP: Final = 0.20
"""Default of a new monitor. Source: spec, "Risk monitor settings"."""

_STOP: Final = figure_rule(
    "stop",
    Micros(1),
    Micros(STOP_MAX * PERCENT * ONE),
    beyond=f"stop: above 0 %, at most {STOP_MAX * PERCENT} % down",
    unit="%",
)
_TARGET: Final = figure_rule("target", Micros(1), beyond="target: above 0 % up", unit="%")
_STOP_PRICE: Final = figure_rule("stop price")
_TARGET_PRICE: Final = figure_rule("target price")
_NEITHER: Final = "Enter a stop, a target, or both"


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
class Change:
    """The new thresholds of one monitor. Fractions; None is off."""

    monitor: MonitorView
    stop_pct: float | None
    target_pct: float | None

    @property
    def command(self) -> SetMonitor:
        """The command that sets it."""
        about = self.monitor
        return SetMonitor(
            about.market_id, about.side, about.venue, self.stop_pct, self.target_pct, about.question
        )

    def is_same_as(self, monitor: MonitorView) -> bool:
        """True if the monitor has these thresholds already."""
        return (self.stop_pct, self.target_pct) == (monitor.stop_pct, monitor.target_pct)

    @property
    def exits_at_once(self) -> str:
        """The threshold that the mark has passed already; empty if none."""
        about = self.monitor
        stop = stop_price(about.entry, self.stop_pct)
        target = target_price(about.entry, self.target_pct)
        if about.mark is not None and stop is not None and about.mark <= stop:
            return "stop"
        if about.mark is not None and target is not None and about.mark >= target:
            return "target"
        return ""


def read_stop(typed: TypedThreshold, entry: float | None) -> float | None:
    """Parse a stop.

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
        return parse_percent(typed.text, _STOP)
    price = parse_number(typed.text, _STOP_PRICE) / ONE
    if entry is None:
        raise FieldError("stop price: entry unknown, enter a percentage")
    if not price < entry:
        raise FieldError(f"stop price: must be below the entry, {entry:.4f}")
    return 1.0 - price / entry


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
        return parse_percent(typed.text, _TARGET)
    price = parse_number(typed.text, _TARGET_PRICE) / ONE
    if entry is None:
        raise FieldError("target price: entry unknown, enter a percentage")
    if not entry < price < 1:
        raise FieldError(f"target price: must be above the entry, {entry:.4f}, and below 1")
    return price / entry - 1.0


def read_change(monitor: MonitorView, stop: TypedThreshold, target: TypedThreshold) -> Change:
    """Parse the change that a form would set.

    Returns:
        The thresholds, at least one of them.

    Raises:
        FieldError: it cannot be set; the sentence gives the fix.
    """
    why = monitor_block_reason(monitor)
    if why:
        raise FieldError(why)
    change = Change(monitor, read_stop(stop, monitor.entry), read_target(target, monitor.entry))
    if change.stop_pct is None and change.target_pct is None:
        raise FieldError(_NEITHER)
    return change


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
            new_stop if stop.strip() else monitor.stop_pct,
            new_target if target.strip() else monitor.target_pct,
        )
        for monitor in monitors
        if not monitor_block_reason(monitor)
    ]
    bare = sum(change.stop_pct is None and change.target_pct is None for change in changes)
    if bare:
        raise FieldError(
            f"{bare} would have no stop and no target. {cap('monitors.remove')} removes a monitor"
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
        return "Exit pending. Nothing to protect"
    return ""
