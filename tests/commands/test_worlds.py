"""Several worlds of one database, served by several processes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from kit.service.followed import Trader
from kit.service.postgres import new_place
from kit.service.stage import ANSWER_S
from service_tui.app.options import Options
from service_tui.commands.worlds import places_of, run_worlds, share_of
from service_tui.server.http.loopback import bind
from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import connect
from service_tui.storage.shared.sharing import (
    PER_WORLD,
    SHARED,
    connections_needed,
    shortage_of,
)

pytestmark = pytest.mark.process


def options_of(folder: Path, worlds: str, url: str) -> Options:
    return Options(
        data_dir=folder, config_dir=folder, log_path=folder / "log", database=url, worlds=worlds,
        limits=False, speed=1, seed=7, listen=0, ops_port=0,
    )  # fmt: skip


@dataclass
class Serving:
    """A process, but for the process: its own directory, ports and end."""

    ending: asyncio.Event = field(default_factory=asyncio.Event)
    said: list[str] = field(default_factory=list)

    def addresses(self) -> dict[str, str]:
        """Where each world answers."""
        lines = [line.split() for line in self.said if line.startswith("answering for ")]
        return {words[2]: words[6].rstrip(",") for words in lines}

    async def roles(self, http: httpx.AsyncClient) -> dict[str, str]:
        lines = [line for line in self.said if line.startswith("health")]
        if not lines:
            return {}
        reply = await http.get(f"{lines[0].split()[-1]}/readyz")
        return reply.json()["worlds"]

    async def leads(self, http: httpx.AsyncClient) -> list[str]:
        return [world for world, role in (await self.roles(http)).items() if role == "leading"]


@asynccontextmanager
async def serving(options: Options) -> AsyncGenerator[Serving]:
    process = Serving()
    with bind() as listener:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run_worlds(options, listener, process.ending, process.said.append))
            try:
                yield process
            finally:
                process.ending.set()


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(ANSWER_S):
        while not await is_so():  # noqa: ASYNC110 - another task brings it about
            await asyncio.sleep(0.05)


async def until_led(http: httpx.AsyncClient, process: Serving, count: int) -> None:
    async def is_led() -> bool:
        return len(await process.leads(http)) == count

    await until(is_led)


@pytest.mark.slow
async def test_two_processes_share_three_worlds_and_one_takes_all_when_it_is_alone(
    tmp_path: Path,
) -> None:
    places = [new_place() for _ in range(3)]
    names, url = ",".join(place.world for place in places), places[0].url
    one_starts, two_starts = (
        serving(options_of(tmp_path / name, names, url)) for name in ("one", "two")
    )
    async with httpx.AsyncClient(timeout=ANSWER_S) as http, one_starts as one:
        await until_led(http, one, 3)
        async with two_starts as two:
            await until_led(http, two, 1)
            await until_led(http, one, 2)
            assert not {*await one.leads(http)} & {*await two.leads(http)}
            # Each world is reached by either process, and has agents of its own.
            for place in places:
                await traded(one.addresses()[place.world], two.addresses()[place.world])
            one.ending.set()
            await until_led(http, two, 3)


@pytest.mark.slow
async def test_a_world_more_costs_a_process_two_connections_where_it_leads_it(
    tmp_path: Path,
) -> None:
    places = [new_place() for _ in range(4)]
    names = ",".join(place.world for place in places)
    lines = " OR ".join(f"application_name LIKE '% {place.world}'" for place in places)
    options = options_of(tmp_path, names, places[0].url)
    async with httpx.AsyncClient(timeout=ANSWER_S) as http, serving(options) as one:
        await until_led(http, one, 4)
        with connect(places[0], "test") as raw:
            found = raw.execute(
                f"SELECT split_part(application_name, ' ', 2), count(*) FROM pg_stat_activity WHERE {lines} GROUP BY 1".encode()  # noqa: S608, E501 - names of ours
            ).fetchall()
    counts = {str(purpose): int(str(count)) for purpose, count in found if purpose != "test"}
    of_worlds = {purpose: counts.pop(purpose) for purpose in ("lead", "writer")}
    assert of_worlds == {"lead": 4, "writer": 4}
    assert sum(of_worlds.values()) == 4 * PER_WORLD
    # What is shared is of the first world by its name.
    assert counts.keys() <= {"reader", "notifier", "watch", "roll"}
    assert sum(counts.values()) <= SHARED


@pytest.mark.slow
def test_a_server_with_too_few_connections_is_named_at_the_start() -> None:
    place = new_place()
    assert not shortage_of(place, 1)
    assert "this process may need 10000 connections of the database" in shortage_of(place, 10_000)
    assert connections_needed(20) == SHARED + 40


async def traded(one: str, two: str) -> None:
    """Join by one address, and trade and read by another."""
    trader = Trader()
    async with trader.http:

        async def is_led() -> bool:
            replies = [await trader.http.get(f"{each}/api/sdk/health") for each in (one, two)]
            return all(reply.status_code == 200 for reply in replies)

        await until(is_led)
        await trader.join(one)
        await trader.buy(two)
        shares, _ = await trader.held(two)
        assert shares == pytest.approx(trader.bought)


@pytest.mark.slow
def test_worlds_are_named_or_all_in_the_order_of_their_making(tmp_path: Path) -> None:
    made = [new_place() for _ in range(2)]
    every = [place.world for place in places_of(options_of(tmp_path, "all", made[0].url))]
    assert every[-2:] == [place.world for place in made]
    named = places_of(options_of(tmp_path, "b, a,b", made[0].url))
    assert [place.world for place in named] == ["b", "a"]
    with pytest.raises(StorageError, match="no name of a world"):
        places_of(options_of(tmp_path, "A b", made[0].url))


@pytest.mark.parametrize(
    ("worlds", "processes", "most"), [(8, 1, 8), (8, 2, 4), (8, 3, 3), (1, 5, 1), (3, 0, 3)]
)
def test_a_share_is_rounded_up_so_that_no_world_is_left_over(
    worlds: int, processes: int, most: int
) -> None:
    assert share_of(worlds, processes) == most
