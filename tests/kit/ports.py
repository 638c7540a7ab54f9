"""Ports that a test opens by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service_tui.listening import stop_listening


@asynccontextmanager
async def until_closed(server: asyncio.Server) -> AsyncIterator[asyncio.Server]:
    """A server that loses no caller at its end: else the garbage of one test fails another."""
    try:
        yield server
    finally:
        await stop_listening(server)
