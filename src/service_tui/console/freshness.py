"""The clock of a screen, the privacy mode, and why money cannot be moved on stale data."""

from dataclasses import replace
from typing import Final

from service_tui.console.keys import cap
from service_tui.console.reasons import reason_text
from service_tui.desk.freshness import is_answered, untradable
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import CLOSED_SPEED_MAX
from service_tui.units import Timestamp

__all__ = [
    "NOT_RECORDED",
    "NOT_YET",
    "awaited",
    "counted",
    "if_none",
    "is_answered",
    "is_newer_answer",
    "is_private",
    "not_loaded_text",
    "of_wall",
    "of_world",
    "on_wall",
    "trade_block_reason",
    "world_now",
]

NOT_RECORDED: Final = "not recorded"
NOT_YET: Final = "not known yet"
"""Text of an empty list until the service has answered."""


def world_now(state: DeskState, now: Timestamp) -> Timestamp:
    """The time by which markets resolve: the offline world's own, else wall time.

    A cached world has run on since then as it does while nobody is there.
    """
    world = state.world
    if not state.service.embedded or world is None:
        return now
    if state.from_cache:
        world = replace(world, speed=min(world.speed, CLOSED_SPEED_MAX))
    return world.time_at(now)


def is_newer_answer(before: DeskState, after: DeskState) -> bool:
    """True if the service has answered again and nothing else changed: only ages are then new.

    A first answer is news: what was not loaded is known from then on.
    """
    if before.seen == after.seen or before.seen.keys() != after.seen.keys():
        return False
    was = before.service
    service = replace(
        after.service, last_ok_at=was.last_ok_at, latency_s=was.latency_s, skew_s=was.skew_s
    )
    return replace(after, seen=before.seen, service=service) == before


def of_world(state: DeskState) -> str:
    """Suffix of a title of market events, which use the world's clock.

    Markets, their prices, news, trades and outcomes have the world's time; orders, fills of ours,
    alerts, equity and actions of a person or an agent have wall time.

    Returns:
        Empty if there is one clock only.
    """
    return ", world time" if _has_two_clocks(state) else ""


def of_wall(state: DeskState) -> str:
    """Suffix of a title of actions of this desk, beside market events."""
    return ", wall time" if _has_two_clocks(state) else ""


def on_wall(state: DeskState) -> str:
    """The same suffix behind the label of one figure, where room is short."""
    return ", wall" if _has_two_clocks(state) else ""


def _has_two_clocks(state: DeskState) -> bool:
    return state.service.embedded and state.world is not None


def is_private(state: DeskState) -> bool:
    """True while amounts are masked."""
    return state.preferences.get("privacy") == "on"


def trade_block_reason(state: DeskState, topics: tuple[Topic, ...], now: Timestamp) -> str:
    """Why no money can be moved on these topics now, in one sentence; empty if it can."""
    why = untradable(state, topics, now)
    return "" if why is None else reason_text(why)


def not_loaded_text(what: str) -> str:
    """Text in place of rows until the service has answered."""
    return f"Not loaded yet: {what}.\n\n{cap('app.refresh')} refreshes."


def if_none(state: DeskState, text: str, *topics: Topic) -> str:
    """Text of an empty list: `text`, but only after all of its topics have loaded."""
    return text if is_answered(state, *topics) else NOT_YET


def awaited(state: DeskState, text: str) -> str:
    """Text in the place of what is loaded for one row; of a recorded state it never comes."""
    return text if state.rewound_to is None else NOT_RECORDED


NO_DESK: Final = "no desk is open in a replay"
"""Why the service of a console without a desk does not answer."""


def without_desk(state: DeskState) -> str:
    """Text in the place of every list of a console without a desk that shows no record yet."""
    is_alone = state.rewound_to is not None and state.service.problem == NO_DESK
    return "No record shown." if is_alone else ""


def counted(number: int, *, is_loaded: bool) -> str:
    """A count; a dash before the first answer of the service."""
    return f"{number:,}" if number or is_loaded else "…"
