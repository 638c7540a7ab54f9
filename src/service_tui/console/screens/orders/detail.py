"""One command of the blotter in full: its state, its times, its result."""

import textwrap
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import on_wall
from service_tui.console.reasons import fix_text, without_amounts
from service_tui.console.screens.orders.table import marked, milliseconds, state_of
from service_tui.console.view_context import ViewContext
from service_tui.desk.fill_tickets import KIND as FILL
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.terms import MONEY_OF, Venue
from service_tui.units import Timestamp

_LABEL: Final = 11
_SENTENCE_MAX: Final = 400
_NARROWEST: Final = 12
"""Cells of the labels; letters of a sentence that are worth showing; cells that it needs."""

_WAITS: Final = {
    TicketState.QUEUED: "queued; not sent yet",
    TicketState.SENT: "sent, waiting for a response",
    TicketState.UNKNOWN: "checking; do not send it again",
}


def describe(ticket: TicketView, view: ViewContext) -> Text:
    """One command in full: subject, place, times, result, fix, id."""
    width = view.width
    glyph, word, tone = state_of(ticket)
    head = Text.assemble((f"{glyph} {word}", f"bold {tone}"), "  ")
    head.append_text(marked(Text(view.sentence(ticket.what), "bold")))
    parts = [head]
    question = formats.plain(view.state.question_of(ticket)).plain
    if question:
        parts.append(Text(question))
    if ticket.venue is not Venue.SIM:
        parts.append(_sentence("money", f"{MONEY_OF[ticket.venue]} on {ticket.venue.value}", width))
    ending = without_amounts(ticket.outcome, masked=view.masked) or _WAITS.get(ticket.state, "")
    if ending:
        parts.append(_sentence("outcome", ending, width))
    if ticket.fix:
        parts.append(_sentence("to do", fix_text(ticket.fix, masked=view.masked), width))
    parts += [_line(label, value) for label, value in _times(ticket, view.now)]
    parts.append(_sentence("id", ticket.client_ref or ticket.ticket_id, width))
    return Text("\n").join(parts)


def _sentence(label: str, sentence: str, width: int) -> Text:
    """A label and a text that may need several lines, all of them beside the label."""
    plain = formats.plain(sentence, _SENTENCE_MAX).plain
    lines = textwrap.wrap(plain, max(_NARROWEST, width - _LABEL)) or [""]
    return _line(label, Text(("\n" + " " * _LABEL).join(lines)))


def _line(label: str, value: Text) -> Text:
    return Text.assemble((label.ljust(_LABEL), "muted"), value)


def _times(ticket: TicketView, now: Timestamp) -> tuple[tuple[str, Text], ...]:
    opened = Text.assemble(
        formats.moment_of(ticket.opened_at, now),
        ("  ", "muted"),
        formats.age(ticket.opened_at, now),
        (" ago", "muted"),
    )
    if ticket.kind == FILL:
        return (("filled", opened),)
    return (
        ("opened", opened),
        ("sent", _after(ticket.sent_at, ticket.opened_at, now)),
        ("settled", _after(ticket.settled_at, ticket.sent_at or ticket.opened_at, now)),
    )


def _after(at: Timestamp | None, before: Timestamp, now: Timestamp) -> Text:
    """A time and its delay after the step before it."""
    if at is None:
        return Text("not yet", "muted")
    gap = max(0.0, at - before)
    text = f"+{gap * 1000:,.0f} ms" if gap < 1 else f"+{formats.duration(gap)}"
    return Text.assemble(formats.moment_of(at, now), (f"  {text}", "muted"))


def explain_ticket(ticket: TicketView, view: ViewContext) -> tuple[Explanation, ...]:
    """The duration of a command."""
    formula = "settled - sent" if ticket.sent_at is not None else "settled - opened"
    wall = on_wall(view.state)
    moments = (
        (f"opened{wall}", formats.moment_of(ticket.opened_at, view.now)),
        (f"sent{wall}", formats.moment_of(ticket.sent_at, view.now)),
        (f"settled{wall}", formats.moment_of(ticket.settled_at, view.now)),
    )
    age = formats.age(ticket.opened_at, view.now)
    took = Text(milliseconds(ticket))
    return (Explanation("took, ms", took, formula, moments, "measured by this desk", age),)
