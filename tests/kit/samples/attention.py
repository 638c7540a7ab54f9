"""A desk on which everything needs a person at once, and a calm one."""

from dataclasses import replace

from kit.console.doors import seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import run_of, sample_supervision
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from service_tui.console.needs import needs
from service_tui.console.ranking import Need
from service_tui.desk.slices.research import ResearchView, SessionView
from service_tui.desk.slices.risk import AlertView
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus, Direction, SessionState
from service_tui.units import Timestamp

STATE = seen_before(sample_state())


CALM = replace(STATE, tickets=(), positions=(), fleet=None, buy_limits=None)


def alert_of(left_s: float, alert_id: str = "al-1") -> AlertView:
    known = guarded_state().risk.open_alerts[0]
    at = Timestamp(NOW + left_s)
    return replace(known, alert_id=alert_id, expires_at=at, breached_at=Timestamp(at - 3_600))


def session_of(state: SessionState, why: str) -> SessionView:
    return SessionView(
        "gauge", "gauge", 1, "pnl", "USD", Direction.HIGHER, state, 50, 50, why=why
    )  # fmt: skip


def everything() -> DeskState:
    """A desk on which every kind of thing needs somebody."""
    agents = tuple(
        replace(one, status=AgentStatus.BROKE if place == 1 else one.status)
        for place, one in enumerate(STATE.fleet.agents)
    )
    crashed = run_of("r9", state=SkillRunState.CRASHED, why="exit code 3")
    sessions = (
        session_of(SessionState.PAUSED, "three crashes in a row"),
        replace(session_of(SessionState.CAPPED, "50 of 50"), skill="tide"),
    )
    service = replace(
        STATE.service, problem="refused with 429", problem_of=Topic.MARKETS, problem_status=429
    )
    return replace(
        STATE,
        fleet=replace(STATE.fleet, agents=agents),
        supervision=replace(sample_supervision(), runs=(crashed,)),
        research=ResearchView(sessions=sessions, needs_plan=True),
        risk=replace(guarded_state().risk, alerts=(alert_of(400),)),
        reactor=reactor_state().reactor,
        service=service,
    )


async def at(seen: object, word: str) -> Need:
    rows = [one for one in needs(seen.app.desk_state, Timestamp(seen.clock[0])) if one.word == word]
    seen.app.front.focus_row(rows[0].key)
    await seen.press("enter")
    await seen.pilot.pause()
    return rows[0]
