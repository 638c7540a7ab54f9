"""Submitted commands and their ends: the rows of the blotter."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import (
    Venue,
)
from service_tui.units import Micros, Timestamp

NO_TRACE: Final = "not found within 10 minutes"
"""Outcome of an unknown order that was looked for long enough; the person decides what is next."""

NOT_FOUND: Final = "not found after 10 minutes"
"""How the outcome begins where it was looked for as long, but not everything could be read."""


class TicketState(StrEnum):
    """State of a command. `unknown`: sent without an answer; never repeated automatically."""

    QUEUED = "queued"
    SENT = "sent"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


class OnBook(StrEnum):
    """What became of an order that was done by resting on a book; the values are its labels."""

    OPEN = "open"
    FILLED = "filled"
    PARTIAL = "partial"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class TicketView:
    """One command and how it ended: a row of the blotter.

    `what` describes the order; `outcome` what became of it; `fix` what to do about a
    no. A buy may spend `amount`; a sale may take `shares` from the position with the row key
    `holding`. An order goes to `venue`; what is none stands under sim. One that rests on a book has
    its `limit`, and `on_book` where its present state is known.
    """

    ticket_id: str
    kind: str
    market_id: str
    what: str
    state: TicketState
    opened_at: Timestamp
    sent_at: Timestamp | None = None
    settled_at: Timestamp | None = None
    outcome: str = ""
    fix: str = ""
    client_ref: str = ""
    amount: Micros = Micros(0)
    question: str = ""
    holding: str = ""
    shares: Micros = Micros(0)
    venue: Venue = Venue.SIM
    limit: float | None = None
    on_book: OnBook | None = None

    @property
    def has_no_trace(self) -> bool:
        """True when it is unknown, and the service surely knows nothing of it."""
        return self.state is TicketState.UNKNOWN and self.outcome == NO_TRACE

    @property
    def is_lost(self) -> bool:
        """True when it is unknown and was not found in time: the person may close it."""
        unread = self.state is TicketState.UNKNOWN and self.outcome.startswith(NOT_FOUND)
        return unread or self.has_no_trace

    @property
    def in_flight(self) -> bool:
        """True while its end is not known."""
        return self.state in {TicketState.QUEUED, TicketState.SENT, TicketState.UNKNOWN}
