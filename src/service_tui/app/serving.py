"""The embedded service on loopback, beside the desk that owns the data directory."""

import asyncio
import importlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from service_tui.app.data import Data
from service_tui.desk.facts import Fact, Noticed, Served
from service_tui.server.embedded import Sim
from service_tui.server.http.loopback import address_of, bind, listen

log = logging.getLogger(__name__)


@asynccontextmanager
async def serving(
    sim: Sim,
    data: Data,
    port: int,
    emit: Callable[[Fact], None],
    *,
    after: Callable[[], Awaitable[None]],
) -> AsyncGenerator[None]:
    """Serve in the background while the context lasts; the desk does not wait for it.

    Args:
        sim: the service.
        data: publishes the address.
        port: 0 takes any free one; a taken port is reported and replaced by a free one.
        emit: receives the address.
        after: what is waited for first: to load the server would hold up the first live frame.
    """
    begun, ending = asyncio.Event(), asyncio.Event()

    async def serve() -> None:
        await after()
        begun.set()
        await _serve(sim, data, port, emit=emit, ending=ending)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(serve())
        try:
            yield
        finally:
            ending.set()
            if not begun.is_set():
                task.cancel()


async def _serve(
    sim: Sim, data: Data, port: int, *, emit: Callable[[Fact], None], ending: asyncio.Event
) -> None:
    # In a thread: the console keeps responding.
    await asyncio.to_thread(importlib.import_module, "uvicorn")
    async with AsyncExitStack() as stack:
        try:
            listener = bind(port)
        except OSError as error:
            if port == 0:
                message = f"agents cannot reach this desk: {error.strerror}"
                log.warning("%s", message)
                emit(Noticed("bad", message))
                return
            emit(Noticed("bad", f"port {port} is in use: agents connect at another one"))
            listener = bind()
        # Whoever calls as soon as the port answers is given links to it.
        sim.service.address = address_of(listener)
        address = await stack.enter_async_context(listen(sim.app, listener=listener, by_turns=True))
        log.info("serving %s", address)
        data.publish(address)
        emit(Served(address))
        try:
            await ending.wait()
        finally:
            data.publish(None)
