"""All markets: search, filters, sorting, and one of them in detail.

Knows the desk's state. Must not know any other screen.
Used by the app as screen 2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from service_tui.console.dialogs.explain import Explanation
from service_tui.console.dialogs.order_draft import sellable
from service_tui.console.freshness import is_private, world_now
from service_tui.console.keys import bindings_of
from service_tui.console.messages import Said
from service_tui.console.screens.explained import market_numbers
from service_tui.console.screens.market_columns import market_columns
from service_tui.console.screens.market_filter import (
    COMPARED,
    STATUSES,
    UNTIL_S,
    Around,
    MarketFilter,
    after,
    categories_of,
    chosen,
    filter_from,
    why_empty,
)
from service_tui.console.screens.market_pane import MarketPane
from service_tui.console.screens.rows import RowsScreen
from service_tui.console.search import read_search
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands import SetPreference, SetStar
from service_tui.desk.records import DetailView, MarketView, PositionView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side
from service_tui.units import Timestamp

DETAIL_FROM: Final = 120
TWO_FROM: Final = 160
"""Widths at which the detail stands beside the list, and in two columns. Source: ux, "Looks"."""

TALL_FROM: Final = 44
"""Height from which the chart has room to be large."""

_SORT: Final = "volume falling"


class MarketsPart(NamedTuple):
    """What this screen shows."""

    markets: Mapping[str, MarketView]
    positions: tuple[PositionView, ...]
    stars: frozenset[str]
    detail: DetailView | None
    service: tuple[str, str]
    masked: bool


class MarketsScreen(RowsScreen[MarketsPart, MarketView]):  # noqa: PLR0904 - one action a key
    """Thousands of markets, and the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("markets")]

    name_in_keys: ClassVar[str] = "markets"
    title: ClassVar[str] = "Markets"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._wanted = filter_from(state.preferences.get("filter.markets", ""))
        self._filter_kept = self._wanted.to_text()
        self._around = self._look_around()
        self.table = RecordTable[MarketView](
            market_columns(lambda: self._around),
            key=lambda market: market.market_id,
            empty="",
            id="markets-table",
        )
        self.line = FilterLine(self._wanted.typed)
        self._chips = Choice(id="markets-chips")
        self._pane = MarketPane(id="markets-detail")

    def compose(self) -> ComposeResult:
        """Filters, the list with its search line, the detail."""
        yield self._chips
        with Horizontal(id="markets-body"):
            with Vertical(id="markets-list"):
                yield self.table
                yield self.line
            yield self._pane

    def on_mount(self) -> None:
        """Sort as last time."""
        self._chips.can_focus = False
        self.restore_sort(_SORT)

    def part_of(self, state: DeskState) -> MarketsPart:
        """Markets, what is held and starred, and the detail that has come."""
        service = (state.service.phase.value, state.service.problem)
        masked = is_private(state)
        return MarketsPart(
            state.markets, state.positions, state.stars, state.detail, service, masked
        )

    def show(self, part: MarketsPart) -> None:
        """Show the markets that the filter wants, and the one in focus."""
        del part  # the state is at hand, whole
        self._refill()
        self._show_focus()

    def tick(self) -> None:
        """Let time pass in the table and the pane."""
        self._around = self._look_around()
        super().tick()
        self._show_focus()

    def keep(self) -> None:
        """Keep the order and the filters for the next start."""
        super().keep()
        kept = self._wanted.to_text()
        if kept != self._filter_kept:
            self._filter_kept = kept
            self.give(SetPreference("filter.markets", kept))

    def leave(self) -> None:
        """Ask for no detail while another screen is in front."""
        self._pane.release()

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a market, past filters that would hide it."""
        if row is not None and self._is_hidden(row):
            self.line.clear()
            self._filter(MarketFilter(status="all"))
            self.post_message(Said("filters cleared to show this market"))
        super().focus_row(row)
        self._show_focus()

    def narrow(self, typed: str) -> None:
        """Search; what of it cannot be read is said, and the rest is in force."""
        self.line.say(read_search(typed, COMPARED).problem)
        self._filter(replace(self._wanted, typed=typed))

    def name_of(self, row: MarketView) -> str:
        """Its question."""
        return row.question

    def explained(self, row: MarketView | None) -> tuple[Explanation, ...]:
        """Price, change, volume."""
        return () if row is None else market_numbers(row, self.state, self.now)

    def step_out(self) -> bool:
        """From the detail to the list, then from the search to all, then from the filters."""
        if self.has_class("-open"):
            self.remove_class("-open")
            self.table.focus()
        elif not self.table.has_focus:
            self.table.focus()
        elif self._wanted.typed:
            self.line.clear()
        elif self._wanted != MarketFilter():
            self._filter(MarketFilter())
        else:
            return False
        return True

    def action_buy(self) -> None:
        """Open the ticket to buy in the market that is highlighted."""
        market = self.row_in_focus()
        if market is not None:
            self.open_ticket(market, None, Action.BUY)

    def action_exit(self) -> None:
        """Open the ticket to sell what is held in the market that is highlighted."""
        market = self.row_in_focus()
        if market is None:
            return
        found = sellable(self.state, market.market_id)
        if found is not None:
            side, venue = found
            self.open_ticket(market, side, Action.SELL, venue)
        else:
            self.post_message(Said("you hold nothing in this market: b buys", "warn"))

    def action_star(self) -> None:
        """Star the market that is highlighted, or take its star."""
        market = self.row_in_focus()
        if market is not None:
            is_starred = market.market_id in self.state.stars
            self.give(SetStar(market.market_id, on=not is_starred))

    def action_price_alert(self) -> None:
        """Tell when a price of the market that is highlighted is there."""
        market = self.row_in_focus()
        if market is not None:
            held = self.state.held(market.market_id)
            self.open_price_alert(market.market_id, held[0].side if held else Side.YES)

    def action_next_category(self) -> None:
        """Show the next category alone, then all of them."""
        categories = categories_of(self.state.markets.values())
        self._filter(replace(self._wanted, category=after(categories, self._wanted.category)))

    def action_next_status(self) -> None:
        """Show open, closed, resolved or all markets."""
        self._filter(replace(self._wanted, status=after(STATUSES, self._wanted.status)))

    def action_next_until(self) -> None:
        """Show markets that end soon, or whenever."""
        self._filter(replace(self._wanted, until=after(tuple(UNTIL_S), self._wanted.until)))

    def action_toggle_held(self) -> None:
        """Show only what is held, or all."""
        self._filter(replace(self._wanted, held=not self._wanted.held))

    def action_toggle_starred(self) -> None:
        """Show only what is starred, or all."""
        self._filter(replace(self._wanted, starred=not self._wanted.starred))

    def action_next_range(self) -> None:
        """Let the chart span the next range."""
        self._pane.next_range()
        self._show_focus()

    @on(Choice.Asked, "#markets-chips")
    def _chip_clicked(self, event: Choice.Asked) -> None:
        event.stop()
        (
            self.table.focus,
            self.action_next_category,
            self.action_next_status,
            self.action_next_until,
            self.action_toggle_held,
            self.action_toggle_starred,
        )[event.index]()

    @on(RecordTable.Moved)
    def _moved(self) -> None:
        self._show_focus()

    @on(RecordTable.Opened)
    def _opened(self) -> None:
        self.set_class(self.size.width < DETAIL_FROM, "-open")
        self._pane.focus()
        self.call_after_refresh(self._show_focus)

    @on(events.Resize)
    def _resized(self) -> None:
        width = self.size.width
        self.set_class(width >= DETAIL_FROM, "-with-detail")
        self.set_class(self.has_class("-open") and width < DETAIL_FROM, "-open")
        self._pane.set_class(width >= TWO_FROM, "-two")
        self._pane.set_class(self.size.height >= TALL_FROM, "-tall")
        self.call_after_refresh(self._show_focus)

    def _look_around(self) -> Around:
        return Around(
            now=world_now(self.state, self.now),
            held=frozenset(held.market_id for held in self.state.positions),
            stars=self.state.stars,
        )

    def _filter(self, wanted: MarketFilter) -> None:
        self._wanted = wanted
        self._refill()
        self.highlight_first_if_lost()
        self._show_focus()

    def _refill(self) -> None:
        """Hand the wanted markets to the table."""
        self._around = self._look_around()
        markets = self.state.markets
        rows = tuple(chosen(markets.values(), self._wanted, self._around))
        self.table.empty = why_empty(self.state, self._wanted)
        self.table.show(rows)
        chips = self._wanted.chips()
        words = (f"{len(rows):,} of {len(markets):,}", *(chip.words for chip in chips))
        narrows = frozenset(place for place, chip in enumerate(chips, start=1) if chip.narrows)
        self._chips.show(words, None, strong=narrows)

    def _is_hidden(self, market_id: str) -> bool:
        """True for a market that there is, and that the filter keeps from the list."""
        return market_id in self.state.markets and self.table.order.index_of(market_id) is None

    def _show_focus(self) -> None:
        """Show the market under the cursor beside the list, where there is room."""
        if self.has_class("-with-detail") or self.has_class("-open"):
            self._pane.show_market(self.table.selected(), self.state, self.now)
