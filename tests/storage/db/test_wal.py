"""Damage in a write-ahead log, and logs that are sound."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kit.examples import DEPTH
from service_tui.storage.cached_state import read_cache
from service_tui.storage.db.connection import COMPANIONS, DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.wal import look
from service_tui.storage.errors import CorruptDatabaseError
from service_tui.storage.journal import JournalRow, JournalStore, Snapshot
from service_tui.storage.opening import look_at, open_database
from service_tui.storage.recovery.salvage import examined

NOW = 1_800_000_000.0
ROWS = 150
FRAME = 4096 + 24


async def append(database: Database, first: int, count: int) -> None:
    """Rows of a journal, each acknowledged before the next."""
    journal = JournalStore(database)
    if first == 1:
        await journal.add_snapshot(Snapshot(0, NOW, b"{}"))
    for seq in range(first, first + count):
        await journal.append([JournalRow(seq, NOW + seq, "fill", "a", "m", "{}")])


def copied(source: Path, directory: Path) -> Path:
    """What a killed program leaves: its files as they are while it has them open."""
    directory.mkdir(mode=0o700)
    for suffix in ("", *COMPANIONS):
        file = source / f"{DATABASE_FILE}{suffix}"
        if file.exists():
            shutil.copy2(file, directory / file.name)
    return directory / DATABASE_FILE


@pytest.fixture
async def killed(database: Database, tmp_path: Path) -> Path:
    await append(database, 1, ROWS)
    return copied(database.path.parent, tmp_path / "killed")


def open_here(directory: Path) -> Database:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    try:
        return open_database(directory, now=NOW, lock=lock)
    finally:
        lock.release()


def rows_in(directory: Path) -> int:
    database = open_here(directory)
    last = JournalStore(database).last_seq()
    database.close(NOW)
    return last


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def flip(path: Path, place: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[place] ^= 0x10
    path.write_bytes(raw)


def cut_in_half(path: Path) -> None:
    whole = log_of(path).read_bytes()
    log_of(path).write_bytes(whole[: len(whole) // 2])


def cut_by_a_byte(path: Path) -> None:
    log_of(path).write_bytes(log_of(path).read_bytes()[:-1])


def cut_by_a_commit(path: Path) -> None:
    log_of(path).write_bytes(log_of(path).read_bytes()[:-FRAME])


def flip_in_the_middle(path: Path) -> None:
    flip(log_of(path), log_of(path).stat().st_size // 2)


def flip_in_the_middle_without_index(path: Path) -> None:
    flip_in_the_middle(path)
    path.with_name(f"{path.name}-shm").unlink()


def flip_at_the_end(path: Path) -> None:
    flip(log_of(path), log_of(path).stat().st_size - 100)


PARTLY: dict[str, Callable[[Path], None]] = {
    one.__name__: one
    for one in (
        cut_in_half,
        cut_by_a_byte,
        cut_by_a_commit,
        flip_in_the_middle,
        flip_in_the_middle_without_index,
        flip_at_the_end,
    )
}


@pytest.mark.slow
def test_a_kill_alone_is_no_damage(killed: Path) -> None:
    assert not look(killed).damage
    read_cache(killed)
    assert rows_in(killed.parent) == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTLY)
def test_a_log_that_lost_something_is_not_taken_as_it_is(killed: Path, name: str) -> None:
    PARTLY[name](killed)
    damaged = log_of(killed).read_bytes()
    # Neither the first paint nor a look may take away what tells of it.
    read_cache(killed)
    with pytest.raises(Exception, match="its log"):
        look_at(killed.parent, timeout_s=1)
    with pytest.raises(CorruptDatabaseError, match="its log") as refused:
        open_here(killed.parent)
    error = refused.value
    assert log_of(error.kept_as).read_bytes() == damaged
    assert error.had.rest is not None
    certain = examined(error.had.rest.path)
    assert 0 < certain.seq < ROWS
    assert f"up to row {certain.seq}" in str(error)
    assert "missing" in str(error)
    # It is asked again at each start, and nothing begins anew by itself.
    for _ in range(2):
        with pytest.raises(CorruptDatabaseError) as again:
            open_here(killed.parent)
        assert str(again.value) == str(error)
    assert not killed.exists()


OF_EACH_FIELD = [4 * field + field % 4 for field in range(8)]
"""One byte of each field of a header; each has four."""


@pytest.mark.slow
@pytest.mark.parametrize("place", OF_EACH_FIELD if DEPTH == 1 else range(32))
def test_a_header_of_which_a_byte_is_wrong_loses_nothing(killed: Path, place: int) -> None:
    flip(log_of(killed), place)
    with pytest.raises(CorruptDatabaseError, match="header of its log") as refused:
        open_here(killed.parent)
    assert refused.value.had.rest is not None
    assert examined(refused.value.had.rest.path).seq == ROWS


def test_a_log_of_another_database_is_none_of_ours(killed: Path) -> None:
    raw = bytearray(killed.read_bytes())
    raw[16:18] = (8192).to_bytes(2, "big")
    killed.write_bytes(raw)
    assert "pages of 4096 bytes" in look(killed).damage


def checkpoint(database: Database, kind: str) -> None:
    """Copy the log into the database, as SQLite does by itself now and then."""
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute(f"PRAGMA wal_checkpoint({kind})")


async def test_a_log_that_begins_again_has_older_frames_behind(
    database: Database, tmp_path: Path
) -> None:
    await append(database, 1, 40)
    checkpoint(database, "FULL")
    await append(database, 41, 3)
    path = copied(database.path.parent, tmp_path / "killed")
    seen = look(path)
    assert not seen.damage
    assert 0 < seen.frames < log_of(path).stat().st_size // FRAME
    path.with_name(f"{path.name}-shm").unlink()
    assert rows_in(path.parent) == 43


@pytest.mark.slow
async def test_where_the_database_is_ahead_of_its_log_nothing_is_set_back(
    database: Database, tmp_path: Path
) -> None:
    await append(database, 1, 40)
    checkpoint(database, "PASSIVE")
    path = copied(database.path.parent, tmp_path / "killed")
    cut_in_half(path)
    with pytest.raises(CorruptDatabaseError) as refused:
        open_here(path.parent)
    assert refused.value.had.rest is not None
    assert examined(refused.value.had.rest.path).seq == 40


async def test_what_was_rolled_back_is_no_damage(database: Database, tmp_path: Path) -> None:
    """A large work that was taken back leaves frames of this log behind the last commit."""
    await append(database, 1, 3)

    def fails(connection: object) -> None:
        connection.execute("PRAGMA cache_size=5")
        for number in range(200):
            connection.execute("INSERT INTO preferences VALUES (?, ?)", (f"k{number}", "x" * 900))
        raise ValueError("taken back")

    with pytest.raises(ValueError, match="taken back"):
        database.submit(fails).result(10)
    await append(database, 4, 1)
    path = copied(database.path.parent, tmp_path / "killed")
    seen = look(path)
    assert log_of(path).stat().st_size > (seen.frames + 10) * FRAME
    assert not seen.damage
    assert rows_in(path.parent) == 4
