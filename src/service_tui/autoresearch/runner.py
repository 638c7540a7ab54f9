"""Runs a shell command with a deadline: own session, bounded output, nothing left running.

Whatever the command starts is ended with it, also what left its process group: every process
inherits a mark in its environment, and what clears that comes to us as an orphan. Source: failures,
T-16 and rule 17.
"""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from service_tui.autoresearch.errors import ToolError
from service_tui.config import DATA_VARIABLE, INSECURE_VARIABLE
from service_tui.inherited import inherited, settings_in
from service_tui.skills import guard
from service_tui.skills.package import settings_of
from service_tui.wire.text import prose

log = logging.getLogger(__name__)

GRACE_S: Final = 2.0
"""From SIGTERM to SIGKILL. Source: failures, T-16."""

KEPT_BYTES: Final = 64 * 1024
LINES: Final = 80
"""Of the output, the end. Source: failures, T-16; wire reference, 9.2."""

SHOWN_MAX: Final = 16_000
FILE_BLOCKS: Final = 2 * 1024 * 1024
"""ours: a file that a command writes may have a gigabyte (blocks of 512 bytes)."""

SETTLE_S: Final = 0.2
MARK: Final = "SERVICE_EXPERIMENT"
PASSED: Final = (
    "HOME", "USER", "LOGNAME", "SHELL", "PYTHONUNBUFFERED", "TRADING_VENUE",
    "AUTORESEARCH_MAX_EXPERIMENTS", INSECURE_VARIABLE,
)  # fmt: skip
API: Final = frozenset({"SERVICE_API_KEY", "SERVICE_API_URL", DATA_VARIABLE})
_SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""


@dataclass(frozen=True, slots=True)
class Ran:
    """End of a command. `tail` is harmless text; `size` counts all bytes written."""

    exit_code: int | None
    timed_out: bool
    took_s: float
    tail: str
    size: int

    @property
    def succeeded(self) -> bool:
        """True if it ended on its own with status 0."""
        return self.exit_code == 0 and not self.timed_out


def environment_of(
    environment: Mapping[str, str], *, mark: str, api: Mapping[str, str], skill: str = ""
) -> dict[str, str]:
    """Environment of a command: named settings, the skill's own, and the session's API key.

    The wallet's key, and whatever else looks like a secret, stays out.

    Args:
        environment: our own.
        mark: by which its processes are found again.
        api: the session's address and key, or the data directory that it gets.
        skill: whose settings it gets.

    Returns:
        The variables.
    """
    settings = settings_in(environment, settings_of(skill)) if skill else []
    kept = inherited(environment, (*PASSED, *settings))
    return {**kept, **{k: v for k, v in api.items() if k in API}, MARK: mark, "TERM": "dumb"}


OPEN: Final = guard.Rules((), ("/",), ())
"""Closes nothing."""


