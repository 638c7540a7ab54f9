"""The MCP server's session: opened when possible, retried until then.

Without a repository, git or disk space a client gets the reason in every tool's answer, instead of
a closed connection. Heavy modules are imported after the client has
its first answer.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from service_tui.app.collecting import collect_from_now
from service_tui.app.options import Options
from service_tui.app.output import print_error
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.protocol import Answer, Given, serve
from service_tui.clock import SystemClock
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.loading import imported

if TYPE_CHECKING:
    from service_tui.autoresearch.session import Session
    from service_tui.autoresearch.tools import Tool

FINISH_S: Final = 1.0
"""How long a result that is being stored may take after its client has gone."""

ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILLED: Final = 128
"""Added to a signal's number it is the exit status. Source: sh(1)."""

Open = Callable[[], "AbstractAsyncContextManager[Session]"]
Outcome = Answer | Exception
"""The answer, or the error in its place."""


class SharedSession:
    """One session for all callers, one call at a time."""

    def __init__(self, opened: Open, tasks: asyncio.TaskGroup) -> None:
        self._opened = opened
        self._tasks = tasks
        self._importing = asyncio.Lock()
        self._session: Session | None = None
        self._requests: asyncio.Queue[asyncio.Future[Session]] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._running: dict[asyncio.Task[Outcome], bool] = {}

    async def session(self) -> "Session":
        """The session; raises ToolError while it cannot be opened."""
        if self._session is not None:
            return self._session
        answer: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        await self._requests.put(answer)
        return await answer

    async def tools(self) -> "Sequence[Tool]":
        """The four tools, imported at the first call."""
        async with self._importing:
            await imported("service_tui.autoresearch.tools")
        from service_tui.autoresearch.tools import TOOLS  # noqa: PLC0415

        return TOOLS

    async def do(self, name: str, given: Given) -> Answer:
        """Call a tool; raises ToolError."""
        tools = {tool.name: tool for tool in await self.tools()}
        tool = tools.get(name)
        if tool is None:
            names = ", ".join(tools)
            raise ToolError(f"no tool {name}", f"the tools are {names}")
        call = tool.call
        return await self.run_in_turn(lambda session: call(session, given), may_stop=tool.may_stop)

    async def run_in_turn(
        self, work: "Callable[[Session], Awaitable[Answer]]", *, may_stop: bool
    ) -> Answer:
        """Run work on the session in its turn.

        A cancelled caller ends work that `may_stop`. Other work runs to its end: half of a result
        would be in the file, and not in the tree.

        Returns:
            The work's answer; raises its error.
        """
        task = self._tasks.create_task(self._outcome(work))
        self._running[task] = may_stop
        task.add_done_callback(self._running.pop)
        try:
            outcome = await asyncio.shield(task)
        except asyncio.CancelledError:
            if may_stop:
                task.cancel()
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
        """Cancel work that may stop, and let results be stored, for a moment.

        Work that is cut off then is continued by the next server.
        """
        for task, may_stop in list(self._running.items()):
            if may_stop:
                task.cancel()
        if self._running:
            await asyncio.wait(list(self._running), timeout=FINISH_S)
        for task in list(self._running):
            task.cancel()

    async def keep(self) -> None:
        """Open the session on request and keep it open, for ever."""
        while True:
            answer = await self._requests.get()
            try:
                await self._serve_session(answer)
            except ToolError as error:
                if self._session is not None:
                    raise
                # The caller may have gone: the next one gets the session.
                if not answer.done():
                    answer.set_exception(error)

    async def _serve_session(self, answer: "asyncio.Future[Session]") -> None:
        async with self._opened() as session:
            self._session = session
            while True:
                if not answer.done():
                    answer.set_result(session)
                answer = await self._requests.get()


def serve_client(options: Options, request: ResearchRequest) -> int:
    """Answer a client on standard input and output until it goes away, or a signal comes.

    Returns:
        The exit status.
    """
    return asyncio.run(_serve(options, request))


async def _serve(options: Options, request: ResearchRequest) -> int:
    async with asyncio.TaskGroup() as tasks:
        shared = SharedSession(partial(_opened, options, request), tasks)
        keeping = tasks.create_task(shared.keep())
        opening = tasks.create_task(_try(shared))
        leave = partial(_leave, shared, keeping, tasks)
        for number in ENDS:
            asyncio.get_running_loop().add_signal_handler(number, leave, number)
        try:
            await serve(shared)
        finally:
            await shared.finish()
            opening.cancel()
            keeping.cancel()
    return 0


@asynccontextmanager
async def _opened(options: Options, request: ResearchRequest) -> "AsyncGenerator[Session]":
    """A session; its modules are imported in a thread, so that the client is answered."""
    await imported("service_tui.commands.research_opening")
    from service_tui.commands.research_opening import opened  # noqa: PLC0415

    async with opened(options, request, SystemClock()) as session:
        collect_from_now()
        yield session


async def _try(shared: SharedSession) -> None:
    """Open at once: work that an earlier server left half done is finished now."""
    try:
        await shared.tools()
        await shared.session()
    except ToolError as error:
        collect_from_now()
        print_error(f"service-tui: {error}\n")


def _leave(
    shared: SharedSession, keeping: asyncio.Task[None], tasks: asyncio.TaskGroup, number: int
) -> None:
    """End in order, then at once: the thread that reads from the client would wait for more input.

    The second signal ends the process as it is.
    """
    asyncio.get_running_loop().add_signal_handler(number, os._exit, KILLED + number)

    async def end() -> None:
        await shared.finish()
        keeping.cancel()
        await asyncio.wait((keeping,))
        os._exit(KILLED + number)

    tasks.create_task(end())
