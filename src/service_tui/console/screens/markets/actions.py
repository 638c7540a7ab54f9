"""Actions on markets: trade, star, price alert, and filters of the list."""

from dataclasses import replace
from typing import Final, TypeAlias

from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.book import BookPlace
from service_tui.console.forms.order_draft import sellable
from service_tui.console.freshness import is_answered
from service_tui.console.keys import cap
from service_tui.console.parts.shared_actions import (
    LimitAt,
    can_buy,
    can_change,
    can_note,
    can_sell,
    has_row,
    has_rows,
    mark,
    mark_all,
    open_note,
    open_price_alert,
    open_ticket,
    open_ticket_at,
)
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.reasons import reason_text
from service_tui.console.saved import watchlists_of
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
from service_tui.desk.slices.orders import limit_text
from service_tui.desk.slices.own_notes import Noted, NoteOn
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.preflight import why_no_rest
from service_tui.terms import Action, Side, Venue

Markets: TypeAlias = TableScreen[MarketView]

NO_BOOK: Final = "no order book here: only markets of real venues have one"


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
    """Open the ticket to buy in the highlighted market, at the highlighted price of its book."""
    market = screen.row_in_focus()
    if market is None:
        return
    place = _place(screen)
    if place is None:
        open_ticket(screen, market, None, Action.BUY)
    else:
        _order_at(screen, market, place)


def has_book(screen: Markets) -> UnmetReason:
    """The book of the highlighted market is shown."""
    if screen.selected() is None:
        return NO_ROW
    return "" if screen.query_one(MarketPane).has_book else NO_BOOK


def book_up(screen: Markets) -> None:
    """Highlight the next higher price of the book."""
    _move_place(screen, -1)


def book_down(screen: Markets) -> None:
    """Highlight the next lower price of the book."""
    _move_place(screen, 1)


def _move_place(screen: Markets, by: int) -> None:
    screen.query_one(MarketPane).move_place(by)
    screen.show_detail()


def _place(screen: Markets) -> BookPlace | None:
    """The highlighted price of the book, where one is."""
    return screen.query_one(MarketPane).place


def _order_at(
    screen: Markets, market: MarketView, place: BookPlace, held: Side | None = None
) -> None:
    """Open the ticket with the highlighted price of YES, or that of NO, as its limit.

    A purchase of YES, or a sale of what is held.
    """
    venue = next(venue for venue in market.venues if venue is not Venue.SIM)
    why = why_no_rest(screen.state, venue)
    if screen.query_one(MarketPane).is_place_gone:
        screen.show_toast(f"{place.name} {limit_text(place.price)} has left the book", "warn")
    elif why is not None:
        screen.show_toast(reason_text(why), "warn")
    else:
        side, action = held or Side.YES, Action.BUY if held is None else Action.SELL
        price = place.price if side is Side.YES else 1.0 - place.price
        open_ticket_at(screen, market, LimitAt(side, action, venue, price))


def sell(screen: Markets) -> None:
    """Open the ticket to sell the position in the highlighted market."""
    market = screen.row_in_focus()
    if market is None:
        return
    place = _place(screen)
    if place is not None:
        _sell_at(screen, market, place)
        return
    result = sellable(screen.state, market.market_id)
    if result is not None:
        side, venue = result
        open_ticket(screen, market, side, Action.SELL, venue)
    else:
        screen.show_toast(f"no position in this market: {cap('markets.buy')} to buy", "warn")


def _sell_at(screen: Markets, market: MarketView, place: BookPlace) -> None:
    """Open the ticket to sell the position on the market's real venue, at this price."""
    held = (one for one in screen.state.on_venues if one.market_id == market.market_id)
    side = next((one.side for one in held if not one.is_closed), None)
    if side is None:
        screen.show_toast("nothing held on the venue of this book", "warn")
    else:
        _order_at(screen, market, place, side)


def star(screen: Markets) -> None:
    """Star the highlighted market or the marked ones; once all have a star, remove the stars."""
    markets = screen.table.selected_or_marked()
    unstarred = [one for one in markets if one.market_id not in screen.state.stars]
    for market in unstarred or markets:
        screen.give(SetStar(market.market_id, on=bool(unstarred)))
    if not markets:
        screen.row_in_focus()


def add_price_alert(screen: Markets) -> None:
    """Add a price alert on the highlighted market."""
    market = screen.row_in_focus()
    if market is not None:
        held = screen.state.held(market.market_id)
        open_price_alert(screen, market.market_id, held[0].side if held else Side.YES)


def write_note(screen: Markets) -> None:
    """Write a note on the highlighted market."""
    market = screen.row_in_focus()
    if market is not None:
        market_id = market.market_id
        open_note(screen, Noted(NoteOn.MARKET, market_id, market.question, market_id))


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


def next_starred(screen: Markets) -> None:
    """Show only starred markets, then those of each watchlist, then all."""
    filter_in_force = _filter_of(screen)
    names = tuple(one.name for one in watchlists_of(screen.state.preferences))
    if filter_in_force.listed:
        is_last = filter_in_force.listed not in names[:-1]
        listed = "" if is_last else after(names, filter_in_force.listed)
        _set_filter(screen, replace(filter_in_force, listed=listed, starred=False))
    elif filter_in_force.starred:
        listed = next(iter(names), "")
        _set_filter(screen, replace(filter_in_force, listed=listed, starred=False))
    else:
        _set_filter(screen, replace(filter_in_force, starred=True))


def show_lists(screen: Markets) -> None:
    """List the watchlists: put the highlighted or marked markets in, show one, make one."""
    from service_tui.console.screens.markets.watchlists import (  # noqa: PLC0415 - not at first
        Watchlists,
    )

    markets = screen.table.selected_or_marked()
    dialog = Watchlists(screen.state, screen.now, markets)
    screen.open_dialog(dialog, lambda name: show_list(screen, name))


def show_event(screen: Markets) -> None:
    """Show the outcomes of the highlighted market's event together, and related markets."""
    from service_tui.console.screens.markets.event_page import (  # noqa: PLC0415 - not at first
        EventPage,
    )

    market = screen.row_in_focus()
    if market is not None:
        dialog = EventPage(screen.state, screen.now, market)
        screen.open_dialog(dialog, screen.focus_row)


def show_list(screen: Markets, name: str) -> None:
    """Show the markets of a watchlist alone, whatever their state."""
    _set_filter(screen, MarketFilter(status="all", listed=name))


ACTIONS: Final[tuple[ScreenAction[Markets], ...]] = (
    ScreenAction("markets.buy", buy, requires=(has_row, can_buy)),
    ScreenAction("markets.exit", sell, requires=(has_known_positions, can_sell)),
    ScreenAction("markets.star", star, requires=(has_rows,)),
    ScreenAction("markets.mark", mark, requires=(has_row,)),
    ScreenAction("markets.mark_all", mark_all),
    ScreenAction("markets.category", next_category),
    ScreenAction("markets.status", next_status),
    ScreenAction("markets.until", next_until),
    ScreenAction("markets.held", toggle_held),
    ScreenAction("markets.starred", next_starred),
    ScreenAction("markets.lists", show_lists),
    ScreenAction("markets.venue", next_venue),
    ScreenAction("markets.event", show_event, requires=(has_row,)),
    ScreenAction("markets.range", next_range),
    ScreenAction("markets.book_up", book_up, requires=(has_book,)),
    ScreenAction("markets.book_down", book_down, requires=(has_book,)),
    ScreenAction("markets.alert", add_price_alert, requires=(has_row, can_change)),
    ScreenAction("markets.note", write_note, requires=(has_row, can_note)),
)
