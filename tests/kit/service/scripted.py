"""A service on loopback that says exactly the bytes that a test wants, and counts what it hears."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from service_tui.clock import ManualClock
from service_tui.listening import stop_listening

Step = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Scripted:
    url: str
    requests: list[bytes] = field(default_factory=list)

    @property
    def heads(self) -> list[str]:
        return [request.partition(b"\r\n\r\n")[0].decode() for request in self.requests]


class HastyClock(ManualClock):
    """Time that jumps over every sleep, and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)
        self._now += delay_s
        await asyncio.sleep(0)


def said(body: object, status: int = 200, **headers: str) -> bytes:
    """A whole answer: bytes and texts as they are, everything else as JSON."""
    if isinstance(body, str):
        body = body.encode()
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}", "connection: close"]
    named = {"content_type": "application/json", **headers}
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


@asynccontextmanager
async def scripted(*steps: Step) -> AsyncIterator[Scripted]:
    """Answers the first request with the first step and so on; the last step stays."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.splitlines()
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            body = await reader.readexactly(length)
            step = steps[min(len(service.requests), len(steps) - 1)]
            service.requests.append(head + body)
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                await step(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    service = Scripted(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield service
    finally:
        await stop_listening(server)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await server.wait_closed()
