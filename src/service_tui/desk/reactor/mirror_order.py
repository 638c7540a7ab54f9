"""The order that a signal proposes, and why it is not placed. Pure.

Source: decisions, "Reactor sizing"; wire reference, 8.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from service_tui.desk.buy_limits import day_began
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reactor.translate import CENT
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.reactor import (
    MIRROR,
    MIRROR_SKILL,
    SignalView,
    mirror_shares,
    to_spend,
)
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import Budget
from service_tui.terms import Action
from service_tui.units import Micros, Timestamp, decimal, sum_of
from service_tui.wire.reactor import Decision, ReactionRequest
from service_tui.wire.trades import CLIENT_REF, TradeRequest

SOURCE: Final = "desk:reactor"
TX_KEY: Final = "tx_hash"
ID_KEY: Final = "signal_id"
BUY: Final = "BUY"

SLACK: Final = 0.0005
"""ours: how far above its limit a fill may be, because reported prices are rounded."""

_NEVER_SPENT: Final = frozenset({TicketState.REFUSED, TicketState.FAILED})


def ticket_id_of(signal: SignalView) -> str:
    """Name of a mirror, the same for ever: of its row, its order and its idempotency key."""
    return f"{MIRROR}-{hashlib.sha256(signal.signal_id.encode()).hexdigest()[:32]}"


def once_of(signal: SignalView) -> str:
    """The key that is taken before a mirror is sent, once for ever."""
    return f"{MIRROR}:{signal.signal_id}"


def order_of(signal: SignalView) -> PlaceTrade:
    """The buy that mirrors a signal; its bound travels in the request."""
    return PlaceTrade(
        market_id=signal.market_id,
        side=signal.side,
        action=Action.BUY,
        venue=signal.venue,
        amount=signal.amount,
        reasoning=f"mirror of {signal.label or signal.wallet}",
        question=signal.question,
    )


def ticket_of_mirror(signal: SignalView, now: Timestamp) -> TicketView:
    """The row of a mirror before it is sent."""
    order, name = order_of(signal), ticket_id_of(signal)
    return TicketView(
        ticket_id=name,
        kind=MIRROR,
        market_id=signal.market_id,
        what=f"mirror {signal.label or signal.wallet[:8]}: {order.describe()}",
        state=TicketState.QUEUED,
        opened_at=now,
        client_ref=name,
        amount=signal.amount,
        question=signal.question,
        holding=order.holding,
        venue=order.venue,
    )


def request_of_mirror(signal: SignalView) -> TradeRequest:
    """Trade request of a mirror, at most `price_max` a share.

    Returns:
        The request.

    Raises:
        ValueError: the service named something that cannot stand in an order.
    """
    data: dict[str, str | float | int] = {
        "signal_source": MIRROR_SKILL,
        TX_KEY: signal.tx_hash,
        "whale_wallet": signal.wallet,
        "whale_side": BUY,
        "whale_size": decimal(signal.size),
        "whale_price": signal.price,
        CLIENT_REF: ticket_id_of(signal),
    }
    if signal.name and signal.name != signal.tx_hash:
        data[ID_KEY] = signal.name
    order = order_of(signal)
    return TradeRequest(
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        amount=decimal(order.amount),
        venue=order.venue,
        price=signal.price_max,
        reasoning=order.reasoning,
        source=SOURCE,
        skill_slug=MIRROR_SKILL,
        signal_data=data,
    )


def excesses(state: DeskState, filled: SignalView) -> Iterator[str]:
    """What a mirror's fill has beyond the limits of its config.

    Yields:
        A sentence each.
    """
    paid, config = filled.fill_price, state.reactor.config
    if paid is not None and not paid <= filled.price_max + SLACK:
        yield f"paid {paid:.4f} per share, above the limit of {filled.price_max:.4f}"
    if config is not None:
        most = mirror_shares(filled.size, config)
        if not filled.shares <= most:
            bought = decimal(filled.shares)
            yield f"bought {bought:,} shares, above the limit of {decimal(most):,}"


def reaction_of(signal: SignalView, decision: Decision, trade_id: str = "") -> ReactionRequest:
    """Reaction body that reports a signal's end to the service."""
    return ReactionRequest(
        event_tx_hash=signal.tx_hash,
        decision=decision,
        taker_wallet=signal.wallet,
        taker_side=BUY,
        taker_price=signal.price,
        taker_size=decimal(signal.size),
        market_title=signal.question or None,
        outcome=signal.side.value.capitalize(),
        trade_id=trade_id or None,
        reason=signal.detail or None,
        signal_id=signal.name or signal.tx_hash,
    )


