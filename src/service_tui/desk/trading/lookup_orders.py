"""Looking for an order of unknown end among those that rest on a book.

An open order carries no reference of ours, so it must be like the one that was sent in everything,
younger than it, and the only one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.client.errors import NotFoundError
from service_tui.desk.ports import Ports
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.records import TicketState, TicketView, Topic
from service_tui.desk.trading.translate import open_order_view
from service_tui.terms import Action
from service_tui.units import SHARE_QUANTUM
from service_tui.wire.endpoints.public import OPEN_ORDERS

ROUNDED: Final = 20_000
"""Micros that a venue's rounding may take off what was asked for."""

EARLIER_S: Final = 30.0
"""ours: how much older than its order an entry of the book may be, by clocks that nearly agree."""

_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class BookSearch:
    """What the books said of an order: it is there, or why it may be all the same; or neither."""

    order: OpenOrderView | None = None
    doubt: str = ""


async def look_at_books(tickets: Sequence[TicketView], ports: Ports) -> dict[str, BookSearch]:
    """What the open orders say of each ticket that was to rest.

    Returns:
        By the ticket's id; nothing of others, or where the service keeps no open orders.

    Raises:
        ServiceError: the service did not answer.
    """
    wanted = [ticket for ticket in tickets if ticket.limit is not None]
    if not wanted:
        return {}
    try:
        reply = await ports.client.call(OPEN_ORDERS)
    except NotFoundError:
        return {}
    orders = tuple(open_order_view(body) for body in reply.answer.orders)
    # Not told from here: what was met or has ended is told with its trades, by the list's reading.
    ports.poke(Topic.ORDERS)
    unread = "some open orders cannot be read" if reply.dropped else ""
    return {ticket.ticket_id: _found(ticket, orders, ports, unread) for ticket in wanted}


def _found(
    ticket: TicketView, orders: Sequence[OpenOrderView], ports: Ports, unread: str
) -> BookSearch:
    begun, skew_s = (ticket.sent_at or ticket.opened_at) - EARLIER_S, ports.client.skew_s
    like = [order for order in orders if _is_like(ticket, order)]
    if skew_s is not None:
        like = [order for order in like if order.created_at >= begun - skew_s]
    if not like:
        return BookSearch(doubt=unread)
    # What came to rest did so before its ticket's end was known, and maybe long after it was given.
    rivals = [
        one
        for one in ports.state().tickets
        if _is_twin(ticket, one) and (one.in_flight or (one.settled_at or begun) >= begun)
    ]
    if len(like) > 1 or rivals or skew_s is None or unread:
        return BookSearch(doubt="an order like it rests, and may be another one")
    return BookSearch(like[0])


def _is_like(ticket: TicketView, order: OpenOrderView) -> bool:
    """Whether an open order may be this ticket's: same holding, way, limit and size."""
    action = Action.BUY if ticket.amount else Action.SELL
    limit = ticket.limit or 0.0
    if (order.holding, order.action) != (ticket.holding, action) or (
        not abs(order.price - limit) < _SAME
    ):
        return False
    whole = order.shares + order.filled
    if action is Action.SELL:
        return ticket.shares - ROUNDED <= whole <= ticket.shares + SHARE_QUANTUM
    return order.shares * limit <= int(ticket.amount + ROUNDED) and (
        whole * limit >= int(ticket.amount - ROUNDED)
    )


def _is_twin(ticket: TicketView, other: TicketView) -> bool:
    """Whether another order of this desk would rest as the same entry of the book."""
    return (
        other.ticket_id != ticket.ticket_id
        and other.state is not TicketState.REFUSED
        and (other.holding, other.limit) == (ticket.holding, ticket.limit)
        and (other.amount, other.shares) == (ticket.amount, ticket.shares)
    )
