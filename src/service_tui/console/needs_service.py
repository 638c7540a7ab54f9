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
from service_tui.desk.slices.records import LimitsView, Phase, TicketState, TicketView
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
"""Word, end and note of a topic that the service keeps refusing, by the status of its answer."""


def of_service(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about the connection, limits and orders."""
    yield from _connection(state)
    yield from _refused_topics(state)
    yield from _open_ends(state, now)
    yield from _limits(state)
    yield from _bad_ends(state, now)


def _connection(state: DeskState) -> Iterator[Need]:
    """A refused key, or a service that does not answer: nothing else can be done before."""
    service, money = state.service, None if state.account is None else state.account.equity
    if service.phase is Phase.UNAUTHORIZED:
        yield Need(
            "key", "breach", "✗", "401 key", formats.plain(service.problem).plain, Text(),
            "no request is sent", "settings", note="the key is not valid",
            left_s=0.0, money=money, verb="Show service",
        )  # fmt: skip
    elif service.phase is Phase.OFFLINE:
        yield Need(
            "offline", "breach", "○", "offline", formats.plain(service.problem).plain, Text(),
            "no exits until it answers", "settings", note="retried automatically",
            left_s=0.0, money=money, verb="Refresh", act="app.refresh",
        )  # fmt: skip


def _refused_topics(state: DeskState) -> Iterator[Need]:
    """Topics refused by plan or rate, and features that the plan lacks."""
    service = state.service
    known = _ANSWERS.get(service.problem_status)
    if known is not None and service.problem_of is not None and service.phase is Phase.ONLINE:
        word, otherwise, why = known
        yield Need(
            f"answer {word} {service.problem_of.value}", "warn", "!", word,
            f"{service.problem_of.value}: {formats.plain(service.problem).plain}", Text(),
            otherwise, "settings", note=why, verb="Refresh", act="app.refresh",
        )  # fmt: skip
    if state.reactor.barred:
        yield Need(
            "barred reactor", "muted", "!", "403", formats.plain(state.reactor.barred).plain,
            Text(), "stays off", "reactor", note="not in your plan", is_dismissable=True,
        )  # fmt: skip
    if state.research.needs_plan:
        yield Need(
            "barred research", "muted", "!", "403", "autoresearch needs the Pro plan", Text(),
            "stays off", "research", note="not in your plan", is_dismissable=True,
        )  # fmt: skip


def _open_ends(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Orders that were sent and have no answer; nobody may send them again."""
    for ticket in state.tickets:
        if ticket.state is TicketState.UNKNOWN:
            sent = ticket.sent_at or ticket.opened_at
            note = fix_text(ticket.fix) or "do not resend"
            yield Need(
                f"ticket {ticket.ticket_id}", "breach", "?", "unknown", _order(state, ticket),
                formats.age(sent, now), "is looked up", "blotter", ticket.ticket_id, note=note,
                is_real=_is_real(ticket), left_s=max(0.0, LOOKUP_S - (now - sent)),
                money=ticket.amount,
            )  # fmt: skip


def _bad_ends(state: DeskState, now: Timestamp) -> Iterator[Need]:
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
            f"ticket {ticket.ticket_id}", "loss", "✗", ticket.state.value, _order(state, ticket),
            formats.age(ended, now), "not carried out", "blotter", ticket.ticket_id,
            kind="commands refused or failed", note=note,
            is_real=_is_real(ticket), is_dismissable=True, money=ticket.amount,
        )  # fmt: skip


def _limits(state: DeskState) -> Iterator[Need]:
    limits = state.limits
    if state.halted_since is not None:
        yield Need(
            "halted", "loss", "■", "halted", "All buys blocked", Text(),
            "buys stay blocked", "settings", note="acknowledgements, exit all, resume",
            verb="Show halt", act="app.halt",
        )  # fmt: skip
    if limits is None:
        return
    if limits.paused and state.halted_since is None:
        yield Need(
            "paused", "warn", "‖", "paused", "Trading is paused", Text(),
            "buys are refused", "settings", note="sales allowed", verb="Show settings",
        )  # fmt: skip
    part, left = _of_the_day(state, limits)
    if part > WARN_FROM:
        yield Need(
            "day", "warn", "▲", "day limit", "Daily limit nearly used",
            formats.percent(part, 0), "buys are refused at the limit", "settings",
            note=f"{left} left until midnight UTC", verb="Show limits",
        )  # fmt: skip


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
