"""The table of the blotter: every command, the redemptions, and the fills of others."""

import re
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import with_keys
from service_tui.console.reasons import without_amounts
from service_tui.console.table_spec import (
    TableSpec,
    clock_column,
    listed_name,
    marked_question,
    shorter_name,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.chain.run_tickets import run_tickets
from service_tui.desk.fill_tickets import fill_tickets, with_book
from service_tui.desk.slices.tickets import OnBook, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import MONEY_OF, Mode, Venue
from service_tui.units import decimal

STATES: Final = {
    TicketState.QUEUED: ("…", "queued", "muted"),
    TicketState.SENT: ("→", "sent", "accent"),
    TicketState.DONE: ("✓", "done", "profit"),
    TicketState.REFUSED: ("✗", "refused", "warn"),
    TicketState.FAILED: ("✗", "failed", "loss"),
    TicketState.UNKNOWN: ("?", "unknown", "breach"),
}
"""Glyph, word and tone of each state."""

_ON_BOOK: Final = {
    OnBook.OPEN: ("○", OnBook.OPEN.value, "accent"),
    OnBook.FILLED: STATES[TicketState.DONE],
    OnBook.PARTIAL: ("◐", OnBook.PARTIAL.value, "warn"),
    OnBook.CANCELLED: ("□", OnBook.CANCELLED.value, "muted"),
}

_UNREAD: Final = "Loading orders of earlier days."
_NONE: Final = (
    "No orders yet.\n\nYour orders appear here with their results.\nMarkets ({app.markets}): "
    "{markets.buy} opens the order ticket."
)


def took_s(ticket: TicketView) -> float | None:
    """From sending (or else accepting) to the result, in seconds; None without a result."""
    if ticket.settled_at is None:
        return None
    return max(0.0, ticket.settled_at - (ticket.sent_at or ticket.opened_at))


def milliseconds(ticket: TicketView) -> str:
    """The duration of a command; a dash without a result."""
    took = took_ms(ticket)
    return formats.NOT_KNOWN if took is None else f"{took:,.0f}"


def took_ms(ticket: TicketView) -> float | None:
    """The duration in milliseconds."""
    took = took_s(ticket)
    return None if took is None else took * 1000


def marked(text: Text) -> Text:
    """The text of a command; the mark of real money stands out."""
    text.highlight_words([f"{Mode.LIVE.value} "], "bold live")
    return text


def venue_text(ticket: TicketView) -> Text:
    """Money and venue of a command, where it is a real venue's; empty for play money."""
    if ticket.venue is Venue.SIM:
        return Text()
    return Text(f"{MONEY_OF[ticket.venue]} {ticket.venue.value}", "live")


_EXIT: Final = re.compile(r"exit, ([^:]+): (.*)")


def command_text(ticket: TicketView) -> str:
    """A command as its row shows it: action, side, price and size first, then an exit's reason.

    The row marks the venue beside the market, and the detail has the whole text.
    """
    text = ticket.what
    if ticket.venue is not Venue.SIM:
        text = text.replace(f" on {ticket.venue.value}", "")
        text = text.replace(f" {MONEY_OF[ticket.venue]}", "")
    found = _EXIT.fullmatch(text)
    return text if found is None else f"{found.group(2)}, {found.group(1)}"


def rows(state: DeskState) -> tuple[TicketView, ...]:
    """The redemptions, the commands, and the fills without a command of this desk."""
    others = fill_tickets(state.trades, state.tickets)
    orders = state.orders if Topic.ORDERS in state.seen else None
    own = with_book(state.tickets, state.trades, orders)
    return (*run_tickets(state.redemption.runs), *own, *others)


def search_text(ticket: TicketView, view: ViewContext) -> str:
    """The text in which a search finds a command, casefolded."""
    parts = (
        ticket.what,
        view.state.question_of(ticket),
        ticket.state.value,
        ticket.outcome,
        ticket.client_ref,
        ticket.kind,
        "" if ticket.venue is Venue.SIM else f"{MONEY_OF[ticket.venue]} {ticket.venue.value}",
    )
    return folded("\n".join(parts))


def state_of(ticket: TicketView) -> tuple[str, str, str]:
    """Glyph, word and tone of a command, or of what became of its order on the book."""
    return STATES[ticket.state] if ticket.on_book is None else _ON_BOOK[ticket.on_book]


def _state_text(ticket: TicketView) -> Text:
    glyph, word, tone = state_of(ticket)
    return Text(f"{glyph} {word}", tone)


def _plain(sentence: str, view: ViewContext) -> Text:
    return formats.plain(without_amounts(sentence, masked=view.masked))


def _is_read(state: DeskState) -> bool:
    # The topics to poll are set once the desk is open, and with it its commands.
    return bool(state.polls)


def _empty_text(state: DeskState) -> str:
    return with_keys(_NONE) if _is_read(state) else _UNREAD


BLOTTER: Final = TableSpec[TicketView](
    "orders",
    rows=rows,
    key=lambda ticket: ticket.ticket_id,
    columns=(
        clock_column(lambda ticket: ticket.opened_at),
        Column(
            "what",
            "order",
            20,
            lambda ticket, view: marked(_plain(command_text(ticket), view)),
            sort_key=lambda ticket, _: ticket.what,
            wide=(76, 34),
            fits=True,
        ),
        Column(
            "market",
            "market",
            13,
            lambda ticket, view: marked_question(
                listed_name(ticket.market_id, view.state.question_of(ticket), view.state),
                ticket.venue,
            ),
            shorter=lambda ticket, view: marked_question(
                shorter_name(ticket.market_id, view.state.question_of(ticket), view.state),
                ticket.venue,
            ),
            sort_key=lambda ticket, view: view.state.question_of(ticket),
            flex=True,
            keeps_end=True,
        ),
        Column(
            "venue",
            "venue",
            16,
            lambda ticket, _: venue_text(ticket),
            sort_key=lambda ticket, _: ticket.venue.value,
            tier=126,
        ),
        Column(
            "state",
            "state",
            11,
            lambda ticket, _: _state_text(ticket),
            sort_key=lambda ticket, _: state_of(ticket)[1],
        ),
        Column(
            "took",
            "took ms",
            7,
            lambda ticket, _: milliseconds(ticket),
            sort_key=lambda ticket, _: took_s(ticket),
            numeric=True,
            tier=86,
        ),
        Column(
            "outcome", "outcome", 24, lambda ticket, view: _plain(ticket.outcome, view), tier=112
        ),
    ),
    search_text=search_text,
    empty_text=_empty_text,
    is_loaded=_is_read,
    newest_on_top=True,
    sort="time",
    falling=True,
    # Milliseconds, money, seconds.
    compared={
        "took": lambda ticket, _: took_ms(ticket),
        "amount": lambda ticket, _: decimal(ticket.amount),
        "age": lambda ticket, view: view.now - ticket.opened_at,
    },
)
