"""The MCP server's way to its session: opened when it can be, and tried again until then.

Knows how a session is opened. Must not know git or the service.
Used by research. A client that starts the server where there is no repository, no git or no room
hears why in every tool's answer, instead of a line that is just cut off.
"""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.session import Session
from service_tui.autoresearch.tools import serve
from service_tui.console.doors import DeskClosedError

Open = Callable[[], AbstractAsyncContextManager[Session]]


class Door:
    """One session, for whoever asks."""

    def __init__(self, opened: Open) -> None:
        self._opened = opened
        self._session: Session | None = None
        self._asked: asyncio.Queue[asyncio.Future[Session]] = asyncio.Queue()

    async def session(self) -> Session:
        """The session; fails with ToolError while it cannot be opened."""
        if self._session is not None:
            return self._session
        answer: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        await self._asked.put(answer)
        return await answer

    async def keep(self) -> None:
        """Open what is asked for, and hold it open; for ever."""
        while True:
            answer = await self._asked.get()
            try:
                await self._hold(answer)
            except (ToolError, DeskClosedError) as error:
                if answer.done():
                    raise
                answer.set_exception(ToolError(str(error)))

    async def _hold(self, answer: asyncio.Future[Session]) -> None:
        async with self._opened() as session:
            self._session = session
            while True:
                if not answer.done():
                    answer.set_result(session)
                answer = await self._asked.get()


async def serve_at_door(opened: Open) -> None:
    """Answer a client on standard input and output until it goes away."""
    door = Door(opened)
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(door.keep())
        opening = tasks.create_task(_try(door))
        try:
            await serve(door.session)
        finally:
            opening.cancel()
            keeping.cancel()


async def _try(door: Door) -> None:
    """Open at once: what an earlier server left half done is finished now, not at the next call."""
    try:
        await door.session()
    except ToolError as error:
        with suppress(OSError):
            sys.stderr.write(f"service-tui: {error}\n")
            sys.stderr.flush()
