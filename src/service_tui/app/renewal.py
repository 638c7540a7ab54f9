"""The desk's keys for a client, and their renewal after a change on disk."""

import logging
from collections.abc import Callable
from pathlib import Path

from service_tui.client.client import Client
from service_tui.client.keys import Key, Keys
from service_tui.credentials.keys import DeskKeys, KeysError, stored_desk_keys

log = logging.getLogger(__name__)


def client_keys(keys: DeskKeys, base_url: str) -> Keys:
    """The keys of a data directory in the client's form."""
    api = None if keys.agent is None else Key(keys.agent, base_url)
    return Keys(api, Key(keys.operator, base_url))


def renewing(data_dir: Path, client: Client, keys: DeskKeys, base_url: str) -> Callable[[], bool]:
    """A function that gives a client the current keys of a data directory.

    Args:
        data_dir: where the keys are.
        client: gets the keys.
        keys: its present keys.
        base_url: the service that the keys are for.

    Returns:
        A function, True if the keys had changed; a file that cannot be read changes nothing.
    """
    current = keys

    def renew() -> bool:
        nonlocal current
        try:
            stored = stored_desk_keys(data_dir)
            if stored is None or _pair(stored) == _pair(current):
                return False
            client.renew(client_keys(stored, base_url))
        except (KeysError, ValueError) as error:
            log.warning("keys unchanged: %s", error)
            return False
        current = stored
        return True

    return renew


def _pair(keys: DeskKeys) -> tuple[str, str | None]:
    return keys.operator, keys.agent
