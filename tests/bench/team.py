"""A desk of several people: three consoles, forty agents and two processes on one PostgreSQL.

    .venv/bin/python tests/bench/team.py [minutes]

Everything is a process of its own. Each minute one of the two that serve is killed, the leader and
the follower by turns. The consoles are opened by the keys of three people; a key is pressed in each
twice a second. Prints what must hold at the end (every acknowledged share is held, the books add
up, epochs never fall, each console still shows the present), how long nobody answered, and the
milliseconds from a key to what it paints.
"""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import fcntl
import struct
import termios

import httpx
from shared import WORLD, Agent, Process, _books, _settled

from kit.service.postgres import Postgres
from kit.terminal.own import COLUMNS, LINES, OwnTerminal
from service_tui.storage.shared.connection import WorldPlace, connect

AGENTS = 40
MINUTES = 10
PACE_S = 1.0
"""Between two trades of an agent."""

PEOPLE = {"ada": "trader", "bea": "supervisor", "olaf": "observer"}
PRESS_S = 0.5
PAINT_S = 10.0


async def agent(number: int, addresses: list[str], seconds: float) -> None:
    """One agent as a process: trade until the end, check what is held, print what was."""
    one = Agent(number, addresses)
    while True:
        # A process that takes the lead answers 503 for a moment.
        with suppress(KeyError, httpx.TransportError, AssertionError):
            await one.register(json.loads(os.environ["MARKETS"]))
            break
        await asyncio.sleep(0.5)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await one._once()
        await asyncio.sleep(PACE_S * (0.5 + one.rng.random()))
    await asyncio.sleep(3.0)
    await one.check()
    print(json.dumps({"trades": len(one.answered_at), "repeated": one.repeated}))


pause = threading.Event().wait
"""The keys are pressed in threads."""


class Console:
    """A person's console in a terminal of its own, with a key pressed again and again."""

    def __init__(self, home: Path, url: str, key: str) -> None:
        descriptor, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "TERM": "xterm-256color",
            "SERVICE_API_KEY": key,
        }
        command = [sys.executable, "-m", "service_tui", "--url", url]
        attributes = termios.tcgetattr(descriptor)
        self.running = subprocess.Popen(
            command, env=environ, stdin=side, stdout=side, stderr=side, start_new_session=True
        )
        os.close(side)
        self.terminal = OwnTerminal(self.running.pid, descriptor, attributes)
        self.took_ms: list[float] = []
        self.silent = 0

    def press(self, ending: threading.Event) -> str:
        """Move the cursor until the end; returns what the screen shows then."""
        keys = "jjjkkk"
        with self.terminal.watched() as screen:
            pause(12.0)
            self.terminal.type("\x1b")
            pause(1.0)
            place = 0
            while not ending.wait(PRESS_S):
                before, began = len(self.terminal.shown), time.perf_counter()
                self.terminal.type(keys[place % len(keys)])
                place += 1
                while len(self.terminal.shown) == before:
                    if time.perf_counter() - began > PAINT_S:
                        self.silent += 1
                        break
                    pause(0.001)
                else:
                    self.took_ms.append((time.perf_counter() - began) * 1_000)
            self.terminal.type("\x14")
            pause(2.0)
            text = screen.text
            self.running.kill()
            self.running.wait()
            return text


async def people_of(process: Process, http: httpx.AsyncClient) -> dict[str, str]:
    """Add the people; returns their keys."""
    operator = json.loads((process.folder / "keys.json").read_text())["operator"]
    keys = {}
    for name, role in PEOPLE.items():
        reply = await http.post(
            f"{process.address}/api/desk/people",
            json={"name": name, "role": role},
            headers={"Authorization": f"Bearer {operator}"},
        )
        keys[name] = reply.json()["key"]
    return keys


