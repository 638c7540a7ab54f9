"""The terminal desk for people who supervise trading agents.

Two towers stand on one protocol. On the operator's side `console` shows what `desk` knows and
`desk` talks HTTP through `client`; on the service's side `server` speaks HTTP for `engine`. They
share only `wire` (what is said), `terms` and `units` (the words), and meet in one room, `wiring`,
which hands the embedded server's transport to the desk. State flows down, commands flow up, and
every noun bears the same file name on each floor.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service_tui.sdk.client import ServiceClient as ServiceClient

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """What scripts import from here, loaded only when they do: the console must not wait for it.

    Returns:
        The thing of that name.

    Raises:
        AttributeError: there is none.
    """
    if name == "ServiceClient":
        return importlib.import_module("service_tui.sdk.client").ServiceClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
