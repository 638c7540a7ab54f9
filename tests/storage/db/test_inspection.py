"""What a database tells of itself before anything is written to it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import AT, small_database, write_preference
from service_tui.storage.db.conditions import DAMAGE_MET
from service_tui.storage.db.connection import connect_to_write
from service_tui.storage.db.inspection import (
    DamageFound,
    Inspection,
    _reading,
    check_pages,
    inspect,
    is_damage,
)
from service_tui.storage.db.schema import SCHEMA
from service_tui.storage.db.wal import LOG_HEADER, log_of
from service_tui.storage.errors import ForeignSchemaError, NewerSchemaError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_database(tmp_path / "desk.sqlite3", 2)


def change(path: Path, query: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(query, values)


def seen(path: Path, *, is_in_use: bool = False) -> Inspection:
    return inspect(path, schema=SCHEMA, timeout_s=0, is_in_use=is_in_use)


def ended(path: Path, at: float | None) -> None:
    change(path, "INSERT OR REPLACE INTO use VALUES (1, ?)", at)


@pytest.mark.parametrize(
    ("at", "in_order"), [(AT, True), (1.0, True), (None, False), (DAMAGE_MET, False)]
)
def test_a_use_ended_in_order_unless_it_was_killed_or_met_damage(
    path: Path, at: float | None, *, in_order: bool
) -> None:
    ended(path, at)
    assert seen(path) == Inspection(SCHEMA.version, ended_in_order=in_order, log_is_lost=False)


def test_a_database_that_was_never_used_is_looked_at_in_whole(path: Path) -> None:
    assert seen(path) == Inspection(SCHEMA.version, ended_in_order=False, log_is_lost=False)


@pytest.mark.parametrize(
    ("at", "with_wal", "log", "is_lost"),
    [
        (None, True, None, True),
        (None, True, 0, True),
        (None, True, LOG_HEADER, True),
        (None, False, None, False),
        (AT, True, None, False),
        (DAMAGE_MET, True, None, False),
    ],
)
def test_a_log_is_lost_where_a_use_did_not_end_and_it_is_gone(
    path: Path, at: float | None, log: int | None, *, with_wal: bool, is_lost: bool
) -> None:
    ended(path, at)
    connect_to_write(path, with_wal=with_wal, timeout_s=0).close()
    assert not log_of(path).exists()
    if log is not None:
        log_of(path).write_bytes(bytes(log))
    assert seen(path).log_is_lost is is_lost


def test_a_log_that_is_there_is_not_lost(path: Path) -> None:
    ended(path, None)
    with closing(connect_to_write(path, with_wal=True, timeout_s=0)) as writing:
        write_preference(writing, "theme", "dark")
        assert not seen(path).log_is_lost


def test_a_damaged_log_is_damage_unless_another_process_changes_it_now(path: Path) -> None:
    with closing(connect_to_write(path, with_wal=True, timeout_s=0)) as writing:
        write_preference(writing, "theme", "dark")
        raw = bytearray(log_of(path).read_bytes())
        raw[0] ^= 1
        log_of(path).write_bytes(raw)
        with pytest.raises(DamageFound, match="the header of its log"):
            seen(path)
        assert seen(path, is_in_use=True).version == SCHEMA.version


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_below_any_is_of_another_program(path: Path, version: int) -> None:
    change(path, f"PRAGMA user_version={version}")
    with pytest.raises(DamageFound, match="another program"):
        seen(path)


def test_a_version_of_before_is_known_by_its_tables_too(path: Path) -> None:
    version = 11  # The last one that added a table came after it.
    change(path, f"PRAGMA user_version={version}")
    with pytest.raises(ForeignSchemaError, match=f"not those of version {version}"):
        seen(path)
    change(path, "DROP TABLE kepttokens")
    assert seen(path).version == version


def test_a_newer_version_is_named(path: Path) -> None:
    change(path, f"PRAGMA user_version={SCHEMA.version + 1}")
    with pytest.raises(NewerSchemaError) as refused:
        seen(path)
    assert (refused.value.found, refused.value.known) == (SCHEMA.version + 1, SCHEMA.version)


def test_a_table_that_is_missing_is_damage(path: Path) -> None:
    change(path, "DROP TABLE use")
    with pytest.raises(DamageFound, match="table 'use' is missing"):
        seen(path)


def test_a_column_with_another_name_is_not_ours(path: Path) -> None:
    change(path, "ALTER TABLE use RENAME COLUMN closed_at TO other")
    with pytest.raises(ForeignSchemaError, match="table 'use' is not as ours"):
        seen(path)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "the file is empty"), (b"S", "not a database")]
)
def test_a_file_that_is_no_database_is_damage(path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DamageFound, match=reason):
        seen(path)


def test_a_database_that_another_program_holds_is_not_damaged(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for look in (seen, lambda path: check_pages(path, timeout_s=0)):
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                look(path)


@pytest.mark.parametrize(
    ("code", "is_damage"), [(0, True), (sqlite3.SQLITE_ERROR, True), (sqlite3.SQLITE_IOERR, False)]
)
def test_an_error_of_a_reading_is_damage_or_is_raised_as_it_is(
    path: Path, code: int, *, is_damage: bool
) -> None:
    error = sqlite3.OperationalError("it went wrong")
    error.sqlite_errorcode = code
    expected = DamageFound if is_damage else sqlite3.OperationalError
    with pytest.raises(expected, match="it went wrong"), _reading(path, timeout_s=0):
        raise error


def test_text_that_cannot_be_read_is_damage(path: Path) -> None:
    with pytest.raises(DamageFound, match="not readable"), _reading(path, timeout_s=0):
        b"\xff".decode()


@pytest.mark.parametrize("thorough", [True, False])
def test_a_page_that_is_broken_is_found(path: Path, *, thorough: bool) -> None:
    check_pages(path, timeout_s=0, thorough=thorough)
    raw = bytearray(path.read_bytes())
    raw[4096:8192] = b"\xff" * 4096
    path.write_bytes(raw)
    with pytest.raises(DamageFound, match="2"):
        check_pages(path, timeout_s=0, thorough=thorough)


def test_the_rows_of_a_transaction_that_a_kill_broke_off_are_rolled_back(path: Path) -> None:
    log = path.with_name(f"{path.name}-journal")
    with closing(sqlite3.connect(path, isolation_level=None)) as killed:
        killed.execute("PRAGMA cache_size=1")
        killed.execute("PRAGMA cache_spill=1")
        killed.execute("BEGIN")
        for number in range(40):
            write_preference(killed, f"{number}", "x" * 900)
        files = path.read_bytes(), log.read_bytes()
        killed.execute("ROLLBACK")
    path.write_bytes(files[0])
    log.write_bytes(files[1])
    assert seen(path).version == SCHEMA.version
    assert not log.exists()
    check_pages(path, timeout_s=0, thorough=True)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM preferences").fetchone() == (0,)


@pytest.mark.parametrize(
    ("code", "is_one"),
    [
        (sqlite3.SQLITE_CORRUPT, True),
        (sqlite3.SQLITE_CORRUPT_INDEX, True),
        (sqlite3.SQLITE_NOTADB, True),
        (sqlite3.SQLITE_BUSY, False),
        (sqlite3.SQLITE_IOERR, False),
    ],
)
def test_damage_is_what_sqlite_says_of_the_file_itself(code: int, *, is_one: bool) -> None:
    error = sqlite3.DatabaseError("as sqlite says")
    error.sqlite_errorcode = code
    assert is_damage(error) is is_one
    assert not is_damage(None)
    assert not is_damage(ValueError("no"))