async def run(minutes: float, folder: Path, server: Postgres, stack: ExitStack) -> None:
    both = tuple(Process(folder / name, server.url) for name in ("a", "b"))
    for one in both:
        stack.callback(one.end)
    async with httpx.AsyncClient(timeout=10) as http:
        both[0].start()
        await both[0].until(http, "leading")
        keys = await people_of(both[0], http)
        (both[1].folder).mkdir(exist_ok=True)
        both[1].start()
        await both[1].until(http, "standing by")
        made = await http.post(
            f"{both[0].address}/api/sdk/agents/register", json={"name": "looker"}
        )
        addresses = [one.address for one in both]
        http.headers["Authorization"] = f"Bearer {made.json()['api_key']}"
        listed = await http.get(f"{addresses[0]}/api/sdk/markets", params={"limit": 200})
        ends = sorted(listed.json()["markets"], key=lambda row: row["resolves_at"], reverse=True)
        os.environ["MARKETS"] = json.dumps([row["id"] for row in ends[:60]])
        seconds = minutes * 60.0
        agents = [await started(number, addresses, seconds) for number in range(AGENTS)]
        consoles = {}
        for place, (name, key) in enumerate(keys.items()):
            home = folder / f"home-{name}"
            home.mkdir()
            consoles[name] = Console(home, addresses[place % 2], key)
            stack.callback(consoles[name].running.kill)
        ending = threading.Event()
        stack.callback(ending.set)
        async with asyncio.TaskGroup() as tasks:
            pressing = {
                name: tasks.create_task(asyncio.to_thread(console.press, ending))
                for name, console in consoles.items()
            }
            await kills(both, int(minutes), http)
            told = [json.loads((await one.communicate())[0] or b"null") for one in agents]
            ending.set()
        await report(told, pressing, consoles, server.url)


async def started(number: int, addresses: list[str], seconds: float) -> asyncio.subprocess.Process:
    """An agent as a process, each a moment after the one before."""
    await asyncio.sleep(0.5)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "agent", str(number), str(seconds), *addresses),
        stdout=subprocess.PIPE,
    )


async def kills(both: tuple[Process, ...], count: int, http: httpx.AsyncClient) -> None:
    """Kill one of the two each minute, the leader and the follower by turns."""
    for number in range(count):
        await asyncio.sleep(45.0)
        lead, stand = await _settled((both[0], both[1]), http)
        victim = lead if number % 2 == 0 else stand
        assert victim.running is not None
        victim.running.send_signal(signal.SIGKILL)
        victim.running.wait()
        await asyncio.sleep(10.0)
        victim.start()
        print(
            f"minute {number + 1}: killed {'leader' if victim is lead else 'follower'}", flush=True
        )


async def report(
    told: list[dict[str, int] | None],
    pressing: dict[str, "asyncio.Task[str]"],
    consoles: dict[str, Console],
    url: str,
) -> None:
    failed = sum(one is None for one in told)
    trades = sum(one["trades"] for one in told if one)
    repeated = sum(one["repeated"] for one in told if one)
    print(
        f"{trades} trades acknowledged, {repeated} by a repeat; {failed} agents with a difference"
    )
    place = WorldPlace(url, WORLD)
    await asyncio.to_thread(_books, place)
    with connect(place, "bench") as raw:
        rows = [row[0] for row in raw.execute(b"SELECT epoch FROM journal ORDER BY seq")]
    assert rows == sorted(rows)
    print(f"books add up; {len(rows)} rows, epochs 1 to {rows[-1]}, never falling")
    for name, console in consoles.items():
        took = sorted(console.took_ms)
        p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
        team = [line for line in pressing[name].result().splitlines() if line.strip()][:12]
        silent = f"{console.silent} painted nothing within {PAINT_S:.0f} s"
        print(f"{name}: {len(took)} keys, p50 {p50:.0f} ms, p99 {p99:.0f} ms, {silent}")
        print(*(f"    {line}" for line in team), sep="\n")


async def main(minutes: float) -> None:
    with ExitStack() as stack:
        server = Postgres("fsync=on")
        stack.callback(server.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        await run(minutes, folder, server, stack)


if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        asyncio.run(agent(int(sys.argv[2]), sys.argv[4:], float(sys.argv[3])))
    else:
        asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES))
