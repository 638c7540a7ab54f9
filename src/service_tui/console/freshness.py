"""Which time a screen goes by, whether its amounts are masked, and what is not known yet."""

from typing import Final

from service_tui.console.keys import cap
from service_tui.console.reasons import reason_text
from service_tui.desk.freshness import is_answered, untradable
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

__all__ = [
    "NOT_YET",
    "counted",
    "if_none",
    "is_answered",
    "is_private",
    "not_told",
    "of_wall",
    "of_world",
    "on_wall",
    "why_not_traded",
    "world_now",
]

NOT_YET: Final = "not known yet"
"""In the place of "none", as long as the service has not told."""


def world_now(state: DeskState, now: Timestamp) -> Timestamp:
    """The time by which markets resolve: the offline world's own, else wall time."""
    if state.service.embedded and state.world is not None:
        return state.world.time_at(now)
    return now


def of_world(state: DeskState) -> str:
    """What stands behind a title of events of the markets: they go by the world's clock.

    Markets, their prices, news, trades and outcomes have the world's time; orders, fills of ours,
    alerts, equity and everything that a person or an agent did have wall time.

    Returns:
        Empty where there is one clock alone.
    """
    return ", world time" if _has_two_clocks(state) else ""


def of_wall(state: DeskState) -> str:
    """What stands behind a title of what was done here, beside events of the markets."""
    return ", wall time" if _has_two_clocks(state) else ""


def on_wall(state: DeskState) -> str:
    """The same behind the label of one figure, where room is short."""
    return ", wall" if _has_two_clocks(state) else ""


def _has_two_clocks(state: DeskState) -> bool:
    return state.service.embedded and state.world is not None


def is_private(state: DeskState) -> bool:
    """True while amounts are to be masked."""
    return state.preferences.get("privacy") == "on"


def why_not_traded(state: DeskState, topics: tuple[Topic, ...], now: Timestamp) -> str:
    """Why no money may be moved on these topics now, in one sentence; empty when it may."""
    why = untradable(state, topics, now)
    return "" if why is None else reason_text(why)


def not_told(what: str) -> str:
    """What stands in the place of rows while the service is there and has not told of them."""
    return (
        f"Not known yet: the service has not told of its {what}.\n\n{cap('app.refresh')} asks now."
    )


def if_none(state: DeskState, said: str, *topics: Topic) -> str:
    """What is said of an empty list: that it is empty only once all it is made of was told."""
    return said if is_answered(state, *topics) else NOT_YET


def counted(number: int, *, heard: bool) -> str:
    """How many there are; no nought before the service has told of them."""
    return f"{number:,}" if number or heard else "…"
