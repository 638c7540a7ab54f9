"""A desk on a service: the embedded one of this process, or another one by its address."""

import os
import random
from collections.abc import AsyncGenerator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import replace
from functools import partial
from typing import Final

import httpx

from service_tui.app import attached, attached_desk
from service_tui.app.closing_transport import ClosingTransport
from service_tui.app.data import Data, open_data, open_data_of
from service_tui.app.demo_agents import demo_agents
from service_tui.app.exits_desk import desk_context, listen_to
from service_tui.app.halts import databases, kept_halts
from service_tui.app.options import Options
from service_tui.app.orphaned_orders import take_over
from service_tui.app.own_agent import RENEWED
from service_tui.app.ownership import open_embedded
from service_tui.app.renewal import client_keys, renewing
from service_tui.app.serving import serving
from service_tui.app.team_desk import team_desk
from service_tui.app.vault import vault_of
from service_tui.app.waiting import until
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.proxies import proxy_for
from service_tui.clock import Clock, SystemClock
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Noticed
from service_tui.desk.opening import open_desk
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL, Sim
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.errors import DirectoryLockedError

FIRST_ANSWER_S: Final = 2.0
"""ours: agents wait so long at most for a desk that has no answer of its own service."""


def local_desk(options: Options, initial: DeskState) -> AbstractAsyncContextManager[Desk]:
    """A desk on the embedded service of the data directory, in this process or its owner's."""
    return local_parts(options, initial, SystemClock(), random.SystemRandom())


@asynccontextmanager
async def local_parts(
    options: Options, initial: DeskState, clock: Clock, rng: random.Random
) -> AsyncGenerator[Desk]:
    """The same with a given clock and random source.

    Yields:
        The desk.

    Raises:
        DirectoryLockedError: another process owns the directory and does not serve it.
    """
    async with AsyncExitStack() as stack:
        yield await _opened(stack, options, initial, (clock, rng))


async def _opened(
    stack: AsyncExitStack, options: Options, initial: DeskState, means: tuple[Clock, random.Random]
) -> Desk:
    """The desk that owns the directory, or one attached to its owner."""
    clock, _ = means
    began = clock.monotonic()
    while True:
        try:
            return await stack.enter_async_context(embedded_parts(options, initial, *means))
        except DirectoryLockedError as error:
            locked = error
        if await attached.is_served(options.data_dir, clock):
            break
        is_late = clock.monotonic() - began >= attached.STARTING_S
        if is_late or not attached.may_still_serve(locked.holder, clock.now()):
            if options.read_only:
                # A read-only desk does no harm: it stays offline until the directory is served.
                break
            raise locked
        await clock.sleep(attached.AGAIN_S)
    return await stack.enter_async_context(attached_desk.attached_parts(options, initial, *means))


@asynccontextmanager
async def embedded_parts(
    options: Options, initial: DeskState, clock: Clock, rng: random.Random
) -> AsyncGenerator[Desk]:
    """A desk that owns the data directory and runs its service.

    Yields:
        The desk.

    Raises:
        DirectoryLockedError: another process owns it.
    """
    async with (
        open_data(options.data_dir, clock) as data,
        open_embedded(options, data.database, clock) as (sim, api_keys),
        Client(
            sim.transport,
            BASE_URL,
            client_keys(api_keys, BASE_URL),
            clock=clock,
            rng=rng,
            read_only=options.read_only,
        ) as client,
    ):
        await take_over(options, data, clock)
        async with (
            open_desk(
                initial,
                replace(
                    desk_context(client, data.database, clock, rng),
                    vault=vault_of(options),
                    policy=SigningPolicy(exchange=ExchangeVersion(options.exchange)),
                    listen=listen_to(sim),
                    renew=renewing(options.data_dir, client, api_keys, BASE_URL),
                    halts=kept_halts(options.data_dir),
                    blotters=partial(databases, options.data_dir, data.database.path),
                    executes=options.exits,
                    notes=options.data_dir,
                ),
            ) as desk,
            _served(options, sim, data, desk),
            demo_agents(sim, desk, api_keys, (clock, rng))
            if options.demo and not options.read_only
            else nullcontext(),
        ):
            if api_keys.is_renewed:
                desk.ports.emit(Noticed("warn", RENEWED))
            yield desk


def _served(
    options: Options, sim: Sim, data: Data, desk: Desk
) -> AbstractAsyncContextManager[None]:
    """The service on loopback as well, if the options ask for a port."""
    if options.listen is None:
        return nullcontext()
    return serving(sim, data, options.listen, desk.ports.emit, after=partial(_live, desk))


async def _live(desk: Desk) -> None:
    """Wait until the desk has its first answer, but not for long."""
    await until(desk, _is_answered, FIRST_ANSWER_S)


def _is_answered(state: DeskState) -> bool:
    return state.service.phase is Phase.ONLINE and not state.from_cache


@asynccontextmanager
async def remote_desk(options: Options, initial: DeskState) -> AsyncGenerator[Desk]:
    """A desk on another service."""
    clock = SystemClock()
    limits = httpx.Limits(keepalive_expiry=attached.KEEPALIVE_S)
    url = options.url or ""
    proxy = proxy_for(url, os.environ)
    transport = ClosingTransport(retries=0, limits=limits, proxy=proxy)
    async with (
        open_data_of(options, clock) as data,
        Client(
            transport,
            url,
            ApiKeys(ApiKey(options.api_key, url) if options.api_key else None),
            clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=options.allow_insecure,
            read_only=options.read_only,
        ) as client,
        open_desk(
            initial,
            replace(
                desk_context(client, data.database, clock, random.SystemRandom()),
                vault=vault_of(options),
                policy=SigningPolicy(exchange=ExchangeVersion(options.exchange)),
                halts=kept_halts(options.data_dir),
                executes=options.exits,
                # Skills that work for another service lie beside its folder.
                notes=options.log_path.parent,
            ),
        ) as desk,
    ):
        yield desk


def open_desk_of(options: Options, initial: DeskState) -> AbstractAsyncContextManager[Desk]:
    """The desk of the service that the options name."""
    if options.url is None:
        return local_desk(options, initial)
    return (team_desk if options.is_for_person else remote_desk)(options, initial)
