"""The operator's screens and keys. Textual and Rich are used here and nowhere else.

Two towers stand on one protocol. On the operator's side `console` shows what `desk` knows and
`desk` talks HTTP through `client`; on the service's side `server` speaks HTTP for `engine`. They
share only `wire` (the protocol), `terms` and `units` (the words), and meet in one room, `app`,
which hands the embedded server's transport to the desk. State flows down, commands flow up, and
every noun bears the same file name on each floor.
"""

import importlib
from typing import TYPE_CHECKING

from service_tui.version import VERSION

if TYPE_CHECKING:
    from service_tui.sdk.client import ServiceClient as ServiceClient
    from service_tui.sdk.rounds import Idea as Idea
    from service_tui.sdk.rounds import Rounds as Rounds
    from service_tui.sdk.rounds import run_skill as run_skill

__version__ = VERSION

_ROOMS = {
    "ServiceClient": "service_tui.sdk.client",
    "Idea": "service_tui.sdk.rounds",
    "Rounds": "service_tui.sdk.rounds",
    "run_skill": "service_tui.sdk.rounds",
}


def __getattr__(name: str) -> object:
    """What scripts import from here, loaded only when they do: the console must not wait for it.

    Returns:
        The thing of that name.

    Raises:
        AttributeError: there is none.
    """
    if name in _ROOMS:
        return getattr(importlib.import_module(_ROOMS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
