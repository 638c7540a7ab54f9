"""The whole service in this process: world, app, lifespan, and a transport that reaches it.

Knows storage and the app. Must not know the operator's tower.
Used by wiring (for the console) and by serve.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx
from fastapi import FastAPI

from service_tui.clock import Clock
from service_tui.engine.reactor import SIGNAL_TTL_S
from service_tui.engine.world import World
from service_tui.server.access import EMBEDDED_HOST, IN_PROCESS, Access, hash_of, new_key
from service_tui.server.app import create_app
from service_tui.server.idempotency import recall
from service_tui.server.keeper import Keeper, begin, restore
from service_tui.server.service import Service
from service_tui.signing.book import Exchange
from service_tui.skills.package import BUNDLED
from service_tui.storage.database import Database
from service_tui.terms import Plan

SKILLS: Final = "skills"
"""Where skills are installed, below the data directory, beside those that come with the program."""

BASE_URL: Final = f"http://{EMBEDDED_HOST}"
"""Where the console believes the app to be; requests never leave the process."""


@dataclass(frozen=True, slots=True)
class SimSettings:
    """How an embedded service is set up. `seed` counts only for a new world.

    `plan` is that of new agents in this run; None takes the one that was chosen last, else Pro.
    Without `limits` nobody waits for rates, daily counts or cooldowns; amounts keep their bounds.
    `signal_ttl_s` is the life of a reactor signal, above 0 and at most SIGNAL_TTL_MAX_S. `exchange`
    is the generation of the EVM venue that is simulated.
    """

    seed: int
    plan: Plan | None = None
    speed: int | None = None
    operator_key: str = field(default="", repr=False)
    limits: bool = True
    signal_ttl_s: float = SIGNAL_TTL_S
    exchange: Exchange = Exchange.V1


@dataclass(frozen=True, slots=True)
class Sim:
    """A running embedded service."""

    app: FastAPI
    service: Service
    transport: httpx.ASGITransport


def new_id() -> str:
    """128 random bits as text."""
    return secrets.token_hex(16)


@asynccontextmanager
async def open_sim(database: Database, clock: Clock, settings: SimSettings) -> AsyncGenerator[Sim]:
    """Run the service of a data directory; the world first catches up with the time it missed."""
    now = clock.now()
    found = await asyncio.to_thread(restore, database)
    if found is None:
        keeper = await begin(database, World(settings.seed, now))
    else:
        keeper = Keeper(database, *found)
    if settings.speed is not None:
        await keeper.commit(keeper.world.set_speed(settings.speed, now))
    await keeper.advance(now)
    service = Service(
        keeper=keeper,
        clock=clock,
        new_key=new_key,
        new_id=new_id,
        address=BASE_URL,
        plan=settings.plan or keeper.world.plan or Plan.PRO,
        repeats=await asyncio.to_thread(recall, database, now),
        limits=settings.limits,
        signal_ttl_s=settings.signal_ttl_s,
        exchange=settings.exchange,
        skill_folders=(database.path.parent / SKILLS, BUNDLED),
    )
    app = create_app(service, Access(hash_of(settings.operator_key)))
    async with app.router.lifespan_context(app):
        try:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=IN_PROCESS)
            yield Sim(app, service, transport)
        finally:
            await keeper.close(clock.now())
