"""A firm on one PostgreSQL: twenty worlds, five hundred agents, fifty people, two processes.

    .venv/bin/python tests/bench/firm.py [minutes [seconds between two trades of an agent]]

Each world has twenty-five agents that trade at either process, and people who look: each reads the
agents and the pages of a console every few seconds. Each minute one of the two processes is killed
by turns and started again. Prints what must hold at the end (every acknowledged share is held, the
books of every world add up), trades a second, what an answer takes, how long a world had no leader,
and what was used: processor, memory and connections of the database, as shares of what there is.
"""

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import httpx
import psycopg
from shared import Agent, Process, _books, _until_led

from kit.service.postgres import Postgres, new_place

WORLDS = 20
AGENTS = 25
PEOPLE = 50
MINUTES = 10.0
PACE_S = 10.0
LOOK_S = 5.0
LOOKS = ("/api/sdk/markets?limit=100", "/api/desk/agents", "/api/desk/exposure", "/api/sdk/health")
KEY_AT = "keys.json"


class Desk:
    """The two processes, and what their callers saw."""

    def __init__(self, both: tuple[Process, Process], worlds: list[str]) -> None:
        self.both, self.worlds = both, worlds
        self.trade_ms: list[float] = []
        self.read_ms: list[float] = []
        self.refused: Counter[int] = Counter()
        self.without_s: list[float] = []
        self.is_over = False

    def addresses(self, place: int) -> list[str]:
        return [f"http://127.0.0.1:{one.port + place}" for one in self.both]


async def begun(desk: Desk, place: int, http: httpx.AsyncClient) -> list[Agent]:
    """The agents of a world, each with a market of its own, known to the service."""
    addresses = desk.addresses(place)
    made = await http.post(f"{addresses[0]}/api/sdk/agents/register", json={"name": "looker"})
    key = {"Authorization": f"Bearer {made.json()['api_key']}"}
    listed = await http.get(f"{addresses[0]}/api/sdk/markets", params={"limit": 200}, headers=key)
    rows = sorted(listed.json()["markets"], key=lambda one: one["resolves_at"], reverse=True)
    markets = [row["id"] for row in rows]
    agents = [Agent(number, addresses) for number in range(AGENTS)]
    for one in agents:
        one.http = http_of(limit=2)
        await one.register(markets)
    return agents


def http_of(limit: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=20, limits=httpx.Limits(max_connections=limit))


async def trading(desk: Desk, one: Agent) -> None:
    await asyncio.sleep(one.rng.random() * PACE_S)
    while not desk.is_over:
        began = time.perf_counter()
        await one._once()
        desk.trade_ms.append((time.perf_counter() - began) * 1_000)
        await asyncio.sleep(PACE_S * (0.5 + one.rng.random()))


async def looking(desk: Desk, place: int, key: str) -> None:
    """A person with a console on one process: its pages, again and again."""
    address = desk.addresses(place)[place % 2]
    async with http_of(limit=2) as http:
        http.headers["Authorization"] = f"Bearer {key}"
        while not desk.is_over:
            for path in LOOKS:
                began = time.perf_counter()
                with suppress(httpx.TransportError):
                    reply = await http.get(address + path)
                    if reply.status_code == 200:
                        desk.read_ms.append((time.perf_counter() - began) * 1_000)
                    else:
                        desk.refused[reply.status_code] += 1
            await asyncio.sleep(LOOK_S)


async def people(desk: Desk, operator: str, http: httpx.AsyncClient) -> list[str]:
    """The keys of fifty people, spread over the worlds."""
    keys = []
    for number in range(PEOPLE):
        reply = await http.post(
            f"{desk.addresses(number % WORLDS)[0]}/api/desk/people",
            json={"name": f"person {number}", "role": "supervisor"},
            headers={"Authorization": f"Bearer {operator}"},
        )
        keys.append(reply.json()["key"])
    return keys


async def kills(desk: Desk, minutes: float, http: httpx.AsyncClient, sample: "Used") -> None:
    """Kill one of the two each minute, by turns."""
    for number in range(max(1, int(minutes))):
        for _ in range(8):
            await asyncio.sleep(5.0)
            await sample.take()
        victim, other = desk.both[number % 2], desk.both[1 - number % 2]
        victim.end()
        began = time.monotonic()
        await _until_led(http, other, WORLDS)
        desk.without_s.append(time.monotonic() - began)
        victim.start()
        await asyncio.sleep(15.0)
        await sample.take()
        print(
            f"minute {number + 1}: one killed, the other led all {WORLDS} worlds after "
            f"{desk.without_s[-1]:.1f} s; {len(desk.trade_ms):,} trades so far",
            flush=True,
        )
    desk.is_over = True


