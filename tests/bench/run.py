"""The figures that the product promises, measured in one run. By hand: `make bench`.

Nothing here is a test: a busy machine tells another time. Each section prints what it measured
beside its yardstick, taken in the same run.
"""

import asyncio
import fcntl
import json
import os
import pty
import random
import select
import signal
import sqlite3
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

SIZE = (120, 40)
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready-to-use")
Empty().run()
"""


def report(name: str, value: float, unit: str, target: str = "") -> None:
    print(f"{name:<44} {value:>12,.1f} {unit:<9} {target}", flush=True)


def until_text(
    command: list[str],
    marks: dict[str, bytes],
    env: dict[str, str],
    *,
    last_keys: bytes = b"",
    limit_s: float = 8.0,
) -> tuple[dict[str, float], float]:
    """Seconds from exec until each mark stood on a terminal, and RSS in MB at the end."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        os.environ.update(env)
        os.execvp(command[0], command)
    seen: dict[str, float] = {}
    text, reached = b"", 0
    try:
        while len(seen) < len(marks) and time.perf_counter() - started < limit_s:
            ready, _, _ = select.select([terminal], [], [], 0.5)
            if not ready:
                continue
            text += os.read(terminal, 65_536)
            now = time.perf_counter() - started
            for name, mark in marks.items():
                # In order: a mark counts only behind the one before it.
                if name not in seen:
                    at = text.find(mark, reached)
                    if at < 0:
                        break
                    seen[name], reached = now, at
        drain(terminal, 1.0)
        status = Path(f"/proc/{pid}/status").read_text()
        rss = next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmRSS"))
        for key in last_keys:
            os.write(terminal, bytes([key]))
            drain(terminal, 0.7)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return seen, rss / 1024


