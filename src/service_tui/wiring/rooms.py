"""Rooms that are heavy, imported when somebody wants them.

Knows modules by name. Must not know what is in them.
Used by doors that answer before everything is there.
"""

import asyncio
import importlib
import sys


async def imported(room: str) -> None:
    """See a room imported, in a thread: whoever waits here stays alive meanwhile."""
    if room not in sys.modules:
        await asyncio.to_thread(importlib.import_module, room)
