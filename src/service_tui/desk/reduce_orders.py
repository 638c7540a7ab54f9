"""What is told of an order that rested, once it is met or gone.

Knows records. Must not know wire, network, time.
Used by desk.reduce at each reading of the open orders.
"""

from collections.abc import Iterator, Mapping

from service_tui.desk.facts import Noticed, OrdersSeen
from service_tui.desk.records import NoticeKind, TradeView
from service_tui.desk.records_orders import OpenOrderView, end_in_words
from service_tui.desk.state import DeskState
from service_tui.terms import TradeStatus
from service_tui.units import decimal


def listed(before: DeskState, fact: OrdersSeen) -> tuple[OpenOrderView, ...]:
    """What rests by a listing, less what was cancelled since it was asked for."""
    hidden = before.gone_orders - fact.gone
    orders = tuple(one for one in fact.orders if one.order_id not in hidden)
    if not fact.dropped:
        return orders
    # What is missing may be among the rows that cannot be read.
    read = {order.order_id for order in orders}
    return (*orders, *(order for order in before.orders if order.order_id not in read))


def still_gone(gone: frozenset[str], fact: OrdersSeen) -> frozenset[str]:
    """The cancelled orders that an older listing may yet name.

    One asked for since the cancel has the last word: what it still has does rest, whatever the
    cancel was answered.

    Returns:
        Ids of orders.
    """
    return gone if fact.dropped else gone - fact.gone


def news_of_orders(before: DeskState, after: tuple[OpenOrderView, ...]) -> Iterator[Noticed]:
    """One notice for each order that was met in part, and for each that is open no more."""
    now = {order.order_id: order for order in after}
    trades = {trade.trade_id: trade for trade in before.trades}
    for order in before.orders:
        still = now.get(order.order_id)
        if still is None:
            yield _ended(order, trades)
        elif still.filled > order.filled:
            got = f"{decimal(still.filled):,.2f} filled, {decimal(still.shares):,.2f} left"
            yield Noticed("good", f"{order.in_words()}: {got}", NoticeKind.FILL)


def _ended(order: OpenOrderView, trades: Mapping[str, TradeView]) -> Noticed:
    """How an order that rests no more has ended, as far as its trade says it."""
    trade = trades.get(order.trade_id)
    if trade is None or trade.status is TradeStatus.SUBMITTED:
        said = "it rests no more: the trades do not say yet how it ended"
        return Noticed("warn", f"{order.in_words()}: {said}", NoticeKind.FILL)
    if not trade.shares:
        return Noticed("warn", f"{order.in_words()}: it ended unfilled", NoticeKind.FILL)
    said = end_in_words(order, trade.shares, trade.cost)
    whole = trade.status in {TradeStatus.FILLED, TradeStatus.CONFIRMED}
    tail = "filled" if whole else "ended, the rest unfilled"
    tone = "good" if whole else "warn"
    return Noticed(tone, f"{order.in_words()}: {tail}: {said}", NoticeKind.FILL)
