"""The console in a browser: who may open a page. `bench/browser.py` drives a real one, by hand."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp import web
from textual_serve import server

from service_tui.commands import web as pages
from service_tui.commands.web import PAGES_MAX, WebDesk
from service_tui.console.shell.web_terminal import _is_size
from service_tui.server.http.loopback import bind

TOKEN = "a-token-of-this-test-0123456789"  # noqa: S105


class FakeConsole:
    """What a page's console would get; it answers each key with the same key."""

    opened: list["FakeConsole"]

    def __init__(self, command: str, **doors: object) -> None:
        self.command = command
        self.doors = doors
        self.sizes: list[tuple[int, int]] = []
        self.is_stopped = False
        FakeConsole.opened.append(self)

    async def start(self, width: int, height: int) -> None:
        self.sizes.append((width, height))

    async def send_bytes(self, data: bytes) -> bool:
        await self.doors["write_bytes"](data)  # type: ignore[operator]
        return True

    async def stop(self) -> None:
        self.is_stopped = True


@dataclass
class Desk:
    port: int
    session: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def status(self, path: str, **headers: str) -> int:
        async with self.session.get(f"{self.origin}{path}", headers=headers) as answer:
            return answer.status

    async def socket(self, token: str = TOKEN, **headers: str) -> aiohttp.ClientWebSocketResponse:
        return await self.session.ws_connect(
            f"{self.origin}/ws/{token}?width=120&height=40",
            headers={"Origin": self.origin} | headers,
        )


@pytest.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    FakeConsole.opened = []
    monkeypatch.setattr(server, "AppService", FakeConsole)
    async with opened() as made:
        yield made


@asynccontextmanager
async def opened() -> AsyncIterator[Desk]:
    listener = bind()
    port = listener.getsockname()[1]
    runner = web.AppRunner(WebDesk(("console", "--flag"), port, TOKEN).app(), access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    async with aiohttp.ClientSession() as session:
        yield Desk(port, session)
    await runner.cleanup()


async def refused(desk: Desk, token: str = TOKEN, **headers: str) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await desk.socket(token, **headers)
    return error.value.status


async def test_a_page_with_the_token_has_a_console_of_its_own(desk: Desk) -> None:
    socket = await desk.socket()
    await socket.send_str(json.dumps(["stdin", "b"]))
    assert (await socket.receive_bytes()) == b"b"
    (console,) = FakeConsole.opened
    assert console.command == "exec console --flag"
    assert console.sizes == [(120, 40)]
    await socket.close()
    assert await desk.status(f"/alive/{TOKEN}") == 204
    assert console.is_stopped


@pytest.mark.parametrize("token", ["x", TOKEN[:-1], TOKEN + "x", "%00", TOKEN.upper()])
async def test_without_the_token_no_console_opens(desk: Desk, token: str) -> None:
    assert await refused(desk, token) in {403, 404}
    assert await desk.status(f"/alive/{token}") in {403, 404}
    assert FakeConsole.opened == []


OTHERS: Mapping[str, Mapping[str, str]] = {
    "another page": {"Origin": "http://evil.example"},
    "a page on another port of this machine": {"Origin": "http://127.0.0.1:1"},
    "a page without an address": {"Origin": "null"},
    "a name that leads here": {"Host": "desk.evil.example"},
    "the right name, another port": {"Host": "127.0.0.1:1"},
}


@pytest.mark.parametrize("headers", OTHERS.values(), ids=OTHERS)
async def test_from_elsewhere_nothing_is_answered(desk: Desk, headers: Mapping[str, str]) -> None:
    assert await refused(desk, **headers) == 403
    for path in ("/", "/desk.js", f"/alive/{TOKEN}", "/static/css/xterm.css"):
        assert await desk.status(path, **headers) == 403
    assert FakeConsole.opened == []


async def test_a_program_that_is_no_page_gets_no_console(desk: Desk) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await desk.session.ws_connect(f"{desk.origin}/ws/{TOKEN}")
    assert FakeConsole.opened == []


async def test_the_page_loads_nothing_from_elsewhere_and_holds_no_secret(desk: Desk) -> None:
    for path in ("/", "/desk.js", "/desk.css"):
        async with desk.session.get(f"{desk.origin}{path}") as answer:
            text = await answer.text()
            assert answer.status == 200
            assert "https:" not in text
            assert TOKEN not in text
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            assert f"ws://127.0.0.1:{desk.port};" in policy
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_only_so_many_consoles_run_at_once(desk: Desk) -> None:
    sockets = [await desk.socket() for _ in range(PAGES_MAX)]
    assert await refused(desk) == 503
    assert await desk.status(f"/alive/{TOKEN}") == 503
    await sockets.pop().close()
    sockets.append(await desk.socket())
    assert len(FakeConsole.opened) == PAGES_MAX + 1


@pytest.mark.parametrize("path", ["/ws/", "/alive/", "/download/x", "/static/", "/static/../x"])
async def test_there_is_nothing_else(desk: Desk, path: str) -> None:
    assert await desk.status(path) in {403, 404}


@pytest.mark.parametrize("sent", ["", "{}", "[]", '["stdin"]', '["stdin", 1]', '["resize", 1]'])
async def test_what_is_no_message_of_the_page_ends_its_console_alone(desk: Desk, sent: str) -> None:
    socket = await desk.socket()
    await socket.send_str(sent)
    assert (await socket.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}
    assert FakeConsole.opened[0].is_stopped
    assert await desk.status("/") == 200


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("width=120&height=40", (120, 40)),
        ("width=1000000000&height=99999999999999999999", (2_000, 1_000)),
        ("width=0&height=-5", (80, 24)),
        ("width=abc&height=", (80, 24)),
        ("", (80, 24)),
    ],
)
async def test_a_page_of_any_size_gets_a_window_that_may_exist(
    desk: Desk, given: str, size: tuple[int, int]
) -> None:
    await desk.session.ws_connect(
        f"{desk.origin}/ws/{TOKEN}?{given}", headers={"Origin": desk.origin}
    )
    assert FakeConsole.opened[0].sizes == [size]


def test_sizes_that_no_window_has_are_passed_over() -> None:
    assert _is_size({"width": 120, "height": 40})
    for width, height in (
        (0, 40),
        (-1, 40),
        (10**9, 40),
        (120, 0),
        (None, 40),
        ("9", 40),
        (9.5, 4),
    ):
        assert not _is_size({"width": width, "height": height})


def test_the_files_of_the_page_are_in_the_package() -> None:
    assert all((pages.PAGES / name).is_file() for name in pages.FILES.values())
