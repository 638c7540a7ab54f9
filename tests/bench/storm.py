"""A storm on the real program: `storm.py [MINUTES] [SEED]`.

One process serves, a console in a terminal of its own is attached to it, and an agent trades.
Keys, pastes, mouse and sizes come at random; the service hangs or is killed, the console hangs or
is killed, and whatever ended is started again. Asserts: no traceback on the terminal, in a log or
on the way out, an exit status that is meant, the directory whole, the books balanced. Prints what
was done and the memory of the console over the time.
"""

import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ/?&:,.;+-_=~@#%$ \t\r"
SPECIAL = (
    *("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"),
    *("\x1b", "\x1bOP", "\x1b[Z", "\x7f", "\x10", "\x0c", "\x06"),
    *("\x1b[200~12.5\x1b[201~", "\x1b[200~" + "[red]\x1b[2J" * 40 + "\x1b[201~", "\u2603", "\x00"),
)
SIZES = ((24, 80), (40, 120), (50, 160), (18, 60), (5, 40), (1, 1), (2, 10), (70, 250), (60, 3))
BURST = 40
GOOD_ENDS = {0, -signal.SIGKILL}


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Program:
    """One process of the program, and all that it wrote."""

    def __init__(self, home: Path, *words: str, terminal: bool) -> None:
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "TERM": "xterm-256color",
        }
        self.written = b""
        self.descriptor, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.child = subprocess.Popen(
            [sys.executable, "-m", "service_tui", *words],
            env=environ,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=_own_terminal if terminal else None,  # noqa: PLW1509
        )
        os.close(side)

    def read(self, seconds: float) -> None:
        """Take what it writes; the end alone is kept."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.descriptor], [], [], left)[0]:
                return
            try:
                part = os.read(self.descriptor, 262_144)
            except OSError:
                return
            assert b"Traceback" not in part, part[-4_000:]
            self.written = (self.written + part)[-200_000:]

    def type(self, text: str) -> None:
        with suppress(OSError):
            os.write(self.descriptor, text.encode())

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        with suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGWINCH)

    def hang(self, seconds: float) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGSTOP)
        time.sleep(seconds)  # noqa: TID251  (a program of its own)
        with suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGCONT)

    @property
    def ended(self) -> int | None:
        return self.child.poll()

    def megabytes(self) -> float:
        try:
            return psutil.Process(self.child.pid).memory_info().rss / 1e6
        except psutil.Error:
            return 0.0

    def close(self) -> None:
        os.close(self.descriptor)


class Storm:
    """What blows, and how often it has."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home = home
        self.where = ("--data-dir", str(home / "desk"))
        self.rng = random.Random(seed)
        self.done = Counter[str]()
        self.memory: list[list[float]] = []
        self.service = self.serve()
        self.console = self.attach()

    def serve(self) -> Program:
        made = Program(self.home, "serve", "--limits", "off", *self.where, terminal=False)
        made.read(6.0)
        return made

    def attach(self) -> Program:
        made = Program(self.home, *self.where, terminal=True)
        made.read(6.0)
        self.memory.append([])
        return made

    def keep_alive(self) -> None:
        """Start again what has ended, if it ended as it may."""
        for name, program in (("console", self.console), ("service", self.service)):
            if program.ended is None:
                continue
            program.read(0.2)
            # A console that hangs holds the directory and cannot be asked: that is said.
            is_kept_out = name == "service" and b"is in use by process" in program.written
            ok = program.ended in GOOD_ENDS or is_kept_out
            assert ok, (name, program.ended, program.written[-4_000:])
            program.close()
            self.done[f"{name} ended ({program.ended})"] += 1
            if name == "console":
                self.console = self.attach()
            else:
                self.service = self.serve()

    def blow(self) -> None:
        """One thing that may happen."""
        rng, console = self.rng, self.console
        kind = rng.choices(
            ("keys", "special", "mouse", "size", "hang", "service hangs", "kill", "service killed"),
            (60, 25, 25, 15, 0.4, 0.6, 0.25, 0.35),
        )[0]
        self.done[kind] += 1
        match kind:
            case "keys":
                console.type("".join(rng.choices(LETTERS, k=rng.randrange(1, BURST))))
            case "special":
                console.type("".join(rng.choices(SPECIAL, k=rng.randrange(1, 6))))
            case "mouse":
                column, line = rng.randrange(1, 170), rng.randrange(1, 60)
                button = rng.choice((0, 0, 2, 35, 64, 65))
                console.type(f"\x1b[<{button};{column};{line}M\x1b[<{button};{column};{line}m")
            case "size":
                console.resize(*rng.choice(SIZES))
            case "hang":
                console.hang(rng.random() * 3)
            case "service hangs":
                self.service.hang(rng.random() * 8)
            case "kill":
                console.child.kill()
                console.child.wait()
            case _:
                self.service.child.kill()
                self.service.child.wait()

    def end(self) -> None:
        """Back to a size that a person has, then the way out that a person takes."""
        self.console.resize(40, 120)
        for program in (self.console, self.service):
            end = time.monotonic() + 60
            while program.ended is None and time.monotonic() < end:
                if program is self.console:
                    program.type("\x1b\x1b\x1b\x11")
                else:
                    program.child.send_signal(signal.SIGINT)
                program.read(1.0)
            assert program.ended in {0, -signal.SIGINT}, (program.ended, program.written[-2_000:])


