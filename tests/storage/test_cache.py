"""The stored answers and the cached state of a start."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import small_database, write_preference
from service_tui.storage.cache import CacheStore
from service_tui.storage.cached_state import (
    TICKET_COLUMNS,
    has_open_tickets,
    read_cache,
    read_preferences,
    read_tickets,
)
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import LOCK_FILE, DataDirLock
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0


async def test_the_youngest_answer_stays_under_a_key(database: Database) -> None:
    cache = CacheStore(database)
    await cache.put("markets", NOW, "[1]")
    await cache.put("markets", NOW + 5, "[2]")
    await cache.put("markets", NOW + 1, "[late]")
    await cache.put("briefing", NOW, "{}")
    assert read_cache(database.path) == {"markets": (NOW + 5, "[2]"), "briefing": (NOW, "{}")}


async def test_preferences_are_read_cold_and_warm(database: Database) -> None:
    cache = CacheStore(database)
    await cache.put_preference("theme", "night")
    await cache.put_preference("theme", "paper")
    await cache.put_preference("welcome", "shown")
    expected = {"theme": "paper", "welcome": "shown"}
    assert cache.preferences() == expected
    assert read_preferences(database.path) == expected


async def test_a_cold_start_reads_what_a_killed_process_left_in_its_log(
    directory: Path, lock: DataDirLock, tmp_path: Path
) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    await CacheStore(database).put("markets", NOW, "[1]")
    left = tmp_path / "left"
    left.mkdir(mode=0o700)
    for name in (DATABASE_FILE, f"{DATABASE_FILE}-wal"):
        shutil.copy2(directory / name, left / name)
    database.close(NOW)
    assert (left / f"{DATABASE_FILE}-wal").stat().st_size > 0
    assert read_cache(left / DATABASE_FILE) == {"markets": (NOW, "[1]")}
    again = DataDirLock.acquire(left, pid=1, now=NOW)
    opened = open_database(left, now=NOW, lock=again)
    assert read_cache(opened.path) == {"markets": (NOW, "[1]")}
    opened.close(NOW)
    again.release()


def test_a_cold_start_after_an_orderly_end_leaves_nothing_of_its_own(
    directory: Path, lock: DataDirLock
) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    asyncio.run(CacheStore(database).put("markets", NOW, "[1]"))
    database.close(NOW)
    assert read_cache(database.path) == {"markets": (NOW, "[1]")}
    beside = {path.name for path in directory.iterdir()} - {"desk.lock"}
    assert beside <= {DATABASE_FILE, f"{DATABASE_FILE}-wal", f"{DATABASE_FILE}-shm"}


def test_what_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    missing, garbage, empty = (tmp_path / name for name in ("missing", "garbage", "empty"))
    garbage.write_bytes(b"x" * 10_000)
    empty.touch()
    for path in (missing, garbage, empty, tmp_path):
        assert read_cache(path) == {}
        assert read_preferences(path) == {}
    assert not missing.exists()
    assert garbage.read_bytes() == b"x" * 10_000
    assert empty.read_bytes() == b""


@pytest.mark.process
def test_the_cold_reader_imports_nothing_heavy() -> None:
    script = (
        "import service_tui.storage.cached_state, sys;"
        "heavy = {'sqlmodel', 'sqlalchemy', 'pydantic', 'asyncio'};"
        "heavy.add('service_tui.storage.db.tables');"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stderr == ""
    assert done.returncode == 0


def test_where_nobody_can_tell_who_writes_a_log_is_left_alone(tmp_path: Path) -> None:
    path = small_database(tmp_path / DATABASE_FILE, 0)
    with closing(sqlite3.connect(path)) as connection, connection:
        write_preference(connection, "theme", "dark")
    (tmp_path / LOCK_FILE).symlink_to(tmp_path / "elsewhere")
    assert read_preferences(path) == {"theme": "dark"}
    path.with_name(f"{path.name}-wal").write_bytes(b"log")
    # Reading would rewrite the log's index, and with it the evidence of a loss.
    assert read_preferences(path) == {}


@pytest.mark.parametrize(
    ("state", "is_open"),
    [
        ("queued", True), ("sent", True), ("unknown", True),
        ("done", False), ("refused", False), ("failed", False),
    ],
)  # fmt: skip
def test_a_ticket_is_open_until_its_end_is_known(
    tmp_path: Path, state: str, *, is_open: bool
) -> None:
    path = tmp_path / DATABASE_FILE
    assert has_open_tickets(path) is False
    small_database(path, 0)
    assert has_open_tickets(path) is False
    row = "INSERT INTO tickets (ticket_id, at, kind, subject, body, state, amount_micros) "
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"{row} VALUES ('t', 1, 'order', 's', '', ?, 0)", (state,))
    assert has_open_tickets(path) is is_open


def test_the_newest_tickets_with_an_end_are_read_from_another_console(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_FILE
    assert read_tickets(path, 9) == []
    small_database(path, 0)
    row = "INSERT INTO tickets (ticket_id, at, kind, subject, body, state, amount_micros) "
    with closing(sqlite3.connect(path)) as connection, connection:
        for at, state in enumerate(("done", "refused", "sent", "failed", "queued", "unknown")):
            connection.execute(f"{row} VALUES (?, ?, 'k', 's', '', ?, 7)", (f"t{at}", at, state))
    found = [dict(zip(TICKET_COLUMNS, one, strict=True)) for one in read_tickets(path, 2)]
    assert [(one["ticket_id"], one["state"]) for one in found] == [
        ("t3", "failed"),
        ("t1", "refused"),
    ]
    assert [(one["at"], one["amount_micros"]) for one in found] == [(3.0, 7), (1.0, 7)]
    path.write_bytes(b"no database")
    assert read_tickets(path, 2) == []
