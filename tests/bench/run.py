"""Every budget that the product promises, measured in one run beside its yardstick. `make bench`.

    python tests/bench/run.py [--month FOLDER] [PART...]
    python tests/bench/run.py peers

Without a part, all of them. Prints each row with its target, then the figures as a line of JSON,
to compare with an earlier one. Nothing here is a test: a busy machine tells another time. The
directory of 30 days takes some minutes to make: with `--month` it is made once and kept there,
without it those rows are not measured. `peers` measures other programs that are installed.
"""

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

Figures = dict[str, float]


@dataclass(frozen=True)
class Row:
    """A budget: the figure that it limits, and the one beside which it is read."""

    name: str
    figure: str
    unit: str
    target: float
    at_least: bool = False
    yardstick: str = ""

    def is_met(self, value: float) -> bool:
        """False for NaN, too."""
        return value >= self.target if self.at_least else value <= self.target


ROWS = (
    Row("exec to live data, existing directory", "live_ms", "ms", 1_000, yardstick="empty_ms"),
    Row("  the same against an empty Textual app", "live_ratio", "x", 3.5),
    Row("  its own first paint against that app", "paint_ratio", "x", 1.5),
    Row("first ever start to live data", "first_ms", "ms", 1_500, yardstick="empty_ms"),
    Row("quit", "quit_ms", "ms", 150),
    Row("serve to first answer, empty", "serve_empty_ms", "ms", 800, yardstick="libraries_ms"),
    Row("  existing directory", "serve_existing_ms", "ms", 800, yardstick="libraries_ms"),
    Row("--version", "version_ms", "ms", 80, yardstick="python_ms"),
    Row("--help", "help_ms", "ms", 80, yardstick="python_ms"),
    Row("doctor", "doctor_ms", "ms", 500, yardstick="python_ms"),
    Row("status", "status_ms", "ms", 500, yardstick="libraries_ms"),
    Row("report", "report_ms", "ms", 500, yardstick="libraries_ms"),
    Row("idle, world paused", "idle_paused_percent", "% core", 0.5),
    Row("idle, world at 1x", "idle_running_percent", "% core", 3),
    Row("memory, console with its service", "memory_mb", "MB", 95, yardstick="empty_mb"),
    Row("key to paint beside 20 agents, embedded, p99", "keys_embedded_p99_ms", "ms", 60),
    Row("key to paint beside 20 agents, attached, p99", "keys_attached_p99_ms", "ms", 60),
    Row("quote after the last digit, embedded, p99", "quote_p99_ms", "ms", 80),
    Row("screen switch over 5,000 markets, p99", "switch_p99_ms", "ms", 50),
    Row("key over 5,000 new markets, longest", "refresh_max_ms", "ms", 50),
    Row("in-memory trades, every check", "engine_rate", "/s", 180_000, at_least=True),
    Row("durable trades, sixteen at a time", "durable_rate", "/s", 12_000, at_least=True),
    Row("durable trade against a raw commit, p50", "durable_ratio", "x", 2, yardstick="raw_us"),
    Row(
        "over loopback, 16 connections, against raw commits",
        "loopback_ratio",
        "x",
        1.5,
        at_least=True,
        yardstick="raw_rate",
    ),
    Row("30 days: start, more than empty", "month_start_s", "s", 0.3),
    Row("30 days: memory, more than empty", "month_mb", "MB", 15),
    Row("30 days: GET /trades", "month_trades_ms", "ms", 10),
    Row("30 days: GET /markets", "month_markets_ms", "ms", 10),
)


def shown(row: Row, figures: Figures) -> str:
    """A row as it is printed."""
    value = figures.get(row.figure)
    limit = f"{'>=' if row.at_least else '<='} {row.target:,g}"
    if value is None:
        return f"{row.name:<52} {'not measured':>20}   {limit}"
    verdict = "met" if row.is_met(value) else "NOT MET"
    beside = figures.get(row.yardstick)
    yardstick = "" if beside is None else f"   {row.yardstick} {beside:,.0f}"
    return f"{row.name:<52} {value:>12,.2f} {row.unit:<7}   {limit:<10} {verdict:<8}{yardstick}"


