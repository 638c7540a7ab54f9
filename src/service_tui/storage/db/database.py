"""One SQLite file of a data directory: checked at opening, one writer thread, many readers.

Blocking calls are marked: they belong before the event loop or off it.
"""

import asyncio
import concurrent.futures
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from service_tui.storage.db.backups import back_up_daily
from service_tui.storage.db.conditions import DAMAGE_MET
from service_tui.storage.db.connection import connect_to_write
from service_tui.storage.db.presence import Presence
from service_tui.storage.db.readers import Readers
from service_tui.storage.db.sqlite_port import SqlitePort
from service_tui.storage.db.statements import replacing
from service_tui.storage.db.writer import Work, Writer
from service_tui.storage.errors import (
    DamagedFileError,
    FileGoneError,
    StorageError,
    as_storage_error,
    storage_error,
)

T = TypeVar("T")

_MARK_USE: Final = replacing("use")


class Database:
    """The way in, through one writer, and the way out, through as many readers as are needed."""

    def __init__(
        self, path: Path, *, port: SqlitePort | None, with_wal: bool, timeout_s: float
    ) -> None:
        self.path = path
        self._port = port
        self._writer = None if port is None else Writer(port)
        self._with_wal = with_wal
        self._timeout_s = timeout_s
        self._readers = Readers(path, timeout_s=timeout_s)
        self._changing = Lock()
        self._met_damage = False

    @property
    def failure(self) -> StorageError | None:
        """Reason why writes fail until `reopen`; None without a failure."""
        return None if self._writer is None else self._writer.failure

    def write(self, work: Work[sqlite3.Connection, T]) -> asyncio.Future[T]:
        """Run a work in the next transaction, from the event loop.

        Refused by `StorageError` and its kin, at once or when awaited; then nothing was written.
        To stop waiting does not take the work back.

        Returns:
            What the work returned, once it is on disk.
        """
        return self._writing().write(work)

    def submit(self, work: Work[sqlite3.Connection, T]) -> concurrent.futures.Future[T]:
        """The same as `write` from any thread."""
        return self._writing().submit(work)

    @contextmanager
    def reader(self) -> Generator[sqlite3.Connection]:
        """A connection that sees one moment of the database and cannot write; keep it short."""
        try:
            with self._readers.reading() as connection:
                yield connection
        except sqlite3.Error as error:
            mapped = storage_error(error)
            self._met_damage |= isinstance(mapped, DamagedFileError)
            raise mapped from error

    def rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """The rows of a query. Blocks."""
        with self.reader() as connection:
            return connection.execute(query, values).fetchall()

    def check(self) -> None:
        """Nothing to refuse: the lock of the data directory keeps other processes out."""

    async def reopen(self) -> None:
        """Resume writing after a failed commit; harmless without a failure.

        What was acknowledged is on disk; what failed may have to be read again by whoever keeps a
        copy in memory. Fails with `StorageError` while the cause lasts.
        """
        await asyncio.to_thread(self._reopen)

    async def back_up(self, now: float) -> Path | None:
        """Copy the database once a UTC day, off the loop, keeping seven copies.

        Fails with `StorageError` where the copy cannot be written; older copies stay.

        Returns:
            The new copy, None where the day has one.
        """
        with as_storage_error():
            return await asyncio.to_thread(back_up_daily, self.path.parent, now=now)

    def close(self, now: float) -> None:
        """Write what waits, note how the use ended, and close. Blocks; once is enough."""
        self._readers.close()
        with self._changing:
            self._close_writer(now)

    def _close_writer(self, now: float) -> None:
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        ended = DAMAGE_MET if self._met_damage or writer.met_damage else now
        # A writer that has failed leaves the use unmarked, so that the next start looks at all.
        with suppress(StorageError):
            writer.submit(lambda connection: _mark_use(connection, closed_at=ended))
        writer.close()
        if self._with_wal and writer.failure is not None and self._port is not None:
            _do_without_log(self.path, self._port, timeout_s=self._timeout_s)

    def _writing(self) -> Writer[sqlite3.Connection]:
        if self._writer is None:
            raise StorageError("the database is closed, or open for reading only")
        return self._writer

    def _reopen(self) -> None:
        with self._changing:
            writer = self._writing()
            if writer.failure is None or self._port is None:
                return
            with as_storage_error():
                # What was removed does not come back, and a file put in its place is another desk.
                self._port.presence.check_database()
                writer.close()
                self._port = port_to(self.path, with_wal=self._with_wal, timeout_s=self._timeout_s)
                self._writer = Writer(self._port)


def port_to(path: Path, *, with_wal: bool, timeout_s: float) -> SqlitePort:
    """A connection that has proved that it can write, by storing the start of a use.

    The note stands in the database itself before anything else is written, while the log keeps its
    pages for as long as it is in use: if the log is missing one day, the note shows it.

    Returns:
        The connection, for a writer.

    Raises:
        sqlite3.Error: the disk refuses.
    """
    connection = connect_to_write(path, with_wal=with_wal, timeout_s=timeout_s)
    try:
        connection.execute("BEGIN IMMEDIATE")
        _mark_use(connection, closed_at=None)
        connection.execute("COMMIT")
        if with_wal:
            # Not TRUNCATE: an empty log could not be distinguished from one that a reader has made.
            connection.execute("PRAGMA wal_checkpoint(FULL)")
    except sqlite3.Error:
        connection.close()
        raise
    return SqlitePort(connection, Presence.of(path))


def note_end(path: Path, *, with_wal: bool, timeout_s: float, now: float) -> None:
    """Note that the last use is over, although it did not end in order."""
    with closing(connect_to_write(path, with_wal=with_wal, timeout_s=timeout_s)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        _mark_use(connection, closed_at=now)
        connection.execute("COMMIT")


def _do_without_log(path: Path, port: SqlitePort, *, timeout_s: float) -> None:
    """Store in the database that its log may be missing, as a failed writer closed."""
    with suppress(sqlite3.Error, FileGoneError):
        port.presence.check_database()
        connect_to_write(path, with_wal=False, timeout_s=timeout_s).close()


def _mark_use(connection: sqlite3.Connection, *, closed_at: float | None) -> None:
    connection.execute(_MARK_USE, {"one": 1, "closed_at": closed_at})
