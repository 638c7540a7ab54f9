"""A desk behind a line that breaks when a test says so, and counts what passes."""

import asyncio
import json
import random
import resource
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final

import httpx

from kit.service.stage import OPERATOR, Stage, first_state, open_stage, open_test_desk
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import ManualClock
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.feed.pollers import PERIODS
from service_tui.desk.opening import DeskMemory
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.tickets import Ticket
from service_tui.server.embedded import BASE_URL
from service_tui.storage.blotter import Blotter, StoredState, StoredTicket
from service_tui.storage.errors import StorageError
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.wallet import CHAIN_RPC

CASH = 10_000 * ONE
TRADE = "/api/sdk/trade"
TRADES = "/api/sdk/trades"
MARKETS = "/api/sdk/markets"
LOOKS = 10
"""So many looks at the list of markets are answered alike: no test here is about its prices."""


SELDOM_S: Final = 60.0
FOR_SCREENS: Final = (Topic.WORLD, Topic.FLEET, Topic.AGENTS, Topic.RESEARCH)
"""What is read for screens alone: a third of what a desk reads."""

OF_REAL_VENUES: Final = (Topic.REACTOR, Topic.REDEMPTIONS, Topic.WALLET)
"""What a desk reads that trades on real venues, or after others."""


@contextmanager
def reading_seldom(*more: Topic) -> Generator[None]:
    """For desks whose test is about none of that: after the first reading they read it seldom."""
    usual = dict(PERIODS)
    PERIODS.update(dict.fromkeys((*FOR_SCREENS, *more), SELDOM_S))
    try:
        yield
    finally:
        PERIODS.update(usual)


class Fault(Enum):
    """How a call goes wrong; those of the second group have reached the service before."""

    NO_LINE = auto()
    SWALLOWED = auto()
    STUCK = auto()

    LOST = auto()
    TIMED_OUT = auto()
    HALF = auto()
    FAILED = auto()
    HTML = auto()
    SILENT = auto()


UNANSWERED = tuple(Fault)[3:]

_RAISED = {
    Fault.NO_LINE: httpx.ConnectError("no route to host"),
    Fault.SWALLOWED: httpx.ReadTimeout("nothing came"),
    Fault.LOST: httpx.RemoteProtocolError("server disconnected"),
    Fault.TIMED_OUT: httpx.ReadTimeout("nothing came"),
}


def said(body: object, status: int = 200, **headers: str) -> httpx.Response:
    """A whole answer, unread as it comes off a line."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, headers=named, stream=httpx.ByteStream(content))


@dataclass
class Dated(httpx.AsyncBaseTransport):
    """A service whose clock is `ahead_s` ahead of the stage's."""

    inner: httpx.AsyncBaseTransport
    clock: ManualClock
    ahead_s: float = 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        response.headers["date"] = formatdate(self.clock.now() + self.ahead_s, usegmt=True)
        return response


def is_order(request: httpx.Request) -> bool:
    return request.url.path == TRADE and b'"dry_run":true' not in request.content


def is_quote(request: httpx.Request) -> bool:
    return request.url.path == TRADE and not is_order(request)


@dataclass
class Line(httpx.AsyncBaseTransport):
    """`fault` is asked for every request; None lets it pass. `seen` looks at each before that.

    What is stuck or silent stays so until `released` is set. `instead` is answered in the place of
    what the service has said to it.
    """

    inner: httpx.AsyncBaseTransport
    fault: Callable[[httpx.Request], Fault | httpx.Response | None] = lambda _: None
    seen: Callable[[httpx.Request], None] = lambda _: None
    sent: list[httpx.Request] = field(default_factory=list)
    waiting: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)
    looks: int = LOOKS
    instead: httpx.Response | None = None
    _listed: dict[httpx.URL, list[Any]] = field(default_factory=dict)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        self.seen(request)
        fault = self.fault(request)
        if isinstance(fault, httpx.Response):
            return fault
        if fault in {Fault.NO_LINE, Fault.SWALLOWED}:
            raise _RAISED[fault]
        if fault is Fault.STUCK:
            await self._silence()
            fault = None
        answer = await self._broken(await self._answer(request), fault)
        return answer if self.instead is None else self.instead

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        """The service's answer; that to a list of markets is kept until something is written."""
        if request.method != "GET" and request.url.path != CHAIN_RPC.path:
            self._listed.clear()
        kept = self._listed.get(request.url)
        if kept is not None and kept[1] > 0:
            kept[1] -= 1
            return said(kept[0])
        response = await self.inner.handle_async_request(request)
        if request.url.path != MARKETS or response.status_code != 200:
            return response
        content = await response.aread()
        self._listed[request.url] = [content, self.looks - 1]
        return httpx.Response(200, headers=response.headers, stream=httpx.ByteStream(content))

    async def _broken(self, response: httpx.Response, fault: Fault | None) -> httpx.Response:
        """What is left of an answer; the service has done its part."""
        match fault:
            case None:
                return response
            case Fault.HALF:
                return said((await response.aread())[:40])
            case Fault.FAILED:
                return said({"error": "broken"}, 500)
            case Fault.HTML:
                return said(b"<html>sign in to this network</html>")
            case Fault.SILENT:
                await self._silence()
                return response
        raise _RAISED[fault]

    async def _silence(self) -> None:
        self.waiting += 1
        try:
            await self.released.wait()
        finally:
            self.waiting -= 1

    def orders(self) -> list[dict[str, Any]]:
        """Bodies of the orders that were sent."""
        return [json.loads(one.content) for one in self.sent if is_order(one)]

    def quotes(self) -> list[dict[str, Any]]:
        """Bodies of the dry runs that were sent."""
        return [json.loads(one.content) for one in self.sent if is_quote(one)]

    def asked(self, path: str) -> int:
        return sum(one.url.path == path for one in self.sent)


