"""Salvage and restore of a damaged database."""

import asyncio
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from service_tui.storage.db.backups import back_up_daily
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import CorruptDatabaseError, DamagedFileError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore, Snapshot
from service_tui.storage.opening import open_database
from service_tui.storage.recovery.restoring import back_up, begin_anew, copies_in, restore
from service_tui.storage.recovery.salvage import examined

NOW = 1_800_000_000.0
PAGE = 4096
FIRST, ALL = 40, 200
BODY = "x" * 300


async def lived(directory: Path, *, backup: bool = True) -> Path:
    """A database that ended in order: rows, a copy of the first forty, and more rows."""
    database = open_here(directory)
    journal = JournalStore(database)
    await journal.add_snapshot(Snapshot(0, NOW, b"{}"))
    for seq in range(1, ALL + 1):
        await journal.append([JournalRow(seq, NOW + seq, "fill", "a", "m", BODY)])
        if seq == FIRST and backup:
            back_up_daily(directory, now=NOW)
    database.submit(lambda c: c.execute("INSERT INTO preferences VALUES ('theme', 'dark')")).result(
        10
    )
    database.close(NOW)
    return database.path


def open_here(directory: Path) -> Database:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    try:
        return open_database(directory, now=NOW, lock=lock)
    finally:
        lock.release()


