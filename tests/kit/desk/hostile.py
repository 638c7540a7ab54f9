"""A desk that has read everything once, and is lied to from then on."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx

from kit.desk.faults import Fault, Line, breaking, said, until
from kit.desk.redeeming import CountingSigner, Won, open_wallet_desk, settled
from kit.service.hostile import Bytes, Way
from kit.service.stage import Stage, first_state
from service_tui.desk.commands.agents import WatchHoldings
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.desk import Desk
from service_tui.desk.reading_failures import READING
from service_tui.desk.slices.topics import Topic
from service_tui.wire.endpoints.public import PLACE_TRADE, SET_MONITOR
from service_tui.wire.endpoints.wallet import CHAIN_RPC

WAIT_S: Final = 0.5
WAITS: Final = 10
"""The reason is told within 5 s."""

WAITS_MAX: Final = 140
"""Who is told to ask less often asks again after a minute."""

ROWS: Final = 2
"""Of each list: rows are alike, and a hundred markets take a hundred times as long."""


def few(tree: Any) -> Any:
    """The same body with the first rows of each list."""
    if isinstance(tree, dict):
        return {name: few(value) for name, value in tree.items()}
    return [few(value) for value in tree[:ROWS]] if isinstance(tree, list) else tree


@dataclass
class Lied(httpx.AsyncBaseTransport):
    """Answers as the service does, with short lists, or in the way that is set for a path."""

    inner: httpx.AsyncBaseTransport
    ways: dict[str, Way | Bytes] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    topics: dict[str, set[Topic]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method != "GET":
            # Questions to the chain are posts as well.
            if path != CHAIN_RPC.path or b"sendRaw" in request.content:
                self.written.append(path)
            return await self.inner.handle_async_request(request)
        topic = READING.get()
        if topic is not None:
            self.topics.setdefault(path, set()).add(topic)
        if path not in self.bodies:
            response = await self.inner.handle_async_request(request)
            body = await response.aread()
            if response.status_code != httpx.codes.OK:
                return said(body, response.status_code)
            self.bodies[path] = json.dumps(few(json.loads(body))).encode()
        return said(self.bodies[path])

    def answer(self, request: httpx.Request) -> Fault | httpx.Response | None:
        """What a lie makes of a reading; None where this path is not lied about."""
        way = self.ways.get(request.url.path)
        body = self.bodies.get(request.url.path)
        return None if way is None or body is None or request.method != "GET" else way.of(body)


@dataclass
class Told:
    """A desk at work, what it reads from where, and the lies."""

    desk: Desk
    stage: Stage
    line: Line
    lied: Lied
    won: Won

    async def read(self, path: str, *, until_good: bool = False) -> float:
        """Have a path read now by all that read it, and again while that is repeated.

        Price alerts are read by a loop of their own: they belong to no topic.

        Args:
            path: what.
            until_good: until all of it is read, whatever failed before; else until one fails.

        Returns:
            How long it took, seconds.
        """
        begun = self.stage.clock.monotonic()
        for _ in range(WAITS_MAX if until_good else WAITS):
            for topic in self.lied.topics.get(path, ()):
                self.desk._refresh(topic)
            await self.stage.clock.advance(WAIT_S)
            await self.rest()
            if bool(self.problem(path)) is not until_good:
                break
        return self.stage.clock.monotonic() - begun

    def problem(self, path: str) -> str:
        """Why a path is not read."""
        failures = self.desk.state.service.failures
        return "; ".join(failures.get(topic, "") for topic in self.lied.topics.get(path, ())).strip(
            "; "
        )

    async def rest(self) -> None:
        """What is on its way to the disk or in a thread comes to its end."""
        for _ in range(3):
            await asyncio.to_thread(int)
            await self.stage.clock.advance(0)


@asynccontextmanager
async def lied_to(path: Path) -> AsyncGenerator[Told]:
    """A won position, one with a monitor, a market in focus, a wallet that signs."""
    async with settled(path) as (whole, won):
        market = max(whole.open_markets(), key=lambda one: one.listing.resolves_at)
        await won.own.line.said(
            PLACE_TRADE, json={"market_id": market.market_id, "side": "yes", "amount": 5}
        )
        watch = {"side": "yes", "stop_loss_pct": 0.9, "take_profit_pct": 9}
        await won.own.line.said(SET_MONITOR, json=watch, path={"market_id": market.market_id})
        stage, line = breaking(whole)
        lied = Lied(line.inner)
        line.inner, line.looks, line.fault = lied, 0, lied.answer
        plain = first_state()
        # Of several people: who is here, and who did what, may be lies as well.
        shared = replace(plain, service=replace(plain.service, shared=True))
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer, client=stage.client, initial=shared) as desk:
            desk.submit(WatchMarket(market.market_id))
            desk.submit(WatchHoldings(is_wanted=True))
            told = Told(desk, stage, line, lied, won)
            await until(desk, lambda state: set(state.seen) >= set(Topic), stage)
            yield told
