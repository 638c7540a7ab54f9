"""What guards buys to come: stop and target in percent, and whether that is set by itself."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.forms.rail_draft import percent_line, read_defaults
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.rails import RiskDefaults
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_EXAMPLE: Final = 0.50
"""The entry price by which the thresholds are shown."""


class DefaultsForm(Form[RiskDefaults]):
    """Returns the defaults; monitors that stand already keep their own thresholds."""

    heading: ClassVar[str] = "Risk defaults"

    def __init__(self, state: DeskState, now: Timestamp, defaults: RiskDefaults) -> None:
        super().__init__(state, now)
        self._before = defaults
        self._auto = defaults.auto_monitor

    def parts(self) -> Iterator[Widget]:
        """Two thresholds, the automatic, and an example."""
        yield Words("Every buy to come is guarded by these.", id="form-question")
        yield self._line("stop", "% down", self._before.stop_loss_pct)
        yield self._line("target", "% up", self._before.take_profit_pct)
        yield Horizontal(
            Words("by itself", classes="label"), Choice(id="defaults-auto"), classes="line"
        )
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def judged(self) -> RiskDefaults | str:
        """The thresholds that stand there, or what is against them."""
        stop, target = self.typed("defaults-stop"), self.typed("defaults-target")
        try:
            return read_defaults(self._before, stop, target, auto_monitor=self._auto)
        except DraftError as refused:
            return str(refused)

    def preview(self, result: RiskDefaults | None) -> None:
        """What a position bought at even odds would be sold at."""
        self.query_one("#defaults-auto", Choice).show(("on", "off"), 0 if self._auto else 1)
        shown = self._before if result is None else result
        stop, target = shown.stop_loss_pct, shown.take_profit_pct
        below = None if stop is None else _EXAMPLE * (1 - stop)
        above = None if target is None else _EXAMPLE * (1 + target)
        said = Text.assemble(
            ("bought at 0.500, sold at ", "muted"),
            formats.price(below),
            (" or below, at ", "muted"),
            formats.price(above),
            (" or above", "muted"),
        )
        self.query_one("#form-preview", Words).tell(said)
        self.query_one("#form-hint", Words).tell(self._hint())

    @on(Choice.Asked)
    def _auto_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self._auto = event.index == 0
        self.refresh_form()

    def _line(self, name: str, unit: str, value: float | None) -> Horizontal:
        return Horizontal(
            Words(name, classes="label"),
            PlainInput(
                percent_line(value),
                placeholder="off",
                compact=True,
                max_length=12,
                id=f"defaults-{name}",
                classes="number",
            ),
            Words(f"{unit}, empty is off", classes="unit"),
            classes="line",
        )

    def _hint(self) -> Text:
        if self._auto:
            return Text("Every buy gets a monitor by itself.", "muted")
        said = "Buys get no monitor; automatic ones are removed, those set by hand stay."
        return Text(said, "warn")
