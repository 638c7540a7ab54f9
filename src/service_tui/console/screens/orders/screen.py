"""Orders and other commands with their results, and the fills of every agent."""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.orders.actions import ACTIONS, PENDING
from service_tui.console.screens.orders.detail import describe, explain_ticket
from service_tui.console.screens.orders.fills import FILLS, describe_fill, explain_fill, totals
from service_tui.console.screens.orders.table import BLOTTER
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.console.widgets.text_block import MeasuredBlock
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

OrderRow: TypeAlias = TicketView | FillView


class BlotterScreen(TableScreen[OrderRow]):
    """Commands or fills, newest first, and one of them in detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("blotter")]

    name_in_keys: ClassVar[str] = "blotter"
    title: ClassVar[str] = "Orders"
    tables = (BLOTTER, FILLS)
    actions = ACTIONS
    opens = "blotter.market"
    watches = ("tickets", "redemption.runs", "trades", "fills", "orders")
    pane_type = None

    across: ClassVar[str] = "-beside"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (150, 0)}
    """Least sizes at which the detail is beside the list; else below it."""

    beside: ClassVar[str] = "-beside"
    question_cells: ClassVar[Mapping[int, int]] = {160: 46, 120: 30}

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._detail = MeasuredBlock(id="blotter-detail-text", keeps_room=True)
        self._wide = 40

    def compose(self) -> ComposeResult:
        """The tabs, a list with its search line and its totals, the detail."""
        yield self.tabs
        yield self.line
        with Horizontal(id="blotter-body"):
            with Vertical(id="blotter-list"):
                yield from self.lists
                yield SumsBar(id="blotter-sums")
            with VerticalScroll(id="blotter-detail"):
                yield self._detail

    def choices(self) -> Mapping[str, str]:
        """Whether only pending orders are listed."""
        return {PENDING.name: "on"} if self.only else {}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """List only pending orders again."""
        self.only = PENDING if choices.get(PENDING.name) and self.spec is BLOTTER else None

    def name_of(self, row: OrderRow) -> str:
        """Its reference at the service; else the order."""
        if isinstance(row, FillView):
            return row.trade_id
        return row.client_ref or row.what

    @property
    def is_beside(self) -> bool:
        """True if the detail is beside the list; that of a fill is below."""
        return super().is_beside and self.spec is BLOTTER

    def show_header(self) -> None:
        """Show the tabs, and sums of the fills listed."""
        super().show_header()
        if self.spec is FILLS:
            order = self.table.order
            listed = (order[place] for place in range(len(order)))
            fills = (row for row in listed if isinstance(row, FillView))
            self.query_one(SumsBar).show(totals(fills, self.view))

    def explain(self, row: OrderRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """The duration of a command, or the figures of a fill."""
        if isinstance(row, FillView):
            return explain_fill(row, view)
        return () if row is None else explain_ticket(row, view)

    def show_detail(self) -> None:
        """Show the row under the cursor."""
        row = self.selected()
        text = Text("Select an order" if self.spec is BLOTTER else "Select a fill", "muted")
        if row is not None:
            # Coming back, it has no size until it is laid out: most likely the former one.
            self._wide = self._detail.size.width or self._wide
            view = ViewContext.of(self.state, self.now, self._wide)
            text = describe_fill(row, view) if isinstance(row, FillView) else describe(row, view)
        self._detail.show_text(text)
