"""Two desks of one directory in one process: real lines between them, manual time."""

import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kit import loop
from service_tui.app.first_state import first_state
from service_tui.app.live import local_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.desk.desk import Desk
from service_tui.desk.state import DeskState

STEP_S = 0.2


@asynccontextmanager
async def desk_at(path: Path, clock: ManualClock) -> AsyncGenerator[Desk]:
    """The desk of a directory: the first one holds it, later ones are attached to that."""
    options = Options(path, path / "config", path / "log", seed=7, speed=0, listen=0)
    async with local_parts(options, first_state(options), clock, random.Random(5)) as desk:
        yield desk


async def until(
    desk: Desk, clock: ManualClock, is_so: Callable[[DeskState], object], within_s: float = 60.0
) -> DeskState:
    """The wanted state, within so much time by the clock: it moves when both desks are quiet."""
    end = clock.monotonic() + within_s
    while clock.monotonic() < end:
        await loop.quiet()
        if is_so(desk.state):
            return desk.state
        await clock.advance(STEP_S)
    raise AssertionError("the desk never came to the wanted state")
