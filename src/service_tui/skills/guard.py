"""Launcher of a skill's process: sets bounds and ties it to its parent, then becomes the skill.

Starts with the standard library only. Must not import the program: it runs before the skill does.
Started as a script by `process`, with the skill's script and its words behind it. The process is
nice to the others, writes no file beyond a bound, ends in order on request, leaves nothing
behind that it has started, and dies with whoever started it unless its folder says that it is
detached.
"""

import contextlib
import ctypes
import os
import resource
import runpy
import signal
import sys
import threading
from pathlib import Path

LIFELINE = "SERVICE_RUN_LIFELINE"
FOLDER = "SERVICE_RUN_FOLDER"
DETACHED = "detached"
FILE_MAX = 16 * 1024 * 1024
"""Of any file that it writes, its output too: a flood ends here even without a console."""

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""

NICENESS = 10
# ours: a skill computes when nothing else needs the processor: the console's keys and the
# service come first.


def main(arguments: list[str]) -> None:
    """Set the bounds, then be the skill."""
    signal.signal(signal.SIGTERM, _end)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
    line = os.environ.pop(LIFELINE, "")
    folder = Path(os.environ.pop(FOLDER, "."))
    if line:
        watch = threading.Thread(target=_die_with, args=(int(line), folder), daemon=True)
        watch.start()
    with contextlib.suppress(OSError, AttributeError):
        # Orphans of the skill come to it: what has cleared its environment is found by descent.
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    finally:
        end_all(descendants(os.getpid()))


def descendants(pid: int) -> list[int]:
    """Every process that a process has started, and theirs."""
    # Only when the end is near: a skill's start needs the standard library alone.
    import psutil  # noqa: PLC0415

    try:
        return [one.pid for one in psutil.Process(pid).children(recursive=True)]
    except (psutil.Error, OSError):
        return []


def end_all(pids: list[int]) -> None:
    """Kill processes at once; skip those that ended or belong to another user."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _end(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def _die_with(line: int, folder: Path) -> None:
    """End when the parent's end of the pipe closes."""
    with contextlib.suppress(OSError):
        os.read(line, 1)
    if not (folder / DETACHED).exists():
        end_all(descendants(os.getpid()))
        os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
