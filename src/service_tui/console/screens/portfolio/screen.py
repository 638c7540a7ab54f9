"""The account: its worth over time, its positions, and one of them in detail."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeAlias

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from service_tui.console.figures import figures
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import of_wall
from service_tui.console.keys import bindings_of, cap
from service_tui.console.parts.explained import account_numbers, position_numbers, venue_numbers
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.portfolio.actions import ACTIONS
from service_tui.console.screens.portfolio.detail import account_figures, describe, venue_lines
from service_tui.console.screens.portfolio.orders import ORDERS, describe_order, notes
from service_tui.console.screens.portfolio.table import CLOSED, TABLES, totals
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.console.widgets.sums_bar import SumsBar
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.figures import equity_points
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp, decimal

SHORT_BELOW: Final = 17
"""Height below which the curve gives its lines to the positions."""

_FIGURE_CELLS: Final = 23
"""Least width of a figure of the account: its label, a sign and up to a million."""

_FILTER: Final = "filter.portfolio"
"""The preference that stores the search."""

_SPAN_MIN: Final = 1.0
"""Least span of the curve's axis, one $SIM: cents are noise."""


PortfolioRow: TypeAlias = PositionView | OpenOrderView


class PortfolioScreen(TableScreen[PortfolioRow]):
    """The account and its positions, open or closed. Its search is kept for the next start."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("portfolio")]

    name_in_keys: ClassVar[str] = "portfolio"
    title: ClassVar[str] = "Portfolio"
    tables = TABLES
    actions = ACTIONS
    watches = (
        "account",
        "positions",
        "closed",
        "trades",
        "equity",
        "on_venues",
        "venue_sums",
        "orders",
        "service.dropped",
        "service.phase",
        "service.problem",
    )
    leaves_rows_out: ClassVar[bool] = True
    has_split: ClassVar[bool] = False
    question_cells: ClassVar[Mapping[int, int]] = {160: 70, 120: 46}
    no_row_text: ClassVar[str] = "Select a position"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-with-detail": (120, 0), "-two": (160, 0)}
    """Least widths for the detail beside the curve, and in two columns. Source: ux, "Looks"."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        kept = state.preferences.get(_FILTER, "")
        super().__init__(state, now, kept)
        self._typed = self._typed_kept = kept
        self.search = self.parsed(kept)
        self._curve = PriceChart(
            value=self._worth,
            bounds=None,
            span_min=_SPAN_MIN,
            empty="equity: waiting for data",
            id="portfolio-equity",
        )

    def compose(self) -> ComposeResult:
        """Figures, curve and detail, then the positions with their search line."""
        yield TextBlock(id="portfolio-figures")
        yield TextBlock(id="portfolio-venues")
        with Horizontal(id="portfolio-top"):
            yield self._curve
            if self.pane is not None:
                yield self.pane
        yield self.tabs
        yield TextBlock(id="portfolio-notes")
        yield self.line
        yield from self.lists
        yield SumsBar(id="portfolio-sums")

    def fit(self) -> None:
        """Arrange figures, curve and detail for the present size."""
        super().fit()
        self.set_class(self.size.height < SHORT_BELOW, "-short")

    def keep(self) -> None:
        """Keep the order of the open positions, and the search."""
        super().keep()
        if self._typed != self._typed_kept:
            self._typed_kept = self._typed
            self.give(SetPreference(_FILTER, self._typed))

    def narrow(self, typed: str) -> None:
        """Search; problems are shown, the parsed part applies."""
        self._typed = typed
        super().narrow(typed)

    def rows(self) -> tuple[PortfolioRow, ...]:
        """The rows that match the search."""
        rows = super().rows()
        search = self.search
        return tuple(row for row in rows if self.is_found(row, search)) if search else rows

    def empty_text(self) -> str:
        """That no row matches the search, or why there are none."""
        total = len(super().rows())
        if not total:
            return super().empty_text()
        noun = "open order" if self.spec is ORDERS else "position"
        text = f"No {noun} of {total:,} matches /{self._typed}"
        return f"{text}\n\n{cap('rows.out')} clears the search."

    def is_hidden(self, row: str) -> bool:
        """Never: a search that is kept stays."""
        del row
        return False

    # -- what is shown --------------------------------------------------------------------------

    def show_parts(self) -> None:
        """Show the curve; it ends at the value of the figures."""
        state = self.state
        points = [(at, decimal(equity)) for at, equity in equity_points(state, self.now)]
        self._curve.show(points, title=f"equity, $SIM{of_wall(state)}")

    def show_header(self) -> None:
        """Show the account, the money on real venues if there is any, and the tabs."""
        view, width = self.view, max(_FIGURE_CELLS, self.size.width - 4)
        shown = account_figures(view.state.account, masked=view.masked)
        across = min(4, max(1, (width + 3) // (_FIGURE_CELLS + 3)))
        block = self.query_one("#portfolio-figures", TextBlock)
        block.show_text(figures(shown, across=across, width=width))
        block = self.query_one("#portfolio-venues", TextBlock)
        lines = venue_lines(view.state, view.now, width, masked=view.masked)
        block.display = bool(lines)
        block.show_text(lines)
        noted = notes(self.state, self.now) if self.spec is ORDERS else Text()
        order = self.table.order
        listed = (order[place] for place in range(len(order)))
        sums = self.query_one(SumsBar)
        sums.display = self.spec is not ORDERS and len(order) > 0
        sums.show(totals(listed, view))
        self.query_one("#portfolio-notes", TextBlock).show_if_any(noted)
        self.show_tabs()

    def detail(self, row: PortfolioRow, view: ViewContext) -> Detail:
        """A position or an open order in full."""
        if isinstance(row, OpenOrderView):
            return describe_order(row, view)
        return describe(row, view, is_closed=self.spec is CLOSED)

    def explain(self, row: PortfolioRow | None, view: ViewContext) -> tuple[Explanation, ...]:
        """The position's numbers, then the account's and the venues'."""
        account = account_numbers(view.state, view.now) + venue_numbers(view.state, view.now)
        if not isinstance(row, PositionView):
            return account
        return position_numbers(row, view.state, view.now) + account

    def _worth(self, value: float) -> str:
        return self.view.money(Micros(round(value * ONE))).plain