def breaking(stage: Stage, fault: Fault | None = None) -> tuple[Stage, Line]:
    """The stage with its client behind such a line; `fault` is that of every order."""
    line = Line(stage.sim.transport)
    line.fault = lambda request: fault if is_order(request) else None
    api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
    client = Client(line, BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
    return replace(stage, client=client), line


@asynccontextmanager
async def at_work(
    path: Path, fault: Fault | None = None, *, read_only: bool = False, often: bool = False
) -> AsyncGenerator[tuple[Desk, Stage, Line]]:
    """A desk that has heard everything once, on a paused world, behind a line that may break.

    It reads seldom what is for screens alone, unless it is to read everything as `often` as usual.
    """
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole, fault)
        initial = first_state(read_only=read_only)
        with nullcontext() if often else reading_seldom(*OF_REAL_VENUES):
            async with open_test_desk(stage, initial) as desk:
                await until(desk, ready, stage)
                yield desk, stage, line


def ready(state: DeskState) -> bool:
    known = state.account and state.limits and state.markets
    return state.service.phase is Phase.ONLINE and bool(known) and not state.from_cache


async def until(
    desk: Desk,
    is_so: Callable[[DeskState], object],
    stage: Stage,
    *,
    step_s: float = 0.5,
    tries: int = 200,
) -> DeskState:
    """Let manual time pass, and the disk and its threads keep up, until the state is as wanted."""
    for _ in range(tries):
        if is_so(desk.state):
            return desk.state
        await stage.clock.advance(step_s)
        with suppress(StorageError):
            await stage.database.write(lambda _: None)
        await asyncio.to_thread(int)
    raise AssertionError("the desk never came to the wanted state")


async def ended(desk: Desk, ticket: Ticket, stage: Stage) -> TicketView:
    """The view of a ticket once it has come to an end, unknown included."""
    open_ends = {TicketState.QUEUED, TicketState.SENT}
    await until(desk, lambda _: ticket.view.state not in open_ends, stage, step_s=0.1)
    return ticket.view


async def asleep(clock: ManualClock, seconds: float) -> None:
    """A machine that was suspended: every waiter wakes once, however long it was."""
    clock.set(clock.now() + seconds)
    await clock.advance(0.0)


def buy(market: Any, amount: int = 25 * ONE, side: Side = Side.YES, **other: str) -> PlaceTrade:
    return PlaceTrade(
        market_id=market.market_id,
        side=side,
        action=Action.BUY,
        venue=Venue.SIM,
        amount=Micros(amount),
        **other,
    )


def sell(held: PositionView, shares: int | None = None) -> PlaceTrade:
    return PlaceTrade(
        market_id=held.market_id,
        side=held.side,
        action=Action.SELL,
        venue=Venue.SIM,
        shares=Micros(held.shares if shares is None else shares),
    )


def world_holds(stage: Stage) -> int:
    """What the agent holds, in shares of either side, over all markets and venues."""
    venues = stage.world.venues
    held = list(stage.agent.positions.values())
    for venue in (Venue.EVM, Venue.SOL):
        found = venues.account(stage.agent_id, venue).holdings.values()
        held += [holding.position for holding in found]
    return sum(position.shares(side) for position in held for side in Side)


async def rows(stage: Stage) -> list[StoredTicket]:
    """The blotter's rows, newest first, with all that was written until now."""
    await stage.database.write(lambda _: None)
    return Blotter(stage.database).recent(50)


def no_page_more(connection: sqlite3.Connection) -> None:
    """SQLite then says what it says of a full disk."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}").fetchone()


def refuse_writes(connection: sqlite3.Connection) -> None:
    """Every write fails from now on, until the database is opened anew."""
    connection.execute("PRAGMA query_only=ON")


def room_again(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA max_page_count=1000000").fetchone()


@contextmanager
def broken_disk() -> Generator[None]:
    """The system refuses every write of this process, at the COMMIT and at the opening too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def killed_while_sending(stage: Stage, line: Line) -> None:
    """Run a desk and end it, without any closing, while an order is on its way."""
    around = DeskContext(
        stage.client,
        stage.database,
        stage.clock,
        lambda: f"first{len(line.sent)}",
        random.Random(2),
    )
    initial = replace(first_state(), polls=PERIODS)
    desk = Desk(initial, around, Blotter(stage.database), DeskMemory(stage.database, stage.clock))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.run())
        await until(desk, ready, stage)
        ticket = desk.submit(buy(stage.open_markets()[0]))
        await until(desk, lambda _: line.waiting, stage)
        running.cancel()
    assert ticket.view.state is TicketState.SENT
    assert (await rows(stage))[0].state is StoredState.QUEUED
