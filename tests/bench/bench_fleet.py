"""How long page 7 takes to open with a hundred agents, each with its curve and its figures.

Run: python tests/bench/bench_fleet.py [agents]
Prints the median of nine, CPU milliseconds: the table is laid out and painted. Ends with status 1
above the limit of the issue.
"""

import asyncio
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from kit.console.doors import running
from kit.samples.fleet import returns_of, returns_state
from service_tui.desk.state import DeskState

LIMIT_MS = 100.0


def fleet_of(count: int) -> DeskState:
    state = returns_state()
    assert state.fleet is not None
    one = state.fleet.agents[1]
    agents = tuple(
        replace(one, agent_id=f"b-{place}", name=f"agent {place}") for place in range(count)
    )
    view = replace(state.supervision, returns=tuple(returns_of(agent.agent_id) for agent in agents))
    return replace(state, fleet=replace(state.fleet, agents=agents), supervision=view)


async def opened_ms(state: DeskState) -> list[float]:
    times: list[float] = []
    async with running(state, first="attention", size=(160, 50)) as seen:
        for _ in range(10):
            await seen.press("0")
            began = process_time()
            await seen.press("7")
            times.append((process_time() - began) * 1_000)
    # The first time the screen is made.
    return times[1:]


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    median = statistics.median(asyncio.run(opened_ms(fleet_of(count))))
    print(f"page 7 with {count} agents: {median:.1f} ms, at most {LIMIT_MS:g}")
    return median > LIMIT_MS


if __name__ == "__main__":
    raise SystemExit(main())
