"""The same app on 127.0.0.1, for agents of this machine.

Knows uvicorn, imported when needed. Must not know routes.
Used by serve and by the contract tests.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from fastapi import FastAPI

from service_tui.server.stream import streams_of

HOST: Final = "127.0.0.1"
START_S: Final = 10.0
STUCK_S: Final = 2
"""How long a caller who reads nothing may hold back the end."""


@asynccontextmanager
async def listen(app: FastAPI, port: int = 0) -> AsyncGenerator[str]:
    """Serve the app on loopback while the context lasts.

    The app's lifespan is already running: uvicorn is told to leave it alone.

    Args:
        app: the app of a running embedded service.
        port: 0 takes any free one.

    Yields:
        The base address, when it answers.

    Raises:
        OSError: the port is taken.
    """
    import uvicorn  # noqa: PLC0415  (after the first paint only: it costs a tenth of a second)

    listener = socket.create_server((HOST, port))
    # Connections inherit it. asyncio does not see that this is TCP: each answer would wait 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STUCK_S,
        # Nobody stands in between: a header must not say where a call comes from.
        proxy_headers=False,
    )

    class Server(uvicorn.Server):
        """A server that leaves the signals of the process to whoever owns the terminal."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    server = Server(config)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.serve(sockets=[listener]))
        async with asyncio.timeout(START_S):
            while not server.started:  # noqa: ASYNC110  (it has no event to wait for)
                await asyncio.sleep(0.01)
        try:
            yield address
        finally:
            streams_of(app).end()
            server.should_exit = True
            await running
            listener.close()
