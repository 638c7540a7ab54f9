"""The console in headless Chromium: opens, trades, reloads, loses its connection, is refused.

    .venv/bin/python tests/bench/browser.py [folder for pictures]

Needs Debian's packages chromium and chromium-driver. The page reaches the console through a relay
on 127.0.0.2, which can drop every connection; the browser is told that this is localhost.
"""

import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import httpx

BROWSER = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--window-size=1280,800", "--host-resolver-rules=MAP localhost 127.0.0.2"),
)
LOST_S = 10
ENTER = "\ue007"
PORT = 8471
DRIVER = "http://127.0.0.1:8472"


class Relay:
    """A connection that can be lost."""

    def __init__(self) -> None:
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.2", PORT)

    async def lose(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_connection("127.0.0.1", PORT)
        self._writers += [writer, there]
        with suppress(OSError, asyncio.CancelledError):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_copy(reader, there))
                tasks.create_task(_copy(there_reader, writer))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()


class Page:
    """A page of a headless browser, by the WebDriver protocol (w3.org/TR/webdriver2)."""

    def __init__(self, http: httpx.AsyncClient, session: str, pictures: Path | None) -> None:
        self._http = http
        self._session = session
        self._pictures = pictures

    async def call(self, path: str, **body: object) -> object:
        answer = await self._http.post(f"{DRIVER}/session/{self._session}/{path}", json=body)
        value = answer.json()["value"]
        if answer.is_error:
            raise RuntimeError(f"{path}: {value['message'][:200]}")
        return value

    async def keys(self, *keys: str) -> None:
        for key in keys:
            strokes = [
                {"type": way, "value": letter} for letter in key for way in ("keyDown", "keyUp")
            ]
            await self.call("actions", actions=[{"type": "key", "id": "k", "actions": strokes}])
            await asyncio.sleep(0.8)

    async def notice(self) -> str:
        script = "const n=document.getElementById('notice');return n.hidden?'':n.innerText"
        return str(await self.call("execute/sync", script=script, args=[]))

    async def shown(self) -> None:
        """Wait for the console's first cells, and for its desk."""
        script = "return document.body.classList.contains('-first-byte')"
        await self.until(lambda: self.call("execute/sync", script=script, args=[]))
        await asyncio.sleep(4)

    async def said(self, words: str) -> None:
        async def says() -> bool:
            return words in await self.notice()

        await self.until(says)

    async def until(self, holds: Callable[[], Awaitable[object]]) -> None:
        for _ in range(150):
            if await holds():
                return
            await asyncio.sleep(0.2)
        raise TimeoutError

    async def picture(self, name: str) -> None:
        if self._pictures is not None:
            answer = await self._http.get(f"{DRIVER}/session/{self._session}/screenshot")
            self._pictures.mkdir(parents=True, exist_ok=True)
            data = base64.b64decode(answer.json()["value"])
            (self._pictures / f"{name}.png").write_bytes(data)


def positions(home: Path) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "service_tui", "positions", "--json"]
    done = subprocess.run(command, env=_environment(home), capture_output=True, check=True)
    return json.loads(done.stdout)


def _environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def check(what: str, *, holds: bool) -> None:
    print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
    if not holds:
        raise SystemExit(1)


async def walk(page: Page, relay: Relay, home: Path, token: str) -> None:
    address = f"http://localhost:{PORT}/"
    await page.call("url", url=address)
    check("without the token: refused", holds="the whole address" in await page.notice())
    await page.call("url", url=f"{address}#{'x' * 43}")
    await page.call("refresh")
    await page.said("no longer valid")
    check("with a wrong token: refused", holds=True)
    await page.call("url", url=f"http://127.0.0.2:{PORT}/#{token}")
    body = await page.call("execute/sync", script="return document.body.innerText", args=[])
    check("under another host: refused", holds="answers on" in str(body))
    await page.call("url", url="data:text/html,<p>other</p>")
    script = (
        f"const done=arguments[0];const s=new WebSocket('ws://localhost:{PORT}/ws/{token}');"
        "s.onopen=()=>done('open');s.onerror=()=>done('refused')"
    )
    said = await page.call("execute/async", script=script, args=[])
    check("from another page: refused", holds=said == "refused")
    await page.call("url", url=f"{address}#{token}")
    await page.call("refresh")
    await page.shown()
    await page.picture("1-opened")
    await page.keys(ENTER, "2", "j", "b", "20")
    await asyncio.sleep(2)
    await page.picture("2-ticket")
    await page.keys(ENTER)
    await asyncio.sleep(2)
    await page.keys(ENTER)
    await asyncio.sleep(2)
    bought = positions(home)
    check(f"a trade by keys: {len(bought)} position", holds=len(bought) == 1)
    await page.call("refresh")
    await page.shown()
    await page.keys("1")
    await page.picture("3-reloaded")
    check("after a reload: open", holds=not await page.notice())
    await relay.lose()
    await page.said("Connection lost")
    await page.picture("4-lost")
    await asyncio.sleep(LOST_S)
    check("the connection lost: said so", holds="Connection lost" in await page.notice())
    await relay.open()
    await page.shown()
    await page.picture("5-back")
    check(f"after {LOST_S} s: back by itself", holds=not await page.notice())
    check("the position is the same", holds=positions(home)[0]["shares"] == bought[0]["shares"])
    await page.keys("q")
    await page.said("The console has ended")
    check("q: ended, and says so", holds=True)
    await page.keys(ENTER)
    await page.shown()
    check("enter opens it again", holds=not await page.notice())


async def main() -> None:
    pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        web = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service_tui", "web", "--port", str(PORT)),
            env=_environment(home),
            stdout=subprocess.PIPE,
        )
        driver = await asyncio.create_subprocess_exec(
            "chromedriver", f"--port={DRIVER.rpartition(':')[2]}", stdout=subprocess.DEVNULL
        )
        relay = Relay()
        try:
            assert web.stdout is not None
            found = re.search(rb"#([\w-]+)", await web.stdout.readline())
            assert found is not None
            await relay.open()
            await asyncio.sleep(2)
            async with httpx.AsyncClient(timeout=60) as http:
                wanted = {
                    "browserName": "chrome",
                    "goog:chromeOptions": {"args": [*BROWSER, f"--user-data-dir={home}/browser"]},
                }
                made = await http.post(
                    f"{DRIVER}/session", json={"capabilities": {"alwaysMatch": wanted}}
                )
                session = made.json()["value"]["sessionId"]
                await walk(Page(http, session, pictures), relay, home, found[1].decode())
                await http.delete(f"{DRIVER}/session/{session}")
        finally:
            driver.terminate()
            web.terminate()
            await web.wait()
            await driver.wait()
        check("ctrl+c ends all consoles", holds=web.returncode == 0)


if __name__ == "__main__":
    asyncio.run(main())
