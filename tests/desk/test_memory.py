"""What a desk keeps between two starts, and what it does where the disk fails."""

import logging
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import broken_disk
from kit.samples.desk import NOW, sample_state
from service_tui.clock import ManualClock
from service_tui.desk.cached_state import STATE_KEY, dump_state
from service_tui.desk.opening import DeskMemory, HaltMemory
from service_tui.desk.slices.halt import KeptHalt
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import StorageError
from service_tui.storage.halt_mark import HALT_MARK
from service_tui.storage.opening import open_database
from service_tui.units import Timestamp

STATE = sample_state()
KEPT = KeptHalt(on=True, at=Timestamp(NOW))


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    lock = DataDirLock.acquire(tmp_path / "data", pid=1, now=NOW)
    made = open_database(tmp_path / "data", now=NOW, lock=lock)
    yield made
    made.close(NOW)
    lock.release()


def saved(database: Database) -> list[tuple[float, str]]:
    """The state as it is kept, with its time."""
    return database.rows("SELECT at, body FROM cache WHERE key = :key", {"key": STATE_KEY})


async def test_state_preferences_and_halt_come_back(database: Database) -> None:
    clock, cache = ManualClock(NOW), CacheStore(database)
    memory = DeskMemory(database, clock)
    assert memory.kept_halt() is None
    await memory.save(STATE)
    await memory.prefer("theme", "dark")
    # Half a letter is no preference.
    await memory.prefer("theme", "\ud800")
    await memory.keep_halt(KEPT)
    assert cache.preferences()["theme"] == "dark"
    assert saved(database) == [(clock.now(), dump_state(STATE))]
    assert DeskMemory(database, clock).kept_halt() == KEPT
    before = set(database.path.parent.rglob("*"))
    await memory.back_up()
    assert set(database.path.parent.rglob("*")) > before


async def test_a_failing_disk_is_logged_and_tried_again_and_a_halt_says_so(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    memory = DeskMemory(database, ManualClock(NOW))
    mark = database.path.with_name(HALT_MARK)
    # Its pauses have no place in a mark.
    paused = replace(KEPT, was_paused=True)
    with broken_disk(), caplog.at_level(logging.WARNING):
        with pytest.raises(StorageError, match="marked"):
            await memory.keep_halt(paused)
        assert mark.exists()
        await memory.save(STATE)
        await memory.prefer("theme", "dark")
        await memory.back_up()
    told = [one.getMessage().partition(":")[0] for one in caplog.records]
    assert told == [
        "the state was not cached", "a preference was not kept", "the daily copy was not made",
    ]  # fmt: skip
    await memory.keep_halt(KEPT)
    assert (memory.kept_halt(), mark.exists()) == (KEPT, False)
    end = replace(KEPT, on=False)
    with broken_disk(), pytest.raises(StorageError):
        await memory.keep_halt(end)
    assert not mark.exists()
    await memory.save(STATE)
    assert len(saved(database)) == 1


async def test_without_a_console_only_a_halt_is_kept(database: Database) -> None:
    memory, cache = HaltMemory(database, ManualClock(NOW)), CacheStore(database)
    before = set(database.path.parent.rglob("*"))
    await memory.save(STATE)
    await memory.prefer("theme", "dark")
    await memory.back_up()
    assert (saved(database), cache.preferences()) == ([], {})
    assert set(database.path.parent.rglob("*")) == before
    await memory.keep_halt(KEPT)
    assert memory.kept_halt() == KEPT
