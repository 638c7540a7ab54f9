"""Demo agents of a new world: at work at once, by the rules, and gone when they are retired."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from kit.clock import leap
from kit.desk.faults import ready
from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.desk.commands.agents import AgentAct, ApproveTrade, Govern
from service_tui.desk.desk import Desk
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.state import DeskState
from service_tui.units import decimal

NAMES = ["demo-news", "demo-momentum", "demo-favourite"]


def options(path: Path, *, demo: bool = True) -> Options:
    return Options(path / "data", path / "config", path / "log", seed=11, demo=demo)


@asynccontextmanager
async def opened(asked: Options, clock: ManualClock) -> AsyncGenerator[Desk]:
    async with embedded_parts(asked, first_state(asked), clock, Random(3)) as desk:
        yield desk


async def until(
    desk: Desk, clock: ManualClock, is_so: Callable[[DeskState], object], *, within_s: float
) -> DeskState:
    """The state once it is as wanted, within so many seconds of the desk's clock."""
    end = clock.now() + within_s
    while not is_so(desk.state):
        assert clock.now() < end, "it never came to be so"
        await clock.advance(0.25)
        await asyncio.to_thread(int)
        await asyncio.sleep(0.002)
    return desk.state


def demos(state: DeskState) -> dict[str, AgentView]:
    """The agents of the list that are named as demos."""
    agents = () if state.fleet is None else state.fleet.agents
    return {one.name: one for one in agents if one.name.startswith("demo-")}


@pytest.mark.slow
async def test_a_new_world_has_three_agents_of_which_one_asks_within_a_minute(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    async with opened(options(tmp_path), clock) as desk:
        state = await until(desk, clock, lambda s: s.supervision.pending_trades, within_s=60)
        request = state.supervision.pending_trades[0]
        assert request.agent_name == "demo-news"
        assert request.reasoning
        state = await until(desk, clock, lambda s: len(demos(s)) == 3, within_s=60)
        assert [one for one in NAMES if one in demos(state)] == NAMES
        assert {one.agent_id for one in demos(state).values()} == set(state.demo_agents)
        leashes = {
            one.agent_id: (one.mode.value, decimal(one.budget or 0))
            for one in state.supervision.leashes
        }
        assert [leashes[demos(state)[name].agent_id] for name in NAMES] == [
            ("ask", 60.0),
            ("auto", 50.0),
            ("auto", 50.0),
        ]
        # One of the others buys without a question, and says why.
        state = await until(desk, clock, lambda s: s.fills, within_s=60)
        assert demos(state)[state.fills[0].agent_name]
        desk.submit(ApproveTrade(request.pending_id, "the first request"))
        await until(
            desk,
            clock,
            lambda s: any(one.agent_name == "demo-news" for one in s.fills),
            within_s=30,
        )


@pytest.mark.slow
async def test_demo_agents_are_the_same_at_the_next_start_until_they_are_retired(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    async with opened(options(tmp_path), clock) as desk:
        await until(desk, clock, lambda s: len(demos(s)) == 3 and s.fills, within_s=90)
        known = desk.state.demo_agents
    async with opened(options(tmp_path), clock) as desk:
        state = await until(desk, clock, lambda s: len(demos(s)) == 3 and s.fills, within_s=120)
        assert state.demo_agents == known
        assert len(state.living_demos) == 3
        for agent in state.living_demos:
            desk.submit(Govern(AgentAct.RETIRE, agent.agent_id, agent.name))
        state = await until(desk, clock, lambda s: not s.living_demos, within_s=60)
        count = sum(one.trades_count for one in demos(state).values())
        # The slowest of them had a turn every two minutes.
        await leap(clock, 300)
        assert sum(one.trades_count for one in demos(desk.state).values()) == count


@pytest.mark.slow
async def test_a_world_begins_without_demo_agents_if_they_are_left_out(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(options(tmp_path, demo=False), clock) as desk:
        await until(desk, clock, lambda s: ready(s) and s.fleet, within_s=60)
        # Twice as long as the first turn of the last of them would take.
        await leap(clock, 30)
        assert demos(desk.state) == {}
    # Nor does an old world get any.
    async with opened(options(tmp_path), clock) as desk:
        await until(desk, clock, lambda s: ready(s) and s.fleet, within_s=60)
        await leap(clock, 30)
        assert demos(desk.state) == {}
        assert desk.state.demo_agents == ()
