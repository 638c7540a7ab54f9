"""Answers of the desk's skill proxy, in the format of a service that has permissions. Pure.

It also decides which answers of the service prove that nothing was carried out.
"""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from pydantic import ValidationError

from service_tui.desk.agents.stored_leash import LeashRefusal, StoredLeash
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.supervision import PendingTradesSeen, PendingTradeView
from service_tui.desk.trading.execution_check import names_trade
from service_tui.terms import TradeStatus
from service_tui.units import Micros, decimal
from service_tui.wire.base import WireModel, moment
from service_tui.wire.endpoints.fleet import PENDING_TRADES
from service_tui.wire.fleet import HeldTradeBody, HeldTradesBody
from service_tui.wire.trades import TradeBody, TradeRequest

_NOTHING_DONE: Final = frozenset({400, 401, 402, 403, 404, 405, 413, 415, 422, 424, 426, 429})
"""Refusals after which nothing is under way. A proxy in between may send any other, 408, 409,
499 or 5xx, about an order that went through."""


AgainstReal = Callable[[PlaceTrade, Micros], Reason | None]
"""Objection to a buy for real money and its fix, given what skills spent today."""


def never_real(_: PlaceTrade, __: Micros) -> Reason:
    """Objection of a desk that trades no real money."""
    return Reason("this desk trades sim only", Fix.PLAY_MONEY_ONLY)


def approved_order(trade: PendingTradeView, order: ApproveTrade) -> PlaceTrade:
    """The order that an approval would send."""
    size = trade.amount if order.amount is None else order.amount
    return PlaceTrade(
        trade.market_id, trade.side, trade.action, trade.venue, size, confirmed=order.confirmed
    )


def bounded_price(trade: PendingTradeView, order: ApproveTrade) -> Mapping[str, float]:
    """The price limit with which an approved trade leaves; empty where its own is the stricter.

    ours: the service behind it has no average bound: its own `price` is the worst of each fill,
    # and so the average is no worse.

    Returns:
        The stricter of the person's bound and the order's own limit.
    """
    worst = order.worst_price(trade.action, trade.price_limit)
    return {} if worst is None or worst == trade.price_limit else {"price": worst}


def is_sure_no(status: int, answer: bytes) -> bool:
    """True if an answer proves that the order was not carried out.

    One that cannot be read proves nothing. Source: failures, rule 1.

    Returns:
        True if its money may be spent again, and it may be sent once more.
    """
    if status != HTTPStatus.OK:
        return status in _NOTHING_DONE
    try:
        body = TradeBody.model_validate_json(answer)
    except ValidationError:
        return False
    is_refusal = "success" in body.model_fields_set and not body.success
    return is_refusal and not names_trade(body)


def raw_of(body: WireModel) -> bytes:
    """A body as it leaves."""
    return body.model_dump_json().encode()


def refused(order: TradeRequest, no: LeashRefusal) -> bytes:
    """The answer to an order that the desk refuses."""
    return raw_of(
        TradeBody(
            success=False,
            market_id=order.market_id,
            side=order.side,
            error=no.text,
            error_code=no.code,
            fix=no.fix,
        )
    )


def submitted(order: TradeRequest, trade: PendingTradeView) -> bytes:
    """The answer to an order that waits."""
    until = moment(trade.expires_at).isoformat(timespec="seconds")
    message = f"pending approval until {until}: poll GET {PENDING_TRADES.path}"
    return raw_of(
        TradeBody(
            success=True,
            trade_id=trade.pending_id,
            market_id=order.market_id,
            side=order.side,
            status=TradeStatus.SUBMITTED,
            order_status=TradeStatus.SUBMITTED.value,
            fill_status=TradeStatus.SUBMITTED,
            warnings=(message,),
        )
    )


def pending_trade_body(leash: StoredLeash, *, everything: bool) -> bytes:
    """The trades of a leash that wait, or those that were decided too."""
    waiting = [one.view for one in leash.waiting.values()]
    rows = [*waiting, *(leash.decided if everything else ())]
    return raw_of(HeldTradesBody(held=tuple(_row(one) for one in rows), waiting_count=len(waiting)))


def pending_trades_seen(leashes: Sequence[StoredLeash]) -> PendingTradesSeen:
    """The same of all leashes, for the desk: what ends first, and what was decided last, leads."""
    trade = [one.view for leash in leashes for one in leash.waiting.values()]
    decided = [one for leash in leashes for one in leash.decided]
    return PendingTradesSeen(
        tuple(sorted(trade, key=lambda one: one.expires_at)),
        tuple(sorted(decided, key=lambda one: -(one.decided_at or 0.0))),
    )


def _row(trade: PendingTradeView) -> HeldTradeBody:
    return HeldTradeBody(
        held_id=trade.pending_id,
        agent_id=trade.agent_id,
        agent_name=trade.agent_name,
        status=trade.status,
        market_id=trade.market_id,
        venue=trade.venue,
        side=trade.side,
        action=trade.action,
        amount=decimal(trade.amount),
        reasoning=trade.reasoning,
        source=trade.source,
        skill_slug=trade.skill_slug,
        signal_data=dict(trade.signal_data),
        created_at=moment(trade.created_at),
        expires_at=moment(trade.expires_at),
        decided_at=None if trade.decided_at is None else moment(trade.decided_at),
        reason=trade.reason,
        trade_id=trade.trade_id,
    )
