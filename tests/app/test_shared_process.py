"""When a process of a shared desk leads, stands by, waits or hands over, on a real database.

A process has room while it may lead one world more. One without room still leads a world whose
leader has been silent for more than `ALONE_S` seconds.
"""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.service.postgres import Postgres, new_place
from kit.service.stage import ANSWER_S
from service_tui.app.ops import ProcessFigures
from service_tui.app.options import Options
from service_tui.app.shared_desk import (
    AGAIN_S,
    ALONE_S,
    FIRST_S,
    ServedWorld,
    SharedProcess,
    answers_at,
    entrance_at,
    holder_name,
    may_lead,
    pause_after,
)
from service_tui.app.signals import ends_within
from service_tui.clock import SystemClock
from service_tui.credentials.api_keys import desk_keys
from service_tui.server.http.entrance import LOCAL
from service_tui.server.http.loopback import address_of, bind
from service_tui.storage.shared.connection import WorldPlace, connect
from service_tui.storage.shared.leadership import SILENT_S, Leader
from service_tui.wire.endpoints.public import MARKETS

LEADER = Leader(
    epoch=3,
    holder="gull, process 7",
    address="http://leader:9",
    silent_s=0.0,
    operator_hashes=("hash",),
)


class Work:
    """One process, and the lines it has reported."""

    def __init__(self, place: WorldPlace, folder: Path) -> None:
        folder.mkdir()
        self.options = Options(folder, folder, folder / "log", seed=7, limits=False)
        self.listener, self.reported = bind(), list[str]()
        self.figures = ProcessFigures(SystemClock().monotonic)
        self.ending = asyncio.Event()
        at = ServedWorld(place, self.listener, self.figures, desk_keys(folder))
        self.process = SharedProcess(self.options, at, SystemClock(), self.reported.append)

    @property
    def address(self) -> str:
        return address_of(self.listener)

    async def until(self, start: str) -> list[str]:
        """Wait until its last line starts so; returns all lines since the last call."""
        async with asyncio.timeout(ANSWER_S):
            while not self.reported[-1:] or not self.reported[-1].startswith(start):  # noqa: ASYNC110 - it has no event of its own
                await asyncio.sleep(0.01)
        reported, self.reported[:] = self.reported[:], ()
        return reported

    async def markets(self) -> httpx.Response:
        async with httpx.AsyncClient(timeout=ANSWER_S) as http:
            return await http.get(f"{self.address}{MARKETS.path}")


@asynccontextmanager
async def running(*works: Work) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as tasks:
        for one in works:
            tasks.create_task(one.process.run(one.ending))
        yield
        for one in works:
            one.ending.set()
    for one in works:
        one.listener.close()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(ANSWER_S):
        while not is_so():  # noqa: ASYNC110 - it has no event of its own
            await asyncio.sleep(0.02)


def cut_follower(place: WorldPlace) -> None:
    """Have the server end the connection by which a process follows a world."""
    query = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    with connect(place, "test") as raw:
        raw.execute(query, [f"service-tui follower {place.world}"])


def standing_by(place: WorldPlace) -> str:
    return f"standing by for {place}: {holder_name()} leads it"


# -- who leads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leader", "address"),
    [
        (None, None),
        (LEADER, "http://leader:9"),
        (replace(LEADER, silent_s=SILENT_S), "http://leader:9"),
        (replace(LEADER, silent_s=SILENT_S + 0.1), None),
    ],
)
def test_the_address_of_a_silent_leader_is_not_used(
    leader: Leader | None, address: str | None
) -> None:
    assert answers_at(leader) == address


@pytest.mark.parametrize(
    ("has_room", "silent_s", "may"),
    [
        (True, 0.0, True),
        (True, None, True),
        (False, None, False),
        (False, ALONE_S, False),
        (False, ALONE_S + 0.1, True),
    ],
)
def test_a_full_process_leads_a_world_only_after_its_leader_was_long_silent(
    silent_s: float | None, *, has_room: bool, may: bool
) -> None:
    leader = None if silent_s is None else replace(LEADER, address=None, silent_s=silent_s)
    assert may_lead(leader, has_room=has_room) is may


