"""SQLite as its writer uses it."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from service_tui.storage.db.presence import Presence
from service_tui.storage.errors import StorageError, result_code, storage_error

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SqlitePort:
    """The writing connection to a file, which must still stand under its name after a commit."""

    failures: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection, presence: Presence) -> None:
        self.presence = presence
        self.connection = connection
        self.close = connection.close
        self.confirm = presence.check

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open; a full disk may have rolled it back."""
        return self.connection.in_transaction

    def attempt(self, parts: Iterator[Sequence[Callable[[sqlite3.Connection], object]]]) -> bool:
        """False: statements in this process wait for nothing."""
        del parts
        return False

    def begin(self) -> None:
        """Begin a transaction that writes."""
        self.connection.execute("BEGIN IMMEDIATE")

    def execute(self, sql: str) -> None:
        """Run COMMIT, ROLLBACK or a statement of a savepoint."""
        self.connection.execute(sql)

    def is_final(self, error: Exception, *, is_committing: bool) -> bool:
        """True for a commit that failed, unless somebody else only had the file locked."""
        is_busy = isinstance(error, sqlite3.Error) and result_code(error) in _BUSY
        return is_committing and not is_busy

    def named(self, error: Exception) -> StorageError:
        """The error as one of ours, with a plain sentence."""
        if isinstance(error, StorageError):
            return error
        if isinstance(error, sqlite3.Error | OSError):
            return storage_error(error)
        raise error
