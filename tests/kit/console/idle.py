"""When a console has dealt with everything, whoever else is using the machine.

Textual's own `wait_for_idle` takes a process for idle that has used little CPU in the last fiftieth
of a second: so is one that the machine has let wait.
"""

import asyncio
import sys
from time import process_time
from typing import Any, Final

from kit.console import painting

GRAIN_S: Final = 0.02
"""What Textual lets pass at least: its timers of a frame are shorter."""

TURNS: Final = 3
"""Turns of the loop in a row in which nobody but the waiting one has anything to do."""

CPU_MAX_S: Final = 1.0
"""Of our own CPU: something that never rests is waited for no longer."""


async def let_all_run(max_s: float = CPU_MAX_S) -> None:
    """Let every task run until none is left that could."""
    ready = asyncio.get_running_loop()._ready
    began = process_time()
    quiet = 0
    while quiet < TURNS and process_time() - began < max_s:
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1


async def wait_for_idle(min_sleep: float = GRAIN_S, max_sleep: float = CPU_MAX_S) -> None:
    """Wait until nothing is left to be done but at a later time, or by somebody else."""
    del min_sleep
    await asyncio.sleep(GRAIN_S)
    await let_all_run(max_sleep)


async def wait_and_paint(min_sleep: float = GRAIN_S, max_sleep: float = CPU_MAX_S) -> None:
    """Wait so, and paint what is owed: whoever waits so looks at the console next."""
    await wait_for_idle(min_sleep, max_sleep)
    painting.at_rest()


async def wait_for_screen(pilot: Any, timeout: float = 0.0) -> bool:  # noqa: ASYNC109  (Textual's own)
    """Wait until every widget has dealt with its messages; False if one of them failed.

    Textual sends a message of its own to each widget of the screen instead, before and after each
    key: that was half of what the tests of the console did.
    """
    del timeout
    await let_all_run()
    return not pilot.app._exception_event.is_set()


def patch() -> None:
    """Have Textual wait so, where it is used at all: between two keys, and when it has rested."""
    pilot = sys.modules.get("textual.pilot")
    if pilot is not None:
        pilot.Pilot._wait_for_screen = wait_for_screen
    for name, waiting in (("textual.app", wait_for_idle), ("textual.pilot", wait_and_paint)):
        module = sys.modules.get(name)
        if module is not None:
            module.wait_for_idle = waiting
