"""A port on loopback that leads to whoever serves the data directory.

Knows sockets. Must not know HTTP: what passes is not looked at.
Used by serve, when another process holds the directory.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

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

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            address = find()
            if address is not None:
                parts = urlsplit(address)
                async with asyncio.timeout(CONNECT_S):
                    far = await asyncio.open_connection(parts.hostname, parts.port)
                await _both_ways((reader, writer), far)
        except OSError:
            # Nobody there any more: the caller sees a closed line.
            return
        finally:
            writer.close()

    server = await asyncio.start_server(lead, sock=listener.dup())
    try:
        yield
    finally:
        server.close()


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _both_ways(near: Line, far: Line) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pump(near[0], far[1]))
            tasks.create_task(_pump(far[0], near[1]))
    finally:
        far[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes, and its end."""
    with suppress(OSError):
        while chunk := await source.read(CHUNK):
            sink.write(chunk)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
