"""Watches the heartbeat: alerts live an hour, so a missing briefing is a loud notice."""

from typing import Final

from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import BriefingLate
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

LATE_S: Final = 300.0
"""ours: alerts live an hour, a briefing comes every 15 s; five minutes without one are a notice."""

AT_LEAST_S: Final = 1_800.0
"""Source: spec, "Risk alert lifetime": call the briefing at least every 30 minutes."""

LOOK_S: Final = 15.0


async def watch_briefing(ports: Ports) -> None:
    """Notify when the briefing is late, when alerts may be lost, and when it is back.

    Each is notified once, and only if two checks agree: a machine that was asleep has not polled
    yet at the first. Goes on for ever.
    """
    began, notified, last = ports.now(), 0, 0
    while True:
        state = ports.state()
        late_s = silence_s(state, began, ports.now())
        grade, last = min(last, _grade(late_s)), _grade(late_s)
        text = late_text(state, late_s) if grade else ""
        if text != state.risk.briefing_late:
            ports.emit(BriefingLate(text))
        if grade > notified:
            ports.emit(Noticed("bad", text, NoticeKind.CONNECTION))
        elif notified and not grade:
            again = "briefings resumed"
            ports.emit(Noticed("good", again, NoticeKind.CONNECTION))
        notified = grade
        await ports.clock.sleep(LOOK_S)


def _grade(late_s: float) -> int:
    """0 in time, 1 late, 2 so late that an alert may have expired unseen."""
    return (late_s > LATE_S) + (late_s > AT_LEAST_S)


def silence_s(state: DeskState, began: Timestamp, now: Timestamp) -> float:
    """Seconds without a briefing: since the last one, else since the desk opened."""
    return abs(now - state.seen.get(Topic.BRIEFING, began))


def late_text(state: DeskState, late_s: float) -> str:
    """Consequence of a missing briefing, in whole minutes."""
    service = state.service
    why = f": {service.problem}" if service.problem_of is Topic.BRIEFING and service.problem else ""
    if service.phase is Phase.OFFLINE:
        why = ": no answer from the service"
    lost = "alerts may have expired" if late_s > AT_LEAST_S else "alerts not received"
    return f"no briefing for {late_s // 60:.0f} min, {lost}{why}"
