"""Starts an untrusted program: hides files from it, limits it, and ends what it leaves running.

Started as a script by `process`, with a skill's script and its words behind the rules. It stays as
the parent of the skill: ends it with whoever started it unless it is told that the skill is
detached, ends in order on request, and ends whatever the skill has left behind. A detachment is
told by the line to the parent, which the skill does not have. A command of an experiment is guarded
in the same way, with bounds of its own.

Files are closed by Landlock of Linux, in a few system calls of our own: the libraries for it are
young, and here nothing may be imported but the standard library. Where the kernel has none the
program runs all the same, and can read what its user can read.
"""

import contextlib
import ctypes
import json
import os
import resource
import runpy
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

LIFELINE: Final = "SERVICE_RUN_LIFELINE"
SKILL: Final = "skill"
COMMAND: Final = "command"
DETACH: Final = b"d"
KEEP: Final = b"k"
"""Words of the line: let the skill outlive its parent, or not."""

END: Final = signal.SIGUSR1
"""Tells a guard to end its skill at once, and everything that it has started."""

LIST_BYTES: Final = 65_536
PAUSE_S: Final = 0.001
"""Between two looks for what is left: shorter than a process takes to begin another."""

FILE_MAX: Final = 16 * 1024 * 1024
"""Of any file that it writes, its output too: a flood ends here even without a console."""

NICENESS: Final = 10
# ours: a skill computes when nothing else needs the processor: the console's keys and the
# service come first.

UNFENCED: Final = "this kernel has no Landlock: a skill can read all that its user can read"

_PARENT_DEATH: Final = 1
_SUBREAPER: Final = 36
_NO_NEW_PRIVILEGES: Final = 38
"""PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER and PR_SET_NO_NEW_PRIVS of Linux."""

_CREATE: Final = 444
_ADD: Final = 445
_RESTRICT: Final = 446
"""System calls of Landlock, which have one number on all machines."""

_READ: Final = 0b1101
_LIST: Final = 0b1000
_OF_FILES: Final = 0b1100_0000_0000_0111
_RIGHTS: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""From which version of Landlock on there are how many rights. Source: landlock(7)."""

_SCOPES: Final = 6
_SCOPED: Final = 0b11
"""From this version on: no signal to processes outside, and no socket of theirs without a path."""


_POWERS_VERSION: Final = 0x20080522
_POWERS: Final = 0b1011
"""CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER. Source: capabilities(7)."""


class Rules(NamedTuple):
    """What a program may read, and write; `hidden` is closed even where it lies below those."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: tuple[str, ...]

    def as_text(self) -> str:
        """The rules as an argument of this script."""
        return json.dumps(self)


def main(arguments: list[str]) -> None:
    """Guard a skill or a command to its end."""
    kind, text, *words = arguments
    rules = Rules(*json.loads(text))
    line = os.environ.pop(LIFELINE, "")
    begin = {SKILL: _be_skill, COMMAND: _be_command}[kind]
    _Guard(int(line) if line else None).run(lambda: begin(rules, words))


# -- the guard -----------------------------------------------------------------------------


class _Guard:
    """Parent of a skill or a command: one wait for signals, children and the line."""

    def __init__(self, line: int | None) -> None:
        self._line = line
        self._is_detached = False
        self._skill = 0
        self._status: int | None = None
        self._listed: int | None = None

    def run(self, begin: Callable[[], None]) -> None:
        """Start the skill in a process of its own and wait for its end; ends as the skill did."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Orphans come here: what has cleared its environment is found by descent.
        _process_control(_SUBREAPER, 1)
        woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        told = (signal.SIGTERM, signal.SIGCHLD, END)
        for number in told:
            signal.signal(number, _note)
        # What asks for an end before the skill can hear it waits until it can.
        signal.pthread_sigmask(signal.SIG_BLOCK, told)
        parent = os.getpid()
        self._skill = os.fork()
        if not self._skill:
            for open_file in (woken, wakes, *([] if self._line is None else [self._line])):
                os.close(open_file)
            _leave(parent)
            begin()
        with contextlib.suppress(OSError):
            # Opened now: the skill may take the right to open anything away from its guard.
            self._listed = os.open(f"/proc/self/task/{parent}/children", os.O_RDONLY)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, told)
        while self._status is None:
            self._wait(woken)
        self._end_below()
        _remove_temporary(self._skill)
        _end_as(self._status)

    def _wait(self, woken: int) -> None:
        line = self._line
        ready, _, _ = select.select([woken, *([] if line is None else [line])], [], [])
        if woken in ready:
            numbers = os.read(woken, 256)
            if signal.SIGTERM in numbers:
                _signal_group(self._skill, signal.SIGTERM)
            if END in numbers:
                self._end_below()
            self._reap()
        if line is not None and line in ready:
            self._hear(os.read(line, 64))

    def _hear(self, words: bytes) -> None:
        """Read the parent's commands; the end of the parent closes the connection."""
        if words:
            self._is_detached = words[-1:] == DETACH
            return
        self._line = None
        if not self._is_detached:
            self._end_below()

    def _end_below(self) -> None:
        """End the skill and all that it has started, until nothing is left."""
        end_all(self._children())
        while self._reap():
            select.select((), (), (), PAUSE_S)
            # Orphans come here: whose parent was killed is our own child at the next look.
            end_all(self._children())

    def _children(self) -> list[int]:
        """Our own children, without opening anything where the system lists them."""
        if self._listed is None:
            return _children(os.getpid())
        words = os.pread(self._listed, LIST_BYTES, 0)
        # The last number of a list that is cut may be another one.
        whole = words if len(words) < LIST_BYTES else words[: words.rfind(b" ")]
        return [int(word) for word in whole.split()]

    def _reap(self) -> bool:
        """Take the status of whoever has ended; True while there are children."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid == self._skill:
                    self._status = status
        return False


def _leave(parent: int) -> None:
    """Begin a session, as a child that dies with its guard and receives signals again."""
    signal.set_wakeup_fd(-1)
    # Python ignores the last two; a command does not know that.
    for number in (signal.SIGTERM, signal.SIGCHLD, END, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    _process_control(_PARENT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _be_command(rules: Rules, words: list[str]) -> None:
    """Close the files and become the command."""
    enclose(rules)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.execvp(words[0], words)  # noqa: S606  (that command is the wish)


def _be_skill(rules: Rules, words: list[str]) -> None:
    """Set the bounds, close the files, and be the skill."""
    signal.signal(signal.SIGTERM, _end)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
    os.environ["TMPDIR"] = _own_temporary()
    if not enclose(rules) and not os.fstat(sys.stderr.fileno()).st_size:
        # Once, at the beginning of its output.
        sys.stderr.write(f"guard: {UNFENCED}\n")
    sys.argv = words
    sys.path.insert(0, str(Path(words[0]).parent))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    runpy.run_path(words[0], run_name="__main__")
    sys.exit(0)


def _temporary_of(pid: int) -> Path:
    return Path.cwd() / f"tmp-{pid}"


def _own_temporary() -> str:
    """A folder for temporary files below the skill's own; that one where none can be made."""
    folder = _temporary_of(os.getpid())
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        return str(Path.cwd())
    return str(folder)


