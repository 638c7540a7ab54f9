"""A port on loopback that forwards to the process that serves the data directory."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from service_tui.listening import stop_listening
from service_tui.server.http.connections import backlog, connections_max

CHUNK: Final = 65_536
CONNECT_S: Final = 5.0

_BODY: Final = (
    b'{"error":"no process serves this desk at the moment; nothing was sent",'
    b'"fix":"try again in a second","retryable":true}'
)
NOBODY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"retry-after: 1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)
"""Answer to a caller while nobody serves."""


@asynccontextmanager
async def forwarding(
    listener: socket.socket, find: Callable[[], str | None], connections: int | None = None
) -> AsyncGenerator[None]:
    """Forward every connection to the current address while the context lasts.

    Args:
        listener: stays open afterwards.
        find: the target's address; None refuses the connection.
        connections: most at one time; what the system allows by default.
    """
    # Each connection takes two descriptors.
    most = (connections_max() if connections is None else connections) // 2
    leading: set[asyncio.Task[None]] = set()
    async with asyncio.TaskGroup() as tasks:

        def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(leading) >= most:
                writer.close()
                return
            task = tasks.create_task(_forward((reader, writer), find))
            leading.add(task)
            task.add_done_callback(leading.discard)
            # Not by the task itself: one that is cancelled at once never begins.
            task.add_done_callback(lambda _: writer.close())

        server = await asyncio.start_server(accepted, sock=listener.dup(), backlog=backlog())
        try:
            yield
        finally:
            await stop_listening(server)
            for task in leading:
                task.cancel()


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _forward(near: Connection, find: Callable[[], str | None]) -> None:
    """Forward one connection to the current address until either side closes."""
    try:
        far = await _connected(find())
        if far is None:
            near[1].write(NOBODY)
            await near[1].drain()
        else:
            await _copy_both(near, far)
    except OSError:
        # No process there any more: the caller sees a closed connection.
        return


async def _connected(address: str | None) -> Connection | None:
    """A connection to the target; None where nobody answers, so that nothing was sent."""
    if address is None:
        return None
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(CONNECT_S):
            return await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return None


async def _copy_both(near: Connection, far: Connection) -> None:
    """Copy bytes in both directions until the far side has no more."""
    try:
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(_pump(near[0], far[1]))
            await _pump(far[0], near[1])
            sending.cancel()
    finally:
        far[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy bytes and their end; a broken connection closes the other one too."""
    try:
        while chunk := await source.read(CHUNK):
            sink.write(chunk)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
    except OSError:
        sink.transport.abort()
