"""Reads open orders, sums by venue, and the trades that show how an order ended."""

import logging

from service_tui.client.errors import NotFoundError
from service_tui.desk.facts import Fact, OrdersSeen
from service_tui.desk.feed.poller_memory import PollerMemory, Read
from service_tui.desk.ports import Ports
from service_tui.desk.reduce import listed
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.cancel_orders import TOPICS_AFTER_ORDER
from service_tui.desk.trading.handlers import recent_trades
from service_tui.desk.trading.translate import open_order_view
from service_tui.desk.wire_values import amount
from service_tui.terms import Venue
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.public import OPEN_ORDERS
from service_tui.wire.positions import PortfolioBody, PortfolioVenue


def venue_sums(body: PortfolioBody) -> tuple[VenueSumView, ...]:
    """A view of each real venue that the service reports; an unclaimed agent has none."""
    rows = ((Venue.EVM, body.polymarket), (Venue.SOL, body.kalshi))
    return tuple(_venue_sum(venue, row) for venue, row in rows if row is not None)


def _venue_sum(venue: Venue, row: PortfolioVenue) -> VenueSumView:
    return VenueSumView(
        venue=venue,
        cash=None if row.balance is None else amount(row.balance),
        reserved=amount(row.reserved),
        value=amount(row.total_exposure),
        positions=row.positions_count,
        pnl=None if row.pnl is None else amount(row.pnl),
        pnl_at=None if row.pnl_as_of is None else timestamp(row.pnl_as_of),
        trades=row.trades_count,
    )


log = logging.getLogger(__name__)


async def read_orders(ports: Ports, memory: PollerMemory) -> Read:
    """Open orders; also the newest trades if an order filled or ended since."""
    if memory.without_orders and not _may_rest(ports.state()):
        return [], None
    gone = ports.state().gone_orders
    try:
        reply = await ports.client.call(OPEN_ORDERS)
    except NotFoundError:
        if Topic.ORDERS in ports.state().seen or _may_rest(ports.state()):
            # It keeps open orders: that it does not find them now proves nothing about them.
            raise
        log.info("the service keeps no open orders")
        memory.without_orders = True
        return [OrdersSeen(())], None
    orders = tuple(open_order_view(body) for body in reply.answer.orders)
    seen = OrdersSeen(orders, reply.dropped, gone)
    before = ports.state()
    if not _moved(before.orders, listed(before, seen)):
        return [seen], reply.latency_s
    # The trades first: they show how an order that is gone has ended.
    traded, _ = await recent_trades(ports)
    for topic in TOPICS_AFTER_ORDER:
        ports.refresh(topic)
    facts: list[Fact] = [traded, seen]
    return facts, reply.latency_s


def _may_rest(state: DeskState) -> bool:
    """True if an order of ours may rest on a book."""
    return any(
        ticket.limit is not None and ticket.state is not TicketState.REFUSED
        for ticket in state.tickets
    )


def _moved(before: tuple[OpenOrderView, ...], after: tuple[OpenOrderView, ...]) -> bool:
    """True if an order filled further or is no longer listed."""
    filled = {order.order_id: order.filled for order in after}
    return any(filled.get(order.order_id) != order.filled for order in before)
