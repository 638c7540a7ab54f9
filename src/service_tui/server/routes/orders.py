"""Routes of orders on the simulated venues: place, list, cancel; and executable prices."""

from collections.abc import Sequence
from typing import Final

from service_tui.engine.books import orders
from service_tui.engine.books.orders import VenueOrder
from service_tui.engine.books.resting import cancel, cancel_all
from service_tui.engine.chain_events import OrderSigned
from service_tui.engine.errors import NoLiquidity, Refusal
from service_tui.engine.events import OrderEnded, OrderPlaced
from service_tui.server.chain_node.signed_orders import VerifiedOrder
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import with_remainder
from service_tui.server.projections.venues import order_body, placed_body, venue_quote_body
from service_tui.units import ONE, Micros, Timestamp, decimal, sum_of
from service_tui.wire.endpoints.public import (
    CANCEL_ALL_ORDERS,
    CANCEL_MARKET_ORDERS,
    CANCEL_ORDER,
    EXECUTABLE_PRICE,
    OPEN_ORDERS,
)
from service_tui.wire.orders import (
    CancelBody,
    CancelQuery,
    ExecutablePriceBody,
    ExecutablePriceQuery,
    OrdersBody,
)
from service_tui.wire.trades import TradeBody, TradeRequest


def venue_order(request: RequestContext, trade: TradeRequest, size: Micros) -> VenueOrder:
    """The order of a request, without its note, which the caller adds."""
    return VenueOrder(
        agent=request.agent,
        market_id=trade.market_id,
        side=trade.side,
        action=trade.action,
        size=size,
        venue=trade.venue,
        order_type=trade.order_type,
        price=None if trade.price is None else Micros(round(trade.price * ONE)),
        expires_at=None if trade.expiration is None else Timestamp(trade.expiration),
        unlimited=not request.service.limits,
    )


async def place_on_venue(
    request: RequestContext,
    order: VenueOrder,
    *,
    dry_run: bool = False,
    signed: VerifiedOrder | None = None,
) -> TradeBody:
    """Carry out an order on a simulated venue, or quote it.

    An order that was `signed` by an external wallet is accepted once. A sale that would leave a
    rest too small to be sold sells that rest as well.

    Returns:
        The order after its immediate fills, or the quote.

    Raises:
        Refusal: nothing changed.
        StorageError: the disk refused.
    """
    world, world_store = request.world, request.service.world_store
    times = (request.now, world.world_at)
    orders.open_book(world.venues, order.market_id, order.venue, times)
    size, order = order.size, orders.with_remainder(world.venues, order)
    remainder = Micros(order.size - size)
    if dry_run:
        body = venue_quote_body(world, order, orders.quote(world.venues, order, times))
        return with_remainder(body, remainder)
    world_store.check_whole()
    events = orders.place(world.venues, order, times)
    placed = events[0]
    if not isinstance(placed, OrderPlaced):
        raise TypeError("an order begins with its placing")
    if signed is not None:
        events += world.note(OrderSigned(order.agent.agent_id, request.now, signed.order_hash))
    body = placed_body(world, order, placed)
    return await request.commit(events, with_remainder(body, remainder))


async def list_open(request: RequestContext) -> OrdersBody:
    """Open orders of the agent, oldest first."""
    found = request.world.venues.orders(request.agent.agent_id)
    return OrdersBody(
        orders=tuple(order_body(request.world, order) for order in found), count=len(found)
    )


async def _cancelled(request: RequestContext, ended: Sequence[OrderEnded]) -> CancelBody:
    """Journal the ended orders, and return the answer about them."""
    await request.service.world_store.commit(ended)
    returned = sum_of(one.returned for one in ended)
    return CancelBody(
        success=True,
        cancelled=len(ended),
        cancelled_orders=tuple(one.order_id for one in ended),
        returned_usdc=decimal(returned),
        message=f"{len(ended)} cancelled",
    )


def _times(request: RequestContext) -> tuple[Timestamp, Timestamp]:
    """Wall time and world time; raises while the journal cannot be written."""
    request.service.world_store.check_whole()
    return request.now, request.world.world_at


async def cancel_one(request: RequestContext) -> CancelBody:
    """Cancel one open order of the agent."""
    order_id = request.path["order_id"]
    ended = cancel(request.world.venues, request.agent, _times(request), order_id=order_id)
    answer = await _cancelled(request, ended)
    return answer.model_copy(update={"order_id": order_id})


async def cancel_in_market(request: RequestContext) -> CancelBody:
    """Cancel the agent's open orders in a market, of one side or of both."""
    world = request.world
    market_id, side = request.path["market_id"], request.query_as(CancelQuery).side
    world.market(market_id)
    chosen = [
        order
        for order in world.venues.orders(request.agent.agent_id)
        if order.market_id == market_id and side in {None, order.side}
    ]
    return await _cancelled(request, cancel_all(world.venues, chosen, _times(request)))


async def cancel_everything(request: RequestContext) -> CancelBody:
    """Cancel all open orders of the agent."""
    venues = request.world.venues
    chosen = venues.orders(request.agent.agent_id)
    return await _cancelled(request, cancel_all(venues, chosen, _times(request)))


async def executable_price(request: RequestContext) -> ExecutablePriceBody:
    """The best price for a taker; `success` is false for a market without a book or offers."""
    world = request.world
    query = request.query_as(ExecutablePriceQuery)
    times = (request.now, world.world_at)
    market = world.market(request.path["market_id"])
    try:
        book = orders.open_book(world.venues, market.market_id, market.listing.home, times)
        price = orders.executable(book, query.side, query.action, times)
        if price is None:
            raise NoLiquidity("no liquidity: nothing stands on the other side")
    except Refusal as refusal:
        return ExecutablePriceBody(
            success=False, error=refusal.error, error_code=refusal.code, fix=refusal.fix
        )
    if query.apply_buffer:
        price = orders.buffered(book, price, query.action, times)
    return ExecutablePriceBody(success=True, price=price / ONE)


ROUTES: Final[Routes] = {
    OPEN_ORDERS: list_open,
    CANCEL_ORDER: cancel_one,
    CANCEL_MARKET_ORDERS: cancel_in_market,
    CANCEL_ALL_ORDERS: cancel_everything,
    EXECUTABLE_PRICE: executable_price,
}
