"""What a desk keeps between two starts, and what it does where the disk fails."""

import logging
from typing import Any, cast

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.clock import ManualClock
from service_tui.desk import opening
from service_tui.desk.cached_state import STATE_KEY, dump_state
from service_tui.desk.opening import DeskMemory, HaltMemory
from service_tui.desk.slices.halt import HALT, KeptHalt
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.units import Timestamp

FULL = StorageError("disk full")
STATE = sample_state()
KEPT = KeptHalt(on=True, at=Timestamp(NOW))


class Disk:
    """A database and its cache that note what is asked of them."""

    def __init__(self, *, failure: Exception | None = None, error: Exception | None = None) -> None:
        self.failure = failure
        self.error = error
        self.did: list[tuple[Any, ...]] = []
        self.choices: dict[str, str] = {}

    def _note(self, *what: Any) -> None:
        self.did.append(what)
        if self.error is not None:
            raise self.error

    async def reopen(self) -> None:
        self.did.append(("reopen",))

    async def back_up(self, now: float) -> None:
        self._note("back_up", now)

    async def put(self, key: str, at: float, body: str) -> None:
        self._note("put", key, at, body)

    async def put_preference(self, key: str, value: str) -> None:
        self._note("prefer", key, value)

    def preferences(self) -> dict[str, str]:
        return self.choices


def memory_of(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, kind: type[DeskMemory] = DeskMemory
) -> tuple[DeskMemory, ManualClock]:
    monkeypatch.setattr(opening, "CacheStore", lambda database: disk if database is disk else None)
    clock = ManualClock()
    return kind(cast("Database", disk), clock), clock


@pytest.mark.parametrize("failure", [None, FULL])
async def test_the_state_is_written_and_a_full_disk_tried_again(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(failure=failure)
    memory, clock = memory_of(disk, monkeypatch)
    await memory.save(STATE)
    written = ("put", STATE_KEY, clock.now(), dump_state(STATE))
    assert disk.did == ([("reopen",), written] if failure else [written])


@pytest.mark.parametrize("failure", [None, FULL])
async def test_a_halt_is_written_and_a_full_disk_tried_again(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(failure=failure)
    memory, _ = memory_of(disk, monkeypatch)
    await memory.keep_halt(KEPT)
    written = ("prefer", HALT, KEPT.as_text())
    assert disk.did == ([("reopen",), written] if failure else [written])


def test_the_halt_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    memory, _ = memory_of(disk, monkeypatch)
    assert memory.kept_halt() is None
    disk.choices = {HALT: KEPT.as_text(), "theme": "dark"}
    assert memory.kept_halt() == KEPT


async def test_a_failing_disk_is_logged_and_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory, clock = memory_of(Disk(error=FULL), monkeypatch)
    with caplog.at_level(logging.WARNING):
        await memory.save(STATE)
        await memory.prefer("theme", "dark")
        await memory.back_up()
    assert [one.getMessage() for one in caplog.records] == [
        "the state was not cached: disk full",
        "a preference was not kept: disk full",
        "the daily copy was not made: disk full",
    ]
    assert clock.now() == ManualClock().now()


async def test_half_a_letter_is_no_preference(monkeypatch: pytest.MonkeyPatch) -> None:
    half = UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")
    disk = Disk(error=half)
    memory, _ = memory_of(disk, monkeypatch)
    await memory.prefer("theme", "\ud800")
    assert disk.did == [("prefer", "theme", "\ud800")]


async def test_a_halt_that_is_not_kept_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, _ = memory_of(Disk(error=FULL), monkeypatch)
    with pytest.raises(StorageError, match=r"disk full"):
        await memory.keep_halt(KEPT)


async def test_the_copy_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    memory, clock = memory_of(disk, monkeypatch)
    await memory.back_up()
    await memory.prefer("theme", "dark")
    assert disk.did == [("back_up", clock.now()), ("prefer", "theme", "dark")]


async def test_without_a_console_only_a_halt_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    memory, _ = memory_of(disk, monkeypatch, HaltMemory)
    await memory.save(STATE)
    await memory.prefer("theme", "dark")
    await memory.back_up()
    assert disk.did == []
    await memory.keep_halt(KEPT)
    assert disk.did == [("prefer", HALT, KEPT.as_text())]
