"""A program in a terminal of its own: when a text was printed, and what the program uses."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

SIZE = (120, 40)
LIMIT_S = 15.0
END_S = 5.0
ASKED, ANSWER = b"\x1b[c", "\x1b[?62;22c"
"""What kind of terminal it is: every terminal answers, and some programs wait for that."""

ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "120", "LINES": "40"}


class Terminal:
    """A program from its exec on. Whoever waits for it reads what it prints meanwhile."""

    def __init__(self, command: Sequence[str]) -> None:
        self.began = time.perf_counter()
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
            os.environ.update(ENVIRONMENT)
            # A program that must compile itself at each start is not what people start.
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            os.execvp(command[0], command)
        self.text = b""
        self.read = 0
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._is_over:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._line)

    def _more(self, seconds: float) -> bool:
        """Read what comes within so many seconds; False at the program's end."""
        ready, _, _ = select.select([self._line], [], [], max(0.0, seconds))
        with suppress(OSError):
            if ready:
                data = os.read(self._line, 65_536)
                self.text += data
                self.read += len(data)
                if ASKED in data:
                    self.type(ANSWER)
                return bool(data)
            return True
        return False

    def until(self, mark: bytes) -> float:
        """Read until a text was printed, and forget all before it.

        Returns:
            The time at which it came; NaN if it never came.
        """
        end = time.perf_counter() + LIMIT_S
        while (at := self.text.find(mark)) < 0:
            if time.perf_counter() > end or not self._more(0.5):
                return float("nan")
        now = time.perf_counter()
        self.text = self.text[at + len(mark) :]
        return now

    def rest(self, seconds: float) -> None:
        """Read for so many seconds, and forget it."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0 and self._more(left):
            self.text = b""
        self.text = b""

    def type(self, keys: str) -> float:
        """Type keys; the time before it."""
        at = time.perf_counter()
        os.write(self._line, keys.encode())
        return at

    def cpu_percent(self, seconds: float) -> float:
        """Percent of a core that the program uses while it is left alone."""
        before, began = self.cpu_s, time.perf_counter()
        self.rest(seconds)
        return 100 * (self.cpu_s - before) / (time.perf_counter() - began)

    @property
    def cpu_s(self) -> float:
        """Seconds of a core so far, of all threads and of the programs that it ran meanwhile."""
        rows = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, rows[11:15])) / os.sysconf("SC_CLK_TCK")

    @property
    def rss_mb(self) -> float:
        """Memory in use."""
        status = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(row.split()[1]) for row in status if row.startswith("VmRSS")) / 1024

    def end(self, keys: str) -> float:
        """Type the keys that end it; seconds until it has ended, NaN if it does not."""
        began = self.type(keys)
        while time.perf_counter() - began < END_S:
            self._more(0.002)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self._is_over = True
                return time.perf_counter() - began
        return float("nan")
