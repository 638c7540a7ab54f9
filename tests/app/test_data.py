"""A data directory: locked, open, closed, and set aside where it is damaged."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app import data as directory
from service_tui.app.data import Data, open_beside, open_data, open_data_of
from service_tui.app.options import BESIDE, BESIDE_MAX, Options
from service_tui.clock import ManualClock
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.errors import (
    DamagedFileError,
    DamagedRowsError,
    DirectoryLockedError,
    Holder,
    LockUnavailableError,
)

CLOCK = ManualClock(77.0)
Done = list[tuple[Any, ...]]


class Lock:
    """A lock that takes notes."""

    def __init__(self, done: Done, *, is_held: bool = True) -> None:
        self.is_held = is_held
        self._done = done

    def publish(self, address: str | None) -> None:
        self._done.append(("publish", address))

    def release(self) -> None:
        self._done.append(("release",))


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    """What was done with the directory, in order."""
    found: Done = []

    def acquire(folder: Path, *, pid: int, now: float) -> Lock:
        found.append(("lock", folder.name, pid, now))
        return Lock(found)

    def open_database(folder: Path, *, now: float, lock: Any) -> Any:
        found.append(("open", folder.name, now, lock is not None))
        return SimpleNamespace(
            path=folder / DATABASE_FILE, close=lambda at: found.append(("close", at))
        )

    monkeypatch.setattr(directory.os, "getpid", lambda: 5)
    monkeypatch.setattr(directory.DataDirLock, "acquire", acquire)
    monkeypatch.setattr(directory, "open_database", open_database)
    return found


async def test_a_directory_is_locked_opened_closed_and_let_go_in_this_order(done: Done) -> None:
    async with open_data(Path("d"), CLOCK) as data:
        done.append(("work",))
        data.publish("http://here")
    assert done == [
        ("lock", "d", 5, 77.0), ("open", "d", 77.0, True), ("work",), ("publish", "http://here"),
        ("close", 77.0), ("release",),
    ]  # fmt: skip


async def test_a_directory_that_cannot_be_locked_is_opened_all_the_same(
    done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Lock:
        raise LockUnavailableError("no locks here")

    monkeypatch.setattr(directory.DataDirLock, "acquire", refuse)
    async with open_data(Path("d"), CLOCK) as data:
        data.publish("http://here")
    assert done == [("open", "d", 77.0, False), ("close", 77.0)]


async def test_who_fails_leaves_the_directory_closed(done: Done) -> None:
    with pytest.raises(RuntimeError):
        async with open_data(Path("d"), CLOCK):
            raise RuntimeError
    assert done[-2:] == [("close", 77.0), ("release",)]


def test_an_address_is_published_by_the_owner_alone(done: Done) -> None:
    database: Any = None
    for lock in (None, Lock(done, is_held=False)):
        held: Any = lock
        Data(database, held).publish("http://here")
    assert done == []


def caused(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("damage", "wanted"),
    [
        (DamagedFileError("pages"), ("pages", None)),
        (caused(DamagedFileError("pages"), ValueError("page 7")), ("page 7", None)),
        (DamagedRowsError("a row", seq=9), ("a row", 9)),
        (caused(DamagedRowsError("a row", seq=9), ValueError("page 7")), ("a row", 9)),
    ],
)
async def test_what_is_damaged_is_closed_and_then_set_aside(
    done: Done, monkeypatch: pytest.MonkeyPatch, damage: Exception, wanted: tuple[Any, ...]
) -> None:
    class AsideError(Exception):
        """In place of the choices."""

    def set_aside(path: Path, **given: Any) -> AsideError:
        done.append(("aside", path, given))
        return AsideError()

    monkeypatch.setattr(directory, "set_aside", set_aside)
    with pytest.raises(AsideError) as found:
        async with open_data(Path("d"), CLOCK):
            raise damage
    assert found.value.__cause__ is damage
    given = {"reason": wanted[0], "now": 77.0, "before": wanted[1]}
    assert done[2:] == [
        ("close", 77.0), ("aside", Path("d") / DATABASE_FILE, given), ("close", 77.0),
        ("release",),
    ]  # fmt: skip


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, done: Done) -> set[str]:
    """Names of directories that others hold."""
    held: set[str] = set()

    def acquire(folder: Path, **_: Any) -> Lock:
        done.append(("lock", folder.name))
        if folder.name in held:
            raise DirectoryLockedError(folder, Holder(7, None, None))
        return Lock(done)

    monkeypatch.setattr(directory.DataDirLock, "acquire", acquire)
    monkeypatch.setattr(directory, "answer", lambda path: done.append(("answer", path.parent.name)))
    return held


async def test_an_attached_desk_takes_the_first_place_that_is_free(
    tmp_path: Path, done: Done, places: set[str]
) -> None:
    places.add("1")
    async with open_beside(tmp_path, CLOCK) as data:
        assert data.database.path == tmp_path / BESIDE / "2" / DATABASE_FILE
    assert [one for one in done if one[0] in {"answer", "lock"}] == [
        ("answer", "1"), ("lock", "1"), ("answer", "2"), ("lock", "2"),
    ]  # fmt: skip
    assert (tmp_path / BESIDE).stat().st_mode & 0o777 == 0o700


async def test_places_come_to_an_end(tmp_path: Path, done: Done, places: set[str]) -> None:
    places.update(map(str, range(1, BESIDE_MAX + 1)))
    with pytest.raises(DirectoryLockedError):
        async with open_beside(tmp_path, CLOCK):
            raise AssertionError
    assert done[-1] == ("lock", str(BESIDE_MAX))


@pytest.mark.parametrize("read_only", [True, False])
async def test_a_desk_of_another_service_that_only_reads_may_stand_beside_its_owner(
    tmp_path: Path, places: set[str], *, read_only: bool
) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    options = Options(folder, tmp_path / "c", tmp_path / "log", read_only=read_only)
    async with open_data_of(options, CLOCK) as data:
        assert data.database.path.parent == folder
    places.add("d")
    if read_only:
        async with open_data_of(options, CLOCK) as data:
            assert data.database.path.parent == folder / BESIDE / "1"
        return
    with pytest.raises(DirectoryLockedError):
        async with open_data_of(options, CLOCK):
            raise AssertionError
