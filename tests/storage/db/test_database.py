"""How a use of the database ends on record, so that the next start knows what to look at."""

import asyncio
import errno
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import AT, small_database
from service_tui.storage.db.conditions import DAMAGE_MET
from service_tui.storage.db.connection import connect_to_write
from service_tui.storage.db.database import Database, note_end, port_to
from service_tui.storage.db.inspection import inspect
from service_tui.storage.db.presence import Presence
from service_tui.storage.db.schema import SCHEMA
from service_tui.storage.db.sqlite_port import SqlitePort
from service_tui.storage.db.writer import LoopWaker
from service_tui.storage.errors import DamagedFileError, StorageBusyError, StorageError

Spoil = Callable[[Database], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_database(tmp_path / "desk.sqlite3", 1)


def opened(path: Path, *, with_wal: bool = True, port: SqlitePort | None = None) -> Database:
    port = port or port_to(path, with_wal=with_wal, timeout_s=0)
    return Database(path, port=port, with_wal=with_wal, timeout_s=0)


def closed_at(path: Path) -> list[tuple[float | None]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT closed_at FROM use").fetchall()


def of_sqlite(code: int) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("as sqlite says")
    error.sqlite_errorcode = code
    return error


def read(database: Database, code: int) -> None:
    with pytest.raises(StorageError), database.reader():
        raise of_sqlite(code)


def write(database: Database, code: int) -> None:
    def work(_: sqlite3.Connection) -> None:
        raise of_sqlite(code)

    with pytest.raises(StorageError):
        database.submit(work).result(10)


def nothing(_: Database) -> None:
    pass


@pytest.mark.parametrize(
    ("meets", "at"),
    [
        (nothing, AT),
        (lambda one: read(one, sqlite3.SQLITE_CORRUPT), DAMAGE_MET),
        (lambda one: read(one, sqlite3.SQLITE_BUSY), AT),
        (lambda one: write(one, sqlite3.SQLITE_NOTADB), DAMAGE_MET),
        (lambda one: write(one, sqlite3.SQLITE_BUSY), AT),
    ],
    ids=["nothing", "a broken page", "a busy file", "a page that is none", "a busy write"],
)
@pytest.mark.parametrize("with_wal", [True, False])
def test_a_use_ends_with_its_time_or_with_the_damage_that_it_met(
    path: Path, meets: Spoil, at: float, *, with_wal: bool
) -> None:
    database = opened(path, with_wal=with_wal)
    assert closed_at(path) == [(None,)]
    meets(database)
    database.close(AT)
    assert closed_at(path) == [(at,)]
    # What ended stays as it was noted.
    database.close(AT + 9)
    assert closed_at(path) == [(at,)]


def test_damage_stays_on_record_whatever_is_read_and_written_after_it(path: Path) -> None:
    database = opened(path)
    write(database, sqlite3.SQLITE_CORRUPT)
    write(database, sqlite3.SQLITE_BUSY)
    read(database, sqlite3.SQLITE_BUSY)
    database.submit(lambda connection: connection.execute("DELETE FROM cache")).result(10)
    database.close(AT)
    assert closed_at(path) == [(DAMAGE_MET,)]


def test_damage_of_one_work_counts_among_others_of_its_group(path: Path) -> None:
    database, entered, released = opened(path), threading.Event(), threading.Event()

    def holds(_: sqlite3.Connection) -> None:
        entered.set()
        released.wait(10)

    def meets_damage(_: sqlite3.Connection) -> None:
        raise of_sqlite(sqlite3.SQLITE_CORRUPT)

    database.submit(holds)
    entered.wait(10)
    # These two wait together, and so share one transaction.
    whole, damaged = database.submit(lambda _: "whole"), database.submit(meets_damage)
    released.set()
    assert whole.result(10) == "whole"
    with pytest.raises(DamagedFileError):
        damaged.result(10)
    database.close(AT)
    assert closed_at(path) == [(DAMAGE_MET,)]


def test_each_error_of_a_writer_is_a_sentence_of_ours(path: Path) -> None:
    with closing(connect_to_write(path, with_wal=True, timeout_s=0)) as connection:
        port = SqlitePort(connection, Presence.of(path))
        own = DamagedFileError("ours")
        assert port.named(own) is own
        assert isinstance(port.named(of_sqlite(sqlite3.SQLITE_NOTADB)), DamagedFileError)
        assert "the disk is gone" in str(port.named(OSError(errno.EIO, "the disk is gone")))
        with pytest.raises(KeyError):
            port.named(KeyError("x"))
        for code, is_final in ((sqlite3.SQLITE_IOERR, True), (sqlite3.SQLITE_BUSY, False)):
            assert port.is_final(of_sqlite(code), is_committing=True) is is_final
            # Before the commit nothing is in doubt.
            assert not port.is_final(of_sqlite(code), is_committing=False)


async def test_results_that_nobody_reads_yet_hold_no_writer_up() -> None:
    waker, given = LoopWaker(asyncio.get_running_loop()), list[int]()
    # More than a pipe holds.
    many = [*range(70_000)]
    for number in many:
        waker.wake([lambda number=number: given.append(number)])
    async with asyncio.timeout(60):
        while given != many:  # noqa: ASYNC110 - it has no event of its own
            await asyncio.sleep(0)
    waker.close()


def test_an_error_of_no_sqlite_passes_a_reader_as_it_is(path: Path) -> None:
    database = opened(path)
    with pytest.raises(KeyError), database.reader():
        raise KeyError("x")
    database.close(AT)
    assert closed_at(path) == [(AT,)]


def test_a_work_of_a_thread_is_not_taken_back(path: Path) -> None:
    database = opened(path)
    database.submit(lambda _: None).result(10)
    with closing(connect_to_write(path, with_wal=True, timeout_s=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = database.submit(lambda _: None)
        assert not waiting.cancel()
        with pytest.raises(StorageBusyError):
            waiting.result(10)
    database.close(AT)


def test_rows_are_those_of_the_driver(path: Path) -> None:
    database = opened(path)
    query = "SELECT seq, at FROM journal WHERE seq = :seq"
    assert database.rows(query, {"seq": 1}) == [(1, AT + 1)]
    assert database.rows(query, {"seq": 2}) == []
    with pytest.raises(DamagedFileError), database.reader():
        raise of_sqlite(sqlite3.SQLITE_CORRUPT)
    database.close(AT)


def test_who_only_reads_notes_no_end(path: Path) -> None:
    opened(path).close(AT)
    reading = Database(path, port=None, with_wal=False, timeout_s=0)
    assert (reading.failure, len(reading.rows("SELECT * FROM journal", {}))) == (None, 1)
    reading.close(AT + 9)
    assert closed_at(path) == [(AT,)]


def test_an_end_is_noted_for_a_use_that_had_none(path: Path) -> None:
    # As after a kill.
    port_to(path, with_wal=True, timeout_s=0).connection.close()
    assert closed_at(path) == [(None,)]
    note_end(path, with_wal=True, timeout_s=0, now=AT)
    assert closed_at(path) == [(AT,)]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("with_wal", [True, False])
def test_a_file_that_cannot_be_written_is_not_opened(path: Path, *, with_wal: bool) -> None:
    with closing(connect_to_write(path, with_wal=with_wal, timeout_s=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            port_to(path, with_wal=with_wal, timeout_s=0)
    assert closed_at(path) == []


def test_a_use_is_on_record_in_the_database_itself_before_its_log(path: Path) -> None:
    database = opened(path)
    # As another program would see it that knows nothing of the log.
    alone = path.with_name("alone")
    alone.write_bytes(path.read_bytes())
    with closing(connect_to_write(alone, with_wal=False, timeout_s=0)) as connection:
        assert connection.execute("SELECT closed_at FROM use").fetchall() == [(None,)]
    database.close(AT)


def failed(path: Path, *, with_wal: bool = True) -> Database:
    """A database whose last commit may have gone nowhere."""

    def refuses() -> None:
        raise OSError(errno.EIO, "the disk is gone")

    port = port_to(path, with_wal=with_wal, timeout_s=0)
    port.confirm = refuses  # type: ignore[method-assign]  # the disk's answer
    database = opened(path, with_wal=with_wal, port=port)
    with pytest.raises(StorageError, match="the disk is gone"):
        database.submit(lambda _: None).result(10)
    assert database.failure is not None
    return database


def test_after_a_failure_no_log_will_be_missed(path: Path) -> None:
    failed(path).close(AT)
    # The use stays open, so that all is looked at; and the file says that it has no log.
    assert closed_at(path) == [(None,)]
    assert path.read_bytes()[18:20] == b"\x01\x01"
    assert not inspect(path, schema=SCHEMA, timeout_s=0).log_is_lost


def test_a_file_put_in_the_place_of_a_failed_one_is_not_written(path: Path) -> None:
    database, other = failed(path), small_database(path.with_name("other"), 2)
    connect_to_write(other, with_wal=True, timeout_s=0).close()
    content = other.read_bytes()
    other.replace(path)
    database.close(AT)
    assert path.read_bytes() == content


@pytest.mark.parametrize("with_wal", [True, False])
async def test_after_a_failure_it_is_written_again_in_the_same_way(
    path: Path, *, with_wal: bool
) -> None:
    database = failed(path, with_wal=with_wal)
    await database.reopen()
    assert database.failure is None
    # Without a failure nothing is opened anew.
    await database.reopen()
    write_preference_of(database)
    mode = database.rows("PRAGMA journal_mode", {})
    assert mode == [("wal" if with_wal else "delete",)]
    database.close(AT)
    assert closed_at(path) == [(AT,)]


def write_preference_of(database: Database) -> None:
    query = "INSERT INTO preferences VALUES ('theme', 'dark')"
    database.submit(lambda connection: connection.execute(query)).result(10)
    assert database.rows("SELECT value FROM preferences", {}) == [("dark",)]
