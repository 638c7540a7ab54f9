"""An agent is retired from the command line, and readmitted while a slot is free."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.desk.shown import ShownDesk
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.clock import SystemClock
from service_tui.commands import agent as agent_command
from service_tui.commands.agent import UNKNOWN, govern_on
from service_tui.commands.halt import HaltReport
from service_tui.commands.lists import listed
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.slices.agents import AgentView, FleetView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL
from service_tui.wire.endpoints.public import REGISTER


@pytest.mark.slow
async def test_beside_a_holder_an_agent_is_retired_and_readmitted(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7
    )

    async def told(act: str, name: str) -> agent_command.HaltReport:
        return await asyncio.to_thread(agent_command.govern, options, act, name)

    async with own_directory(options, SystemClock()) as held:
        service = held.sim.service
        async with httpx.AsyncClient(transport=held.sim.transport, base_url=BASE_URL) as nobody:
            born = await nobody.post(REGISTER.path, json={"name": "heron"})
        settings = lambda: service.world.agents[born.json()["agent_id"]].settings  # noqa: E731
        unknown = await told("retire", "nobody")
        assert (unknown.is_done, unknown.lines[0]) == (False, "no such agent")
        assert any("heron" in line for line in unknown.lines)
        retired = await told("retire", "heron")
        assert retired.is_done, retired.lines
        assert "slot free" in retired.lines[-1]
        assert settings().retired
        assert service.agents_count() == 0
        again = await told("retire", "heron")
        assert (again.is_done, again.lines) == (True, ("heron: nothing to do",))
        assert (await told("readmit", "heron")).is_done
        assert not settings().suspended


def agent(number: int, name: str, *, retired: bool = False) -> AgentView:
    return filled(AgentView, number, agent_id=f"a-{number}", name=name, retired=retired)


ADA, BOB = agent(1, "ada"), agent(2, "bob", retired=True)
TWIN = agent(3, "ada")


def state(*agents: AgentView, notices: tuple[Notice, ...] = ()) -> DeskState:
    fleet = filled(FleetView, 1, agents=agents)
    return replace(whole_desk(), fleet=fleet, notices=notices)


async def told(desk: ShownDesk, act: AgentAct, name: str) -> HaltReport:
    given: Any = desk
    return await govern_on(given, act, name)


@pytest.mark.slow
async def test_a_service_of_others_has_no_agents_to_manage() -> None:
    desk = ShownDesk(replace(whole_desk(), fleet=None))
    assert await told(desk, AgentAct.RETIRE, "ada") == HaltReport(is_done=False, lines=(UNKNOWN,))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("ada", ("several agents have this name: give the id", "a-1  ada", "a-3  ada")),
        ("eve", ("no such agent", "a-1  ada", "a-2  bob  (retired)", "a-3  ada")),
    ],
)
async def test_a_name_that_is_not_one_agents_does_nothing(
    name: str, lines: tuple[str, ...]
) -> None:
    desk = ShownDesk(state(ADA, BOB, TWIN))
    assert await told(desk, AgentAct.RETIRE, name) == HaltReport(is_done=False, lines=lines)
    assert desk.submitted == []


@pytest.mark.parametrize(
    ("act", "name"),
    [(AgentAct.RETIRE, "bob"), (AgentAct.READMIT, "ada"), (AgentAct.READMIT, "a-1")],
)
async def test_who_is_so_already_is_left_alone(act: AgentAct, name: str) -> None:
    desk = ShownDesk(state(ADA, BOB))
    found = await told(desk, act, name)
    assert found.is_done
    assert found.lines[0].endswith(": nothing to do")
    assert desk.submitted == []


OLD = (Notice(4, "info", "ada: old"), Notice(5, "info", "ada: older order"))
NEW = Notice(6, "good", "ada retired: a slot is free")
OTHER = Notice(7, "good", "bob did something")


@pytest.mark.parametrize("is_done", [True, False])
async def test_the_order_is_done_once_the_service_has_it_so(*, is_done: bool) -> None:
    retired = replace(ADA, retired=True)
    after = state(retired if is_done else ADA, agent(9, "eve", retired=not is_done),
                  notices=(*OLD, NEW, OTHER))  # fmt: skip
    desk = ShownDesk(state(ADA, BOB, notices=OLD), after)
    found = await told(desk, AgentAct.RETIRE, "ada")
    assert desk.submitted == [Govern(AgentAct.RETIRE, "a-1", "ada")]
    assert found == HaltReport(is_done, ("ada retired: a slot is free",))


@pytest.mark.slow
async def test_beside_a_holder_an_alert_is_set_listed_and_removed(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7
    )

    async def told(*typed: str, removes: bool = False, **other: Any) -> HaltReport:
        wanted = agent_command.AlertRequest("heron", *typed, **other)
        return await asyncio.to_thread(agent_command.alert, options, wanted, removes=removes)

    async with own_directory(options, SystemClock()) as held:
        async with httpx.AsyncClient(transport=held.sim.transport, base_url=BASE_URL) as nobody:
            await nobody.post(REGISTER.path, json={"name": "heron"})
        for typed, why in (
            (("loud", "5"), "the kinds are silent"),
            (("silent", "many"), "no limit: many"),
            (("silent", "nan"), "no limit: nan"),
            (("silent", ""), "no limit: none was given"),
        ):
            refused = await told(*typed)
            assert not refused.is_done
            assert refused.lines[0].startswith(why)
        done = await told("drawdown", "20", action="pause")
        assert done == HaltReport(
            is_done=True, lines=("alert on heron: drawdown of 20 %, then pause it",)
        )
        assert not (await told("silent", "0.5")).is_done
        (row,) = await asyncio.to_thread(listed, options, "agent-alerts")
        assert (row["agent_name"], row["kind"], row["limit"], row["then"]) == (
            "heron", "drawdown", 0.2, "pause",
        )  # fmt: skip
        assert (row["firing"], row["fired"], row["fired_at"], row["value"]) == (
            False, 0, None, None,
        )  # fmt: skip
        missing = await told("aa9", removes=True)
        assert missing.lines == ("no such alert; heron has aa1",)
        assert (await told("aa1", removes=True)).is_done
        assert await asyncio.to_thread(listed, options, "agent-alerts") == []