class Used:
    """The most of what there is that was used, in five seconds."""

    def __init__(self, desk: Desk, url: str) -> None:
        self.desk, self.url = desk, url
        self.before: dict[int, tuple[int, float, float]] = {}
        self.cores: list[float] = []
        self.memory_mb = 0.0
        self.connections = 0
        self.own: list[float] = []
        self.own_before = (time.monotonic(), 0.0)

    async def take(self) -> None:
        for place, one in enumerate(self.desk.both):
            assert one.running is not None
            with suppress(OSError):
                pid, now, used = one.running.pid, time.monotonic(), one.cpu_s
                before = self.before.get(place)
                if before is not None and before[0] == pid:
                    self.cores.append((used - before[2]) / (now - before[1]))
                self.before[place] = (pid, now, used)
                status = await asyncio.to_thread(Path(f"/proc/{pid}/status").read_text, "ascii")
                rss = next(line for line in status.splitlines() if line.startswith("VmRSS"))
                self.memory_mb = max(self.memory_mb, int(rss.split()[1]) / 1_024)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        spent, now = usage.ru_utime + usage.ru_stime, time.monotonic()
        self.own.append((spent - self.own_before[1]) / (now - self.own_before[0]))
        self.own_before = (now, spent)
        self.connections = max(self.connections, await asyncio.to_thread(self._connections))

    def _connections(self) -> int:
        with psycopg.connect(self.url) as raw:
            row = raw.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            ).fetchone()
        return 0 if row is None else int(row[0])


def spread(values: list[float]) -> str:
    ordered = sorted(values) or [0.0]
    at = {part: ordered[int(len(ordered) * part)] for part in (0.5, 0.99)}
    return f"p50 {at[0.5]:,.0f} ms, p99 {at[0.99]:,.0f} ms, most {ordered[-1]:,.0f} ms"


async def main(minutes: float) -> None:
    server = Postgres("fsync=on")
    places = [new_place(server.url) for _ in range(WORLDS)]
    names = [one.world for one in places]
    with tempfile.TemporaryDirectory() as folder:
        words = ("--worlds", ",".join(names))
        both = tuple(Process(Path(folder) / name, server.url, *words) for name in ("a", "b"))
        one, two = both
        two.port = one.port + 50 if one.port < 60_000 else one.port - 50
        desk = Desk((one, two), names)
        try:
            async with httpx.AsyncClient(timeout=30) as http:
                one.start()
                await _until_led(http, one, WORLDS)
                operator = json.loads((one.folder / KEY_AT).read_text())["operator"]
                keys = await people(desk, operator, http)
                agents = [await begun(desk, place, http) for place in range(WORLDS)]
                two.start()
                await _until_led(http, two, WORLDS // 2)
                print(f"{WORLDS} worlds, {WORLDS * AGENTS} agents, {len(keys)} people", flush=True)
                sample, began = Used(desk, server.url), time.monotonic()
                async with asyncio.TaskGroup() as tasks:
                    for group in agents:
                        for agent in group:
                            tasks.create_task(trading(desk, agent))
                    for number, key in enumerate(keys):
                        tasks.create_task(looking(desk, number % WORLDS, key))
                    tasks.create_task(kills(desk, minutes, http, sample))
                seconds = time.monotonic() - began
                for group in agents:
                    for agent in group:
                        await agent.check()
                report(desk, sample, agents, seconds)
            for place in places:
                await asyncio.to_thread(_books, place)
            print("every acknowledged share is held; the books of every world add up")
        finally:
            one.end()
            two.end()
            server.close()


def report(desk: Desk, sample: Used, agents: list[list[Agent]], seconds: float) -> None:
    trades, repeated = len(desk.trade_ms), sum(one.repeated for group in agents for one in group)
    print(
        f"{trades:,} trades acknowledged, {trades / seconds:,.0f} a second, {repeated} repeated: "
        f"{spread(desk.trade_ms)}"
    )
    print(f"{len(desk.read_ms):,} reads: {spread(desk.read_ms)}; others {dict(desk.refused)}")
    print(f"without a leader for some world: most {max(desk.without_s):.1f} s")
    cores, own = sorted(sample.cores) or [0.0], sorted(sample.own)
    print(
        f"a process: {cores[len(cores) // 2]:.2f} cores, most {cores[-1]:.2f}; most "
        f"{sample.memory_mb:,.0f} MB; callers {own[len(own) // 2]:.2f} of {os.cpu_count()} cores; "
        f"connections of the database: most {sample.connections}"
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        PACE_S = float(sys.argv[2])
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES))
