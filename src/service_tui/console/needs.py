"""What needs the person now, as rows: found in the state, the one that cannot wait first. Pure.

Knows the desk's state. Must not know a widget or a clock: `now` is wall time, handed in.
Used by the attention screen, and by the app for the number beside its key.
"""

from typing import Final

from service_tui.console.needs_fleet import of_fleet
from service_tui.console.needs_held import of_positions
from service_tui.console.needs_risk import of_risk
from service_tui.console.needs_service import of_service
from service_tui.console.ranking import Need, ranked
from service_tui.desk.records import MeanwhileView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DISMISSED: Final = "attention.dismissed"
AWAY: Final = "attention.away"
"""Preferences: keys of rows put aside, one a line; the absence put aside."""


def needs(state: DeskState, now: Timestamp) -> tuple[Need, ...]:
    """Everything that needs the person, ranked by time left and money.

    Args:
        state: the newest; what it knows from the cache alone asks for nothing.
        now: wall time.

    Returns:
        Rows, without those that the person has put aside; empty when all is calm.
    """
    if state.from_cache:
        return ()
    aside = dismissed(state)
    rooms = (of_risk, of_fleet, of_service, of_positions)
    return ranked(
        need
        for room in rooms
        for need in room(state, now)
        if not (need.is_dismissable and need.key in aside)
    )


def dismissed(state: DeskState) -> frozenset[str]:
    """Keys of the rows that the person has put aside."""
    return frozenset(state.preferences.get(DISMISSED, "").split("\n"))


def meanwhile(state: DeskState) -> MeanwhileView | None:
    """What happened while the desk was closed, unless the person has put it aside."""
    absence = None if state.world is None else state.world.meanwhile
    if absence is None or state.preferences.get(AWAY) == away_mark(absence):
        return None
    return absence


def away_mark(absence: MeanwhileView) -> str:
    """The value of the preference that puts this absence aside, and no later one."""
    return f"{absence.opened_at:.0f}"
