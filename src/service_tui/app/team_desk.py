"""A desk on a shared service: a person's key opens it, from any machine that reaches it."""

import asyncio
import logging
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import httpx

from service_tui.app.attached import KEEPALIVE_S
from service_tui.app.closing_transport import ClosingTransport
from service_tui.app.data import open_data_of
from service_tui.app.exits_desk import desk_context
from service_tui.app.halts import kept_halts
from service_tui.app.options import Options
from service_tui.app.vault import vault_of
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.client.proxies import proxy_for
from service_tui.clock import Clock, SystemClock
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.restarting import keep_running
from service_tui.desk.state import DeskState
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.policy import SigningPolicy
from service_tui.wire.endpoints.desk import EVENTS
from service_tui.wire.endpoints.people import MY_AGENT
from service_tui.wire.events import EventBody

log = logging.getLogger(__name__)

FIRST_S: Final = 3.0
"""How long the first answer may take before the desk opens without it."""

AGAIN_S: Final = 1.0


@asynccontextmanager
async def team_desk(options: Options, initial: DeskState) -> AsyncGenerator[Desk]:
    """The desk of one person on a service that others use as well.

    Yields:
        The desk.
    """
    url, clock = options.url or "", SystemClock()
    limits = httpx.Limits(keepalive_expiry=KEEPALIVE_S)
    transport = ClosingTransport(retries=0, limits=limits, proxy=proxy_for(url, os.environ))
    key = ApiKey(options.api_key or "", url)
    async with (
        open_data_of(options, clock) as data,
        Client(
            transport,
            url,
            # The person's key opens what an operator may, and the agent of this console.
            ApiKeys(key, key),
            clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=options.allow_insecure,
            read_only=options.read_only,
        ) as client,
    ):
        console = ConsoleAgent(client, clock, is_found=options.read_only)
        await console.find(FIRST_S)

        def listen(after: int | None) -> AsyncGenerator[EventBody]:
            return client.listen(EVENTS, after=after)

        context = replace(
            desk_context(client, data.database, clock, random.SystemRandom()),
            listen=listen,
            vault=vault_of(options),
            policy=SigningPolicy(exchange=ExchangeVersion(options.exchange)),
            halts=kept_halts(options.data_dir),
            # ours: exits are the service's own; of several consoles none may sell a second time.
            executes=False,
            notes=options.log_path.parent,
        )
        async with open_desk(initial, context) as desk, asyncio.TaskGroup() as tasks:
            finding = tasks.create_task(keep_running("console agent", console.run, desk.ports))
            try:
                yield desk
            finally:
                finding.cancel()


class ConsoleAgent:
    """Makes sure that the service has the agent with which this person's console trades.

    Args:
        client: with the person's key.
        clock: for the pauses.
        is_found: True for a console that changes nothing: it looks with what there is.
    """

    def __init__(self, client: Client, clock: Clock, *, is_found: bool = False) -> None:
        self._client = client
        self._clock = clock
        self._is_found = is_found

    async def find(self, deadline_s: float | None = None) -> None:
        """Request it once; if the service does not answer, it is requested again later."""
        if self._is_found:
            return
        try:
            await self._client.call(MY_AGENT, deadline_s=deadline_s)
        except ServiceError as error:
            log.warning("the agent of this console is not known yet: %s", error)
            return
        self._is_found = True

    async def run(self) -> None:
        """Ask until it is found."""
        while not self._is_found:
            await self._clock.sleep(AGAIN_S)
            await self.find()
