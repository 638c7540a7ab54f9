"""Stores a desk's records in `recording.db`, a file beside its database.

Nothing else depends on it: a damaged one is put aside, and the recording begins anew. Calls block.
"""

import errno
import math
import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from service_tui.storage.db.connection import COMPANIONS
from service_tui.storage.errors import StorageError, result_code
from service_tui.units import LATEST

RECORDING_FILE: Final = "recording.db"
DAMAGED: Final = ".damaged"
"""Ending of the name under which a damaged file is kept."""

BYTES_MAX: Final = 480_000_000
"""ours: thirty days of a desk with three hundred markets, and a little; no file is larger, whatever
the clock shows."""

CHAIN_ROWS_MAX: Final = 4_000
CHAIN_BYTES_MAX: Final = 16_000_000
"""ours: more than the records of a whole day. A longer chain is not ours."""

BODY_BYTES_MAX: Final = 8_000_000
"""Longest record; SQLite itself refuses a longer one."""

STEPS: Final = 100_000
STEPS_MAX: Final = 1_000
"""A question of more than these steps times rounds of SQLite's machine is given up."""

_TIMEOUT_S: Final = 2.0

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS records (at REAL PRIMARY KEY, is_whole INTEGER NOT NULL, "
    "event TEXT NOT NULL, body BLOB NOT NULL)"
)
_ROWS: Final = "SELECT at, is_whole, event, body FROM records"
_WHOLES: Final = "CREATE INDEX IF NOT EXISTS wholes ON records (at) WHERE is_whole"
_EVENTS: Final = "CREATE INDEX IF NOT EXISTS events ON records (at) WHERE event <> ''"

_PASSING: Final = frozenset({
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_INTERRUPT,
})
"""Errors that are no fault of the file itself."""


class RecordRow(NamedTuple):
    """A record as it is stored: seconds since 1970, and a compressed body."""

    at: float
    is_whole: bool
    event: str
    body: bytes


class RecordingError(StorageError):
    """A recording that cannot be read or written; the sentence gives the reason."""


class Bounds(NamedTuple):
    """How much a file may hold, and how much of it is read at one time."""

    file_bytes: int = BYTES_MAX
    chain_rows: int = CHAIN_ROWS_MAX
    chain_bytes: int = CHAIN_BYTES_MAX
    body_bytes: int = BODY_BYTES_MAX
    steps: int = STEPS
    rounds: int = STEPS_MAX


_USUAL: Final = Bounds()


