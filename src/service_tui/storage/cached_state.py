"""The cached state for the first paint, read before anything heavy is imported.

Unreadable data counts as absent, and the real opening, a moment later, reports why. Only kept
tokens, which bind a signature, are read or the reading fails.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from service_tui.storage.db.connection import COMPANIONS
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.lock import holder_of
from service_tui.storage.db.wal import log_of, look
from service_tui.storage.errors import OtherConsoleError, StorageError

TICKET_COLUMNS: Final = TABLES["tickets"].columns
TOKEN_COLUMNS: Final = TABLES["kepttokens"].columns

TOKENS_SINCE: Final = 12
"""The first schema that keeps tokens."""

STEPS_MAX: Final = 50_000_000
"""Steps of SQLite in one reading, a second or two; ours takes thousands."""

TOKENS_WAIT_S: Final = 1.0
"""ours: how long a reading of tokens waits for a lock of another console."""

_UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError, OverflowError, OSError, StorageError)

_FOREIGN: Final = "SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index')"


BUSY_S: Final = 0.2
"""How long another program's write is waited for where the answer matters more than the time."""


def read_cache(path: Path) -> dict[str, tuple[float, str]]:
    """The cached answers: time (seconds since 1970) and text, by key.

    Args:
        path: the database file, whether there is one or not.

    Returns:
        Nothing where the file is missing, damaged, busy or of another schema.
    """
    return {key: (at, body) for key, at, body in _rows(path, "SELECT key, at, body FROM cache")}


def read_preferences(path: Path) -> dict[str, str]:
    """The operator's preferences by key; empty if unreadable."""
    rows = _rows(path, "SELECT key, 0.0, value FROM preferences")
    return {key: value for key, _, value in rows}


def can_be_read(path: Path) -> bool:
    """False for a database that is there and cannot be read, also where it waits for a writer."""
    return not path.exists() or bool(_rows(path, "SELECT 1", wait_s=BUSY_S))


def has_open_tickets(path: Path) -> bool:
    """True if a blotter has orders without an end; False if unreadable."""
    query = "SELECT ticket_id, at, kind FROM tickets WHERE state IN ('queued', 'sent', 'unknown')"
    return path.exists() and bool(_rows(path, query))


def read_tickets(path: Path, limit: int) -> list[tuple[object, ...]]:
    """The newest commands with an end of another console's blotter, as their columns.

    Returns:
        Rows of `TICKET_COLUMNS`, the newest first; none where the file cannot be read now.
    """
    query = (
        f"SELECT {', '.join(TICKET_COLUMNS)} FROM tickets "  # noqa: S608 - names of our own
        f"WHERE state IN ('done', 'refused', 'failed') ORDER BY at DESC LIMIT {int(limit)}"
    )
    return [tuple(row) for row in _rows(path, query)] if path.exists() else []


def read_kept_tokens(path: Path, wallet: str) -> list[tuple[object, ...]]:
    """The tokens that another console keeps of a wallet.

    Returns:
        Rows of `TOKEN_COLUMNS`; none without a file, or where an earlier program wrote it.

    Raises:
        OtherConsoleError: the file is there and cannot be read now.
    """
    query = (
        f"SELECT {', '.join(TOKEN_COLUMNS)} FROM kepttokens "  # noqa: S608 - names of our own
        "WHERE wallet = ?"
    )
    try:
        os.lstat(path)
        ((version,),) = _read(path, "PRAGMA user_version", wait_s=TOKENS_WAIT_S)
        # An empty file has no version: it is damaged, and kept something perhaps.
        if 0 < version < TOKENS_SINCE:
            return []
        return [tuple(row) for row in _read(path, query, (wallet,), wait_s=TOKENS_WAIT_S)]
    except FileNotFoundError:
        return []
    except _UNREADABLE as error:
        raise OtherConsoleError(path) from error


def _rows(path: Path, query: str, *, wait_s: float = 0.0) -> list[tuple[Any, ...]]:
    # No waiting: a lock on the database lasts longer than a first paint may take.
    try:
        return _read(path, query, wait_s=wait_s)
    except _UNREADABLE:
        return []


def _read(
    path: Path, query: str, values: tuple[str, ...] = (), *, wait_s: float
) -> list[tuple[Any, ...]]:
    # SQLite would wait for the other end of a pipe.
    if not path.is_file() or _has_odd_file_beside(path) or _has_damaged_log(path):
        raise StorageError(f"{path.name} cannot be read")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=wait_s)) as connection:
        # Not checked yet: a view in the place of a table may compute for ever.
        connection.set_progress_handler(lambda: True, STEPS_MAX)
        connection.execute("PRAGMA trusted_schema=OFF")
        if connection.execute(_FOREIGN).fetchone() is not None:
            raise StorageError(f"{path.name} declares what is not ours")
        return connection.execute(query, values).fetchall()


def _has_odd_file_beside(path: Path) -> bool:
    """True if something that is no plain file stands where SQLite looks for its log or journal."""
    beside = (path.with_name(f"{path.name}{suffix}") for suffix in COMPANIONS)
    return any(os.path.lexists(one) and not one.is_file() for one in beside)


def _has_damaged_log(path: Path) -> bool:
    """True if a database must not be opened: reading would rewrite its log's index."""
    if not log_of(path).exists():
        return False
    try:
        # While another process has it open, its log changes as it is checked.
        return holder_of(path.parent) is None and bool(look(path).damage)
    except (OSError, StorageError):
        return True
