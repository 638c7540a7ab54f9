"""Journal of transaction runs: each step is stored before it is taken.

What was signed is never changed: the same bytes may be sent again, others never take their place.
"""

import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from service_tui.storage.db.conditions import OPEN_RUN, SIGNED_RUN
from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import adding, columns
from service_tui.storage.errors import TakenError, UnknownTicketError

_OPEN: Final = adding("chainruns")
_MOVE: Final = """
UPDATE chainruns SET step = :to, changed_at = :at, body = :says, settled_at = :ended
WHERE number = :of AND settled_at IS NULL
"""
_SIGN: Final = """
UPDATE chainruns SET step = :to, changed_at = :at, body = :says, nonce = :taken, raw = :signed,
tx_hash = :hash WHERE number = :of AND raw IS NULL AND settled_at IS NULL
"""
_COLUMNS: Final = TABLES["chainruns"].columns
_RUNS: Final = f"SELECT {columns('chainruns')} FROM chainruns"  # noqa: S608 - names of ours
_NONCES: Final = f"""
SELECT nonce, settled_at FROM chainruns
WHERE {SIGNED_RUN} AND wallet = :wallet AND nonce >= :least
"""  # noqa: S608 - a condition of ours


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
        return self._runs(f"WHERE {OPEN_RUN} ORDER BY number")

    def recent(self, limit: int) -> list[ChainRun]:
        """The newest runs, whatever became of them, newest first. Blocks."""
        return self._runs("ORDER BY number DESC LIMIT :limit", limit=limit)

    def find(self, number: int) -> ChainRun | None:
        """One run. Blocks."""
        return next(iter(self._runs("WHERE number = :number", number=number)), None)

    def signed_since(self, wallet: str, since: float) -> list[ChainRun]:
        """Cost of this wallet's transactions since a time, whatever their end. Blocks."""
        which = f"WHERE {SIGNED_RUN} AND wallet = :wallet AND changed_at >= :since"
        return self._runs(which, wallet=wallet, since=since)

    def last_signed(self, subject: str) -> ChainRun | None:
        """Latest signed transaction of a subject, whatever its end; None without one. Blocks."""
        which = f"WHERE {SIGNED_RUN} AND subject = :subject ORDER BY number DESC LIMIT 1"
        return next(iter(self._runs(which, subject=subject)), None)

    def opened_since(self, prefix: str, since: float) -> list[ChainRun]:
        """Runs whose subject begins so, since a time, whatever became of them. Blocks."""
        # As LIKE had it, which takes letters of either case for the same one.
        which = """
        WHERE subject LIKE :prefix ESCAPE '/' AND opened_at >= :since
        """
        for letter in "/%_":
            prefix = prefix.replace(letter, f"/{letter}")
        return self._runs(which, prefix=f"{prefix}%", since=since)

    def signed_nonces(self, wallet: str, least: int) -> tuple[frozenset[int], frozenset[int]]:
        """The places from one on that this wallet has signed for. Blocks.

        Returns:
            Those whose runs wait for their end, and those of all runs.
        """
        rows = self._database.rows(_NONCES, {"wallet": wallet, "least": least})
        waiting = frozenset(nonce for nonce, end in rows if end is None)
        return waiting, frozenset(nonce for nonce, _ in rows)

    def _runs(self, which: str, **values: object) -> list[ChainRun]:
        rows = self._database.rows(f"{_RUNS} {which}", values)
        return [ChainRun(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _changed(
    connection: sqlite3.Connection, sql: str, values: dict[str, str | float | None]
) -> None:
    if connection.execute(sql, values).rowcount != 1:
        raise UnknownTicketError("this run has ended, or was signed already")
