"""Looks up orders of unknown end.

Among the trades by reference, among open orders by their terms.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from service_tui.client.errors import NotFoundError, ServiceError
from service_tui.desk.changes import Changed
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.reactor import MIRROR
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.execution_check import (
    grain,
    is_holding,
    mismatch_text,
    venue_fee_text,
)
from service_tui.desk.trading.sending import settle
from service_tui.desk.trading.translate import open_order_view, trade_view
from service_tui.terms import MONEY_OF, TRADES_PAGE_MAX, Action, TradeStatus, Venue
from service_tui.units import Timestamp, decimal
from service_tui.wire.endpoints.public import OPEN_ORDERS, TRADES
from service_tui.wire.trades import TradesQuery

UNKNOWN_HORIZON_S: Final = 600.0
"""A trade without a trace after this long may be sent again by the person. Source: failures."""

FURTHER_S: Final = 3_600.0
BLIND_S: Final = 86_400.0
"""ours: how much older than an order a row must be before those behind it are not looked at, where
the service reports what its clock shows, and where it does not."""

PAGES_MAX: Final = 20
LOOK_MAX_S: Final = 60.0
"""ours: how long one look may take; after that it is as good as not everything was seen."""

ROUNDED: Final = 20_000
"""Micros that a venue's rounding may take off the ordered size."""

EARLIER_S: Final = 30.0
"""ours: how much older than its order an entry of the book may be, by clocks that nearly agree."""

_SAME: Final = 1e-9


ReadPage = Callable[[TradesQuery], Awaitable[tuple[list[TradeView], int]]]
"""Asks for a page of trades: those that can be read, and how many cannot."""


@dataclass(slots=True)
class TradeSearch:
    """Progress of one search through the service's trades, page by page.

    `doubt` is why a trade may exist all the same; empty when everything that counts was read.
    `unsigned` are those without any reference: a service may not give it back.
    """

    references: frozenset[str]
    found: dict[str, TradeView] = field(default_factory=dict[str, TradeView])
    doubt: str = ""
    unsigned: list[TradeView] = field(default_factory=list[TradeView])
    seen: set[str] = field(default_factory=set[str])
    in_order: bool = True
    last_at: Timestamp | None = None

    def take(self, views: Sequence[TradeView], dropped: int) -> None:
        """Add a page."""
        self.found |= {
            view.client_ref: view for view in views if view.client_ref in self.references
        }
        self.unsigned += [view for view in views if not view.client_ref]
        times = [*([] if self.last_at is None else [self.last_at]), *(view.at for view in views)]
        self.in_order = self.in_order and all(a >= b for a, b in pairwise(times))
        self.last_at = times[-1] if times else None
        if dropped:
            self.doubt = self.doubt or "some trades are unreadable"
        if views and {view.trade_id for view in views} <= self.seen:
            self.doubt = "the service repeats one page of trades"
        self.seen |= {view.trade_id for view in views}

    def is_past(self, at: Timestamp) -> bool:
        """True if only older trades can follow; False if they are not sorted by time."""
        return self.in_order and self.last_at is not None and self.last_at < at

    @property
    def has_all(self) -> bool:
        """True if every wanted order was found."""
        return self.references <= self.found.keys()


async def reconcile(tickets: Sequence[TicketView], ports: Ports) -> None:
    """Settle the unknown orders that the service knows; after the horizon notify the operator.

    Args:
        tickets: the unknown ones, at least one; each with its reference.
        ports: the outside.

    Raises:
        ServiceError: the service did not answer; the tickets stay unknown.
    """
    try:
        look = await _look(tickets, ports)
        missing = [one for one in tickets if one.client_ref not in look.found]
        books = await look_at_books(missing, ports)
    except ServiceError as error:
        for ticket in _still_unknown(tickets, ports):
            _leave_if_overdue(ticket, f"trades unavailable, {error.sentence}", ports)
        raise
    # What the person closed meanwhile is closed.
    for ticket in _still_unknown(tickets, ports):
        trade = look.found.get(ticket.client_ref)
        resting = books.get(ticket.ticket_id, BookSearch())
        if trade is None and resting.order is not None:
            text = f"order found, open on the book: {resting.order.describe()}"
            await settle(ports, ticket, TicketState.DONE, Reason(text))
        elif trade is None:
            doubt = _doubt_of(ticket, look, _before(ticket.opened_at, ports))
            _leave_if_overdue(ticket, doubt or resting.doubt, ports)
        elif trade.status is TradeStatus.UNCONFIRMED and not trade.shares:
            _leave_if_overdue(ticket, "order listed but not confirmed", ports)
        else:
            await _settle_found(ticket, trade, ports)


