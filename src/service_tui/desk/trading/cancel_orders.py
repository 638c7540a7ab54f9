"""Cancels open orders: on the operator's command, and before an exit sells.

A cancel takes risk away: it passes while halted, and one that is repeated finds nothing left to
cancel.
"""

from typing import Final

from service_tui.client.errors import NotFoundError, OutcomeUnknownError, ServiceError
from service_tui.desk.changes import Removed
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.execution_check import grain
from service_tui.desk.trading.order_signature import may_sign
from service_tui.desk.trading.translate import open_order_view
from service_tui.desk.wire_values import amount
from service_tui.signing.orders import SHARES_MIN
from service_tui.terms import MONEY_OF, TRADES_PAGE_MAX, Action, Side, Venue
from service_tui.units import Micros, decimal, sum_of
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, POSITIONS, TRADES
from service_tui.wire.positions import PositionBody, PositionsQuery
from service_tui.wire.trades import TradesQuery

GONE: Final = "no longer open: filled or ended"
TOPICS_AFTER_ORDER: Final = (Topic.POSITIONS, Topic.ACCOUNT, Topic.REDEMPTIONS, Topic.WALLET)
"""What an order that was met, or gave back what it kept, has changed."""

READ_ONLY: Final = "this desk is read-only: no cancellations"


async def cancel(command: CancelOrders, ports: Ports) -> None:
    """Cancel orders one by one, with a notice each; a missing one stops no other."""
    if ports.state().service.read_only:
        ports.emit(Noticed("warn", READ_ONLY))
        return
    texts = {order.order_id: order.describe() for order in ports.state().orders}
    for order_id in command.order_ids:
        tone, result = await cancel_order(order_id, ports)
        text = texts.get(order_id, command.what or order_id)
        ports.emit(Noticed(tone, f"cancel {text}: {result}"))
    for topic in (Topic.ORDERS, Topic.TRADES, *TOPICS_AFTER_ORDER):
        ports.refresh(topic)


async def cancel_order(order_id: str, ports: Ports) -> tuple[str, str]:
    """Cancel one order; tone and text of the result."""
    try:
        answer = (await ports.client.call(CANCEL_ORDER, path={"order_id": order_id})).answer
    except NotFoundError:
        return "warn", GONE
    except OutcomeUnknownError as error:
        return "bad", f"sent, no answer: {error}; refreshing the list"
    except (ServiceError, ValueError) as error:
        return "bad", str(error)
    if not answer.success:
        return "bad", answer.message or "refused without a reason"
    known = (order for order in ports.state().orders if order.order_id == order_id)
    unit = next((f" {MONEY_OF[order.venue]}" for order in known), "")
    ports.emit(Removed(OpenOrderView, order_id))
    back = decimal(amount(answer.returned_usdc))
    return "good", f"done, {back:,.2f}{unit} released" if back else "done"


async def withdraw(order_id: str, filled: Micros, ports: Ports) -> Reason | None:
    """Cancel an open order so that another can replace it.

    Args:
        order_id: the open order.
        filled: what was traded of it when the person decided.
        ports: the desk's.

    Returns:
        Why nothing may be placed in its stead: it was not surely cancelled, or more of it was
        traded meanwhile. None if it was cancelled as the person saw it.
    """
    known = next((one for one in ports.state().orders if one.order_id == order_id), None)
    if known is None:
        return Reason("The order to amend is no longer open", Fix.LIST_ORDERS)
    tone, result = await cancel_order(order_id, ports)
    for topic in (Topic.ORDERS, Topic.TRADES, *TOPICS_AFTER_ORDER):
        ports.refresh(topic)
    if tone != "good":
        return Reason(f"The order to amend was not cancelled: {result}", Fix.LIST_ORDERS)
    return await _filled_since(known, filled, ports)


async def _filled_since(known: OpenOrderView, filled: Micros, ports: Ports) -> Reason | None:
    """Why an order that was cancelled cannot be replaced as the person saw it."""
    try:
        query = TradesQuery(venue=known.venue, market_id=known.market_id, limit=TRADES_PAGE_MAX)
        reply = await ports.client.call(TRADES, query=query)
    except ServiceError as error:
        return Reason(f"Cancelled, but its fills cannot be read: {error}", Fix.ORDER_AGAIN)
    rows = (row for row in reply.answer.trades if row.id == known.trade_id)
    traded = next((amount(row.shares) for row in rows), None)
    if traded is None:
        return Reason("Cancelled, but its fills are not listed", Fix.ORDER_AGAIN)
    if traded != filled:
        more = decimal(Micros(traded - filled))
        return Reason(f"Cancelled, but {more:,.2f} more shares filled before", Fix.ORDER_AGAIN)
    return None


async def free_shares(holding: str, venue: Venue, ports: Ports) -> bool:
    """Cancel the open sales of a position, so that an exit can sell their shares.

    Nothing is cancelled for an exit that could not be signed. The open orders are read from the
    service, as a desk without a console keeps no list of them. A failed cancel is reported; the
    exit is tried all the same, and the venue decides.

    Returns:
        Whether any was open; what is held is then to be read anew.
    """
    # Play money has no book on which an order could rest.
    if venue is Venue.SIM or not may_sign(ports, venue):
        return False
    orders = await _open_now(ports)
    sales = [one for one in orders if (one.holding, one.action) == (holding, Action.SELL)]
    for order in sales:
        tone, result = await cancel_order(order.order_id, ports)
        ports.emit(Noticed(tone, f"cancel {order.describe()} for the sale: {result}"))
    return bool(sales)


async def _open_now(ports: Ports) -> tuple[OpenOrderView, ...]:
    """Open orders, read now; the last known ones if the service does not answer."""
    try:
        reply = await ports.client.call(OPEN_ORDERS)
    except NotFoundError:
        return ()
    except ServiceError as error:
        ports.emit(Noticed("warn", f"open orders unreadable before a sale: {error}"))
        return ports.state().orders
    if reply.dropped:
        text = f"before a sale: {reply.dropped} open orders unreadable, left as they are"
        ports.emit(Noticed("warn", text))
    return tuple(open_order_view(body) for body in reply.answer.orders)


async def held_now(market_id: str, side: Side, venue: Venue, ports: Ports) -> Micros | None:
    """Shares of a side, read now.

    Returns:
        Shares; None where the answer does not prove it.

    Raises:
        ServiceError: the service did not answer.
    """
    query = PositionsQuery(venue=venue, status="active")
    reply = await ports.client.call(POSITIONS, query=query)
    held = sum(
        _shares_of(body, side)
        for body in reply.answer.positions
        if body.market_id == market_id and body.venue == venue
    )
    return None if reply.dropped and not held else Micros(held)


def sellable(venue: Venue, shares: Micros) -> Micros:
    """The most of these shares that one order on the venue may sell; 0 below its least order."""
    quantum = grain(venue)
    least = SHARES_MIN if venue is Venue.EVM else quantum
    whole = shares // quantum * quantum
    return Micros(whole if whole >= least else 0)


def _shares_of(body: PositionBody, side: Side) -> Micros:
    """Shares of one side in a row."""
    if body.sides:
        return sum_of(amount(one.shares) for one in body.sides if one.side == side.value)
    return amount(body.shares_yes if side is Side.YES else body.shares_no)
