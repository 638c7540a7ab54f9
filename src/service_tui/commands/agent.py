"""Retire or readmit an agent without a console: the desk's own command, without a screen."""

from typing import Final

from service_tui.app.options import Options
from service_tui.app.waiting import until
from service_tui.commands.halt import ANSWERS_S, HaltReport, run_on_desk
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.desk import Desk
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.state import DeskState

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
    matches = [match for match in fleet.agents if name in {match.agent_id, match.name}]
    if len(matches) != 1:
        why = "several agents have this name: give the id" if matches else "no such agent"
        return HaltReport(
            is_done=False, lines=(why, *(_line(match) for match in matches or fleet.agents))
        )
    agent, retires = matches[0], act is AgentAct.RETIRE
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


def _is_so(state: DeskState, agent_id: str, retired: bool) -> bool:  # noqa: FBT001 - a state
    agents = () if state.fleet is None else state.fleet.agents
    return any(agent.agent_id == agent_id and agent.retired is retired for agent in agents)


def _line(agent: AgentView) -> str:
    return f"{agent.agent_id}  {agent.name}{'  (retired)' if agent.retired else ''}"
