"""Stop, target, trailing stop and time stop of one position.

Stop and target are typed as percent or as price, the other is derived.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.exit_estimate import Estimate, exit_at, exit_now, guarded
from service_tui.console.fields import Field, FieldError, percent_text, price_text
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.moment import duration_text
from service_tui.console.forms.monitor_draft import (
    USUAL_STOP,
    Change,
    TypedExits,
    TypedThreshold,
    peak_of,
    read_change,
    read_stop,
    read_target,
    trail_text,
)
from service_tui.console.freshness import of_wall
from service_tui.console.keys import cap
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.risk import MonitorView, Thresholds, stop_price, target_price
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Timestamp

STOP: Final = Field("stop-percent", "stop", str.strip, "% down, at", "off")
STOP_PRICE: Final = Field("stop-price", "", str.strip, placeholder="off")
TARGET: Final = Field("target-percent", "target", str.strip, "% up, at", "off")
TARGET_PRICE: Final = Field("target-price", "", str.strip, placeholder="off")
TRAIL: Final = Field("trail", "trailing stop", str.strip, "5% or 3pt", "off", letters=10)
EXIT_AT: Final = Field("exit-at", "sell after", str.strip, "2h or 17:30", "off", letters=10)
_THRESHOLDS: Final = ("stop", "target")
_WIDE_FROM: Final = 50
"""Cells from which a row of the preview has its percentage too."""


class MonitorForm(Form[Change]):
    """Sets or changes the monitor of one position."""

    heading: ClassVar[str] = "Monitor"
    body = (
        "form-question", "form-about", (STOP, STOP_PRICE), (TARGET, TARGET_PRICE),
        TRAIL, EXIT_AT, "form-preview", "form-hint",
    )  # fmt: skip

    def __init__(self, state: DeskState, now: Timestamp, monitor: MonitorView) -> None:
        super().__init__(state, now)
        self._monitor = monitor
        known = monitor.thresholds
        self._is_set = not known.is_empty
        self._is_gone = False
        stop = monitor.stop_loss_pct if self._is_set else USUAL_STOP
        self._kept = {"stop": stop, "target": monitor.take_profit_pct}
        self._exits = TypedExits(
            kept=known, kept_trail=trail_text(known), kept_exit_at=_exit_text(known, now)
        )
        self.first = {
            STOP.name: percent_text(stop),
            TARGET.name: percent_text(monitor.take_profit_pct),
            TRAIL.name: self._exits.kept_trail,
            EXIT_AT.name: self._exits.kept_exit_at,
        }
        self._by_price = {"stop": False, "target": False}

    def on_mount(self) -> None:
        """Fill the prices from the percentages."""
        for name in _THRESHOLDS:
            self.query_one(f"#{name}-price").disabled = self._monitor.entry is None
            self._follow(name)

    def renew(self) -> None:
        """The position as it is now; it may have been sold."""
        result = guarded(self.state, self._monitor.key)
        self._is_gone = result is None
        if result is not None and result != self._monitor:
            self._monitor = result
            for name in _THRESHOLDS:
                self._follow(name)

    def validate(self) -> Change:
        """The typed thresholds."""
        if self._is_gone:
            raise FieldError(f"Position closed. {cap('form.cancel')} cancels")
        exits = replace(self._exits, trail=self.read(TRAIL), exit_at=self.read(EXIT_AT))
        lines = self._typed_line("stop"), self._typed_line("target")
        return read_change(self._monitor, *lines, exits=exits, now=self.now)

    def objection(self, result: Change) -> str:
        """A threshold passed already sells at once: that needs a second enter."""
        passed = result.exits_at_once
        return f"Mark already past this {passed}. Enter again sets and sells" if passed else ""

    def describe(self, result: Change | None) -> Mapping[str, Shown]:
        """The position, and the proceeds of an exit now and at each threshold."""
        monitor = self._monitor
        rows = [_head(self.text_width, monitor.venue), self._row("if sold now", exit_now(monitor))]
        market = self.state.markets.get(monitor.market_id)
        floor = self._typed_floor() if result is None else _floor(result)
        for name, price in (("if stopped out", floor), ("at target", self._target())):
            rows.append(self._row(name, exit_at(monitor, price, market)))
        return {
            "form-question": formats.plain(monitor.question),
            "form-about": self._about(),
            "form-preview": Text("\n").join(rows),
            "form-hint": self._hint(result),
        }

    def changed(self, name: str) -> None:
        """Derive the other line of the same threshold."""
        which, _, kind = name.partition("-")
        if which in self._by_price:
            self._by_price[which] = kind == "price"
            self._follow(which)

    def _follow(self, name: str) -> None:
        """Write the derived value into the line that was not typed into."""
        value = self._stop_pct() if name == "stop" else self._target_pct()
        if self._by_price[name]:
            self.write(f"{name}-percent", percent_text(value))
        else:
            about = self._monitor
            is_stop = name == "stop"
            price = stop_price(about.stop_from, value) if is_stop else self._target()
            self.write(f"{name}-price", price_text(price))

    def _typed_line(self, name: str) -> TypedThreshold:
        is_price = self._by_price[name]
        text = self.typed(f"{name}-price" if is_price else f"{name}-percent")
        kept = None if is_price else self._kept[name]
        return TypedThreshold(text, is_price, kept, percent_text(kept))

    def _stop_pct(self) -> float | None:
        try:
            return read_stop(self._typed_line("stop"), self._monitor.stop_from)
        except FieldError:
            return None

    def _target_pct(self) -> float | None:
        try:
            return read_target(self._typed_line("target"), self._monitor.entry)
        except FieldError:
            return None

    def _typed_floor(self) -> float | None:
        """The floor of the typed stop and trailing stop, whatever else is wrong; None if unread."""
        try:
            exits = replace(self._exits, trail=self.read(TRAIL), exit_at="")
            stop = self._typed_line("stop")
            return _floor(read_change(self._monitor, stop, TypedThreshold(""), exits=exits))
        except FieldError:
            return None

    def _target(self) -> float | None:
        return target_price(self._monitor.entry, self._target_pct())

    def _about(self) -> Text:
        monitor = self._monitor
        kind = "auto (on buy)" if monitor.automatic else "manual"
        return Text.assemble(
            (monitor.side.value.upper(), "yes" if monitor.side is Side.YES else "no"),
            (f" on {monitor.venue.value}   ", "muted"),
            formats.shares(monitor.shares, masked=self.masked),
            (" shares, entry ", "muted"),
            formats.price(monitor.entry),
            (f"   {kind if self._is_set else 'not protected yet'}", "muted"),
        )

    def _row(self, name: str, estimate: Estimate | None) -> Text:
        """One line of the preview; an unknown value, or one that is off, is a dash."""
        row = Text(f"{name:<14}", "muted")
        entry = self._monitor.entry
        change = estimate.price / entry - 1.0 if estimate is not None and entry else None
        cells = [(formats.price(None if estimate is None else estimate.price, aligned=True), 7)]
        if self.text_width >= _WIDE_FROM:
            cells.append((formats.percent_change(change), 12))
        brings = formats.money(None if estimate is None else estimate.brings, masked=self.masked)
        gain = formats.pnl(None if estimate is None else estimate.pnl, masked=self.masked)
        for cell, wide in (*cells, (brings, 13), (gain, 12)):
            row.append(" " * max(1, wide - cell.cell_len), "")
            row.append_text(cell)
        return row

    def _hint(self, result: Change | None) -> Text:
        target = (
            None
            if result is None
            else target_price(self._monitor.entry, result.thresholds.take_profit_pct)
        )
        if target is not None and target >= 1:
            return Text("Target above 1: never reached.", "warn")
        if result is not None and (text := _exits_text(result, self.state)):
            return Text(text, "muted")
        if self._is_set and self._monitor.automatic:
            return Text("Saving replaces the automatic stop. Leave empty for none.", "muted")
        return Text("A breach sells all shares (one-shot). Leave empty for none.", "muted")


def _exit_text(known: Thresholds, now: Timestamp) -> str:
    return "" if known.exit_at is None else duration_text(known.exit_at - now)


def _floor(change: Change) -> float | None:
    """The higher one of the stop and of where the trailing stop begins."""
    about = change.monitor
    floors = (
        stop_price(about.stop_from, change.thresholds.stop_loss_pct),
        change.thresholds.trail_price(peak_of(about)),
    )
    return max((price for price in floors if price is not None), default=None)


def _exits_text(change: Change, state: DeskState) -> str:
    """What the trailing stop and the time stop do; empty without both."""
    parts: list[str] = []
    if change.thresholds.trails:
        parts.append("The trailing stop rises with the mark and never falls.")
    if change.thresholds.exit_at is not None:
        parts.append(
            f"Sells all {moment_text(change.thresholds.exit_at)}{of_wall(state)} at the latest."
        )
    return " ".join(parts)


def _head(width: int, venue: Venue) -> Text:
    percent = f"{'from entry':>12}" if width >= _WIDE_FROM else ""
    # A longer name than the sign of play money has its place before the columns.
    sign, name = (" $", "") if venue is Venue.SIM else ("", f"in {MONEY_OF[venue]}")
    money = f"{f'proceeds{sign}':>13}{f'P&L{sign}':>12}"
    return Text(f"{name:<14}{'price':>7}{percent}{money}", "muted")