def page_of(path: Path, seq: int) -> int:
    """Where in the file the leaf lies that holds a row of the journal."""
    raw = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        query = (
            "SELECT pageno FROM dbstat WHERE name = 'journal' AND pagetype = 'leaf' ORDER BY path"
        )
        try:
            pages = [number for (number,) in connection.execute(query)]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell its pages")
    return (pages[len(pages) * seq // ALL] - 1) * PAGE if raw else 0


def spoil(path: Path, place: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[place : place + PAGE] = b"\xff" * PAGE
    path.write_bytes(raw)


def meet(database: Database) -> None:
    """Read what lies on the broken page."""
    with pytest.raises(DamagedFileError):
        list(JournalStore(database).rows_after(0))


@pytest.mark.slow
async def test_damage_that_a_use_meets_is_looked_for_at_the_next_start(directory: Path) -> None:
    path = await lived(directory)
    spoil(path, page_of(path, 150))
    damaged = path.read_bytes()
    database = open_here(directory)
    meet(database)
    database.close(NOW + 1)
    with pytest.raises(CorruptDatabaseError) as refused:
        open_here(directory)
    error = refused.value
    assert len(error.kept_as.read_bytes()) == len(damaged)
    assert error.had.rest is not None
    assert error.had.backup is not None
    found = examined(error.had.rest.path)
    assert FIRST < found.seq < 150
    assert f"missing: rows {found.seq + 1} to {ALL}" in str(error)
    assert f"up to row {FIRST}" in str(error)


@pytest.mark.slow
async def test_writing_on_a_broken_page_is_a_sign_too(directory: Path) -> None:
    path = await lived(directory)
    spoil(path, page_of(path, 150))
    database = open_here(directory)
    with pytest.raises(DamagedFileError):
        database.submit(lambda c: c.execute("UPDATE journal SET kind = 'x'")).result(10)
    database.close(NOW + 1)
    with pytest.raises(CorruptDatabaseError):
        open_here(directory)


@pytest.mark.slow
async def test_without_a_backup_the_first_rows_are_left(directory: Path) -> None:
    path = await lived(directory, backup=False)
    spoil(path, page_of(path, 150))
    database = open_here(directory)
    meet(database)
    database.close(NOW + 1)
    with pytest.raises(CorruptDatabaseError, match="there is no backup yet") as refused:
        open_here(directory)
    assert refused.value.had.rest is not None
    assert examined(refused.value.had.rest.path).seq > 100
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    copy, replaced = restore(lock, refused.value.had.rest.path, now=NOW)
    lock.release()
    assert replaced is None
    assert copy.path == path
    database = open_here(directory)
    assert database.rows("SELECT value FROM preferences", {}) == [("dark",)]
    database.close(NOW)


@pytest.mark.slow
async def test_a_restore_keeps_what_it_replaces(directory: Path) -> None:
    path = await lived(directory)
    before = path.read_bytes()
    (backup,) = (directory / "backups").iterdir()
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    copy, replaced = restore(lock, backup, now=NOW)
    assert copy.seq == FIRST
    assert replaced is not None
    assert replaced.read_bytes() == before
    assert backup.exists()
    assert path.stat().st_mode & 0o777 == 0o600
    # Twice in one second: neither is written over.
    _, again = restore(lock, backup, now=NOW)
    assert again not in {None, replaced}
    lock.release()
    database = open_here(directory)
    assert JournalStore(database).last_seq() == FIRST
    database.close(NOW)


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The names in a directory each time that it is flushed."""
    seen, flush = list[set[str]](), os.fsync

    def noting(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            seen.append(set(os.listdir(descriptor)))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    return seen


def test_each_new_name_is_flushed_so_that_a_power_cut_loses_none(
    directory: Path, flushed: list[set[str]]
) -> None:
    open_here(directory).close(NOW)
    assert DATABASE_FILE in flushed[-1]
    copy = back_up_daily(directory, now=NOW)
    assert copy is not None
    assert copy.name in flushed[-1]
    flushed.clear()
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    _, replaced = restore(lock, copy, now=NOW)
    lock.release()
    assert replaced is not None
    # The question while all is in its place, then what is there instead.
    asked, restored = flushed[-2:]
    assert {DATABASE_FILE, "damaged.json"} <= asked
    assert {DATABASE_FILE, replaced.name} <= restored
    assert replaced.name not in asked


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9_000])


def exchange(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")


def hole(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM journal WHERE seq = 20")
        connection.commit()


@pytest.mark.slow
@pytest.mark.parametrize("how", [cut, exchange, hole, Path.unlink, lambda p: p.write_bytes(b"no")])
async def test_what_is_no_whole_copy_takes_no_place(
    directory: Path, how: Callable[[Path], object]
) -> None:
    path = await lived(directory)
    before = path.read_bytes()
    (backup,) = (directory / "backups").iterdir()
    how(backup)
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    with pytest.raises(StorageError, match=r"nothing was changed|is not there"):
        restore(lock, backup, now=NOW)
    with pytest.raises(StorageError, match="the database itself"):
        restore(lock, path, now=NOW)
    lock.release()
    assert path.read_bytes() == before
    names = {one.name for one in await asyncio.to_thread(lambda: [*directory.iterdir()])}
    assert names == {"backups", "desk.lock", DATABASE_FILE}


@pytest.mark.slow
async def test_a_restore_that_is_killed_half_way_asks(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await lived(directory)
    before = path.read_bytes()
    (backup,) = (directory / "backups").iterdir()
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    rename = Path.rename

    def dies(self: Path, target: Path) -> Path:
        if target == path:
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", dies)
        with pytest.raises(KeyboardInterrupt):
            restore(lock, backup, now=NOW)
    lock.release()
    with pytest.raises(CorruptDatabaseError, match="about to take its place") as refused:
        open_here(directory)
    assert refused.value.kept_as.read_bytes() == before


@pytest.mark.slow
async def test_a_copy_is_made_while_it_is_written(directory: Path, tmp_path: Path) -> None:
    path = await lived(directory)
    database = open_here(directory)
    await JournalStore(database).append([JournalRow(ALL + 1, NOW, "fill", "a", "m", "{}")])
    copy = back_up(directory, None, now=NOW)
    assert copy.seq == ALL + 1
    assert copy.path.parent == directory / "backups"
    assert back_up(directory, None, now=NOW).path != copy.path
    elsewhere = tmp_path / "copy.sqlite3"
    assert back_up(directory, elsewhere, now=NOW).path == elsewhere
    with pytest.raises(StorageError, match="nothing is written over"):
        back_up(directory, elsewhere, now=NOW)
    database.close(NOW)
    reaches = {one.seq for _, one in copies_in(directory) if not isinstance(one, str)}
    assert reaches == {FIRST, ALL + 1}
    spoil(path, page_of(path, 150))
    with pytest.raises(StorageError, match="no copy was made"):
        back_up(directory, None, now=NOW)
    assert len(copies_in(directory)) == 3


@pytest.mark.slow
async def test_a_new_desk_begins_only_when_it_is_wanted(directory: Path) -> None:
    path = await lived(directory)
    before = path.read_bytes()
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    replaced = begin_anew(lock, now=NOW)
    lock.release()
    assert replaced is not None
    assert replaced.read_bytes() == before
    database = open_here(directory)
    assert JournalStore(database).last_seq() == 0
    database.close(NOW)
