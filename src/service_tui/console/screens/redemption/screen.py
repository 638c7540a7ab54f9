"""Positions on the real venues on their way to money: the queue, and one of them step by step."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.redemption.actions import ACTIONS
from service_tui.console.screens.redemption.detail import describe, explain_row, sums_bits
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.desk.slices.redemption import RedemptionRow


class RedemptionScreen(TableScreen[RedemptionRow]):
    """The queue by state, and below it the row in focus step by step."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("redemption")]

    name_in_keys: ClassVar[str] = "redemption"
    title: ClassVar[str] = "Redemption"
    tables = (QUEUE,)
    actions = ACTIONS
    watches = ("redemption", "wallet", "service.phase", "service.problem")

    def compose(self) -> ComposeResult:
        """The sums, the queue with its search line, the detail."""
        yield SumsBar(id="redemption-sums")
        yield self.line
        yield self.table
        if self.pane is not None:
            yield self.pane

    def show_rows(self) -> None:
        """Show the queue; the state of a run is no part of its row."""
        super().show_rows()
        self.table.redraw()

    def show_header(self) -> None:
        """Show redeemable and waiting amounts, gas, and the automatic."""
        self.query_one("#redemption-sums", SumsBar).show(sums_bits(self.view))

    def detail(self, row: RedemptionRow, view: ViewContext) -> Detail:
        """The state of a row, step by step."""
        return describe(row, view)

    def explain(self, row: RedemptionRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Inputs of a redemption's payout."""
        return () if row is None else explain_row(row, view)
