"""PlaceTrade and AskQuote: preflight, intent, one send, and what its answer means."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from service_tui.client.errors import (
    RefusedError,
    ServiceError,
)
from service_tui.desk.advice import advice_of
from service_tui.desk.blotter import intent_of
from service_tui.desk.commands.trading import AskQuote, PlaceTrade
from service_tui.desk.facts import QuoteSeen, TradesSeen
from service_tui.desk.freshness import TRADED_ON, why_not_traded
from service_tui.desk.gate import HALTED, RESUME_FIX
from service_tui.desk.ports import Ports
from service_tui.desk.rails import broken_by, desk_budget
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.records import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import against_real, real_cash, real_shares
from service_tui.desk.trading.sending import Said, end, request_of, send, settle
from service_tui.desk.trading.verdict import quote_doubt
from service_tui.desk.translate import quote_view, trade_view
from service_tui.storage.blotter import Budget
from service_tui.storage.errors import BudgetExceededError, StorageError
from service_tui.terms import Action, Mode, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
from service_tui.wire.trades import TradesQuery

LOOK_BACK: Final = 200


Objection = Said
"""Why not, and what to do about it."""

NO_ORDER: Final[Objection] = (
    "this is no order that can be sent",
    "give an amount above 0, and at most 4,000 plain letters of reasoning",
)


def preflight(
    state: DeskState, order: PlaceTrade, now: Timestamp, *, ticket_id: str = ""
) -> Objection | None:
    """Why the desk itself says no, and what to do; None when it has no objection."""
    # What earlier orders may still spend or sell is not there for this one: two at the same moment
    # cannot both pass on the same money.
    earlier = _earlier(state, ticket_id)
    # Of what has surely left no trace nothing is reserved any more; the person decides.
    before = [ticket for ticket in earlier if ticket.in_flight and not ticket.has_no_trace]
    buys = order.action is Action.BUY
    said = (
        _against_any(state, order),
        (_against_buying if buys else _against_selling)(state, order, before),
        broken_by(state, order, now, earlier) if buys else (),
        _against_age(state, order, now),
    )
    return next(chain.from_iterable(said), None)


def _earlier(state: DeskState, ticket_id: str) -> list[TicketView]:
    """Orders older than this one, newest first."""
    newest_first = iter(state.tickets)
    if any(ticket.ticket_id == ticket_id for ticket in state.tickets):
        while next(newest_first).ticket_id != ticket_id:
            continue
    return list(newest_first)


def _against_age(state: DeskState, order: PlaceTrade, now: Timestamp) -> Iterator[Objection]:
    why = why_not_traded(state, TRADED_ON[order.action], now)
    if why:
        yield why, "wait for a fresh answer of the service"


def _against_any(state: DeskState, order: PlaceTrade) -> Iterator[Objection]:
    if state.service.read_only:
        yield "this desk is read-only", "start it without --read-only"
    if order.venue is not Venue.SIM:
        yield from against_real(state, order)
        return
    if order.rests:
        yield "play money has no book on which an order could rest", "take a real venue"
    elif _is_beyond(state, order):
        # ours: sim takes no limit on the wire, so the desk itself holds the order to its quote.
        yield "the price has moved beyond the quote", "look at the new price, and order again"
    if state.service.venue is not Venue.SIM or state.service.mode is not Mode.SIM:
        yield "only play money is traded in this mode", "use the embedded service"


def _is_beyond(state: DeskState, order: PlaceTrade) -> bool:
    """Whether the market's price is worse than the worst that the order takes."""
    market = state.markets.get(order.market_id)
    if order.price is None or market is None:
        return False
    price = market.price_of(order.side)
    return price > order.price if order.action is Action.BUY else price < order.price


def _against_selling(
    state: DeskState, order: PlaceTrade, before: Sequence[TicketView]
) -> Iterator[Objection]:
    held = _held(state, order)
    if not 0 < order.shares <= held:
        yield "more than is held", "sell at most what the portfolio shows"
        return
    selling = sum(ticket.shares for ticket in before if ticket.holding == order.holding)
    if not order.shares <= held - selling:
        yield "a sale of these shares is under way", "wait until it has its end"


