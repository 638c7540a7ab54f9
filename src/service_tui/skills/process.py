"""One process of a skill: started with a minimal environment, watched, and ended whole.

Its output goes to a file of its own, which is cut when it grows; a process group of its own takes
every signal, and whoever left the group is found by a tag.
"""

import json
import os
import signal
import subprocess  # the whole purpose of this room
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeGuard

from service_tui.skills import guard
from service_tui.wire import text

TAG: Final = "SERVICE_RUN"
"""Variable by which a run's processes are known, wherever they went."""

LOG: Final = "output.log"
LOG_MAX: Final = 1_000_000
LOG_KEPT: Final = 64_000
"""Bytes at which the output is cut, and of its end that stay."""

TAIL_BYTES: Final = 128_000
TAIL_LINES: Final = 1_000
LINE_MAX: Final = 2_000
INDENT_MAX: Final = 40
CUT: Final = b"... what stood here was cut: too much output ...\n"

LOOKS_MAX: Final = 3
"""How often it is looked for what is left of a run."""

PASSED_ON: Final = (
    "PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "SYSTEMROOT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""All that a skill gets of our own environment: no key, no home."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch parameters of a skill's process. The values of `own` may be secret."""

    run_id: str
    folder: Path
    script: Path
    arguments: tuple[str, ...]
    own: Mapping[str, str] = field(repr=False)


def environment(launch: Launch, ours: Mapping[str, str]) -> dict[str, str]:
    """Environment of the process: a little of ours, its own variables, and its tag."""
    passed = {name: ours[name] for name in PASSED_ON if name in ours}
    return {
        **passed,
        "HOME": str(launch.folder),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "AUTOMATON_MANAGED": "1",
        "SERVICE_MANAGED_MODE": "1",
        **launch.own,
        TAG: launch.run_id,
        guard.FOLDER: str(launch.folder),
    }


class SkillProcess:
    """A process that was started here, or one of an earlier run that was found again."""

    def __init__(self, pid: int, run_id: str, folder: Path) -> None:
        self.pid: Final = pid
        self.run_id: Final = run_id
        self.folder: Final = folder
        self._child: subprocess.Popen[bytes] | None = None
        self._line: int | None = None

    @classmethod
    def start(cls, launch: Launch, ours: Mapping[str, str]) -> "SkillProcess":
        """Start a skill; raises OSError if that fails.

        Returns:
            The process, running.
        """
        launch.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (launch.folder / guard.DETACHED).unlink(missing_ok=True)
        ends, line = os.pipe()
        log = os.open(launch.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            child = subprocess.Popen(  # noqa: S603  (a skill is run: that is the wish)
                [sys.executable, "-u", guard.__file__, str(launch.script), *launch.arguments],
                cwd=launch.folder,
                env=environment(launch, ours) | {guard.LIFELINE: str(ends)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(ends,),
            )
        except OSError:
            os.close(line)
            raise
        finally:
            os.close(ends)
            os.close(log)
        made = cls(child.pid, launch.run_id, launch.folder)
        made._child, made._line = child, line
        return made

    def exit_code(self) -> int | None:
        """Exit status; None while it runs, 0 for an adopted process that ended."""
        if self._child is not None:
            return self._child.poll()
        return None if is_run(self.pid, self.run_id) else 0

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and to its children; an OSError where it may not be."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def detach(self, *, detached: bool) -> None:
        """Let it outlive its parent, or not; raises OSError if that cannot be written."""
        marker = self.folder / guard.DETACHED
        if detached:
            marker.touch(mode=0o600)
        else:
            marker.unlink(missing_ok=True)

    def kill(self) -> None:
        """End it and everything that it has started, wherever that went."""
        below = guard.descendants(self.pid) if self.exit_code() is None else []
        with suppress(OSError):
            self.signal(signal.SIGKILL)
        guard.end_all(below)
        end_tagged(self.run_id)
        if self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                # A killed process ends at once; only the kernel can hold it back.
                self._child.wait(0.5)
        self.let_go()

    def leave(self) -> None:
        """Let a detached process go on alone."""
        self.let_go()
        if self._child is not None:
            # Nobody will wait for it any more, and that is meant.
            self._child.returncode = 0

    def let_go(self) -> None:
        """Close the line; a process that is not detached dies of it."""
        if self._line is not None:
            os.close(self._line)
            self._line = None


def is_run(pid: int, run_id: str) -> bool:
    """True if a process is alive and has the run's tag: its number may be reused."""
    # Loaded by the first run: a desk without one needs it not.
    import psutil  # noqa: PLC0415

    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(TAG) == run_id
    except (psutil.Error, OSError, ValueError, OverflowError, TypeError):
        # Gone meanwhile, another user's, or no number of a process.
        return False


def tagged(run_id: str) -> list[int]:
    """Every process that belongs to a run."""
    import psutil  # noqa: PLC0415 - as above

    return [pid for pid in psutil.pids() if is_run(pid, run_id)]


def end_tagged(run_id: str) -> None:
    """End every process with a run's tag, also those started during the search.

    They are gone when the kernel has come to them, which may be a moment later.
    """
    for _ in range(LOOKS_MAX):
        left = tagged(run_id)
        if not left:
            return
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        os.sched_yield()


def bound_log(folder: Path) -> None:
    """Cut an output file that grew too long; its end stays, with a line about the cut."""
    path = folder / LOG
    try:
        size = path.stat().st_size
        if size <= LOG_MAX:
            return
        kept = _end_of(path, LOG_KEPT)
        with path.open("r+b") as file:
            file.truncate(0)
            file.write(CUT + kept)
    except OSError:
        # The disk is full or the file gone: the bound of the guard still holds.
        return


def tail(folder: Path) -> tuple[str, ...]:
    """Last lines of the output, oldest first, as harmless plain text; indents stay."""
    try:
        is_whole = (folder / LOG).stat().st_size <= TAIL_BYTES
        raw = _end_of(folder / LOG, TAIL_BYTES)
    except OSError:
        return ()
    lines = raw.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    # A line whose beginning lies further back would look like a whole one.
    whole = lines if is_whole else lines[1:]
    return tuple(_plain(line) for line in whole[-TAIL_LINES:])


def _plain(line: str) -> str:
    indent = len(line) - len(line.lstrip(" \t"))
    return " " * min(indent, INDENT_MAX) + text.line(line, LINE_MAX)


def _end_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read(size)


def report_of(lines: Sequence[str]) -> str:
    """Text of a run's last report; empty if no line is one. Source: wire, 10."""
    for line in reversed(lines[-20:]):
        if not line.startswith("{"):
            continue
        try:
            report: object = json.loads(line, parse_constant=_no_number)
        except (ValueError, RecursionError):
            return "the report is not JSON"
        return _report_text(report)
    return ""


def _no_number(_: str) -> object:
    raise ValueError("not a finite number")


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _report_text(report: object) -> str:
    inner = (
        report.get("automaton", report.get("service_managed_output"))
        if _is_object(report)
        else None
    )
    if not _is_object(inner):
        return ""
    names = ("signals", "trades_attempted", "trades_executed", "amount_usd", "skip_reason")
    parts = [f"{name.replace('_', ' ')} {str(inner[name])[:60]}" for name in names if name in inner]
    return ", ".join(parts)
