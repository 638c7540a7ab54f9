"""Checks the answer to an order: done, resting, refused, failed, or no proof at all.

An answer that contradicts the order or itself proves nothing: the order is then looked up. Source:
failures, rule 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.fixes import fix_of
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.orders import limit_text, price_text
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.preflight import HeldSide
from service_tui.desk.wire_values import amount
from service_tui.signing.orders import FEE_MAX_BPS
from service_tui.terms import (
    MONEY_OF,
    Action,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import ONE, SHARE_QUANTUM, Micros, decimal
from service_tui.wire.trades import TradeBody

CENT: Final = 10_000
"""Amounts come rounded, money to a cent. Source: wire reference, 3.3."""

BPS: Final = 10_000
"""ours: a fee that a service names may carry the cost above the amount, but by a tenth at most."""

SIGNED_GRAIN: Final = Micros(10_000)
"""A hundredth of a share: all that a signed order can count in. The service sells a smaller rest
together with it, as no order could. Source: decisions, "Remainders"."""

LOOKED_UP: Final = "being looked up; do not resend"

_HAPPENED: Final = frozenset({
    TradeStatus.FILLED,
    TradeStatus.PARTIALLY_FILLED,
    TradeStatus.CONFIRMED,
})
_ON_THE_BOOK: Final = {
    "matched": TradeStatus.FILLED,
    "live": TradeStatus.SUBMITTED,
    "delayed": TradeStatus.SUBMITTED,
}
"""State of a trade by the state of its order. Source: wire reference, 3.4."""


@dataclass(frozen=True, slots=True)
class ExecutionCheck:
    """End of an order, its text, and the fix."""

    state: TicketState
    outcome: str
    fix: Fix | str = ""


def check_execution(
    order: PlaceTrade, body: TradeBody, held: HeldSide | None = None
) -> ExecutionCheck:
    """The end of an order that its answer proves.

    `held` is the position before a sale, for its P&L; None where it is not known.
    """
    doubt = next(_doubts(order, body), "")
    if doubt:
        text = f"sent, answer inconsistent: {doubt}"
        return ExecutionCheck(TicketState.UNKNOWN, text, LOOKED_UP)
    advice = fix_of(body.error_code, body.fix or body.error_hint or "")
    if not body.success:
        return ExecutionCheck(TicketState.REFUSED, body.error or "refused without a reason", advice)
    if TradeStatus.FAILED in _states(body):
        text = f"accepted by the venue, then failed: {body.error or 'no reason given'}"
        return ExecutionCheck(TicketState.FAILED, text, advice)
    if TradeStatus.CANCELLED in _states(body) and not shares_of(body, order.action) > 0:
        return ExecutionCheck(TicketState.FAILED, "ended by the venue without a fill", advice)
    fix = Fix.LIST_ORDERS if order.rests and _is_live(body) else ""
    return ExecutionCheck(TicketState.DONE, _done_text(order, body, held), fix)


def names_trade(body: TradeBody) -> bool:
    """True if an answer names a trade, in flight or done.

    A refusal without an order is certain: nothing was executed. Source: failures,
    rule 1.
    """
    under_way = _states(body) & (_HAPPENED | {TradeStatus.SUBMITTED})
    figures = (body.shares, body.shares_bought, body.shares_sold, body.cost)
    return bool(body.trade_id or under_way or any(figures))


def quote_doubt(order: PlaceTrade, body: TradeBody) -> str:
    """Reason why a dry run is no quote of this order; empty if it is one."""
    if body.trade_id and not body.dry_run:
        return "quote answered with a trade number: it may have traded"
    doubts = chain(_other_order(order, body), _strayed(order, body))
    return next(doubts, "") if body.success else ""


def is_holding(key: str, trade: TradeView) -> bool:
    """True if a trade is of the position that an order named.

    An order that an older version wrote down names no venue: then market and side decide.

    Returns:
        True where market and side are those of the order, and so is the venue that it names.
    """
    venues = {trade.venue, Venue.SIM}
    return key in {position_key(trade.market_id, trade.side, venue) for venue in venues}


def mismatch_text(ticket: TicketView, trade: TradeView) -> str:
    """Differences between a trade that was found and its order; empty without any."""
    if ticket.holding and not is_holding(ticket.holding, trade):
        return f"trade of {trade.side.value.upper()} in {trade.market_id}, not ordered"
    if ticket.amount and not int(trade.cost) <= _most(ticket.amount, FEE_MAX_BPS):
        return f"cost above the {decimal(ticket.amount):,.2f} ordered"
    if ticket.shares and not trade.shares <= ticket.shares + grain(ticket.venue):
        return f"more than the {decimal(ticket.shares):,.2f} shares ordered"
    return ""


def _states(body: TradeBody) -> set[TradeStatus]:
    """The states that an answer names, of those that we know."""
    reported = (body.status, body.fill_status, _ON_THE_BOOK.get((body.order_status or "").lower()))
    return {state for state in reported if isinstance(state, TradeStatus)}


def _strange_state(body: TradeBody) -> str:
    """An unknown value of its state; empty if all are known."""
    reported = (body.fill_status, body.status)
    return next((word for word in reported if word and not isinstance(word, TradeStatus)), "")


def _has_shares(order: PlaceTrade, body: TradeBody) -> bool:
    """True if the answer has a figure of shares; a missing one is not zero."""
    own = "shares_bought" if order.action is Action.BUY else "shares_sold"
    return bool({"shares", own} & body.model_fields_set)


def _doubts(order: PlaceTrade, body: TradeBody) -> Iterator[str]:
    """Reasons why the answer proves nothing, the gravest first."""
    yield from _other_order(order, body)
    states, shares = _states(body), shares_of(body, order.action)
    if TradeStatus.FAILED in states:
        if shares > 0 or states & _HAPPENED:
            yield "both failed and filled"
    elif not body.success:
        if names_trade(body):
            yield "refused, yet a trade is named"
    else:
        if body.dry_run:
            yield "marked as a dry run"
        yield from _strayed(order, body)
        yield from _unfilled(order, body, states)


def _other_order(order: PlaceTrade, body: TradeBody) -> Iterator[str]:
    if body.market_id and body.market_id != order.market_id:
        yield f"another market, {body.market_id}"
    if body.side is not None and body.side is not order.side:
        yield f"side {body.side.value.upper()}, not {order.side.value.upper()}"


def _strayed(order: PlaceTrade, body: TradeBody) -> Iterator[str]:
    """Mismatches: where the answer exceeds the order."""
    cost, shares = amount(body.cost), amount(shares_of(body, order.action))
    buys = order.action is Action.BUY
    if (body.shares_sold if buys else body.shares_bought) > 0:
        yield f"shares were {'sold' if buys else 'bought'}, not ordered"
    if buys and not int(cost) <= _most(order.amount, body.fee_rate_bps):
        yield f"cost {body.cost:,.2f}, above the {decimal(order.amount):,.2f} ordered"
    if not buys and not shares <= order.shares + grain(order.venue):
        yield f"more than the {decimal(order.shares):,.2f} shares ordered sold"
    # A share pays 1 at most, so that no price is above it.
    if shares > 0 and not int(cost) <= _most(shares, body.fee_rate_bps):
        yield f"{body.cost:,.2f} for {decimal(shares):,.2f} shares exceeds their maximum payout"


def grain(venue: Venue) -> Micros:
    """By how much the shares of a sale may differ from those that its order could name."""
    return SIGNED_GRAIN if venue is Venue.EVM else SHARE_QUANTUM


def _most(size: Micros, fee_bps: int) -> float:
    """The most that may be paid for this size, with a fee that is named and a cent of rounding."""
    return size * (1 + min(fee_bps, FEE_MAX_BPS) / BPS) + CENT


def _unfilled(order: PlaceTrade, body: TradeBody, states: set[TradeStatus]) -> Iterator[str]:
    """Reasons to doubt a success without shares."""
    if TradeStatus.UNCONFIRMED in states and not states & _HAPPENED:
        yield "not confirmed by the venue"
    unfilled = {TradeStatus.SUBMITTED, TradeStatus.CANCELLED} & states
    if shares_of(body, order.action) > 0 or unfilled:
        return
    if _strange_state(body):
        yield f"state '{_strange_state(body)}' without shares"
    if _has_shares(order, body):
        yield "accepted, yet no shares filled"


def _is_live(body: TradeBody) -> bool:
    """True if a part of it rests on the book."""
    return (body.order_status or "").lower() == "live"


def _done_text(order: PlaceTrade, body: TradeBody, held: HeldSide | None) -> str:
    shares = shares_of(body, order.action)
    if shares <= 0 and TradeStatus.SUBMITTED not in _states(body):
        return "done; shares not reported"
    if order.rests and _is_live(body) and shares <= 0:
        return f"open at {limit_text(order.price or 0.0)}: nothing filled yet"
    if order.action is Action.SELL:
        text = sold_text(body, order.side, order.venue, held)
    else:
        text = filled_text(body, order.action, order.venue)
    if order.rests and _is_live(body):
        return f"{text}; the rest is open on the book"
    ordered = decimal(order.shares)
    if order.action is Action.SELL and 0 < shares < ordered - grain(order.venue) / ONE:
        return f"{text}; {ordered - shares:,.2f} not sold"
    return text


def shares_of(body: TradeBody, action: Action) -> float:
    """Shares bought or sold by an answer."""
    own = body.shares_bought if action is Action.BUY else body.shares_sold
    return own or body.shares


def filled_text(body: TradeBody, action: Action, venue: Venue = Venue.SIM) -> str:
    """The outcome of a trade in one sentence; on a real venue with its money and its fee."""
    shares = shares_of(body, action)
    state = body.fill_status or body.status or body.order_status
    if state is not None and shares <= 0:
        return f"{state}: no shares yet"
    average = body.cost / shares if shares > 0 else 0.0
    verb, tail = ("bought", "for") if action is Action.BUY else ("sold", "brought")
    after = f"; price now {price_text(body.new_price)}" if body.new_price else ""
    paid = f"{body.cost:,.2f} (average {price_text(average)})"
    if venue is not Venue.SIM:
        unit = MONEY_OF[venue]
        fee = amount(body.fee) if "fee" in body.model_fields_set else None
        fee_text = venue_fee_text(fee, action, venue)
        if fee is None and body.fee_rate_bps:
            fee_text = f"fee not reported, rate {body.fee_rate_bps / 100:g}%"
        paid = f"{body.cost:,.2f} {unit} (average {price_text(average)}), {fee_text}"
    return f"{verb} {shares:,.2f} shares, {tail} {paid}{after}"


def sold_text(body: TradeBody, side: Side, venue: Venue, held: HeldSide | None) -> str:
    """The outcome of a sale in one sentence, with its P&L where the position before is known."""
    shares = shares_of(body, Action.SELL)
    if shares <= 0:
        return filled_text(body, Action.SELL, venue)
    fee = amount(body.fee) if "fee" in body.model_fields_set else None
    text = f"sold {shares:,.2f} {side.value.upper()} at {price_text(body.cost / shares)} for "
    text += f"{body.cost:,.2f} {MONEY_OF[venue]}"
    is_fee_known = venue is Venue.SIM or fee is not None
    if held is not None and held.shares > 0 and is_fee_known:
        # What the fee takes off is no gain.
        net = amount(body.cost) - (fee or 0) * (venue is not Venue.SIM)
        sold = min(amount(shares), held.shares)
        pnl = decimal(Micros(net - held.cost * sold // held.shares))
        text += f", P&L {pnl:+,.2f}"
    if venue is not Venue.SIM:
        rate = f"fee not reported, rate {body.fee_rate_bps / 100:g}%"
        known = venue_fee_text(fee, Action.SELL, venue)
        text += f", {rate if fee is None and body.fee_rate_bps else known}"
    return text


def venue_fee_text(fee: Micros | None, action: Action, venue: Venue) -> str:
    """Text about a real venue's fee; a buy pays it on top, a sale receives less."""
    if fee is None:
        return "fee not reported"
    if fee <= 0:
        return "no fee"
    how = "on top" if action is Action.BUY else "taken off"
    return f"fee {decimal(fee):,.2f} {MONEY_OF[venue]} {how}"
