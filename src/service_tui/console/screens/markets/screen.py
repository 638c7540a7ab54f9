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
from service_tui.console.saved import WATCHLISTS, NamedFilter
from service_tui.console.screens.markets.actions import ACTIONS
from service_tui.console.screens.markets.chips import MarketChips
from service_tui.console.screens.markets.filter import (
    FilterContext,
    MarketFilter,
    filter_from,
    filter_of,
    filtered,
    search_of,
    switches_of,
    why_empty,
)
from service_tui.console.screens.markets.pane import MarketPane
from service_tui.console.screens.markets.table import MARKETS, on_venue, room_of
from service_tui.console.search import Search
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.markets import MarketView
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

    across: ClassVar[str] = "-with-detail"

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (120, 0),
        "-two": (200, 0),
        "-tall": (0, 44),
    }
    """Least widths for the detail beside the list, in two columns, and with a large chart. Source:
    ux, "Looks"."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        filter_in_force = filter_from(state.preferences.get(_FILTER, ""))
        super().__init__(state, now, filter_in_force.typed)
        self.chips = MarketChips(filter_in_force, id="markets-chips")
        self._filter_kept = filter_in_force.to_text()
        self.pane = self.market = MarketPane(id="markets-detail")
        self._ticked: tuple[object, ...] = ()

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
        if not self.has_pane_size:
            self.market.styles.width = room.pane or None
        self.table.text_min = room.question
        self.table.text_max = None if self.is_wide or self.has_pane_size else room.question

    def show_in_room(self) -> None:
        """Show the pane; the table arranges itself."""
        self.show_detail()

    def title_line(self, row: MarketView) -> str:
        """The question, behind the real venue on which it trades, if there is one."""
        venue = on_venue(row)
        return f"{venue}  {row.question}" if venue.isupper() else row.question

    def keep(self) -> None:
        """Keep the order and the filters for the next start."""
        super().keep()
        kept = self.chips.filter_in_force.to_text()
        if kept != self._filter_kept:
            self._filter_kept = kept
            self.give(SetPreference(_FILTER, kept))

    def leave(self) -> None:
        """Request no detail while another screen is in front."""
        super().leave()
        self.market.release()

    def watched(self) -> object:
        """What is shown of the state, and the watchlists, one of which may be the filter."""
        return super().watched(), self.state.preferences.get(WATCHLISTS, "")

    def tick(self) -> None:
        """Redraw what depends on the time: a list has that of the world alone, which may stand."""
        # Besides what is watched, markets are named apart from those in which something was held.
        basis = self.view.world_now, self.state.closed, self.state.on_venues
        if basis != self._ticked:
            self._ticked = basis
            self.table.redraw()
        self.show_detail()
        self.show_header()

    # -- the list -------------------------------------------------------------------------------

    def rows(self) -> tuple[MarketView, ...]:
        """The markets that pass search and filters."""
        markets = self.state.markets.values()
        return tuple(filtered(markets, self.chips.filter_in_force, FilterContext.of(self.view)))

    def empty_text(self) -> str:
        """Why no market is listed, and what to do."""
        return why_empty(self.state, self.chips.filter_in_force)

    def narrow(self, typed: str) -> None:
        """Search; problems are shown, the parsed part applies."""
        self.line.show_problem(self.parsed(typed).problem)
        self._set_filter(replace(self.chips.filter_in_force, typed=typed))

    def parsed(self, typed: str) -> Search:
        """A typed search, with the numbers and venues of markets."""
        return search_of(typed)

    def is_hidden(self, row: str) -> bool:
        """True for an existing market that the filter hides."""
        return row in self.state.markets and super().is_hidden(row)

    def show_all(self) -> None:
        """Clear the search and the filters, whatever the market's status."""
        self.line.clear()
        self._set_filter(MarketFilter(status="all"))
        self.show_toast("filters cleared to show this market")

    def step_out(self) -> bool:
        """As everywhere, first from the book, and at last from the filters to the open markets."""
        if self.market.leave_book():
            self.show_detail()
            return True
        if super().step_out():
            return True
        if self.chips.filter_in_force == MarketFilter():
            return False
        self._set_filter(MarketFilter())
        return True

    def filter_to_save(self) -> NamedFilter:
        """The search and the switches in force."""
        in_force = self.chips.filter_in_force
        return NamedFilter("", 0, in_force.typed, switches_of(in_force))

    def apply_filter(self, saved: NamedFilter) -> None:
        """Filter as it was saved, instead of what is in force."""
        self.line.put(saved.search)
        self._set_filter(filter_of(saved.search, saved.choices))
        self.table.focus()

    def _set_filter(self, filter_in_force: MarketFilter) -> None:
        self.chips.filter_in_force = filter_in_force
        self.filter_rows()

    @on(SegmentedControl.Picked, "#markets-chips")
    def _chip_clicked(self, event: SegmentedControl.Picked) -> None:
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
        is_back = not self.size and market is not None and self.market.shows(market.market_id)
        if self.shows_detail and not is_back:
            self.market.show_market(market, self.state, self.now)

    def explain(self, row: MarketView | None, view: ViewContext) -> tuple[Explanation, ...]:
        """Price, change, volume."""
        return () if row is None else market_numbers(row, view.state, view.now)