def is_overdue(ticket: TicketView, now: Timestamp) -> bool:
    """True if an unknown order without a trace was searched for long enough."""
    return now - (ticket.sent_at or ticket.opened_at) > UNKNOWN_HORIZON_S


async def give_up(command: GiveUp, ports: Ports) -> None:
    """Close an unknown order on the operator's command, once it was searched for long enough."""
    ticket = next(
        (one for one in ports.state().tickets if one.ticket_id == command.ticket_id), None
    )
    if ticket is None or ticket.state is not TicketState.UNKNOWN:
        ports.emit(Noticed("warn", "order already settled"))
    elif not ticket.is_lost:
        ports.emit(Noticed("warn", "lookup still running: wait for its result"))
    else:
        await settle(ports, ticket, TicketState.FAILED, Reason(f"{ticket.outcome}; closed by you"))


def _still_unknown(tickets: Sequence[TicketView], ports: Ports) -> list[TicketView]:
    """The tickets among these that are still unknown."""
    ids = {ticket.ticket_id for ticket in tickets}
    return [
        ticket
        for ticket in ports.state().tickets
        if ticket.ticket_id in ids and ticket.state is TicketState.UNKNOWN
    ]


def _doubt_of(ticket: TicketView, look: TradeSearch, before: Timestamp) -> str:
    """Reason why an order that was not found may still exist; empty if it surely does not."""
    if not ticket.client_ref:
        return "order without a reference"
    action = Action.BUY if ticket.amount else Action.SELL
    if any(
        trade.action == action and trade.at >= before and is_holding(ticket.holding, trade)
        for trade in look.unsigned
    ):
        return look.doubt or "a similar trade exists without a reference"
    return look.doubt


async def _look(tickets: Sequence[TicketView], ports: Ports) -> TradeSearch:
    """Go through the trades for the orders that these tickets have sent."""

    async def read_page(query: TradesQuery) -> tuple[list[TradeView], int]:
        reply = await ports.client.call(TRADES, query=query)
        return [trade_view(row) for row in reply.answer.trades], reply.dropped

    references = frozenset(ticket.client_ref for ticket in tickets if ticket.client_ref)
    opened_at = min(ticket.opened_at for ticket in tickets)
    return await look_through(
        references, lambda: _before(opened_at, ports), read_page, ports.clock.monotonic
    )


async def look_through(
    references: frozenset[str],
    before: Callable[[], Timestamp],
    read_page: ReadPage,
    monotonic: Callable[[], float],
) -> TradeSearch:
    """Go through the trades, newest first, until they are older than every order.

    Args:
        references: the references that are looked for.
        before: a time by the service's clock that is surely before every order; asked after each
            page, by whose answer that clock may be known better.
        read_page: for a page.
        monotonic: seconds, for the bound on all of it.

    Returns:
        What was found, and why something may have been missed.
    """
    look, begun, offset = TradeSearch(references), monotonic(), 0
    for _ in range(PAGES_MAX):
        # No `since`: it is unknown by whose clock the service would read it.
        views, dropped = await read_page(
            TradesQuery(limit=TRADES_PAGE_MAX, offset=offset, include_failed=True)
        )
        count = len(views) + dropped
        # A page that is merely short proves no end: a service may return less than the limit.
        if not count:
            return look
        is_first, known = not offset, len(look.seen)
        look.take(views, dropped)
        is_repeated = not is_first and len(look.seen) == known
        if look.has_all or is_repeated or look.is_past(before()):
            return look
        if monotonic() - begun > LOOK_MAX_S:
            break
        offset += count
    look.doubt = look.doubt or "too many trades to search"
    return look


def _before(opened_at: Timestamp, ports: Ports) -> Timestamp:
    """A time by the service's clock that is surely before an order."""
    return surely_before(opened_at, ports.client.skew_s)


def surely_before(opened_at: Timestamp, ahead_s: float | None) -> Timestamp:
    """The same, where our clock is `ahead_s` ahead of the service's; None: that is not known."""
    if ahead_s is None:
        return Timestamp(opened_at - BLIND_S)
    return Timestamp(opened_at - max(0.0, ahead_s) - FURTHER_S)


async def _settle_found(ticket: TicketView, trade: TradeView, ports: Ports) -> None:
    if trade.status is TradeStatus.FAILED:
        await settle(ports, ticket, TicketState.FAILED, Reason("order found: failed"))
        return
    if trade.status is TradeStatus.CANCELLED and not trade.shares:
        await settle(ports, ticket, TicketState.FAILED, Reason("order found: ended unfilled"))
        return
    if trade.status is TradeStatus.SUBMITTED and not trade.shares:
        ports.refresh(Topic.ORDERS)
        text = Reason("order found: open on the book, nothing filled yet")
        await settle(ports, ticket, TicketState.DONE, text)
        return
    text = f"order found: filled {decimal(trade.shares):,.2f} shares for {decimal(trade.cost):,.2f}"
    if trade.venue is not Venue.SIM and trade.action in set(Action):
        fee = venue_fee_text(trade.fee, Action(trade.action), trade.venue)
        text = f"{text} {MONEY_OF[trade.venue]}, {fee}"
    mismatch = mismatch_text(ticket, trade)
    if mismatch:
        text = f"{text}, but {mismatch}"
        ports.emit(Noticed("bad", f"{ticket.what}: {mismatch}"))
    await settle(ports, ticket, TicketState.DONE, Reason(text))
    for topic in (Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES, Topic.ORDERS):
        ports.refresh(topic)


def _leave_if_overdue(ticket: TicketView, doubt: str, ports: Ports) -> None:
    """Stop searching after the horizon, with one notice; only the operator may send again."""
    if not is_overdue(ticket, ports.now()):
        return
    outcome = f"{NOT_FOUND}: {doubt}" if doubt else NO_TRACE
    if outcome == ticket.outcome:
        return
    fix = Fix.SEND_AGAIN_YOURSELF
    if ticket.kind == MIRROR:
        # Source: failures, "Decisions on the open points".
        fix = Fix.NEVER_MIRRORED_AGAIN
    if doubt:
        fix = Fix.CHECK_POSITIONS
    left = replace(ticket, outcome=outcome, fix=fix)
    ports.emit(Changed(left))
    if left.has_no_trace or not ticket.is_lost:
        ports.emit(Noticed("warn", f"{ticket.what}: {outcome}", fix=fix))


# -- open orders: they carry no reference of ours ----------------------------------------


@dataclass(frozen=True, slots=True)
class BookSearch:
    """Result of searching the open orders: the order, or the doubt, or neither."""

    order: OpenOrderView | None = None
    doubt: str = ""


async def look_at_books(tickets: Sequence[TicketView], ports: Ports) -> dict[str, BookSearch]:
    """Result of searching the open orders for each limit order, by ticket id.

    Returns:
        By the ticket's id; nothing of others, or where the service keeps no open orders.

    Raises:
        ServiceError: the service did not answer.
    """
    limit_tickets = [ticket for ticket in tickets if ticket.limit is not None]
    if not limit_tickets:
        return {}
    try:
        reply = await ports.client.call(OPEN_ORDERS)
    except NotFoundError:
        return {}
    orders = tuple(open_order_view(body) for body in reply.answer.orders)
    # Not emitted here: the reading of open orders reports filled and ended ones with their trades.
    ports.refresh(Topic.ORDERS)
    unread = "some open orders are unreadable" if reply.dropped else ""
    return {
        ticket.ticket_id: _search_book(ticket, orders, ports, unread) for ticket in limit_tickets
    }


def _search_book(
    ticket: TicketView, orders: Sequence[OpenOrderView], ports: Ports, unread: str
) -> BookSearch:
    begun, skew_s = (ticket.sent_at or ticket.opened_at) - EARLIER_S, ports.client.skew_s
    like = [order for order in orders if _is_like(ticket, order)]
    if skew_s is not None:
        like = [order for order in like if order.created_at >= begun - skew_s]
    if not like:
        return BookSearch(doubt=unread)
    # What came to rest did so before its ticket's end was known, and maybe long after it was given.
    rivals = [
        one
        for one in ports.state().tickets
        if _is_twin(ticket, one) and (one.in_flight or (one.settled_at or begun) >= begun)
    ]
    if len(like) > 1 or rivals or skew_s is None or unread:
        return BookSearch(doubt="a similar order is open and may be another one")
    return BookSearch(like[0])


def _is_like(ticket: TicketView, order: OpenOrderView) -> bool:
    """True if an open order may be this ticket's: same position, action, limit and size."""
    action = Action.BUY if ticket.amount else Action.SELL
    limit = ticket.limit or 0.0
    if (order.holding, order.action) != (ticket.holding, action) or (
        not abs(order.price - limit) < _SAME
    ):
        return False
    whole = order.shares + order.filled
    if action is Action.SELL:
        return ticket.shares - ROUNDED <= whole <= ticket.shares + grain(ticket.venue)
    return order.shares * limit <= int(ticket.amount + ROUNDED) and (
        whole * limit >= int(ticket.amount - ROUNDED)
    )


def _is_twin(ticket: TicketView, other: TicketView) -> bool:
    """True if another order of this desk would look the same on the book."""
    return (
        other.ticket_id != ticket.ticket_id
        and other.state is not TicketState.REFUSED
        and (other.holding, other.limit) == (ticket.holding, ticket.limit)
        and (other.amount, other.shares) == (ticket.amount, ticket.shares)
    )
