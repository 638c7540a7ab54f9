"""Open orders and executable prices on the wire. Source: wire reference, 2.2 and 2.3."""

from service_tui.terms import Action, OrderType, Side
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Line,
    Moment,
    Money,
    Price,
    Prose,
    WireModel,
)
from service_tui.wire.monitors import StopFraction, TakeFraction


class OrderBody(WireModel):
    """An order that rests on a book. `shares` is what is left of it."""

    order_id: Line
    trade_id: Line
    market_id: Line
    question: Line = ""
    side: Side
    trade_type: Action
    shares: Amount
    price: Price
    # Money that the rest of a buy keeps; what the rest of a sale asks for.
    cost_usdc: Money
    venue: AnyVenue
    source: Line | None = None
    created_at: Moment
    condition_id: Line | None = None
    token_id_yes: Line | None = None
    token_id_no: Line | None = None
    # ours: what the published record leaves out: type, expiration, what was filled so far, and the
    # thresholds of the monitor that a buy sets when it fills.
    order_type: OrderType = OrderType.GTC
    expires_at: Moment | None = None
    shares_filled: Amount = 0.0
    stop_loss_pct: StopFraction | None = None
    take_profit_pct: TakeFraction | None = None
    simulated: bool = False


class OrdersBody(WireModel):
    """All open orders of the caller, oldest first."""

    orders: tuple[OrderBody, ...]
    count: Count


class CancelQuery(WireModel):
    """Which side of a market; both without it."""

    side: Side | None = None


class CancelBody(WireModel):
    """What was cancelled; `order_id` where one was requested."""

    success: bool
    order_id: Line | None = None
    cancelled: Count = 0
    cancelled_orders: tuple[Line, ...] = ()
    # ours: money that came back from open buys, in the venues' play money.
    returned_usdc: Amount = 0.0
    message: Line = ""
    simulated: bool = True


class ExecutablePriceQuery(WireModel):
    """What would be traded; `apply_buffer` makes the price a tick worse, so that it fills."""

    side: Side
    action: Action
    apply_buffer: bool = False


class ExecutablePriceBody(WireModel):
    """The best price of the side's token for who takes; 0 where there is none."""

    success: bool
    price: Price = 0.0
    error: Line | None = None
    error_code: Line | None = None
    fix: Prose | None = None
    simulated: bool = True
