"""`service-tui quote`, `buy` and `sell`: orders through the desk, without a screen.

The same desk, limits, preflight and blotter as in the console. A quote comes first; nothing is sent
before a typed yes, LIVE for real money, unless the caller has given it already.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service_tui.app.options import Options
from service_tui.app.waiting import until
from service_tui.clock import Clock, SystemClock
from service_tui.commands.halt import HaltReport, run_on_desk
from service_tui.console.command_line.trading import exact, matching, none_matches
from service_tui.console.fields import FieldError
from service_tui.console.figures import Figure
from service_tui.console.forms.limit_draft import limit_price_text, read_limit
from service_tui.console.forms.live_order import live_figures, price_bound
from service_tui.console.forms.order_draft import Draft, read_order
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.quoting import as_quoted, bounded
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.commands.wallet import LIVE_WORD, SetLive
from service_tui.desk.desk import Desk
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import holding
from service_tui.terms import Action, Side, Venue, counted
from service_tui.units import ONE, Micros, Timestamp

READ_S: Final = 20.0
QUOTE_S: Final = 15.0
SENT_S: Final = 60.0
"""How long the service has for prices and positions, for a quote, and for an order."""

SHOWN_MAX: Final = 8
"""Markets that are named when several match."""

SILENT: Final = "the service does not respond: nothing was sent"
NO_QUOTE: Final = "no quote: nothing was sent"
LEFT: Final = "nothing was sent"
UNSETTLED: Final = "outcome unknown: the order was sent once; the console shows what became of it"

_ALL: Final = frozenset({"all", "max"})
"""Words for the whole position."""

_NEEDED: Final = frozenset({Topic.MARKETS, Topic.ACCOUNT, Topic.POSITIONS})
_NEEDED_LIVE: Final = _NEEDED | {Topic.WALLET, Topic.REDEMPTIONS}
"""What is known before an order is checked; a real venue's positions come with redemption."""


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """What was requested: `amount` is money of a buy, shares, per cent or `all` of a sale.

    `worst` is the typed price, of a share, beyond which nothing may fill; empty: the quote and a
    little more.
    """

    action: Action
    market: str
    side: Side
    amount: str
    is_quote: bool = False
    venue: Venue = Venue.SIM
    worst: str = ""

    @property
    def is_live(self) -> bool:
        """True for a venue of real money."""
        return self.venue is not Venue.SIM


Confirm = Callable[[Sequence[str]], Awaitable[bool]]
"""Shows the order and its quote; True to send it."""


Choose = Callable[[Sequence[str], int], Awaitable[int | None]]
"""Shows the numbered markets that match, so many; the place of the one that is meant, or None."""


class OrderError(Exception):
    """The order cannot be placed; one or more plain lines."""


def trade(
    options: Options, request: OrderRequest, confirm: Confirm, choose: Choose | None = None
) -> HaltReport:
    """Quote an order, ask, and place it once.

    Args:
        options: which directory.
        request: the order.
        confirm: lets the person confirm; not called for a quote.
        choose: lets the person select one of several matching markets; None refuses them.

    Returns:
        The result in lines; `is_done` once the order has filled, or for a quote.

    Raises:
        DeskClosedError: the directory cannot be used; gives the reason and the fix.
    """
    clock = SystemClock()
    return run_on_desk(options, lambda desk: trade_on(desk, request, confirm, clock, choose=choose))


async def trade_on(
    desk: Desk,
    request: OrderRequest,
    confirm: Confirm,
    clock: Clock,
    *,
    choose: Choose | None = None,
) -> HaltReport:
    """The same on an open desk."""
    try:
        found = await _confirmed(desk, request, confirm, clock, choose=choose)
    except OrderError as error:
        return HaltReport(is_done=False, lines=tuple(str(error).split("\n")))
    except asyncio.CancelledError:
        return _interrupted(LEFT)
    if isinstance(found, HaltReport):
        return found
    order, quote = found
    report = await placed(desk, order)
    return replace(report, facts={**order_facts(order, quote), **report.facts})


