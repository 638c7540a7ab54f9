"""Protection of the positions: monitors, alerts, exits, price alerts, and one of them in detail."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.monitors.actions import ACTIONS
from service_tui.console.screens.monitors.detail import (
    describe,
    explain_monitor,
    guarded_text,
    urgent_text,
)
from service_tui.console.screens.monitors.table import ALERTS, TABLES, RiskRow
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.risk import MonitorView


class MonitorsScreen(TableScreen[RiskRow]):
    """Four tables, one of them in front, and the row in focus below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("monitors")]

    name_in_keys: ClassVar[str] = "monitors"
    title: ClassVar[str] = "Monitors"
    tables = TABLES
    actions = ACTIONS
    watches = ("risk", "positions", "service.phase", "service.problem")
    question_cells: ClassVar[Mapping[int, int]] = {160: 46, 120: 32}

    def compose(self) -> ComposeResult:
        """The tabs, urgent conditions, the table with its search line, the detail."""
        with Horizontal(id="monitors-top"):
            yield self.tabs
            yield TextBlock(id="monitors-guarded")
        yield TextBlock(id="monitors-urgent")
        yield self.line
        yield from self.lists
        if self.pane is not None:
            yield self.pane

    def show_header(self) -> None:
        """Show the number of rows of each table, of protected positions, and urgent conditions."""
        self.show_tabs(strong=[TABLES.index(ALERTS)] if self.state.risk.open_alerts else ())
        self.query_one("#monitors-guarded", TextBlock).show_text(guarded_text(self.state))
        self.query_one("#monitors-urgent", TextBlock).show_if_any(urgent_text(self.view))

    def detail(self, row: RiskRow, view: ViewContext) -> Detail:
        """A row in full."""
        return describe(row, view)

    def explain(self, row: RiskRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Sources of stop, target and exit value; none for other rows than monitors."""
        return explain_monitor(row, view) if isinstance(row, MonitorView) else ()
