"""The whole service in this process: world, app, lifespan, and a transport that reaches it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from starlette.applications import Starlette

from service_tui.clock import Clock
from service_tui.server.app import create_app
from service_tui.server.http.access import Access, hash_of
from service_tui.server.http.entrance import IN_PROCESS
from service_tui.server.http.service import Service
from service_tui.server.startup import BASE_URL, SimSettings, WarmWorld, service_of
from service_tui.storage.world_database import WorldDatabase

# Whoever opens the service needs them as well.
__all__ = ["BASE_URL", "Sim", "SimSettings", "open_sim"]


@dataclass(frozen=True, slots=True)
class Sim:
    """A running embedded service."""

    app: Starlette
    service: Service
    transport: httpx.ASGITransport


@asynccontextmanager
async def open_sim(
    database: WorldDatabase,
    clock: Clock,
    settings: SimSettings,
    *,
    warm: WarmWorld | None = None,
) -> AsyncGenerator[Sim]:
    """Run the service of a data directory; the world first catches up with the time it missed.

    Args:
        database: where the world lies.
        clock: time.
        settings: how it is set up.
        warm: the world as the database has it, where this process has it in memory already.

    Yields:
        The service.
    """
    service = await service_of(database, clock, settings, warm=warm)
    app = create_app(service, Access(settings.operator_hash or hash_of(settings.operator_key)))
    async with app.router.lifespan_context(app):
        try:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=IN_PROCESS)
            yield Sim(app, service, transport)
        finally:
            await service.world_store.close(clock.now())