def main(minutes: float, seed: int) -> None:
    # What fails is left to be looked at.
    home = Path(tempfile.mkdtemp(prefix="storm-"))
    print(f"seed {seed} in {home}", flush=True)
    storm = Storm(home, seed)
    agent = subprocess.Popen(
        [sys.executable, __file__, "--agent", str(home), str(minutes * 60)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    started, looked = time.monotonic(), 0.0
    while time.monotonic() - started < minutes * 60:
        storm.blow()
        storm.console.read(storm.rng.random() * 0.25)
        storm.service.read(0.0)
        storm.keep_alive()
        if time.monotonic() - looked > 5:
            looked = time.monotonic()
            storm.memory[-1].append(storm.console.megabytes())
    storm.end()
    said, _ = agent.communicate()
    print(said.decode().strip())
    logs = [path for path in home.rglob("*") if path.is_file() and "log" in path.name]
    for path in logs:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert "Traceback" not in text, (path, text[text.index("Traceback") :][:3_000])
    verified = subprocess.run(
        [sys.executable, "-m", "service_tui", "verify", *storm.where],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        check=False,
        text=True,
    )
    print(verified.stdout, verified.stderr)
    assert verified.returncode == 0
    print(f"{minutes:g} minutes, seed {seed}: {dict(storm.done)}")
    for run in storm.memory:
        if len(run) > 12:
            print(f"console for {len(run) * 5} s: {run[3]:.0f} MB at first, {run[-1]:.0f} at last")


def trade(home: Path, seconds: float) -> None:
    """An agent that trades at whoever serves; lines that break are what the storm does."""
    from service_tui import ServiceClient  # noqa: PLC0415
    from service_tui.client.errors import ServiceError  # noqa: PLC0415
    from service_tui.storage.db.lock import LOCK_FILE  # noqa: PLC0415

    rng, met, key = random.Random(1), Counter[str](), ""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.5)  # noqa: TID251  (a program of its own)
        try:
            found = home / "desk" / LOCK_FILE
            text = found.read_text(encoding="utf-8") if found.exists() else ""
            url = re.search(r"http://127\.0\.0\.1:\d+", text)
            if url is None:
                met["no service"] += 1
                continue
            if not key:
                key = ServiceClient.register("storm", base_url=url[0]).api_key
            with ServiceClient(key, url[0]) as client:
                for market in client.get_markets(limit=20):
                    result = client.trade(
                        market.id, rng.choice(("yes", "no")), 1.0, allow_rebuy=True
                    )
                    met["traded" if result.success else str(result.error_code)] += 1
        except (ServiceError, OSError, ValueError) as error:
            met[type(error).__name__] += 1
    print(f"the agent: {dict(met)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--agent"]:
        trade(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        given = sys.argv[1:3]
        main(float(given[0]) if given else 20.0, int(given[1]) if len(given) > 1 else 1)
