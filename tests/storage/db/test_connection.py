"""What each kind of connection may do, and what it leaves as it is."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kit.service.small import small_database, write_preference
from service_tui.storage.db.connection import connect_to_read, connect_to_write


def setting(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("with_wal", "mode"), [(True, "wal"), (False, "delete")])
def test_who_writes_waits_for_the_disk_and_begins_each_transaction(
    tmp_path: Path, *, with_wal: bool, mode: str
) -> None:
    path = small_database(tmp_path / "desk", 0)
    with closing(connect_to_write(path, with_wal=with_wal, timeout_s=0)) as connection:
        assert setting(connection, "journal_mode") == mode
        # Full: what was acknowledged survives a loss of power.
        assert (setting(connection, "synchronous"), setting(connection, "trusted_schema")) == (2, 0)
        write_preference(connection, "theme", "dark")
        assert not connection.in_transaction


def test_who_reads_changes_nothing(tmp_path: Path) -> None:
    path = small_database(tmp_path / "desk", 3)
    before = path.read_bytes()
    with closing(connect_to_read(path, timeout_s=0)) as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (3,)
        assert (setting(connection, "query_only"), setting(connection, "trusted_schema")) == (1, 0)
        # A reader that moved the log's pages would touch what the writer is about to write.
        assert setting(connection, "wal_autocheckpoint") == 0
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            write_preference(connection, "theme", "dark")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "connect",
    [
        lambda path: connect_to_read(path, timeout_s=0),
        lambda path: connect_to_write(path, with_wal=True, timeout_s=0),
    ],
)
def test_a_database_that_is_not_there_is_not_made(
    tmp_path: Path, connect: Callable[[Path], sqlite3.Connection]
) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        connect(tmp_path / "none")
    assert [*tmp_path.iterdir()] == []


def test_a_name_with_signs_of_an_address_is_a_plain_name(tmp_path: Path) -> None:
    path = small_database(tmp_path / "100% desk?mode=memory#1", 2)
    with closing(connect_to_read(path, timeout_s=0)) as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (2,)
