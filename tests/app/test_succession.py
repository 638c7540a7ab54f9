"""Who takes a data directory over, and what is said when it cannot be had."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app import attached, exits_desk, succession
from service_tui.app.options import Options
from service_tui.app.succession import AGAIN_S, CHECK_S, GRACE_S, succeeding
from service_tui.clock import ManualClock
from service_tui.commands import serve
from service_tui.credentials.api_keys import DESK_FILE
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.ports import DeskContext
from service_tui.desk.state import DeskState
from service_tui.loading import imported
from service_tui.storage.db.lock import LOCK_FILE, holder_of
from service_tui.storage.errors import DirectoryLockedError, Holder, StorageError

ROUNDS = 4_000


def options(path: Path, **changes: object) -> Options:
    return Options(path, path / "config", path / "log", **{"seed": 7, "listen": 0, **changes})


async def pass_by(clock: ManualClock, seconds: float) -> None:
    for _ in range(int(seconds / CHECK_S) + 2):
        await clock.advance(CHECK_S)


@pytest.mark.parametrize("changes", [{"read_only": True}, {"listen": None}], ids=str)
async def test_whoever_only_looks_or_serves_nobody_takes_nothing_over(
    changes: dict[str, object], tmp_path: Path
) -> None:
    clock = ManualClock()
    (tmp_path / LOCK_FILE).touch(0o600)
    async with succeeding(options(tmp_path, **changes), clock):
        await pass_by(clock, GRACE_S * 3)
        assert holder_of(tmp_path) is None
    assert not (tmp_path / DESK_FILE).exists()


async def test_what_cannot_be_taken_over_says_so_and_is_tried_again(tmp_path: Path) -> None:
    clock, told = ManualClock(), list[Fact]()
    (tmp_path / DESK_FILE).write_text("no keys")
    (tmp_path / DESK_FILE).chmod(0o600)
    # Manual time does not pass while the service is imported.
    await imported("service_tui.app.ownership")
    async with succeeding(options(tmp_path), clock) as succession:
        succession.report_to(told.append)
        await pass_by(clock, GRACE_S)
        assert [type(fact) for fact in told] == [Noticed]
        assert DESK_FILE in str(told[0])
        await pass_by(clock, AGAIN_S + GRACE_S + 2)
        assert len(told) == 2
        assert succession.address == ""
    assert holder_of(tmp_path) is None


class Attempts:
    """A process that wants a directory, which another one has that began `age_s` before."""

    def __init__(self, path: Path, *, age_s: float, served: list[bool], refusals: int) -> None:
        self.options = options(path)
        self.clock, self.ending, self.done = ManualClock(), asyncio.Event(), list[str]()
        self._age_s, self._served, self._refusals = age_s, served, refusals

    async def own(self, *_: object) -> None:
        self.done.append("own")
        if self.done.count("own") <= self._refusals:
            holder = Holder(1, self.clock.now() - self._age_s, None)
            raise DirectoryLockedError(self.options.data_dir, holder)
        self.ending.set()

    async def stand_by(self, *_: object) -> None:
        self.done.append("stand by")
        await self.clock.advance(attached.STARTING_S * 2)

    async def is_served(self, *_: object) -> bool:
        return bool(self._served) and self._served.pop(0)

    async def sleep(self, delay_s: float) -> None:
        self.done.append("wait")
        await self.clock.advance(delay_s)

    async def run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(self.clock, "sleep", self.sleep)
        monkeypatch.setattr(serve, "SystemClock", lambda: self.clock)
        monkeypatch.setattr(serve, "_own", self.own)
        monkeypatch.setattr(serve, "_stand_by", self.stand_by)
        monkeypatch.setattr(attached, "is_served", self.is_served)
        with socket.socket() as listener:
            await serve._own_or_stand_by(self.options, listener, self.ending)


async def test_after_a_long_stand_by_a_new_owner_has_its_time_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = Attempts(tmp_path, age_s=1, served=[True, False, False], refusals=3)
    await tries.run(monkeypatch)
    assert tries.done == ["own", "stand by", "own", "wait", "own", "wait", "own"]


@pytest.mark.parametrize(
    ("age_s", "waits"),
    [
        (0.0, attached.STARTING_S / attached.AGAIN_S),
        (attached.STARTING_S - 0.1, attached.STARTING_S / attached.AGAIN_S),
        (attached.STARTING_S, 0),
    ],
)
async def test_an_owner_that_serves_nobody_is_waited_for_until_it_should_have_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age_s: float, waits: float
) -> None:
    tries = Attempts(tmp_path, age_s=age_s, served=[], refusals=1_000)
    with pytest.raises(DirectoryLockedError):
        await tries.run(monkeypatch)
    assert tries.done.count("wait") == waits


async def test_a_service_on_a_network_stands_by_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = Attempts(tmp_path, age_s=1, served=[True], refusals=1)
    tries.options = replace(tries.options, host="192.168.0.9")
    assert tries.options.is_on_network
    with pytest.raises(DirectoryLockedError):
        await tries.run(monkeypatch)
    assert tries.done == ["own"]


@pytest.mark.slow
@pytest.mark.parametrize("has_desk", [False, True])
async def test_whoever_takes_over_without_a_desk_follows_what_was_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_desk: bool
) -> None:
    clock, desks, handed = ManualClock(), list[Desk](), list[bool]()
    open_desk = exits_desk.open_desk

    @asynccontextmanager
    async def seen(state: DeskState, around: DeskContext) -> AsyncGenerator[Desk]:
        async with open_desk(state, around) as desk:
            desks.append(desk)
            yield desk

    monkeypatch.setattr(exits_desk, "open_desk", seen)
    (tmp_path / LOCK_FILE).touch(0o600)
    async with succeeding(options(tmp_path), clock, signs=not has_desk) as succession:
        if has_desk:
            succession.report_to(
                lambda _: None, lambda database: handed.append(database is not None)
            )
        for _ in range(ROUNDS):
            await clock.advance(CHECK_S)
            await asyncio.sleep(0.002)
            if succession.address and (has_desk or desks[-1].state.redemption.executes):
                break
        assert succession.address
        # One desk signs, and only one: the holder's own where no console was told.
        assert [desk.state.redemption.executes for desk in desks] == [not has_desk]
    assert handed == ([False, True, False] if has_desk else [])


@pytest.mark.parametrize("error", [True, False])
async def test_only_what_keeps_this_console_from_taking_over_is_told(
    tmp_path: Path, *, error: bool
) -> None:
    told: list[Any] = []
    clock = ManualClock()
    waited: list[float] = []

    async def own() -> None:
        if error:
            raise StorageError("no room")
        raise DirectoryLockedError(tmp_path, Holder(1, 5.0, None))

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    noted: Any = SimpleNamespace(
        _own=own, _emit=told.append, _clock=SimpleNamespace(sleep=sleep, now=clock.now)
    )
    await succession.Succession._try_to_own(noted)
    text = "cannot take over this directory: no room"
    assert (told, waited) == (([Noticed("bad", text)], [AGAIN_S]) if error else ([], []))
