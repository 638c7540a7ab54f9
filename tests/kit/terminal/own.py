"""The program in a terminal of its own, as a person has it, to be killed or closed."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kit.terminal import warm
from kit.terminal.screen import TerminalScreen

COLUMNS, LINES = 120, 40


class OwnTerminal:
    """One run; what it writes is read by `read_until` and `wait`, or by `watched` all the time."""

    def __init__(self, pid: int, descriptor: int, attributes: list[Any]) -> None:
        self.pid = pid
        self.shown = b""
        self.attributes = attributes
        """Of the terminal before the program began."""
        self._descriptor = descriptor
        self._status: int | None = None
        self._is_watched = False
        self._moment = threading.Event()

    def read_until(self, part: bytes, within_s: float = 60.0) -> None:
        end = time.monotonic() + within_s
        while part not in self.shown:
            assert time.monotonic() < end, self.shown[-2_000:]
            assert self._read(), self.shown[-2_000:]

    def read_on(self) -> None:
        """Wait until it writes anything more."""
        assert self._read(), self.shown[-2_000:]

    @contextmanager
    def watched(self) -> Iterator[TerminalScreen]:
        """Have a thread read all the time, as a terminal does: nobody has to wait for a reader."""
        screen, ending = TerminalScreen(COLUMNS, LINES), threading.Event()

        def read() -> None:
            known = len(self.shown)
            while self._read(0.1) or not (ending.is_set() or self._is_closed()):
                screen.take(self.shown[known:])
                known = len(self.shown)

        reading = threading.Thread(target=read)
        self._is_watched = True
        reading.start()
        try:
            yield screen
        finally:
            ending.set()
            reading.join()
            self._is_watched = False

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, and tell the program."""
        size = struct.pack("HHHH", height, width, 0, 0)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, size)
        self.kill(signal.SIGWINCH)

    def memory(self) -> int:
        """Bytes that the program has in memory."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def kill(self, number: int) -> None:
        os.kill(self.pid, number)

    def close(self) -> None:
        """As when the window is closed."""
        os.close(self._descriptor)
        self._descriptor = -1

    def wait(self, within_s: float) -> int:
        """The exit status, once everything that the program still writes is read."""
        end = time.monotonic() + within_s
        while self._status is None:
            assert time.monotonic() < end, "it has not ended"
            if self._is_watched:
                self._moment.wait(0.02)
            elif self._descriptor >= 0:
                self._read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        while self._descriptor >= 0 and not self._is_watched and self._read(0.0):
            pass
        return self._status

    def left_behind(self) -> list[str]:
        """What a shell would find changed in its terminal; nothing after a good end."""
        told = self.shown.decode(errors="replace")
        modes = (1049, 1000, 1003, 1006, 2004, 1004)
        found = [
            f"mode {n} is on"
            for n in modes
            if told.rfind(f"\x1b[?{n}h") > told.rfind(f"\x1b[?{n}l")
        ]
        if told.rfind("\x1b[?25h") < told.rfind("\x1b[?25l"):
            found.append("the cursor is hidden")
        if termios.tcgetattr(self._descriptor) != self.attributes:
            found.append("the line is not as it was")
        return found

    def end(self) -> None:
        if self._status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def _is_closed(self) -> bool:
        """Whether the program has gone: its side of the terminal is closed."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    def _read(self, within_s: float = 60.0) -> bool:
        try:
            if not select.select([self._descriptor], [], [], within_s)[0]:
                return False
            chunk = os.read(self._descriptor, 65_536)
        except OSError:
            return False
        self.shown += chunk
        return bool(chunk)


@contextmanager
def own_terminal(home: Path, *words: str, **more: str) -> Iterator[OwnTerminal]:
    """The program with these words; `more` are variables of its environment."""
    environ = {
        "PATH": os.environ["PATH"],
        "SERVICE_TUI_NO_DEMO": "1",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "TERM": "xterm-256color",
        **more,
    }
    descriptor, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    # Before it starts: it may have changed them by the time that this process runs again.
    attributes = termios.tcgetattr(descriptor)
    command = [sys.executable, "-m", "service_tui", *words]
    pid = warm.start(
        command, environ, str(Path.cwd()), (side, side, side), session=True, terminal=True
    )
    os.close(side)
    if pid is None:
        os.close(descriptor)
        pid, descriptor = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execve(sys.executable, command, environ)  # noqa: S606
    run = OwnTerminal(pid, descriptor, attributes)
    try:
        yield run
    finally:
        run.end()
