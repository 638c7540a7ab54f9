"""When a console has dealt with everything, whoever else is using the machine.

Textual's own `wait_for_idle` takes a process for idle that has used little CPU in the last fiftieth
of a second: so is one that the machine has let wait.
"""

import asyncio
import sys
from time import process_time
from typing import Final

from kit.console import painting

GRAIN_S: Final = 0.02
"""What Textual lets pass at least: its timers of a frame are shorter."""

TURNS: Final = 3
"""Turns of the loop in a row in which nobody but the waiting one has anything to do."""

CPU_MAX_S: Final = 1.0
"""Of our own CPU: something that never rests is waited for no longer."""


async def wait_for_idle(min_sleep: float = GRAIN_S, max_sleep: float = CPU_MAX_S) -> None:
    """Wait until nothing is left to be done but at a later time, or by somebody else."""
    del min_sleep
    ready = asyncio.get_running_loop()._ready
    began = process_time()
    await asyncio.sleep(GRAIN_S)
    quiet = 0
    while quiet < TURNS and process_time() - began < max_sleep:
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1


async def wait_and_paint(min_sleep: float = GRAIN_S, max_sleep: float = CPU_MAX_S) -> None:
    """Wait so, and paint what is owed: whoever waits so looks at the console next."""
    await wait_for_idle(min_sleep, max_sleep)
    painting.at_rest()


def patch() -> None:
    """Have Textual wait so, where it is used at all: between two keys, and when it has rested."""
    for name, waiting in (("textual.app", wait_for_idle), ("textual.pilot", wait_and_paint)):
        module = sys.modules.get(name)
        if module is not None:
            module.wait_for_idle = waiting
