"""What a cancelled request leaves behind of the connections that the other end has closed."""

import asyncio
from contextlib import suppress

import httpx
import pytest

from service_tui.app.closing_transport import ClosingTransport

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Other:
    """A service of this machine that answers everything, and hangs up when it is told to."""

    def __init__(self) -> None:
        self.lines: list[asyncio.StreamWriter] = []
        self.gathered = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines.append(writer)
        if len(self.lines) == 3:
            self.gathered.set()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                # No line is used twice before there are three.
                await self.gathered.wait()
                writer.write(ANSWER)
        writer.close()


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_lines_that_the_other_end_closed_are_closed_by_a_cancelled_request(
    turns: int,
) -> None:
    other = Other()
    async with await asyncio.start_server(other.serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = ClosingTransport(retries=0)
        async with httpx.AsyncClient(transport=transport) as client, asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(client.get(url)) for _ in range(3)]
            await asyncio.wait(asked)
            lines = transport._pool.connections
            assert len(lines) == 3
            for one in other.lines:
                one.transport.abort()
            for one in other.lines:
                await one.wait_closed()
            assert all(one.has_expired() for one in lines)

            later = tasks.create_task(client.get(url))
            for _ in range(turns):
                await asyncio.sleep(0)
            assert not any(one in transport._pool.connections for one in lines)
            later.cancel()
            await asyncio.wait([later])

            assert all(one.is_closed() for one in lines)
