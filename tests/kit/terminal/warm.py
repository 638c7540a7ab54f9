"""Programs of the tests start warm: forked from one that has imported everything already.

Two thirds of what a started program costs are its imports, and the suite starts hundreds. Only
`python -m service_tui ...`, its modules and the programs of `kit/programs` start so; a test with
the mark `cold` starts everything as a person does, and so does a machine without Linux's reaper of
orphans.
"""

import array
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = Path(__file__).parents[1] / "programs"
SET_CHILD_SUBREAPER: Final = 36
"""Source: linux/prctl.h."""

_state: dict[str, Any] = {"line": None, "on": False, "cold": None}


def allow(*, on: bool) -> None:
    """From now on programs start warm, or not."""
    _state["on"] = on and sys.platform == "linux"


def start(
    words: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    files: tuple[int, int, int],
    *,
    session: bool = False,
    terminal: bool = False,
) -> int | None:
    """Start the program; its process is a child of this one. `None` if it has to start cold."""
    module, own = _what(words)
    if not _state["on"] or own is None:
        return None
    line = _starter()
    request = {
        "module": module, "words": own, "environment": dict(environment), "folder": folder,
        "session": session, "terminal": terminal,
    }  # fmt: skip
    reaper = ctypes.CDLL(None).prctl
    # For this moment only: orphans of the programs are not ours.
    reaper(SET_CHILD_SUBREAPER, 1)
    try:
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        line.sendmsg([json.dumps(request).encode()], passed)
        told = b""
        while not told.endswith(b"."):
            more = line.recv(64)
            assert more, "the starter has ended"
            told += more
    finally:
        reaper(SET_CHILD_SUBREAPER, 0)
    return int(told[:-1])


def _what(words: Sequence[str]) -> tuple[str, list[str] | None]:
    """The module to run and its words, or the words alone of a program; no words: neither."""
    if words[:2] == [sys.executable, "-m"] and words[2].partition(".")[0] == "service_tui":
        return words[2], [*words[2:]]
    if words[0] == sys.executable and Path(words[1]).parent == PROGRAMS:
        return "", list(words[1:])
    return "", None


def _starter() -> socket.socket:
    if _state["line"] is None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, str(PROGRAMS / "warm_starter.py"), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        assert ours.recv(64) == b"ready", process.wait()
        _state["line"] = ours
        _state["process"] = process
    return _state["line"]


def _fork_exec(*given: Any) -> int:
    """As `_posixsubprocess.fork_exec`, warm where it can be."""
    words, _, _, kept, folder, environment, *rest = given
    readable, _, _, writable, _, errors, _, pipe, _, session, group, *who, inside, _ = rest
    is_plain = set(kept) == {pipe} and group == -1 and who == [None, None, None, -1]
    if is_plain and inside is None:
        pid = start(
            [os.fsdecode(word) for word in words],
            _names(environment),
            os.fsdecode(folder) if folder is not None else str(Path.cwd()),
            (
                0 if readable == -1 else readable,
                1 if writable == -1 else writable,
                2 if errors == -1 else errors,
            ),
            session=bool(session),
        )
        if pid is not None:
            return pid
    return int(_state["cold"](*given))


def _names(environment: Sequence[bytes] | None) -> dict[str, str]:
    if environment is None:
        return dict(os.environ)
    pairs = (os.fsdecode(one).partition("=") for one in environment)
    return {name: value for name, _, value in pairs}


def patch() -> None:
    """Have every start of a program go by here."""
    module: Any = subprocess
    if _state["cold"] is None:
        _state["cold"] = module._fork_exec
        module._fork_exec = _fork_exec


def ending() -> None:
    """End the starter: nothing starts any more."""
    if _state["line"] is not None:
        _state["line"].close()
        _state["process"].wait()
        _state["line"] = None
