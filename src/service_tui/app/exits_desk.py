"""A desk without a console, and the dependencies of a desk on an embedded service."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from service_tui.app.halts import kept_halts
from service_tui.app.renewal import client_keys, renewing
from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.credentials.api_keys import DeskKeys
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext, Listen
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL, Sim
from service_tui.storage.db.database import Database
from service_tui.terms import Mode, Venue
from service_tui.wire.events import EventBody


@asynccontextmanager
async def exits_desk(
    sim: Sim, api_keys: DeskKeys, database: Database, clock: Clock, *, signs: bool
) -> AsyncGenerator[None]:
    """A desk without a console, for the exits of the desk's own agent while no console owns one.

    Yields:
        Nothing; it works until the end of the context.
    """
    rng = random.SystemRandom()
    api = client_keys(api_keys, BASE_URL)
    async with Client(sim.transport, BASE_URL, api, clock=clock, rng=rng) as client:
        context = replace(
            desk_context(client, database, clock, rng),
            listen=listen_to(sim),
            renew=renewing(database.path.parent, client, api_keys, BASE_URL),
            exits_only=True,
            signs=signs,
            halts=kept_halts(database.path.parent),
        )
        view = ServiceView("embedded", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING)
        async with open_desk(DeskState(service=view), context):
            yield


def listen_to(sim: Sim) -> Listen:
    """The stream of events, without HTTP."""

    async def listen(after: int | None) -> AsyncGenerator[EventBody]:
        async with sim.service.subscribe(after) as events:
            async for body in events:
                yield body

    return listen


def desk_context(
    client: Client, database: Database, clock: Clock, rng: random.Random
) -> DeskContext:
    """The dependencies of a desk."""
    return DeskContext(client, database, clock, lambda: f"{rng.getrandbits(128):032x}", rng)
