"""SQLite connections: one way to write, one way to read."""

import sqlite3
from pathlib import Path
from typing import Final

DATABASE_FILE: Final = "desk.sqlite3"
BUSY_TIMEOUT_S: Final = 5.0
"""How long a write waits for another program. Source: failures, F-14."""

COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""What SQLite adds to a database's name for the files beside it."""


def connect_to_write(path: Path, *, with_wal: bool, timeout_s: float) -> sqlite3.Connection:
    """The single writing connection; transactions are begun explicitly.

    Args:
        path: an existing database.
        with_wal: write-ahead log, only under the directory's lock: SQLite before 3.51.3 can lose
            a log when two connections reset it at once. Otherwise a rollback journal.
        timeout_s: how long to wait for another program.

    Returns:
        The connection, in autocommit: nothing is begun.

    Raises:
        sqlite3.Error: it cannot be opened, or another program has it open in another mode.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute(f"PRAGMA journal_mode={'WAL' if with_wal else 'DELETE'}")
        # A transaction that was acknowledged survives the loss of power, not only of the process.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """A connection that can neither write nor checkpoint; one thread at a time may use it."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("PRAGMA trusted_schema=OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
