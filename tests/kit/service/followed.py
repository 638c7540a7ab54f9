"""A leader and its followers in one process, each at a port of its own."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import httpx
from starlette.applications import Starlette
from starlette.types import ASGIApp

from kit.engine.topics import TOPICS
from kit.service.postgres import leading
from kit.service.stage import ANSWER_S, OPERATOR
from service_tui.app.edge import Edge
from service_tui.clock import SystemClock
from service_tui.listening import stop_listening
from service_tui.server.embedded import Sim, SimSettings, open_sim
from service_tui.server.events.stream import STATE, OpenStreams
from service_tui.server.following import FollowingCopy, open_copy
from service_tui.server.http.access import hash_of
from service_tui.server.http.entrance import LOCAL, Entrance
from service_tui.server.http.loopback import address_of, bind, listen
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.feed import JournalFeed
from service_tui.wire.world_seq import WORLD_SEQ

SETTINGS = SimSettings(
    seed=7, topics=TOPICS, operator_hash=hash_of(OPERATOR), limits=False, speed=1
)


@dataclass
class Followed:
    """A leader. `asked` are the calls that reached it."""

    sim: Sim
    place: WorldPlace
    path: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def seq(self) -> int:
        return self.sim.service.world_store.written_seq


async def until_reached(copy: FollowingCopy, seq: int) -> None:
    """Wait until a copy has a row, for longer than a caller would."""
    async with asyncio.timeout(ANSWER_S):
        while not await copy.reaches(seq):  # noqa: ASYNC110 - it has no event of its own
            await asyncio.sleep(0.01)


@asynccontextmanager
async def open_leader(place: WorldPlace, path: Path) -> AsyncGenerator[Followed]:
    with leading(place, path) as database:
        async with open_sim(database, SystemClock(), SETTINGS) as sim:
            led = Followed(sim, place, path)

            def counting(app: ASGIApp) -> ASGIApp:
                async def answer(scope: Any, receive: Any, send: Any) -> None:
                    led.asked.append(f"{scope['method']} {scope['path']}")
                    await app(scope, receive, send)

                return answer

            async with listen(sim.app, around=counting) as address:
                led.address = sim.service.address = address
                yield led


@dataclass
class Follower:
    """A process that follows, as its callers see it."""

    edge: Edge
    copy: FollowingCopy
    address: str
    following: asyncio.Task[NoReturn]

    async def stop(self) -> None:
        """End what follows, as a process does that takes the lead."""
        self.following.cancel()
        await asyncio.wait([self.following])


@asynccontextmanager
async def open_follower(
    place: WorldPlace, path: Path, find: Callable[[], str | None]
) -> AsyncGenerator[Follower]:
    feed, database = JournalFeed(place), SharedDatabase(place, None, path / "world")
    edge = Edge(find)
    try:
        feed.open()
        async with (
            open_copy(database, feed, SystemClock(), SETTINGS) as copy,
            aclosing(edge),
            at_port(edge) as address,
            asyncio.TaskGroup() as tasks,
        ):
            following = tasks.create_task(copy.follow())
            edge.copy = copy
            while not copy.is_fresh:  # noqa: ASYNC110 - it has no event of its own
                await asyncio.sleep(0.002)
            yield Follower(edge, copy, address, following)
            following.cancel()
    finally:
        database.close()
        feed.close()


@asynccontextmanager
async def at_port(
    edge: Edge, listener: socket.socket | None = None, entrance: Entrance = LOCAL
) -> AsyncGenerator[str]:
    app, listener = Starlette(), listener or bind()
    setattr(app.state, STATE, OpenStreams())
    async with listen(app, listener=listener, around=lambda _: edge, entrance=entrance):
        yield address_of(listener)


class Trader:
    """An agent that buys by HTTP, over one connection."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=1)
        self.http = httpx.AsyncClient(timeout=ANSWER_S, limits=limits)
        self.market = ""
        self.bought = 0.0
        self.seq = 0

    async def join(self, address: str) -> None:
        reply = await self.http.post(f"{address}/api/sdk/agents/register", json={"name": "heron"})
        self.http.headers["Authorization"] = f"Bearer {reply.json()['api_key']}"
        markets = await self.http.get(f"{address}/api/sdk/markets", params={"limit": 200})
        ends = sorted(markets.json()["markets"], key=lambda one: one["resolves_at"])
        self.market = ends[-1]["id"]

    async def buy(self, address: str) -> None:
        order = {"market_id": self.market, "side": "yes", "amount": 1, "venue": "sim"}
        reply = await self.http.post(f"{address}/api/sdk/trade", json=order)
        assert reply.status_code == 200, reply.text
        self.bought += reply.json()["shares_bought"]
        self.seq = int(reply.headers[WORLD_SEQ])

    async def held(self, address: str, **headers: str) -> tuple[float, int]:
        """The shares held, and the row that the answer was made from."""
        reply = await self.http.get(f"{address}/api/sdk/positions", headers=headers)
        assert reply.status_code == 200, reply.text
        return float(reply.json()["positions"][0]["shares_yes"]), int(reply.headers[WORLD_SEQ])


class CutLine:
    """A port of loopback that carries to the database, until it is cut."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / ".s.PGSQL.5432"
        self._open: set[asyncio.StreamWriter] = set()
        self.is_cut = False

    @asynccontextmanager
    async def at_port(self) -> AsyncGenerator[str]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield f"postgresql://desk@127.0.0.1:{port}/postgres"
        finally:
            await stop_listening(server)
            self.cut()

    def cut(self) -> None:
        """Drop every connection, and take no new one."""
        self.is_cut = True
        for writer in self._open:
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_unix_connection(str(self._socket))
        both = {writer, far_writer}
        self._open |= both
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_pump(reader, far_writer))
                tasks.create_task(_pump(far_reader, writer))
        finally:
            self._open -= both


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(65_536):
            sink.write(chunk)
            await sink.drain()
    sink.close()
