"""Actions on markets: trade, star, price alert, and filters of the list."""

from dataclasses import replace
from typing import Final, TypeAlias

from service_tui.console.actions import NO_ROW, ScreenAction
from service_tui.console.forms.order_draft import sellable
from service_tui.console.freshness import is_heard
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
from service_tui.desk.slices.records import MarketView, Topic
from service_tui.terms import Action, Side

Markets: TypeAlias = TableScreen[MarketView]


# -- the market in focus ------------------------------------------------------------------------


def knows_holding(screen: Markets) -> str:
    """A market is highlighted, and its positions have loaded."""
    market = screen.selected()
    if market is None:
        return NO_ROW
    if is_heard(screen.state, Topic.POSITIONS) or sellable(screen.state, market.market_id):
        return ""
    return f"whether you hold anything here is not known yet: {cap('app.refresh')} asks"


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
    found = sellable(screen.state, market.market_id)
    if found is not None:
        side, venue = found
        open_ticket(screen, market, side, Action.SELL, venue)
    else:
        screen.say(f"you hold nothing in this market: {cap('markets.buy')} buys", "warn")


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


def _wanted(screen: Markets) -> MarketFilter:
    return screen.query_one(MarketChips).wanted


def _want(screen: Markets, wanted: MarketFilter) -> None:
    screen.query_one(MarketChips).wanted = wanted
    screen.filter_rows()


def next_category(screen: Markets) -> None:
    """Show the next category alone, then all of them."""
    wanted, categories = _wanted(screen), categories_of(screen.state.markets.values())
    _want(screen, replace(wanted, category=after(categories, wanted.category)))


def next_status(screen: Markets) -> None:
    """Show open, closed, resolved or all markets."""
    wanted = _wanted(screen)
    _want(screen, replace(wanted, status=after(STATUSES, wanted.status)))


def next_until(screen: Markets) -> None:
    """Show markets that end soon, or at any time."""
    wanted = _wanted(screen)
    _want(screen, replace(wanted, until=after(tuple(UNTIL_S), wanted.until)))


def next_venue(screen: Markets) -> None:
    """Show markets of the next venue, sim-only ones, then all."""
    wanted, venues = _wanted(screen), venues_of(screen.state.markets.values())
    if len(venues) == 1 and not wanted.venue:
        screen.say("the service does not say where its markets trade", "warn")
    else:
        _want(screen, replace(wanted, venue=after(venues, wanted.venue)))


def toggle_held(screen: Markets) -> None:
    """Show only markets with a position, or all."""
    wanted = _wanted(screen)
    _want(screen, replace(wanted, held=not wanted.held))


def toggle_starred(screen: Markets) -> None:
    """Show only starred markets, or all."""
    wanted = _wanted(screen)
    _want(screen, replace(wanted, starred=not wanted.starred))


ACTIONS: Final[tuple[ScreenAction[Markets], ...]] = (
    ScreenAction("markets.buy", buy, requires=(has_row, can_buy)),
    ScreenAction("markets.exit", sell, requires=(knows_holding, can_sell)),
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
