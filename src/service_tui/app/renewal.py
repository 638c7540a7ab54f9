"""The desk's keys for a client, and their renewal after a change on disk."""

import logging
from collections.abc import Callable
from pathlib import Path

from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.credentials.api_keys import ApiKeysError, DeskKeys, stored_desk_keys

log = logging.getLogger(__name__)


def client_keys(api_keys: DeskKeys, base_url: str) -> ApiKeys:
    """The keys of a data directory in the client's form."""
    api = None if api_keys.agent is None else ApiKey(api_keys.agent, base_url)
    return ApiKeys(api, ApiKey(api_keys.operator, base_url))


def renewing(
    data_dir: Path, client: Client, api_keys: DeskKeys, base_url: str
) -> Callable[[], bool]:
    """A function that gives a client the current keys of a data directory.

    Args:
        data_dir: where the keys are.
        client: gets the keys.
        api_keys: its present keys.
        base_url: the service that the keys are for.

    Returns:
        A function, True if the keys had changed; a file that cannot be read changes nothing.
    """
    current = api_keys

    def renew() -> bool:
        nonlocal current
        try:
            stored = stored_desk_keys(data_dir)
            if stored is None or _pair(stored) == _pair(current):
                return False
            client.renew(client_keys(stored, base_url))
        except (ApiKeysError, ValueError) as error:
            log.warning("keys unchanged: %s", error)
            return False
        current = stored
        return True

    return renew


def _pair(api_keys: DeskKeys) -> tuple[str, str | None]:
    return api_keys.operator, api_keys.agent
