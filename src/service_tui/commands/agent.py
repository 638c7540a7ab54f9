"""Agents without a console: retire, readmit, set alerts. The desk's own commands, no screen."""

from dataclasses import dataclass
from typing import Final

from service_tui.app.options import Options
from service_tui.app.waiting import until
from service_tui.commands.halt import ANSWERS_S, HaltReport, run_on_desk
from service_tui.desk.commands.agents import AgentAct, Govern, RemoveAgentAlert, SetAgentAlert
from service_tui.desk.desk import Desk
from service_tui.desk.freshness import leashes_known
from service_tui.desk.slices.agents import AgentView, FleetView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState
from service_tui.terms import AgentAlertAction, AgentAlertKind
from service_tui.units import micros

UNKNOWN: Final = "only agents of the embedded service are managed here"


def govern(options: Options, act: str, name: str) -> HaltReport:
    """Retire or readmit the agent of this name or id.

    Returns:
        The service's messages; `is_done` once the agent has the new state.

    Raises:
        DeskClosedError: the directory cannot be used; gives the reason and the fix.
    """
    action = AgentAct(act)

    async def work(desk: Desk) -> HaltReport:
        return await govern_on(desk, action, name)

    return run_on_desk(options, work)


async def govern_on(desk: Desk, act: AgentAct, name: str) -> HaltReport:
    """The same on an open desk."""
    await until(desk, lambda state: state.fleet is not None, ANSWERS_S)
    fleet = desk.state.fleet
    if fleet is None:
        return HaltReport(is_done=False, lines=(UNKNOWN,))
    agent = _found(fleet, name)
    if isinstance(agent, HaltReport):
        return agent
    retires = act is AgentAct.RETIRE
    if agent.retired is retires:
        return HaltReport(is_done=True, lines=(f"{agent.name}: nothing to do",))
    last = desk.state.notices[-1].notice_id if desk.state.notices else 0
    desk.submit(Govern(act, agent.agent_id, agent.name))

    def messages(state: DeskState) -> tuple[str, ...]:
        return tuple(
            notice.text
            for notice in state.notices
            if notice.notice_id > last and agent.name in notice.text
        )

    await until(desk, lambda state: bool(messages(state)), ANSWERS_S)
    is_done = await until(desk, lambda state: _is_so(state, agent.agent_id, retires), 2.0)
    return HaltReport(is_done, messages(desk.state))


def _found(fleet: FleetView, name: str) -> AgentView | HaltReport:
    """The agent of a name or id; else why there is none, with those that there are."""
    matches = [match for match in fleet.agents if name in {match.agent_id, match.name}]
    if len(matches) == 1:
        return matches[0]
    why = "several agents have this name: give the id" if matches else "no such agent"
    lines = (why, *(_line(match) for match in matches or fleet.agents))
    return HaltReport(is_done=False, lines=lines)


# -- alerts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AlertRequest:
    """An alert as it was typed: whose, its kind or id, limit, minutes, action and skill."""

    name: str
    watch: str = ""
    limit: str = ""
    minutes: int = 10
    action: str = AgentAlertAction.TELL.value
    skill: str = ""


def alert(options: Options, wanted: AlertRequest, *, removes: bool) -> HaltReport:
    """Set an alert on an agent, or remove one.

    Returns:
        The service's messages; `is_done` once it is set or gone.

    Raises:
        DeskClosedError: the directory cannot be used; gives the reason and the fix.
    """

    async def work(desk: Desk) -> HaltReport:
        return await alert_on(desk, wanted, removes=removes)

    return run_on_desk(options, work)


async def alert_on(desk: Desk, wanted: AlertRequest, *, removes: bool) -> HaltReport:
    """The same on an open desk."""
    await until(desk, lambda state: state.fleet is not None, ANSWERS_S)
    fleet = desk.state.fleet
    if fleet is None:
        return HaltReport(is_done=False, lines=(UNKNOWN,))
    agent = _found(fleet, wanted.name)
    if isinstance(agent, HaltReport):
        return agent
    await until(desk, leashes_known, ANSWERS_S)
    order = _removal(desk.state, agent, wanted) if removes else _setting(agent, wanted)
    if isinstance(order, str):
        return HaltReport(is_done=False, lines=(order,))
    last = desk.state.notices[-1].notice_id if desk.state.notices else 0
    desk.submit(order)

    def answers(state: DeskState) -> tuple[Notice, ...]:
        return tuple(
            one
            for one in state.notices
            if one.notice_id > last and one.text.startswith(order.describe())
        )

    await until(desk, lambda state: bool(answers(state)), ANSWERS_S)
    found = answers(desk.state)
    is_done = any(one.tone == "good" for one in found)
    return HaltReport(is_done, tuple(one.text for one in found) or ("no answer",))


def _setting(agent: AgentView, wanted: AlertRequest) -> SetAgentAlert | str:
    """The command of what was typed, or why it is none."""
    if wanted.watch not in {kind.value for kind in AgentAlertKind}:
        return f"the kinds are {', '.join(AgentAlertKind)}"
    kind = AgentAlertKind(wanted.watch)
    try:
        limit = micros(float(wanted.limit) / kind.typed_per_limit)
    except ValueError:
        return f"no limit: {wanted.limit or 'none was given'}"
    return SetAgentAlert(
        agent.agent_id,
        agent.name,
        kind,
        limit,
        wanted.minutes if kind.has_window else 0,
        AgentAlertAction(wanted.action),
        wanted.skill,
    )


def _removal(state: DeskState, agent: AgentView, wanted: AlertRequest) -> RemoveAgentAlert | str:
    """The command that removes an alert, or why there is none."""
    alerts = state.supervision.alerts_of(agent.agent_id)
    for one in alerts:
        if one.alert_id == wanted.watch:
            return RemoveAgentAlert(agent.agent_id, agent.name, one.alert_id, one.describe())
    ids = ", ".join(one.alert_id for one in alerts) or "none"
    return f"no such alert; {agent.name} has {ids}"


def _is_so(state: DeskState, agent_id: str, retired: bool) -> bool:  # noqa: FBT001 - a state
    agents = () if state.fleet is None else state.fleet.agents
    return any(agent.agent_id == agent_id and agent.retired is retired for agent in agents)


def _line(agent: AgentView) -> str:
    return f"{agent.agent_id}  {agent.name}{'  (retired)' if agent.retired else ''}"
