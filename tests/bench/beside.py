"""A console beside twenty programs that trade: how long a key waits until its effect is painted.

`beside.py [SECONDS] [PROGRAMS] [attached|embedded] [limits|closed] [awake]`: the programs of
`soak.py` trade over loopback with `service-tui serve`, to which the console is attached as a
process of its own, or with the console itself, which then is the service. `limits` is what agents
meet: plan elite, and whoever is told to wait waits. `closed` has no limits (attached only): every
program trades again as soon as it is answered. The console runs in a terminal like any other; a key
counts from the moment before it is typed to the moment at which what it changed went out to the
terminal. `awake` lets an idle process turn on every core: where nothing runs, a virtual machine
lets go of them, and the first thing that happens then takes twice as long as the same thing done
twice.
"""

import asyncio
import fcntl
import json
import os
import pty
import random
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from service_tui.cli import main as cli

SIZE = (120, 40)
LOST_S = 5.0
BOOT_S = 15.0
"""Until twenty programs have been imported."""

WARM_S = 12.0
"""The world begins, the console opens and reads everything once."""

AGENTS_MAX = 20

KEYS = [*"jkjkjkjk", "7", "j", "k", "2", *"jkjk", "1", "2"]
ADDRESS = b"serving http://"


def console(out: str, arguments: list[str]) -> None:
    """The program itself, with a note of the last key that had had its effect at each paint."""
    from textual._compositor import ChopsUpdate  # noqa: PLC0415
    from textual.app import App  # noqa: PLC0415

    from service_tui.__main__ import main  # noqa: PLC0415
    from service_tui.console.app import ConsoleApp  # noqa: PLC0415
    from service_tui.console.widgets.deck import Deck  # noqa: PLC0415
    from service_tui.console.widgets.record_table import RecordTable  # noqa: PLC0415

    paints: list[tuple[float, int]] = []
    done = seen = 0
    display, move, bring, exit_app = App._display, RecordTable._move, Deck.bring, ConsoleApp.exit

    def moved(self: Any, *given: Any) -> None:
        nonlocal done
        move(self, *given)
        done = self.app._number

    async def brought(self: Any, *given: Any) -> None:
        nonlocal done
        await bring(self, *given)
        done = self.app._number

    def shows_cursor(self: Any, update: Any) -> bool:
        """Whether an update paints the line under the cursor, where every key leaves its trace."""
        laid_out = self.screen_stack[0]._compositor.visible_widgets
        tables = [table for table in self.front.query(RecordTable) if table in laid_out]
        table = next((one for one in tables if one.has_focus), *tables[:1])
        line = table.region.y + 1 + (table.order.index or 0) - table.scroll_offset.y
        return not isinstance(update, ChopsUpdate) or line in {span[0] for span in update.spans}

    def painted(self: Any, screen: Any, update: Any) -> None:
        nonlocal seen
        display(self, screen, update)
        if update is not None and done > seen:
            with suppress(Exception):
                if shows_cursor(self, update):
                    seen = done
                    paints.append((time.perf_counter(), done))

    def left(self: Any, *given: Any) -> None:
        Path(out).write_text(json.dumps(paints))
        exit_app(self, *given)

    for kind, name, own in (
        (App, "_display", painted),
        (RecordTable, "_move", moved),
        (Deck, "bring", brought),
        (ConsoleApp, "exit", left),
    ):
        setattr(kind, name, own)
    sys.argv[1:] = arguments
    main()