class Recordings:
    """The records of one directory.

    Records lie in the order in which they were written, each with the time that the clock gave: a
    clock that is set back makes two of the same hour, and both can be read.
    """

    def __init__(self, folder: Path, bounds: Bounds = _USUAL) -> None:
        self.path = folder / RECORDING_FILE
        self._bounds = bounds
        self._is_damaged = False
        self._last_at: float | None = None

    def begin(self) -> float | None:
        """Make the file, or put a damaged one aside.

        Returns:
            Time of the last record, None without one.

        Raises:
            RecordingError: the disk refuses.
        """
        if not self._is_damaged:
            try:
                return self._begun()
            except RecordingError:
                if not self._is_damaged:
                    raise
        self._put_aside()
        return self._begun()

    def add(self, row: RecordRow) -> None:
        """Keep a record.

        Raises:
            RecordingError: the disk refuses, or the file is another than before; `begin` makes it
                good.
        """
        with self._writing() as connection:
            if not row.is_whole and _last(connection) != self._last_at:
                raise RecordingError("recording: the file was replaced")
            at = row.at
            # A clock that was set back may give a time once more.
            while _one(connection, "SELECT at FROM records WHERE at = ?", at) is not None:
                at += 0.001
            connection.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row._replace(at=at))
            self._last_at = at

    def forget_before(self, at: float) -> None:
        """Remove the records before a time, but for those that later ones build on.

        Of a file that is too large the oldest quarter goes as well.

        Raises:
            RecordingError: the disk refuses.
        """
        with self._writing() as connection:
            # From the last whole record before the first that is kept, all are needed.
            first = _number(connection, "SELECT min(rowid) FROM records WHERE at > ?", at)
            if _size(connection) > self._bounds.file_bytes:
                quarter = "SELECT min(rowid) + (max(rowid) - min(rowid)) / 4 FROM records"
                first = max(first or 0, _number(connection, quarter) or 0)
            if first is not None:
                connection.execute(
                    "DELETE FROM records WHERE rowid < "
                    "(SELECT max(rowid) FROM records WHERE is_whole AND rowid <= ?)",
                    (first,),
                )

    def span(self) -> tuple[float, float] | None:
        """Times of the first readable and the last record; None without one.

        Raises:
            RecordingError: the file cannot be read.
        """
        with self._reading() as connection:
            if connection is None:
                return None
            first = _one(connection, "SELECT min(at) FROM records WHERE is_whole")
            last = _one(connection, "SELECT max(at) FROM records")
            return None if first is None or last is None else (first, last)

    def chain(self, at: float) -> tuple[RecordRow, ...]:
        """The last record not after a time, behind a whole one and those between.

        Raises:
            RecordingError: the file cannot be read.
        """
        with self._reading() as connection:
            if connection is None:
                return ()
            wanted = "SELECT rowid FROM records WHERE at <= ? ORDER BY at DESC LIMIT 1"
            last = _number(connection, wanted, at)
            whole = "SELECT max(rowid) FROM records WHERE is_whole AND rowid <= ?"
            first = None if last is None else _number(connection, whole, last)
            if first is None or last is None:
                return ()
            found = connection.execute(
                f"{_ROWS} WHERE rowid BETWEEN ? AND ? ORDER BY rowid", (first, last)
            )
            rows: list[RecordRow] = []
            size = 0
            for values in found:
                row = _row(values)
                rows.append(row)
                size += len(row.body)
                if len(rows) > self._bounds.chain_rows or size > self._bounds.chain_bytes:
                    raise RecordingError("recording: too many records follow one another")
            return tuple(rows)

    def neighbour(self, at: float, by: int, *, is_event: bool = False) -> float | None:
        """Time of the record before (-1) or after (1) a time; with `is_event` of one with an event.

        Raises:
            RecordingError: the file cannot be read.
        """
        if by > 0:
            query = "SELECT min(at) FROM records WHERE at > ?"
        else:
            query = "SELECT max(at) FROM records WHERE at < ?"
        with self._reading() as connection:
            if connection is None:
                return None
            return _one(connection, f"{query} AND event <> ''" if is_event else query, at)

    def _begun(self) -> float | None:
        """Open the file, make it where there is none, and look whether it is one of ours."""
        with self._failing():
            # Open to the owner only, as all of the directory; SQLite makes its journal likewise.
            self.path.touch(mode=0o600)
            os.chmod(self.path, 0o600)  # noqa: PTH101  (Path.chmod is the same call)
        try:
            with self._writing() as connection:
                for statement in (_TABLE, _WHOLES, _EVENTS):
                    connection.execute(statement)
                row = connection.execute(f"{_ROWS} ORDER BY rowid DESC LIMIT 1").fetchone()
                self._last_at = None if row is None else _row(row).at
                return self._last_at
        except RowError:
            self._is_damaged = True
            raise

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        # A file that was removed is not made again here: its records would build on nothing.
        with self._failing(), closing(self._connected("rw")) as connection:
            # Losing the last record in a power cut does no harm, and saves a wait for the disk.
            connection.execute("PRAGMA synchronous=NORMAL")
            # Small pages: a record leaves half of one empty. It counts for a new file only.
            connection.execute("PRAGMA page_size=1024")
            with connection:
                yield connection

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection | None]:
        with self._failing():
            if not self.path.exists():
                yield None
                return
            with closing(self._readable()) as connection:
                # Made a moment ago and still empty, or none of ours.
                yield connection if _has_records(connection) else None

    def _readable(self) -> sqlite3.Connection:
        """A connection to read by; sqlite3.Error where the file is no database."""
        connection = self._connected("ro")
        try:
            _has_records(connection)
        except sqlite3.Error as error:
            connection.close()
            if result_code(error) not in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
                raise
            # A program was killed while it wrote: SQLite repairs what it may write.
            return self._connected("rw")
        return connection

    def _connected(self, mode: str) -> sqlite3.Connection:
        # SQLite would wait for the other end of a pipe.
        if self.path.exists() and not self.path.is_file():
            raise OSError(errno.EINVAL, "it is no plain file", str(self.path))
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=_TIMEOUT_S)
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._bounds.body_bytes)
        rounds = iter(range(self._bounds.rounds))
        connection.set_progress_handler(lambda: next(rounds, None) is None, self._bounds.steps)
        return connection

    def _put_aside(self) -> None:
        with self._failing():
            aside = self.path.with_name(f"{RECORDING_FILE}{DAMAGED}")
            # A journal belongs to its file: beside a new one it would be played into that.
            for ending in ("", *COMPANIONS):
                source = self.path.with_name(f"{self.path.name}{ending}")
                if source.exists():
                    source.replace(aside.with_name(f"{aside.name}{ending}"))
        self._is_damaged = False

    @contextmanager
    def _failing(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.DatabaseError) and result_code(error) not in _PASSING:
                self._is_damaged = True
            raise RecordingError(f"recording: {error}") from error
        except OSError as error:
            raise RecordingError(f"recording: {error}") from error


class RowError(RecordingError):
    """A row that no recorder wrote."""

    def __init__(self) -> None:
        super().__init__("recording: a row that is none")


def _has_records(connection: sqlite3.Connection) -> bool:
    kind = connection.execute("SELECT type FROM sqlite_master WHERE name = 'records'")
    return kind.fetchone() == ("table",)


def _row(found: tuple[Any, ...]) -> RecordRow:
    """A stored row; SQLite keeps values of any type in any column."""
    at, is_whole, event, body = found
    if not (isinstance(event, str) and isinstance(body, bytes)):
        raise RowError
    return RecordRow(_time(at), bool(is_whole), event, body)


def _time(at: object) -> float:
    if isinstance(at, float) and math.isfinite(at) and 0 <= at <= LATEST:
        return at
    raise RowError


def _one(connection: sqlite3.Connection, query: str, *values: float) -> float | None:
    row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    return None if row is None or row[0] is None else _time(row[0])


def _number(connection: sqlite3.Connection, query: str, *values: float) -> int | None:
    row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    return row[0] if row is not None and isinstance(row[0], int) else None


def _last(connection: sqlite3.Connection) -> float | None:
    """Time of the record that was written last."""
    return _one(connection, "SELECT at FROM records ORDER BY rowid DESC LIMIT 1")


def _size(connection: sqlite3.Connection) -> int:
    """Bytes of the pages in use."""
    pages, free, size = (
        _number(connection, f"PRAGMA {name}") or 0
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
