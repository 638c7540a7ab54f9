"""Starts the program without importing it anew: `warm_starter.py SOCKET`.

It imports the program once and waits at the socket. For each request it forks: the child gets the
arguments, environment, folder and files of the request and runs the program from its `main` on, as
a fresh interpreter would after its imports. The child's parent is whoever sent the request (a
reaper of orphans for that moment), so that it is waited for and killed as any other child.

Source: prctl(2), PR_SET_CHILD_SUBREAPER; the request is made by `kit.terminal.warm`.
"""

import array
import fcntl
import gc
import importlib
import io
import json
import os
import random
import runpy
import socket
import sys
import termios
from pathlib import Path
from typing import Any

LONGEST = 1 << 20
FILES = 3
"""Input, output and errors."""

IMPORTED = (
    "httpcore",
    "kit.desk.reactor",
    "kit.desk.redeeming",
    "service_tui.autoresearch.unfinished",
    "service_tui.cli.main",
    "service_tui.console.app",
    "service_tui.signing.node",
    "service_tui.skills.frontmatter",
    "service_tui.app.live",
    "service_tui.commands.research",
    "service_tui.commands.research_server",
    "service_tui.commands.serve",
    "service_tui.trials.trial",
)


def import_all() -> None:
    """Import what the programs of the tests need, before the first of them starts."""
    for name in IMPORTED:
        importlib.import_module(name)
    # Children walk none of it when they look for garbage.
    gc.collect()
    gc.freeze()


def take(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next request and its files. Ends the starter when nobody asks any more."""
    said, more, _, _ = line.recvmsg(LONGEST, socket.CMSG_SPACE(FILES * 4))
    if not said:
        sys.exit(0)
    files = array.array("i")
    for _, _, data in more:
        files.frombytes(data)
    return json.loads(said), list(files)


def wait(line: socket.socket) -> dict[str, Any]:
    """Start a child for each request. Comes back in the children alone."""
    while True:
        request, files = take(line)
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child == 0:
                line.close()
                become(request, files)
                return request
            line.send(str(child).encode())
            os._exit(0)
        os.waitpid(between, 0)
        for one in files:
            os.close(one)
        # Only now the child is the asker's own.
        line.send(b".")


def become(request: dict[str, Any], files: list[int]) -> None:
    """Take on what the request says."""
    if request["session"]:
        os.setsid()
    for number, one in enumerate(files):
        os.dup2(one, number)
    for one in files:
        os.close(one)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = request["words"]
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout, sys.stderr = (_writer(1), _writer(2))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    random.seed()


def _writer(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    at_once = number == FILES - 1 or os.isatty(number)
    errors = "backslashreplace" if number == FILES - 1 else "strict"
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors=errors, line_buffering=at_once
    )


def main() -> None:
    """Wait, and run the program in each child."""
    line = socket.socket(fileno=int(sys.argv[1]))
    import_all()
    line.send(b"ready")
    request = wait(line)
    if request["module"]:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(request["words"][0]).parent)
        runpy.run_path(request["words"][0], run_name="__main__")


if __name__ == "__main__":
    main()
