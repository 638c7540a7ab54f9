"""The owner of a data directory: whether it is one, and who gets what is sent to it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.service.stage import OPERATOR, open_stage
from service_tui.app.attached import (
    HOLDER_URL,
    STARTING_S,
    HolderTransport,
    address_of,
    is_served,
    loopback_address,
    may_still_serve,
)
from service_tui.app.attached_desk import _unused
from service_tui.app.options import Options
from service_tui.clock import SystemClock
from service_tui.credentials.api_keys import DESK_FILE, DeskKeys, keep_desk_keys
from service_tui.desk.facts import Fact, Served
from service_tui.server.http.loopback import listen
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import Holder
from service_tui.terms import Plan


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.0.0.1:1", True),
        ("http://127.0.0.1:65535", True),
        ("http://127.0.0.1:0", False),
        ("http://127.0.0.1:012", False),
        ("http://127.0.0.1:123456", False),
        ("http://127.0.0.1:8000/x", False),
        ("http://127.0.0.2:8000", False),
        ("http://127x0.0.1:8000", False),
        ("https://127.0.0.1:8000", False),
        ("http://example.org:8000", False),
        ("", False),
        (None, False),
    ],
)
def test_an_owner_is_reached_on_this_machine_alone(
    tmp_path: Path, address: str | None, *, is_taken: bool
) -> None:
    holder = Holder(7, 1.0, address)
    wanted = address if is_taken else None
    assert loopback_address(holder) == wanted
    with held(tmp_path, address):
        assert address_of(tmp_path) == wanted
    assert address_of(tmp_path) is None


@contextmanager
def held(folder: Path, address: str | None) -> Generator[DataDirLock]:
    """A directory whose owner has published an address."""
    lock = DataDirLock.acquire(folder, pid=7, now=1.0)
    lock.publish(address)
    yield lock
    lock.release()


class Line:
    """In place of a connection: what was sent, and whether it was closed."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []
        self.is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(200, text="hello")

    async def aclose(self) -> None:
        self.is_closed = True


async def test_each_request_goes_to_whoever_owns_the_directory_now(tmp_path: Path) -> None:
    line: Any = Line()
    transport = HolderTransport(tmp_path, line)
    async with httpx.AsyncClient(transport=transport, base_url=HOLDER_URL) as client:
        for port in (8001, 8002):
            with held(tmp_path, f"http://127.0.0.1:{port}"):
                answer = await client.post(
                    "/api/x?y=1", json={"a": 1}, headers={"Authorization": "k"}
                )
            assert answer.text == "hello"
        with pytest.raises(httpx.ConnectError, match="no program serves this data directory"):
            await client.get("/api/x")
    assert [str(one.url) for one in line.sent] == [
        f"http://127.0.0.1:{port}/api/x?y=1" for port in (8001, 8002)
    ]
    assert [one.headers["Host"] for one in line.sent] == ["127.0.0.1:8001", "127.0.0.1:8002"]
    assert {(one.method, one.headers["Authorization"]) for one in line.sent} == {("POST", "k")}
    assert line.is_closed


async def test_an_owner_is_reported_once_and_again_when_it_is_another(tmp_path: Path) -> None:
    line: Any = Line()
    transport, told, own = HolderTransport(tmp_path, line), list[Fact](), [""]
    request = httpx.Request("GET", f"{HOLDER_URL}/x")
    with held(tmp_path, "http://127.0.0.1:8001") as lock:
        await transport.handle_async_request(request)
        transport.report_to(told.append, own=lambda: own[0])
        for _ in range(2):
            await transport.handle_async_request(request)
        own[0] = "http://127.0.0.1:8002"
        lock.publish(own[0])
        await transport.handle_async_request(request)
    assert told == [
        Served("http://127.0.0.1:8001", attached=True),
        Served("http://127.0.0.1:8002", attached=False),
    ]
    assert len(line.sent) == 4


@pytest.mark.slow
async def test_a_directory_is_served_where_its_owner_answers_and_takes_its_key(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "d"

    async def served(api_keys: DeskKeys | None, address: str | None) -> bool:
        with held(folder, address):
            if api_keys is not None:
                keep_desk_keys(folder, api_keys)
            return await is_served(folder, SystemClock())

    async with open_stage(tmp_path / "world", speed=0) as stage:
        right = DeskKeys(OPERATOR, stage.key, stage.agent_id)
        async with listen(stage.sim.app) as url:
            assert not await served(None, url)
            assert await served(right, url)
            assert not await served(right, None)
            assert not await served(replace(right, operator="op_" + "x" * 40), url)
            assert not await served(replace(right, agent=None), url)
        # Nobody answers there any more.
        assert not await served(right, url)
        (folder / DESK_FILE).write_text("[")
        assert not await served(None, url)


@pytest.mark.parametrize(
    ("since", "may"), [(None, True), (100.0 - STARTING_S, False), (100.1 - STARTING_S, True)]
)
def test_an_owner_that_has_just_started_may_still_serve(since: float | None, *, may: bool) -> None:
    assert may_still_serve(Holder(7, since, None), 100.0) is may


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"seed": 0}, "--seed"),
        ({"speed": 0}, "--speed"),
        ({"plan": Plan.PRO}, "--plan"),
        ({"listen": 0}, ""),
        ({"listen": 8000}, "--listen"),
        ({"seed": 1, "listen": 8000}, "--seed, --listen"),
    ],
)
def test_what_only_an_owner_can_follow_is_named(given: dict[str, Any], said: str) -> None:
    options = Options(Path("d"), Path("c"), Path("l"), **given)
    assert _unused(options) == said
