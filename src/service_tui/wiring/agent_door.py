"""Retire an agent, or readmit it, without a console: the desk's own command, and no screen."""

from typing import Final

from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.desk import Desk
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.state import DeskState
from service_tui.wiring.halt_door import ANSWERS_S, HaltReport, run_on_desk, until
from service_tui.wiring.options import Options

UNKNOWN: Final = "the service does not tell of its agents: only the embedded one is governed here"


def govern(options: Options, act: str, name: str) -> HaltReport:
    """Retire or readmit the agent of this name or id.

    Returns:
        What the service said; done when it is so.

    Raises:
        DeskClosedError: the directory cannot be used; says why and what to do.
    """
    wanted = AgentAct(act)

    async def work(desk: Desk) -> HaltReport:
        return await _govern(desk, wanted, name)

    return run_on_desk(options, work)


async def _govern(desk: Desk, act: AgentAct, name: str) -> HaltReport:
    await until(desk, lambda state: state.fleet is not None, ANSWERS_S)
    fleet = desk.state.fleet
    if fleet is None:
        return HaltReport(is_done=False, lines=(UNKNOWN,))
    found = [one for one in fleet.agents if name in {one.agent_id, one.name}]
    if len(found) != 1:
        why = "more than one agent has this name: give its id" if found else "no such agent"
        return HaltReport(
            is_done=False, lines=(why, *(_line(one) for one in found or fleet.agents))
        )
    agent, wants = found[0], act is AgentAct.RETIRE
    if agent.retired is wants:
        return HaltReport(is_done=True, lines=(f"{agent.name}: nothing to do",))
    last = desk.state.notices[-1].notice_id if desk.state.notices else 0
    desk.submit(Govern(act, agent.agent_id, agent.name))

    def said(state: DeskState) -> tuple[str, ...]:
        return tuple(
            one.text for one in state.notices if one.notice_id > last and agent.name in one.text
        )

    await until(desk, lambda state: bool(said(state)), ANSWERS_S)
    is_done = await until(desk, lambda state: _is_so(state, agent.agent_id, wants), 2.0)
    return HaltReport(is_done, said(desk.state))


def _is_so(state: DeskState, agent_id: str, wants: bool) -> bool:  # noqa: FBT001 - a state
    agents = () if state.fleet is None else state.fleet.agents
    return any(one.agent_id == agent_id and one.retired is wants for one in agents)


def _line(agent: AgentView) -> str:
    return f"{agent.agent_id}  {agent.name}{'  (retired)' if agent.retired else ''}"
