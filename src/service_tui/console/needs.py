"""Finds everything that needs the person now in the state, the most urgent first. Pure."""

from dataclasses import dataclass
from typing import Final

from service_tui.console.needs_aside import MUTED, SNOOZED, Aside, aside_of
from service_tui.console.needs_fleet import of_fleet
from service_tui.console.needs_positions import of_positions
from service_tui.console.needs_risk import last_alerts, of_risk
from service_tui.console.needs_service import of_service
from service_tui.console.ranking import Need, ranked
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.world import AbsenceView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DISMISSED: Final = "attention.dismissed"
DISMISSED_ABSENCE: Final = "attention.away"
"""Preferences: keys of dismissed rows, one a line; the dismissed absence."""


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
"""Topics that must have loaded before the list can be called empty."""


@dataclass(frozen=True, slots=True)
class Inbox:
    """All that needs the person, ranked: what is listed, and what was snoozed or muted."""

    rows: tuple[Need, ...] = ()
    snoozed: tuple[Need, ...] = ()
    muted: tuple[Need, ...] = ()


def inbox(state: DeskState, now: Timestamp) -> Inbox:
    """What needs the person, without the dismissed rows.

    Args:
        state: the newest; cached data needs no action.
        now: wall time.

    Returns:
        Rows listed, snoozed and muted; each row is in one of them.
    """
    if state.from_cache:
        return Inbox()
    gone, aside = dismissed(state), put_aside(state)
    rooms = (of_risk, of_fleet, of_service, of_positions)
    found = ranked(
        need
        for room in rooms
        for need in room(state, now)
        if not (need.is_dismissable and need.key in gone)
    )
    if not aside.snoozes and not aside.mutes:
        return Inbox(found)
    rows: list[Need] = []
    snoozed: list[Need] = []
    muted: list[Need] = []
    for need in found:
        hidden = snoozed if aside.is_snoozed(need, now) else muted if aside.is_muted(need) else rows
        hidden.append(need)
    return Inbox(tuple(rows), tuple(snoozed), tuple(muted))


def needs(state: DeskState, now: Timestamp) -> tuple[Need, ...]:
    """All rows that need the person: pinned first, then ranked by time left and money.

    Args:
        state: the newest; cached data needs no action.
        now: wall time.

    Returns:
        Rows, without those dismissed, snoozed or muted; empty if nothing needs the person.
    """
    return inbox(state, now).rows


def put_aside(state: DeskState) -> Aside:
    """What the person has snoozed and muted."""
    preferences = state.preferences
    return aside_of(preferences.get(SNOOZED, ""), preferences.get(MUTED, ""))


def ringing_alerts(state: DeskState, now: Timestamp) -> frozenset[str]:
    """Names of the alerts in their last ten minutes, without the snoozed ones."""
    last = last_alerts(state, now)
    if not last:
        return last
    hidden = {need.key for need in inbox(state, now).snoozed}
    own = (one.exit_name for one in state.risk.open_alerts if f"alert {one.alert_id}" in hidden)
    others = (one.key for one in state.supervision.needs if f"agent {one.key}" in hidden)
    return last - {*own, *others}


def alerts_of(state: DeskState) -> frozenset[str]:
    """Names of all alerts known now, of this agent and of others; empty before they are read."""
    own = (one.exit_name for one in state.risk.alerts)
    return frozenset((*own, *(one.key for one in state.supervision.needs)))


def waiting_counts(state: DeskState, needing: int) -> dict[str, int]:
    """How much waits on each screen, by the id of its key; `needing` are the rows of the first."""
    return {
        "app.attention": needing,
        "app.reactor": len(state.reactor.waiting),
        "app.redemption": len(state.redemption.ready),
        "app.agents": len(state.supervision.pending_trades),
    }


def unloaded_topics(state: DeskState) -> tuple[str, ...]:
    """The topics not loaded since the start, as text; empty once all are."""
    if state.from_cache or not state.seen:
        return tuple(_WATCHED.values())
    loaded = {*state.seen, *((Topic.REACTOR,) if state.reactor.barred else ())}
    if state.research.needs_plan:
        loaded.add(Topic.RESEARCH)
    if not state.service.embedded:
        # Another service reports no agents: there is nothing to wait for.
        loaded |= {Topic.AGENTS, Topic.FLEET}
    return tuple(text for topic, text in _WATCHED.items() if topic not in loaded)


def dismissed(state: DeskState) -> frozenset[str]:
    """Keys of the rows that the person has dismissed."""
    return frozenset(state.preferences.get(DISMISSED, "").split("\n"))


def absence_of(state: DeskState) -> AbsenceView | None:
    """Summary of the time the desk was closed, unless the person has dismissed it."""
    absence = None if state.world is None else state.world.meanwhile
    if absence is None or state.preferences.get(DISMISSED_ABSENCE) == absence_mark(absence):
        return None
    return absence


def absence_mark(absence: AbsenceView) -> str:
    """The value of the preference that dismisses this absence, and no later one."""
    return f"{absence.opened_at:.0f}"
