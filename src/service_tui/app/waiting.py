"""Waits for a state of an open desk."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from service_tui.desk.desk import Desk
from service_tui.desk.state import DeskState


async def until(desk: Desk, is_reached: Callable[[DeskState], bool], seconds: float) -> bool:
    """Wait for a state, with a limit.

    Returns:
        True if the state was reached.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(_wait_for(desk, is_reached), seconds)
        return True
    return False


async def _wait_for(desk: Desk, is_reached: Callable[[DeskState], bool]) -> None:
    async for state in desk.changes():
        if is_reached(state):
            return
