"""What was typed as stop and target, judged: thresholds, or one sentence saying why not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.console.forms.order_draft import DraftError
from service_tui.console.keys import cap
from service_tui.desk.commands.risk import SetMonitor
from service_tui.desk.slices.risk import MonitorState, MonitorView, stop_price, target_price

DECIMALS_MAX: Final = 4
"""Digits after the point, of percent and of prices: the finest tick is 0.0001."""

OFF: Final = "off"
"""The word for no threshold, beside an empty line."""

USUAL_STOP: Final = 0.20
"""A new monitor begins with this. Source: spec, "Risk monitor settings"."""

_WHOLE_MAX: Final = 6
_NUMBER: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NEITHER: Final = "type a stop or a target: without both there is nothing to watch"


@dataclass(frozen=True, slots=True)
class Typed:
    """One threshold as it was typed: a percentage, or a price of the side.

    `kept` is the threshold that a text was made from: untouched, it loses no digits.
    """

    text: str
    is_price: bool = False
    kept: float | None = None
    kept_text: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one monitor. Fractions; None is off."""

    monitor: MonitorView
    stop_pct: float | None
    target_pct: float | None

    @property
    def command(self) -> SetMonitor:
        """The order for it."""
        about = self.monitor
        return SetMonitor(
            about.market_id, about.side, about.venue, self.stop_pct, self.target_pct, about.question
        )

    def is_same_as(self, monitor: MonitorView) -> bool:
        """True if the monitor has these thresholds already."""
        return (self.stop_pct, self.target_pct) == (monitor.stop_pct, monitor.target_pct)

    @property
    def exits_at_once(self) -> str:
        """Which threshold the mark has passed already; empty when none."""
        about = self.monitor
        stop = stop_price(about.entry, self.stop_pct)
        target = target_price(about.entry, self.target_pct)
        if about.mark is not None and stop is not None and about.mark <= stop:
            return "stop"
        if about.mark is not None and target is not None and about.mark >= target:
            return "target"
        return ""


def read_number(text: str, what: str) -> float:
    """A plain number typed by a person.

    Returns:
        The number, >= 0, with at most four decimals.

    Raises:
        DraftError: it is not one; `what` names it in the sentence.
    """
    given = text.strip()
    if _NOT_FINITE.fullmatch(given):
        raise DraftError(f"{what}: {given} is no number: type digits, such as 12.5")
    if given.startswith(("-", "+")):
        raise DraftError(f"{what}: leave out the sign: it is measured from the entry")
    found = _NUMBER.fullmatch(given)
    if found is None or not given.strip("."):
        raise DraftError(f"{what}: type digits and at most one point, such as 12.5")
    whole, fraction = found.group(1).lstrip("0"), (found.group(2) or "").rstrip("0")
    if len(fraction) > DECIMALS_MAX:
        raise DraftError(f"{what}: at most {DECIMALS_MAX} decimals")
    if len(whole) > _WHOLE_MAX:
        raise DraftError(f"{what}: too large: at most {_WHOLE_MAX} digits before the point")
    return float(f"{whole or '0'}.{fraction or '0'}")


def is_off(text: str) -> bool:
    """True if a line says that there is no threshold."""
    return text.strip().casefold() in {"", OFF}


def read_stop(typed: Typed, entry: float | None) -> float | None:
    """The stop that was typed.

    Returns:
        A fraction in (0, 1]; None when it is off.

    Raises:
        DraftError: it is no stop, said in one sentence with what to do.
    """
    if is_off(typed.text):
        return None
    if typed.kept is not None and typed.text == typed.kept_text:
        return typed.kept
    if typed.is_price:
        price = read_number(typed.text, "stop price")
        if entry is None:
            raise DraftError("stop price: the entry is not known, so type a percentage")
        if not 0 <= price < entry:
            raise DraftError(f"stop price: a stop lies below the entry, {entry:.4f}")
        fraction = 1.0 - price / entry
    else:
        fraction = read_number(_bare(typed.text), "stop") / 100.0
    if not 0 < fraction <= 1:
        raise DraftError("stop: above 0 and at most 100 % down")
    return fraction


