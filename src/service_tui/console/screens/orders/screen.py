"""Every command, its progress and its result."""

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.orders.actions import ACTIONS
from service_tui.console.screens.orders.detail import describe, explain_ticket
from service_tui.console.screens.orders.table import BLOTTER
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.records import TicketView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class BlotterScreen(TableScreen[TicketView]):
    """The list, newest first, and one command in detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("blotter")]

    name_in_keys: ClassVar[str] = "blotter"
    title: ClassVar[str] = "Blotter"
    tables = (BLOTTER,)
    actions = ACTIONS
    opens = "blotter.market"
    watches = ("tickets", "redemption.runs", "trades")
    pane_type = None

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (120, 0)}
    """Least sizes at which the detail is beside the list; else below it."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._detail = TextBlock(id="blotter-detail-text", keeps_room=True)
        self._wide = 40

    def compose(self) -> ComposeResult:
        """The list with its search line, the detail."""
        yield self.line
        with Horizontal(id="blotter-body"):
            with Vertical(id="blotter-list"):
                yield self.table
            with VerticalScroll(id="blotter-detail"):
                yield self._detail

    def name_of(self, row: TicketView) -> str:
        """Its reference at the service; else the order."""
        return row.client_ref or row.what

    def explain(self, row: TicketView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """The duration of a command."""
        return () if row is None else explain_ticket(row, view)

    def show_detail(self) -> None:
        """Show the command under the cursor."""
        ticket = self.selected()
        text = Text("no command highlighted", "muted")
        if ticket is not None:
            # Coming back, it has no size until it is laid out: most likely the former one.
            self._wide = self._detail.size.width or self._wide
            text = describe(ticket, ViewContext.of(self.state, self.now, self._wide))
        self._detail.show_text(text)
