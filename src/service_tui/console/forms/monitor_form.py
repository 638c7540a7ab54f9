"""Stop and target of one position: typed as percent or as price, the other follows."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.exit_estimate import Estimate, exit_at, exit_now, guarded
from service_tui.console.forms.form import Form
from service_tui.console.forms.monitor_draft import (
    USUAL_STOP,
    Change,
    Typed,
    percent_text,
    price_text,
    read_change,
    read_stop,
    read_target,
)
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.keys import cap
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.risk import MonitorView, stop_price, target_price
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import Timestamp

_LINES: Final = (("stop", "% down, at"), ("target", "% up, at"))
_WIDE_FROM: Final = 50
"""Cells from which a row of the preview has its percentage too."""


class MonitorForm(Form[Change]):
    """Sets or changes the monitor of one position."""

    heading: ClassVar[str] = "Monitor"

    def __init__(self, state: DeskState, now: Timestamp, monitor: MonitorView) -> None:
        super().__init__(state, now)
        self._monitor = monitor
        self._is_set = monitor.stop_pct is not None or monitor.target_pct is not None
        self._is_gone = False
        stop = monitor.stop_pct if self._is_set else USUAL_STOP
        self._kept = {"stop": stop, "target": monitor.target_pct}
        self._by_price = {"stop": False, "target": False}

    def parts(self) -> Iterator[Widget]:
        """The position, two thresholds with two lines each, what they would bring."""
        yield Words(id="form-question")
        yield Words(id="form-about")
        for name, unit in _LINES:
            yield Horizontal(
                Words(name, classes="label"),
                PlainInput(
                    percent_text(self._kept[name]),
                    placeholder="off",
                    compact=True,
                    max_length=12,
                    id=f"{name}-percent",
                    classes="number",
                ),
                Words(unit, classes="unit"),
                PlainInput(
                    placeholder="off",
                    compact=True,
                    max_length=12,
                    id=f"{name}-price",
                    classes="number",
                ),
                classes="line",
            )
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def on_mount(self) -> None:
        """Prices follow from the percentages that stand there."""
        for name, _ in _LINES:
            self.query_one(f"#{name}-price").disabled = self._monitor.entry is None
            self._follow(name)

    def renew(self) -> None:
        """The position as it is now; it may have been sold meanwhile."""
        found = guarded(self.state, self._monitor.key)
        self._is_gone = found is None
        if found is not None and found != self._monitor:
            self._monitor = found
            for name, _ in _LINES:
                self._follow(name)

    def judged(self) -> Change | str:
        """The thresholds that stand there, or what is against them."""
        if self._is_gone:
            return f"this position is not held any more: {cap('form.cancel')} leaves"
        try:
            return read_change(self._monitor, self._line("stop"), self._line("target"))
        except DraftError as refused:
            return str(refused)

    def objection(self, result: Change) -> str:
        """What is past its threshold already is sold at once: that is asked twice."""
        passed = result.exits_at_once
        return (
            f"the mark is past this {passed} now: enter again sets it and exits" if passed else ""
        )

    def preview(self, result: Change | None) -> None:
        """What the position is, and what an exit brings now and at each threshold."""
        monitor, width = self._monitor, self.text_width
        self.query_one("#form-question", Words).tell(formats.plain(monitor.question))
        self.query_one("#form-about", Words).tell(self._about())
        rows = [_head(width), self._row("exit now", exit_now(monitor))]
        market = self.state.markets.get(monitor.market_id)
        for name, price in (("at the stop", self._stop()), ("at the target", self._target())):
            found = exit_at(monitor, price, market)
            rows.append(self._row(name, found))
        self.query_one("#form-preview", Words).tell(Text("\n").join(rows))
        self.query_one("#form-hint", Words).tell(self._hint(result))

    def changed(self, name: str) -> None:
        """The other line of the same threshold follows the one typed into."""
        which, _, kind = name.partition("-")
        if which in self._by_price:
            self._by_price[which] = kind == "price"
            self._follow(which)

    def _follow(self, name: str) -> None:
        """Write into the line that was not typed into what the other one says."""
        value = self._stop_pct() if name == "stop" else self._target_pct()
        if self._by_price[name]:
            self.write(f"{name}-percent", percent_text(value))
        else:
            of = stop_price if name == "stop" else target_price
            self.write(f"{name}-price", price_text(of(self._monitor.entry, value)))

    def _line(self, name: str) -> Typed:
        is_price = self._by_price[name]
        text = self.typed(f"{name}-price" if is_price else f"{name}-percent")
        kept = None if is_price else self._kept[name]
        return Typed(text, is_price, kept, percent_text(kept))

    def _stop_pct(self) -> float | None:
        try:
            return read_stop(self._line("stop"), self._monitor.entry)
        except DraftError:
            return None

    def _target_pct(self) -> float | None:
        try:
            return read_target(self._line("target"), self._monitor.entry)
        except DraftError:
            return None

    def _stop(self) -> float | None:
        return stop_price(self._monitor.entry, self._stop_pct())

    def _target(self) -> float | None:
        return target_price(self._monitor.entry, self._target_pct())

    def _about(self) -> Text:
        monitor = self._monitor
        kind = "automatic" if monitor.automatic else "set by hand"
        return Text.assemble(
            (monitor.side.value.upper(), "yes" if monitor.side is Side.YES else "no"),
            (f" on {monitor.venue.value}   ", "muted"),
            formats.shares(monitor.shares, masked=self.masked),
            (" shares, entry ", "muted"),
            formats.price(monitor.entry),
            (f"   {kind if self._is_set else 'not guarded yet'}", "muted"),
        )

    def _row(self, name: str, found: Estimate | None) -> Text:
        """One line of the preview; what is not known, or off, is a dash."""
        row = Text(f"{name:<14}", "muted")
        entry = self._monitor.entry
        change = found.price / entry - 1.0 if found is not None and entry else None
        cells = [(formats.price(None if found is None else found.price, aligned=True), 7)]
        if self.text_width >= _WIDE_FROM:
            cells.append((formats.percent_change(change), 12))
        brings = formats.money(None if found is None else found.brings, masked=self.masked)
        gain = formats.pnl(None if found is None else found.pnl, masked=self.masked)
        for cell, wide in (*cells, (brings, 13), (gain, 12)):
            row.append(" " * max(1, wide - cell.cell_len), "")
            row.append_text(cell)
        return row

    def _hint(self, result: Change | None) -> Text:
        target = None if result is None else target_price(self._monitor.entry, result.target_pct)
        if target is not None and target >= 1:
            return Text("This target is never reached: no price passes 1.", "warn")
        if self._is_set and self._monitor.automatic:
            return Text("Set here it counts as set by hand. Empty or off: no threshold.", "muted")
        return Text("A breach sells all of it, once. Empty or off: no threshold.", "muted")


def _head(width: int) -> Text:
    percent = f"{'from entry':>12}" if width >= _WIDE_FROM else ""
    return Text(f"{'':<14}{'price':>7}{percent}{'brings $':>13}{'P&L $':>12}", "muted")
