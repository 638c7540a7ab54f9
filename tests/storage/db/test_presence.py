"""Database files that are removed or replaced while they are written."""

import shutil
from pathlib import Path

import pytest

from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import FileRemovedError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0


def row(seq: int) -> JournalRow:
    return JournalRow(seq, NOW, "fill", "a", "m", "{}")


def seqs(database: Database) -> list[int]:
    return [one.seq for one in JournalStore(database).rows_after(0)]


async def test_in_a_removed_directory_nothing_is_acknowledged_any_more(database: Database) -> None:
    journal = JournalStore(database)
    await journal.append([row(1)])
    shutil.rmtree(database.path.parent)
    with pytest.raises(FileRemovedError, match="nothing was traded") as refused:
        await journal.append([row(2)])
    assert str(database.path) in str(refused.value)
    assert isinstance(database.failure, FileRemovedError)
    with pytest.raises(FileRemovedError):
        database.write(lambda _: None)
    with pytest.raises(FileRemovedError):
        await database.reopen()
    with pytest.raises(StorageError):
        await database.back_up(NOW)
    database.close(NOW)
    assert not database.path.parent.exists()


async def test_another_file_in_its_place_is_not_written(database: Database) -> None:
    journal = JournalStore(database)
    await journal.append([row(1)])
    other = database.path.with_name("other")
    shutil.copy(database.path, other)
    other.replace(database.path)
    content = database.path.read_bytes()
    with pytest.raises(FileRemovedError, match="another file"):
        await journal.append([row(2)])
    with pytest.raises(FileRemovedError, match="another file"):
        await database.reopen()
    database.close(NOW)
    assert database.path.read_bytes() == content


async def test_a_removed_log_is_noticed_and_all_that_was_acknowledged_is_saved(
    directory: Path, lock: DataDirLock
) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    journal = JournalStore(database)
    await journal.append([row(1), row(2)])
    database.path.with_name(f"{DATABASE_FILE}-wal").unlink()
    with pytest.raises(FileRemovedError):
        await journal.append([row(3)])
    await database.reopen()
    assert seqs(database)[:2] == [1, 2]
    await journal.append([row(journal.last_seq() + 1)])
    database.close(NOW)
    again = open_database(directory, now=NOW, lock=lock)
    assert seqs(again) == [1, 2, 3, 4]
    again.close(NOW)


async def test_without_a_log_the_database_itself_is_looked_at(directory: Path) -> None:
    database = open_database(directory, now=NOW, lock=None)
    await JournalStore(database).append([row(1)])
    database.path.rename(database.path.with_name("moved"))
    with pytest.raises(StorageError):
        await JournalStore(database).append([row(2)])
    database.close(NOW)
