"""What a listener of the events has got."""

import asyncio

from service_tui.server.events.listeners import Subscription
from service_tui.wire.events import EventBody


async def heard(listener: Subscription) -> list[EventBody]:
    """All that waits for a listener, without waiting for more; it is taken."""
    try:
        async with asyncio.timeout(0):
            return await listener.next(10_000)
    except (TimeoutError, StopAsyncIteration):
        return []


async def kinds(listener: Subscription) -> list[str]:
    """The same by its kinds alone."""
    return [one.kind for one in await heard(listener)]
