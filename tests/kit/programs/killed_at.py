"""The program itself, which kills itself at a named step: `killed_at.py STEP WORD...`.

Steps are those at which nothing may be lost: between the note and the line, between the line and
the commit, between the commit and the service, between the service and the answer.
"""

import os
import signal
import sys
from typing import Any, NoReturn

from service_tui.autoresearch.result_sender import ResultSender
from service_tui.autoresearch.unfinished import Begun
from service_tui.autoresearch.worktree import Worktree
from service_tui.cli.main import run
from service_tui.notes import notebook

AT: dict[str, tuple[tuple[Any, str], ...]] = {
    "line": ((notebook, "append"),),
    "tree": ((Worktree, "advance"), (Worktree, "revert")),
    "service": ((ResultSender, "send"),),
    "answer": ((Begun, "end"),),
}


def end(*_: object, **__: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


if __name__ == "__main__":
    step = sys.argv[1]
    append = notebook.append

    def from_the_second_result_on(path: Any, line: Any) -> None:
        """The first result is kept as ever; then the step is where it ends."""
        if line.get("run", 0) >= 2 and step == "line":
            end()
        append(path, line)
        if line.get("run", 0) >= 2:
            for owner, name in AT[step]:
                setattr(owner, name, end)

    notebook.append = from_the_second_result_on
    sys.exit(run(sys.argv[2:]))
