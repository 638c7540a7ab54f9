"""A world in PostgreSQL, as its leader uses it: one writer, many readers."""

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg.rows import tuple_row
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from service_tui.storage.db.writer import Work, Writer
from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import (
    Raw,
    SharedConnection,
    SharedPort,
    WorldPlace,
    connect,
    session_of,
)
from service_tui.storage.shared.errors import NotLeadingError, as_shared_error, shared_error
from service_tui.storage.shared.feed import CommitNotifier
from service_tui.storage.shared.leadership import Leadership
from service_tui.storage.shared.sharing import SharedConnections, reading_engine
from service_tui.storage.shared.statements import translated
from service_tui.storage.world_database import Rows

T = TypeVar("T")

_NONE: Final[Mapping[str, object]] = {}


class SharedReading:
    """A connection of PostgreSQL that reads statements as the stores have them."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def execute(self, sql: str, parameters: Mapping[str, object] = _NONE, /) -> Rows:
        """Run one statement; fails with `StorageError`."""
        with as_shared_error():
            cursor = self._raw.cursor(row_factory=tuple_row)
            return cursor.execute(translated(sql).encode(), parameters)


class SharedDatabase:
    """The way in, through one writer of one epoch, and the way out, through many readers.

    Args:
        place: the world.
        leadership: of this process, which leads it; None: it only reads.
        path: a file name in the folder that is this process's own.
        shared: connections of all worlds of this process; without them it has its own.
    """

    def __init__(
        self,
        place: WorldPlace,
        leadership: Leadership | None,
        path: Path,
        shared: SharedConnections | None = None,
    ) -> None:
        self.path = path
        self._shared = shared
        self._place = place
        self._leadership = leadership
        # Of shared readers nothing is opened here.
        self._engine = reading_engine(place)
        self._readers = self._engine.pool
        self._changing = Lock()
        self._is_closed = False
        self._notifier: CommitNotifier | None = None
        self._writer: Writer[SharedConnection] | None = None

    def open(self) -> None:
        """Connect the writer of a leader; readers connect when they are first used. Blocks.

        Raises:
            NotLeadingError: this process does not lead.
            StorageError: the database does not answer, or was closed meanwhile.
        """
        with self._changing:
            if self._is_closed:
                raise StorageError("the database is closed")
            if self._leadership is None:
                raise NotLeadingError("this process does not lead the world")
            self._writer = self._new_writer(self._leadership)

    def check(self) -> None:
        """Refuse while it is not certain that this process leads.

        Raises:
            NotLeadingError: it is not.
        """
        if self._leadership is not None:
            self._leadership.check()

    def write(self, work: Work[SharedConnection, T]) -> asyncio.Future[T]:
        """Run a work in the next transaction, from the event loop.

        Refused by `StorageError` and its kin, at once or when awaited; then nothing was written.

        Returns:
            What the work returned, once it is on the server's disk.
        """
        return self._writing().write(work)

    @contextmanager
    def reader(self) -> Generator[SharedReading]:
        """A connection that sees one moment of the database and cannot write; keep it short."""
        try:
            with self._session() as session:
                raw: object = session.connection().connection.driver_connection
                if not isinstance(raw, psycopg.Connection):
                    raise TypeError("the database is no PostgreSQL")
                yield SharedReading(cast("Raw", raw))
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.Error):
                raise shared_error(error.orig) from error
            raise
        finally:
            if self._is_closed:
                # An abandoned thread has returned a connection.
                self._readers.dispose()

    def rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """The rows of a query. Blocks."""
        with self.reader() as reading:
            return reading.execute(query, values).fetchall()

    def _session(self) -> AbstractContextManager[Session]:
        return Session(self._engine) if self._shared is None else self._shared.session(self._place)

    async def reopen(self) -> None:
        """Resume writing after a failed commit, in the same epoch; harmless without a failure.

        Fails with `StorageError` while the cause lasts, and for good once another process leads.
        """
        await asyncio.to_thread(self._reopen)

    def close(self) -> None:
        """Write what waits, and close. Blocks; once is enough."""
        self._is_closed = True
        self._readers.dispose()
        with self._changing:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()
            self._end_notifier()

    def _writing(self) -> Writer[SharedConnection]:
        if self._writer is None:
            raise StorageError("the database is closed, or open for reading only")
        return self._writer

    def _reopen(self) -> None:
        with self._changing:
            writer = self._writing()
            if writer.failure is None or self._leadership is None:
                return
            self._leadership.check()
            writer.close()
            self._writer = self._new_writer(self._leadership)

    def _new_writer(self, leadership: Leadership) -> Writer[SharedConnection]:
        epoch = leadership.epoch
        if epoch is None:
            raise NotLeadingError("this process does not lead the world")
        self._end_notifier()
        raw = connect(self._place, "writer")
        try:
            leadership.note_writer(session_of(raw))
            with as_shared_error():
                return Writer(SharedPort(raw, epoch, self._new_notifier()))
        except StorageError:
            raw.close()
            raise

    def _new_notifier(self) -> Callable[[], None]:
        """What wakes the followers after a commit."""
        if self._shared is not None:
            return partial(self._shared.notify, self._place)
        self._notifier = CommitNotifier(self._place)
        return self._notifier.notify

    def _end_notifier(self) -> None:
        notifier, self._notifier = self._notifier, None
        if notifier is not None:
            notifier.close()
