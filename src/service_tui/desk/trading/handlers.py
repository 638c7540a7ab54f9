"""Handles PlaceTrade and RequestQuote: preflight, intent, one send, and checking the answer."""

from dataclasses import replace
from typing import Final

from service_tui.client.errors import (
    RefusedError,
    ServiceError,
)
from service_tui.desk.blotter import intent_of
from service_tui.desk.buy_limits import desk_budget
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.commands.trading import CancelOrders, GiveUp, PlaceTrade, RequestQuote
from service_tui.desk.fixes import fix_of
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.registry import Handlers, TicketHandlers
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.cancel_orders import cancel, withdraw
from service_tui.desk.trading.execution_check import quote_doubt
from service_tui.desk.trading.lookup import give_up
from service_tui.desk.trading.preflight import holding, preflight
from service_tui.desk.trading.sending import end, request_of, send, settle
from service_tui.desk.trading.translate import quote_view, trade_view
from service_tui.storage.blotter import Budget
from service_tui.storage.errors import BudgetExceededError, StorageError
from service_tui.units import Micros, decimal
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
from service_tui.wire.trades import TradesQuery

LOOK_BACK: Final = 200


NO_ORDER: Final = Reason(
    "invalid order",
    Fix.GIVE_AMOUNT,
)


async def place_trade(ticket: TicketView, order: PlaceTrade, ports: Ports) -> None:
    """Carry an order to its end: done, refused, failed, or unknown until it is found.

    The intent is on disk before anything is sent, and nothing is ever sent twice.
    """
    objection = preflight(ports.state(), order, ports.now(), ticket_id=ticket.ticket_id)
    ref = ports.new_id()
    ticket = replace(ticket, client_ref=ref)
    try:
        request = request_of(order, dry_run=False, client_ref=ref)
    except ValueError:
        end(ports, ticket, TicketState.REFUSED, objection or NO_ORDER)
        return
    try:
        await ports.blotter.open_ticket(
            intent_of(ticket, request.model_dump_json(exclude_none=True)),
            budget=budget_of(ports) if objection is None else None,
        )
    except StorageError as error:
        end(ports, ticket, *unwritten(error))
        return
    if objection is None and ports.gate.last_word(request):
        # A halt came while the intent was written.
        objection = HALTED
    if objection is None and order.replaces:
        objection = await withdraw(order.replaces, order.filled_before, ports)
        if objection is None and ports.gate.last_word(request):
            # It came during the cancellation, which stands.
            objection = HALTED
    if objection is not None:
        await settle(ports, ticket, TicketState.REFUSED, objection)
        return
    await send(ports, ticket, order, request)


def budget_of(ports: Ports) -> Budget | None:
    """This desk's remaining spend of the day by its own limit; None without one."""
    budget = desk_budget(ports.state(), ports.now())
    return None if budget is None else Budget(budget[0], int(budget[1]))


def unwritten(error: StorageError) -> tuple[TicketState, Reason]:
    """End state and reason of an order whose intent could not be stored."""
    if not isinstance(error, BudgetExceededError):
        return TicketState.FAILED, Reason(f"{error}; nothing traded", Fix.FREE_DISK)
    most, used = decimal(Micros(error.maximum)), decimal(Micros(error.reserved))
    return TicketState.REFUSED, Reason(
        f"desk limit (daily spend) is {most:,.2f}, {used:,.2f} used",
        Fix.RAISE_LIMIT,
    )


async def request_quote(question: RequestQuote, ports: Ports) -> None:
    """Request an indicative quote; a failure becomes a quote with its reason."""
    order = question.order
    held = holding(ports.state(), order.market_id, order.side, order.venue)
    try:
        request = request_of(order, dry_run=True)
    except ValueError:
        problem, fix = NO_ORDER
        ports.emit(Changed(QuoteView(question.request_id, ok=False, problem=problem, fix=fix)))
        return
    try:
        reply = await ports.client.call(PLACE_TRADE, body=request)
    except RefusedError as error:
        fix = fix_of(error.code, error.fix)
        quote = QuoteView(question.request_id, ok=False, problem=error.error, fix=fix)
    except ServiceError as error:
        quote = QuoteView(question.request_id, ok=False, problem=str(error))
    else:
        shares = Micros(0) if held is None else held.shares
        quote = quote_view(question.request_id, reply.answer, order.action, shares)
        doubt = quote_doubt(order, reply.answer)
        if doubt:
            fix = Fix.CLEAR_UP_FIRST
            quote = QuoteView(question.request_id, ok=False, problem=doubt, fix=fix)
    ports.emit(Changed(quote))


async def recent_trades(ports: Ports) -> tuple[Loaded, float]:
    """The newest trades of the agent, and how long the call took, seconds."""
    reply = await ports.client.call(TRADES, query=TradesQuery(limit=LOOK_BACK))
    views = tuple(trade_view(row) for row in reply.answer.trades)
    return Loaded(TradeView, views, reply.dropped), reply.latency_s


HANDLERS: Final[Handlers] = {
    RequestQuote: request_quote,
    GiveUp: give_up,
    CancelOrders: cancel,
}
TICKET_HANDLERS: Final[TicketHandlers] = {PlaceTrade: place_trade}
