"""The writer thread: order, failures, and callers that leave."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from service_tui.storage.db import database as database_room
from service_tui.storage.db import writer as writer_room
from service_tui.storage.db.connection import connect_to_read, connect_to_write
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.writer import GROUP_MAX, WAITING_MAX, Work
from service_tui.storage.errors import StorageBusyError, StorageError, StorageFullError
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0

Limit = Callable[[int], AbstractContextManager[None]]


def insert(key: str, value: str = "") -> Work[sqlite3.Connection, str]:
    def work(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO preferences VALUES (?, ?)", (key, value))
        return key

    return work


def keys(database: Database) -> set[str]:
    with closing(connect_to_read(database.path, timeout_s=0)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM preferences")}


@contextmanager
def held_back(database: Database) -> Generator[None]:
    """Works submitted inside wait for one another."""
    entered, released = threading.Event(), threading.Event()

    def work(_: sqlite3.Connection) -> None:
        entered.set()
        released.wait(10)

    first = database.submit(work)
    entered.wait(10)
    yield
    released.set()
    first.result(10)


def traced(database: Database) -> list[str]:
    statements: list[str] = []
    database.submit(lambda connection: connection.set_trace_callback(statements.append)).result(10)
    statements.clear()
    return statements


async def test_what_is_awaited_is_seen_by_everybody(database: Database) -> None:
    assert await database.write(insert("theme", "night")) == "theme"
    assert keys(database) == {"theme"}


async def test_works_that_wait_at_the_same_moment_share_one_commit(database: Database) -> None:
    statements = traced(database)
    with held_back(database):
        waiting = [database.write(insert(str(number))) for number in range(20)]
    assert [await answer for answer in waiting] == [str(number) for number in range(20)]
    assert statements.count("COMMIT") == 2
    assert keys(database) == {str(number) for number in range(20)}


async def test_one_work_alone_costs_no_savepoint(database: Database) -> None:
    statements = traced(database)
    await database.write(insert("a"))
    assert [text.split()[0] for text in statements] == ["BEGIN", "INSERT", "COMMIT"]


async def test_a_crowd_is_written_in_groups_and_in_order(database: Database) -> None:
    statements = traced(database)
    order: list[int] = []
    with held_back(database):
        waiting = [
            database.write(lambda _, number=number: order.append(number))
            for number in range(2 * GROUP_MAX + 1)
        ]
    assert [await answer for answer in waiting] == [None] * len(waiting)
    assert order == list(range(2 * GROUP_MAX + 1))
    assert statements.count("COMMIT") == 4


async def test_a_work_that_raises_takes_back_only_its_own_rows(database: Database) -> None:
    def half_done(connection: sqlite3.Connection) -> None:
        insert("half")(connection)
        raise LookupError("changed my mind")

    with held_back(database):
        before = database.write(insert("before"))
        failing = database.write(half_done)
        repeated = database.write(insert("before"))
        after = database.write(insert("after"))
    assert await before == "before"
    assert await after == "after"
    with pytest.raises(LookupError, match="changed my mind"):
        await failing
    with pytest.raises(StorageError, match="UNIQUE"):
        await repeated
    assert keys(database) == {"before", "after"}
    assert database.failure is None


async def test_a_work_that_raises_alone_leaves_nothing(database: Database) -> None:
    def half_done(connection: sqlite3.Connection) -> None:
        insert("half")(connection)
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(half_done)
    await database.write(insert("next"))
    assert keys(database) == {"next"}


async def test_who_stops_waiting_does_not_take_the_work_back(database: Database) -> None:
    with held_back(database):
        waiting = database.write(insert("kept"))
        waiting.cancel()
    await database.write(insert("later"))
    assert waiting.cancelled()
    assert keys(database) == {"kept", "later"}


async def test_threads_and_loops_are_answered_alike(database: Database) -> None:
    def from_a_loop_of_its_own() -> str:
        async def write() -> str:
            return await database.write(insert("loop"))

        return asyncio.run(write())

    submitted = database.submit(insert("thread"))
    awaited = database.write(insert("here"))
    assert await asyncio.to_thread(from_a_loop_of_its_own) == "loop"
    assert await awaited == "here"
    assert submitted.result(10) == "thread"


async def test_a_full_disk_is_named_and_what_was_acknowledged_stays(database: Database) -> None:
    await database.write(insert("before"))
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count=1"))
    with held_back(database):
        small = database.write(lambda connection: connection.execute("SELECT 1").fetchone())
        large = database.write(insert("large", "x" * 1_000_000))
    with pytest.raises(StorageFullError, match="the disk is full, nothing was written"):
        await large
    with pytest.raises(StorageFullError):
        await small
    assert keys(database) == {"before"}
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count=100000"))
    await database.write(insert("after", "x" * 1_000_000))
    assert keys(database) == {"before", "after"}


async def test_a_failed_commit_stops_the_writer_until_it_is_reopened(
    database: Database, file_size_limit: Limit
) -> None:
    await database.write(insert("before"))
    with file_size_limit(database.path.with_name(database.path.name + "-wal").stat().st_size):
        with pytest.raises(StorageError, match="nothing was acknowledged"):
            await database.write(insert("lost", "x" * 100_000))
        assert isinstance(database.failure, StorageError)
        with pytest.raises(StorageError):
            await database.write(insert("refused"))
        with pytest.raises(StorageError):
            await database.reopen()
        assert database.failure is not None
    await database.reopen()
    assert database.failure is None
    await database.write(insert("after"))
    assert keys(database) == {"before", "after"}


async def test_a_database_that_is_closed_while_it_reopens_keeps_no_writer(
    database: Database, file_size_limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    wal = database.path.with_name(database.path.name + "-wal")
    with file_size_limit(wal.stat().st_size), pytest.raises(StorageError):
        await database.write(insert("lost", "x" * 100_000))
    opening, may, port_to = threading.Event(), threading.Event(), database_room.port_to

    def late(*values: Any, **named: Any) -> database_room.SqlitePort:
        opening.set()
        may.wait(20)
        return port_to(*values, **named)

    monkeypatch.setattr(database_room, "port_to", late)
    with ThreadPoolExecutor(2) as threads:
        reopening = threads.submit(asyncio.run, database.reopen())
        opening.wait(20)
        closing_ = threads.submit(database.close, NOW)
        may.set()
        assert (reopening.result(20), closing_.result(20)) == (None, None)
    with pytest.raises(StorageError, match="closed"):
        database.write(insert("after"))


async def test_reopening_a_sound_database_changes_nothing(database: Database) -> None:
    waiting = database.write(insert("a"))
    await database.reopen()
    assert await waiting == "a"


async def test_works_behind_a_failed_commit_are_refused_as_well(
    database: Database, file_size_limit: Limit
) -> None:
    wal = database.path.with_name(database.path.name + "-wal")
    with file_size_limit(wal.stat().st_size):
        with held_back(database):
            # The first group is full: what comes after it must not be written in its place.
            group = [
                database.write(insert(f"{number}", "x" * 2000)) for number in range(GROUP_MAX + 1)
            ]
        for waiting in group:
            with pytest.raises(StorageError):
                await waiting
    assert keys(database) == set()


async def test_a_database_held_by_another_program_is_named_busy(database: Database) -> None:
    with closing(connect_to_write(database.path, with_wal=True, timeout_s=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError, match="another program"):
            await database.write(insert("a"))
        other.execute("ROLLBACK")
    assert database.failure is None
    await database.write(insert("a"))
    assert keys(database) == {"a"}


async def test_a_commit_that_a_reader_blocks_can_be_tried_again(directory: Path) -> None:
    database = open_database(directory, now=NOW, lock=None, timeout_s=0.02)
    with closing(connect_to_read(database.path, timeout_s=0)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM preferences").fetchone()
        with pytest.raises(StorageBusyError):
            await database.write(insert("a"))
    assert database.failure is None
    await database.write(insert("a"))
    assert keys(database) == {"a"}
    database.close(NOW)


@pytest.mark.slow
async def test_the_queue_has_an_end(database: Database) -> None:
    with held_back(database):
        waiting = [database.write(lambda _: None) for _ in range(WAITING_MAX)]
        with pytest.raises(StorageBusyError, match="wait for the disk"):
            database.write(lambda _: None)
    assert [await answer for answer in waiting] == [None] * WAITING_MAX


async def test_closing_writes_what_waits(directory: Path, lock: DataDirLock) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    waiting = [database.write(insert(str(number))) for number in range(50)]
    database.close(NOW)
    assert len([await answer for answer in waiting]) == 50
    assert len(keys(database)) == 50
    with pytest.raises(StorageError, match="closed"):
        database.write(insert("late"))
    with pytest.raises(StorageError, match="closed"):
        database.submit(insert("late"))
    database.close(NOW)


async def test_numbers_and_texts_that_sqlite_cannot_keep_are_refused(database: Database) -> None:
    def put(at: float, body: str) -> Work[sqlite3.Connection, None]:
        return lambda connection: connection.execute(
            "INSERT INTO cache VALUES (?, ?, ?)", ("a", at, body)
        ).close()

    with pytest.raises(StorageError, match="NOT NULL"):
        await database.write(put(float("nan"), ""))
    with pytest.raises(UnicodeEncodeError):
        await database.write(put(1.0, "\ud800"))
    with pytest.raises(StorageError, match="cannot store TEXT"):
        await database.write(
            lambda connection: connection.execute("INSERT INTO cache VALUES ('a', 'b', 'c')")
        )
    await database.write(put(1.0, "fine"))


async def test_a_session_reads_one_moment_and_cannot_write(database: Database) -> None:
    await database.write(insert("a"))
    with database.reader() as connection:
        count = "SELECT count(*) FROM preferences"
        assert connection.execute(count).fetchone() == (1,)
        await database.write(insert("b"))
        assert connection.execute(count).fetchone() == (1,)
    with (
        pytest.raises(StorageError, match="for reading only"),
        database.reader() as connection,
    ):
        connection.execute("DELETE FROM preferences")
    assert keys(database) == {"a", "b"}


class QuietPort:
    """A connection that takes everything."""

    connection: Any = None

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def test_a_writer_that_is_closed_or_has_too_much_waiting_takes_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer_room, "WAITING_MAX", 2)
    port: Any = QuietPort()
    writer = writer_room.Writer(port)
    entered, released = threading.Event(), threading.Event()

    def holds(_: object) -> None:
        entered.set()
        released.wait(10)

    writer.submit(holds)
    entered.wait(10)
    for _ in range(2):
        writer.submit(lambda _: None)
    with pytest.raises(StorageBusyError, match="2 writes wait for the disk"):
        writer.submit(lambda _: None)
    released.set()
    writer.close()
    with pytest.raises(StorageError, match="the database is closed"):
        writer.submit(lambda _: None)


async def test_a_waker_that_is_closed_holds_no_descriptor_and_gives_what_came() -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - names alone
    waker, given = writer_room.LoopWaker(asyncio.get_running_loop()), list[str]()
    waker.wake([lambda: given.append("late")])
    waker.close()
    await asyncio.sleep(0)
    assert given == ["late"]
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
