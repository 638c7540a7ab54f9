"""A small database on disk, of as many rows of the journal as a test names."""

import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from service_tui.storage.db.schema import SCHEMA, create

AT = 1_800_000_000.0


def write_journal(connection: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Rows of these numbers, each a second after the one before."""
    rows = [(seq, AT + seq, "fill", "a", "m", "{}") for seq in seqs]
    connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, NULL)", rows)


def write_snapshots(connection: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Snapshots after these rows, each readable."""
    rows = [(seq, AT + seq, zlib.compress(b"{}")) for seq in seqs]
    connection.executemany("INSERT INTO snapshots VALUES (?, ?, ?)", rows)


def write_preference(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT INTO preferences VALUES (?, ?)", (key, value))


def small_database(path: Path, rows: int, *, snapshots: Iterable[int] = (0,)) -> Path:
    """A whole database whose journal has this many rows."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    create(path, version=SCHEMA.version)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous=OFF")
        write_journal(connection, range(1, rows + 1))
        write_snapshots(connection, snapshots)
    return path


def seqs_in(path: Path, table: str = "journal") -> list[int]:
    """The numbers of the rows of a journal, or of the snapshots."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"SELECT seq FROM {table} ORDER BY seq")  # noqa: S608 - a name of ours
        return [seq for (seq,) in rows]
