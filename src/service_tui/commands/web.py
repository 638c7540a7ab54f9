"""The console in a browser of this machine: one page, one console.

textual-serve carries keys and cells between a page and a console in a process of its own. What is
ours is who may open a page: it needs the token, a host name of this machine, and no other page as
its origin.
"""

import asyncio
import contextlib
import hmac
import secrets
import shlex
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

# First: where its extra is missing, it is named, and not the one of aiohttp.
from textual_serve.server import Server  # isort: skip

from aiohttp import web

from service_tui.app.closed import explain_closed_desk
from service_tui.app.options import Options
from service_tui.app.output import OutputError, print_lines
from service_tui.app.signals import end_signalled
from service_tui.commands.serve import PortTakenError, serve
from service_tui.console.shell.terminal import HEIGHT_MAX, WIDTH_MAX
from service_tui.server.http.loopback import HOST, address_of, bind

PAGES: Final = Path(__file__).parent.parent / "data" / "web"
FILES: Final = {"/": "index.html", "/desk.js": "desk.js", "/desk.css": "desk.css"}

TOKEN_BYTES: Final = 32
PAGES_MAX: Final = 4
"""# ours: a console takes 130 MB; more than these pages are refused until one is closed."""

_DIGITS: Final = 9
"""Digits of a size that are read."""

STOP_S: Final = 5.0
"""How long consoles of open pages may take to end."""

NAMES: Final = (HOST, "localhost")

NO_WALLET: Final = (
    "WALLET_PRIVATE_KEY stays here: pages sign with a key of 'service-tui keys', unlocked in the "
    "page"
)
"""# ours: whoever has the address of the pages must not sign with a key that nobody unlocked."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; font-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""The page loads nothing from elsewhere and can be shown in no other page. xterm writes its own
styles, hence unsafe-inline there."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebDesk(Server):
    """The pages, and a console for each."""

    def __init__(self, command: Sequence[str], port: int, token: str) -> None:
        # exec: the shell that starts it is not wanted in between.
        whole = f"exec {shlex.join(command)}"
        super().__init__(whole, host=HOST, port=port, title="service-tui")  # pyright: ignore[reportUnknownMemberType] - PathLike without its type
        self._token = token
        self._hosts = frozenset(f"{name}:{port}" for name in NAMES)
        self._open_count = 0

    def app(self) -> web.Application:
        """The application, to be served on the loopback port."""
        app = web.Application(middlewares=[self._guard])
        app.add_routes([
            *(web.get(path, partial(_file, PAGES / name)) for path, name in FILES.items()),
            web.static("/static", self.statics_path),
            web.get("/alive/{token}", self._alive),
            web.get("/ws/{token}", self.handle_websocket),
        ])
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse foreign hosts, foreign pages, and consoles without the token."""
        hosts = request.headers.getall("Host", [])
        origins = request.headers.getall("Origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise web.HTTPForbidden(text=f"this console answers on http://{HOST} only\n")
        if origins not in ([], [f"http://{hosts[0]}"]):
            raise web.HTTPForbidden(text="requests from other pages are refused\n")
        token = request.match_info.get("token")
        if token is not None and not hmac.compare_digest(token.encode(), self._token.encode()):
            raise web.HTTPForbidden(text="the token is missing or wrong\n")
        if request.path.startswith("/ws/") and not origins:
            raise web.HTTPForbidden(text="only the console's own page may connect\n")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update({
                name: value.format(host=hosts[0]) for name, value in HEADERS.items()
            })
        return answer

    async def _alive(self, _: web.Request) -> web.Response:
        """204 while another page may be opened, 503 when too many are."""
        return web.Response(status=503 if self._open_count >= PAGES_MAX else 204)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a console as long as its page is open."""
        if self._open_count >= PAGES_MAX:
            raise web.HTTPServiceUnavailable(text="all console pages are in use\n")
        self._open_count += 1
        try:
            return await super().handle_websocket(_sized(request))
        finally:
            self._open_count -= 1


def _sized(request: web.Request) -> web.Request:
    """The request of a page with the size of a window that may exist."""
    # textual-serve takes any size; a console of a billion cells takes all memory.
    sizes = {
        name: str(_cells(request.query.get(name, ""), usual, most))
        for name, usual, most in (("width", 80, WIDTH_MAX), ("height", 24, HEIGHT_MAX))
    }
    return request.clone(rel_url=request.rel_url.update_query(sizes))


def _cells(text: str, usual: int, most: int) -> int:
    """A size of a window, at most `most`; the usual one for what is no size."""
    is_size = text.isascii() and text.isdecimal() and text.strip("0")
    # Python reads no number of thousands of digits.
    return min(most, int(text.lstrip("0")[:_DIGITS])) if is_size else usual


async def _file(path: Path, _: web.Request) -> web.FileResponse:
    return web.FileResponse(path)


@asynccontextmanager
async def pages(flags: Sequence[str], listener: socket.socket, token: str) -> AsyncGenerator[None]:
    """Serve the pages while the context lasts; prints their address.

    Args:
        flags: options of each console.
        listener: from `bind`; closed at the end.
        token: what the address must hold.
    """
    command = (sys.executable, "-m", "service_tui", *flags)
    desk = WebDesk(command, listener.getsockname()[1], token)
    runner = web.AppRunner(desk.app(), access_log=None, shutdown_timeout=STOP_S)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        with contextlib.suppress(OutputError):
            print_lines(
                f"console in a browser: {address_of(listener)}/#{token}",
                "  whoever has this address uses this desk; ctrl+c ends it",
            )
        yield
    finally:
        await runner.cleanup()


def open_web(options: Options, flags: Sequence[str], port: int) -> None:
    """Serve the console to browsers of this machine until a signal ends it.

    The embedded service runs here, so that a closed page ends no agent; of another service each
    page is a console of its own.

    Args:
        options: of the start.
        flags: the same, for the consoles.
        port: 0 takes any free one.

    Raises:
        PortTakenError: another program uses the port.
        DeskClosedError: the data directory cannot be used; gives the reason and the fix.
    """
    if options.wallet_key:
        print_lines(NO_WALLET)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        listener = bind(port)
    except (OSError, OverflowError) as error:
        raise PortTakenError(f"cannot use port {port}; give another --port") from error
    with listener:
        if options.url is None:
            serve(options, lambda: pages(flags, listener, token))
        else:
            with explain_closed_desk():
                asyncio.run(_until_signalled(partial(pages, flags, listener, token)))


async def _until_signalled(
    beside: Callable[[], contextlib.AbstractAsyncContextManager[None]],
) -> None:
    ending = end_signalled()
    async with beside():
        await ending.wait()
