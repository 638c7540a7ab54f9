"""A console beside twenty programs that trade: how long a key waits until its effect is painted.

`beside.py [SECONDS] [PROGRAMS] [attached|embedded]`: the programs of `soak.py` trade over loopback
with `service-tui serve`, to which the console is attached as a process of its own, or with the
console itself, which then is the service. The console runs in a terminal like any other; a key
counts from the moment it is typed to the moment at which what it changed went out to the terminal.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

SIZE = (120, 40)
LOST_S = 5.0
BOOT_S = 15.0
"""Until twenty programs have been imported."""

WARM_S = 12.0
"""The world begins, the console opens and reads everything once."""

KEYS = [*"jkjkjkjk", "7", "j", "k", "2", *"jkjk", "1", "2"]
ADDRESS = b"serving http://"


def console(out: str, arguments: list[str]) -> None:
    """The program itself, with a note of what each paint showed."""
    from textual.app import App  # noqa: PLC0415

    from service_tui.__main__ import main  # noqa: PLC0415
    from service_tui.console.app import ConsoleApp  # noqa: PLC0415
    from service_tui.console.widgets.record_table import RecordTable  # noqa: PLC0415

    paints: list[tuple[float, str]] = []
    display = App._display
    exit_app = ConsoleApp.exit

    def shown(self: Any) -> str:
        front = self.front
        tables = [table for table in front.query(RecordTable) if table.has_focus]
        return f"{front.name_in_keys} {tables[0].order.cursor if tables else ''}"

    def painted(self: Any, *given: Any) -> None:
        display(self, *given)
        with suppress(Exception):
            paints.append((time.perf_counter(), shown(self)))

    def left(self: Any, *given: Any) -> None:
        Path(out).write_text(json.dumps(paints))
        exit_app(self, *given)

    App._display, ConsoleApp.exit = painted, left  # type: ignore[method-assign]
    sys.argv[1:] = arguments
    main()


def pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251  (a program of its own)


class Terminal:
    """A console in a terminal that reads all it prints."""

    def __init__(self, arguments: list[str], out: Path) -> None:
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
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
        os.write(self._line, key.encode())
        return time.perf_counter()

    def end(self) -> None:
        self.type("\x11")
        with suppress(ChildProcessError):
            for _ in range(100):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                pause(0.1)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def press(terminal: Terminal, seconds: float, rng: random.Random) -> list[tuple[float, str]]:
    """Type at a person's pace; when each key was typed."""
    pressed = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key in KEYS:
            pressed.append((terminal.type(key), key))
            pause(rng.uniform(0.12, 0.3))
    return pressed


def waits_of(pressed: list[tuple[float, str]], paints: list[tuple[float, str]]) -> list[float]:
    """Seconds from each key to the first paint that showed something else than before it."""
    waits, place = [], 0
    for at, _ in pressed:
        while place < len(paints) and paints[place][0] < at:
            place += 1
        if place == 0:
            continue
        before = paints[place - 1][1]
        after = next((when for when, what in paints[place:] if what != before), None)
        waits.append(LOST_S if after is None else min(after - at, LOST_S))
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
    from service_tui.storage.lock import holder_of  # noqa: PLC0415

    holder = holder_of(folder) if folder.exists() else None
    return None if holder is None else holder.pid


def address_of(folder: Path) -> str:
    from service_tui.storage.lock import holder_of  # noqa: PLC0415

    for _ in range(300):
        holder = holder_of(folder) if folder.exists() else None
        if holder is not None and holder.address:
            return holder.address
        pause(0.1)
    raise RuntimeError("nobody serves")


async def trade(url: str, seconds: float, programs: int) -> Counter[str]:
    from service_tui import ServiceClient  # noqa: PLC0415

    # An account has twenty agents, the desk's own among them: two programs trade for one.
    shared = ServiceClient.register("soak", base_url=url).api_key
    children = [
        await asyncio.create_subprocess_exec(
            *(["nice", "-n", "10"] if os.environ.get("NICE") else []),
            sys.executable,
            str(Path(__file__).with_name("soak.py")),
            *("--program", url, str(seconds), str(number), *([shared] if number < 2 else [])),
            stdout=subprocess.PIPE,
        )
        for number in range(programs)
    ]
    said = [await child.communicate() for child in children]
    return sum((Counter(json.loads(one[0])["met"]) for one in said), Counter[str]())


def beside(folder: Path, seconds: float, programs: int, how: str) -> None:
    data, out, rng = folder / "desk", folder / "paints.json", random.Random(5)
    server = None
    if how == "attached":
        command = [sys.executable, "-m", "service_tui", "--data-dir", str(data), "serve"]
        server = subprocess.Popen(
            [*command, "--limits", "off", "--plan", "elite"], stdout=subprocess.DEVNULL
        )
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
    alone = press(terminal, min(seconds, 20.0), rng)
    met = Counter[str]()

    def run() -> None:
        met.update(asyncio.run(trade(url, seconds + BOOT_S, programs)))

    traders = threading.Thread(target=run)
    traders.start()
    pause(BOOT_S)
    used, read = cpu_s(terminal.pid), terminal.read
    busy = press(terminal, seconds, rng)
    used, read = cpu_s(terminal.pid) - used, terminal.read - read
    traders.join()
    terminal.end()
    paints = [(at, what) for at, what in json.loads(out.read_text())]
    say(f"{how}, nobody trades", waits_of(alone, paints))
    say(f"{how}, {programs} programs trade", waits_of(busy, paints))
    print(f"console: {used / seconds:.2f} of a core, {read / seconds / 1e3:.0f} kB/s to paint")
    print(dict(met), f"{met['traded'] / (seconds + BOOT_S):.0f} trades/s")
    if server is not None:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--console"]:
        console(sys.argv[2], sys.argv[3:])
    else:
        words = [*sys.argv[1:], *("60", "20", "attached")[len(sys.argv) - 1 :]]
        with tempfile.TemporaryDirectory() as folder:
            beside(Path(folder), float(words[0]), int(words[1]), words[2])
