"""What is told about one command: its state in a word, its times, its end."""

import textwrap
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.freshness import is_private
from service_tui.desk.fill_tickets import KIND as FILL
from service_tui.desk.slices.records import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Mode, Venue
from service_tui.units import Timestamp, decimal

STATES: Final = {
    TicketState.QUEUED: ("…", "queued", "muted"),
    TicketState.SENT: ("→", "sent", "accent"),
    TicketState.DONE: ("✓", "done", "profit"),
    TicketState.REFUSED: ("✗", "refused", "warn"),
    TicketState.FAILED: ("✗", "failed", "loss"),
    TicketState.UNKNOWN: ("?", "unknown", "breach"),
}
"""Glyph, word and tone of each state."""

COMPARED: Final = ("took", "amount", "age")
"""Columns that the `/` line compares: milliseconds, money, seconds."""

_LABEL: Final = 11
_SENTENCE_MAX: Final = 400
_NARROWEST: Final = 12
"""Cells of the labels; letters of a sentence that are worth showing; cells that it needs."""

_WAITS: Final = {
    TicketState.QUEUED: "it waits for its turn; nothing is sent yet",
    TicketState.SENT: "sent, the answer is on its way",
    TicketState.UNKNOWN: "it is looked up until it is found: do not send it again",
}


def took_s(ticket: TicketView) -> float | None:
    """From sending (or else taking in) to the end, in seconds; None while it has no end."""
    if ticket.settled_at is None:
        return None
    return max(0.0, ticket.settled_at - (ticket.sent_at or ticket.opened_at))


def words_of(ticket: TicketView, state: DeskState) -> str:
    """Everything that a search finds a command by, casefolded."""
    parts = (
        ticket.what,
        state.question_of(ticket),
        ticket.state.value,
        ticket.outcome,
        ticket.client_ref,
        ticket.kind,
        "" if ticket.venue is Venue.SIM else f"{MONEY_OF[ticket.venue]} {ticket.venue.value}",
    )
    return "\n".join(parts).casefold()


def number_of(ticket: TicketView, column: str, now: Timestamp) -> float | None:
    """A command's value in a column of `COMPARED`."""
    match column:
        case "took":
            took = took_s(ticket)
            return None if took is None else took * 1000
        case "amount":
            return decimal(ticket.amount)
        case _:
            return now - ticket.opened_at


def marked(words: Text) -> Text:
    """The words of a command; what says that its money is real stands out."""
    words.highlight_words([f"{Mode.LIVE.value} "], "bold live")
    return words


def with_venue(ticket: TicketView, question: Text) -> Text:
    """What a command is about, behind its money and its venue where that is a real one."""
    if ticket.venue is Venue.SIM:
        return question
    return Text.assemble((f"{MONEY_OF[ticket.venue]} {ticket.venue.value}", "live"), "  ", question)


def ticket_detail(ticket: TicketView, state: DeskState, now: Timestamp, *, width: int) -> Text:
    """One command whole: what, where, when, how it ended, what to do, by which reference."""
    masked = is_private(state)
    glyph, word, tone = STATES[ticket.state]
    head = Text.assemble((f"{glyph} {word}", f"bold {tone}"), "  ")
    head.append_text(marked(Text(formats.plain(told(ticket.what, masked=masked)).plain, "bold")))
    parts = [head]
    question = formats.plain(state.question_of(ticket)).plain
    if question:
        parts.append(Text(question))
    if ticket.venue is not Venue.SIM:
        parts.append(_sentence("money", f"{MONEY_OF[ticket.venue]} on {ticket.venue.value}", width))
    ending = told(ticket.outcome, masked=masked) or _WAITS.get(ticket.state, "")
    if ending:
        parts.append(_sentence("outcome", ending, width))
    if ticket.fix:
        parts.append(_sentence("to do", told(ticket.fix, masked=masked), width))
    parts += [_line(label, value) for label, value in _times(ticket, now)]
    parts.append(_sentence("reference", ticket.client_ref or formats.NOT_KNOWN, width))
    parts.append(_sentence("ticket", f"{ticket.kind} {ticket.ticket_id}", width))
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
    """A time and how long after the step before it."""
    if at is None:
        return Text("not yet", "muted")
    gap = max(0.0, at - before)
    words = f"+{gap * 1000:,.0f} ms" if gap < 1 else f"+{formats.duration(gap)}"
    return Text.assemble(formats.moment_of(at, now), (f"  {words}", "muted"))
