"""All markets: search, filters, sorting, and one of them in detail."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from service_tui.console.forms.explain import Explanation
from service_tui.console.keys import bindings_of
from service_tui.console.parts.explained import market_numbers
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.markets.actions import ACTIONS
from service_tui.console.screens.markets.chips import MarketChips
from service_tui.console.screens.markets.filter import (
    FilterContext,
    MarketFilter,
    chosen,
    filter_from,
    search_of,
    why_empty,
)
from service_tui.console.screens.markets.pane import MarketPane
from service_tui.console.screens.markets.table import MARKETS, room_of
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.choice import Choice
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.records import MarketView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_FILTER: Final = "filter.markets"
"""The preference that stores the search and the filters."""


class MarketsScreen(TableScreen[MarketView]):  # noqa: PLR0904 - it has filters of its own
    """Thousands of markets, and the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("markets")]

    name_in_keys: ClassVar[str] = "markets"
    title: ClassVar[str] = "Markets"
    tables = (MARKETS,)
    actions = ACTIONS
    watches = ("markets", "positions", "stars", "detail", "service.phase", "service.problem")
    leaves_rows_out: ClassVar[bool] = True
    pane_type = None

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (120, 0),
        "-two": (200, 0),
        "-tall": (0, 44),
    }
    """Least widths for the detail beside the list, in two columns, and with a large chart. Source:
    ux, "Looks"."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        wanted = filter_from(state.preferences.get(_FILTER, ""))
        super().__init__(state, now, wanted.typed)
        self.chips = MarketChips(wanted, id="markets-chips")
        self._filter_kept = wanted.to_text()
        self.pane = self.market = MarketPane(id="markets-detail")

    def compose(self) -> ComposeResult:
        """Filters, the list with its search line, the detail."""
        yield self.chips
        yield self.line
        with Horizontal(id="markets-body"):
            with Vertical(id="markets-list"):
                yield self.table
            yield self.market

    def fit(self) -> None:
        """Divide the width between the list and the pane."""
        super().fit()
        room = room_of(self.size.width)
        self.market.styles.width = room.pane or None
        self.table.text_cells = room.question

    def show_in_room(self) -> None:
        """Show the pane; the table arranges itself."""
        self.show_detail()

    def keep(self) -> None:
        """Keep the order and the filters for the next start."""
        super().keep()
        kept = self.chips.wanted.to_text()
        if kept != self._filter_kept:
            self._filter_kept = kept
            self.give(SetPreference(_FILTER, kept))

    def leave(self) -> None:
        """Request no detail while another screen is in front."""
        self.market.release()

    # -- the list -------------------------------------------------------------------------------

    def rows(self) -> tuple[MarketView, ...]:
        """The markets that pass search and filters."""
        markets = self.state.markets.values()
        return tuple(chosen(markets, self.chips.wanted, FilterContext.of(self.view)))

    def empty_text(self) -> str:
        """Why no market is listed, and what to do."""
        return why_empty(self.state, self.chips.wanted)

    def narrow(self, typed: str) -> None:
        """Search; problems are shown, the parsed part applies."""
        self.line.say(search_of(typed).problem)
        self._want(replace(self.chips.wanted, typed=typed))

    def is_hidden(self, row: str) -> bool:
        """True for an existing market that the filter hides."""
        return row in self.state.markets and super().is_hidden(row)

    def show_all(self) -> None:
        """Clear the search and the filters, whatever the market's status."""
        self.line.clear()
        self._want(MarketFilter(status="all"))
        self.say("filters cleared to show this market")

    def step_out(self) -> bool:
        """As everywhere, and at last from the filters to the open markets."""
        if super().step_out():
            return True
        if self.chips.wanted == MarketFilter():
            return False
        self._want(MarketFilter())
        return True

    def _want(self, wanted: MarketFilter) -> None:
        self.chips.wanted = wanted
        self.filter_rows()

    @on(Choice.Picked, "#markets-chips")
    def _chip_clicked(self, event: Choice.Picked) -> None:
        event.stop()
        if event.index:
            self.action_perform(MarketChips.SWITCHES[event.index - 1])
        else:
            self.table.focus()

    # -- what is shown --------------------------------------------------------------------------

    def show_header(self) -> None:
        """Show the number of listed markets, and the filters in force."""
        self.chips.show_number(self.state, len(self.table.order))

    def show_detail(self) -> None:
        """Show the market under the cursor beside the list, if there is room."""
        market = self.table.highlighted()
        # Coming back, the list is painted first: the pane shows this market already, and is
        # updated by the tick that follows the paint.
        is_back = not self.size and market is not None and self.market.tells(market.market_id)
        if self.shows_detail and not is_back:
            self.market.show_market(market, self.state, self.now)

    def explain(self, row: MarketView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Price, change, volume."""
        return () if row is None else market_numbers(row, view.state, view.now)