def _remove_temporary(pid: int) -> None:
    """Remove the temporary files of a skill that has ended; a command has none of its own."""
    folder = _temporary_of(pid)
    if folder.is_dir() and not folder.is_symlink():
        # Only now: the guard itself starts without this.
        import shutil  # noqa: PLC0415

        shutil.rmtree(folder, ignore_errors=True)


def _end_as(status: int) -> None:
    """End as the skill did: by its exit code or its signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        signal.pause()
    os._exit(code)


def _note(_signal: int, _frame: object) -> None:
    """A signal that is read from the pipe."""


def _end(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)


def descendants(pid: int) -> list[int]:
    """Every process that a process has started, and theirs."""
    # Only where it is asked for: a skill's start needs the standard library alone.
    import psutil  # noqa: PLC0415

    try:
        return [one.pid for one in psutil.Process(pid).children(recursive=True)]
    except (psutil.Error, OSError):
        return []


def _children(pid: int) -> list[int]:
    """The children of a process, as fast as what forks without a pause."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return descendants(pid)


def end_all(pids: Sequence[int]) -> None:
    """Kill processes at once; skip those that ended or belong to another user."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _process_control(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# -- the fence -----------------------------------------------------------------------------


def fence_version() -> int:
    """Version of Landlock in this kernel; 0 where there is none."""
    return max(0, _call(_CREATE, None, 0, 1)) if sys.platform == "linux" else 0


def enclose(rules: Rules) -> bool:
    """Close everything to this process and its children but what the rules open.

    Returns:
        False where the kernel cannot: then nothing is closed.
    """
    version = fence_version()
    if not version:
        return False
    count = max(count for since, count in _RIGHTS if since <= version)
    whole = (1 << count) - 1
    scoped = _SCOPED if version >= _SCOPES else 0
    asked = struct.pack("=QQQ", whole, 0, scoped)[: 24 if scoped else 8]
    made = _call(_CREATE, asked, len(asked), 0)
    if made < 0:
        return False
    try:
        for place, rights in (
            *((place, _READ) for place in rules.read),
            *((place, whole) for place in rules.write),
        ):
            for path, is_whole in _around(Path(place).resolve(), rules.hidden):
                _open_up(made, path, rights if is_whole else _LIST)
        _process_control(_NO_NEW_PRIVILEGES, 1)
        _lower()
        return _call(_RESTRICT, made, 0) == 0
    finally:
        os.close(made)


def _around(place: Path, hidden: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """A place without what is hidden in it: False at the folders above, which can be listed."""
    closed = [path for name in hidden if (path := Path(name).resolve()).is_relative_to(place)]
    if place in closed:
        return
    yield place, not closed
    if closed:
        for path in _in(place):
            yield from _around(path, hidden)


def _in(folder: Path) -> list[Path]:
    """What is in a folder but the links: where they lead has a rule of its own, or none."""
    try:
        return [path for path in folder.iterdir() if not path.is_symlink()]
    except OSError:
        return []


def _open_up(ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # What is not there needs no rule.
        return
    try:
        allowed = rights if path.is_dir() else rights & _OF_FILES
        _call(_ADD, ruleset, 1, struct.pack("=Qi", allowed, opened), 0)
    finally:
        os.close(opened)


def _lower() -> None:
    """Drop the powers of a superuser but those over its own files: others go around a fence."""
    library = ctypes.CDLL(None)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _POWERS_VERSION, 0))
    sets = ctypes.create_string_buffer(24)
    with contextlib.suppress(OSError, AttributeError):
        if library.capget(header, sets) == 0:
            effective, permitted, *_ = struct.unpack("=6I", sets.raw)
            kept = (effective & _POWERS, permitted & _POWERS, 0, 0, 0, 0)
            library.capset(header, struct.pack("=6I", *kept))


def _call(number: int, *words: bytes | int | None) -> int:
    """Make a system call; less than 0 where it fails."""
    try:
        return ctypes.CDLL(None).syscall(
            number, *(ctypes.c_long(word) if isinstance(word, int) else word for word in words)
        )
    except (OSError, AttributeError):
        return -1


if __name__ == "__main__":
    main(sys.argv[1:])
