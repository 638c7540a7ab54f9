"""Autoresearch from the command line: the MCP server, and what the old slash commands did.

Knows the environment, the data directory and both towers. Must not know a screen.
Used by cli ('autoresearch').
"""

import asyncio
import logging
import os
import random
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

import httpx

from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, turn_off
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.session import Means, Session
from service_tui.autoresearch.worktree import check_calm, repository_at
from service_tui.client.client import Client
from service_tui.client.keys import Key, Keys
from service_tui.clock import Clock, SystemClock
from service_tui.storage.errors import DirectoryLockedError
from service_tui.wire.research_tools import InitArguments
from service_tui.wiring import attached
from service_tui.wiring.attached import HOLDER_URL, HolderTransport
from service_tui.wiring.closed import closed_in_plain_words, only_reason
from service_tui.wiring.holding import holding
from service_tui.wiring.keys import stored_desk_keys
from service_tui.wiring.options import Options
from service_tui.wiring.output import say
from service_tui.wiring.renewal import client_keys
from service_tui.wiring.research_words import Wish
from service_tui.wiring.succession import succeeding

log = logging.getLogger(__name__)

STARTING_S: Final = 10.0


def autoresearch(options: Options, wish: Wish) -> None:
    """Do it.

    Raises:
        ToolError: it cannot be done; says why and what to do.
        DeskClosedError: the data directory cannot be used.
    """
    asyncio.run(_do(options, wish))


async def _do(options: Options, wish: Wish) -> None:
    if wish.word == "status":
        await _status(wish)
        return
    if wish.word == "off":
        now_ms = int(SystemClock().now() * 1_000)
        skill = turn_off(await repository_at(wish.folder), wish.skill, now_ms)
        say(f"autoresearch is off for {skill}; a new session turns it on")
        return
    if not wish.word:
        # Only the server needs the protocol, which takes a while to import.
        from service_tui.wiring.research_door import serve_at_door  # noqa: PLC0415

        await serve_at_door(lambda: opened(options, wish, SystemClock()))
        return
    try:
        async with opened(options, wish, SystemClock()) as session:
            if wish.word == "reset":
                began = await session.reset(wish.skill)
            else:
                began = await session.init(_first(wish, SystemClock()))
    except BusyError:
        await _beside(wish, SystemClock())
    else:
        # Not while tasks are open: they would wrap what is raised where nobody reads it.
        _tell(began)


async def _beside(wish: Wish, clock: Clock) -> None:
    """Begin a session while an agent's server works in the repository; that one takes it up."""
    repository, now_ms = await repository_at(wish.folder), int(clock.now() * 1_000)
    asked = _first(wish, clock)
    if wish.word == "reset":
        asked = fresh(notes_of(repository), wish.skill, now_ms)
    await check_calm(repository)
    config = begin_beside(repository, asked, wish.cap, now_ms)
    say(f"{config.skill}: session {config.name!r} begins with the server that works here")


def _first(wish: Wish, clock: Clock) -> InitArguments:
    """What `/autoresearch <skill>` begins: the P&L unless told, higher is better."""
    # ours: the old command names no metric; the P&L is what everybody measures first.
    given = {
        "name": wish.name or f"{wish.word} {clock.now():.0f}",
        "skill_slug": wish.word,
        "metric_name": wish.metric,
        "metric_unit": wish.unit,
        "direction": wish.direction.value,
    }
    return arguments(InitArguments, given)


@asynccontextmanager
async def opened(options: Options, wish: Wish, clock: Clock) -> AsyncGenerator[Session]:
    """A session on the repository around a folder.

    Yields:
        The session, while the context lasts.

    Raises:
        ToolError: there is no repository, or it cannot be used.
        DeskClosedError: the data directory cannot be used.
    """
    try:
        with closed_in_plain_words():
            async with _opened(options, wish, clock) as session:
                yield session
    except Exception as error:
        reason = only_reason(error)
        if isinstance(reason, ToolError):
            raise reason from None
        raise


