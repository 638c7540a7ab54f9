"""A directory of 30 days: about 109,000 resolved markets, made on the manual clock.

Run: python tests/bench/month.py [days]
An agent buys in each step and sells now and then, so that some thousands of the markets are kept.
Prints how long the making took, then of the same directory opened again: seconds of the start, what
it adds to memory in MB, milliseconds of GET /markets, /trades and /positions?status=all, and memory
after these answers, of which the bodies of the last are the most.
"""

import asyncio
import gc
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit.service.line import Line, line_to
from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.units import Timestamp
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, POSITIONS, TRADES

DAY_S = 86_400.0
STEP_S = 240.0
SOON_S = 1_200.0
TIMES = 5


async def step(stage: Stage, line: Line, count: int) -> None:
    """Buy in a market that ends soon, sell every third buy again, and cross a silence."""
    world = stage.world
    soon = [
        one
        for one in stage.open_markets()
        if world.world_at + 60 < one.listing.resolves_at < world.world_at + SOON_S
        and 0.05 < one.price() < 0.95
    ]
    if soon:
        order = {"market_id": soon[count % len(soon)].market_id, "side": "yes", "amount": 1}
        got = await line.said(PLACE_TRADE, json=order | {"source": f"bench:{count % 5}"})
        if got["success"] and count % 3 == 0:
            sale = {"action": "sell", "shares": got["shares_bought"], "amount": 0}
            await line.said(PLACE_TRADE, json=order | sale)
    stage.clock.set(stage.clock.now() + STEP_S)
    await stage.sim.service.world_store.advance(stage.clock.now())


async def made(path: Path, clock: ManualClock, days: float) -> tuple[str, str]:
    began = time.perf_counter()
    async with open_stage(path, clock, speed=1) as stage:
        stage.sim.service.limits = False
        line = line_to(stage)
        for count in range(int(days * DAY_S / STEP_S)):
            await step(stage, line, count)
        took_s = time.perf_counter() - began
        print(f"made: {days:g} days, {stage.world.resolved_count} resolved, {took_s:.0f} s")
        return stage.key, stage.agent_id


async def timed(line: Line, name: str, endpoint: Endpoint, rows: str, **query: object) -> float:
    """Milliseconds of an answer, the median of some."""
    took: list[float] = []
    said: dict[str, list[object]] = {}
    for _ in range(TIMES):
        began = time.perf_counter()
        said = await line.said(endpoint, **query)
        took.append(time.perf_counter() - began)
    median_ms = sorted(took)[TIMES // 2] * 1_000
    print(f"GET {name}: {median_ms:.1f} ms, {len(said[rows])} rows")
    return median_ms


def size_mb(path: Path) -> float:
    """What the directory takes on disk."""
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) / 1e6


def memory_mb() -> float:
    """Memory in use now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


async def opened(
    path: Path, clock: ManualClock, who: tuple[str | None, str] = (None, "")
) -> dict[str, float]:
    """Open a directory, and read its lists."""
    gc.collect()
    before, began = memory_mb(), time.perf_counter()
    async with open_stage(path, clock, key=who[0], agent_id=who[1]) as stage:
        start_s, more_mb = time.perf_counter() - began, memory_mb() - before
        print(f"start: {start_s:.3f} s, {more_mb:+.1f} MB")
        line = line_to(stage)
        markets_ms = await timed(line, "/markets", MARKETS, "markets", limit=100)
        trades_ms = await timed(line, "/trades", TRADES, "trades", limit=100)
        await timed(line, "/positions?status=all", POSITIONS, "positions", status="all")
        page = {"status": "all", "limit": 500}
        await timed(line, "/positions?status=all&limit=500", POSITIONS, "positions", **page)
        print(f"after the answers: {memory_mb() - before:+.1f} MB, {memory_mb():.1f} MB in all")
        print(f"markets in memory: {len(stage.world.markets)}")
    return {
        "start_s": start_s,
        "more_mb": more_mb,
        "markets_ms": markets_ms,
        "trades_ms": trades_ms,
    }


async def compared(folder: Path, days: float) -> dict[str, float]:
    """A directory of so many days beside a new one; it is made once, and kept in the folder."""
    place, note = folder / "desk", folder / "made.json"
    if not note.exists():
        clock = ManualClock()
        who = await made(place, clock, days)
        note.write_text(json.dumps({"now": clock.now(), "who": who}))
    kept = json.loads(note.read_text())
    clock = ManualClock()
    with tempfile.TemporaryDirectory() as empty:
        # The first of all loads what both need.
        await opened(Path(empty) / "0", clock)
        new = await opened(Path(empty) / "1", clock)
    clock.set(Timestamp(kept["now"]))
    old = await opened(place, clock, (kept["who"][0], kept["who"][1]))
    return {
        "month_start_s": old["start_s"] - new["start_s"],
        "month_mb": old["more_mb"] - new["more_mb"],
        "month_markets_ms": old["markets_ms"],
        "month_trades_ms": old["trades_ms"],
    }


async def main(days: float) -> None:
    with tempfile.TemporaryDirectory() as place:
        clock = ManualClock()
        who = await made(Path(place), clock, days)
        print(f"directory: {size_mb(Path(place)):.1f} MB")
        await opened(Path(place), clock, who)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
