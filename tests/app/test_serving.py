"""Serving beside a desk: where, when, and what is told of a port that is taken."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app import serving as room
from service_tui.app.serving import serving
from service_tui.desk.facts import Noticed, Served

TAKEN = OSError(98, "Address already in use")


class Port:
    """A service, a directory and a machine whose ports a test gives."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *faults: OSError) -> None:
        self.faults = list(faults)
        self.done: list[object] = []
        self.facts: list[object] = []
        self.sim: Any = SimpleNamespace(app="app", service=SimpleNamespace(address=""))
        self.data: Any = SimpleNamespace(publish=self.publish)
        self.may_begin = asyncio.Event()
        monkeypatch.setattr(room, "bind", self.bind)
        monkeypatch.setattr(room, "address_of", lambda port: f"http://127.0.0.1:{port}")
        monkeypatch.setattr(room, "listen", self.listen)
        monkeypatch.setattr(importlib, "import_module", self.done.append)

    def publish(self, address: str | None) -> None:
        self.done.append(("published", address))

    def bind(self, port: int = 0) -> int:
        self.done.append(("port", port))
        if self.faults:
            raise self.faults.pop(0)
        return port or 4321

    @asynccontextmanager
    async def listen(self, app: str, *, listener: int, by_turns: bool) -> AsyncGenerator[str]:
        assert (app, by_turns) == ("app", True)
        # Whoever calls now is given links that lead here.
        assert self.sim.service.address == f"http://127.0.0.1:{listener}"
        yield self.sim.service.address
        self.done.append("closed")

    @asynccontextmanager
    async def served(self, port: int = 8017) -> AsyncGenerator[None]:
        async with serving(self.sim, self.data, port, self.facts.append, after=self.may_begin.wait):
            yield

    async def turns(self) -> None:
        for _ in range(20):
            await asyncio.to_thread(int)


async def test_a_desk_is_served_once_it_may_be_and_until_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = Port(monkeypatch)
    async with it.served():
        await it.turns()
        assert (it.done, it.facts) == ([], [])
        it.may_begin.set()
        await it.turns()
        address = "http://127.0.0.1:8017"
        assert it.done == ["uvicorn", ("port", 8017), ("published", address)]
        assert (it.facts, it.sim.service.address) == ([Served(address)], address)
    assert it.done[3:] == [("published", None), "closed"]


async def test_a_desk_that_ends_before_it_is_served_never_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = Port(monkeypatch)
    async with it.served():
        await it.turns()
    assert (it.done, it.facts) == ([], [])


async def test_a_port_that_is_taken_is_told_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Port(monkeypatch, TAKEN)
    it.may_begin.set()
    async with it.served():
        await it.turns()
        assert it.done[1:3] == [("port", 8017), ("port", 0)]
        assert it.facts == [
            Noticed("bad", "port 8017 is in use: agents connect at another one"),
            Served("http://127.0.0.1:4321"),
        ]


async def test_a_machine_without_a_free_port_leaves_the_desk_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = Port(monkeypatch, TAKEN)
    it.may_begin.set()
    async with it.served(0):
        await it.turns()
        assert it.facts == [Noticed("bad", "agents cannot reach this desk: Address already in use")]
    assert it.done == ["uvicorn", ("port", 0)]
