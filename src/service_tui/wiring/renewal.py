"""The desk's keys as a client takes them, and taken anew when they are others."""

import logging
from collections.abc import Callable
from pathlib import Path

from service_tui.client.client import Client
from service_tui.client.keys import Key, Keys
from service_tui.wiring.keys import DeskKeys, KeysError, stored_desk_keys

log = logging.getLogger(__name__)


def client_keys(keys: DeskKeys, base_url: str) -> Keys:
    """The keys of a data directory as a client takes them."""
    api = None if keys.agent is None else Key(keys.agent, base_url)
    return Keys(api, Key(keys.operator, base_url))


def renewing(data_dir: Path, client: Client, keys: DeskKeys, base_url: str) -> Callable[[], bool]:
    """What gives a client the keys of a data directory as they lie there now.

    Args:
        data_dir: where they lie.
        client: who uses them.
        keys: those that it has.
        base_url: where they belong.

    Returns:
        A function that says whether they were others; what cannot be read changes nothing.
    """
    known = keys

    def renew() -> bool:
        nonlocal known
        try:
            found = stored_desk_keys(data_dir)
            if found is None or _pair(found) == _pair(known):
                return False
            client.renew(client_keys(found, base_url))
        except (KeysError, ValueError) as error:
            log.warning("the keys stay as they are: %s", error)
            return False
        known = found
        return True

    return renew


def _pair(keys: DeskKeys) -> tuple[str, str | None]:
    return keys.operator, keys.agent
