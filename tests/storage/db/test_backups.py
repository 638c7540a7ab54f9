import asyncio
import sqlite3
import stat
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from service_tui.storage.cache import CacheStore
from service_tui.storage.db.backups import (
    KEPT_DAYS,
    back_up_before_migration,
    back_up_without_log,
    backups_of,
    stamp,
)
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import StorageError
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0
DAY = 86_400.0


def names(database: Database) -> list[str]:
    return sorted(path.name for path in (database.path.parent / "backups").iterdir())


async def test_there_is_one_copy_a_day_and_seven_are_kept(database: Database) -> None:
    for day in range(KEPT_DAYS + 3):
        assert await database.back_up(NOW + day * DAY) is not None
        assert await database.back_up(NOW + day * DAY + 60) is None
    assert names(database) == [f"desk-2027-01-{day}.sqlite3" for day in range(18, 25)]
    assert backups_of(database.path.parent)[0].name == "desk-2027-01-24.sqlite3"


@pytest.fixture(params=["WEST+12", "EAST-14"])
def far_from_utc(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Generator[None]:
    with monkeypatch.context() as there:
        there.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_from_utc")
async def test_the_day_and_time_of_a_copy_are_those_of_utc(database: Database) -> None:
    midnight = NOW - NOW % DAY
    first, same, second = [
        await database.back_up(at) for at in (midnight, midnight + DAY - 1, midnight + DAY)
    ]
    assert same is None
    assert [first, second] == [
        database.path.parent / "backups" / f"desk-2027-01-{day}.sqlite3" for day in (15, 16)
    ]
    assert stamp(midnight + DAY - 1) == "20270115T235959Z"


async def test_a_copy_that_is_not_of_a_day_is_never_thrown_away(database: Database) -> None:
    directory = database.path.parent
    kept = {
        back_up_before_migration(directory, version=3, now=NOW).name,
        back_up_without_log(directory, now=NOW).name,
    }
    for day in range(KEPT_DAYS + 3):
        await database.back_up(NOW + day * DAY)
    assert kept < {*names(database)}
    assert len(names(database)) == len(kept) + KEPT_DAYS


async def test_a_copy_is_private_whole_and_needs_no_log(database: Database, tmp_path: Path) -> None:
    cache = CacheStore(database)
    await cache.put("markets", NOW, "[1]")
    copy = await database.back_up(NOW)
    assert copy is not None
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    await cache.put("markets", NOW + 1, "[2]")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("SELECT body FROM cache").fetchone() == ("[1]",)
    directory = tmp_path / "restored"
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    copy.rename(directory / "desk.sqlite3")
    restored = open_database(directory, now=NOW, lock=lock)
    await CacheStore(restored).put("markets", NOW + 2, "[3]")
    restored.close(NOW)
    lock.release()


async def test_a_copy_made_while_others_write_is_one_moment(database: Database) -> None:
    def pair(number: int) -> Callable[[sqlite3.Connection], None]:
        def work(connection: sqlite3.Connection) -> None:
            for side in ("left", "right"):
                record = (f"{side}-{number}", "x" * 2000)
                connection.execute("INSERT INTO preferences VALUES (?, ?)", record)

        return work

    async def write_until(stopped: asyncio.Event) -> None:
        number = 0
        while not stopped.is_set():
            await database.write(pair(number))
            number += 1

    stopped = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(write_until(stopped))
        copies = [await database.back_up(NOW + day * DAY) for day in range(5)]
        stopped.set()
    for copy in copies:
        assert copy is not None
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            query = "SELECT count(*) FROM preferences WHERE key LIKE ?"
            counts = {connection.execute(query, (side,)).fetchone() for side in ("left%", "right%")}
            assert len(counts) == 1


async def test_a_copy_that_cannot_be_finished_leaves_the_older_ones(
    database: Database, file_size_limit: Callable[[int], AbstractContextManager[None]]
) -> None:
    await database.back_up(NOW)
    with file_size_limit(20_000), pytest.raises(StorageError):
        await database.back_up(NOW + DAY)
    assert names(database) == ["desk-2027-01-15.sqlite3"]
    assert await database.back_up(NOW + DAY) is not None
