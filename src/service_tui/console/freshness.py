"""Which time a screen goes by, whether its amounts are masked, and what is not known yet.

Knows the desk's state. Must not know a clock: `now` is wall time, handed in.
Used by screens, dialogs and bars; how old data is, and whether to trade on it, says the desk.
"""

from service_tui.desk.records import Topic
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


def is_heard(state: DeskState, topic: Topic) -> bool:
    """True once the service has answered for a topic: before that an empty list says nothing."""
    return topic in state.seen


def not_told(what: str) -> str:
    """What stands in the place of rows while the service is there and has not told of them."""
    return f"Not known yet: the service has not told of its {what}.\n\nr asks now."


def counted(number: int, *, heard: bool) -> str:
    """How many there are; no nought before the service has told of them."""
    return f"{number:,}" if number or heard else "…"
