"""Every command submitted on this desk, and its end.

The row stands before anything is sent, so that a killed process leaves a question to be answered,
never a surprise.
"""

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, get_type_hints

from service_tui.storage.cached_state import TICKET_COLUMNS, read_tickets
from service_tui.storage.db.conditions import MAY_HAVE_SPENT, UNSETTLED
from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import adding, columns, keeping
from service_tui.storage.db.writer import Work
from service_tui.storage.errors import (
    BudgetExceededError,
    TakenError,
    TicketStateError,
    UnknownTicketError,
)

log = logging.getLogger(__name__)


class StoredState(StrEnum):
    """State of a command. `unknown`: sent without an answer. Source: failures, rule 1."""

    QUEUED = "queued"
    SENT = "sent"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


FINAL_STATES: Final = frozenset({
    StoredState.DONE,
    StoredState.REFUSED,
    StoredState.FAILED,
})
_ANY_END: Final = FINAL_STATES | {StoredState.UNKNOWN}

TRANSITIONS: Final[Mapping[StoredState, frozenset[StoredState]]] = {
    StoredState.QUEUED: _ANY_END | {StoredState.SENT},
    StoredState.SENT: _ANY_END,
    StoredState.UNKNOWN: FINAL_STATES,
    StoredState.DONE: frozenset(),
    StoredState.REFUSED: frozenset(),
    StoredState.FAILED: frozenset(),
}
"""Where a ticket may go from each state; what is final stays."""


_OPEN: Final = adding("tickets")
_STATE: Final = "SELECT state FROM tickets WHERE ticket_id = :of"
_MOVE: Final = """
UPDATE tickets SET state = :to, settled_at = :settled, outcome = coalesce(:ended, outcome),
amount_micros = coalesce(:spent, amount_micros) WHERE ticket_id = :of
"""
_TAKE: Final = keeping("once")
# ours: without an answer the money may be gone, however long ago it was sent.
_RESERVED: Final = f"""
SELECT coalesce(sum(amount_micros), 0) FROM tickets
WHERE {MAY_HAVE_SPENT} AND (at >= :since OR {UNSETTLED})
AND (:venue IS NULL OR venue = :venue) AND (:kind IS NULL OR kind = :kind)
"""  # noqa: S608 - conditions of ours
_COLUMNS: Final = TABLES["tickets"].columns
_TICKETS: Final = f"SELECT {columns('tickets')} FROM tickets"  # noqa: S608 - names of ours


