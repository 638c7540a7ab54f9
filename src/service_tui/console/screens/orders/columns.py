"""The columns of the blotter's table."""

from collections.abc import Callable

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.freshness import is_private
from service_tui.console.parts.ticket_text import STATES, marked, took_s, with_venue
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.records import TicketView
from service_tui.desk.state import DeskState


def ticket_columns(state: Callable[[], DeskState]) -> tuple[Column[TicketView], ...]:
    """The columns, from left to right; `state` gives the questions and says what is masked."""

    def plainly(sentence: str) -> Text:
        return formats.plain(told(sentence, masked=is_private(state())))

    return (
        Column(
            "time",
            "time",
            8,
            lambda ticket: formats.clock_time(ticket.opened_at),
            sort_key=lambda ticket: ticket.opened_at,
            numeric=True,
            glows=False,
        ),
        Column(
            "what",
            "command",
            20,
            lambda ticket: marked(plainly(ticket.what)),
            sort_key=lambda ticket: ticket.what,
        ),
        Column(
            "market",
            "market",
            16,
            lambda ticket: with_venue(ticket, formats.plain(state().question_of(ticket))),
            sort_key=lambda ticket: state().question_of(ticket),
            flex=True,
        ),
        Column(
            "state",
            "state",
            9,
            _state,
            sort_key=lambda ticket: ticket.state.value,
        ),
        Column("took", "took ms", 7, milliseconds, sort_key=took_s, numeric=True),
        Column("outcome", "outcome", 24, lambda ticket: plainly(ticket.outcome), tier=96),
    )


def milliseconds(ticket: TicketView) -> str:
    """How long a command took; a dash while it has no end."""
    took = took_s(ticket)
    return formats.NOT_KNOWN if took is None else f"{took * 1000:,.0f}"


def _state(ticket: TicketView) -> Text:
    glyph, word, tone = STATES[ticket.state]
    return Text(f"{glyph} {word}", tone)
