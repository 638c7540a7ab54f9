"""HAProxy and nginx in front of two processes of a shared desk, while leaders are killed.

    .venv/bin/python tests/bench/balancers.py haproxy|nginx [frozen]

Takes the files of `operation/` as they stand, with the ports and the certificate of this run. An
agent buys through the balancer all the time, with an idempotency key each, and repeats what was
answered with 502, 503 or 504. The leader is killed twice; with `frozen` it stands still for fifteen
seconds instead, under four writers and two readers. Prints how many buys were acknowledged, the
longest time that a writer and a reader waited, and the answers to reads; then the books are
checked.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx

from kit.service.certificates import Certificate, certificate
from kit.service.postgres import Postgres
from service_tui.server.http.loopback import bind

ROOT = Path(__file__).resolve().parents[2]
NAME = "desk.example"
FILES = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}
PORT = 443
REPEATED = {502, 503, 504}
FROZEN = "frozen" in sys.argv[2:]
WRITERS, READERS = (4, 2) if FROZEN else (1, 1)
FROZEN_S = 15.0
ROUND_S = 8.0
UP_S = 60.0
FILLS = (
    "SELECT count(*) FROM world_main.journal "
    "WHERE kind = 'fill' AND agent_id = %s AND body LIKE '%%buy%%'"
)
"""Buys alone: a stop of theirs may sell meanwhile."""


def free_ports(count: int) -> list[int]:
    listeners = [bind() for _ in range(count)]
    ports = [one.getsockname()[1] for one in listeners]
    for one in listeners:
        one.close()
    return ports


class Process:
    """One process of the desk; its log goes to a file."""

    def __init__(self, folder: Path, port: int, ops_port: int, database: str) -> None:
        self.folder, self.port, self.ops_port = folder, port, ops_port
        self.database = database
        self.running: subprocess.Popen[bytes] | None = None
        folder.mkdir()

    def start(self) -> None:
        if self.running is not None:
            self.running.send_signal(signal.SIGCONT)
            return
        words = ["serve", "--data-dir", self.folder / "data", "--port", str(self.port)]
        more = ["--ops-port", str(self.ops_port), "--limits", "off", "--invitations", "off"]
        proxy = ["--trusted-proxy", "127.0.0.1", "--public-name", NAME]
        with (self.folder / "log").open("ab") as log:
            self.running = subprocess.Popen(
                [sys.executable, "-m", "service_tui", *words, *more, *proxy],
                env={
                    **os.environ,
                    "HOME": str(self.folder),
                    "SERVICE_TUI_DATABASE": self.database,
                    "PYTHONPATH": str(ROOT / "src"),
                },
                stdout=log,
                stderr=log,
            )

    def status(self, path: str) -> int:
        try:
            return httpx.get(f"http://127.0.0.1:{self.ops_port}{path}", timeout=2).status_code
        except httpx.HTTPError:
            return 0

    def until(self, path: str) -> None:
        end = time.monotonic() + UP_S
        while self.status(path) != 200:
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.1)  # noqa: TID251 - a script without a loop

    def calls(self, method: str) -> float:
        """Calls of a method that it answered with 200, by its own figures."""
        text = httpx.get(f"http://127.0.0.1:{self.ops_port}/metrics", timeout=2).text
        found = re.search(rf'service_tui_calls_total{{method="{method}",status="200"}} (\S+)', text)
        return float(found[1]) if found else 0.0

    def end(self, how: signal.Signals) -> None:
        if self.running is not None:
            self.running.send_signal(how)
            if how is signal.SIGSTOP:
                return
            # One that stands still hears nothing but this.
            self.running.send_signal(signal.SIGCONT)
            self.running.wait()
            self.running = None


def balancer(name: str, folder: Path, both: list[Process], made: Certificate) -> tuple[str, int]:
    """Start a balancer with the file of `operation/`; its file, and the port that it answers at."""
    file = FILES[name]
    text = (ROOT / "operation" / file).read_text("utf-8")
    (port,) = free_ports(1)
    pem = folder / "desk.pem"
    pem.write_bytes(made.cert.read_bytes() + made.key.read_bytes())
    changed = {f"bind :{PORT}": f"bind :{port}", f"listen {PORT}": f"listen {port}"}
    changed |= {"/etc/haproxy/desk.pem": str(pem), "/etc/nginx/desk.pem": str(pem)}
    for number, one in enumerate(both, 1):
        changed |= {f":840{number}": f":{one.port}", f"port 940{number}": f"port {one.ops_port}"}
    for old, new in changed.items():
        text = text.replace(old, new)
    if os.geteuid() != 0:
        text = re.sub(r"^    (?:user|group|chroot) .*\n", "", text, flags=re.MULTILINE)
    (folder / file).write_text(text)
    return str(folder / file), port


def command(name: str, file: str, folder: Path) -> list[str]:
    program = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    assert program is not None, f"{name} is not on this machine"
    if name == "haproxy":
        subprocess.run([program, "-c", "-q", "-f", file], check=True)
        return [program, "-f", file]
    settings = f"daemon off; pid {folder}/pid; error_log {folder}/errors;"
    subprocess.run([program, "-t", "-q", "-c", file, "-g", settings], check=True)
    return [program, "-c", file, "-g", settings]


class Buyer:
    """An agent that buys all the time, and the reader beside it."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.taken, self.repeats, self.longest_s, self.longest_read_s = 0, 0, 0.0, 0.0
        self.reads: Counter[int] = Counter()
        self.ending = False
        self.agent_id = ""

    async def register(self) -> list[str]:
        reply = await self.http.post("/api/sdk/agents/register", json={"name": "heron"})
        assert reply.status_code == 200, reply.text
        self.agent_id = reply.json()["agent_id"]
        self.http.headers["Authorization"] = f"Bearer {reply.json()['api_key']}"
        found = (await self.http.get("/api/sdk/markets", params={"limit": 50})).json()["markets"]
        return [one["id"] for one in found]

    async def buy(self, markets: list[str], writer: int) -> None:
        last = time.monotonic()
        number = 0
        while not self.ending:
            number += 1
            market = markets[number % len(markets)]
            await self._until_taken(market, f"buy-{writer}-{number}")
            now = time.monotonic()
            self.longest_s, last = max(self.longest_s, now - last), now

    async def _until_taken(self, market: str, key: str) -> None:
        body = {"market_id": market, "side": "yes", "amount": 1, "venue": "sim"}
        while not self.ending:
            try:
                reply = await self.http.post(
                    "/api/sdk/trade", json=body, headers={"Idempotency-Key": key}
                )
            except httpx.TransportError:
                self.repeats += 1
                continue
            if reply.status_code not in REPEATED:
                assert reply.status_code == 200, reply.text
                self.taken += 1
                return
            self.repeats += 1
            await asyncio.sleep(0.05)

    async def read(self) -> None:
        while not self.ending:
            began = time.monotonic()
            try:
                reply = await self.http.get("/api/sdk/markets", params={"limit": 1})
                self.reads[reply.status_code] += 1
            except httpx.TransportError:
                self.reads[0] += 1
            self.longest_read_s = max(self.longest_read_s, time.monotonic() - began)
            await asyncio.sleep(0.005)


