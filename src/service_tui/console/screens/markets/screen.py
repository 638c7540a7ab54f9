"""All markets: search, filters, sorting, and one of them in detail."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from service_tui.console.forms.explain import Explanation
from service_tui.console.forms.order_draft import sellable
from service_tui.console.freshness import counted, is_heard, is_private, world_now
from service_tui.console.keys import bindings_of, cap
from service_tui.console.messages import Said
from service_tui.console.parts.explained import market_numbers
from service_tui.console.parts.market_filter import (
    STATUSES,
    UNTIL_S,
    Around,
    MarketFilter,
    after,
    categories_of,
    chosen,
    filter_from,
    search_of,
    venues_of,
    why_empty,
)
from service_tui.console.parts.panes import PaneScreen
from service_tui.console.screens.markets.columns import market_columns, room_of
from service_tui.console.screens.markets.detail import MarketPane
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands.settings import SetPreference, SetStar
from service_tui.desk.slices.records import DetailView, MarketView, PositionView, Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side
from service_tui.units import Timestamp

_SORT: Final = "volume falling"


class MarketsPart(NamedTuple):
    """What this screen shows."""

    markets: Mapping[str, MarketView]
    positions: tuple[PositionView, ...]
    stars: frozenset[str]
    detail: DetailView | None
    service: tuple[str, str]
    is_heard: bool
    masked: bool


class MarketsScreen(PaneScreen[MarketsPart, MarketView]):  # noqa: PLR0904 - one action a key
    """Thousands of markets, and the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("markets")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {
        "-with-detail": (120, 0),
        "-two": (200, 0),
        "-tall": (0, 44),
    }
    """From where the detail stands beside the list, in two columns, and with a large chart. Source:
    ux, "Looks"."""

    name_in_keys: ClassVar[str] = "markets"
    title: ClassVar[str] = "Markets"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        wanted = filter_from(state.preferences.get("filter.markets", ""))
        super().__init__(state, now, wanted.typed)
        self._wanted = wanted
        self._filter_kept = self._wanted.to_text()
        self._around = self._look_around()
        self.table = RecordTable[MarketView](
            market_columns(lambda: self._around),
            key=lambda market: market.market_id,
            empty="",
            id="markets-table",
        )
        self._chips = Choice(id="markets-chips")
        self.pane = self._market = MarketPane(id="markets-detail")

    def compose(self) -> ComposeResult:
        """Filters, the list with its search line, the detail."""
        yield self._chips
        yield self.line
        with Horizontal(id="markets-body"):
            with Vertical(id="markets-list"):
                yield self.table
            yield self.pane

    def on_mount(self) -> None:
        """Sort as last time."""
        self._chips.can_focus = False
        self.restore_sort(_SORT)

    def part_of(self, state: DeskState) -> MarketsPart:
        """Markets, what is held and starred, and the detail that has come."""
        service = (state.service.phase.value, state.service.problem)
        masked = is_private(state)
        heard = is_heard(state, Topic.MARKETS)
        return MarketsPart(
            state.markets, state.positions, state.stars, state.detail, service, heard, masked
        )

    def show(self, part: MarketsPart) -> None:
        """Show the markets that the filter wants, and the one in focus."""
        del part  # the state is at hand, whole
        self._refill()
        self.show_focus()

    def tick(self) -> None:
        """Let time pass in the table and the pane."""
        self._around = self._look_around()
        super().tick()

    def fit(self) -> None:
        """Share the width out between the list and the pane."""
        super().fit()
        room = room_of(self.size.width)
        self.pane.styles.width = room.pane or None
        self.table.text_cells = room.question

    def show_in_room(self) -> None:
        """The pane; the table looks after itself."""
        self.show_focus()

    def keep(self) -> None:
        """Keep the order and the filters for the next start."""
        super().keep()
        kept = self._wanted.to_text()
        if kept != self._filter_kept:
            self._filter_kept = kept
            self.give(SetPreference("filter.markets", kept))

    def leave(self) -> None:
        """Ask for no detail while another screen is in front."""
        self._market.release()

    def is_hidden(self, row: str) -> bool:
        """True for a market that there is, and that the filter keeps from the list."""
        return row in self.state.markets and super().is_hidden(row)

    def show_all(self) -> None:
        """Clear the search and the filters, of whatever status the market is."""
        self.line.clear()
        self._filter(MarketFilter(status="all"))
        self.post_message(Said("filters cleared to show this market"))

    def narrow(self, typed: str) -> None:
        """Search; what of it cannot be read is said, and the rest is in force."""
        self.line.say(search_of(typed).problem)
        self._filter(replace(self._wanted, typed=typed))

    def name_of(self, row: MarketView) -> str:
        """Its question."""
        return row.question

    def explained(self, row: MarketView | None) -> tuple[Explanation, ...]:
        """Price, change, volume."""
        return () if row is None else market_numbers(row, self.state, self.now)

    def step_out(self) -> bool:
        """As everywhere, and at last from the filters to the markets that are open."""
        if super().step_out():
            return True
        if self._wanted == MarketFilter():
            return False
        self._filter(MarketFilter())
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
            none = f"you hold nothing in this market: {cap('markets.buy')} buys"
            unread = f"whether you hold anything here is not known yet: {cap('app.refresh')} asks"
            heard = is_heard(self.state, Topic.POSITIONS)
            self.post_message(Said(none if heard else unread, "warn"))

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

    def action_next_venue(self) -> None:
        """Show what trades on the next venue, on none but sim, then all."""
        venues = venues_of(self.state.markets.values())
        if len(venues) == 1 and not self._wanted.venue:
            self.post_message(Said("the service does not say where its markets trade", "warn"))
            return
        self._filter(replace(self._wanted, venue=after(venues, self._wanted.venue)))

    def action_next_range(self) -> None:
        """Let the chart span the next range."""
        self._market.next_range()
        self.show_focus()

    @on(Choice.Asked, "#markets-chips")
    def _chip_clicked(self, event: Choice.Asked) -> None:
        event.stop()
        (
            self.table.focus,
            self.action_next_category,
            self.action_next_status,
            self.action_next_until,
            self.action_next_venue,
            self.action_toggle_held,
            self.action_toggle_starred,
        )[event.index]()

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
        self.show_focus()

    def _refill(self) -> None:
        """Hand the wanted markets to the table."""
        self._around = self._look_around()
        markets = self.state.markets
        rows = tuple(chosen(markets.values(), self._wanted, self._around))
        self.table.empty = why_empty(self.state, self._wanted)
        self.table.show(rows)
        chips = self._wanted.chips()
        total = counted(len(markets), heard=is_heard(self.state, Topic.MARKETS))
        words = (f"{len(rows):,} of {total}", *(chip.words for chip in chips))
        narrows = frozenset(place for place, chip in enumerate(chips, start=1) if chip.narrows)
        self._chips.show(words, None, strong=narrows)

    def show_focus(self) -> None:
        """Show the market under the cursor beside the list, where there is room."""
        market = self.table.highlighted()
        # Coming back, the list is painted first: the pane tells this market already, and goes on
        # with the tick that follows the paint.
        is_back = not self.size and market is not None and self._market.tells(market.market_id)
        if self.is_told and not is_back:
            self._market.show_market(market, self.state, self.now)
