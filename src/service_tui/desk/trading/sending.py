"""Sends one order: its trade request, one POST, and the meaning of the answer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from service_tui.client.errors import (
    HeldBackError,
    OutcomeUnknownError,
    RefusedError,
    ServiceError,
)
from service_tui.desk.blotter import outcome_of
from service_tui.desk.changes import Changed
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import fix_of, storage_fix
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.execution_check import LOOKED_UP, check_execution
from service_tui.desk.trading.order_signature import as_signed
from service_tui.desk.trading.preflight import holding
from service_tui.signing.errors import PolicyRefusedError, Rule, SigningError
from service_tui.storage.blotter import StoredState
from service_tui.storage.errors import StorageError
from service_tui.terms import Venue
from service_tui.units import decimal
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.trades import CLIENT_REF, TradeBody, TradeRequest

SOURCE: Final = "desk"


def request_of(
    order: PlaceTrade, *, dry_run: bool, client_ref: str = "", source: str = ""
) -> TradeRequest:
    """Trade request of an order.

    Returns:
        The request.

    Raises:
        ValueError: it is no order: no size, a size out of range, an id that is none, or too much
            reasoning.
    """
    is_real = order.venue is not Venue.SIM
    return TradeRequest(
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        amount=decimal(order.amount),
        shares=decimal(order.shares),
        venue=order.venue,
        # An unfilled rest stays on the book only if the order is a limit order.
        order_type=order.order_type if is_real else None,
        expiration=order.expires_at if is_real and order.rests else None,
        # Sim is given a price that a person typed; that of a quote the desk holds it to itself.
        price=order.price if is_real or order.keeps_price else None,
        dry_run=dry_run,
        reasoning=order.reasoning or None,
        source=None if dry_run else source or SOURCE,
        signal_data={CLIENT_REF: client_ref} if client_ref else None,
        stop_loss_pct=None if dry_run else order.stop_loss_pct,
        take_profit_pct=None if dry_run else order.take_profit_pct,
    )


async def send(
    ports: Ports, ticket: TicketView, order: PlaceTrade, request: TradeRequest
) -> TradeBody | None:
    """Send an order once, under its ticket's reference, and settle the ticket by the answer.

    Returns:
        The answer, whatever its content; None without one.
    """
    signed = await _signed(ports, order, request)
    if isinstance(signed, _Unsigned):
        await settle(ports, ticket, signed.state, signed.reason)
        return None
    ticket = replace(ticket, state=TicketState.SENT, sent_at=ports.now())
    ports.emit(Changed(ticket))
    try:
        reply = await ports.client.call(PLACE_TRADE, body=signed, idempotency_key=ticket.client_ref)
    except RefusedError as error:
        reason = Reason(error.error, fix_of(error.code, error.fix))
        await settle(ports, ticket, TicketState.REFUSED, reason)
    except HeldBackError as error:
        reason = Reason(f"{error.sentence}; nothing sent", Fix.END_HALT)
        await settle(ports, ticket, TicketState.REFUSED, reason)
    except OutcomeUnknownError as error:
        reason = Reason(f"sent, no answer: {error}", LOOKED_UP)
        await settle(ports, ticket, TicketState.UNKNOWN, reason)
    except ServiceError as error:
        reason = Reason(f"nothing sent: {error}", Fix.WHEN_SERVICE_ANSWERS)
        await settle(ports, ticket, TicketState.FAILED, reason)
    else:
        await take_answer(ports, ticket, order, reply.answer)
        return reply.answer
    return None


async def take_answer(ports: Ports, ticket: TicketView, order: PlaceTrade, body: TradeBody) -> None:
    """Settle a ticket by a trade answer, if the answer matches the order."""
    # As it was before the sale: the answer is newer than what the desk has read.
    held = holding(ports.state(), order.market_id, order.side, order.venue)
    verdict = check_execution(order, body, held)
    await settle(ports, ticket, verdict.state, Reason(verdict.outcome, verdict.fix))
    if verdict.state is TicketState.REFUSED:
        # A refusal may begin a cooldown, which the next ticket has to know.
        ports.refresh(Topic.ACCOUNT)
        return
    # The account too: an answer about it may be on its way that was true before this trade.
    for topic in _TOUCHED:
        ports.refresh(topic)


class _Unsigned(NamedTuple):
    """End of an order that was not signed: nothing was sent."""

    state: TicketState
    reason: Reason


async def _signed(
    ports: Ports, order: PlaceTrade, request: TradeRequest
) -> TradeRequest | _Unsigned:
    """The request that may leave, or why none does."""
    try:
        return await as_signed(ports, order, request)
    except SigningError as error:
        # Reported at once: the operator can unlock the key. Source: decisions, "Money and safety".
        rule = error.rule if isinstance(error, PolicyRefusedError) else None
        fix = Fix.SEE_WALLET if rule is None else _FIX_OF.get(rule, Fix.SEE_WALLET)
        return _Unsigned(TicketState.REFUSED, Reason(f"nothing sent: {error}", fix))
    except (ServiceError, StorageError) as error:
        # On a disk that is full nothing is kept that would bind a later sale.
        is_disk = isinstance(error, StorageError)
        fix = storage_fix(error) if is_disk else Fix.WHEN_SERVICE_ANSWERS
        return _Unsigned(TicketState.FAILED, Reason(f"nothing sent: {error}", fix))


_FIX_OF: Final[Mapping[Rule, Fix]] = {
    Rule.TOTAL: Fix.LEAST_SHARES,
    Rule.TICK: Fix.NEW_TICKET,
    Rule.PRICE: Fix.WAIT_FOR_BOOK,
    Rule.FEE: Fix.CONFIRM_SHOWN,
    Rule.UNSEEN: Fix.CONFIRM_SHOWN,
    Rule.OUTCOME: Fix.TRADE_ELSEWHERE,
}
"""Fix for an order that was not signed, by the rule that it breaks."""

_TOUCHED: Final = (
    Topic.POSITIONS,
    Topic.ACCOUNT,
    Topic.MARKETS,
    Topic.TRADES,
    Topic.DETAIL,
    # A buy may enrol a monitor.
    Topic.MONITORS,
    # And what of an order nothing met rests.
    Topic.ORDERS,
)
_TONES: Final = {
    TicketState.DONE: "good",
    TicketState.REFUSED: "warn",
    TicketState.FAILED: "bad",
    TicketState.UNKNOWN: "bad",
}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def end(ports: Ports, ticket: TicketView, state: TicketState, reason: Reason) -> TicketView:
    """Put the end of a ticket into the state, with one notice.

    Returns:
        The ticket with its end.
    """
    outcome, fix = reason
    settled_at = None if state is TicketState.UNKNOWN else ports.now()
    ended = replace(ticket, state=state, settled_at=settled_at, outcome=outcome, fix=fix)
    ports.emit(Changed(ended))
    is_sold = state is TicketState.DONE and ticket.kind == PlaceTrade.kind
    text = (
        _capital(outcome)
        if is_sold and outcome.startswith("sold ")
        else f"{ticket.what}: {outcome}"
    )
    is_exit = ticket.kind == ExitAlert.kind
    kind = NoticeKind.EXIT if is_exit else NoticeKind.FILL
    # An exit and its alert are one event.
    about = ticket.ticket_id.rpartition(".")[0] if is_exit else ""
    ports.emit(Noticed(_TONES[state], text, kind, about, fix))
    return ended


async def settle(ports: Ports, ticket: TicketView, state: TicketState, reason: Reason) -> None:
    """Put the end of a ticket into the state and store it; a failing disk loses no trade."""
    ended = end(ports, ticket, state, reason)
    try:
        await ports.blotter.settle(
            ended.ticket_id, StoredState(state.value), outcome_of(ended), now=ports.now()
        )
    except StorageError as error:
        ports.emit(Noticed("bad", f"blotter write failed: {error}"))
