"""Needs of the service and of orders: refusals, limits, unknown results. Pure."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.questions import short_question
from service_tui.console.ranking import Need
from service_tui.console.reasons import fix_text, without_amounts
from service_tui.console.widgets.line_fit import WARN_FROM
from service_tui.desk.slices.account import LimitsView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import Micros, Timestamp

REFUSED_FOR_S: Final = 600.0
"""A refused or failed command is listed for ten minutes."""

LOOKUP_S: Final = 600.0
"""How long an order without an answer is looked up before the person decides."""

_ANSWERS: Final = {
    403: ("403", "stays unavailable", "not in your plan"),
    429: ("429", "read again later", "rate limited"),
}
"""Word, `otherwise` and note of a topic that the service refuses, by the status of its answer."""

_PLAN: Final = "limits of the plan"
"""What such answers are called where they are muted."""


def of_service(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about the connection, limits and orders."""
    yield from _connection(state)
    yield from _refused_topics(state)
    yield from _unknown_orders(state, now)
    yield from _limits(state)
    yield from _failed_commands(state, now)


def _connection(state: DeskState) -> Iterator[Need]:
    """A refused key, or a service that does not answer: nothing else can be done before."""
    service, money = state.service, None if state.account is None else state.account.equity
    if service.phase is Phase.UNAUTHORIZED:
        yield Need(
            key="key",
            tone="breach",
            glyph="✗",
            word="401 key",
            what=formats.plain(service.problem).plain,
            figure=Text(),
            otherwise="no request is sent",
            screen="settings",
            note="the key is not valid",
            left_s=0.0,
            money=money,
            verb="Show service",
        )
    elif service.phase is Phase.OFFLINE:
        yield Need(
            key="offline",
            tone="breach",
            glyph="○",
            word="offline",
            what=formats.plain(service.problem).plain,
            figure=Text(),
            otherwise="no stop sales until it answers",
            screen="settings",
            note="retried automatically",
            left_s=0.0,
            money=money,
            verb="Refresh",
            act="app.refresh",
        )


def _refused_topics(state: DeskState) -> Iterator[Need]:
    """Topics refused by plan or rate, and features that the plan lacks."""
    service = state.service
    known = _ANSWERS.get(service.problem_status)
    if known is not None and service.problem_of is not None and service.phase is Phase.ONLINE:
        word, otherwise, why = known
        yield Need(
            key=f"answer {word} {service.problem_of.value}",
            tone="warn",
            glyph="!",
            word=word,
            what=f"{service.problem_of.value}: {formats.plain(service.problem).plain}",
            figure=Text(),
            otherwise=otherwise,
            screen="settings",
            note=why,
            verb="Refresh",
            act="app.refresh",
            topic=_PLAN,
        )
    if state.reactor.barred:
        yield Need(
            key="barred reactor",
            tone="muted",
            glyph="!",
            word="403",
            what=formats.plain(state.reactor.barred).plain,
            figure=Text(),
            otherwise="stays off",
            screen="reactor",
            note="not in your plan",
            is_dismissable=True,
            topic=_PLAN,
        )
    if state.research.needs_plan:
        yield Need(
            key="barred research",
            tone="muted",
            glyph="!",
            word="403",
            what="autoresearch needs the Pro plan",
            figure=Text(),
            otherwise="stays off",
            screen="research",
            note="not in your plan",
            is_dismissable=True,
            topic=_PLAN,
        )


def _unknown_orders(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Orders that were sent and have no answer; they must not be sent again."""
    for ticket in state.tickets:
        if ticket.state is TicketState.UNKNOWN:
            sent = ticket.sent_at or ticket.opened_at
            note = fix_text(ticket.fix) or "do not resend"
            yield Need(
                key=f"ticket {ticket.ticket_id}",
                tone="breach",
                glyph="?",
                # Another word is a change: a snoozed row comes back when the person must decide.
                word="decide" if ticket.is_lost else "unknown",
                what=_order(state, ticket),
                figure=formats.age(sent, now),
                otherwise="is looked up",
                screen="blotter",
                row=ticket.ticket_id,
                note=note,
                is_real=_is_real(ticket),
                left_s=max(0.0, LOOKUP_S - (now - sent)),
                money=ticket.amount,
                is_pinned=True,
                is_clock=True,
            )


def _failed_commands(state: DeskState, now: Timestamp) -> Iterator[Need]:
    for ticket in state.tickets:
        if ticket.state not in {TicketState.REFUSED, TicketState.FAILED}:
            continue
        ended = ticket.settled_at or ticket.opened_at
        if not now - ended <= REFUSED_FOR_S:
            continue
        masked = is_private(state)
        fix = fix_text(ticket.fix, masked=masked)
        note = fix or without_amounts(ticket.outcome, masked=masked)
        yield Need(
            key=f"ticket {ticket.ticket_id}",
            tone="loss",
            glyph="✗",
            word=ticket.state.value,
            what=_order(state, ticket),
            figure=formats.age(ended, now),
            otherwise="not carried out",
            screen="blotter",
            row=ticket.ticket_id,
            kind="commands refused or failed",
            note=note,
            is_real=_is_real(ticket),
            is_dismissable=True,
            money=ticket.amount,
            topic="commands refused or failed",
            is_clock=True,
        )


def _limits(state: DeskState) -> Iterator[Need]:
    limits = state.limits
    if state.halted_since is not None:
        yield Need(
            key="halted",
            tone="loss",
            glyph="■",
            word="halted",
            what="All buys blocked",
            figure=Text(),
            otherwise="buys stay blocked",
            screen="settings",
            note="acknowledgements, sell all, resume",
            verb="Show halt",
            act="app.halt",
        )
    if limits is None:
        return
    if limits.paused and state.halted_since is None:
        yield Need(
            key="paused",
            tone="warn",
            glyph="‖",
            word="paused",
            what="Trading is paused",
            figure=Text(),
            otherwise="buys are refused",
            screen="settings",
            note="sales allowed",
            verb="Show settings",
        )
    part, left = _of_the_day(state, limits)
    if part > WARN_FROM:
        yield Need(
            key="day",
            tone="warn",
            glyph="▲",
            word="day limit",
            what="Daily limit nearly used",
            figure=formats.percent(part, 0),
            otherwise="buys are refused at the limit",
            screen="settings",
            note=f"{left} left until midnight UTC",
            verb="Show limits",
            topic="daily limits",
        )


def _of_the_day(state: DeskState, limits: LimitsView) -> tuple[float, str]:
    """The used part of the day's limit that binds, and the rest of it."""
    if state.service.mode is Mode.SIM:
        # The day's spend binds real venues only, its number of buys every venue.
        if limits.day_trades is None or not limits.day_trades_max:
            return 0.0, ""
        used = limits.day_trades + limits.day_resting
        unused = max(0, limits.day_trades_max - used)
        return used / limits.day_trades_max, f"{unused:,} buys"
    unspent = Micros(max(0, limits.day_spend_max - limits.day_spent))
    part = limits.day_spent / limits.day_spend_max if limits.day_spend_max > 0 else 1.0
    return part, formats.money(unspent, masked=is_private(state)).plain


def _order(state: DeskState, ticket: TicketView) -> str:
    about = short_question(state.question_of(ticket))
    what = without_amounts(ticket.what, masked=is_private(state))
    return f"{what}: {about}" if about else what


def _is_real(ticket: TicketView) -> bool:
    return ticket.venue is not Venue.SIM
