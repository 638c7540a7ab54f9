"""The columns of the monitors: thresholds, the way between them, what an exit would bring."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.parts.standard_columns import (
    amount_column,
    market_column,
    price_column,
    side_column,
)
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.risk import MonitorState, MonitorView
from service_tui.units import decimal

COMPARED: Final = ("entry", "mark", "stop", "target", "way", "exit", "pnl")
"""Columns that a comparison may name: prices, `way` the nearer way left from 0 to 1, $SIM."""

_PERCENT_MAX: Final = 4
"""Letters of a percentage without its sign: `12.5`."""

_THOUSANDS_FROM: Final = 9_999.5

TRACK: Final = 9
"""Cells of the bar in the table: four on each side of the entry."""

NEAR: Final = 0.25
"""A quarter of the way left to the stop: worth a colour."""

_STATES: Final = {
    MonitorState.WATCHING: ("●", "profit"),
    MonitorState.BREACHED: ("▼", "breach"),
    MonitorState.EXITING: ("→", "warn"),
    MonitorState.NOT_HELD: ("○", "muted"),
    MonitorState.CLOSED: ("■", "muted"),
}


def state_text(monitor: MonitorView) -> Text:
    """How it stands, in a sign and a word."""
    glyph, tone = _STATES[monitor.state]
    return Text(f"{glyph} {monitor.state.value}", tone)


def kind_word(monitor: MonitorView) -> str:
    """Who set it, in a word."""
    return "auto" if monitor.automatic else "hand"


def threshold_text(price: float | None, pct: float | None, sign: str) -> Text:
    """A threshold as price and as signed percent of the entry; `off` where there is none."""
    if pct is None:
        return Text("off", "muted")
    percent = f"{sign}{percent_short(pct)}"
    if sign == "+" and price is not None and price >= 1:
        return Text.assemble(("never ", "warn"), (f"{percent:>6}", "muted"))
    return Text.assemble(formats.price(price, aligned=True), (f"{percent:>6}", "muted"))


def percent_short(pct: float) -> str:
    """A fraction in percent in at most five cells, with a decimal only where it has one."""
    value = pct * 100.0
    written = f"{value:.1f}".removesuffix(".0")
    if len(written) > _PERCENT_MAX:
        written = f"{value / 1000:.0f}k" if value >= _THOUSANDS_FROM else f"{value:.0f}"
    return f"{written}%"


def nearest(monitor: MonitorView) -> float | None:
    """What is left of the shorter way to a threshold, 0 to 1."""
    ways = [way for way in (monitor.to_stop, monitor.to_target) if way is not None]
    return min(ways, default=None)


def track(monitor: MonitorView, width: int = TRACK) -> Text:
    """The way from the stop (left) over the entry (middle) to the target (right), and the mark.

    Returns:
        `width` cells, an odd number. A side without a threshold is empty; each has its own scale.
    """
    half = (width - 1) // 2
    left = "├" + "─" * (half - 1) if monitor.stop_pct is not None else " " * half
    right = "─" * (half - 1) + "┤" if monitor.target_pct is not None else " " * half
    line = list(f"{left}┼{right}")
    place, ink = _mark_place(monitor, half)
    if place is None:
        return Text("".join(line), "muted")
    before, after = "".join(line[:place]), "".join(line[place + 1 :])
    return Text.assemble((before, "muted"), ("●", ink), (after, "muted"))


def bar_text(monitor: MonitorView) -> Text:
    """The way as a bar while it is watched, else the word for what it is."""
    if monitor.state is MonitorState.WATCHING:
        return track(monitor)
    words = {MonitorState.BREACHED: "▼ breach", MonitorState.CLOSED: "■ closed"}
    _, tone = _STATES[monitor.state]
    return Text(words.get(monitor.state, monitor.state.value), tone)


def monitor_columns(masked: Callable[[], bool]) -> tuple[Column[MonitorView], ...]:
    """The columns, from left to right; `masked` says whether amounts are hidden."""
    return (
        market_column(),
        side_column(),
        Column[MonitorView](
            "venue",
            "venue",
            9,
            lambda row: row.venue.value,
            sort_key=lambda row: row.venue.value,
            tier=148,
        ),
        amount_column(
            "shares", "shares", 9, lambda row: row.shares, formats.shares, masked, tier=156
        ),
        price_column("entry", "entry", 6, lambda row: row.entry, tier=106),
        price_column("mark", "mark", 6, lambda row: row.mark),
        Column[MonitorView](
            "stop",
            "stop",
            12,
            lambda row: threshold_text(row.stop_price, row.stop_pct, "-"),
            sort_key=lambda row: row.stop_pct,
            numeric=True,
        ),
        Column[MonitorView]("way", "the way", TRACK, bar_text, sort_key=nearest),
        Column[MonitorView](
            "target",
            "target",
            12,
            lambda row: threshold_text(row.target_price, row.target_pct, "+"),
            sort_key=lambda row: row.target_pct,
            numeric=True,
        ),
        amount_column(
            "exit", "exit $", 9, lambda row: row.exit_value, formats.money, masked, tier=88
        ),
        amount_column(
            "pnl", "exit P&L", 9, lambda row: row.exit_pnl, formats.pnl, masked, tier=116
        ),
        Column[MonitorView]("kind", "set", 4, kind_word, sort_key=kind_word, tier=98),
        Column[MonitorView](
            "state",
            "state",
            15,
            state_text,
            sort_key=lambda row: row.state.value,
            tier=134,
        ),
    )


def monitor_words(monitor: MonitorView) -> str:
    """Everything that a search finds a monitor by, casefolded."""
    kind = "automatic auto" if monitor.automatic else "by hand"
    parts = (
        monitor.question,
        monitor.market_id,
        monitor.side.value,
        monitor.venue.value,
        monitor.state.value,
        kind,
    )
    return "\n".join(parts).casefold()


def monitor_number(monitor: MonitorView, column: str) -> float | None:
    """A monitor's value in a column of `COMPARED`."""
    amounts = {"exit": monitor.exit_value, "pnl": monitor.exit_pnl}
    if column in amounts:
        amount = amounts[column]
        return None if amount is None else decimal(amount)
    return {
        "entry": monitor.entry,
        "mark": monitor.mark,
        "stop": monitor.stop_price,
        "target": monitor.target_price,
        "way": nearest(monitor),
    }[column]


def _mark_place(monitor: MonitorView, half: int) -> tuple[int | None, str]:
    """Where on the bar the mark stands, and its ink."""
    mark, entry = monitor.mark, monitor.entry
    if mark is None or entry is None:
        return None, "muted"
    if mark < entry and monitor.to_stop is not None:
        left = monitor.to_stop
        ink = "breach" if left <= 0 else "warn" if left <= NEAR else "loss"
        # Only a breach stands on the very end.
        return max(int(left > 0), round(left * half)), f"bold {ink}"
    if mark > entry and monitor.to_target is not None:
        left = monitor.to_target
        return half + min(half - int(left > 0), round((1.0 - left) * half)), "bold profit"
    return half, "bold loss" if mark < entry else "bold profit" if mark > entry else "bold"