def is_closed(folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether a hidden folder can be closed to a command: one among temporary files stays open."""
    # ours: such a data directory is made to be thrown away, and to close it would close theirs.
    return not folder.resolve().is_relative_to(temporary(environment))


def temporary(environment: Mapping[str, str]) -> Path:
    """Where a command puts temporary files."""
    return Path(environment.get("TMPDIR") or tempfile.gettempdir()).resolve()


def guarded(
    command: Sequence[str], environment: Mapping[str, str], rules: guard.Rules
) -> tuple[str, ...]:
    """The words that start a command below a guard, and within rules where the kernel has them."""
    closed = tuple(
        path for path in rules.hidden if Path(path).is_dir() and is_closed(Path(path), environment)
    )
    # -I: nothing of the command's environment reaches this Python.
    python = (sys.executable, "-I", guard.__file__)
    return (*python, guard.COMMAND, rules._replace(hidden=closed).as_text(), *command)


class Output:
    """Tail of a command's output, within bounds. `on_output` is called for each part."""

    def __init__(self, on_output: Callable[["Output"], None] | None = None) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._on_output = on_output
        self.size = 0

    def take(self, part: bytes) -> None:
        """Keep a part, and forget what is older than the bound."""
        self.size += len(part)
        self._parts.append(part[-KEPT_BYTES:])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= KEPT_BYTES:
            self._size -= len(self._parts.popleft())
        if self._on_output is not None:
            self._on_output(self)

    def tail(self) -> str:
        """The last lines as harmless text."""
        text = b"".join(self._parts)[-KEPT_BYTES:].decode(errors="replace")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return prose("\n".join(lines[-LINES - 1 :])[-SHOWN_MAX:], SHOWN_MAX)


async def run(
    command: str,
    folder: Path,
    *,
    deadline_s: float,
    environment: Mapping[str, str],
    output: Output,
    rules: guard.Rules = OPEN,
) -> Ran:
    """Run a command to its end or its deadline; nothing of it runs any more afterwards.

    Args:
        command: what the shell runs.
        folder: where.
        deadline_s: how long it may take.
        environment: its variables, with its mark.
        output: takes what it writes.
        rules: what it cannot read, where the kernel has Landlock.

    Returns:
        How it ended, with the end of its output.

    Raises:
        ToolError: no shell can be started in the folder.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    _adopt_orphans()
    others = _children()
    # The limits are the shell's own, so that nothing of ours runs between fork and exec.
    lead = f'ulimit -c 0 -f {FILE_BLOCKS} 2>/dev/null; exec /bin/bash -c "$1"'
    words = ("/bin/bash", "-c", lead, "experiment", command)
    # Its guard ends it with us, however we end.
    ends, line = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *guarded(words, environment, rules),
            cwd=folder, env={**environment, guard.LIFELINE: str(ends)}, pass_fds=(ends,),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        os.close(line)
        why = error.strerror if isinstance(error, OSError) else "it holds a zero byte"
        raise ToolError(f"the command cannot be started in {folder} ({why})") from error
    finally:
        os.close(ends)
    timed_out = False
    try:
        try:
            async with asyncio.timeout(deadline_s):
                await _read(process, output)
                await process.wait()
        except TimeoutError:
            timed_out = True
            await _end(process, output)
    finally:
        os.close(line)
        # Also where no task waits for it any more: its guard ends all before it ends itself.
        await _reaped(process)
        _kill_tree(process.pid, environment.get(MARK, ""), others)
    took = loop.time() - began
    return Ran(process.returncode, timed_out, took, output.tail(), output.size)


async def _reaped(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a guard; kill one that cannot end what is below it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            await process.wait()
    if process.returncode is None:
        process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await process.wait()


async def _read(process: asyncio.subprocess.Process, output: Output) -> None:
    """Read the output to its end; a child may keep the pipe open for longer."""
    if process.stdout is None:
        return
    ended: float | None = None
    loop = asyncio.get_running_loop()
    while True:
        try:
            async with asyncio.timeout(SETTLE_S):
                part = await process.stdout.read(KEPT_BYTES)
        except TimeoutError:
            if process.returncode is None:
                continue
            ended = ended or loop.time()
            if loop.time() - ended >= SETTLE_S:
                return
            continue
        if not part:
            return
        output.take(part)


async def _end(process: asyncio.subprocess.Process, output: Output) -> None:
    """Terminate the whole group, and wait a little."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            await _read(process, output)
            await process.wait()


def _kill_tree(leader: int, mark: str, others: Collection[int]) -> None:
    """Kill whatever the command started, wherever it went."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    end_marked(mark, but=leader)
    _end_all(lambda: [pid for pid in _strays(others) if pid != leader])


def end_marked(mark: str, *, but: int = 0) -> int:
    """Kill every process that carries a mark, wherever it went; how many there were."""
    return _end_all(lambda: [pid for pid in _marked(mark) if pid != but])


def _end_all(look: Callable[[], list[int]]) -> int:
    total = 0
    # Until a look finds none: a tree that forks may be faster than one look.
    for _ in range(20):
        processes = look()
        if not processes:
            break
        for pid in processes:
            total += 1
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    return total


def _strays(others: Collection[int]) -> list[int]:
    """Orphans of another session that were reparented to us, with their descendants."""
    # What was a child before, or shares our session, is not the command's: that began in a session
    # of its own, and no process can come back into ours.
    here = os.getsid(0)
    orphans: list[psutil.Process] = []
    for child in psutil.Process().children():
        with suppress(psutil.Error, OSError):
            is_dead = child.status() == psutil.STATUS_ZOMBIE
            if not is_dead and child.pid not in others and os.getsid(child.pid) != here:
                orphans.append(child)
    for one in tuple(orphans):
        with suppress(psutil.Error):
            orphans += one.children(recursive=True)
    return [one.pid for one in orphans]


def _children() -> Collection[int]:
    """Processes that are ours now."""
    return {child.pid for child in psutil.Process().children()}


def _marked(mark: str) -> list[int]:
    """Processes that have our mark in their environment; what has ended is reaped on the way."""
    if not mark:
        return []
    pids: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and _is_marked(process, mark):
                pids.append(process.pid)
    return pids


def _is_marked(process: psutil.Process, mark: str) -> bool:
    if process.status() == psutil.STATUS_ZOMBIE:
        # An orphan that came to us; those that have a parent are that one's to reap.
        if process.ppid() == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
        return False
    return process.environ().get(MARK) == mark


def _adopt_orphans() -> None:
    """Become the parent of our children's orphans, so that they can be found and reaped."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
