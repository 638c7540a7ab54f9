"""Open orders of the wire as views."""

from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.translate import amount
from service_tui.wire.base import timestamp
from service_tui.wire.orders import OrderBody


def open_order_view(body: OrderBody) -> OpenOrderView:
    """One order that rests."""
    return OpenOrderView(
        order_id=body.order_id,
        trade_id=body.trade_id,
        market_id=body.market_id,
        question=body.question,
        side=body.side,
        action=body.trade_type,
        venue=body.venue,
        shares=amount(body.shares),
        filled=amount(body.shares_filled),
        price=body.price,
        money=amount(body.cost_usdc),
        created_at=timestamp(body.created_at),
        order_type=body.order_type,
        expires_at=None if body.expires_at is None else timestamp(body.expires_at),
        stop_pct=body.stop_loss_pct,
        target_pct=body.take_profit_pct,
    )