def cap_of(state: DeskState, now: Timestamp) -> Budget | None:
    """The day's cap of the config, as this desk itself counts what its mirrors spend."""
    config = state.reactor.config
    if config is None:
        return None
    return Budget(day_began(state, now), int(config.daily_cap), MIRROR)


def cut_to_shares(state: DeskState, signal: SignalView) -> SignalView:
    """Cut a signal to what its shares cost now, where they have become cheaper than the source's.

    The embedded service bounds the shares itself, at the fill. Any other is told money alone.

    Returns:
        The signal; it stays as it is where the price is unknown or not below the source's.
    """
    config, now = state.reactor.config, signal.price_now
    if config is None or now is None or state.service.embedded or not now < signal.price:
        return signal
    # ours: the price seen last; what it falls after that, no order by money can know.
    return replace(signal, amount=to_spend(config, signal, now))


def cut_to_day(state: DeskState, signal: SignalView) -> SignalView:
    """Cut a signal to what the day's cap allows after mirrors that left a moment ago.

    Signals that wait share what is left: the first that is mirrored takes it.

    Returns:
        The signal; with nothing left it stays as it is, and the cap refuses it.
    """
    left = state.reactor.day_left
    if left is None:
        return signal
    read_at = state.seen.get(Topic.REACTOR, Timestamp(0.0))
    room = (left - _mirrored_since(state, read_at)) // CENT * CENT
    return replace(signal, amount=Micros(room)) if 0 < room < signal.amount else signal


def _mirrored_since(state: DeskState, at: Timestamp) -> Micros:
    """Money of mirrors that the service may not have counted in an answer of that time."""
    return sum_of(
        one.amount
        for one in state.tickets
        if one.kind == MIRROR and one.state not in _NEVER_SPENT and not one.has_no_trace
        if one.in_flight or one.opened_at >= at
    )


def why_never(state: DeskState, signal: SignalView) -> str:
    """Reason why this desk never mirrors a signal automatically; empty if it may."""
    return next(_never(state, signal), "")


def _never(state: DeskState, signal: SignalView) -> Iterator[str]:
    config = state.reactor.config
    if config is None:
        return
    if signal.wallet not in config.wallets:
        yield "wallet not on the watchlist"
    if not signal.size >= config.min_size:
        yield f"below the min size of {decimal(config.min_size):,.2f} shares"


def why_not_now(state: DeskState, signal: SignalView, now: Timestamp) -> Reason | None:
    """Reason and fix why a signal cannot be mirrored now; None if it can."""
    return next(_not_now(state, signal, now), None)


def _not_now(state: DeskState, signal: SignalView, now: Timestamp) -> Iterator[Reason]:
    """Limits are written so that a number that is none fails them."""
    reactor = state.reactor
    config = reactor.config
    if reactor.barred or config is None:
        why = reactor.barred or "reactor config not loaded yet"
        yield Reason(why, Fix.WAIT_FOR_ANSWER)
        return
    if not now < signal.expires_at:
        yield Reason("signal expired", Fix.WAIT_FOR_NEXT)
    if signal.venue is not config.venue:
        yield Reason(
            f"signal on {signal.venue.value}, reactor set to {config.venue.value}",
            Fix.SET_VENUE,
        )
    if reactor.breaker.is_paused(now):
        yield Reason("circuit breaker open", Fix.RESET_BREAKER)
    left = _skill_left(state)
    if left is not None and not signal.amount <= left:
        yield Reason(
            f"skill {MIRROR_SKILL!r}: only {decimal(left):,.2f} of its daily budget left",
            Fix.RAISE_LIMIT,
        )


def _skill_left(state: DeskState) -> Micros | None:
    """Remaining per-skill budget for mirrors; None without a budget."""
    known = state.buy_limits
    if known is None or known.skill_day_max is None:
        return None
    reported = sum_of(one.spent for one in known.skills if one.slug == MIRROR_SKILL)
    later = _mirrored_since(state, known.at)
    return Micros(max(0, known.skill_day_max - reported - later))