def read_target(typed: Typed, entry: float | None) -> float | None:
    """The target that was typed.

    Returns:
        A fraction above 0; None when it is off.

    Raises:
        DraftError: it is no target, said in one sentence with what to do.
    """
    if is_off(typed.text):
        return None
    if typed.kept is not None and typed.text == typed.kept_text:
        return typed.kept
    if typed.is_price:
        price = read_number(typed.text, "target price")
        if entry is None:
            raise DraftError("target price: the entry is not known, so type a percentage")
        if not entry < price < 1:
            raise DraftError(f"target price: above the entry, {entry:.4f}, and below 1")
        fraction = price / entry - 1.0
    else:
        fraction = read_number(_bare(typed.text), "target") / 100.0
    if not fraction > 0:
        raise DraftError("target: above 0 % up")
    return fraction


def read_change(monitor: MonitorView, stop: Typed, target: Typed) -> Change:
    """What the form would set now.

    Returns:
        The thresholds, at least one of them.

    Raises:
        DraftError: something stands against it, said in one sentence with what to do.
    """
    why = why_not_set(monitor)
    if why:
        raise DraftError(why)
    change = Change(monitor, read_stop(stop, monitor.entry), read_target(target, monitor.entry))
    if change.stop_pct is None and change.target_pct is None:
        raise DraftError(_NEITHER)
    return change


def read_changes(monitors: Sequence[MonitorView], stop: str, target: str) -> tuple[Change, ...]:
    """What becomes of many monitors: an empty line leaves a threshold as it is, `off` ends it.

    Returns:
        Those that change, at least one.

    Raises:
        DraftError: nothing was typed, it is no threshold, nothing changes, or one would be left
            with neither.
    """
    if not stop.strip() and not target.strip():
        raise DraftError("type a stop or a target; an empty line leaves it as it is")
    new_stop, new_target = read_stop(Typed(stop), None), read_target(Typed(target), None)
    changes = [
        Change(
            monitor,
            new_stop if stop.strip() else monitor.stop_pct,
            new_target if target.strip() else monitor.target_pct,
        )
        for monitor in monitors
        if not why_not_set(monitor)
    ]
    bare = sum(each.stop_pct is None and each.target_pct is None for each in changes)
    if bare:
        raise DraftError(
            f"{bare} would be left without stop and target: {cap('monitors.remove')} removes a "
            "monitor"
        )
    changed = tuple(each for each in changes if not each.is_same_as(each.monitor))
    if not changed:
        raise DraftError("nothing changes: all of them have these thresholds already")
    return changed


def why_not_set(monitor: MonitorView) -> str:
    """Why no monitor can be set, in one sentence; empty when it can."""
    if monitor.state is MonitorState.CLOSED:
        return "its market is closed: there is nothing to guard any more"
    if monitor.state is MonitorState.NOT_HELD:
        return f"the position is not held any more: {cap('monitors.remove')} removes its monitor"
    if monitor.state is MonitorState.EXITING:
        return "its exit is under way: a monitor set now would guard nothing"
    return ""


def percent_text(fraction: float | None) -> str:
    """A fraction as a person would type it in percent; empty for none."""
    return "" if fraction is None else _short(fraction * 100.0)


def price_text(price: float | None) -> str:
    """A price as a person would type it; empty for none, and for one that is no price."""
    return "" if price is None or not 0 <= price < 1 else _short(price)


def _bare(text: str) -> str:
    return text.strip().removesuffix("%").rstrip()


def _short(value: float) -> str:
    written = f"{value:.{DECIMALS_MAX}f}".rstrip("0").rstrip(".")
    return written or "0"