@contextmanager
def awake() -> Generator[None]:
    """Every core turns, for whoever wants it: what is scheduled as idle takes no time of others."""
    turn = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    turning = [subprocess.Popen([sys.executable, "-c", turn]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in turning:
            one.kill()
            one.wait()


def pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251  (a program of its own)


class Terminal:
    """A console in a terminal that reads all it prints."""

    def __init__(self, arguments: list[str], out: Path) -> None:
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            # As the program sets it, for here Textual is imported before.
            os.environ["TEXTUAL_FPS"] = cli.FRAMES
            command = [sys.executable, __file__, "--console", str(out), *arguments]
            os.execvp(command[0], command)
        self.read = 0
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    def _follow(self) -> None:
        with suppress(OSError):
            while select.select([self._line], [], []) and (data := os.read(self._line, 65_536)):
                self.read += len(data)

    def type(self, key: str) -> float:
        at = time.perf_counter()
        os.write(self._line, key.encode())
        return at

    def end(self) -> None:
        self.type("\x11")
        with suppress(ChildProcessError):
            for _ in range(100):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                pause(0.1)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def press(terminal: Terminal, seconds: float, rng: random.Random) -> list[float]:
    """Type at a person's pace; when each key was typed. Each of them changes something."""
    pressed = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key in KEYS:
            pressed.append(terminal.type(key))
            pause(rng.uniform(0.12, 0.3))
    pause(1.0)
    return pressed


def waits_of(pressed: list[float], paints: list[tuple[float, int]]) -> list[float]:
    """Seconds from each key to the first paint at which it and all before it had their effect."""
    before = max((done for at, done in paints if at < pressed[0]), default=0)
    after = [(at, done - before) for at, done in paints if at >= pressed[0]]
    waits = []
    for number, typed in enumerate(pressed, start=1):
        at = next((at for at, done in after if done >= number), None)
        waits.append(LOST_S if at is None else min(at - typed, LOST_S))
    return waits


def say(name: str, waits: list[float]) -> None:
    waits = sorted(wait * 1e3 for wait in waits)
    p50, p99 = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
    print(
        f"{name:<34} p50 {p50:6.0f} ms   p99 {p99:6.0f} ms   max {waits[-1]:6.0f} ms"
        f"   mean {statistics.fmean(waits):6.0f} ms   {len(waits)} keys",
        flush=True,
    )


def cpu_s(pid: int) -> float:
    rows = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(rows[11]) + int(rows[12])) / os.sysconf("SC_CLK_TCK")


FOLDERS: list[Path] = []
"""Data directories of this run, for whoever asks about their holder."""


def holder_at(folder: Path) -> int | None:
    from service_tui.storage.db.lock import holder_of  # noqa: PLC0415

    holder = holder_of(folder) if folder.exists() else None
    return None if holder is None else holder.pid


def address_of(folder: Path) -> str:
    from service_tui.storage.db.lock import holder_of  # noqa: PLC0415

    for _ in range(300):
        holder = holder_of(folder) if folder.exists() else None
        if holder is not None and holder.address:
            return holder.address
        pause(0.1)
    raise RuntimeError("nobody serves")


async def trade(url: str, keys: list[str], seconds: float, programs: int) -> Counter[str]:
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("soak.py")),
            *("--program", url, str(seconds), str(number), keys[number % len(keys)]),
            stdout=subprocess.PIPE,
        )
        for number in range(programs)
    ]
    said = [await child.communicate() for child in children]
    return sum((Counter(json.loads(one[0])["met"]) for one in said), Counter[str]())


def serve(data: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "service_tui", "--data-dir", str(data), "serve", *words]
    return subprocess.Popen([*command, "--plan", "elite"], stdout=subprocess.DEVNULL)


def end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait(10)


def registered(data: Path, programs: int) -> list[str]:
    """Keys of new agents: before the limits are on, or it would take minutes.

    An account has twenty agents, the desk's own among them: the twentieth program shares a key.
    """
    from service_tui import ServiceClient  # noqa: PLC0415

    server = serve(data, "--limits", "off")
    url = address_of(data)
    names = [f"program {number}" for number in range(min(programs, AGENTS_MAX - 1))]
    keys = [ServiceClient.register(name, base_url=url).api_key for name in names]
    end(server)
    return keys


def beside(
    folder: Path, seconds: float, programs: int, how: str, *, limits: bool, alone_s: float = 20.0
) -> list[float]:
    """Seconds that each key waited beside the programs; it also prints them."""
    data, out, rng = folder / "desk", folder / "paints.json", random.Random(5)
    keys = registered(data, programs)
    server = None
    if how == "attached":
        server = serve(data, *(() if limits else ("--limits", "off")))
        url = address_of(data)
        terminal = Terminal(["--data-dir", str(data)], out)
    else:
        terminal = Terminal(["--data-dir", str(data), "--plan", "elite"], out)
        url = address_of(data)
    pause(WARM_S)
    terminal.type("\r")
    pause(1.0)
    for key in "721272":
        terminal.type(key)
        pause(0.5)
    used, read = cpu_s(terminal.pid), terminal.read
    alone = press(terminal, min(seconds, alone_s), rng)
    told = f"{spent(terminal, alone, used, read)}, nobody trades\n"
    met = Counter[str]()

    def run() -> None:
        met.update(asyncio.run(trade(url, keys, seconds + BOOT_S, programs)))

    traders = threading.Thread(target=run)
    busy = []
    if programs:
        traders.start()
        pause(BOOT_S)
        used, read = cpu_s(terminal.pid), terminal.read
        busy = press(terminal, seconds, rng)
        told += f"{spent(terminal, busy, used, read)}, {programs} programs trade"
        traders.join()
    terminal.end()
    paints = [(at, done) for at, done in json.loads(out.read_text())]
    say(f"{how}, nobody trades", waits_of(alone, paints))
    waits = waits_of(busy, paints) if programs else []
    if programs:
        say(f"{how}, {programs} programs trade", waits)
    print(told)
    print(dict(met), f"{met['traded'] / (seconds + BOOT_S):.0f} trades/s")
    if server is not None:
        end(server)
    return waits


def spent(terminal: Terminal, pressed: list[float], used: float, read: int) -> str:
    """What the console has used and painted since the first of these keys."""
    seconds = time.perf_counter() - pressed[0]
    used, read = cpu_s(terminal.pid) - used, terminal.read - read
    return f"console: {used / seconds:.2f} of a core, {read / seconds / 1e3:.0f} kB/s to paint"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--console"]:
        console(sys.argv[2], sys.argv[3:])
    else:
        words = [*sys.argv[1:], *("60", "20", "attached", "limits", "")[len(sys.argv) - 1 :]]
        with tempfile.TemporaryDirectory() as folder, awake() if words[4] else nullcontext():
            beside(
                Path(folder),
                float(words[0]),
                int(words[1]),
                words[2],
                limits=words[3] != "closed",
            )
