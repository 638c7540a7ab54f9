"""The MCP server's way to its session: opened when it can be, and tried again until then.

A client that starts the server where there is no repository, no git or no room hears why in every
tool's answer, instead of a line that is just cut off. What is heavy is imported while the client
has its first answer already.
"""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.protocol import Answer, Given, serve
from service_tui.clock import SystemClock
from service_tui.loading import imported
from service_tui.wiring.options import Options
from service_tui.wiring.research_words import Wish

if TYPE_CHECKING:
    from service_tui.autoresearch.session import Session
    from service_tui.autoresearch.tools import Tool

FINISH_S: Final = 1.0
"""How long a result that is being kept may take after its client has gone."""

ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILLED: Final = 128
"""Added to a signal's number it is the exit status. Source: sh(1)."""

Open = Callable[[], "AbstractAsyncContextManager[Session]"]
Outcome = Answer | Exception
"""What came of something: an answer, or why there is none."""


class ResearchDoor:
    """One session, for whoever asks, one at a time."""

    def __init__(self, opened: Open, tasks: asyncio.TaskGroup) -> None:
        self._opened = opened
        self._tasks = tasks
        self._importing = asyncio.Lock()
        self._session: Session | None = None
        self._asked: asyncio.Queue[asyncio.Future[Session]] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._doing: dict[asyncio.Task[Outcome], bool] = {}

    async def session(self) -> "Session":
        """The session; fails with ToolError while it cannot be opened."""
        if self._session is not None:
            return self._session
        answer: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        await self._asked.put(answer)
        return await answer

    async def tools(self) -> "Sequence[Tool]":
        """The four, imported when somebody asks."""
        async with self._importing:
            await imported("service_tui.autoresearch.tools")
        from service_tui.autoresearch.tools import TOOLS  # noqa: PLC0415

        return TOOLS

    async def do(self, name: str, given: Given) -> Answer:
        """What a tool says; fails with ToolError."""
        tools = {one.name: one for one in await self.tools()}
        tool = tools.get(name)
        if tool is None:
            known = ", ".join(tools)
            raise ToolError(f"there is no tool {name}", f"the tools are {known}")
        call = tool.call
        return await self.have_done(lambda session: call(session, given), may_stop=tool.may_stop)

    async def have_done(
        self, work: "Callable[[Session], Awaitable[Answer]]", *, may_stop: bool
    ) -> Answer:
        """Have something done in its turn.

        A caller that is cancelled ends what `may_stop`. The rest goes on to its end: half of a
        result would be in the file, and not in the tree.

        Returns:
            What it says; fails with what it fails with.
        """
        doing = self._tasks.create_task(self._outcome(work))
        self._doing[doing] = may_stop
        doing.add_done_callback(self._doing.pop)
        try:
            outcome = await asyncio.shield(doing)
        except asyncio.CancelledError:
            if may_stop:
                doing.cancel()
            raise
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _outcome(self, work: "Callable[[Session], Awaitable[Answer]]") -> Outcome:
        try:
            async with self._turn:
                return await work(await self.session())
        except Exception as error:  # noqa: BLE001  (it is the caller's, and no end of the others)
            return error

    async def finish(self) -> None:
        """End what may stop, and let a result come to its end, for a moment.

        What is given up then is taken up by the next server.
        """
        for doing, may_stop in list(self._doing.items()):
            if may_stop:
                doing.cancel()
        if self._doing:
            await asyncio.wait(list(self._doing), timeout=FINISH_S)
        for doing in list(self._doing):
            doing.cancel()

    async def keep(self) -> None:
        """Open what is asked for, and hold it open; for ever."""
        while True:
            answer = await self._asked.get()
            try:
                await self._hold(answer)
            except ToolError as error:
                if self._session is not None:
                    raise
                # Whoever asked may have gone meanwhile: the next one is to find the door.
                if not answer.done():
                    answer.set_exception(error)

    async def _hold(self, answer: "asyncio.Future[Session]") -> None:
        async with self._opened() as session:
            self._session = session
            while True:
                if not answer.done():
                    answer.set_result(session)
                answer = await self._asked.get()


def serve_client(options: Options, wish: Wish) -> int:
    """Answer a client on standard input and output until it goes away, or a signal comes.

    Returns:
        The exit status.
    """
    # Nothing is garbage while everything is imported.
    gc.disable()
    return asyncio.run(_serve(options, wish))


async def _serve(options: Options, wish: Wish) -> int:
    async with asyncio.TaskGroup() as tasks:
        door = ResearchDoor(partial(_opened, options, wish), tasks)
        keeping = tasks.create_task(door.keep())
        opening = tasks.create_task(_try(door))
        leave = partial(_leave, door, keeping, tasks)
        for number in ENDS:
            asyncio.get_running_loop().add_signal_handler(number, leave, number)
        try:
            await serve(door)
        finally:
            await door.finish()
            opening.cancel()
            keeping.cancel()
    return 0


@asynccontextmanager
async def _opened(options: Options, wish: Wish) -> "AsyncGenerator[Session]":
    """A session, with everything that it needs imported in a thread: the client is answered."""
    await imported("service_tui.wiring.research_opening")
    from service_tui.wiring.research_opening import opened  # noqa: PLC0415

    async with opened(options, wish, SystemClock()) as session:
        gc.freeze()
        gc.enable()
        yield session


async def _try(door: ResearchDoor) -> None:
    """Open at once: what an earlier server left half done is finished now, not at the next call."""
    try:
        await door.tools()
        await door.session()
    except ToolError as error:
        gc.enable()
        with suppress(OSError):
            sys.stderr.write(f"service-tui: {error}\n")
            sys.stderr.flush()


def _leave(
    door: ResearchDoor, keeping: asyncio.Task[None], tasks: asyncio.TaskGroup, number: int
) -> None:
    """End in order and then at once: the thread that reads the client would wait for its next word.

    The second signal ends it as it is.
    """
    asyncio.get_running_loop().add_signal_handler(number, os._exit, KILLED + number)

    async def end() -> None:
        await door.finish()
        keeping.cancel()
        await asyncio.wait((keeping,))
        os._exit(KILLED + number)

    tasks.create_task(end())
