"""A data directory owned for as long as it takes to read it: no app, no desk, no address."""

import random
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from service_tui.app.data import open_data_to_read
from service_tui.app.histories import history_of, topics_for
from service_tui.app.options import Options
from service_tui.app.renewal import client_keys
from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.credentials.api_keys import DeskKeys, desk_keys
from service_tui.server.http.access import Access, hash_of
from service_tui.server.http.service import Service
from service_tui.server.read_transport import ReadTransport
from service_tui.server.startup import BASE_URL, SimSettings, service_of
from service_tui.signing.book import ExchangeVersion
from service_tui.storage.db.database import Database


@asynccontextmanager
async def reading(options: Options, clock: Clock) -> AsyncGenerator[tuple[Client, Database]]:
    """A client of a directory's service, whose world is brought up to now.

    Args:
        options: which directory, and how a new world begins.
        clock: time.

    Yields:
        The client, and the database.

    Raises:
        DirectoryLockedError: another process owns the directory.
    """
    async with open_data_to_read(options.data_dir, clock) as data:
        api_keys = desk_keys(options.data_dir)
        service = await service_of(data.database, clock, _settings(options), is_brief=True)
        if not _knows(service, api_keys):
            # A new directory, or a lost key: only the whole service mends that.
            from service_tui.app.ownership import open_embedded  # noqa: PLC0415

            async with open_embedded(options, data.database, clock) as (_, api_keys):
                pass
            service = await service_of(data.database, clock, _settings(options), is_brief=True)
        service.operator_agent = api_keys.agent_id
        transport = ReadTransport(service, Access(hash_of(api_keys.operator)))
        async with Client(
            transport,
            BASE_URL,
            client_keys(api_keys, BASE_URL),
            clock=clock,
            rng=random.SystemRandom(),
            read_only=True,
        ) as client:
            yield client, data.database


def _settings(options: Options) -> SimSettings:
    return SimSettings(
        seed=options.seed if options.seed is not None else secrets.randbelow(2**31),
        topics=topics_for(options.data_dir),
        history=history_of(options),
        plan=options.plan,
        speed=options.speed,
        exchange=ExchangeVersion(options.exchange),
    )


def _knows(service: Service, api_keys: DeskKeys) -> bool:
    """True if the person's own agent exists and its key works."""
    own = service.world.agents.get(api_keys.agent_id or "")
    return (
        own is not None and api_keys.agent is not None and hash_of(api_keys.agent) == own.key_hash
    )
