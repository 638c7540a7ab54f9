"""What guarding costs: a quiet tick with few and many monitors, a breach until its exit is kept.

    python tests/bench/bench_monitors.py [directory on the disk to be measured]

Both sides of each comparison take turns, so that a slow moment of the machine meets both.
"""

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from kit.engine.topics import TOPICS  # noqa: E402
from kit.service.stage import open_directory  # noqa: E402
from service_tui.clock import ManualClock  # noqa: E402
from service_tui.engine.amm.exchange import Order  # noqa: E402
from service_tui.engine.amm.market import Market  # noqa: E402
from service_tui.engine.events import AgentRegistered  # noqa: E402
from service_tui.engine.exits import watch  # noqa: E402
from service_tui.engine.thresholds import Spot, ThresholdRequest, set_monitor  # noqa: E402
from service_tui.engine.tick import advance, change_speed  # noqa: E402
from service_tui.engine.world import World  # noqa: E402
from service_tui.server.world_store import begin  # noqa: E402
from service_tui.terms import Action, MarketStatus, Plan, Side  # noqa: E402
from service_tui.units import ONE, Micros, Timestamp  # noqa: E402

AT = Timestamp(1_800_000_000.0)
FEW, MANY = 10, 100_000
MARKETS = 5
SPREAD = 50
TICKS = 300
ROUNDS = 200


def longest(world: World, count: int = SPREAD) -> list[Market]:
    found = [m for m in world.markets.values() if m.status(world.world_at) is MarketStatus.ACTIVE]
    found.sort(key=lambda market: -market.listing.resolves_at)
    return found[:count]


def joined(world: World, name: str, **changes: object) -> None:
    cash = Micros(100_000 * ONE)
    world.register(AgentRegistered(name, world.at, name, "", name, name, Plan.ELITE, cash))
    world.change(world.agents[name], changes, world.at)


def guarded(count: int, spread: int) -> World:
    """A world with so many monitors in so many markets, none of them near its price."""
    world = World(7, AT, TOPICS)
    advance(world, AT)
    markets = longest(world, spread)
    made = 0
    while made < count:
        name = f"agent{made}"
        joined(world, name, stop_loss_pct=0.99)
        for market in markets:
            for side in Side:
                if made < count:
                    order = Order(
                        world.agents[name], market.market_id, side, Action.BUY, Micros(ONE)
                    )
                    world.place(order, world.at)
                    made += 1
    world.risk.settle()
    assert sum(1 for _ in world.risk.monitors) == count
    return world


def best_us(act: Callable[[int], object], count: int) -> float:
    times = []
    for index in range(count):
        began = perf_counter()
        act(index)
        times.append(perf_counter() - began)
    # A busy machine makes any of them slow, and none of them fast.
    return min(times) * 1e6


def bench_tick() -> None:
    few, many, wide = guarded(FEW, MARKETS), guarded(MANY, MARKETS), guarded(MANY, SPREAD)
    acts: dict[str, Callable[[World], object]] = {
        "prices against monitors": lambda world: watch(world, (world.at, world.world_at)),
        "whole tick of the world": lambda world: advance(world, Timestamp(world.at + 1.0)),
    }
    for name, act in acts.items():
        found: list[list[float]] = [[], [], []]
        for _ in range(8):
            for times, world in zip(found, (few, many, wide), strict=True):
                times.append(best_us(lambda _, w=world, a=act: a(w), TICKS // 5))
        low, same, spread = (min(times) for times in found)
        print(
            f"{name}: {FEW:,} in {MARKETS} markets {low:,.1f} us; {MANY:,} in {MARKETS} markets "
            f"{same:,.1f} us, {same / low:.2f} times; {MANY:,} in {SPREAD} markets "
            f"{spread:,.1f} us, {spread / low:.2f} times"
        )


async def bench_exit(folder: Path) -> None:
    clock = ManualClock()
    async with open_directory(folder, clock) as database:
        world = World(7, clock.now(), TOPICS)
        advance(world, clock.now())
        world_store = await begin(database, world)
        joined(world, "ada", auto_risk_monitor_enabled=False)
        joined(world, "bob", auto_risk_monitor_enabled=False)
        agent = world.agents["ada"]
        markets = [market for market in longest(world) if 0.2 < market.price() < 0.8]
        # The tape stands still: what is measured is the breach, not the crowd.
        change_speed(world, 0, clock.now())
        trades: list[float] = []
        exits: list[float] = []
        at = clock.now()
        for index in range(ROUNDS):
            market_id = markets[index % len(markets)].market_id
            order = Order(agent, market_id, Side.YES, Action.BUY, Micros(200 * ONE))
            began = perf_counter()
            await world_store.place(order, at)
            trades.append(perf_counter() - began)
            wanted = ThresholdRequest(
                Spot(market_id, Side.YES), {"stop_loss_pct": 0.0001, "take_profit_pct": None}
            )
            event, _ = set_monitor(world, agent, wanted, at)
            await world_store.commit((event,))
            # Somebody else buys the other side: the stop is reached at the next tick.
            bob = world.agents["bob"]
            other = Order(bob, market_id, Side.NO, Action.BUY, Micros(450 * ONE))
            bought = await world_store.place(other, at)
            at = Timestamp(at + 1.0)
            began = perf_counter()
            await world_store.advance(at)
            exits.append(perf_counter() - began)
            assert not agent.open_positions()
            back = Order(bob, market_id, Side.NO, Action.SELL, bought.shares)
            await world_store.place(back, at)
        trade, exit_ = (statistics.median(times) * 1e6 for times in (trades, exits))
        print(
            f"durable trade {trade:,.0f} us, breach to durable exit {exit_:,.0f} us, "
            f"{exit_ / trade:.2f} times"
        )


def main() -> None:
    bench_tick()
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        asyncio.run(bench_exit(Path(folder)))


if __name__ == "__main__":
    main()
