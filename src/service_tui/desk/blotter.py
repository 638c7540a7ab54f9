"""Tickets as rows of the blotter and back."""

import json
from typing import Final

from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.storage.blotter import Intent, StoredTicket
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp

_DAMAGED: Final = "damaged record: checking the result"


def intent_of(ticket: TicketView, sent: str) -> Intent:
    """Row that is stored before anything is sent. `sent` is the JSON of the request."""
    return Intent(
        ticket_id=ticket.ticket_id,
        at=ticket.opened_at,
        kind=ticket.kind,
        subject=ticket.market_id,
        body=json.dumps({
            "what": ticket.what,
            "question": ticket.question,
            "sent": sent,
            "holding": ticket.holding,
            "shares": ticket.shares,
            "venue": ticket.venue.value,
            "limit": ticket.limit,
        }),
        amount_micros=int(ticket.amount),
        client_ref=ticket.client_ref or None,
    )


def outcome_of(ticket: TicketView) -> str:
    """JSON of a ticket's outcome, stored in its row."""
    return json.dumps({"outcome": ticket.outcome, "fix": ticket.fix, "sent_at": ticket.sent_at})


def sent_of(row: StoredTicket) -> str:
    """The JSON of the request; empty if the row does not contain it."""
    return str(_fields(row.body).get("sent", ""))


def ticket_of(row: StoredTicket) -> TicketView:
    """The stored ticket; one without an outcome becomes unknown, queued or sent alike."""
    intent = _fields(row.body)
    end = _fields(row.outcome)
    state = TicketState(row.state.value)
    unsettled = state in {TicketState.QUEUED, TicketState.SENT}
    outcome = "left open by an earlier run" if unsettled else str(end.get("outcome", ""))
    return TicketView(
        ticket_id=row.ticket_id,
        kind=row.kind,
        market_id=row.subject,
        what=str(intent.get("what", row.kind)),
        state=TicketState.UNKNOWN if unsettled else state,
        opened_at=Timestamp(row.at),
        sent_at=_timestamp(end.get("sent_at") or row.sent_at),
        settled_at=_timestamp(row.settled_at),
        outcome=_DAMAGED if row.is_odd else outcome,
        fix=str(end.get("fix", "")),
        client_ref=row.client_ref or "",
        amount=Micros(row.amount_micros),
        question=str(intent.get("question", "")),
        holding=str(intent.get("holding", "")),
        shares=_shares(intent.get("shares")),
        venue=_venue(intent.get("venue")),
        limit=_limit(intent.get("limit")),
    )


def _timestamp(value: object) -> Timestamp | None:
    return Timestamp(float(value)) if isinstance(value, int | float) else None


def _shares(value: object) -> Micros:
    return Micros(value) if isinstance(value, int) else Micros(0)


def _limit(value: object) -> float | None:
    """Price of a limit order; None for another order."""
    return value if isinstance(value, float) and 0 < value < 1 else None


def _venue(value: object) -> Venue:
    """Venue of a stored order; sim in a row of an earlier version."""
    return next((venue for venue in Venue if venue.value == value), Venue.SIM)


def _fields(body: str | None) -> dict[str, object]:
    """Fields of a stored JSON object; none if the text is not an object."""
    try:
        return dict(json.loads(body or "{}"))
    except (TypeError, ValueError, RecursionError):
        return {}
