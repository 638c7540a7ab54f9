"""A port on loopback that leads to whoever serves the data directory."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from service_tui.server.http.lines import backlog, lines_max

CHUNK: Final = 65_536
CONNECT_S: Final = 5.0


@asynccontextmanager
async def forwarding(
    listener: socket.socket, find: Callable[[], str | None]
) -> AsyncGenerator[None]:
    """Lead every connection to the address of that moment, while the context lasts.

    Args:
        listener: stays open afterwards.
        find: where to; None refuses the connection.
    """
    # Each takes two descriptors.
    most = lines_max() // 2
    leading: set[asyncio.Task[None]] = set()
    async with asyncio.TaskGroup() as tasks:

        def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(leading) >= most:
                writer.close()
                return
            task = tasks.create_task(_lead((reader, writer), find))
            leading.add(task)
            task.add_done_callback(leading.discard)

        server = await asyncio.start_server(taken, sock=listener.dup(), backlog=backlog())
        try:
            yield
        finally:
            server.close()
            for task in leading:
                task.cancel()


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _lead(near: Line, find: Callable[[], str | None]) -> None:
    """Lead one caller to the address of this moment, until either side is gone."""
    try:
        address = find()
        if address is not None:
            parts = urlsplit(address)
            async with asyncio.timeout(CONNECT_S):
                far = await asyncio.open_connection(parts.hostname, parts.port)
            await _both_ways(near, far)
    except OSError:
        # Nobody there any more: the caller sees a closed line.
        return
    finally:
        near[1].close()


async def _both_ways(near: Line, far: Line) -> None:
    """Pass on what both say, until the far side has nothing more to say."""
    try:
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(_pump(near[0], far[1]))
            await _pump(far[0], near[1])
            sending.cancel()
    finally:
        far[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes, and its end; a line that broke breaks the other one too."""
    try:
        while chunk := await source.read(CHUNK):
            sink.write(chunk)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
    except OSError:
        sink.transport.abort()
