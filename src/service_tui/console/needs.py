"""What needs the person now, as rows: found in the state, the one that cannot wait first. Pure."""

from typing import Final

from service_tui.console.needs_fleet import of_fleet
from service_tui.console.needs_held import of_positions
from service_tui.console.needs_risk import of_risk
from service_tui.console.needs_service import of_service
from service_tui.console.ranking import Need, ranked
from service_tui.desk.slices.records import AbsenceView, Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DISMISSED: Final = "attention.dismissed"
AWAY: Final = "attention.away"
"""Preferences: keys of rows put aside, one a line; the absence put aside."""


_WATCHED: Final = {
    Topic.MARKETS: "markets",
    Topic.POSITIONS: "positions",
    Topic.ACCOUNT: "limits",
    Topic.BRIEFING: "alerts",
    Topic.MONITORS: "monitors",
    Topic.REDEMPTIONS: "redemptions",
    Topic.REACTOR: "signals",
    Topic.AGENTS: "agents",
    Topic.FLEET: "approvals",
    Topic.RESEARCH: "experiments",
}
"""What all must have been told of before nothing can be said to need the person."""


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


def untold(state: DeskState) -> tuple[str, ...]:
    """What the service has not told of since the start, in words; empty: calm may be claimed."""
    if state.from_cache or not state.seen:
        return tuple(_WATCHED.values())
    heard = {*state.seen, *((Topic.REACTOR,) if state.reactor.barred else ())}
    if state.research.needs_plan:
        heard.add(Topic.RESEARCH)
    if not state.service.embedded:
        # Another service tells of no agents: there is nothing to wait for.
        heard |= {Topic.AGENTS, Topic.FLEET}
    return tuple(words for topic, words in _WATCHED.items() if topic not in heard)


def dismissed(state: DeskState) -> frozenset[str]:
    """Keys of the rows that the person has put aside."""
    return frozenset(state.preferences.get(DISMISSED, "").split("\n"))


def meanwhile(state: DeskState) -> AbsenceView | None:
    """What happened while the desk was closed, unless the person has put it aside."""
    absence = None if state.world is None else state.world.meanwhile
    if absence is None or state.preferences.get(AWAY) == away_mark(absence):
        return None
    return absence


def away_mark(absence: AbsenceView) -> str:
    """The value of the preference that puts this absence aside, and no later one."""
    return f"{absence.opened_at:.0f}"