def drain(terminal: int, seconds: float) -> None:
    """Read what the program prints, so that it never waits for us."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        ready, _, _ = select.select([terminal], [], [], left)
        try:
            if ready and not os.read(terminal, 65_536):
                return
        except OSError:
            return


def bench_start(rounds: int = 7) -> None:
    env = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "120", "LINES": "40"}
    with tempfile.TemporaryDirectory() as folder:
        ours = [sys.executable, "-m", "service_tui", "--data-dir", f"{folder}/desk"]
        empty = [sys.executable, "-c", EMPTY_APP]
        marks = {"picture": b"last known state", "first": b"connecting", "live": b"online"}
        until_text(ours, {"live": b"online"}, env, last_keys=b"\r2\x11")
        picture, first, live, base, memory = [], [], [], [], []
        for _ in range(rounds):
            seen, _ = until_text(empty, {"first": b"ready-to-use"}, env)
            base.append(seen["first"])
            seen, rss = until_text(ours, marks, env)
            picture.append(seen.get("picture", float("nan")))
            first.append(seen.get("first", float("nan")))
            live.append(seen.get("live", float("nan")))
            memory.append(rss)
    yardstick = statistics.median(base) * 1e3
    report("empty Textual app, first paint", yardstick, "ms")
    paint = statistics.median(picture) * 1e3
    report("service-tui, last picture, marked", paint, "ms", f"{paint / yardstick:.2f}x (<= 1.5x)")
    paint = statistics.median(first) * 1e3
    report("service-tui, its own first paint", paint, "ms", f"{paint / yardstick:.2f}x (<= 1.5x)")
    report("service-tui, live data", statistics.median(live) * 1e3, "ms")
    report("memory after start", statistics.median(memory), "MB")


def bench_engine(count: int = 200_000) -> None:
    from service_tui.engine.amm.exchange import Order  # noqa: PLC0415
    from service_tui.engine.events import AgentRegistered  # noqa: PLC0415
    from service_tui.engine.tick import advance  # noqa: PLC0415
    from service_tui.engine.world import World  # noqa: PLC0415
    from service_tui.terms import Action, MarketStatus, Plan, Side  # noqa: PLC0415
    from service_tui.units import ONE, Micros, Timestamp  # noqa: PLC0415
    from service_tui.wiring.topics import load_topics  # noqa: PLC0415

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
    report("in-memory trades, every check", best, "/s", "(>= 100,000)")


def raw_sqlite(folder: Path, count: int) -> list[float]:
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


async def bench_durable(count: int = 3_000) -> None:
    from kit.service.stage import open_stage  # noqa: PLC0415
    from service_tui.engine.amm.exchange import Order  # noqa: PLC0415
    from service_tui.terms import Action, Plan, Side  # noqa: PLC0415
    from service_tui.units import ONE  # noqa: PLC0415
    from service_tui.wire.endpoints.public import PLACE_TRADE  # noqa: PLC0415
    from service_tui.wire.trades import TradeRequest  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        async with open_stage(Path(folder) / "desk", plan=Plan.ELITE) as stage:
            world_store, clock = stage.sim.service.world_store, stage.clock
            market_id = stage.open_markets()[0].market_id
            raw, durable = [], []
            for part in range(6):
                (Path(folder) / f"raw{part}").mkdir()
                raw += raw_sqlite(Path(folder) / f"raw{part}", count // 6)
                for _ in range(count // 12):
                    order = Order(stage.agent, market_id, Side.YES, Action.BUY, ONE)
                    started = time.perf_counter()
                    fill = await world_store.place(order, clock.now())
                    durable.append(time.perf_counter() - started)
                    order = Order(stage.agent, market_id, Side.YES, Action.SELL, fill.shares)
                    started = time.perf_counter()
                    await world_store.place(order, clock.now())
                    durable.append(time.perf_counter() - started)
            yardstick = statistics.median(raw) * 1e6
            report("raw SQLite, one-row commit, p50", yardstick, "us")
            p50 = statistics.median(durable) * 1e6
            report("durable trade, p50", p50, "us", f"{p50 / yardstick:.2f}x (<= 2x)")
            report("durable trades, one at a time", 1 / statistics.fmean(durable), "/s")

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
            report("durable trades, sixteen at a time", rate, "/s")

            request = TradeRequest(market_id=market_id, side=Side.YES, amount=25.0, dry_run=True)
            quotes = []
            for _ in range(300):
                started = time.perf_counter()
                await stage.client.call(PLACE_TRADE, body=request)
                quotes.append(time.perf_counter() - started)
            report("quote through the client, p50", statistics.median(quotes) * 1e3, "ms")


async def bench_loopback(rounds: int = 120) -> None:
    """Trades over sixteen connections of another process, against the engine's own rate."""
    from kit.service.stage import open_stage  # noqa: PLC0415
    from service_tui.engine.amm.exchange import Order  # noqa: PLC0415
    from service_tui.server.http.loopback import listen  # noqa: PLC0415
    from service_tui.terms import Action, Plan, Side  # noqa: PLC0415
    from service_tui.units import ONE  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        async with open_stage(Path(folder), plan=Plan.ELITE) as stage:
            service = stage.sim.service
            service.limits = False
            market_id = stage.open_markets()[0].market_id

            async def pairs() -> None:
                for _ in range(rounds):
                    order = Order(stage.agent, market_id, Side.YES, Action.BUY, ONE)
                    fill = await service.world_store.place(order, stage.clock.now())
                    order = Order(stage.agent, market_id, Side.YES, Action.SELL, fill.shares)
                    await service.world_store.place(order, stage.clock.now())

            async def direct() -> float:
                started = time.perf_counter()
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(CONNECTIONS):
                        tasks.create_task(pairs())
                return rounds * CONNECTIONS * 2 / (time.perf_counter() - started)

            engine, line = [], []
            async with listen(stage.sim.app) as url:
                for _ in range(3):
                    engine.append(await direct())
                    load = await asyncio.create_subprocess_exec(
                        sys.executable,
                        str(Path(__file__).with_name("load.py")),
                        *(url, stage.key, market_id, str(CONNECTIONS), str(rounds)),
                        stdout=asyncio.subprocess.PIPE,
                    )
                    said, _ = await load.communicate()
                    line.append(float(said))
            best = statistics.median(engine)
            report("durable trades, sixteen at a time", best, "/s")
            rate = statistics.median(line)
            report("over loopback, 16 connections", rate, "/s", f"{rate / best:.2f}x (>= 0.4x)")


async def bench_refresh(seconds: int = 12, count: int = 5_000) -> None:
    """5,000 markets replaced every second, a key pressed again and again: the longest wait."""
    from kit.console.bench_host import run_markets  # noqa: PLC0415

    waits, used = await run_markets(count, seconds, random.Random(3))
    waits.sort()
    report("key press during 5,000-market refresh, p50", waits[len(waits) // 2] * 1e3, "ms")
    report("key press during 5,000-market refresh, max", waits[-1] * 1e3, "ms", "(<= 50)")
    report("the same, own CPU time only", max(used) * 1e3, "ms", "(<= 50)")


CONNECTIONS = 16

SECTIONS = {
    "start": bench_start,
    "engine": bench_engine,
    "durable": lambda: asyncio.run(bench_durable()),
    "loopback": lambda: asyncio.run(bench_loopback()),
    "refresh": lambda: asyncio.run(bench_refresh()),
}


def main() -> None:
    wanted = sys.argv[1:] or list(SECTIONS)
    print(json.dumps({"python": sys.version.split()[0], "cores": os.cpu_count()}))
    for name in wanted:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
