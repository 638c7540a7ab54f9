"""The signals that end a process of the service."""

import asyncio
import signal
from contextlib import suppress
from typing import Final

_ENDS: Final = ("SIGINT", "SIGTERM", "SIGHUP")


def end_signalled() -> asyncio.Event:
    """An event that a signal to end sets."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in _ENDS:
        with suppress(AttributeError, NotImplementedError):
            loop.add_signal_handler(getattr(signal, name), ending.set)
    return ending


async def ends_within(ending: asyncio.Event, seconds: float) -> bool:
    """True if the event was set within so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ending.wait()
    return ending.is_set()
