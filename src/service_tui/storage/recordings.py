"""The records of a desk in a file of their own, beside its database: `recording.db`.

Nothing else depends on it: a damaged one is put aside, and the recording begins anew. Calls block.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from service_tui.storage.errors import StorageError

RECORDING_FILE: Final = "recording.db"
DAMAGED: Final = ".damaged"
"""Ending of the name under which a damaged file is kept."""

_TIMEOUT_S: Final = 2.0
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS records (at REAL PRIMARY KEY, is_whole INTEGER NOT NULL, "
    "event TEXT NOT NULL, body BLOB NOT NULL)"
)
_ROWS: Final = "SELECT at, is_whole, event, body FROM records"
_WHOLES: Final = "CREATE INDEX IF NOT EXISTS wholes ON records (at) WHERE is_whole"
_EVENTS: Final = "CREATE INDEX IF NOT EXISTS events ON records (at) WHERE event <> ''"


class RecordRow(NamedTuple):
    """A record as it is stored: seconds since 1970, and a compressed body."""

    at: float
    is_whole: bool
    event: str
    body: bytes


class RecordingError(StorageError):
    """A recording that cannot be read or written; the sentence gives the reason."""


class Recordings:
    """The records of one directory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RECORDING_FILE

    def begin(self) -> float | None:
        """Make the file, or put a damaged one aside.

        Returns:
            Time of the last record, None without one.

        Raises:
            RecordingError: the disk refuses.
        """
        try:
            with _failing(), self._writing() as connection:
                return _one(connection, "SELECT max(at) FROM records")
        except RecordingError as error:
            if not isinstance(error.__cause__, sqlite3.DatabaseError) or isinstance(
                error.__cause__, sqlite3.OperationalError
            ):
                raise
        self._put_aside()
        with _failing(), self._writing():
            return None

    def add(self, row: RecordRow) -> None:
        """Keep a record; raises RecordingError where the disk refuses."""
        with _failing(), self._writing() as connection:
            connection.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)

    def forget_before(self, at: float) -> None:
        """Remove the records before a time, but for those that later ones build on.

        Raises:
            RecordingError: the disk refuses.
        """
        with _failing(), self._writing() as connection:
            # From the last whole record before that time on, all are needed.
            first = _one(connection, "SELECT max(at) FROM records WHERE is_whole AND at <= ?", at)
            if first is not None:
                connection.execute("DELETE FROM records WHERE at < ?", (first,))

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
            first = _one(connection, "SELECT max(at) FROM records WHERE is_whole AND at <= ?", at)
            if first is None:
                return ()
            found = connection.execute(
                f"{_ROWS} WHERE at BETWEEN ? AND ? ORDER BY at",
                (first, at),
            )
            return tuple(_row(row) for row in found)

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

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        # Open to the owner only, as all of the directory; SQLite makes its journal likewise.
        self.path.touch(mode=0o600)
        with closing(sqlite3.connect(self.path, timeout=_TIMEOUT_S)) as connection:
            # A record less after a loss of power harms nobody, and costs no wait of the disk.
            connection.execute("PRAGMA synchronous=NORMAL")
            # Small pages: a record leaves half of one empty. It counts for a new file only.
            connection.execute("PRAGMA page_size=1024")
            connection.execute("PRAGMA trusted_schema=OFF")
            with connection:
                for statement in (_TABLE, _WHOLES, _EVENTS):
                    connection.execute(statement)
                yield connection

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection | None]:
        if not self.path.exists():
            yield None
            return
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        with (
            _failing(),
            closing(sqlite3.connect(address, uri=True, timeout=_TIMEOUT_S)) as connection,
        ):
            connection.execute("PRAGMA trusted_schema=OFF")
            yield connection

    def _put_aside(self) -> None:
        with _failing():
            self.path.replace(self.path.with_name(f"{RECORDING_FILE}{DAMAGED}"))


@contextmanager
def _failing() -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise RecordingError(f"recording: {error}") from error


def _row(found: tuple[Any, ...]) -> RecordRow:
    """A stored row; SQLite keeps values of any type in any column."""
    at, is_whole, event, body = found
    if not (isinstance(at, float) and isinstance(event, str) and isinstance(body, bytes)):
        raise RecordingError("recording: a row that is none")
    return RecordRow(at, bool(is_whole), event, body)


def _one(connection: sqlite3.Connection, query: str, *values: float) -> float | None:
    row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    at = None if row is None else row[0]
    if at is None or isinstance(at, float):
        return at
    raise RecordingError("recording: a row that is none")
