"""A port that leads to another: what passes, and what becomes of lines that break."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from kit.ports import until_closed
from service_tui.app.forward import forwarding
from service_tui.server.http.loopback import address_of, bind

WAIT_S = 60
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def leading(serve: Serve, connections: int | None = None) -> AsyncGenerator[socket.socket]:
    """A far side, and the socket of the port that leads there."""
    far = await asyncio.start_server(serve, "127.0.0.1", 0)
    where = address_of(far.sockets[0])
    with bind() as listener:
        async with until_closed(far), forwarding(listener, lambda: where, connections):
            yield listener


async def caller(listener: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])


async def heard(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the line ends, by whichever way."""
    said = b""
    with suppress(ConnectionError):
        async with asyncio.timeout(WAIT_S):
            while part := await reader.read(100):
                said += part
    return said


async def test_what_is_said_passes_both_ways_and_so_does_its_end() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    async with leading(echo) as listener:
        reader, writer = await caller(listener)
        writer.write(b"heron")
        writer.write_eof()
        assert await heard(reader) == b"HERON"
        writer.close()


async def test_a_far_side_that_breaks_off_ends_the_callers_line() -> None:
    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        # As a killed process leaves it: reset, with bytes unread.
        writer.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
        )
        writer.transport.abort()

    async with leading(drop) as listener:
        reader, writer = await caller(listener)
        writer.write(b"a whole request")
        # The caller goes on holding its own half open.
        assert await heard(reader) == b""
        writer.close()


async def test_a_caller_that_breaks_off_ends_the_far_line() -> None:
    ended = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await heard(reader)
        ended.set()
        writer.close()

    async with leading(wait) as listener:
        _, writer = await caller(listener)
        writer.write(b"hello")
        await writer.drain()
        writer.transport.abort()
        await asyncio.wait_for(ended.wait(), WAIT_S)


async def test_of_too_many_callers_the_last_is_not_led() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hi")
        await heard(reader)
        writer.close()

    async with leading(greet, 4) as listener:
        led = [await caller(listener) for _ in range(2)]
        for reader, _ in led:
            assert await reader.readexactly(2) == b"hi"
        reader, writer = await caller(listener)
        assert await heard(reader) == b""
        writer.close()
        led[0][1].write_eof()
        assert await heard(led[0][0]) == b""
        reader, again = await caller(listener)
        assert await reader.readexactly(2) == b"hi"
        for one in (again, led[0][1], led[1][1]):
            one.close()


@pytest.mark.parametrize("target", [None, "http://127.0.0.1:1"])
async def test_where_nobody_serves_the_caller_is_told_so(target: str | None) -> None:
    with bind() as listener:
        async with forwarding(listener, lambda: target):
            reader, writer = await caller(listener)
            answer = await heard(reader)
            writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert f"content-length: {len(body)}".encode() in head
    said = json.loads(body)
    assert (said["retryable"], "nothing was sent" in said["error"]) == (True, True)
