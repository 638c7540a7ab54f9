"""When a desk's service is reached by others, and where."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from kit.service.stage import ANSWER_S, Stage, open_stage
from service_tui.app.attached import address_of
from service_tui.app.data import Data
from service_tui.app.serving import serving
from service_tui.desk.facts import Fact, Noticed, Served
from service_tui.storage.db.lock import DataDirLock
from service_tui.wire.endpoints.public import HEALTH


@dataclass
class Desk:
    """A desk that may be served, and what it has been told."""

    stage: Stage
    folder: Path
    facts: list[Fact] = field(default_factory=list)
    may_begin: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def served(self, port: int) -> AsyncGenerator[None]:
        lock = DataDirLock.acquire(self.folder, pid=7, now=1.0)
        data = Data(self.stage.database, lock)
        try:
            async with serving(
                self.stage.sim, data, port, self.facts.append, after=self.may_begin.wait
            ):
                yield
        finally:
            lock.release()

    async def until_told(self) -> None:
        async with asyncio.timeout(ANSWER_S):
            while not any(isinstance(one, Served) for one in self.facts):  # noqa: ASYNC110 - it has no event of its own
                await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_a_desk_is_served_once_it_may_be_and_until_its_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    async with open_stage(tmp_path / "world", speed=0) as stage:
        it = Desk(stage, tmp_path / "d")
        async with it.served(port):
            await asyncio.sleep(0.05)
            assert (it.facts, address_of(it.folder)) == ([], None)
            it.may_begin.set()
            await it.until_told()
            assert it.facts == [Served(url)]
            assert (stage.sim.service.address, address_of(it.folder)) == (url, url)
            async with httpx.AsyncClient(timeout=ANSWER_S) as http:
                assert (await http.get(f"{url}{HEALTH.path}")).status_code == 200
        assert address_of(it.folder) is None
        # A desk that ends before it may be served never is.
        other = Desk(stage, tmp_path / "d")
        async with other.served(port):
            await asyncio.sleep(0.05)
        assert other.facts == []


@pytest.mark.slow
async def test_a_port_that_is_taken_is_told_and_replaced(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with open_stage(tmp_path / "world", speed=0) as stage:
            it = Desk(stage, tmp_path / "d")
            it.may_begin.set()
            async with it.served(port):
                await it.until_told()
                told, served = it.facts
                words = f"port {port} is in use: agents connect at another one"
                assert told == Noticed("bad", words)
                assert served == Served(address_of(it.folder) or "")