def _interrupted(line: str) -> HaltReport:
    """The report after ctrl+c, which cancels the task of the command."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
    return HaltReport(is_done=False, lines=(line,))


async def _confirmed(
    desk: Desk, request: OrderRequest, confirm: Confirm, clock: Clock, *, choose: Choose | None
) -> HaltReport | tuple[PlaceTrade, QuoteView]:
    """The order to send, with its quote; a report where none is to be sent."""
    needed = _NEEDED_LIVE if request.is_live else _NEEDED
    if not await until(desk, lambda state: needed <= set(state.seen), READ_S):
        raise OrderError(SILENT)
    if request.is_live:
        # For the desk of this command alone, which sends nothing before the typed word.
        desk.submit(SetLive(on=True, word=LIVE_WORD))
        await until(desk, lambda state: state.wallet.live, READ_S)
    market = await market_meant(desk.state, request.market, choose)
    order = order_of(desk.state, request, market, clock.now())
    quote = await _quoted(desk, order)
    order = within(order, quote, worst_price(request, desk.state.markets[order.market_id]))
    lines = _described(desk.state, order, quote, is_bound=bool(request.worst))
    if request.is_quote:
        return HaltReport(is_done=True, lines=lines, facts=order_facts(order, quote))
    if not await confirm(lines):
        return HaltReport(is_done=False, lines=(LEFT,))
    return replace(order, confirmed=request.is_live), quote


def order_facts(order: PlaceTrade, quote: QuoteView) -> dict[str, object]:
    """An order and its quote for a script: money and shares in units, prices of a share."""
    return {
        "action": order.action.value,
        "market": order.market_id,
        "question": order.question,
        "side": order.side.value,
        "venue": order.venue.value,
        "amount": order.amount / ONE,
        "shares": order.shares / ONE,
        "worst_price": order.price,
        "quote": {
            "shares": quote.shares / ONE,
            "money": quote.money / ONE,
            "fee": quote.fee / ONE,
            "average": quote.average,
            "price_before": quote.price_before,
            "price_after": quote.price_after,
        },
    }


def order_of(
    state: DeskState, request: OrderRequest, market: MarketView, now: Timestamp
) -> PlaceTrade:
    """The order, checked as on the ticket; or OrderError."""
    is_all = request.amount.casefold() in _ALL
    if is_all and request.action is Action.BUY:
        raise OrderError(f"{request.amount} is for a sale; a buy takes an amount, such as 25")
    amount = "100%" if is_all else request.amount
    draft = Draft(market, request.side, request.action, amount, venue=request.venue)
    try:
        return read_order(state, draft, now)
    except FieldError as error:
        raise OrderError(str(error)) from error


def worst_price(request: OrderRequest, market: MarketView) -> Micros | None:
    """The typed worst price; None without one."""
    if not request.worst:
        return None
    try:
        return read_limit(request.worst, market.tick)
    except FieldError as error:
        raise OrderError(str(error)) from error


def within(order: PlaceTrade, quote: QuoteView, worst: Micros | None) -> PlaceTrade:
    """The order with the price beyond which nothing fills; OrderError if the quote is beyond it."""
    if worst is None:
        return bounded(order, quote)
    price, buys = worst / ONE, order.action is Action.BUY
    average = quote.average
    if average is None or (average > price if buys else average < price):
        quoted = "unknown" if average is None else f"{average:.4f}"
        bound = "at most" if buys else "at least"
        raise OrderError(
            f"quoted price {quoted} a share, you want {bound} {limit_price_text(worst)}: {LEFT}"
        )
    return replace(order, price=price)


async def market_meant(state: DeskState, text: str, choose: Choose | None) -> MarketView:
    """The one market that the words mean, or that the person chooses of several; or OrderError."""
    found = exact(state, text) or matching(state, text)
    if len(found) == 1:
        return found[0]
    if not found:
        raise OrderError(f"{none_matches(text)}; 'service-tui markets --find WORDS' lists them")
    place = None if choose is None else await choose(*numbered(found))
    if place is not None:
        return found[place]
    if choose is not None:
        raise OrderError(LEFT)
    listed = [f"{one.market_id}  {one.question}" for one in found[:SHOWN_MAX]]
    several = f"{counted(len(found), 'market')} match: give the id, or more words; {LEFT}"
    raise OrderError("\n".join((several, *listed, *_more(found))))


def numbered(found: Sequence[MarketView]) -> tuple[Sequence[str], int]:
    """The question which market is meant, in lines, and how many can be chosen."""
    shown = found[:SHOWN_MAX]
    listed = [f"{place}  {one.question}" for place, one in enumerate(shown, 1)]
    return [f"{counted(len(found), 'market')} match", *listed, *_more(found)], len(shown)


def _more(found: Sequence[MarketView]) -> list[str]:
    over = len(found) - SHOWN_MAX
    return [f"and {over:,} more: add words to find them"] if over > 0 else []


async def _quoted(desk: Desk, order: PlaceTrade) -> QuoteView:
    desk.submit(RequestQuote(1, as_quoted(order)))
    await until(desk, lambda state: state.quote is not None, QUOTE_S)
    quote = desk.state.quote
    if quote is None:
        raise OrderError(NO_QUOTE)
    if not quote.ok:
        raise OrderError("\n".join(filter(None, (quote.problem, quote.fix))))
    return quote


def _described(
    state: DeskState, order: PlaceTrade, quote: QuoteView, *, is_bound: bool
) -> tuple[str, ...]:
    """The order and its quote; of real money, all that the console's confirmation shows."""
    if order.venue is not Venue.SIM:
        figures, follows = live_figures(order, state, quote)
        return (*_columns(figures), follows)
    held = holding(state, order.market_id, order.side, order.venue)
    figures = [*quote_figures(quote, (order.action, order.venue), held, masked=False)]
    if is_bound:
        figures.insert(0, ("worst price", price_bound(order)))
    return (order.question, order.describe(), *_columns(figures))


def _columns(figures: Sequence[Figure]) -> tuple[str, ...]:
    width = max(len(label) for label, _ in figures)
    return tuple(f"  {label:<{width}}  {value.plain}" for label, value in figures)


async def placed(desk: Desk, order: PlaceTrade, wait_s: float = SENT_S) -> HaltReport:
    """Send the order once, and wait so long for its end."""
    submitted = desk.submit(order)

    def own(state: DeskState) -> TicketView:
        name = submitted.view.ticket_id
        return next((one for one in state.tickets if one.ticket_id == name), submitted.view)

    try:
        await until(desk, lambda state: not own(state).in_flight, wait_s)
    except asyncio.CancelledError:
        return _interrupted(UNSETTLED)
    ticket = own(desk.state)
    if ticket.in_flight:
        return HaltReport(is_done=False, lines=(UNSETTLED,), facts=_ticket_facts(ticket))
    lines = tuple(filter(None, (f"{ticket.state.value}: {ticket.outcome}", ticket.fix)))
    return HaltReport(ticket.state is TicketState.DONE, lines, _ticket_facts(ticket))


def _ticket_facts(ticket: TicketView) -> dict[str, object]:
    return {
        "ticket_id": ticket.ticket_id,
        "client_ref": ticket.client_ref,
        "state": ticket.state.value,
        "outcome": ticket.outcome,
        "fix": ticket.fix,
    }
