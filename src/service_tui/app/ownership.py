"""Ownership of a data directory: its service runs here, and answers on loopback."""

import asyncio
import importlib
import logging
import random
import secrets
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp

from service_tui.app.attached import loopback_transport
from service_tui.app.data import open_data
from service_tui.app.histories import history_of, topics_for
from service_tui.app.options import Options
from service_tui.app.own_agent import keys_of_own_agent, own_key_writer
from service_tui.app.renewal import client_keys
from service_tui.client.api_keys import ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock
from service_tui.credentials.api_keys import DeskKeys, desk_keys
from service_tui.credentials.webhook_secrets import SecretFile
from service_tui.server.embedded import Sim, SimSettings, open_sim
from service_tui.server.http.loopback import address_of, bind, listen
from service_tui.server.startup import BASE_URL
from service_tui.signing.book import ExchangeVersion
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.storage.halt_mark import marked_at
from service_tui.terms import SIGNAL_TTL_S
from service_tui.wire.endpoints.desk import DESK_HALT

log = logging.getLogger(__name__)

BACK_UP_S: Final = 3_600.0
"""How often the daily copy is checked."""


@dataclass(frozen=True, slots=True)
class DirectoryOwner:
    """The owned directory, its service, and its address."""

    sim: Sim
    address: str
    database: Database
    clock: Clock

    async def back_up(self) -> None:
        """Copy everything once a day; a failing disk is no error here."""
        try:
            await self.database.back_up(self.clock.now())
        except StorageError as error:
            log.warning("daily copy failed: %s", error)


@asynccontextmanager
async def open_embedded(
    options: Options, database: Database, clock: Clock, *, address: str = BASE_URL
) -> AsyncGenerator[tuple[Sim, DeskKeys]]:
    """The embedded service of a data directory, with the desk's own agent registered.

    Args:
        options: how the service is set up.
        database: of the data directory.
        clock: time.
        address: the base of the links that it gives out.

    Yields:
        The service, and the keys of this directory.
    """
    api_keys = desk_keys(options.data_dir)
    settings = replace(sim_settings(options, api_keys), address=address)
    async with open_sim(database, clock, settings) as sim:
        api_keys = await keys_of_own_agent(sim, database, api_keys, clock)
        sim.service.operator_agent = api_keys.agent_id
        sim.service.keep_own_key = own_key_writer(options.data_dir)
        await _halt_as_marked(sim, api_keys, options.data_dir, clock)
        yield sim, api_keys


async def _halt_as_marked(sim: Sim, api_keys: DeskKeys, data_dir: Path, clock: Clock) -> None:
    """Halt a service whose directory was marked as halted, before anybody can reach it."""
    if marked_at(data_dir) is None:
        return
    # A service answers before a desk is loaded; what a halt is comes with the desk.
    from service_tui.app.halts import kept_halts  # noqa: PLC0415
    from service_tui.desk.slices.halt import newest  # noqa: PLC0415

    if newest(kept_halts(data_dir)) is None:
        return
    own = client_keys(api_keys, BASE_URL)
    rng = random.SystemRandom()
    async with Client(sim.transport, BASE_URL, own, clock=clock, rng=rng) as client:
        try:
            await client.call(DESK_HALT)
        except ServiceError as error:
            # It is done first as soon as the disk takes it, before anything is traded.
            log.warning("the halt of the mark was not kept: %s", error)


def sim_settings(options: Options, api_keys: DeskKeys) -> SimSettings:
    """How the options set a service up, with the operator's key of this data directory."""
    return SimSettings(
        seed=options.seed if options.seed is not None else secrets.randbelow(2**31),
        topics=topics_for(options.data_dir),
        history=history_of(options),
        plan=options.plan,
        speed=options.speed,
        operator_key=api_keys.operator,
        limits=options.limits,
        agents_max=options.agents_max,
        signal_ttl_s=SIGNAL_TTL_S if options.signal_ttl_s is None else options.signal_ttl_s,
        exchange=ExchangeVersion(options.exchange),
        webhook_secrets=SecretFile(options.data_dir),
        loopback_webhooks=options.loopback_webhooks,
        is_scripted=options.scripted,
        is_on_network=options.is_on_network,
        needs_invitation=options.needs_invitation,
        world_name=options.world,
    )


@asynccontextmanager
async def own_directory(
    options: Options,
    clock: Clock,
    *,
    listener: socket.socket | None = None,
    signs: bool = True,
    around: Callable[[ASGIApp], ASGIApp] | None = None,
    link: str | None = None,
) -> AsyncGenerator[DirectoryOwner]:
    """Own a data directory and serve it while the context lasts.

    Args:
        options: which directory, and how.
        clock: time.
        listener: where to answer, and stays open; any free port without it.
        around: what stands between the port and the service.
        signs: follow here what earlier owners have signed; otherwise another desk does.
        link: the address of the links that the service gives out; without it that of the port.

    Yields:
        The service, once it answers and other processes can find it.

    Raises:
        DirectoryLockedError: another process was faster.
    """
    async with AsyncExitStack() as stack:
        # Bound first: the first answers of the port already contain links to it.
        port = stack.enter_context(bind() if listener is None else listener.dup())
        data = await stack.enter_async_context(open_data(options.data_dir, clock))
        links = link or address_of(port)
        sim, api_keys = await stack.enter_async_context(
            open_embedded(options, data.database, clock, address=links)
        )
        address = await stack.enter_async_context(listen(sim.app, listener=port, around=around))
        await _check_health(address, clock)
        data.publish(address)
        try:
            # In a thread: the service answers while the desk is loaded.
            await asyncio.to_thread(importlib.import_module, "service_tui.app.exits_desk")
            from service_tui.app.exits_desk import exits_desk  # noqa: PLC0415 - loaded by now

            async with exits_desk(sim, api_keys, data.database, clock, signs=signs):
                yield DirectoryOwner(sim, address, data.database, clock)
        finally:
            data.publish(None)


async def _check_health(address: str, clock: Clock) -> None:
    """Request the health as any agent would, before the address is published."""
    async with Client(
        loopback_transport(), address, ApiKeys(), clock=clock, rng=random.SystemRandom()
    ) as client:
        await client.health()
