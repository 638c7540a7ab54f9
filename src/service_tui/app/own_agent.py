"""The person's own agent on the embedded service: registered once, then found again.

The world remembers the agent; a lost or wrong key file costs the key, never the account.
"""

import logging
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.credentials.api_keys import (
    DESK_FILE,
    ApiKeysError,
    DeskKeys,
    keep_desk_keys,
    stored_desk_keys,
)
from service_tui.engine.agents.agents import Agent
from service_tui.server.embedded import BASE_URL, Sim
from service_tui.server.http.access import hash_of
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.desk import DESK_NEW_KEY
from service_tui.wire.endpoints.public import REGISTER

log = logging.getLogger(__name__)

DESK_AGENT: Final = "desk"
"""Name of the person's own agent."""

OWN_AGENT: Final = "own_agent"
"""Under which the database keeps the agent's id."""

RENEWED: Final = f"the key in {DESK_FILE} was lost or wrong: key replaced, account kept"


async def keys_of_own_agent(
    sim: Sim, database: Database, api_keys: DeskKeys, clock: Clock
) -> DeskKeys:
    """Make sure that the desk has its agent and a working key for it.

    Args:
        sim: the running service.
        database: its database; the keys lie beside it.
        api_keys: the content of the key file.
        clock: for the calls.

    Returns:
        The keys, stored on disk before they are used; `is_renewed` if the agent got a new one.

    Raises:
        ApiKeysError: the operator's key is malformed, or the file cannot be written.
    """
    data_dir = database.path.parent
    client = Client(
        sim.transport,
        BASE_URL,
        ApiKeys(operator=_operator_key(api_keys, data_dir)),
        clock=clock,
        rng=random.SystemRandom(),
    )
    cache = CacheStore(database)
    kept_id = cache.preferences().get(OWN_AGENT, "")
    agents = sim.service.world.agents
    named = agents.get(api_keys.agent_id or "")
    if named is None or api_keys.agent is None or hash_of(api_keys.agent) != named.key_hash:
        own = agents.get(kept_id) or named or _first_of_its_name(agents.values())
        async with client as operator:
            if own is None:
                is_first = not agents
                api_keys = replace(await _registered(operator, api_keys), is_first=is_first)
            else:
                api_keys = await _renewed(operator, api_keys, own)
        keep_desk_keys(data_dir, api_keys)
    if api_keys.agent_id is not None and api_keys.agent_id != kept_id:
        await cache.put_preference(OWN_AGENT, api_keys.agent_id)
    return api_keys


def own_key_writer(data_dir: Path) -> Callable[[str], None]:
    """A function that stores a new key of the desk's agent for every desk of the directory."""

    def keep(key: str) -> None:
        try:
            stored = stored_desk_keys(data_dir)
            if stored is None:
                raise StorageError(f"{data_dir / DESK_FILE} is missing")
            keep_desk_keys(data_dir, replace(stored, agent=key))
        except ApiKeysError as error:
            raise StorageError(str(error)) from error

    return keep


def _first_of_its_name(agents: Iterable[Agent]) -> Agent | None:
    """The desk's agent in a database that does not record its id."""
    # The desk registers before any other agent can: it is the first, or there is none.
    first = next(iter(agents), None)
    return first if first is not None and first.settings.name == DESK_AGENT else None


def _operator_key(api_keys: DeskKeys, data_dir: Path) -> ApiKey:
    try:
        return ApiKey(api_keys.operator, BASE_URL)
    except ValueError as error:
        message = f"invalid operator key in {data_dir / DESK_FILE} ({error})"
        raise ApiKeysError(message) from error


async def _registered(operator: Client, api_keys: DeskKeys) -> DeskKeys:
    reply = await operator.call(REGISTER, body=RegisterRequest(name=DESK_AGENT))
    return replace(api_keys, agent=reply.answer.api_key, agent_id=reply.answer.agent_id)


async def _renewed(operator: Client, api_keys: DeskKeys, own: Agent) -> DeskKeys:
    """Another key for the same account; the old one no longer works."""
    reply = await operator.call(DESK_NEW_KEY, path={"agent_id": own.agent_id})
    log.warning("%s", RENEWED)
    return replace(api_keys, agent=reply.answer.api_key, agent_id=own.agent_id, is_renewed=True)
