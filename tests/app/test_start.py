"""The start of the console: the first screen from the cache, and a desk that cannot open."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.app.first_state import first_state
from service_tui.app.options import BESIDE, Options
from service_tui.app.start import open_desk
from service_tui.console.closed_desk import DeskClosedError
from service_tui.desk.cached_state import STATE_KEY, dump_state
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.opening import open_database
from service_tui.terms import Mode


def options(path: Path, **changes: object) -> Options:
    return Options(path / "data", path / "config", path / "log", **changes)


async def keep(path: Path, preferences: dict[str, str], state: DeskState | None = None) -> None:
    lock = DataDirLock.acquire(path, pid=1, now=NOW)
    database = open_database(path, now=NOW, lock=lock)
    cache = CacheStore(database)
    for name, value in preferences.items():
        await cache.put_preference(name, value)
    if state is not None:
        await cache.put(STATE_KEY, NOW, dump_state(state))
    database.close(NOW)
    lock.release()


def test_the_first_start_shows_an_empty_desk_and_makes_nothing(tmp_path: Path) -> None:
    state = first_state(options(tmp_path))
    assert state.service.phase is Phase.CONNECTING
    assert state.service.embedded
    assert state.service.mode is Mode.SIM
    assert not state.from_cache
    assert (state.markets, state.stars, state.preferences) == ({}, frozenset(), {})
    assert list(tmp_path.iterdir()) == []


async def test_a_later_start_shows_what_was_known_marked_as_old(tmp_path: Path) -> None:
    known = sample_state()
    await keep(tmp_path / "data", {"theme": "paper", "stars": "m-00009,,m-00002"}, known)
    state = first_state(options(tmp_path))
    assert state.from_cache
    assert state.markets == known.markets
    assert state.account == known.account
    assert state.equity == known.equity
    assert state.service.last_ok_at == NOW
    assert state.preferences["theme"] == "paper"
    # The preference is written at once, the state now and then: the younger one holds.
    assert state.stars == {"m-00009", "m-00002"}


@pytest.mark.slow
async def test_a_console_beside_another_program_starts_as_it_was_left(tmp_path: Path) -> None:
    await keep(tmp_path / "data", {"theme": "paper", "view": "markets", "stars": "m-1"})
    for place in ("1", "2"):
        folder = tmp_path / "data" / BESIDE / place
        folder.mkdir(parents=True)
        await keep(folder, {"view": "portfolio" if place == "1" else "agents", "welcome": "seen"})
    alone = first_state(options(tmp_path))
    assert (alone.preferences["view"], "welcome" in alone.preferences) == ("markets", False)
    with held(tmp_path / "data"):
        assert first_state(options(tmp_path)).preferences == {
            "theme": "paper",
            "view": "portfolio",
            "stars": "m-1",
            "welcome": "seen",
        }
        with held(tmp_path / "data" / BESIDE / "1"):
            assert first_state(options(tmp_path)).preferences["view"] == "agents"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    lock = DataDirLock.acquire(folder, pid=1, now=NOW)
    yield
    lock.release()


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 5_000])
def test_a_broken_database_shows_an_empty_desk(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / DATABASE_FILE
    path.write_bytes(content)
    state = first_state(options(tmp_path))
    assert state.markets == {}
    assert not state.from_cache
    assert path.read_bytes() == content


def test_a_foreign_database_shows_an_empty_desk(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    connection = sqlite3.connect(tmp_path / "data" / DATABASE_FILE)
    connection.execute("CREATE TABLE cache (key, at, body)")
    connection.execute("INSERT INTO cache VALUES ('state', 1, CAST(x'ff80' AS TEXT))")
    connection.commit()
    connection.close()
    assert first_state(options(tmp_path)).markets == {}


def test_another_service_is_named_by_its_host_and_never_by_its_key(tmp_path: Path) -> None:
    secret = "sk_live_canary"  # noqa: S105
    asked = options(tmp_path, url="https://host:8443/api", api_key=secret, read_only=True)
    state = first_state(asked)
    assert state.service.label == "host:8443"
    assert not state.service.embedded
    assert state.service.read_only
    assert secret not in f"{asked!r}{state!r}"


async def test_a_desk_that_cannot_open_says_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder belongs")
    asked = options(tmp_path)
    with pytest.raises(DeskClosedError) as caught:
        async with open_desk(asked, first_state(asked)):
            pass
    assert "data" in caught.value.sentence
    assert caught.value.fix


@pytest.mark.slow
async def test_a_fault_while_the_desk_is_open_is_no_reason_for_a_closed_one(
    tmp_path: Path,
) -> None:
    asked = options(tmp_path)
    with pytest.raises(ExceptionGroup) as caught:
        await fail_inside(asked)
    assert caught.group_contains(ValueError, match="a fault of the console")


async def fail_inside(asked: Options) -> None:
    async with open_desk(asked, first_state(asked)):
        raise ValueError("a fault of the console")


@pytest.mark.process
def test_the_first_paint_needs_nothing_heavy() -> None:
    heavy = "{'sqlmodel', 'sqlalchemy', 'httpx', 'starlette', 'pydantic', 'uvicorn'}"
    code = f"import sys, service_tui.app.start; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
