"""Looking up orders whose end is not known, by the reference that each carries.

Knows ports, trades of the service and the end of a ticket. Must not know how an order is sent: what
is not found is never sent again from here.
Used by desk.desk, at the start and again and again while something is unknown.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service_tui.desk.commands import GiveUp
from service_tui.desk.facts import Noticed, TicketChanged
from service_tui.desk.handlers.trades import settle
from service_tui.desk.ports import Ports
from service_tui.desk.records import NO_TRACE, TicketState, TicketView, Topic, TradeView
from service_tui.desk.translate import trade_view
from service_tui.terms import TradeStatus
from service_tui.units import Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints import TRADES
from service_tui.wire.trades import TradesQuery

UNKNOWN_HORIZON_S: Final = 600.0
"""A trade without a trace after this long may be sent again by the person. Source: failures."""

SKEW_MAX_S: Final = 3_600.0
"""ours: how far a service's clock may be behind ours and its trades still be found."""

PAGE: Final = 200
PAGES_MAX: Final = 20


async def reconcile(tickets: Sequence[TicketView], ports: Ports) -> None:
    """Settle the unknown orders that the service knows of; after the horizon ask the person.

    Args:
        tickets: the unknown ones, at least one; each with its reference.
        ports: the outside.

    Raises:
        ServiceError: the service did not answer; the tickets stay unknown.
    """
    since = Timestamp(min(ticket.opened_at for ticket in tickets) - SKEW_MAX_S)
    found, is_whole = await _own_trades({one.client_ref for one in tickets}, since, ports)
    for ticket in tickets:
        trade = found.get(ticket.client_ref)
        if trade is not None:
            await _settle_found(ticket, trade, ports)
        elif is_whole and is_overdue(ticket, ports.now()):
            _leave_to_the_person(ticket, ports)


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
        await settle(ports, ticket, TicketState.FAILED, (f"{NO_TRACE}; closed by you", ""))


async def _own_trades(
    wanted: set[str], since: Timestamp, ports: Ports
) -> tuple[dict[str, TradeView], bool]:
    """The service's rows by our reference, and whether every row since then could be read."""
    found: dict[str, TradeView] = {}
    is_whole = True
    for page in range(PAGES_MAX):
        query = TradesQuery(
            limit=PAGE, offset=page * PAGE, since=moment(since), include_failed=True
        )
        reply = await ports.client.call(TRADES, query=query)
        views = [trade_view(row) for row in reply.answer.trades]
        found |= {view.client_ref: view for view in views if view.client_ref in wanted}
        is_whole = is_whole and not reply.dropped
        if wanted <= found.keys() or len(views) + reply.dropped < PAGE:
            return found, is_whole
    return found, False


async def _settle_found(ticket: TicketView, trade: TradeView, ports: Ports) -> None:
    if trade.status is TradeStatus.FAILED:
        await settle(ports, ticket, TicketState.FAILED, ("it came there and failed", ""))
        return
    said = f"it did happen: {decimal(trade.shares):,.2f} shares for {decimal(trade.cost):,.2f}"
    await settle(ports, ticket, TicketState.DONE, (said, ""))
    for topic in (Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES):
        ports.poke(topic)


def _leave_to_the_person(ticket: TicketView, ports: Ports) -> None:
    """After the horizon only a person may send again; said once."""
    if ticket.outcome != NO_TRACE:
        fix = "check the positions, send it again yourself if you want it; d in 0 closes this one"
        ports.say(TicketChanged(replace(ticket, outcome=NO_TRACE, fix=fix)))
        ports.say(Noticed("warn", f"{ticket.what}: {NO_TRACE} — {fix}"))
