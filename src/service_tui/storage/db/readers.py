"""The reading connections of a database file: opened when first needed, each for one thread."""

import sqlite3
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final

from service_tui.storage.db.connection import connect_to_read
from service_tui.storage.errors import StorageBusyError
from service_tui.storage.world_database import READERS_MAX

WAIT_S: Final = 30.0
"""ours: how long a ninth reading waits for one of eight to end."""


class Readers:
    """At most READERS_MAX connections to one file."""

    def __init__(self, path: Path, *, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._places = BoundedSemaphore(READERS_MAX)
        self._free: deque[sqlite3.Connection] = deque()
        self._is_closed = False

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A connection in a transaction: each SELECT sees the same moment.

        Yields:
            The connection.

        Raises:
            StorageBusyError: too many readings, of which none ends.
        """
        if not self._places.acquire(timeout=WAIT_S):
            raise StorageBusyError(f"{READERS_MAX} readings of the database do not end; try again")
        try:
            connection = self._taken()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._places.release()

    def close(self) -> None:
        """Close what nobody uses; what is in use is closed when its reading ends."""
        self._is_closed = True
        self._close_free()

    def _taken(self) -> sqlite3.Connection:
        with suppress(IndexError):
            return self._free.pop()
        return connect_to_read(self._path, timeout_s=self._timeout_s)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()
            return
        self._free.append(connection)
        if self._is_closed:
            self._close_free()

    def _close_free(self) -> None:
        with suppress(IndexError):
            while True:
                self._free.pop().close()
