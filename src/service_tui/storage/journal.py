"""Events of the sim in order, and the snapshots that shorten their replay.

A row that was awaited is on disk, and no row stands without all rows before it.
"""

import asyncio
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from service_tui.storage.answers import Answer, remember
from service_tui.storage.db.conditions import OF_AGENTS, OF_THE_TAPE
from service_tui.storage.db.lock import open_private
from service_tui.storage.db.statements import adding, columns, one_of, replacing
from service_tui.storage.ended_markets import EndedMarket, keep
from service_tui.storage.errors import DamagedRowsError, JournalOrderError, StorageError
from service_tui.storage.world_database import (
    LateConnection,
    ReadConnection,
    Rows,
    WorldDatabase,
    WriteConnection,
    check,
)

SNAPSHOTS_KEPT: Final = 2
"""The last one, and one more for the day that the last one cannot be read."""

CHUNK: Final = 2000
"""Rows read or deleted at one time, so that neither takes long."""

_COMPRESSION: Final = 3
"""zlib level. # ours: a third of the time of the default for a tenth more bytes."""

ROWS: Final = "SELECT seq, at, kind, agent_id, market_id, body FROM journal"
"""What a row of the journal is read from, in the order of `JournalRow`."""

_LAST: Final = "SELECT coalesce(max(seq), 0) FROM journal"
_ROWS_AFTER: Final = f"{ROWS} WHERE seq > :seq ORDER BY seq LIMIT :chunk"
_COUNT_AFTER: Final = "SELECT count(*) FROM journal WHERE seq > :seq"
_APPEND: Final = adding("journal")
_PRUNE: Final = (
    "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal "  # noqa: S608 - a condition of ours
    f"WHERE {OF_THE_TAPE} AND seq < :before LIMIT :chunk OFFSET 0)"
)
_SNAPSHOT: Final = replacing("snapshots")
_SNAPSHOTS: Final = f"SELECT {columns('snapshots')} FROM snapshots ORDER BY seq DESC"  # noqa: S608 - names of ours
_SNAPSHOT_SEQS: Final = "SELECT seq FROM snapshots ORDER BY seq"
_DROP_SNAPSHOT: Final = "DELETE FROM snapshots WHERE seq = :of"


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One thing that happened. `seq` counts from 1; `at` is seconds since 1970; `body` is JSON.

    `venue` is where a side of a position ended; it is written and looked for, and never read back.
    """

    seq: int
    at: float
    kind: str
    agent_id: str | None
    market_id: str | None
    body: str
    venue: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole sim right after row `seq`; `body` is whatever its maker reads again."""

    seq: int
    at: float
    body: bytes


@dataclass(frozen=True, slots=True)
class History:
    """Selection of an agent's rows: since <= at < until, None for no bound."""

    agent_id: str
    kinds: tuple[str, ...]
    market_id: str | None = None
    since: float | None = None
    until: float | None = None


