"""A whole service on a thread of its own, for tests that wait for its answers over loopback."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from kit.service.stage import Stage, WebhookParts, open_stage
from service_tui.server.http.loopback import listen
from service_tui.terms import Plan

Result = TypeVar("Result")


class Threaded:
    """The service from `open` to `close`; `run` does something on its loop."""

    stage: Stage
    url: str

    def open(
        self, path: Path, plan: Plan = Plan.ELITE, webhooks: WebhookParts | None = None
    ) -> None:
        self._ready: Future[tuple[Stage, str]] = Future()
        self._end = asyncio.Event()
        self._thread = threading.Thread(
            target=asyncio.run, args=(self._main(path, plan, webhooks),)
        )
        self._thread.start()
        self.stage, self.url = self._ready.result(60)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def run(self, wanted: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(wanted, self.loop).result(120)

    async def _main(self, path: Path, plan: Plan, webhooks: WebhookParts | None) -> None:
        self.loop = asyncio.get_running_loop()
        try:
            async with (
                open_stage(path, plan=plan, webhooks=webhooks) as stage,
                listen(stage.sim.app) as url,
            ):
                self._ready.set_result((stage, url))
                await self._end.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise
