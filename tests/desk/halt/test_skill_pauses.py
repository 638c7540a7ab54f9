"""Whose pause is whose, when a halt at a service without one begins and ends."""

from dataclasses import replace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.desk.halt.skills import SkillPauses
from service_tui.desk.ports import Ports
from service_tui.desk.slices.halt import HaltedAgent, HaltView

NAMES = ("never", "free", "paused", "unsaid")
AGENTS = (
    HaltedAgent("a-1", "never"),
    HaltedAgent("a-2", "free", was_paused=False),
    HaltedAgent("a-3", "paused", was_paused=True),
    HaltedAgent("a-4", "unsaid", was_paused=True, is_unsaid=True),
)


class Agents:
    """The agents at the service: what is asked of them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.here: tuple[HaltedAgent, ...] = ()
        self.gone = ""
        self.found = True

    def present(self) -> tuple[HaltedAgent, ...]:
        return self.here

    async def as_found(self, agent: HaltedAgent) -> HaltedAgent:
        self.asked.append(("found", agent.agent_id))
        return replace(agent, was_paused=self.found)

    async def pause(self, agent: HaltedAgent) -> None:
        self.asked.append(("pause", agent.agent_id))

    async def lift(self, agent: HaltedAgent) -> str:
        self.asked.append(("lift", agent.agent_id))
        return self.gone

    async def cancel_buys(self, agents: tuple[HaltedAgent, ...]) -> str:
        self.asked.append(("cancel", ",".join(one.agent_id for one in agents)))
        return "2 cancelled"


def made(
    agents: tuple[HaltedAgent, ...] = AGENTS, **service: bool
) -> tuple[SkillPauses, Agents, Offline, list[str]]:
    state = sample_state(8)
    at = replace(state.service, **{"embedded": False, **service})
    on, its, kept = (
        Offline(replace(state, service=at, halt=HaltView(NOW, agents=agents))),
        Agents(),
        list[str](),
    )

    async def keep(_: Ports) -> str:
        halt = on.state.halt
        kept.append("" if halt is None else str([one.was_paused for one in halt.agents]))
        return ""

    return SkillPauses(on.ports, cast("Any", its), keep), its, on, kept


async def test_the_end_of_a_halt_lifts_the_pauses_that_it_has_set_and_no_other() -> None:
    pauses, its, _, _ = made()
    steps: list[int] = []
    left = await pauses.lift(lambda: steps.append(1))
    assert its.asked == [("lift", "a-2")]
    assert left == [
        "paused stays paused: already paused at the service before the halt",
        "unsaid stays paused: pause before the halt unknown; check its settings at the service",
    ]
    assert len(steps) == len(AGENTS)
    its.gone = "no key of free here"
    assert "free stays paused: no key of free here" in await pauses.lift(lambda: None)


@pytest.mark.parametrize("service", [{"embedded": True}, {"read_only": True}])
async def test_a_desk_that_may_not_pause_names_steps_and_lifts_nothing(
    service: dict[str, bool],
) -> None:
    pauses, its, _, _ = made(**service)
    its.here = (HaltedAgent("a-9", "new"),)
    assert pauses.named(AGENTS) == AGENTS
    assert pauses.steps(AGENTS) == ()
    assert await pauses.lift(lambda: None) == []
    assert its.asked == []


def test_agents_that_trade_here_now_are_named_once() -> None:
    pauses, its, _, _ = made()
    new = HaltedAgent("a-9", "new")
    its.here = (HaltedAgent("a-2", "free"), new)
    assert pauses.named(AGENTS) == (*AGENTS, new)


@pytest.mark.parametrize("found", [True, False])
async def test_an_agent_is_written_down_as_it_was_before_it_is_paused(*, found: bool) -> None:
    pauses, its, on, kept = made()
    its.found = found
    steps = pauses.steps(AGENTS)
    assert [(one.name, one.description) for one in steps] == [
        *(
            (f"pause:a-{place}", f"{name} paused by the service")
            for place, name in enumerate(NAMES, 1)
        ),
        ("skill_orders", "no open buys of skills on this desk's leash"),
    ]
    words = [await one.carry_out(on.ports) for one in steps]
    before = "already paused before"
    assert words == [before if found else "", "", before, "earlier state unknown", "2 cancelled"]
    assert its.asked == [
        ("found", "a-1"),
        *(("pause", f"a-{place}") for place in (1, 2, 3, 4)),
        ("cancel", "a-1,a-2,a-3,a-4"),
    ]
    assert kept == [f"[{found}, False, True, True]"] * 4


async def test_a_disk_that_refuses_holds_up_no_pause() -> None:
    pauses, its, on, _ = made()

    async def full(_: Ports) -> str:
        raise OSError("disk full")

    pauses._keep = full
    with pytest.raises(OSError, match="disk full"):
        await pauses.steps(AGENTS)[1].carry_out(on.ports)
    assert its.asked == [("pause", "a-2")]
