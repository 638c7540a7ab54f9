"""Orders that rest on the book of a real venue, as an operator sees them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service_tui.desk.slices.position_key import position_key
from service_tui.terms import MONEY_OF, ORDER_SHARES_MIN, Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal, sum_of

SHARES_MIN: Final[dict[Venue, Micros]] = {Venue.EVM: Micros(ORDER_SHARES_MIN * ONE)}
"""Least shares of one order, where a venue has such a floor. Source: spec, "Limits"."""


FOUR_BELOW: Final = 0.01
"""So near to 0 or 1 a price has four decimals. Source: ux, "Numbers"."""


@dataclass(frozen=True, slots=True)
class OpenOrderView:
    """An order that rests. `shares` is what is left of it, `filled` what was traded of it so far.

    `price` is its limit, of its own side. `money` is what the rest of a buy still keeps, or what
    the rest of a sale asks for. `expires_at` is None where it rests until it is cancelled.
    `stop_loss_pct` and `take_profit_pct` are the monitor that a buy sets when it fills, as
    fractions of the average cost.
    """

    order_id: str
    trade_id: str
    market_id: str
    question: str
    side: Side
    action: Action
    venue: Venue
    shares: Micros
    filled: Micros
    price: float
    money: Micros
    created_at: Timestamp
    order_type: OrderType = OrderType.GTC
    expires_at: Timestamp | None = None
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None

    @property
    def key(self) -> str:
        """Identity of the row."""
        return self.order_id

    @property
    def holding(self) -> str:
        """Row key of the position that it adds to or takes from."""
        return position_key(self.market_id, self.side, self.venue)

    def describe(self) -> str:
        """Describe the order with its venue, in plain English."""
        size = f"{decimal(self.shares):,.2f} {self.side.value.upper()}"
        return f"{self.action.value} {size} at {limit_text(self.price)} on {self.venue.value}"


def limit_text(price: float) -> str:
    """A limit to as many decimals as it has: two at least, six at most."""
    whole, _, part = f"{price:.6f}".partition(".")
    return f"{whole}.{part.rstrip('0'):0<2}"


def price_text(price: float) -> str:
    """A probability to three decimals, to four near its ends: 0.9995 is not 1."""
    near_end = 0 < price < FOUR_BELOW or 1 - FOUR_BELOW < price < 1
    return f"{price:.4f}" if near_end else f"{price:.3f}"


def moment_text(at: Timestamp) -> str:
    """A moment to the minute, with its day, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%d %b %H:%M} UTC"


def kept_by_buys(orders: Iterable[OpenOrderView], venue: Venue) -> Micros:
    """Money that open buys on a venue keep; the wallet shows it until they are met."""
    buys = (one.money for one in orders if one.venue is venue and one.action is Action.BUY)
    return sum_of(buys)


def kept_by_sales(orders: Iterable[OpenOrderView], holding: str) -> Micros:
    """Shares of a position that open sales reserve."""
    sales = (one.shares for one in orders if one.action is Action.SELL and one.holding == holding)
    return sum_of(sales)


def end_text(order: OpenOrderView, shares: Micros, cost: Micros) -> str:
    """Text about the traded part of an order that no longer rests."""
    verb = "bought" if order.action is Action.BUY else "sold"
    unit = MONEY_OF[order.venue]
    return f"{verb} {decimal(shares):,.2f} shares for {decimal(cost):,.2f} {unit}"
