"""A shared desk on PostgreSQL: failovers, reads by followers, many worlds, trades beside SQLite.

    .venv/bin/python tests/bench/shared.py failovers [count [seconds of a stop]]
    .venv/bin/python tests/bench/shared.py trades
    .venv/bin/python tests/bench/shared.py reads
    .venv/bin/python tests/bench/shared.py forwarded
    .venv/bin/python tests/bench/shared.py worlds

`failovers`: two processes on one world, eight agents that trade on both. Each time the leader is
killed (every fifth time it is stopped, every tenth the database is killed instead). Prints how long
nobody answered, and what must hold each time: every acknowledged share is held, no order was
carried out twice, the epochs of the journal never fall, the books add up.
`trades`: durable trades a second with 1, 16 and 64 at a time, in process, on both databases. The
server's disk is synced (`fsync=on`).
`reads`: reads a second of the leader alone and of 1, 2 and 4 followers, asked by a process for each
of them; then how far a follower lies behind what the leader has acknowledged, under trades.
`forwarded`: trades a second with 1, 64 and 256 callers, sent to the leader and sent to a follower
that forwards them; the callers are a process of their own.
`worlds`: 8 worlds on 2 processes: the time until each leads 4, trades a second in all of them, and
the time until one leads all 8 when the other is killed.
"""

import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx

from kit.engine.topics import TOPICS
from kit.service import stage as stages
from kit.service.postgres import Postgres, new_place
from kit.service.where import ON_POSTGRES
from service_tui.engine.amm.exchange import Order
from service_tui.server.books import books_of
from service_tui.storage.shared.connection import WorldPlace, connect
from service_tui.storage.shared.database import SharedDatabase
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros

WORLD = "bench"
AGENTS = 8
FAILOVERS = 50
AT_ONCE = (1, 16, 64)
TRADES = 4_000
CALLERS = (1, 64, 256)
TRADERS = 32
TRADING_S = 8.0
UP_S = 60.0
STOPPED_S = float(sys.argv[3]) if sys.argv[1:2] == ["failovers"] and len(sys.argv) > 3 else 4.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Process:
    """One process of the desk."""

    def __init__(self, folder: Path, url: str, *words: str) -> None:
        self.folder, self.url, self.port = folder, url, free_port()
        self.words = words or ("--world", WORLD)
        self.ops = free_port()
        self.running: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(self.folder)),
            *("--port", str(self.port), "--ops-port", str(self.ops), *self.words),
            *("--limits", "off", "--seed", "7", "--speed", "1"),
        ]
        self.running = subprocess.Popen(
            command,
            env={**os.environ, "SERVICE_TUI_DATABASE": self.url, "HOME": str(self.folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    async def role(self, http: httpx.AsyncClient) -> str:
        with suppress(httpx.TransportError):
            reply = await http.get(f"http://127.0.0.1:{self.ops}/readyz")
            return str(reply.json()["role"])
        return ""

    async def until(self, http: httpx.AsyncClient, role: str) -> None:
        deadline = time.monotonic() + UP_S
        while await self.role(http) != role:
            assert time.monotonic() < deadline, f"not {role} within {UP_S:.0f} s"
            await asyncio.sleep(0.05)

    @property
    def cpu_s(self) -> float:
        """What it has used of a processor so far."""
        assert self.running is not None
        stat = Path(f"/proc/{self.running.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()


class Agent:
    """Buys and sells a share or two, again and again, and remembers what was acknowledged."""

    def __init__(self, number: int, addresses: list[str]) -> None:
        self.number, self.addresses = number, addresses
        self.rng = random.Random(number)
        self.http = httpx.AsyncClient(timeout=10)
        self.market = ""
        self.held, self.count, self.repeated = 0.0, 0, 0
        self.answered_at: list[float] = []

    async def register(self, markets: list[str]) -> None:
        body = {"name": f"agent {self.number}"}
        reply = await self.http.post(f"{self.addresses[0]}/api/sdk/agents/register", json=body)
        self.http.headers["Authorization"] = f"Bearer {reply.json()['api_key']}"
        self.market = markets[self.number]
        # Or a stop sells what is counted here.
        settings = {"auto_risk_monitor_enabled": False}
        reply = await self.http.post(f"{self.addresses[0]}/api/sdk/settings", json=settings)
        assert reply.status_code == 200, reply.text

    async def trade(self, going: asyncio.Event) -> None:
        while True:
            await going.wait()
            await self._once()

    async def _once(self) -> None:
        self.count += 1
        sells = self.held > 20 and self.rng.random() < 0.5
        # Half of it: what is held stays within the limit of a market, however long this takes.
        half = float(int(self.held / 2))
        size = {"action": "sell", "shares": half} if sells else {"amount": 1.0}
        order = {"market_id": self.market, "side": "yes", "venue": "sim", **size}
        key = {"Idempotency-Key": f"{self.number}-{self.count}"}
        while True:
            with suppress(httpx.TransportError):
                address = self.rng.choice(self.addresses)
                reply = await self.http.post(f"{address}/api/sdk/trade", json=order, headers=key)
                if reply.status_code == 200:
                    body = reply.json()
                    assert body["success"], body
                    self.held += -body["shares_sold"] if sells else body["shares_bought"]
                    self.repeated += "idempotency-replayed" in reply.headers
                    self.answered_at.append(time.monotonic())
                    return
                assert reply.status_code in {502, 503}, reply.text
            await asyncio.sleep(0.02)

    async def check(self) -> None:
        """What the service says is held is what was acknowledged, to the micro."""
        while True:
            with suppress(httpx.TransportError):
                reply = await self.http.get(f"{self.addresses[0]}/api/sdk/positions")
                if reply.status_code == 200:
                    break
            await asyncio.sleep(0.05)
        rows = reply.json()["positions"]
        shares = sum(row["shares_yes"] for row in rows if row["market_id"] == self.market)
        assert abs(shares - self.held) < 1e-5, (self.number, shares, self.held)


async def failovers(count: int) -> None:
    server = Postgres("fsync=on")
    with tempfile.TemporaryDirectory() as folder:
        first, second = (Process(Path(folder) / name, server.url) for name in ("a", "b"))
        try:
            async with httpx.AsyncClient(timeout=10) as http:
                first.start()
                await first.until(http, "leading")
                second.start()
                await second.until(http, "standing by")
                await _fail(count, (first, second), server, http)
        finally:
            first.end()
            second.end()
            server.close()


async def _fail(  # noqa: PLR0912 - one long story
    count: int, both: tuple[Process, Process], server: Postgres, http: httpx.AsyncClient
) -> None:
    lead, stand = both
    agents = [Agent(number, [lead.address, stand.address]) for number in range(AGENTS)]
    headers = {"Authorization": ""}
    first = await http.post(f"{lead.address}/api/sdk/agents/register", json={"name": "looker"})
    headers["Authorization"] = f"Bearer {first.json()['api_key']}"
    listed = await http.get(
        f"{lead.address}/api/sdk/markets", params={"limit": 200}, headers=headers
    )
    ends = sorted(listed.json()["markets"], key=lambda one: one["resolves_at"], reverse=True)
    for agent in agents:
        await agent.register([one["id"] for one in ends])
    going, gaps = asyncio.Event(), dict[str, list[float]]()
    place = WorldPlace(server.url, WORLD)
    async with asyncio.TaskGroup() as tasks:
        trading = [tasks.create_task(agent.trade(going)) for agent in agents]
        for number in range(1, count + 1):
            going.set()
            await asyncio.sleep(0.7)
            how = "database" if number % 10 == 0 else "stopped" if number % 5 == 0 else "killed"
            began = time.monotonic()
            assert lead.running is not None
            if how == "database":
                server.stop(signal.SIGKILL)
                server.start()
            else:
                lead.running.send_signal(signal.SIGKILL if how == "killed" else signal.SIGSTOP)
            await asyncio.sleep(STOPPED_S if how == "stopped" else 2.0)
            after = [at for agent in agents for at in agent.answered_at if at > began + 0.05]
            while not after:
                await asyncio.sleep(0.1)
                after = [at for agent in agents for at in agent.answered_at if at > began + 0.05]
            # What was on its way when the leader ended was answered before; the gap ends it.
            moments = sorted([began, *after])
            gap = max(later - earlier for earlier, later in pairwise(moments))
            gaps.setdefault(how, []).append(gap)
            going.clear()
            if how == "killed":
                lead.running.wait()
                lead.start()
            elif how == "stopped":
                lead.running.send_signal(signal.SIGCONT)
            lead, stand = await _settled(both, http)
            await asyncio.sleep(0.5)
            for agent in agents:
                await agent.check()
            await asyncio.to_thread(_books, place)
            if number % 10 == 0:
                print(f"{number} failovers, all well", flush=True)
        for task in trading:
            task.cancel()
    for how, found in gaps.items():
        ordered = sorted(found)
        p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
        nobody = f"nobody answered for p50 {statistics.median(found):.2f} s, p95 {p95:.2f} s"
        print(f"{how}: {len(found)} times, {nobody}, most {ordered[-1]:.2f} s")
    trades = sum(len(agent.answered_at) for agent in agents)
    repeated = sum(agent.repeated for agent in agents)
    print(f"{trades} trades acknowledged, {repeated} of them by a repeat; none lost, none doubled")
    with connect(place, "bench") as raw:
        rows = [row[0] for row in raw.execute(b"SELECT epoch FROM journal ORDER BY seq")]
    assert rows == sorted(rows)
    print(f"{len(rows)} rows of the journal, epochs 1 to {rows[-1]}, never falling")


async def _settled(
    both: tuple[Process, Process], http: httpx.AsyncClient
) -> tuple[Process, Process]:
    """Who leads and who stands by, once both know."""
    deadline = time.monotonic() + UP_S
    while time.monotonic() < deadline:
        roles = [await one.role(http) for one in both]
        if sorted(roles) == ["leading", "standing by"]:
            return both if roles[0] == "leading" else (both[1], both[0])
        await asyncio.sleep(0.05)
    raise AssertionError("nobody leads")


def _books(place: WorldPlace) -> None:
    database = SharedDatabase(place, None, Path(tempfile.gettempdir()) / "world")
    try:
        books = books_of(database, TOPICS)
    finally:
        database.close()
    assert books is not None
    assert not books.problem, books.problem


async def trades() -> None:
    server = Postgres("fsync=on")
    try:
        for name in ("SQLite", "PostgreSQL"):
            print(name, end=":", flush=True)
            for at_once in AT_ONCE:
                print(f"  {await _traded(server, name, at_once):,.0f}/s with {at_once}", end="")
            print(flush=True)
    finally:
        server.close()


async def _traded(server: Postgres, name: str, at_once: int) -> float:
    from kit.service import postgres as kit  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        if name == "PostgreSQL":
            os.environ[ON_POSTGRES] = "yes"
            kit._PLACES[Path(folder)] = new_place(server.url)
        else:
            os.environ.pop(ON_POSTGRES, None)
        async with stages.open_stage(Path(folder), speed=0) as stage:
            market = stage.open_markets()[0].market_id
            store, left = stage.sim.service.world_store, iter(range(TRADES))
            who, cost = stage.agent, Micros(ONE)

            async def one_by_one() -> None:
                for number in left:
                    action = Action.BUY if number % 2 == 0 else Action.SELL
                    order = Order(who, market, Side.YES, action, cost, unlimited=True)
                    await store.place(order, stage.clock.now())

            began = time.perf_counter()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(at_once):
                    tasks.create_task(one_by_one())
            return TRADES / (time.perf_counter() - began)


# -- reads --------------------------------------------------------------------------------------


async def reads() -> None:
    server = Postgres("fsync=on")
    with tempfile.TemporaryDirectory() as folder:
        everyone = [Process(Path(folder) / str(number), server.url) for number in range(5)]
        try:
            async with httpx.AsyncClient(timeout=10) as http:
                leader = everyone[0]
                leader.start()
                await leader.until(http, "leading")
                agent = Agent(0, [leader.address])
                listed = await http.post(
                    f"{leader.address}/api/sdk/agents/register", json={"name": "looker"}
                )
                http.headers["Authorization"] = f"Bearer {listed.json()['api_key']}"
                found = await http.get(f"{leader.address}/api/sdk/markets", params={"limit": 200})
                rows = found.json()["markets"]
                ends = sorted(rows, key=lambda one: one["resolves_at"], reverse=True)
                await agent.register([one["id"] for one in ends])
                await agent._once()
                key = agent.http.headers["Authorization"]
                print(f"leader alone: {await _read_by([leader], key)}", flush=True)
                await _with_followers(everyone, http, key)
                await _lag(agent, everyone[1])
        finally:
            for one in everyone:
                one.end()
            server.close()


async def _with_followers(everyone: list[Process], http: httpx.AsyncClient, key: str) -> None:
    started = 0
    for count in (1, 2, 4):
        for follower in everyone[1 + started : 1 + count]:
            follower.start()
            await follower.until(http, "standing by")
        started = count
        await asyncio.sleep(1.5)
        rate = await _read_by(everyone[1 : 1 + count], key)
        print(f"{count} followers: {rate}", flush=True)


async def _read_by(processes: list[Process], key: str) -> str:
    """Reads a second of all together, each asked by a process of its own."""
    before = sum(one.cpu_s for one in processes)
    callers = [
        await asyncio.create_subprocess_exec(
            sys.executable, __file__, "caller", str(one.port), key, stdout=subprocess.PIPE
        )
        for one in processes
    ]
    rates = [float((await caller.communicate())[0]) for caller in callers]
    used = sum(one.cpu_s for one in processes) - before
    of_core = 4.0 * sum(rates) / used
    return f"{sum(rates):,.0f} reads/s ({of_core:,.0f} for a second of a core of theirs)"


async def caller(port: int, key: str) -> None:
    """Ask one port for four seconds over eight connections, and print the rate."""
    request = (
        f"GET /api/sdk/positions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {key}\r\n\r\n"
    ).encode()
    count, ends, refused = 0, time.monotonic() + 4.0, Counter[str]()

    async def ask() -> None:
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < ends:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            body = await reader.readexactly(int(size))
            is_answer = head.startswith(b"HTTP/1.1 200")
            count += is_answer
            refused[body.decode()[:100]] += not is_answer
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(8):
            tasks.create_task(ask())
    # A machine that has fewer cores than processes may keep a leader waiting for its beat.
    for why in (why for why, times in refused.items() if times):
        print(f"{refused[why]} refused: {why}", file=sys.stderr)
    print(count / 4.0)


async def _lag(agent: Agent, follower: Process) -> None:
    """How old what a follower answers is, beside what the leader has acknowledged."""
    acknowledged: list[tuple[int, float]] = []
    lags: list[float] = []
    ends = time.monotonic() + 5.0
    headers = {"Authorization": agent.http.headers["Authorization"]}

    async def trade() -> None:
        order = {"market_id": agent.market, "side": "yes", "venue": "sim", "amount": 0.1}
        async with httpx.AsyncClient(timeout=10, headers=headers) as http:
            while time.monotonic() < ends:
                reply = await http.post(f"{agent.addresses[0]}/api/sdk/trade", json=order)
                acknowledged.append((int(reply.headers["x-world-seq"]), time.monotonic()))

    async def look() -> None:
        async with httpx.AsyncClient(timeout=10, headers=headers) as http:
            while time.monotonic() < ends:
                asked = time.monotonic()
                reply = await http.get(f"{follower.address}/api/sdk/positions")
                seq = int(reply.headers["x-world-seq"])
                missed = [at for row, at in acknowledged if row > seq and at < asked]
                lags.append(asked - min(missed) if missed else 0.0)

    async with asyncio.TaskGroup() as tasks:
        for work in (trade, trade, trade, trade, look):
            tasks.create_task(work())
    lags.sort()
    p50, p95 = lags[len(lags) // 2], lags[round(0.95 * (len(lags) - 1))]
    print(
        f"lag of a follower under {len(acknowledged) / 5:,.0f} trades/s: p50 {1e3 * p50:.1f} ms, "
        f"p95 {1e3 * p95:.1f} ms, most {1e3 * lags[-1]:.1f} ms, {len(lags) / 5:,.0f} reads/s"
    )


# -- forwarded writes ---------------------------------------------------------------------------


async def forwarded() -> None:
    server = Postgres("fsync=on")
    with tempfile.TemporaryDirectory() as folder:
        both = [Process(Path(folder) / str(number), server.url) for number in range(2)]
        try:
            async with httpx.AsyncClient(timeout=10) as http:
                for one, role in zip(both, ("leading", "standing by"), strict=True):
                    one.start()
                    await one.until(http, role)
                keys, markets = await _traders(both[0].address)
                for callers in CALLERS:
                    for one, name in zip(both, ("leader", "follower"), strict=True):
                        print(f"{callers} callers, {name}: ", end="", flush=True)
                        before = [each.cpu_s for each in both]
                        words = (str(one.port), str(callers), keys, markets)
                        running = await asyncio.create_subprocess_exec(
                            *(sys.executable, __file__, "traders", *words),
                            stdout=subprocess.PIPE,
                        )
                        said = (await running.communicate())[0].decode()
                        rate, _, rest = said.partition(" ")
                        made = float(rate.replace(",", "")) * TRADING_S
                        used = [
                            1e3 * (each.cpu_s - was) for each, was in zip(both, before, strict=True)
                        ]
                        print(
                            f"{rate} {rest.strip()}; of a core, the leader "
                            f"{used[0] / made:.1f} ms a trade, the follower {used[1] / made:.1f} ms"
                        )
        finally:
            for one in both:
                one.end()
            server.close()


async def _traders(address: str) -> tuple[str, str]:
    """The keys of some agents, and a market for each of them."""
    async with httpx.AsyncClient(timeout=10, base_url=address) as http:
        keys = [
            (await http.post("/api/sdk/agents/register", json={"name": f"agent {number}"})).json()
            for number in range(TRADERS)
        ]
        headers = {"Authorization": f"Bearer {keys[0]['api_key']}"}
        listed = await http.get("/api/sdk/markets", params={"limit": 200}, headers=headers)
    rows = sorted(listed.json()["markets"], key=lambda one: one["resolves_at"], reverse=True)
    return (
        ",".join(one["api_key"] for one in keys),
        ",".join(one["id"] for one in rows[:TRADERS]),
    )


async def traders(port: int, callers: int, keys: list[str], markets: list[str]) -> None:
    """Trade at one port over that many connections, and print the rate."""
    took, refused, ends = list[float](), Counter[str](), time.monotonic() + TRADING_S

    async def trade(number: int) -> None:
        which = number % len(keys)
        side = "yes" if number % 2 else "no"
        order = {"market_id": markets[which], "side": side, "venue": "sim", "amount": 0.1}
        body = json.dumps(order).encode()
        request = (
            "POST /api/sdk/trade HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"authorization: Bearer {keys[which]}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        ).encode() + body
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < ends:
            began = time.monotonic()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            answer = await reader.readexactly(int(size))
            if head.startswith(b"HTTP/1.1 200"):
                took.append(time.monotonic() - began)
            else:
                refused[answer.decode()[:100]] += 1
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for number in range(callers):
            tasks.create_task(trade(number))
    took.sort()
    p50, p99 = took[len(took) // 2], took[round(0.99 * (len(took) - 1))]
    print(f"{len(took) / TRADING_S:,.0f} trades/s, p50 {1e3 * p50:.0f} ms, p99 {1e3 * p99:.0f} ms")
    for why, times in refused.items():
        print(f"{times} refused: {why}")


# -- worlds -------------------------------------------------------------------------------------


async def worlds() -> None:
    server = Postgres("fsync=on")
    names = [new_place(server.url).world for _ in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        words = ("--worlds", ",".join(names))
        one, two = (Process(Path(folder) / name, server.url, *words) for name in ("a", "b"))
        # Each world has the next port: two processes on one machine lie far enough apart.
        two.port = one.port + 50 if one.port < 60_000 else one.port - 50
        try:
            async with httpx.AsyncClient(timeout=10) as http:
                began = time.monotonic()
                one.start()
                await _until_led(http, one, 8)
                print(f"one process leads 8 worlds after {time.monotonic() - began:.1f} s")
                began = time.monotonic()
                two.start()
                await _until_led(http, two, 4)
                await _until_led(http, one, 4)
                print(f"a second one leads 4 of them after {time.monotonic() - began:.1f} s")
                await asyncio.sleep(1.0)
                await _trade_in_all(one, two)
                began = time.monotonic()
                one.end()
                await _until_led(http, two, 8)
                print(f"one is killed: the other leads all after {time.monotonic() - began:.1f} s")
        finally:
            one.end()
            two.end()
            server.close()


async def _until_led(http: httpx.AsyncClient, process: Process, count: int) -> None:
    deadline = time.monotonic() + UP_S
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            reply = await http.get(f"http://127.0.0.1:{process.ops}/readyz")
            if list(reply.json()["worlds"].values()).count("leading") == count:
                return
        await asyncio.sleep(0.05)
    raise AssertionError(f"does not lead {count} worlds")


async def _trade_in_all(one: Process, two: Process) -> None:
    """Trades a second in eight worlds, by either process."""
    agents: list[Agent] = []
    for number in range(8):
        agent = Agent(0, [f"http://127.0.0.1:{one.port + number}"])
        first = await agent.http.post(
            f"{agent.addresses[0]}/api/sdk/agents/register", json={"name": "looker"}
        )
        key = {"Authorization": f"Bearer {first.json()['api_key']}"}
        listed = await agent.http.get(
            f"{agent.addresses[0]}/api/sdk/markets", params={"limit": 200}, headers=key
        )
        rows = sorted(listed.json()["markets"], key=lambda one: one["resolves_at"], reverse=True)
        await agent.register([row["id"] for row in rows])
        agent.addresses.append(f"http://127.0.0.1:{two.port + number}")
        agents.append(agent)
    going = asyncio.Event()
    going.set()
    async with asyncio.TaskGroup() as tasks:
        trading = [tasks.create_task(agent.trade(going)) for agent in agents]
        await asyncio.sleep(5.0)
        going.clear()
        # What is on its way is answered first: only then is known what must be held.
        await asyncio.sleep(1.0)
        for task in trading:
            task.cancel()
    for agent in agents:
        await agent.check()
    trades = sum(len(agent.answered_at) for agent in agents)
    print(f"8 worlds on 2 processes: {trades / 5:,.0f} trades/s, one at a time in each world")


if __name__ == "__main__":
    wanted = sys.argv[1:2]
    if wanted == ["trades"]:
        asyncio.run(trades())
    elif wanted == ["reads"]:
        asyncio.run(reads())
    elif wanted == ["worlds"]:
        asyncio.run(worlds())
    elif wanted == ["forwarded"]:
        asyncio.run(forwarded())
    elif wanted == ["traders"]:
        asyncio.run(
            traders(
                int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(","), sys.argv[5].split(",")
            )
        )
    elif wanted == ["caller"]:
        asyncio.run(caller(int(sys.argv[2]), sys.argv[3]))
    else:
        asyncio.run(failovers(int(sys.argv[2]) if len(sys.argv) > 2 else FAILOVERS))