def _held(state: DeskState, order: PlaceTrade) -> Micros:
    """Shares of the order's side on the order's venue."""
    if order.venue is not Venue.SIM:
        return real_shares(state, order)
    held = state.position(order.holding)
    return held.shares if held is not None else Micros(0)


def _against_buying(
    state: DeskState, order: PlaceTrade, before: Sequence[TicketView]
) -> Iterator[Objection]:
    """Limits are written so that a number that is none fails them."""
    limits, account = state.limits, state.account
    if state.halted_since is not None:
        yield HALTED, RESUME_FIX
    if limits is None or limits.paused:
        yield (
            "trading is paused: entries are blocked",
            "it was paused through the service's settings; resume it there",
        )
    elif order.venue is Venue.SIM and not 0 < order.amount <= limits.max_trade:
        yield f"the limit of one trade is {decimal(limits.max_trade):,.2f}", "lower the amount"
    # Source: decisions, "Unknown outcome".
    reserved = sum(ticket.amount for ticket in before)
    cash = real_cash(state) if order.venue is Venue.EVM else account and account.cash
    # What lies on the Solana-type venue is known there alone: it says no where there is too little.
    if order.venue is not Venue.SOL and (
        account is None or cash is None or not 0 < order.amount <= cash - reserved
    ):
        yield "not enough cash", "lower the amount or sell something first"


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
        objection = (HALTED, RESUME_FIX)
    if objection is not None:
        await settle(ports, ticket, TicketState.REFUSED, objection)
        return
    await send(ports, ticket, order, request)


def budget_of(ports: Ports) -> Budget | None:
    """What this desk may still spend today by its own limit; None without one."""
    found = desk_budget(ports.state(), ports.now())
    return None if found is None else Budget(found[0], found[1])


def unwritten(error: StorageError) -> tuple[TicketState, Objection]:
    """How an order ends whose intent could not be written down."""
    if not isinstance(error, BudgetExceededError):
        return TicketState.FAILED, (f"{error}; nothing was traded", "free disk space")
    most, used = decimal(Micros(error.maximum)), decimal(Micros(error.reserved))
    return TicketState.REFUSED, (
        f"this desk's own limit of spend a day is {most:,.2f}, {used:,.2f} used",
        "wait for midnight UTC, or raise the limit on the settings screen (8)",
    )


async def ask_quote(question: AskQuote, ports: Ports) -> None:
    """What an order would get now; a failure is a quote that says so."""
    order = question.order
    held = _held(ports.state(), order)
    try:
        request = request_of(order, dry_run=True)
    except ValueError:
        problem, fix = NO_ORDER
        ports.say(QuoteSeen(QuoteView(question.request_id, ok=False, problem=problem, fix=fix)))
        return
    try:
        reply = await ports.client.call(PLACE_TRADE, body=request)
    except RefusedError as error:
        fix = advice_of(error.code, error.fix)
        quote = QuoteView(question.request_id, ok=False, problem=error.error, fix=fix)
    except ServiceError as error:
        quote = QuoteView(question.request_id, ok=False, problem=str(error))
    else:
        quote = quote_view(question.request_id, reply.answer, order.action, held)
        doubt = quote_doubt(order, reply.answer)
        if doubt:
            fix = "order nothing here before this is cleared up; the blotter shows the trades"
            quote = QuoteView(question.request_id, ok=False, problem=doubt, fix=fix)
    ports.say(QuoteSeen(quote))


async def recent_trades(ports: Ports) -> tuple[TradesSeen, float]:
    """The newest trades of the agent, and how long the call took, seconds."""
    reply = await ports.client.call(TRADES, query=TradesQuery(limit=LOOK_BACK))
    views = tuple(trade_view(row) for row in reply.answer.trades)
    return TradesSeen(views, reply.dropped), reply.latency_s