TAKEN_OVER: Final = '{"outcome": "taken over by the next desk of this directory"}'
"""Outcome of a ticket that another blotter goes on with, in the blotter where it was opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A command before it is sent.

    `subject` is what it is about: a market, an agent, a signal. `body` is JSON. `amount_micros` is
    what a buy draws on its venue's budget, 0 for everything else. `client_ref` is the reference by
    which the service's own record is recognised.
    """

    ticket_id: str
    at: float
    kind: str
    subject: str
    body: str
    venue: str | None = None
    amount_micros: int = 0
    client_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTicket(Intent):
    """A stored command. `settled_at` is None until its state is final.

    `is_odd`: the row holds no state of ours, and counts as unknown.
    """

    state: StoredState
    sent_at: float | None
    settled_at: float | None
    outcome: str | None
    is_odd: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `max_micros` for all that was opened since a time and may have been spent.

    With a `kind` only tickets of that kind count.
    """

    since: float
    max_micros: int
    kind: str | None = None


class Blotter:
    """The blotter of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_ticket(
        self,
        intent: Intent,
        *,
        budget: Budget | Sequence[Budget] | None = None,
        once: str | None = None,
        beside: Work[sqlite3.Connection, None] | None = None,
    ) -> None:
        """Write an intent, before anything is sent; all of it or nothing.

        Fails with `BudgetExceededError` when the amount is more than its venue's budget has left,
        with `TakenError` when the once-key is taken, with `TicketStateError` when the ticket
        exists, and with a `StorageError` when the disk refuses. Then nothing may be sent.

        Args:
            intent: what is about to be done.
            budget: what the tickets of the same venue (of all, where it has none) may reach; each
                of several has to hold.
            once: a key taken in the same transaction, so that a killed process leaves either
                both or none.
            beside: something else that is written in the same transaction.

        Raises:
            ValueError: the amount is negative.
        """
        if intent.amount_micros < 0:
            raise ValueError(f"ticket {intent.ticket_id} reserves less than nothing")
        budgets = () if budget is None else [budget] if isinstance(budget, Budget) else budget
        record = {**asdict(intent), "state": StoredState.QUEUED}
        record |= dict.fromkeys(("sent_at", "settled_at", "outcome"))

        def work(connection: sqlite3.Connection) -> None:
            if once is not None and not _take(connection, once, intent.at):
                raise TakenError(f"{once} is taken already")
            for one in budgets if intent.amount_micros > 0 else ():
                _check(connection, intent, one)
            try:
                connection.execute(_OPEN, record)
            except sqlite3.IntegrityError as error:
                raise TicketStateError(f"ticket {intent.ticket_id} exists already") from error
            if beside is not None:
                beside(connection)

        await self._database.write(work)

    async def settle(
        self,
        ticket_id: str,
        state: StoredState,
        outcome: str | None,
        *,
        now: float,
        amount_micros: int | None = None,
    ) -> None:
        """Note how a command ended, or that this is unknown.

        A final state stays; only an unknown ticket may still be settled. Fails with
        `TicketStateError` otherwise, with `UnknownTicketError` where there is no such ticket.

        Args:
            ticket_id: the ticket.
            state: done, refused, failed or unknown.
            outcome: JSON of what is known, None to keep what is there.
            now: seconds since 1970.
            amount_micros: what was spent in the end, None for all that was reserved.
        """
        change = {
            "settled": now if state in FINAL_STATES else None,
            "ended": outcome,
            "spent": amount_micros,
        }
        await self._database.write(lambda c: _move(c, ticket_id, to=state, change=change))

    def open_tickets(self) -> list[StoredTicket]:
        """Tickets whose end is not known, oldest first: to reconcile before anything is sent."""
        return self._tickets(f"WHERE {UNSETTLED} ORDER BY at", {})

    def find(self, ticket_id: str) -> StoredTicket | None:
        """One ticket, None where there is none."""
        found = self._tickets("WHERE ticket_id = :ticket_id", {"ticket_id": ticket_id})
        return found[0] if found else None

    def recent(self, limit: int, before: StoredTicket | None = None) -> list[StoredTicket]:
        """The newest tickets first; `before` is the last one of the page before."""
        page, values = "ORDER BY at DESC, ticket_id DESC LIMIT :limit", {"limit": limit}
        if before is None:
            return self._tickets(page, values)
        place = {"at": before.at, "ticket_id": before.ticket_id}
        return self._tickets(f"WHERE (at, ticket_id) < (:at, :ticket_id) {page}", values | place)

    def reserved(self, since: float, *, venue: str | None = None, kind: str | None = None) -> int:
        """Micros that tickets, of one venue and kind or of all, may have spent since a time.

        Returns:
            At least 0. A ticket without an end counts whatever its age; one refused or failed
            never does.
        """
        values = {"since": since, "venue": venue, "kind": kind}
        ((reserved,),) = self._database.rows(_RESERVED, values)
        return reserved

    def _tickets(self, which: str, values: Mapping[str, object]) -> list[StoredTicket]:
        rows = self._database.rows(f"{_TICKETS} {which}", values)
        return [_stored(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def recent_elsewhere(path: Path, limit: int) -> list[StoredTicket]:
    """The newest commands that ended on another console, from its database, read only.

    Returns:
        At most `limit`, the newest first; none where the file cannot be read now. Blocks.
    """
    rows = (dict(zip(TICKET_COLUMNS, row, strict=True)) for row in read_tickets(path, limit))
    try:
        return [_stored(_checked(row)) for row in rows]
    except (TypeError, ValueError) as error:
        log.info("commands of another console cannot be read: %s", type(error).__name__)
        return []


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a file that was not checked: TypeError where a value is not as its column's."""
    types = {**get_type_hints(StoredTicket), "state": str}
    for name, value in row.items():
        if not isinstance(value, types[name]):
            raise TypeError(name)
    return row


def _take(connection: sqlite3.Connection, key: str, at: float) -> bool:
    return connection.execute(_TAKE, {"key": key, "at": at}).rowcount == 1


def _check(connection: sqlite3.Connection, intent: Intent, budget: Budget) -> None:
    """Refuse an intent that its budget does not cover."""
    values = {"since": budget.since, "venue": intent.venue, "kind": budget.kind}
    (reserved,) = connection.execute(_RESERVED, values).fetchone()
    if not reserved + intent.amount_micros <= budget.max_micros:
        raise BudgetExceededError(
            reserved=reserved, requested=intent.amount_micros, maximum=budget.max_micros
        )


def _move(
    connection: sqlite3.Connection,
    ticket_id: str,
    *,
    to: StoredState,
    change: Mapping[str, float | str | None],
) -> None:
    """Lead a ticket to a state, if the table allows; None in `change` keeps what is there."""
    row = connection.execute(_STATE, {"of": ticket_id}).fetchone()
    if row is None:
        raise UnknownTicketError(f"there is no ticket {ticket_id}")
    if to not in TRANSITIONS[_state_of(row[0])]:
        raise TicketStateError(f"ticket {ticket_id} is {row[0]} and cannot become {to}")
    connection.execute(_MOVE, {"of": ticket_id, "to": to, **change})


def _stored(row: dict[str, Any]) -> StoredTicket:
    state = _state_of(row["state"])
    values: dict[str, Any] = {**row, "state": state}
    return StoredTicket(**values, is_odd=state != row["state"])


def _state_of(text: str) -> StoredState:
    """State of a stored text; an unreadable one is unknown, as its money may be gone."""
    try:
        return StoredState(text)
    except ValueError:
        return StoredState.UNKNOWN
