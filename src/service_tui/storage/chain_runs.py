"""Journal of transaction runs: each step is stored before it is taken.

What was signed is never changed: the same bytes may be sent again, others never take their place.
"""

import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import REAL, TEXT, Integer, bindparam, insert, update
from sqlmodel import col, select

from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import OPEN_RUN, SIGNED_RUN, statement
from service_tui.storage.errors import TakenError, UnknownTicketError

_OPEN: Final = statement(insert(tables.Chainruns))
_MOVE: Final = statement(
    update(tables.Chainruns)
    .where(
        col(tables.Chainruns.number) == bindparam("of"), col(tables.Chainruns.settled_at).is_(None)
    )
    .values(
        step=bindparam("to"),
        changed_at=bindparam("at", type_=REAL),
        body=bindparam("says"),
        settled_at=bindparam("ended", type_=REAL),
    )
)
_SIGN: Final = statement(
    update(tables.Chainruns)
    .where(
        col(tables.Chainruns.number) == bindparam("of"),
        col(tables.Chainruns.raw).is_(None),
        col(tables.Chainruns.settled_at).is_(None),
    )
    .values(
        step=bindparam("to"),
        changed_at=bindparam("at", type_=REAL),
        body=bindparam("says"),
        nonce=bindparam("taken", type_=Integer),
        raw=bindparam("signed", type_=TEXT),
        tx_hash=bindparam("hash", type_=TEXT),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun:
    """One row. `step` is the next step; `body` is the JSON of its data."""

    subject: str
    wallet: str
    opened_at: float
    changed_at: float
    step: str
    body: str
    number: int | None = None
    nonce: int | None = None
    raw: str | None = None
    tx_hash: str | None = None
    settled_at: float | None = None


@dataclass(frozen=True, slots=True)
class RunSignature:
    """A signed transaction: nonce, bytes and hash, as hex."""

    nonce: int
    raw: str
    tx_hash: str


class ChainRuns:
    """The runs of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, run: ChainRun) -> int:
        """Write a run before its first step.

        Fails with `TakenError` where its subject has one without an end: whoever comes second,
        from whichever console on the directory, does nothing.

        Returns:
            Its number.
        """
        record = {name: value for name, value in asdict(run).items() if name != "number"}

        def work(connection: sqlite3.Connection) -> int:
            try:
                made = connection.execute(_OPEN, {"number": None, **record}).lastrowid
            except sqlite3.IntegrityError as error:
                raise TakenError(f"{run.subject} is under way already") from error
            return made or 0

        return await self._database.write(work)

    async def move(self, number: int, step: str, body: str, *, now: float) -> None:
        """Store the next step, before it is taken.

        Fails with `UnknownTicketError` where the run has ended or never was.
        """
        values = {"of": number, "to": step, "says": body, "at": now, "ended": None}
        await self._database.write(lambda c: _changed(c, _MOVE, values))

    async def sign(
        self, number: int, step: str, body: str, signed: RunSignature, *, now: float
    ) -> None:
        """Store a signed transaction before it is sent. Once for ever.

        Fails with `UnknownTicketError` where something was signed already.
        """
        values = {
            "of": number,
            "to": step,
            "says": body,
            "at": now,
            "taken": signed.nonce,
            "signed": signed.raw,
            "hash": signed.tx_hash,
        }
        await self._database.write(lambda c: _changed(c, _SIGN, values))

    async def settle(self, number: int, step: str, body: str, *, now: float) -> None:
        """End a run; its subject is free for another."""
        values = {"of": number, "to": step, "says": body, "at": now, "ended": now}
        await self._database.write(lambda c: _changed(c, _MOVE, values))

    def unsettled(self) -> list[ChainRun]:
        """Runs without an end, oldest first. Blocks."""
        query = select(tables.Chainruns).where(OPEN_RUN).order_by(col(tables.Chainruns.number))
        with self._database.reader() as session:
            return [_run(row) for row in session.exec(query)]

    def recent(self, limit: int) -> list[ChainRun]:
        """The newest runs, whatever became of them, newest first. Blocks."""
        order = col(tables.Chainruns.number).desc()
        query = select(tables.Chainruns).order_by(order).limit(limit)
        with self._database.reader() as session:
            return [_run(row) for row in session.exec(query)]

    def find(self, number: int) -> ChainRun | None:
        """One run. Blocks."""
        with self._database.reader() as session:
            row = session.get(tables.Chainruns, number)
            return None if row is None else _run(row)

    def signed_since(self, wallet: str, since: float) -> list[ChainRun]:
        """Cost of this wallet's transactions since a time, whatever their end. Blocks."""
        table = tables.Chainruns
        query = select(table).where(
            SIGNED_RUN, col(table.wallet) == wallet, col(table.changed_at) >= since
        )
        with self._database.reader() as session:
            return [_run(row) for row in session.exec(query)]

    def last_signed(self, subject: str) -> ChainRun | None:
        """Latest signed transaction of a subject, whatever its end; None without one. Blocks."""
        table = tables.Chainruns
        query = (
            select(table)
            .where(SIGNED_RUN, col(table.subject) == subject)
            .order_by(col(table.number).desc())
            .limit(1)
        )
        with self._database.reader() as session:
            row = session.exec(query).first()
            return None if row is None else _run(row)

    def opened_since(self, prefix: str, since: float) -> list[ChainRun]:
        """Runs whose subject begins so, since a time, whatever became of them. Blocks."""
        table = tables.Chainruns
        query = select(table).where(
            col(table.subject).startswith(prefix, autoescape=True), col(table.opened_at) >= since
        )
        with self._database.reader() as session:
            return [_run(row) for row in session.exec(query)]

    def signed_nonces(self, wallet: str, least: int) -> tuple[frozenset[int], frozenset[int]]:
        """The places from one on that this wallet has signed for. Blocks.

        Returns:
            Those whose runs wait for their end, and those of all runs.
        """
        table = tables.Chainruns
        query = select(table.nonce, table.settled_at).where(
            SIGNED_RUN, col(table.wallet) == wallet, col(table.nonce) >= least
        )
        with self._database.reader() as session:
            rows = [(nonce, end) for nonce, end in session.exec(query) if nonce is not None]
        waiting = frozenset(nonce for nonce, end in rows if end is None)
        return waiting, frozenset(nonce for nonce, _ in rows)


def _run(row: tables.Chainruns) -> ChainRun:
    return ChainRun(**row.model_dump())


def _changed(
    connection: sqlite3.Connection, sql: str, values: dict[str, str | float | None]
) -> None:
    if connection.execute(sql, values).rowcount != 1:
        raise UnknownTicketError("this run has ended, or was signed already")
