"""When a process of a shared desk leads, stands by, waits or hands over, without a database."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service_tui.app import shared_desk as room
from service_tui.app.ops import ProcessFigures, Role
from service_tui.app.options import Options
from service_tui.app.shared_desk import (
    AGAIN_S,
    ALONE_S,
    FIRST_S,
    ServedWorld,
    SharedProcess,
    beat,
    entrance_at,
    holder_name,
    pause_after,
)
from service_tui.app.signals import ends_within
from service_tui.clock import ManualClock
from service_tui.credentials.keys import DeskKeys
from service_tui.server.http.access import hash_of
from service_tui.server.http.entrance import LOCAL
from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.leadership import BEAT_S, SILENT_S, Leader

PLACE = WorldPlace("postgresql://db.example/desk", "trial")


class Leadership:
    """The lead of a world as the database says it."""

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.next_epoch: int | None = None
        self.known: Leader | None = None
        self.problem: Exception | None = None
        self.asked: list[str] = []

    def _ask(self, word: str) -> None:
        self.asked.append(word)
        if self.problem is not None:
            raise self.problem

    def try_lead(self) -> int | None:
        self._ask("try")
        self.epoch = self.next_epoch
        return self.epoch

    def leader(self) -> Leader | None:
        self._ask("leader")
        return self.known

    def end_silent(self) -> None:
        self._ask("end silent")

    def check(self) -> None:
        self._ask("check")

    def beat(self) -> None:
        self._ask("beat")

    def close(self) -> None:
        self.asked.append("close")
        self.epoch = None


def leader(silent_s: float = 0.0, epoch: int = 3) -> Leader:
    given = {
        "epoch": epoch,
        "holder": "gull, process 7",
        "address": "http://leader:9",
        "silent_s": silent_s,
        "operator_hash": "hash",
    }
    return cast("Leader", SimpleNamespace(**given))


class Work:
    """One process, and what it said."""

    def __init__(self, tmp_path: Path) -> None:
        self.options = Options(tmp_path, tmp_path, tmp_path / "log")
        self.said: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.figures = ProcessFigures(lambda: 0.0)
        self.turns: list[Role] = []
        self.figures.turn = self.turns.append  # type: ignore[method-assign]
        at = ServedWorld(PLACE, self.listener, self.figures, cast("DeskKeys", SimpleNamespace()))
        self.process = SharedProcess(self.options, at, ManualClock(), self.said.append)
        self.lead = Leadership()
        self.process._leadership = cast("Any", self.lead)

    async def close(self) -> None:
        await self.process._edge.aclose()
        self.listener.close()


@asynccontextmanager
async def work(tmp_path: Path) -> AsyncGenerator[Work]:
    it = Work(tmp_path)
    try:
        yield it
    finally:
        await it.close()


# -- who leads ----------------------------------------------------------------------------------


async def test_a_world_without_a_leader_is_led(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        assert it.process.leads is False
        it.lead.next_epoch = 4
        assert await it.process._took_lead() is True
        assert it.process.leads is True
        assert (it.lead.asked, it.said) == (["try"], [])


async def test_a_leader_is_stood_by_for_and_told_once(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        it.lead.known = leader()
        for _ in range(2):
            assert await it.process._took_lead() is False
        standing = f"standing by for {PLACE}: gull, process 7 leads it"
        assert it.said == [standing]
        assert it.process._target() == "http://leader:9"
        assert it.turns == [Role.STANDING_BY] * 2
        it.lead.known = leader(epoch=4)
        await it.process._took_lead()
        assert it.said == [standing] * 2


@pytest.mark.parametrize(("silent_s", "is_gone"), [(SILENT_S, False), (SILENT_S + 0.1, True)])
async def test_a_leader_that_is_silent_is_ended_and_no_call_goes_to_it(
    tmp_path: Path, silent_s: float, *, is_gone: bool
) -> None:
    async with work(tmp_path) as it:
        it.lead.known = leader(silent_s)
        assert await it.process._took_lead() is False
        assert ("end silent" in it.lead.asked) is is_gone
        assert it.process._target() == (None if is_gone else "http://leader:9")
        assert it.turns == [Role.STARTING if is_gone else Role.STANDING_BY]


async def test_a_world_that_nobody_leads_has_nobody_to_call(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        assert await it.process._took_lead() is False
        assert (it.process._target(), it.turns, it.said) == (None, [Role.STARTING], [])


@pytest.mark.parametrize(
    ("room", "silent_s", "tries"),
    [
        (True, 0.0, True),
        (True, None, True),
        (False, None, False),
        (False, ALONE_S, False),
        (False, ALONE_S + 0.1, True),
    ],
)
async def test_one_that_leads_its_share_takes_a_world_that_is_left_alone(
    tmp_path: Path, silent_s: float | None, *, room: bool, tries: bool
) -> None:
    async with work(tmp_path) as it:
        it.process.has_room = lambda: room
        it.process._leader = None if silent_s is None else leader(silent_s)
        it.lead.known = it.process._leader
        await it.process._took_lead()
        assert ("try" in it.lead.asked) is tries


async def test_a_database_that_does_not_answer_is_told_once_and_so_is_its_return(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as it:
        it.lead.known = leader()
        await it.process._took_lead()
        it.said.clear()
        it.turns.clear()
        it.lead.problem = StorageError("the database does not answer")
        for _ in range(2):
            assert await it.process._took_lead() is False
        assert it.process._target() is None
        assert it.turns == [Role.WAITING] * 2
        it.lead.problem = None
        await it.process._took_lead()
        assert it.said == [
            "waiting: the database does not answer",
            "the database answers again",
            f"standing by for {PLACE}: gull, process 7 leads it",
        ]


async def test_the_lead_is_certain_while_the_database_says_so(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        assert it.process._is_certain() is True
        it.lead.problem = StorageError("lost")
        assert it.process._is_certain() is False


# -- leading ------------------------------------------------------------------------------------


class Served:
    """The service of the world in the place of the real one."""

    def __init__(self, it: Work, problem: Exception | None = None) -> None:
        self.it, self.problem, self.is_open = it, problem, False

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[str]:
        if self.problem is not None:
            raise self.problem
        self.is_open = True
        # As long as the real one is opened, the lead is kept.
        while "beat" not in self.it.lead.asked:
            await asyncio.to_thread(int)
        try:
            yield "http://127.0.0.1:8400"
        finally:
            self.is_open = False


async def test_a_leader_says_so_and_ends_with_its_program(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        served, ending = Served(it), asyncio.Event()
        it.process._serving = served.serving  # type: ignore[method-assign]
        it.process._leader = leader()
        it.lead.epoch = 4
        ending.set()
        await it.process._lead(ending)
        assert it.said == [f"leading {PLACE} (epoch 4), answering at http://127.0.0.1:8400"]
        assert it.lead.asked[-1] == "close"
        assert "beat" in it.lead.asked
        assert (it.turns, served.is_open) == ([Role.STARTING], False)
        assert it.process._leader is None
        assert it.process._edge._leading is None
        assert it.process._edge._is_settled.is_set()


async def test_a_lead_that_is_lost_is_told_and_closed(tmp_path: Path) -> None:
    async with work(tmp_path) as it:
        served = Served(it, StorageError("another process leads"))
        it.process._serving = served.serving  # type: ignore[method-assign]
        await it.process._lead(asyncio.Event())
        assert it.said == ["the lead ended: another process leads"]
        assert (it.lead.asked[-1], it.turns) == ("close", [Role.STARTING])


async def test_one_that_hands_over_ends_its_lead_and_the_next_lead_begins_afresh(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as it:
        it.process.hand_over()
        await asyncio.wait_for(it.process._over(asyncio.Event()), 1)
        served, ending = Served(it), asyncio.Event()
        it.process._serving = served.serving  # type: ignore[method-assign]
        ending.set()
        await it.process._lead(ending)
        assert it.process._hands_over is False


async def test_one_that_stands_by_leads_once_it_can_and_ends_with_its_program(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as it:
        ending = asyncio.Event()
        ending.set()
        assert await it.process._stand_by(ending) is False
        it.lead.next_epoch = 9
        assert await it.process._stand_by(asyncio.Event()) is True


@pytest.mark.parametrize(
    ("led_s", "pause_s"),
    [(0.0, AGAIN_S), (FIRST_S - 0.01, AGAIN_S), (FIRST_S, 0.0), (3_600.0, 0.0)],
)
def test_a_lead_that_ends_at_once_is_not_tried_again_at_once(led_s: float, pause_s: float) -> None:
    assert pause_after(led_s) == pause_s


async def test_a_leader_beats_until_the_lead_is_lost() -> None:
    lead, clock = Leadership(), ManualClock()
    async with asyncio.TaskGroup() as tasks:
        beating = tasks.create_task(_ended(lead, clock))
        for _ in range(3):
            await clock.advance(BEAT_S)
        beats = len(lead.asked)
        await clock.advance(BEAT_S / 2)
        assert len(lead.asked) == beats
        await clock.advance(BEAT_S / 2)
        assert len(lead.asked) == beats + 1
        lead.problem = StorageError("lost")
        await clock.advance(BEAT_S)
    assert beating.result() == "lost"


async def _ended(lead: Leadership, clock: ManualClock) -> str:
    try:
        await beat(cast("Any", lead), clock)
    except StorageError as error:
        return str(error)
    raise AssertionError


# -- where --------------------------------------------------------------------------------------


def test_a_process_that_is_not_on_the_network_answers_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert entrance_at(Options(tmp_path, tmp_path, tmp_path / "log"), listener) is LOCAL


def test_a_process_is_named_by_its_machine_and_its_number() -> None:
    assert holder_name() == f"{socket.gethostname()}, process {os.getpid()}"


async def test_an_end_is_waited_for_so_long_and_no_longer() -> None:
    ending = asyncio.Event()
    assert await ends_within(ending, 0.0) is False
    asyncio.get_running_loop().call_soon(ending.set)
    assert await asyncio.wait_for(ends_within(ending, 60.0), 5) is True
    assert await ends_within(ending, 0.0) is True


# -- following ----------------------------------------------------------------------------------


class Room:
    """What a process opens while it follows or leads; everything is noted in its order."""

    def __init__(self, it: Work, monkeypatch: pytest.MonkeyPatch) -> None:
        self.it = it
        self.done: list[object] = []
        self.fault: StorageError | None = None
        self.copy = SimpleNamespace(follow=self.follow, store=self)
        self.seq = 41
        self.service = SimpleNamespace(world_store=self, address="", leader="", epoch=0)
        monkeypatch.setattr(room, "sim_settings", lambda *_: Settings())
        monkeypatch.setattr(room, "JournalFeed", lambda place: self.part("feed", place))
        monkeypatch.setattr(room, "SharedDatabase", lambda *given: self.part("database", *given))
        monkeypatch.setattr(room, "open_copy", self.open_copy)
        monkeypatch.setattr(room, "open_sim", self.open_sim)
        monkeypatch.setattr(room, "caught_up", self.caught_up)
        it.figures.follow = self.follows  # type: ignore[method-assign]
        it.figures.lead = lambda *given: self.done.append(("counts", *given[1:2]))  # type: ignore[method-assign]
        for name in ("publish", "operator_hash"):
            setattr(it.lead, name, self.noted(name))

    def noted(self, name: str) -> Any:
        return lambda *given: self.done.append((name, *given)) or "hash of all"

    def part(self, name: str, *given: object) -> Any:
        self.done.append((name, *given))
        return SimpleNamespace(
            name=name, open=lambda: self.done.append(f"{name} opened"),
            close=lambda: self.done.append(f"{name} closed"),
        )  # fmt: skip

    @asynccontextmanager
    async def open_copy(self, *given: Any) -> AsyncGenerator[Any]:
        database, feed, clock, settings = given
        assert (database.name, feed.name, clock) == ("database", "feed", self.it.process._clock)
        self.done.append(("copy", settings.operator_hash))
        self.service.address = settings.address
        yield self.copy
        self.done.append("copy closed")

    async def follow(self) -> None:
        assert self.it.process._edge.copy is self.copy
        self.done.append("follows")
        if self.fault is not None:
            raise self.fault
        await asyncio.Event().wait()

    def follows(self, copy: object) -> None:
        self.done.append(f"figures of {'the copy' if copy is self.copy else copy}")

    def hand_over(self) -> str:
        return "warm world"

    async def caught_up(self, database: Any, warm: object) -> str:
        self.done.append(f"{warm} caught up in {database.name}")
        return "newest world"

    @asynccontextmanager
    async def open_sim(self, *given: Any, warm: object) -> AsyncGenerator[Any]:
        database, clock, settings = given
        assert (database.name, clock) == ("database", self.it.process._clock)
        self.done.append(("service", settings.operator_hash, warm))
        self.service.address = settings.address
        yield SimpleNamespace(service=self.service, app="app")
        self.done.append("service closed")


@dataclass(frozen=True)
class Settings:
    """Those of a service."""

    operator_hash: str = "own"
    address: str = ""


OPENED = [
    ("feed", PLACE), ("database", PLACE, None), "feed opened", ("copy", "hash"),
    "figures of the copy", "follows", "figures of None",
]  # fmt: skip


def without_paths(done: list[object]) -> list[object]:
    return [one[:3] if isinstance(one, tuple) and one[0] == "database" else one for one in done]


async def test_reads_are_answered_from_a_copy_until_it_is_of_no_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with work(tmp_path) as it:
        rooms = Room(it, monkeypatch)
        rooms.fault = StorageError("too far behind")
        it.process._leader = leader()
        with pytest.raises(StorageError, match="too far behind"):
            await it.process._follow_once()
        assert without_paths(rooms.done) == [*OPENED, "database closed", "feed closed"]
        # Links that a copy gives out lead to this process.
        assert rooms.service.address == it.process._address
        path = rooms.done[1][3]  # type: ignore[index]
        assert path.parent == tmp_path
        assert (it.process._edge.copy, it.process._warm) == (None, None)


async def test_a_copy_that_is_ended_leaves_its_world_to_the_lead_that_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with work(tmp_path) as it:
        rooms = Room(it, monkeypatch)
        it.process._leader = leader()
        async with it.process._following():
            while "follows" not in rooms.done:
                await asyncio.to_thread(int)
        assert it.process._warm == "warm world"
        assert without_paths(rooms.done) == [*OPENED, "database closed", "feed closed"]
        assert it.process._edge.copy is None


@pytest.mark.parametrize("known", [None, SimpleNamespace(operator_hash="")])
async def test_nothing_is_copied_before_a_leader_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Any
) -> None:
    async with work(tmp_path) as it:
        rooms = Room(it, monkeypatch)
        it.process._leader = known
        await it.process._follow_once()
        assert rooms.done == []


@pytest.mark.parametrize("warm", [None, "warm world"])
async def test_a_leader_serves_the_world_and_publishes_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Any
) -> None:
    async with work(tmp_path) as it:
        rooms = Room(it, monkeypatch)
        it.process._warm, it.lead.epoch = warm, 4
        it.process._keys = cast("Any", SimpleNamespace(operator="sk_operator"))
        leads: list[Any] = []
        it.process._edge.lead = lambda *given: leads.append(given)  # type: ignore[method-assign]
        async with it.process._serving() as address:
            rooms.done.append("serving")
            assert address == it.process._address
            assert rooms.service.address == address
            assert (rooms.service.leader, rooms.service.epoch) == (holder_name(), 4)
            app, newest = leads[0]
            assert (app, newest()) == ("app", 41)
        catching = [] if warm is None else ["warm world caught up in database"]
        newest_world = None if warm is None else "newest world"
        assert without_paths(rooms.done) == [
            ("operator_hash", hash_of("sk_operator")), ("database", PLACE, it.lead),
            "database opened", *catching, ("service", "hash of all", newest_world), ("counts", 4),
            ("publish", address), "serving", "service closed", "database closed",
        ]  # fmt: skip
        assert leads[1:] == [(None,)]
        assert it.process._warm is None
