"""Looking up orders whose end is not known, by the reference that each carries."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.changes import Changed
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.reactor import MIRROR
from service_tui.desk.slices.records import (
    NO_TRACE,
    NOT_FOUND,
    TicketState,
    TicketView,
    Topic,
    TradeView,
)
from service_tui.desk.trading.lookup_orders import BookSearch, look_at_books
from service_tui.desk.trading.sending import settle
from service_tui.desk.trading.verdict import is_holding, strayed_text
from service_tui.desk.translate import trade_view, venue_fee_text
from service_tui.terms import MONEY_OF, TRADES_PAGE_MAX, Action, TradeStatus, Venue
from service_tui.units import Timestamp, decimal
from service_tui.wire.endpoints.public import TRADES
from service_tui.wire.trades import TradesQuery

UNKNOWN_HORIZON_S: Final = 600.0
"""A trade without a trace after this long may be sent again by the person. Source: failures."""

FURTHER_S: Final = 3_600.0
BLIND_S: Final = 86_400.0
"""ours: how much older than an order a row must be before those behind it are not looked at, where
the service says what its clock shows, and where it does not."""

PAGES_MAX: Final = 20
LOOK_MAX_S: Final = 60.0
"""ours: how long one look may take; after that it is as good as not everything was seen."""


Asking = Callable[[TradesQuery], Awaitable[tuple[list[TradeView], int]]]
"""Asks for a page of trades: those that can be read, and how many cannot."""


@dataclass(slots=True)
class TradeSearch:
    """What one look through the service's trades brought, page by page.

    `doubt` says why a trade may be there all the same; empty when everything that counts was read.
    `unsigned` are those without any reference: a service may not give it back.
    """

    wanted: frozenset[str]
    found: dict[str, TradeView] = field(default_factory=dict[str, TradeView])
    doubt: str = ""
    unsigned: list[TradeView] = field(default_factory=list[TradeView])
    seen: set[str] = field(default_factory=set[str])
    in_order: bool = True
    last_at: Timestamp | None = None

    def take(self, views: Sequence[TradeView], dropped: int) -> None:
        """Add a page."""
        self.found |= {view.client_ref: view for view in views if view.client_ref in self.wanted}
        self.unsigned += [view for view in views if not view.client_ref]
        times = [*([] if self.last_at is None else [self.last_at]), *(view.at for view in views)]
        self.in_order = self.in_order and all(a >= b for a, b in pairwise(times))
        self.last_at = times[-1] if times else None
        if dropped:
            self.doubt = self.doubt or "some rows of its trades cannot be read"
        if views and {view.trade_id for view in views} <= self.seen:
            self.doubt = "it gives the same page of trades again and again"
        self.seen |= {view.trade_id for view in views}

    def is_past(self, at: Timestamp) -> bool:
        """Whether only older trades can follow; never where they do not come newest first."""
        return self.in_order and self.last_at is not None and self.last_at < at

    @property
    def has_all(self) -> bool:
        """Whether every order that is looked for was found."""
        return self.wanted <= self.found.keys()


async def reconcile(tickets: Sequence[TicketView], ports: Ports) -> None:
    """Settle the unknown orders that the service knows of; after the horizon ask the person.

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
            _leave_if_overdue(ticket, f"its trades cannot be asked for, {error.sentence}", ports)
        raise
    # What the person closed meanwhile is closed.
    for ticket in _still_unknown(tickets, ports):
        trade = look.found.get(ticket.client_ref)
        resting = books.get(ticket.ticket_id, BookSearch())
        if trade is None and resting.order is not None:
            said = f"it came there and rests on the book: {resting.order.describe()}"
            await settle(ports, ticket, TicketState.DONE, Reason(said))
        elif trade is None:
            doubt = _doubt_of(ticket, look, _before(ticket.opened_at, ports))
            _leave_if_overdue(ticket, doubt or resting.doubt, ports)
        elif trade.status is TradeStatus.UNCONFIRMED and not trade.shares:
            _leave_if_overdue(ticket, "it lists the order, but has not confirmed it", ports)
        else:
            await _settle_found(ticket, trade, ports)


def is_overdue(ticket: TicketView, now: Timestamp) -> bool:
    """Whether an unknown order without a trace has been looked for long enough."""
    return now - (ticket.sent_at or ticket.opened_at) > UNKNOWN_HORIZON_S