class JournalStore:
    """The journal of one world."""

    def __init__(self, database: WorldDatabase, chunk: int = CHUNK) -> None:
        # `chunk`: rows that are read or forgotten at one time.
        self._database = database
        self._chunk = chunk

    async def append(
        self,
        rows: Sequence[JournalRow],
        *,
        answer: Answer | None = None,
        ended: Sequence[EndedMarket] = (),
        beside: Callable[[WriteConnection], None] | None = None,
    ) -> None:
        """Write rows, and the answer that they lead to, in one transaction; await to know it done.

        Fails with `DuplicateAnswerError` when the answer's key is taken, and with a `StorageError`
        when the disk refuses. After any failure the caller's memory is ahead of the disk: take no
        orders until `Database.reopen` and a replay.

        Args:
            rows: what happened, oldest first, following the last row without gap.
            answer: kept for 24 hours under its key.
            ended: markets that these rows end; kept where an agent had to do with them.
            beside: what else is written in the same transaction.

        Raises:
            JournalOrderError: a gap or a repetition, among the rows or after those on disk.
        """
        first = rows[0].seq if rows else 0
        for expected, row in enumerate(rows, start=first):
            if row.seq != expected:
                raise JournalOrderError(expected=expected, seq=row.seq)
        records = [_record(row) for row in rows]

        def work(connection: WriteConnection) -> None:
            if records:
                _add(connection, records, (first, rows[-1].seq))
            keep(connection, ended)
            if beside is not None:
                beside(connection)
            if answer is not None:
                remember(connection, answer)

        await self._database.write(work)

    def last_seq(self) -> int:
        """The number of the last row on disk, 0 before the first."""
        with self._database.reader() as connection:
            return _last_seq(connection)

    def rows_after(self, seq: int) -> Iterator[JournalRow]:
        """Every row after `seq`, oldest first, read a chunk at a time."""
        while True:
            found = self._database.rows(_ROWS_AFTER, {"seq": seq, "chunk": self._chunk})
            rows = [JournalRow(*row) for row in found]
            yield from rows
            if len(rows) < self._chunk:
                return
            seq = rows[-1].seq

    def rows_of_agents(self, after: int, kinds: Sequence[str], *, limit: int) -> list[JournalRow]:
        """Rows of these kinds, of all agents, after a row and oldest first."""
        of_kind, values = one_of("kind", kinds)
        query = f"{ROWS} WHERE seq > :seq AND {OF_AGENTS} AND {of_kind} ORDER BY seq LIMIT :limit"
        rows = self._database.rows(query, {**values, "seq": after, "limit": limit})
        return [JournalRow(*row) for row in rows]

    def rows_of(
        self, history: History, *, limit: int, offset: int = 0
    ) -> tuple[list[JournalRow], int]:
        """An agent's rows, newest first, with the count of all that match."""
        condition, values = _condition(history)
        page = f"{ROWS} WHERE {condition} ORDER BY seq DESC LIMIT :limit OFFSET :offset"
        total = f"SELECT count(*) FROM journal WHERE {condition}"  # noqa: S608 - names of ours
        bounds = {"limit": limit, "offset": offset}
        with self._database.reader() as connection:
            found = connection.execute(page, {**values, **bounds}).fetchall()
            (count,) = connection.execute(total, values).fetchone()
        return [JournalRow(*row) for row in found], count

    async def add_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot and the one before it.

        Fails with `JournalOrderError` when the journal has not come as far as the snapshot.
        """
        body = await asyncio.to_thread(zlib.compress, snapshot.body, _COMPRESSION)

        def work(connection: WriteConnection) -> None:
            last = _last_seq(connection)
            if snapshot.seq > last:
                raise JournalOrderError(expected=last, seq=snapshot.seq)
            connection.execute(_SNAPSHOT, {"seq": snapshot.seq, "at": snapshot.at, "body": body})
            seqs = connection.execute(_SNAPSHOT_SEQS).fetchall()
            for (seq,) in seqs[:-SNAPSHOTS_KEPT]:
                connection.execute(_DROP_SNAPSHOT, {"of": seq})

        await self._database.write(work)

    def snapshots(self) -> list[Snapshot]:
        """Snapshots from which a replay may begin, newest first, after checking the rows.

        One that cannot be read is passed over, and kept aside in a file.

        Returns:
            None at all only where nothing has happened yet.

        Raises:
            DamagedRowsError: rows after the older snapshot are missing, or none can be read.
        """
        readable, broken = self._checked_snapshots()
        for seq, body in broken.items():
            self.keep_aside(seq, body)
        return readable

    def readable(self) -> list[Snapshot]:
        """Snapshots, newest first, after checking the rows; changes nothing.

        Returns:
            None at all only where nothing has happened yet.

        Raises:
            DamagedRowsError: rows after the older snapshot are missing, or none can be read.
        """
        return self._checked_snapshots()[0]

    def check(self) -> None:
        """Check the rows as `snapshots` does; changes nothing.

        Raises:
            DamagedRowsError: rows after the older snapshot are missing, or none can be read.
        """
        self._checked_snapshots()

    def _checked_snapshots(self) -> tuple[list[Snapshot], dict[int, bytes]]:
        """The snapshots, newest first, and the bodies of those that cannot be read."""
        with self._database.reader() as connection:
            rows = connection.execute(_SNAPSHOTS).fetchall()
            _check_whole(connection, [seq for seq, _, _ in rows])
        readable: list[Snapshot] = []
        broken: dict[int, bytes] = {}
        for seq, at, body in rows:
            try:
                readable.append(Snapshot(seq, at, zlib.decompress(body)))
            except zlib.error:
                broken[seq] = body
        if broken and not readable:
            raise DamagedRowsError("no snapshot of the sim can be read")
        return readable, broken

    def keep_aside(self, seq: int, body: bytes) -> None:
        """Save an unusable snapshot in a file, before newer ones replace it."""
        path = self._database.path
        path = path.with_name(f"{path.name}.corrupt-snapshot-{seq}")
        # It may be there from an earlier start; and a full disk is no reason to stop here.
        with suppress(StorageError, OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(open_private(path, flags), "wb") as file:
                file.write(body)

    async def prune_tape(self, before_seq: int) -> int:
        """Forget the tape's rows before `before_seq` that both snapshots make needless.

        Returns:
            How many rows went; none while there are fewer than two snapshots.
        """

        def work(connection: WriteConnection) -> int:
            seqs = connection.execute(_SNAPSHOT_SEQS).fetchall()
            if len(seqs) < SNAPSHOTS_KEPT:
                return 0
            before = min(before_seq, seqs[0][0])
            return connection.execute(_PRUNE, {"before": before, "chunk": self._chunk}).rowcount

        total = 0
        while gone := await self._database.write(work):
            total += gone
        return total


def _record(row: JournalRow) -> dict[str, int | float | str | None]:
    return {
        "seq": row.seq,
        "at": row.at,
        "kind": row.kind,
        "agent_id": row.agent_id,
        "market_id": row.market_id,
        "body": row.body,
        "venue": row.venue,
    }


def _add(
    connection: WriteConnection,
    records: Sequence[Mapping[str, object]],
    ends: tuple[int, int],
) -> None:
    """Add records that follow the last row; `ends` are the first and the last of them."""
    first, last = ends
    late = connection if isinstance(connection, LateConnection) else None

    def refuse_gap(found: Rows) -> None:
        expected = _seq_in(found) + 1
        if first != expected:
            raise JournalOrderError(expected=expected, seq=first)

    # What the same transaction has written a moment ago need not be looked for.
    if late is None or late.written_to != first - 1:
        check(connection, connection.execute(_LAST), refuse_gap)
    connection.executemany(_APPEND, records)
    if late is not None:
        late.note_written(last)


def _last_seq(connection: ReadConnection) -> int:
    # Pruning never takes the last row: it stays before the older of two snapshots.
    return _seq_in(connection.execute(_LAST))


def _seq_in(rows: Rows) -> int:
    (last,) = rows.fetchone()
    return int(last)


def _check_whole(connection: ReadConnection, snapshots: Sequence[int]) -> None:
    """Raise if a row is missing after the older snapshot.

    Before it the tape's rows are forgotten, and what else is missing cannot be known.
    """
    last = _last_seq(connection)
    if not snapshots:
        if last:
            raise DamagedRowsError(f"the journal has {last} rows and no snapshot to begin from")
        return
    oldest, newest = min(snapshots), max(snapshots)
    if last < newest:
        raise DamagedRowsError(
            f"the journal ends at row {last}, and its snapshot was taken at row {newest}"
        )
    (after,) = connection.execute(_COUNT_AFTER, {"seq": oldest}).fetchone()
    missing = last - oldest - after
    if missing:
        raise DamagedRowsError(f"{missing} rows of the journal after row {oldest} are missing")


def _condition(history: History) -> tuple[str, dict[str, object]]:
    """The history as one condition, with its parameters."""
    of_kind, values = one_of("kind", history.kinds)
    terms = ["agent_id = :agent_id", of_kind]
    values["agent_id"] = history.agent_id
    bounds = (
        ("market_id = :market_id", "market_id", history.market_id),
        ("at >= :since", "since", history.since),
        ("at < :until", "until", history.until),
    )
    for term, name, value in bounds:
        if value is not None:
            terms.append(term)
            values[name] = value
    return " AND ".join(terms), values