@pytest.mark.process
async def test_the_standby_process_leads_after_a_handover_and_after_the_leader_exits(
    tmp_path: Path,
) -> None:
    place = new_place()
    first, second = Work(place, tmp_path / "first"), Work(place, tmp_path / "second")
    second.process.has_room = lambda: False
    async with running(first, second):
        leading = f"leading {place} (epoch 1), answering at {first.address}"
        await first.until(leading)
        await second.until(standing_by(place))
        assert (first.process.leads, second.process.leads) == (True, False)
        # The leader renews its lead, so that the other never takes it for silent.
        await asyncio.sleep(SILENT_S + 0.5)
        assert (first.reported, second.reported) == ([], [])
        # Either port answers, and refuses a call without a key with the same body.
        assert (await first.markets()).content == (await second.markets()).content
        second.process.has_room = lambda: True
        first.process.has_room = lambda: False
        first.process.hand_over()
        await second.until(f"leading {place} (epoch 2), answering at {second.address}")
        await first.until(standing_by(place))
        assert (first.process.leads, second.process.leads) == (False, True)
        # The end of a process ends its lead.
        first.process.has_room = lambda: True
        second.ending.set()
        await first.until(f"leading {place} (epoch 3), answering at {first.address}")
    assert not first.process.leads


@pytest.fixture
def server() -> Generator[Postgres]:
    """A database for one test, which may stop it."""
    made = Postgres()
    yield made
    made.close()


@pytest.mark.process
async def test_a_database_outage_ends_the_lead_and_outage_and_return_are_reported_once(
    tmp_path: Path, server: Postgres
) -> None:
    place = new_place(server.url)
    it = Work(place, tmp_path / "it")
    async with running(it):
        await it.until(f"leading {place} (epoch 1), answering at {it.address}")
        await asyncio.to_thread(server.stop)
        ended = await it.until("waiting: ")
        assert ended[0].startswith("the lead ended: ")
        # It retries without reporting anything more.
        await asyncio.sleep(2 * AGAIN_S)
        assert it.reported == []
        assert (await it.markets()).status_code == 503
        await asyncio.to_thread(server.start)
        back = await it.until(f"leading {place} (epoch 2), answering at {it.address}")
        assert back[0] == "the database answers again"


@pytest.mark.slow
@pytest.mark.process
async def test_a_copy_that_ends_twice_for_the_same_reason_is_reported_twice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = new_place()
    first, second = Work(place, tmp_path / "first"), Work(place, tmp_path / "second")

    def lines() -> int:
        return sum("no copy of" in one.getMessage() for one in caplog.records)

    async with running(first):
        await first.until(f"leading {place} (epoch 1), answering at {first.address}")
        async with running(second):
            for times in (1, 2):
                await until(lambda: second.figures.is_ready)
                cut_follower(place)
                await until(lambda times=times: lines() == times)


@pytest.mark.parametrize(
    ("led_s", "pause_s"),
    [(0.0, AGAIN_S), (FIRST_S - 0.01, AGAIN_S), (FIRST_S, 0.0), (3_600.0, 0.0)],
)
def test_a_process_pauses_only_after_a_lead_that_ended_at_once(
    led_s: float, pause_s: float
) -> None:
    assert pause_after(led_s) == pause_s


# -- where --------------------------------------------------------------------------------------


def test_a_process_without_a_network_address_answers_this_machine_only(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert entrance_at(Options(tmp_path, tmp_path, tmp_path / "log"), listener) is LOCAL


def test_the_holder_name_is_the_host_name_and_the_process_id() -> None:
    assert holder_name() == f"{socket.gethostname()}, process {os.getpid()}"


async def test_ends_within_returns_at_the_end_or_after_its_seconds() -> None:
    ending = asyncio.Event()
    assert await ends_within(ending, 0.0) is False
    asyncio.get_running_loop().call_soon(ending.set)
    assert await asyncio.wait_for(ends_within(ending, 60.0), 5) is True
    assert await ends_within(ending, 0.0) is True
