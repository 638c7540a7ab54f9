"""The same app on a port: of 127.0.0.1 for agents of this machine, or of a network."""

import asyncio
import os
import socket
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from service_tui.server.events.stream import streams_of
from service_tui.server.http.entrance import LOCAL, Entrance


class Turns:
    """The app, taking callers in by turns, in the order of their coming."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_taken = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, when it is this caller's turn."""
        await self._turn()
        await self._app(scope, receive, send)

    async def _turn(self) -> None:
        loop = asyncio.get_running_loop()
        if self._is_taken:
            turn = loop.create_future()
            self._waiting.append(turn)
            await turn
            return
        self._is_taken = True
        loop.call_soon(self._next)

    def _next(self) -> None:
        """Let the next one in; callers who went away meanwhile are passed over."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                asyncio.get_running_loop().call_soon(self._next)
                return
        self._is_taken = False


HOST: Final = "127.0.0.1"
START_S: Final = 10.0
STUCK_S: Final = 1
"""How long a caller who reads nothing may hold back the end."""


def bind(port: int = 0, host: str = HOST) -> socket.socket:
    """A socket that listens on loopback, or on another address of this machine.

    Args:
        port: 0 takes any free one.
        host: an address of IPv4 or IPv6; `::` takes both kinds.

    Returns:
        The socket, to be closed by the caller.

    Raises:
        OSError: the port is taken, or not ours to take.
    """
    listener = socket.create_server(
        (host, port),
        family=socket.AF_INET6 if ":" in host else socket.AF_INET,
        dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
    )
    # Connections inherit it. asyncio does not see that this is TCP: each answer would wait 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class PortTakenError(Exception):
    """The port is taken or not allowed; one plain sentence."""


def bind_named(port: int, flag: str, host: str = HOST) -> socket.socket:
    """A socket as of `bind`, on a port that a person gave by a flag.

    Raises:
        PortTakenError: another program uses the port, or it is not ours to take.
    """
    try:
        return bind(port, host)
    except (OSError, OverflowError) as error:
        # Not Python's own message: it quotes the whole call.
        why = os.strerror(error.errno or 0) if isinstance(error, OSError) else "no such port"
        raise PortTakenError(f"cannot use port {port} ({why}); give another {flag}") from error


def bind_wanted(port: int) -> socket.socket:
    """A socket as of `bind`, on any free port where the requested one is taken."""
    try:
        return bind(port)
    except OSError:
        return bind()


def address_of(listener: socket.socket) -> str:
    """The base address under which a listening socket is reached."""
    return f"http://{HOST}:{listener.getsockname()[1]}"


@asynccontextmanager
async def listen(
    app: Starlette,
    port: int = 0,
    *,
    listener: socket.socket | None = None,
    by_turns: bool = False,
    around: Callable[[ASGIApp], ASGIApp] | None = None,
    entrance: Entrance = LOCAL,
) -> AsyncGenerator[str]:
    """Serve the app on loopback, or by another entrance, while the context lasts.

    The app's lifespan is already running: uvicorn does not start it again.

    Args:
        app: the app of a running embedded service.
        port: 0 takes any free one.
        listener: a socket from `bind`, instead of a port; it is closed at the end.
        by_turns: somebody else lives on the same loop, and must not be kept waiting by callers.
        around: what stands between the port and the app.
        entrance: what the service has to know of the port.

    Yields:
        The base address, when it answers.

    Raises:
        OSError: the port is taken.
    """
    # After the first paint only: it costs a tenth of a second.
    import uvicorn  # noqa: PLC0415

    from service_tui.server.http.connections import (  # noqa: PLC0415
        BoundedConnection,
        PortServer,
        backlog,
        encrypted_connections,
    )
    from service_tui.server.http.loopback import Turns  # noqa: PLC0415

    listener = listener or bind(port)
    # Outermost: what stands around the app may answer in its place.
    served = entrance.around(app if around is None else around(app))
    config = uvicorn.Config(
        Turns(served) if by_turns else served,
        lifespan="off",
        http=BoundedConnection,
        backlog=backlog(),
        # There are no WebSockets here: an upgrade is ignored, and no library for it is loaded.
        ws="none",
        log_config=None,
        # Else each line of nonsense on the wire would be one in the log.
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STUCK_S,
        # There is no proxy: a header must not change the address of the caller.
        proxy_headers=False,
    )
    config.load()
    if entrance.tls is not None:
        # Not by uvicorn's own options: they would let in more ciphers than Python's defaults, and
        # lines without number that never begin to encrypt.
        setattr(config, "http_protocol_class", encrypted_connections(entrance.tls))  # noqa: B010
    server = PortServer(config)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.serve(sockets=[listener]))
        async with asyncio.timeout(START_S):
            while not server.started:  # noqa: ASYNC110  (it has no event to wait for)
                await asyncio.sleep(0.01)
        try:
            yield entrance.address or address_of(listener)
        finally:
            streams_of(app).end()
            server.end()
            await running
            listener.close()
