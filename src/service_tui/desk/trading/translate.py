"""Open orders of the wire as views."""

from service_tui.desk.fixes import fix_of
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.execution_check import shares_of
from service_tui.desk.wire_values import amount, amount_or_none
from service_tui.terms import (
    Action,
    TradeStatus,
)
from service_tui.units import Micros
from service_tui.wire.base import timestamp
from service_tui.wire.orders import OrderBody
from service_tui.wire.trades import CLIENT_REF, TradeBody, TradeRow


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
        stop_loss_pct=body.stop_loss_pct,
        take_profit_pct=body.take_profit_pct,
    )


def trade_view(row: TradeRow) -> TradeView:
    """One row of the trade history."""
    signal = row.signal_data or {}
    return TradeView(
        # A service may send only one of the two names. Source: wire reference, 3.5.
        trade_id=row.trade_id or row.id,
        market_id=row.market_id,
        question=row.market_question,
        side=row.side,
        action=row.action,
        shares=amount(row.shares),
        cost=amount(row.cost),
        average=row.avg_price,
        price_before=row.price_before,
        price_after=row.price_after,
        venue=row.venue,
        # A word that is not ours confirms nothing.
        status=row.status if isinstance(row.status, TradeStatus) else TradeStatus.UNCONFIRMED,
        reasoning=row.reasoning or "",
        source=row.source or "",
        at=timestamp(row.created_at),
        pnl=amount_or_none(row.pnl),
        # A missing field does not mean that there was none.
        fee=amount(row.fee) if "fee" in row.model_fields_set else None,
        client_ref=str(signal.get(CLIENT_REF, "")),
        skill_slug=row.skill_slug or "",
        signal_data=tuple(
            (name, str(value)) for name, value in signal.items() if name != CLIENT_REF
        ),
    )


def quote_view(request_id: int, body: TradeBody, action: Action, held: Micros) -> QuoteView:
    """View of a dry run. `held` are the side's shares, for the loss of a sale."""
    if not body.success:
        return QuoteView(
            request_id=request_id,
            ok=False,
            problem=body.error or "refused without a reason",
            fix=fix_of(body.error_code, body.fix or body.error_hint or ""),
        )
    shares = amount(shares_of(body, action))
    money, fee = amount(body.cost), amount(body.fee)
    rests = _rests_of(body, shares)
    reserved = amount(body.reserved) if rests else Micros(0)
    spent, brings = Micros(money + fee + reserved), Micros(money - fee)
    buys = action is Action.BUY
    return QuoteView(
        request_id=request_id,
        ok=True,
        shares=shares,
        money=money,
        average=body.avg_price if body.avg_price is not None else _ratio(money, shares),
        price_before=body.price_before,
        # A price that was left out is none, and not 0.
        price_after=body.new_price if "new_price" in body.model_fields_set else None,
        cash_after=amount_or_none(body.balance),
        max_loss=spent if buys else Micros(max(0, min(shares, held) - brings)),
        max_win=Micros(shares + rests - spent) if buys else brings,
        fee=fee,
        rests=rests,
        reserved=reserved,
        warning="; ".join(body.warnings),
    )


def _rests_of(body: TradeBody, shares: Micros) -> Micros:
    """The shares of an order that would stay on the book."""
    if (body.order_status or "").lower() != "live":
        return Micros(0)
    return Micros(max(0, amount(body.shares_requested) - shares))


def _ratio(money: Micros, shares: Micros) -> float | None:
    return money / shares if shares else None
