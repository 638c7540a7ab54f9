"""The console in a browser: who may open a page. `bench/browser.py` drives a real one, by hand."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psutil
import pytest
from aiohttp import web

from kit.programs import echo_console
from service_tui.commands import web as pages
from service_tui.commands.web import PAGES_MAX, WebDesk
from service_tui.console.shell.terminal import HEIGHT_MAX, WIDTH_MAX
from service_tui.console.shell.web_terminal import is_size
from service_tui.server.http.loopback import bind

pytestmark = pytest.mark.process

TOKEN = "a-token-of-this-test-0123456789"  # noqa: S105


@dataclass
class Desk:
    port: int
    session: aiohttp.ClientSession
    notes: Path
    sockets: list[aiohttp.ClientWebSocketResponse] = field(default_factory=list)
    others: frozenset[int] = field(
        default_factory=lambda: frozenset(one.pid for one in psutil.Process().children())
    )
    """Processes of this one that were there before."""

    @property
    def noted(self) -> list[str]:
        """What the consoles have noted: the size and the words of each, and each end."""
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    async def until(self, *noted: str) -> None:
        """Wait until the consoles have noted this much."""
        for _ in range(1_000):
            if sorted(self.noted) == sorted(noted):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(self.noted)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def status(self, path: str, **headers: str) -> int:
        async with self.session.get(f"{self.origin}{path}", headers=headers) as answer:
            return answer.status

    async def socket(self, token: str = TOKEN, **headers: str) -> aiohttp.ClientWebSocketResponse:
        return await self.page(f"{token}?width=120&height=40", **headers)

    async def page(self, place: str, **headers: str) -> aiohttp.ClientWebSocketResponse:
        """Open a page at that place of the sockets."""
        made = await self.session.ws_connect(
            f"{self.origin}/ws/{place}", headers={"Origin": self.origin} | headers
        )
        self.sockets.append(made)
        return made

    async def close(self) -> None:
        """Close every page, and wait for the ends of their consoles."""
        for socket in self.sockets:
            await socket.close()
        begun = [one for one in self.noted if one != "ended"]
        await self.until(*begun, *["ended"] * len(begun))
        # The loop hears of the end of a process a moment later. Programs of other tests go on.
        for _ in range(1_000):
            if {one.pid for one in psutil.Process().children()} <= self.others:
                break
            await asyncio.sleep(0.01)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with opened(tmp_path / "notes") as made:
        yield made


@asynccontextmanager
async def opened(notes: Path) -> AsyncIterator[Desk]:
    listener = bind()
    port = listener.getsockname()[1]
    command = (sys.executable, "-S", "-E", echo_console.__file__, str(notes), "--flag")
    runner = web.AppRunner(WebDesk(command, port, TOKEN).app(), access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    async with aiohttp.ClientSession() as session:
        desk = Desk(port, session, notes)
        yield desk
        await desk.close()
    await runner.cleanup()


async def refused(desk: Desk, token: str = TOKEN, **headers: str) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await desk.socket(token, **headers)
    return error.value.status


async def test_a_page_with_the_token_has_a_console_of_its_own(desk: Desk) -> None:
    socket = await desk.socket()
    await socket.send_str(json.dumps(["stdin", "b"]))
    assert (await socket.receive_bytes()) == b"b"
    await desk.until("120x40 --flag")
    await socket.close()
    await desk.until("120x40 --flag", "ended")
    assert await desk.status(f"/alive/{TOKEN}") == 204


@pytest.mark.parametrize("token", ["x", TOKEN[:-1], TOKEN + "x", "%00", TOKEN.upper()])
async def test_without_the_token_no_console_opens(desk: Desk, token: str) -> None:
    assert await refused(desk, token) in {403, 404}
    assert await desk.status(f"/alive/{token}") in {403, 404}
    assert desk.noted == []


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
    assert desk.noted == []


async def test_a_program_that_is_no_page_gets_no_console(desk: Desk) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await desk.session.ws_connect(f"{desk.origin}/ws/{TOKEN}")
    assert desk.noted == []


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
    await desk.until(*["120x40 --flag"] * PAGES_MAX, "ended")
    for _ in range(1_000):
        if await desk.status(f"/alive/{TOKEN}") == 204:
            break
        await asyncio.sleep(0.01)
    await desk.socket()


@pytest.mark.parametrize("path", ["/ws/", "/alive/", "/download/x", "/static/", "/static/../x"])
async def test_there_is_nothing_else(desk: Desk, path: str) -> None:
    assert await desk.status(path) in {403, 404}


@pytest.mark.parametrize("sent", ["", "{}", "[]", '["stdin"]', '["stdin", 1]', '["resize", 1]'])
async def test_what_is_no_message_of_the_page_ends_its_console_alone(desk: Desk, sent: str) -> None:
    socket = await desk.socket()
    await socket.send_str(sent)
    assert (await socket.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}
    await desk.until("120x40 --flag", "ended")
    assert await desk.status("/") == 200


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("width=120&height=40", "120x40"),
        ("width=1000000000&height=99999999999999999999", "2000x1000"),
        ("width=0&height=-5", "80x24"),
        ("width=abc&height=", "80x24"),
        ("", "80x24"),
    ],
)
async def test_a_page_of_any_size_gets_a_window_that_may_exist(
    desk: Desk, given: str, size: str
) -> None:
    await desk.page(f"{TOKEN}?{given}")
    await desk.until(f"{size} --flag")


@pytest.mark.parametrize(
    ("width", "height", "is_one"),
    [
        (120, 40, True), (1, 1, True), (WIDTH_MAX, HEIGHT_MAX, True), (0, 40, False),
        (-1, 40, False), (WIDTH_MAX + 1, 24, False), (80, HEIGHT_MAX + 1, False),
        (120, 0, False), (None, 40, False), ("9", 40, False), (9.5, 4, False),
    ],
)  # fmt: skip
def test_sizes_that_no_window_has_are_passed_over(
    width: object, height: object, *, is_one: bool
) -> None:
    assert is_size({"width": width, "height": height}) is is_one


def test_the_files_of_the_page_are_in_the_package() -> None:
    assert all((pages.PAGES / name).is_file() for name in pages.FILES.values())
