"""Actions on markets: trade, star, price alert, and filters of the list."""

from dataclasses import replace
from typing import Final, TypeAlias

from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.forms.order_draft import sellable
from service_tui.console.freshness import is_answered
from service_tui.console.keys import cap
from service_tui.console.parts.shared_actions import (
    can_buy,
    can_change,
    can_sell,
    has_row,
    open_price_alert,
    open_ticket,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.markets.chips import MarketChips
from service_tui.console.screens.markets.filter import (
    STATUSES,
    UNTIL_S,
    MarketFilter,
    after,
    categories_of,
    venues_of,
)
from service_tui.console.screens.markets.pane import MarketPane
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Action, Side

Markets: TypeAlias = TableScreen[MarketView]


# -- the market in focus ------------------------------------------------------------------------


def has_known_positions(screen: Markets) -> UnmetReason:
    """A market is highlighted, and its positions have loaded."""
    market = screen.selected()
    if market is None:
        return NO_ROW
    if is_answered(screen.state, Topic.POSITIONS) or sellable(screen.state, market.market_id):
        return ""
    return f"positions not loaded yet: {cap('app.refresh')} refreshes"


def buy(screen: Markets) -> None:
    """Open the ticket to buy in the highlighted market."""
    market = screen.row_in_focus()
    if market is not None:
        open_ticket(screen, market, None, Action.BUY)


def sell(screen: Markets) -> None:
    """Open the ticket to sell the position in the highlighted market."""
    market = screen.row_in_focus()
    if market is None:
        return
    result = sellable(screen.state, market.market_id)
    if result is not None:
        side, venue = result
        open_ticket(screen, market, side, Action.SELL, venue)
    else:
        screen.show_toast(f"no position in this market: {cap('markets.buy')} to buy", "warn")


def star(screen: Markets) -> None:
    """Star the highlighted market, or remove its star."""
    market = screen.row_in_focus()
    if market is not None:
        is_starred = market.market_id in screen.state.stars
        screen.give(SetStar(market.market_id, on=not is_starred))


def add_price_alert(screen: Markets) -> None:
    """Add a price alert on the highlighted market."""
    market = screen.row_in_focus()
    if market is not None:
        held = screen.state.held(market.market_id)
        open_price_alert(screen, market.market_id, held[0].side if held else Side.YES)


def next_range(screen: Markets) -> None:
    """Select the next span of the chart."""
    screen.query_one(MarketPane).next_range()
    screen.show_detail()


# -- filters of the list ------------------------------------------------------------------------


def _filter_of(screen: Markets) -> MarketFilter:
    return screen.query_one(MarketChips).filter_in_force


def _set_filter(screen: Markets, filter_in_force: MarketFilter) -> None:
    screen.query_one(MarketChips).filter_in_force = filter_in_force
    screen.filter_rows()


def next_category(screen: Markets) -> None:
    """Show the next category alone, then all of them."""
    filter_in_force, categories = _filter_of(screen), categories_of(screen.state.markets.values())
    _set_filter(
        screen, replace(filter_in_force, category=after(categories, filter_in_force.category))
    )


def next_status(screen: Markets) -> None:
    """Show open, closed, resolved or all markets."""
    filter_in_force = _filter_of(screen)
    _set_filter(screen, replace(filter_in_force, status=after(STATUSES, filter_in_force.status)))


def next_until(screen: Markets) -> None:
    """Show markets that end soon, or at any time."""
    filter_in_force = _filter_of(screen)
    _set_filter(
        screen, replace(filter_in_force, until=after(tuple(UNTIL_S), filter_in_force.until))
    )


def next_venue(screen: Markets) -> None:
    """Show markets of the next venue, sim-only ones, then all."""
    filter_in_force, venues = _filter_of(screen), venues_of(screen.state.markets.values())
    if len(venues) == 1 and not filter_in_force.venue:
        screen.show_toast("no venue data for these markets", "warn")
    else:
        _set_filter(screen, replace(filter_in_force, venue=after(venues, filter_in_force.venue)))


def toggle_held(screen: Markets) -> None:
    """Show only markets with a position, or all."""
    filter_in_force = _filter_of(screen)
    _set_filter(screen, replace(filter_in_force, held=not filter_in_force.held))


def toggle_starred(screen: Markets) -> None:
    """Show only starred markets, or all."""
    filter_in_force = _filter_of(screen)
    _set_filter(screen, replace(filter_in_force, starred=not filter_in_force.starred))


ACTIONS: Final[tuple[ScreenAction[Markets], ...]] = (
    ScreenAction("markets.buy", buy, requires=(has_row, can_buy)),
    ScreenAction("markets.exit", sell, requires=(has_known_positions, can_sell)),
    ScreenAction("markets.star", star, requires=(has_row,)),
    ScreenAction("markets.category", next_category),
    ScreenAction("markets.status", next_status),
    ScreenAction("markets.until", next_until),
    ScreenAction("markets.held", toggle_held),
    ScreenAction("markets.starred", toggle_starred),
    ScreenAction("markets.venue", next_venue),
    ScreenAction("markets.range", next_range),
    ScreenAction("markets.alert", add_price_alert, requires=(has_row, can_change)),
)