async def kills(both: list[Process], port: int, made: Certificate) -> tuple[int, str]:
    """Buy and read through the balancer, and kill the leader twice."""
    async with httpx.AsyncClient(
        base_url=f"https://127.0.0.1:{port}",
        headers={"Host": NAME},
        verify=made.trusted(),
        timeout=30,
    ) as http:
        buyer = Buyer(http)
        markets = await buyer.register()
        async with asyncio.TaskGroup() as tasks:
            for number in range(WRITERS):
                tasks.create_task(buyer.buy(markets, number))
            for _ in range(READERS):
                tasks.create_task(buyer.read())
            for _ in range(2):
                await asyncio.sleep(ROUND_S)
                reads = [f"{one.calls('GET'):.0f}" for one in both]
                print(
                    f"  taken {buyer.taken}, longest pause {buyer.longest_s:.2f} s, reads {reads}"
                )
                leader = next(one for one in both if one.status("/leaderz") == 200)
                follower = next(one for one in both if one is not leader)
                print(f"  the leader {'stands still' if FROZEN else 'is killed'}: {leader.port}")
                leader.end(signal.SIGSTOP if FROZEN else signal.SIGKILL)
                await asyncio.to_thread(follower.until, "/leaderz")
                if FROZEN:
                    await asyncio.sleep(FROZEN_S)
                leader.start()
                await asyncio.to_thread(leader.until, "/readyz")
            await asyncio.sleep(ROUND_S)
            buyer.ending = True
        reads = dict(buyer.reads)
        print(
            f"  taken {buyer.taken}, repeated {buyer.repeats}, longest pause {buyer.longest_s:.2f} "
            f"s, answers to reads {reads}, longest read {buyer.longest_read_s:.2f} s"
        )
        listed = await http.get("/api/sdk/agents/me", headers={"X-World-Seq": "latest"})
        assert listed.status_code == 200, listed.text
        return buyer.taken, buyer.agent_id


def main() -> None:
    name = sys.argv[1]
    with ExitStack() as stack:
        server = Postgres("fsync=on")
        stack.callback(server.close)
        database = server.url
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = certificate(folder / "tls", NAME)
        ports = free_ports(4)
        both = [Process(folder / str(n), ports[n], ports[n + 2], database) for n in (0, 1)]
        for one, state in zip(both, ("/leaderz", "/readyz"), strict=True):
            one.start()
            stack.callback(one.end, signal.SIGTERM)
            one.until(state)
        file, at = balancer(name, folder, both, made)
        front = subprocess.Popen(command(name, file, folder))
        stack.callback(front.wait)
        stack.callback(front.terminate)
        time.sleep(2)  # noqa: TID251 - the balancer looks at each process once
        taken, agent = asyncio.run(kills(both, at, made))
        checked = [sys.executable, "-m", "service_tui", "db", "check", "--database", database]
        subprocess.run(checked, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
        import psycopg  # noqa: PLC0415

        with psycopg.connect(database) as line:
            fills = line.execute(FILLS, (agent,)).fetchone()
        print(f"  {taken} buys were acknowledged, fills of buys: {fills}")


if __name__ == "__main__":
    main()
