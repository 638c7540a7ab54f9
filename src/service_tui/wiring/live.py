"""A desk on a service: the embedded one of this process, or another one by its address.

Knows both towers and all that is heavy; imported after the first paint.
Used by start.
"""

import logging
import os
import random
import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import httpx

from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.client.keys import Key, Keys
from service_tui.clock import Clock, SystemClock
from service_tui.console.doors import DeskClosedError
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Noticed
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import Surroundings
from service_tui.desk.state import DeskState
from service_tui.engine.codec import NewerJournalError
from service_tui.server.embedded import BASE_URL, Sim, SimSettings, open_sim
from service_tui.storage.database import Database
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DamagedRowsError,
    DirectoryLockedError,
    LockUnavailableError,
    LostLogError,
    NewerSchemaError,
    StorageError,
)
from service_tui.storage.inspection import move_aside
from service_tui.storage.lock import DataDirLock
from service_tui.storage.opening import open_database
from service_tui.wiring.keys import DeskKeys, KeysError, desk_keys
from service_tui.wiring.options import Options
from service_tui.wiring.own_agent import RENEWED, keys_of_own_agent

log = logging.getLogger(__name__)

KEEPALIVE_S: Final = 4.0


@asynccontextmanager
async def open_data(data_dir: Path, clock: Clock) -> AsyncGenerator[Database]:
    """The data directory, locked and open, closed in order."""
    try:
        lock = DataDirLock.acquire(data_dir, pid=os.getpid(), now=clock.now())
    except LockUnavailableError as error:
        # Slower, and two at once are not kept apart; no reason to keep the desk shut.
        log.warning("working without a lock: %s", error)
        lock = None
    try:
        database = open_database(data_dir, now=clock.now(), lock=lock)
        try:
            yield database
        except DamagedRowsError as damage:
            database.close(clock.now())
            raise move_aside(database.path, reason=str(damage), now=clock.now()) from damage
        finally:
            database.close(clock.now())
    finally:
        if lock is not None:
            lock.release()


@asynccontextmanager
async def open_embedded(
    options: Options, database: Database, clock: Clock
) -> AsyncGenerator[tuple[Sim, DeskKeys]]:
    """The embedded service of a data directory, with the desk's own agent registered."""
    keys = desk_keys(options.data_dir)
    settings = SimSettings(
        seed=options.seed if options.seed is not None else secrets.randbelow(2**31),
        plan=options.plan,
        speed=options.speed,
        operator_key=keys.operator,
    )
    async with open_sim(database, clock, settings) as sim:
        keys = await keys_of_own_agent(sim, database, keys, clock)
        sim.service.operator_agent = keys.agent_id
        yield sim, keys


def embedded_desk(options: Options, initial: DeskState) -> AbstractAsyncContextManager[Desk]:
    """A desk on the embedded service of the data directory."""
    return embedded_parts(options, initial, SystemClock(), random.SystemRandom())


@asynccontextmanager
async def embedded_parts(
    options: Options, initial: DeskState, clock: Clock, rng: random.Random
) -> AsyncGenerator[Desk]:
    """The same with the time and the chance that are handed in."""
    async with (
        open_data(options.data_dir, clock) as database,
        open_embedded(options, database, clock) as (sim, keys),
        Client(
            sim.transport,
            BASE_URL,
            _embedded_keys(keys),
            clock=clock,
            rng=rng,
            read_only=options.read_only,
        ) as client,
        open_desk(initial, _around(client, database, clock, rng)) as desk,
    ):
        if keys.is_renewed:
            desk.ports.say(Noticed("warn", RENEWED))
        yield desk


@asynccontextmanager
async def remote_desk(options: Options, initial: DeskState) -> AsyncGenerator[Desk]:
    """A desk on another service."""
    clock = SystemClock()
    # Shorter than the usual five seconds of servers: a write on a line that is just being closed
    # would end as unknown.
    limits = httpx.Limits(keepalive_expiry=KEEPALIVE_S)
    transport = httpx.AsyncHTTPTransport(retries=0, limits=limits)
    url = options.url or ""
    async with (
        open_data(options.data_dir, clock) as database,
        Client(
            transport,
            url,
            Keys(Key(options.api_key, url) if options.api_key else None),
            clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=options.allow_insecure,
            read_only=options.read_only,
        ) as client,
        open_desk(initial, _around(client, database, clock, random.SystemRandom())) as desk,
    ):
        yield desk


def _embedded_keys(keys: DeskKeys) -> Keys:
    api = Key(keys.agent, BASE_URL) if keys.agent is not None else None
    return Keys(api, Key(keys.operator, BASE_URL))


def _around(client: Client, database: Database, clock: Clock, rng: random.Random) -> Surroundings:
    return Surroundings(client, database, clock, lambda: f"{rng.getrandbits(128):032x}", rng)


def open_desk_of(options: Options, initial: DeskState) -> AbstractAsyncContextManager[Desk]:
    """The desk that the options name."""
    return (embedded_desk if options.url is None else remote_desk)(options, initial)


_FIXES: Final[dict[type[Exception], str]] = {
    DirectoryLockedError: "close the other one, or give another --data-dir",
    NewerSchemaError: "use the newer program, or give another --data-dir",
    CorruptDatabaseError: "it was moved aside; start again for a new desk or restore a backup",
    LostLogError: "start again to go on with what is left",
    StorageError: "see the log, or give another --data-dir",
    NewerJournalError: "use the newer program, or give another --data-dir",
    KeysError: "mend or move the file away",
    ServiceError: "see the log, and whether the disk has room",
    ValueError: "correct the address or the key",
}
"""What to do about each reason for a closed desk, first match wins."""


@contextmanager
def closed_in_plain_words() -> Generator[None]:
    """Say plainly why a desk does not open; anything else is a bug and passes.

    Raises:
        DeskClosedError: one of the known reasons.
    """
    try:
        yield
    except Exception as error:
        reason = _only(error)
        fix = next((fix for kind, fix in _FIXES.items() if isinstance(reason, kind)), None)
        if fix is None:
            raise
        log.warning("the desk stays closed: %s", reason)
        raise DeskClosedError(str(reason), fix) from reason


def _only(error: Exception) -> Exception:
    """What a TaskGroup on the way has wrapped, where it is one thing."""
    # Only groups have members; their type says nothing about whose.
    members: tuple[Exception, ...] = getattr(error, "exceptions", ())
    return _only(members[0]) if len(members) == 1 else error
