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
from service_tui.server.startup import BASE_URL, SimSettings, service_of
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
    database: WorldDatabase, clock: Clock, settings: SimSettings
) -> AsyncGenerator[Sim]:
    """Run the service of a data directory; the world first catches up with the time it missed."""
    service = await service_of(database, clock, settings)
    app = create_app(service, Access(settings.operator_hash or hash_of(settings.operator_key)))
    async with app.router.lifespan_context(app):
        try:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=IN_PROCESS)
            yield Sim(app, service, transport)
        finally:
            await service.world_store.close(clock.now())