@asynccontextmanager
async def _opened(options: Options, wish: Wish, clock: Clock) -> AsyncGenerator[Session]:
    repository = await repository_at(wish.folder)
    async with _client(options, wish, clock) as client:
        session = Session(
            Means(
                repository=repository,
                remote=Remote(client),
                clock=clock,
                data_dir=options.data_dir,
                environment=dict(os.environ),
                cap=wish.cap,
                allows_shell=wish.allows_shell,
                mark=secrets.token_hex(8),
                api=lambda: _api_of(options, wish),
            )
        )
        await session.open()
        try:
            yield session
        finally:
            session.close()


def _api_of(options: Options, wish: Wish) -> dict[str, str]:
    """How an experiment reaches the service that the session talks to."""
    if wish.api_key and wish.api_url:
        return {"SERVICE_API_KEY": wish.api_key, "SERVICE_API_URL": wish.api_url}
    keys = stored_desk_keys(options.data_dir)
    address = attached.address_of(options.data_dir)
    key = wish.api_key or (keys.agent if keys is not None else None)
    if key is None or address is None:
        return {}
    return {"SERVICE_API_KEY": key, "SERVICE_API_URL": address}


@asynccontextmanager
async def _client(options: Options, wish: Wish, clock: Clock) -> AsyncGenerator[Client]:
    """A client of the service that the environment names, else of the data directory's own."""
    rng = random.SystemRandom()
    async with AsyncExitStack() as stack:
        if wish.api_key and wish.api_url:
            made = Client(
                httpx.AsyncHTTPTransport(retries=0), wish.api_url,
                Keys(Key(wish.api_key, wish.api_url)), clock=clock, rng=rng,
                allow_insecure=options.allow_insecure,
            )  # fmt: skip
        else:
            await _see_it_served(stack, options, clock)
            # Whoever serves may end: the next one is found, and where there is none it is this.
            await stack.enter_async_context(succeeding(_as_successor(options), clock))
            made = Client(
                HolderTransport(options.data_dir), HOLDER_URL, _keys_of(options, wish),
                clock=clock, rng=rng,
            )  # fmt: skip
        yield await stack.enter_async_context(made)


def _as_successor(options: Options) -> Options:
    return replace(options, listen=options.listen or 0)


def _keys_of(options: Options, wish: Wish) -> Keys:
    """The key of the environment, else that of the data directory's own agent."""
    if wish.api_key:
        return Keys(Key(wish.api_key, HOLDER_URL))
    keys = stored_desk_keys(options.data_dir)
    if keys is None:
        raise ToolError("the data directory has no key", "open the console on it once")
    return client_keys(keys, HOLDER_URL)


async def _see_it_served(stack: AsyncExitStack, options: Options, clock: Clock) -> None:
    """Attach to whoever holds the data directory, else hold and serve it."""
    began = clock.monotonic()
    while not await attached.is_served(options.data_dir, clock):
        try:
            await stack.enter_async_context(holding(options, clock))
        except DirectoryLockedError:
            if clock.monotonic() - began >= STARTING_S:
                raise
            await clock.sleep(attached.AGAIN_S)
        else:
            return


async def _status(wish: Wish) -> None:
    """Say where the sessions of a repository stand; asks nobody and changes nothing."""
    repository = await repository_at(wish.folder)
    notes = notes_of(repository)
    skills = list(dict.fromkeys(one.skill for one in reversed(notes.configs)))
    if not skills:
        say(f"no session in {repository.root}; begin one with 'service-tui autoresearch <skill>'")
    for skill in skills:
        config = notes.config_of(skill)
        if config is None:
            continue
        stands = notes.standing_of(config)
        state = "off" if skill in notes.off else stands.state.value
        say(
            f"{skill}: {state}, session {config.name!r}",
            f"  {stands.count} of {config.cap or 'any number of'} experiments: {stands.kept} kept, "
            f"{stands.discarded} discarded, {stands.crashed} crashed",
            f"  {config.metric_name}: baseline {_figure(stands.baseline)}, best "
            f"{_figure(stands.best)} ({config.direction.value} is better)",
            *([f"  {stands.why}"] if stands.why and state != "off" else []),
        )
    if notes.bad_lines:
        say(f"{notes.bad_lines} lines of {repository.file} cannot be read")


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _tell(said: dict[str, object]) -> None:
    say(
        f"{said['skill']}: {said['state']}, session {said['session']!r}",
        f"  experiments run in {said['worktree']} on {said['branch']}",
        "  let an MCP client start 'service-tui autoresearch' in the repository",
    )
