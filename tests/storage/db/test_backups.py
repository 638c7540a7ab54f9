"""Backups: how often, how many, and consistent while others write."""

import asyncio
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from kit.service.small import seqs_in, small_database
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.backups import (
    FOLDER,
    KEPT_DAYS,
    back_up_before_migration,
    back_up_daily,
    back_up_without_log,
    backups_of,
    copy_whole,
    first_free,
    new_copy,
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_of_daily_copies_the_oldest_go_and_of_others_none(tmp_path: Path) -> None:
    small_database(tmp_path / "desk.sqlite3", 3)
    folder = tmp_path / FOLDER
    folder.mkdir(mode=0o700)
    days = [f"desk-2027-01-{day:02}.sqlite3" for day in range(4, 14)]
    others = ["desk-kept-2020.sqlite3", "desk-2020-01-01.sqlite3.part", "x-2020-01-01.sqlite3"]
    for name in (*days, *others):
        (folder / name).touch()
    made = back_up_daily(tmp_path, now=NOW)
    assert made == folder / "desk-2027-01-15.sqlite3"
    assert seqs_in(made) == [1, 2, 3]
    left = {path.name for path in folder.iterdir()}
    assert left == {made.name, *days[-(KEPT_DAYS - 1) :], *others}
    assert back_up_daily(tmp_path, now=NOW + 60) is None


def test_without_a_database_no_folder_of_copies_is_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        back_up_daily(tmp_path / "gone", now=NOW)
    assert [*tmp_path.iterdir()] == []


def test_copies_are_named_after_what_they_are_of(tmp_path: Path) -> None:
    small_database(tmp_path / "desk.sqlite3", 3)
    made = [
        back_up_before_migration(tmp_path, version=3, now=NOW),
        back_up_without_log(tmp_path, now=NOW),
    ]
    assert [path.name for path in made] == [
        "desk-schema-3-20270115T080000Z.sqlite3", "desk-without-log-20270115T080000Z.sqlite3",
    ]  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    assert [seqs_in(path) for path in made] == [[1, 2, 3]] * 2


def test_copies_are_told_newest_first_by_when_they_were_written(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    ages = {"desk-b.sqlite3": 3, "desk-c.sqlite3": 1, "desk-a.sqlite3": 2, "desk-d.part": 0}
    for name, age in ages.items():
        (tmp_path / FOLDER / name).touch()
        os.utime(tmp_path / FOLDER / name, (NOW - age, NOW - age))
    assert [path.name[5] for path in backups_of(tmp_path)] == ["c", "a", "b"]
    assert backups_of(tmp_path / "none") == ()


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    named = [new_copy(tmp_path, "kept", now=NOW) for _ in range(2)]
    assert {path.name for path in named} == {"desk-kept-20270115T080000Z.sqlite3"}
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    for number in ("", "-2", "-3"):
        free = first_free(lambda number: tmp_path / f"copy{number}")
        assert free == tmp_path / f"copy{number}"
        free.touch()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_copy_that_fails_leaves_what_was_there(tmp_path: Path, *, is_there: bool) -> None:
    path, copy = small_database(tmp_path / "desk.sqlite3", 3), tmp_path / "copy"
    path.write_bytes(b"overwritten by something else")
    (tmp_path / "copy.part").write_text("left by a kill")
    if is_there:
        copy.write_text("older")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        copy_whole(path, copy)
    assert {one.name for one in tmp_path.iterdir()} == {path.name} | (
        {"copy"} if is_there else set()
    )
    assert not is_there or copy.read_text() == "older"


def test_a_copy_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flush = small_database(tmp_path / "desk.sqlite3", 3), os.fsync
    flushed: list[tuple[bool, set[str]]] = []

    def noting(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append((is_folder, {one.name for one in tmp_path.iterdir()} - {path.name}))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    copy_whole(path, tmp_path / "copy")
    assert flushed == [(False, {"copy.part"}), (True, {"copy"})]
