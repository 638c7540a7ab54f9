"""Twenty programs trade at once for a minute over loopback: `soak.py [SECONDS] [PROGRAMS]`.

Asserts: no error but the limits', a ledger that sums to zero, and of every agent that its cash is
what it began with, less its buys, plus its sales and payouts, to the micro.
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

NOBODY = "sk_test_of_nobody"
FIRST = 10_000_000_000
"""Micros of a new agent."""


def trade_for(url: str, seconds: float, number: int, key: str = "") -> None:
    """One program: registers, then buys and sells what comes to its mind; prints what it met.

    With a key it is a second program of that agent.
    """
    from service_tui import ServiceClient  # noqa: PLC0415
    from service_tui.client.errors import RateLimitedError, ServiceError  # noqa: PLC0415

    rng, met = random.Random(number), Counter[str]()
    agent_id = ""
    if not key:
        born = ServiceClient.register(f"soak {number}", base_url=url)
        key, agent_id = born.api_key, born.agent_id
    until = time.monotonic() + seconds
    with ServiceClient(key, url) as client:
        markets = [market.id for market in client.get_markets(limit=40)]
        held: dict[tuple[str, str], float] = {}
        while time.monotonic() < until:
            try:
                if held and rng.random() < 0.45:
                    key = rng.choice(list(held))
                    result = client.trade(*key, shares=held.pop(key), action="sell")
                else:
                    market, side = rng.choice(markets), rng.choice(("yes", "no"))
                    amount = rng.randint(100, 2_000) / 100
                    result = client.trade(market, side, amount, allow_rebuy=True)
                    if result.success:
                        have = held.get((market, side), 0.0)
                        held[market, side] = round(have + result.shares_bought, 5)
                met["traded" if result.success else f"refused {result.error_code}"] += 1
            except RateLimitedError as error:
                met["rate limited"] += 1
                rest = min(error.retry_after_s, until - time.monotonic())
                time.sleep(max(0.0, rest))  # noqa: TID251  (a program of its own)
            except ServiceError as error:
                met[f"error {type(error).__name__}: {error}"] += 1
    print(json.dumps({"agent_id": agent_id, "met": met}))


def check_agent(stage: Any, agent_id: str, rows: list[Any]) -> None:
    """An agent's cash against its history, in micros."""
    from service_tui.engine.events import Fill  # noqa: PLC0415
    from service_tui.terms import Action  # noqa: PLC0415

    cash = FIRST
    for row in rows:
        if not isinstance(row, Fill):
            cash += row.payout.payout
        elif row.action is Action.BUY:
            cash -= row.money
        else:
            cash += row.money
    agent = stage.world.agents[agent_id]
    found = stage.world.cash(agent)
    assert cash == found, (agent_id, cash, found)
    assert found >= 0


async def watching(late: list[float]) -> None:
    """How late the service's loop is: what the console beside it would feel."""
    while True:
        started = time.perf_counter()
        await asyncio.sleep(0.02)
        late.append(time.perf_counter() - started - 0.02)


async def soak(seconds: float, programs: int) -> None:
    from kit.service.stage import open_stage  # noqa: PLC0415
    from service_tui.clock import SystemClock  # noqa: PLC0415
    from service_tui.server.http.loopback import listen  # noqa: PLC0415
    from service_tui.server.past.history import KINDS  # noqa: PLC0415
    from service_tui.storage.journal import History  # noqa: PLC0415
    from service_tui.terms import Plan  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        clock: Any = SystemClock()
        async with open_stage(Path(folder), clock, key=NOBODY, plan=Plan.ELITE) as stage:
            service = stage.sim.service
            service.limits = False
            async with listen(stage.sim.app) as url:
                children = [
                    await asyncio.create_subprocess_exec(
                        *(sys.executable, __file__, "--program", url, str(seconds), str(number)),
                        stdout=subprocess.PIPE,
                    )
                    for number in range(programs)
                ]
                late: list[float] = []
                async with asyncio.TaskGroup() as tasks:
                    watch = tasks.create_task(watching(late))
                    said = [tasks.create_task(child.communicate()) for child in children]
                    await asyncio.wait(said)
                    watch.cancel()
                answers = [json.loads(one.result()[0]) for one in said]
            met = sum((Counter(one["met"]) for one in answers), Counter())
            print(dict(met), f"{met['traded'] / seconds:.0f} trades/s")
            most, usual = max(late) * 1e3, statistics.median(late) * 1e3
            print(f"the service's loop was late by {usual:.1f} ms, at most {most:.0f} ms")
            known = ("traded", "rate limited", "refused ")
            strange = [name for name in met if not name.startswith(known)]
            assert strange == []
            assert stage.world.ledger.total() == 0
            for one in answers:
                wanted = History(one["agent_id"], KINDS, None, None, None)
                rows, total = await service.world_store.history(wanted, limit=1_000_000, offset=0)
                assert len(rows) == total
                check_agent(stage, one["agent_id"], rows)
            print(f"{len(answers)} agents: cash is what their trades left, to the micro")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        trade_for(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
    else:
        given = [float(word) for word in sys.argv[1:3]]
        seconds, programs = [*given, *(60.0, 20.0)[len(given) :]]
        asyncio.run(soak(seconds, int(programs)))