def engine(count: int = 200_000) -> Figures:
    """Trades of the engine alone, best of three."""
    from service_tui.app.topics import load_topics  # noqa: PLC0415
    from service_tui.engine.amm.exchange import Order  # noqa: PLC0415
    from service_tui.engine.events import AgentRegistered  # noqa: PLC0415
    from service_tui.engine.tick import advance  # noqa: PLC0415
    from service_tui.engine.world import World  # noqa: PLC0415
    from service_tui.terms import Action, MarketStatus, Plan, Side  # noqa: PLC0415
    from service_tui.units import ONE, Micros, Timestamp  # noqa: PLC0415

    world = World(7, Timestamp(1_800_000_000.0), load_topics())
    advance(world, world.at)
    cash = Micros(10_000 * ONE)
    world.register(AgentRegistered("a", world.at, "bench", "", "hash", "code", Plan.ELITE, cash))
    agent = world.agents["a"]
    markets = [
        market.market_id
        for market in world.markets.values()
        if market.status(world.world_at) is MarketStatus.ACTIVE
    ]
    best = 0.0
    for _ in range(3):
        started = time.perf_counter()
        for index in range(count // 2):
            market_id = markets[index % len(markets)]
            order = Order(agent, market_id, Side.YES, Action.BUY, ONE)
            fill = world.place(order, world.at)
            world.place(Order(agent, market_id, Side.YES, Action.SELL, fill.shares), world.at)
        best = max(best, count / (time.perf_counter() - started))
    return {"engine_rate": best}


def raw_sqlite(folder: Path, count: int) -> list[float]:
    """Seconds of each of so many commits of one row."""
    connection = sqlite3.connect(folder / "raw.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, body TEXT)")
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (body) VALUES (?)", ("x" * 300,))
        connection.execute("COMMIT")
        taken.append(time.perf_counter() - started)
    connection.close()
    return taken


async def durable(count: int = 3_000) -> Figures:
    """Trades in process, each on disk when it is answered, and commits of plain SQLite."""
    from kit.service.stage import open_stage  # noqa: PLC0415
    from service_tui.engine.amm.exchange import Order  # noqa: PLC0415
    from service_tui.terms import Action, Plan, Side  # noqa: PLC0415
    from service_tui.units import ONE  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        async with open_stage(Path(folder) / "desk", plan=Plan.ELITE) as stage:
            world_store, clock = stage.sim.service.world_store, stage.clock
            market_id = stage.open_markets()[0].market_id
            raw, one_by_one = [], []
            for part in range(6):
                (Path(folder) / f"raw{part}").mkdir()
                raw += raw_sqlite(Path(folder) / f"raw{part}", count // 6)
                for _ in range(count // 12):
                    order = Order(stage.agent, market_id, Side.YES, Action.BUY, ONE)
                    started = time.perf_counter()
                    fill = await world_store.place(order, clock.now())
                    one_by_one.append(time.perf_counter() - started)
                    order = Order(stage.agent, market_id, Side.YES, Action.SELL, fill.shares)
                    started = time.perf_counter()
                    await world_store.place(order, clock.now())
                    one_by_one.append(time.perf_counter() - started)

            async def pairs(rounds: int) -> None:
                for _ in range(rounds):
                    order = Order(stage.agent, market_id, Side.YES, Action.BUY, ONE)
                    fill = await world_store.place(order, clock.now())
                    order = Order(stage.agent, market_id, Side.YES, Action.SELL, fill.shares)
                    await world_store.place(order, clock.now())

            started = time.perf_counter()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(16):
                    tasks.create_task(pairs(count // 16))
            rate = (count // 16) * 32 / (time.perf_counter() - started)
    yardstick = statistics.median(raw)
    return {
        "raw_us": yardstick * 1e6,
        "raw_rate": 1 / statistics.fmean(raw),
        "durable_ratio": statistics.median(one_by_one) / yardstick,
        "durable_rate": rate,
    }


async def loopback(rounds: int = 120) -> Figures:
    """Trades over sixteen connections of another process, beside commits of plain SQLite."""
    from kit.service.stage import open_stage  # noqa: PLC0415
    from service_tui.server.http.loopback import listen  # noqa: PLC0415
    from service_tui.terms import Plan  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        async with open_stage(Path(folder), plan=Plan.ELITE) as stage:
            service = stage.sim.service
            service.limits = False
            market_id = stage.open_markets()[0].market_id

            raw, line = [], []
            async with listen(stage.sim.app) as url:
                for part in range(3):
                    (Path(folder) / f"raw{part}").mkdir()
                    raw += raw_sqlite(Path(folder) / f"raw{part}", 500)
                    load = await asyncio.create_subprocess_exec(
                        sys.executable,
                        str(Path(__file__).with_name("load.py")),
                        *(url, stage.key, market_id, str(CONNECTIONS), str(rounds)),
                        stdout=asyncio.subprocess.PIPE,
                    )
                    said, _ = await load.communicate()
                    line.append(float(said))
    raw_rate, rate = 1 / statistics.fmean(raw), statistics.median(line)
    return {"raw_rate": raw_rate, "loopback_rate": rate, "loopback_ratio": rate / raw_rate}


async def refresh(seconds: int = 12, count: int = 5_000) -> Figures:
    """5,000 markets replaced every second, a key pressed again and again; then other screens."""
    from kit.console.bench_host import run_markets, run_switches  # noqa: PLC0415

    waits, _ = await run_markets(count, seconds, random.Random(3))
    switches = sorted(await run_switches(count))
    return {
        "refresh_max_ms": max(waits) * 1e3,
        "switch_p50_ms": statistics.median(switches) * 1e3,
        "switch_p99_ms": switches[int(len(switches) * 0.99)] * 1e3,
    }


def keys(seconds: float = 25.0, programs: int = 20) -> Figures:
    """Keys beside trading programs, with the service in the console and beside it."""
    import beside  # noqa: PLC0415

    figures: Figures = {}
    for how in ("embedded", "attached"):
        with tempfile.TemporaryDirectory() as folder:
            waits = sorted(
                beside.beside(Path(folder), seconds, programs, how, limits=True, alone_s=1.0)
            )
        figures[f"keys_{how}_p50_ms"] = statistics.median(waits) * 1e3
        figures[f"keys_{how}_p99_ms"] = waits[int(len(waits) * 0.99)] * 1e3
    return figures


CONNECTIONS = 16


def parts(month_folder: Path | None) -> dict[str, Callable[[], Figures]]:
    """What is measured together, by name."""
    import month  # noqa: PLC0415
    import peers  # noqa: PLC0415

    import console  # noqa: PLC0415

    def days() -> Figures:
        if month_folder is None:
            return {}
        month_folder.mkdir(parents=True, exist_ok=True)
        return asyncio.run(month.compared(month_folder, 30.0))

    return {
        "start": console.start,
        "commands": console.commands,
        "idle": console.idle,
        "quote": console.quote,
        "engine": engine,
        "durable": lambda: asyncio.run(durable()),
        "loopback": lambda: asyncio.run(loopback()),
        "refresh": lambda: asyncio.run(refresh()),
        "keys": keys,
        "month": days,
        "peers": lambda: peers.peers(lambda: engine() | asyncio.run(durable())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--month", type=Path, help="where the directory of 30 days is kept")
    parser.add_argument("part", nargs="*")
    wanted = parser.parse_args()
    known = parts(wanted.month)
    figures: Figures = {}
    for name in wanted.part or [name for name in known if name != "peers"]:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        figures |= known[name]()
    rows = [row for row in ROWS if not wanted.part or row.figure in figures]
    for row in rows:
        print(shown(row, figures))
    if rows:
        met = sum(row.is_met(figures.get(row.figure, float("nan"))) for row in rows)
        print(f"{met} of {len(rows)} rows are met")
    about = {"python": sys.version.split()[0], "cores": os.cpu_count()}
    print(json.dumps(about | {name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
