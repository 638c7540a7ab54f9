"""A program that mirrors one signal and is killed on the way: `reactor_crash.py directory where`.

It says its agent's key first, so that whoever comes after it finds the same agent.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx

from kit.clock import patch_program
from kit.desk.faults import until
from kit.desk.reactor import following, has, is_deletion, is_report, is_trade, settle
from service_tui.desk.slices.reactor import Policy, SignalState

PLACES = {"trade": is_trade, "report": is_report, "deletion": is_deletion}


async def main(directory: Path, where: str, *, after: bool) -> None:
    async with following(directory, policy=Policy.AUTO) as (desk, stage, line):
        sys.stdout.write(f"{stage.key} {stage.agent_id}\n")
        sys.stdout.flush()
        inner, is_there = line.inner, PLACES[where]

        class Dying(httpx.AsyncBaseTransport):
            """Before or after the service has done its part, everything ends."""

            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if not is_there(request):
                    return await inner.handle_async_request(request)
                if after:
                    await inner.handle_async_request(request)
                os.kill(os.getpid(), signal.SIGKILL)
                raise AssertionError("killed")

        line.inner = Dying()
        await settle(stage)
        await until(desk, has(SignalState.MIRRORED), stage)
        await until(desk, lambda _: False, stage)


if __name__ == "__main__":
    patch_program()
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], after=sys.argv[3] == "after"))