async def give_up(command: GiveUp, ports: Ports) -> None:
    """Close an unknown order by the person's word, once it has been looked for long enough."""
    ticket = next(
        (one for one in ports.state().tickets if one.ticket_id == command.ticket_id), None
    )
    if ticket is None or ticket.state is not TicketState.UNKNOWN:
        ports.say(Noticed("warn", "that order has its end already"))
    elif not ticket.is_lost:
        ports.say(Noticed("warn", "it is still being looked up: wait until it says no trace"))
    else:
        await settle(ports, ticket, TicketState.FAILED, Reason(f"{ticket.outcome}; closed by you"))


def _still_unknown(tickets: Sequence[TicketView], ports: Ports) -> list[TicketView]:
    """Those of the tickets that have no end yet, as they stand now."""
    asked = {ticket.ticket_id for ticket in tickets}
    return [
        ticket
        for ticket in ports.state().tickets
        if ticket.ticket_id in asked and ticket.state is TicketState.UNKNOWN
    ]


def _doubt_of(ticket: TicketView, look: TradeSearch, before: Timestamp) -> str:
    """Why an order that was not found may be there all the same; empty when it surely is not."""
    if not ticket.client_ref:
        return "it carries no reference to know it by"
    action = Action.BUY if ticket.amount else Action.SELL
    if any(
        trade.action == action and trade.at >= before and is_holding(ticket.holding, trade)
        for trade in look.unsigned
    ):
        return look.doubt or "a trade like it is there, without a reference"
    return look.doubt


async def _look(tickets: Sequence[TicketView], ports: Ports) -> TradeSearch:
    """Go through the trades for the orders that these tickets have sent."""

    async def ask(query: TradesQuery) -> tuple[list[TradeView], int]:
        reply = await ports.client.call(TRADES, query=query)
        return [trade_view(row) for row in reply.answer.trades], reply.dropped

    wanted = frozenset(ticket.client_ref for ticket in tickets if ticket.client_ref)
    opened_at = min(ticket.opened_at for ticket in tickets)
    return await look_through(wanted, lambda: _before(opened_at, ports), ask, ports.clock.monotonic)


async def look_through(
    wanted: frozenset[str],
    before: Callable[[], Timestamp],
    ask: Asking,
    monotonic: Callable[[], float],
) -> TradeSearch:
    """Go through the trades, newest first, until they are older than every order.

    Args:
        wanted: the references that are looked for.
        before: a time by the service's clock that is surely before every order; asked after each
            page, by whose answer that clock may be known better.
        ask: for a page.
        monotonic: seconds, for the bound on all of it.

    Returns:
        What was found, and why something may have been missed.
    """
    look, begun, offset = TradeSearch(wanted), monotonic(), 0
    for _ in range(PAGES_MAX):
        # No `since`: by whose clock it would be read nobody knows.
        views, dropped = await ask(
            TradesQuery(limit=TRADES_PAGE_MAX, offset=offset, include_failed=True)
        )
        count = len(views) + dropped
        # A page that is merely short proves no end: a service may give less than was asked for.
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
    look.doubt = look.doubt or "it has more trades than can be looked through"
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
        await settle(ports, ticket, TicketState.FAILED, Reason("it came there and failed"))
        return
    if trade.status is TradeStatus.CANCELLED and not trade.shares:
        await settle(ports, ticket, TicketState.FAILED, Reason("it came there and ended unfilled"))
        return
    if trade.status is TradeStatus.SUBMITTED and not trade.shares:
        ports.poke(Topic.ORDERS)
        said = Reason("it came there and rests on the book: no shares yet")
        await settle(ports, ticket, TicketState.DONE, said)
        return
    said = f"it did happen: {decimal(trade.shares):,.2f} shares for {decimal(trade.cost):,.2f}"
    if trade.venue is not Venue.SIM and trade.action in set(Action):
        fee = venue_fee_text(trade.fee, Action(trade.action), trade.venue)
        said = f"{said} {MONEY_OF[trade.venue]}, {fee}"
    strayed = strayed_text(ticket, trade)
    if strayed:
        said = f"{said}, but {strayed}"
        ports.say(Noticed("bad", f"{ticket.what}: {strayed}"))
    await settle(ports, ticket, TicketState.DONE, Reason(said))
    for topic in (Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES, Topic.ORDERS):
        ports.poke(topic)


def _leave_if_overdue(ticket: TicketView, doubt: str, ports: Ports) -> None:
    """After the horizon only a person may send again; said once, with how certain it is."""
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
    ports.say(Changed(left))
    if left.has_no_trace or not ticket.is_lost:
        ports.say(Noticed("warn", f"{ticket.what}: {outcome}", fix=fix))
