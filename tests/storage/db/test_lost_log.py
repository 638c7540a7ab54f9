"""A write-ahead log that was lost, and cases that only look so."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from service_tui.storage.cached_state import read_cache
from service_tui.storage.db.backups import back_up_daily
from service_tui.storage.db.connection import DATABASE_FILE, connect_to_write
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import LostLogError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import look_at, open_database

pytestmark = pytest.mark.process


NOW = 1_800_000_000.0

Limit = Callable[[int], AbstractContextManager[None]]

APPEND_AND_WAIT = Path(__file__).parents[2] / "kit" / "programs" / "append_and_wait.py"


def killed(directory: Path, *, rows: int = 5, size: int = 10, how: str = "locked") -> None:
    """A directory as a program leaves it that is killed after some rows."""
    with subprocess.Popen(
        [sys.executable, str(APPEND_AND_WAIT), str(directory), str(rows), str(size), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"written\n"
        program.send_signal(signal.SIGKILL)


def open_here(directory: Path, *, lock: bool = True) -> Database:
    held = DataDirLock.acquire(directory, pid=1, now=NOW) if lock else None
    try:
        return open_database(directory, now=NOW, lock=held)
    finally:
        if held is not None:
            held.release()


def last_seq(directory: Path) -> int:
    database = open_here(directory)
    last = JournalStore(database).last_seq()
    database.close(NOW)
    return last


def log_of(directory: Path) -> Path:
    return directory / f"{DATABASE_FILE}-wal"


def test_a_kill_alone_loses_nothing_and_is_not_spoken_of(directory: Path) -> None:
    killed(directory)
    assert log_of(directory).stat().st_size > 32
    assert last_seq(directory) == 5


def removed(directory: Path) -> None:
    log_of(directory).unlink()


def removed_with_its_index(directory: Path) -> None:
    removed(directory)
    (directory / f"{DATABASE_FILE}-shm").unlink()


def emptied(directory: Path) -> None:
    log_of(directory).write_bytes(b"")


def made_anew_by_a_reader(directory: Path) -> None:
    removed_with_its_index(directory)
    read_cache(directory / DATABASE_FILE)


@pytest.mark.slow
@pytest.mark.parametrize("lose", [removed, removed_with_its_index, emptied, made_anew_by_a_reader])
@pytest.mark.parametrize(("rows", "size"), [(0, 0), (5, 10), (9, 900_000)])
def test_a_log_that_is_gone_after_a_kill_is_spoken_of_once(
    directory: Path, lose: Callable[[Path], None], rows: int, size: int
) -> None:
    open_here(directory).close(NOW)
    backup = back_up_daily(directory, now=NOW)
    killed(directory, rows=rows, size=size)
    lose(directory)
    assert look_at(directory, timeout_s=1).log_is_lost
    with pytest.raises(LostLogError, match="may be missing") as lost:
        open_here(directory)
    assert lost.value.backups == (backup,)
    assert f"{backup}" in str(lost.value)
    with closing(sqlite3.connect(lost.value.copy)) as copy:
        assert copy.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert not look_at(directory, timeout_s=1).log_is_lost
    last_seq(directory)


def test_without_the_lock_there_is_no_log_to_be_lost(directory: Path) -> None:
    killed(directory, how="unlocked")
    assert not log_of(directory).exists()
    assert last_seq(directory) == 5


def test_after_an_end_in_order_no_log_is_missed(directory: Path) -> None:
    open_here(directory).close(NOW)
    assert not log_of(directory).exists()
    assert last_seq(directory) == 0


async def test_a_writer_that_failed_and_closed_is_no_lost_log(
    directory: Path, file_size_limit: Limit
) -> None:
    database = open_here(directory)
    journal = JournalStore(database)
    await journal.append([JournalRow(1, NOW, "fill", "a", "m", "{}")])
    with file_size_limit(log_of(directory).stat().st_size):
        with pytest.raises(StorageError):
            await journal.append([JournalRow(2, NOW, "fill", "a", "m", "x" * 20_000)])
        if database.failure is None:
            pytest.skip("the disk refused before the commit")
    database.close(NOW)
    assert not log_of(directory).exists()
    assert last_seq(directory) == 1


def test_a_use_is_on_record_before_its_log(directory: Path) -> None:
    database = open_here(directory)
    # As another program would see it that knows nothing of the log.
    alone = directory / "alone"
    alone.write_bytes(database.path.read_bytes())
    with closing(connect_to_write(alone, with_wal=False, timeout_s=1)) as connection:
        assert connection.execute("SELECT closed_at FROM use").fetchall() == [(None,)]
    database.close(NOW)
