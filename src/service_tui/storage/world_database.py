"""Protocol of a world's database: SQLite in a data directory, or PostgreSQL.

The statements of the world's stores are the same text for both, with parameters as `:names`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")

READERS_MAX: Final = 8
"""Read connections at one time: screens and routes; a ninth waits."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - as the drivers have it
        """The next row, None behind the last."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        ...


class ReadConnection(Protocol):
    """A connection that sees one moment of a database."""

    def execute(self, sql: str, parameters: Mapping[str, object] = ..., /) -> Rows:
        """Run one statement."""
        ...


class WriteConnection(ReadConnection, Protocol):
    """A connection for writes inside a transaction that the caller neither begins nor ends."""

    def executemany(self, sql: str, rows: Iterable[Mapping[str, object]], /) -> object:
        """Run one statement for each of the rows."""
        ...


class LateConnection:
    """A connection that may send the statements of a transaction before it has their results."""

    written_to: int | None = None
    """The row up to which this transaction has surely written the journal; None: look there."""

    def note_written(self, seq: int) -> None:
        """Take `written_to` from a work, unless that can be taken back without the transaction."""
        raise NotImplementedError

    def check_later(self, rows: Rows, check: Callable[[Rows], None]) -> None:
        """Give a result to a check before the commit, which an error of the check prevents."""
        raise NotImplementedError


def check(connection: WriteConnection, rows: Rows, refuse: Callable[[Rows], None]) -> None:
    """Give a result to a check: now, or with all others before the commit.

    Args:
        connection: of the transaction.
        rows: the result.
        refuse: raises where the result forbids the transaction.
    """
    if isinstance(connection, LateConnection):
        connection.check_later(rows, refuse)
    else:
        refuse(rows)


class WorldDatabase(Protocol):
    """The database of a world. Every failure is a `StorageError`."""

    @property
    def path(self) -> Path:
        """A file name in the folder that is this process's own, for what is kept beside."""
        ...

    def check(self) -> None:
        """Raise `StorageError` once another process has taken the world over."""
        ...

    def write(self, work: Callable[[WriteConnection], T]) -> asyncio.Future[T]:
        """Run a function in the next transaction; the future is done once that is on disk."""
        ...

    def reader(self) -> AbstractContextManager[ReadConnection]:
        """A connection that sees one moment of the database and cannot write; keep it short."""
        ...

    def rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """The rows of a query. Blocks."""
        ...

    async def reopen(self) -> None:
        """Resume writing after a failed commit; harmless without a failure."""
        ...
