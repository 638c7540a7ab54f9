"""Runs a person's own commands: bounded in time and output, and without any secret of ours."""

import asyncio
import os
import signal
from asyncio import subprocess
from contextlib import suppress
from typing import Final

from service_tui.desk.commands.own_commands import RunOwnCommand
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.registry import OwnHandlers
from service_tui.inherited import DESKTOP, PERSON, inherited
from service_tui.wire.text import line

WITHIN_S: Final = 60.0
TOGETHER_MAX: Final = 4
TAIL_BYTES: Final = 4_096
LAST_LINE_MAX: Final = 200
# ours: longer work belongs into the background of the line; nobody reads more of a toast.

ENDING_S: Final = 0.5
"""How long a line that was ended is waited for, and the rest of its output."""

SHELL: Final = "/bin/sh"


class OwnCommandRuns:
    """The own commands that run now.

    A line whose shell has ended is over: what it left in the background goes on by itself. One that
    still runs when its time is over, or when the desk closes, is ended with all that it started.
    """

    def __init__(self, ports: Ports, *, within_s: float = WITHIN_S) -> None:
        self._ports = ports
        self._within_s = within_s
        self._running: set[str] = set()

    def handlers(self) -> OwnHandlers:
        """What is carried out here."""
        return {RunOwnCommand: self.run}

    async def run(self, order: RunOwnCommand) -> None:
        """Run a line to its end, and report its exit code and last line in a notice."""
        if order.name in self._running:
            self._ports.emit(Noticed("warn", f"{order.name}: still running"))
            return
        if len(self._running) >= TOGETHER_MAX:
            self._ports.emit(Noticed("warn", f"{order.name}: {TOGETHER_MAX} others still run"))
            return
        self._running.add(order.name)
        try:
            tone, text = await _ran(order, self._within_s)
        finally:
            self._running.discard(order.name)
        self._ports.emit(Noticed(tone, f"{order.name}: {text}"))


async def _ran(order: RunOwnCommand, within_s: float) -> tuple[str, str]:
    """The tone and the text of what became of a line."""
    ours, theirs = os.pipe()
    try:
        process = await subprocess.create_subprocess_exec(
            SHELL, "-c", order.line, order.name,
            env=inherited(os.environ, (*PERSON, *DESKTOP)) | dict(order.variables),
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        os.close(ours)
        return "bad", f"cannot start ({line(str(error), LAST_LINE_MAX)})"
    except asyncio.CancelledError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    is_late = False
    async with asyncio.TaskGroup() as group:
        tail = Tail()
        reading = group.create_task(tail.read(ours))
        try:
            async with asyncio.timeout(within_s):
                await process.wait()
            # What the line left in the background may hold its output open for ever.
            await asyncio.wait((reading,), timeout=ENDING_S)
        except TimeoutError:
            is_late = True
        finally:
            reading.cancel()
            await _end(process)
    if is_late:
        return "bad", f"took longer than {within_s:.0f} s, ended"
    last = f": {tail.last_line}" if tail.last_line else ""
    return _end_text(process.returncode or 0, last)


def _end_text(code: int, last: str) -> tuple[str, str]:
    if code < 0:
        return "warn", f"ended by signal {-code}{last}"
    return ("good" if code == 0 else "warn"), f"exit {code}{last}"


class Tail:
    """The last of what a line wrote; all else is read and forgotten."""

    def __init__(self) -> None:
        self._kept = b""

    @property
    def last_line(self) -> str:
        """The last line that is not empty, as harmless plain text."""
        lines = self._kept.decode(errors="replace").splitlines()
        texts = (line(one, LAST_LINE_MAX) for one in reversed(lines))
        return next((text for text in texts if text.strip()), "")

    async def read(self, descriptor: int) -> None:
        """Read a pipe to its end, and close it."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        try:
            while part := await reader.read(TAIL_BYTES):
                self._kept = (self._kept + part)[-TAIL_BYTES:]
        finally:
            transport.close()


async def _end(process: subprocess.Process) -> None:
    """End a line that still runs, with all of its group; SIGTERM first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDING_S)
