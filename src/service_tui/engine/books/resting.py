"""Open orders: filled by others, crossed by fresh quotes, cancelled, or expired.

Each step makes its events and applies them one by one; none of them can be refused.
"""

from collections.abc import Iterable
from typing import NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.book import Book, Resting, money_of
from service_tui.engine.books.venues import Times, Venues
from service_tui.engine.errors import OrderNotFound
from service_tui.engine.events import Event, OrderEnded, OrderFilled
from service_tui.terms import Action, OrderEnd
from service_tui.units import Micros


class Part(NamedTuple):
    """What a resting order gets: shares, its own money, and what came from a refresh's quotes."""

    shares: Micros
    money: Micros
    taken: tuple[tuple[Micros, Micros], ...] = ()


def meet(venues: Venues, order: Resting, part: Part, times: Times) -> list[Event]:
    """Fill a part of a resting order, and end it when nothing is left."""
    at, world_at = times
    book = venues.book(order.market_id)
    realized, mark = 0, 0.0
    if order.action is Action.BUY:
        mark = book.mark_of_buy(order.side, times)
    else:
        holding = venues.account(order.agent_id, order.venue).holdings[order.market_id]
        realized = part.money - holding.position.on(order.side).cost_of(part.shares)
    filled = OrderFilled(
        order.order_id,
        order.agent_id,
        order.market_id,
        part.shares,
        part.money,
        Micros(realized),
        at,
        world_at,
        book.quotes(world_at).number,
        part.taken,
        order.side,
        order.action,
        order.note.source,
        order.venue,
        order.note.skill_slug,
        mark,
    )
    venues.apply(filled)
    return [filled] if order.left else [filled, _end(venues, order, OrderEnd.FILLED, times)]


def _end(venues: Venues, order: Resting, reason: OrderEnd, times: Times) -> OrderEnded:
    """Take an order off its book; money that it kept goes back."""
    ended = OrderEnded(
        order.order_id,
        order.agent_id,
        order.market_id,
        reason,
        *times,
        order.shares,
        order.money,
        order.realized,
        order.reserved,
    )
    venues.apply(ended)
    return ended


# -- cancelling ----------------------------------------------------------------------------


def cancel(
    venues: Venues, agent: Agent, times: Times, *, order_id: str | None = None
) -> list[OrderEnded]:
    """Cancel one open order of an agent.

    Returns:
        Its end, already applied.

    Raises:
        OrderNotFound: the agent has no such open order.
    """
    found = [order for order in venues.orders(agent.agent_id) if order.order_id == order_id]
    if not found:
        raise OrderNotFound(f"order not found: {order_id}")
    return cancel_all(venues, found, times)


def cancel_all(venues: Venues, orders: Iterable[Resting], times: Times) -> list[OrderEnded]:
    """Cancel open orders, as many as there are; their ends are applied already."""
    return [_end(venues, order, OrderEnd.CANCELLED, times) for order in list(orders)]


# -- what falls due ------------------------------------------------------------------------


def end_due(venues: Venues, times: Times) -> list[OrderEnded]:
    """End the orders whose time is up, and those of markets that have closed."""
    at, world_at = times
    ended: list[OrderEnded] = []
    for book in _books_with_orders(venues):
        closed = world_at >= book.listing.resolves_at
        for order in list(book.orders.values()):
            if order.expires_at is not None and order.expires_at <= at:
                ended.append(_end(venues, order, OrderEnd.EXPIRED, times))
            elif closed:
                ended.append(_end(venues, order, OrderEnd.MARKET_CLOSED, times))
    return ended


def match_due(venues: Venues, times: Times) -> list[Event]:
    """Fill the resting orders that fresh quotes have crossed, best price first, then oldest."""
    events: list[Event] = []
    for book in _books_with_orders(venues):
        for bids in (True, False):
            standing = [offer.order for offer in book.offers(times, bids=bids)]
            for order in filter(None, standing):
                events += _cross(venues, book, order, times)
    return events


def _cross(venues: Venues, book: Book, order: Resting, times: Times) -> list[Event]:
    """Fill one resting order from the quotes that stand at its price or beyond."""
    bids, price = order.bids(), order.yes_price()
    left, taken = order.left, list[tuple[Micros, Micros]]()
    for level in book.levels(times[1], bids=not bids):
        beyond = level.price > price if bids else level.price < price
        if beyond or left <= 0:
            break
        shares = Micros(min(left, level.shares))
        taken.append((level.price, shares))
        left = Micros(left - shares)
    shares = Micros(order.left - left)
    if not shares:
        return []
    # Who comes to a resting order pays its price: rounding goes against who comes.
    money = money_of(shares, order.price, up=order.action is Action.SELL)
    return meet(venues, order, Part(shares, money, tuple(taken)), times)


def _books_with_orders(venues: Venues) -> list[Book]:
    """In an order that does not depend on who looked at which book first."""
    found = [book for book in venues.books.values() if book.orders]
    return sorted(found, key=lambda book: book.listing.market_id)
