"""The proceeds of selling a whole side now, with which targets are compared."""

from service_tui.engine.books.book import TakeRequest, walk
from service_tui.engine.books.liquidity import fee_rate_bps
from service_tui.engine.books.venues import Times
from service_tui.engine.risk.monitors import Monitor, MonitoredSide, Prices, prices_at
from service_tui.engine.world import World
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros


def exit_value(world: World, watched: MonitoredSide, times: Times) -> Micros:
    """The proceeds of selling all of it now, after the fee, limited by the book's depth."""
    shares = world.risk.position_of(watched).shares
    if watched.venue is Venue.SIM:
        return world.markets[watched.market_id].exit_value(watched.side, shares)
    market = world.markets.get(watched.market_id)
    if market is None or market.status(times[1]) is not MarketStatus.ACTIVE:
        return Micros(0)
    book = world.venues.book(watched.market_id)
    offers = [
        one
        for one in book.offers(times, bids=watched.side is Side.YES)
        if one.order is None or one.order.agent_id != watched.agent_id
    ]
    sale = TakeRequest(watched.agent_id, watched.side, Action.SELL, None, None, shares)
    found = walk(offers, sale, fee_rate_bps(book.listing))
    return Micros(max(0, found.money - found.fee))


def met_at(world: World, monitor: Monitor, times: Times) -> float | None:
    """The exit value a share, where it has reached a monitor's target; else None."""
    # Source: decisions, "Stop and target prices".
    target, shares = monitor.target_price(), world.risk.position_of(monitor.watched).shares
    if target is None or not shares:
        return None
    price = exit_value(world, monitor.watched, times) / shares
    return price if price > 0.0 and price >= target else None


def mark_of(world: World, venue: Venue, market_id: str, times: Times) -> float:
    """The mark of YES for any market that is not resolved yet: spot on sim, else the mid."""
    # Source: decisions, "Stop and target prices".
    if venue is Venue.SIM:
        return world.markets[market_id].price()
    return world.venues.book(market_id).mid(times)


def prices_of(world: World, venue: Venue, market_id: str, times: Times) -> Prices | None:
    """The prices that monitors of a market go by; None where nothing can be sold any more."""
    market = world.markets.get(market_id)
    if market is None or market.status(times[1]) is not MarketStatus.ACTIVE:
        return None
    if venue is Venue.SIM:
        return prices_at(market.price())
    return book_prices(world, market_id, times)


def book_prices(world: World, market_id: str, times: Times) -> Prices:
    """The middle of a book, and the best price at which each side is sold; 0 without one."""
    book = world.venues.book(market_id)
    bid, ask = book.tops(times)
    yes = 0.0 if bid is None else bid.price / ONE
    no = 0.0 if ask is None else (ONE - ask.price) / ONE
    return Prices(book.mid_of(bid, ask, times), yes, no)
