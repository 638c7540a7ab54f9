"""One process of a skill: started with a minimal environment, watched, and ended whole.

Its output goes to a file of its own, which is cut when it grows; a process group of its own takes
every signal, and whoever left the group is found by a tag.
"""

import errno
import json
import os
import signal
import stat
import subprocess  # the whole purpose of this room
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeGuard

from service_tui.inherited import inherited
from service_tui.skills import guard
from service_tui.skills.package import DOCUMENT
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

ENDING_S: Final = 0.5
"""How long what was killed is waited for."""

LOOKS_MAX: Final = 3
"""How often it is looked for what is left of a run."""

SYSTEM: Final = (
    "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/proc", "/sys",
    "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew", "/var/lib/ca-certificates",
    "/run/systemd/resolve", "/run/resolvconf",
)  # fmt: skip
"""Folders of the system, in which a skill finds programs, libraries and names."""

DEVICES: Final = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch parameters of a skill's process. The values of `own` may be secret.

    `hidden`: folders with keys, which it reads nowhere but in its own folder and its package.
    `runner`: a program of ours that runs the script; None: it is run itself. `inherits`: open
    descriptors that it has from the start.
    """

    run_id: str
    folder: Path
    script: Path
    arguments: tuple[str, ...]
    own: Mapping[str, str] = field(repr=False)
    hidden: tuple[Path, ...] = ()
    runner: Path | None = None
    inherits: tuple[int, ...] = ()


def environment(launch: Launch, ours: Mapping[str, str]) -> dict[str, str]:
    """Environment of the process: a little of ours, its own variables, and its tag.

    The settings of a skill that a person runs by hand are in `own`, as its key is.
    """
    return {
        **inherited(ours),
        "HOME": str(launch.folder),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "AUTOMATON_MANAGED": "1",
        "SERVICE_MANAGED_MODE": "1",
        **launch.own,
        TAG: launch.run_id,
    }


def rules_of(launch: Launch, ours: Mapping[str, str]) -> guard.Rules:
    """What the process may read and write: the system, the interpreter, its package, its folder.

    Nothing of the person's: not the home folder, not the data directory with its keys.
    """
    package = next(
        (one for one in launch.script.parents if (one / DOCUMENT).is_file()), launch.script.parent
    )
    certificates = (ours.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    # The first is where the program was started, which may be a home folder.
    libraries = (*sys.path[1:], *ours.get("PYTHONPATH", "").split(os.pathsep))
    own = Path(guard.__file__).parents[2]
    read = (sys.prefix, sys.base_prefix, str(own), *libraries, *certificates, str(package))
    return guard.Rules(
        (*SYSTEM, *(place for place in read if _may_be_read(Path(place)))),
        (*DEVICES, str(launch.folder)),
        tuple(str(path) for path in launch.hidden),
    )


def _may_be_read(place: Path) -> bool:
    """False for a library folder with the person's home in it, and for one without a place."""
    return place.is_absolute() and not Path.home().resolve().is_relative_to(place.resolve())


