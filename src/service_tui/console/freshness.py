"""Which time a screen goes by, and whether its amounts are masked.

Knows the desk's state. Must not know a clock: `now` is wall time, handed in.
Used by screens, dialogs and bars; how old data is, and whether to trade on it, says the desk.
"""

from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


def world_now(state: DeskState, now: Timestamp) -> Timestamp:
    """The time by which markets resolve: the offline world's own, else wall time."""
    if state.service.embedded and state.world is not None:
        return state.world.time_at(now)
    return now


def is_private(state: DeskState) -> bool:
    """True while amounts are to be masked."""
    return state.preferences.get("privacy") == "on"