class SkillProcess:
    """A process that was started here, or one of an earlier run that was found again."""

    def __init__(self, pid: int, run_id: str) -> None:
        self.pid: Final = pid
        self.run_id: Final = run_id
        self._child: subprocess.Popen[bytes] | None = None
        self._line: int | None = None

    @classmethod
    def start(
        cls, launch: Launch, environ: Mapping[str, str], outputs: tuple[int, int] | None = None
    ) -> "SkillProcess":
        """Start a skill; raises OSError if that fails.

        Args:
            launch: what is started.
            environ: our environment, of which it gets a little.
            outputs: where it writes, and where its errors go; None: into a file of its folder.

        Returns:
            The process, running.
        """
        # Its rules and its home are read where it stands, which is another folder than ours.
        launch = replace(
            launch,
            folder=launch.folder.resolve(),
            script=launch.script.resolve(),
            hidden=tuple(path.resolve() for path in launch.hidden),
        )
        launch.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = _log_of(launch.folder) if outputs is None else None
        out, errors = outputs or (log, log)
        ends, line = os.pipe()
        rules = rules_of(launch, environ).as_text()
        # -s, -P: nothing that a skill has written into its home or its folder is imported.
        python = [sys.executable, "-s", "-P", "-u", guard.__file__]
        programs = [str(one) for one in (launch.runner, launch.script) if one is not None]
        try:
            child = subprocess.Popen(  # noqa: S603  (a skill is run: that is the wish)
                [*python, guard.SKILL, rules, *programs, *launch.arguments],
                cwd=launch.folder,
                env=environment(launch, environ) | {guard.LIFELINE: str(ends)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
                pass_fds=(ends, *launch.inherits),
            )
        except OSError:
            os.close(line)
            raise
        finally:
            os.close(ends)
            if log is not None:
                os.close(log)
        made = cls(child.pid, launch.run_id)
        made._child, made._line = child, line
        return made

    def exit_code(self) -> int | None:
        """Exit status; None while it runs, 0 for an adopted process that ended."""
        if self._child is not None:
            return self._child.poll()
        return None if is_run(self.pid, self.run_id) else 0

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and to its children; an OSError where it may not be."""
        # An end in order is passed on by the guard, once.
        below = [] if number is signal.SIGTERM else guard.descendants(self.pid)
        for pid in below:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        with suppress(ProcessLookupError):
            # The guard of a skill that stands still goes on watching over it.
            os.killpg(self.pid, signal.SIGCONT if below and self._line is not None else number)

    def detach(self, *, detached: bool) -> None:
        """Let it outlive its parent, or not; raises OSError if its guard does not hear it.

        One that was found again lives without a parent, and ends with a closing desk unless its
        view says that it is detached.
        """
        if self._line is not None:
            os.write(self._line, guard.DETACH if detached else guard.KEEP)

    def kill(self) -> None:
        """End it and everything that it has started, wherever that went."""
        if self.exit_code() is None:
            below = guard.descendants(self.pid)
            # Its guard ends it whole; where that stands still, or was killed, it is done here.
            for number in (signal.SIGCONT, guard.END):
                with suppress(OSError):
                    os.kill(self.pid, number)
            guard.end_all(below)
            if not self._has_ended():
                guard.end_all([*guard.descendants(self.pid), self.pid])
        end_tagged(self.run_id)
        self._has_ended()
        self.let_go()

    def _has_ended(self) -> bool:
        """Wait a little for its end: only the kernel can hold it back for longer."""
        if self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(ENDING_S)
        return self.exit_code() is not None

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


def _log_of(folder: Path) -> int:
    """The output file of a folder, open to append.

    What a skill has put in its place (a link, a pipe) is removed, and never written through.

    Returns:
        Its descriptor.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return _plain_file(folder / LOG, flags)
    except OSError:
        (folder / LOG).unlink(missing_ok=True)
        return _plain_file(folder / LOG, flags | os.O_EXCL)


def _plain_file(path: Path, flags: int) -> int:
    """Open a file that is none but a file of one name; raises OSError for all else."""
    opened = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    found = os.fstat(opened)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is not a plain file", str(path))


def bound_log(folder: Path) -> None:
    """Cut an output file that grew too long; its end stays, with a line about the cut."""
    path = folder / LOG
    try:
        if path.lstat().st_size <= LOG_MAX:
            return
        kept = _end_of(path, LOG_KEPT)
        with os.fdopen(_plain_file(path, os.O_RDWR), "r+b") as file:
            file.truncate(0)
            file.write(CUT + kept)
    except OSError:
        # The disk is full or the file gone: the bound of the guard still holds.
        return


def tail(folder: Path) -> tuple[str, ...]:
    """Last lines of the output, oldest first, as harmless plain text; indents stay."""
    try:
        is_whole = (folder / LOG).lstat().st_size <= TAIL_BYTES
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
    with os.fdopen(_plain_file(path, os.O_RDONLY), "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - size))
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
