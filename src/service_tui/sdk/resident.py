"""Runs the rounds of a skill in one process, for a trial: started by its guard, never imported.

The skill's script is loaded once. Where it defines `round(client, now)`, that is called for each
round, with a live client and the time of the world, UTC; what it raises is told and the next round
comes all the same.
"""

import ast
import importlib.util
import os
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service_tui.config import KEY_VARIABLE, URL_VARIABLE
from service_tui.sdk.client import ServiceClient
from service_tui.sdk.line import Head, Line, LineClock, LineClosedError, LineTransport

LINE_NUMBER: Final = "SERVICE_TRIAL_LINE"
ROUND: Final = "round"
NO_ROUND: Final = "no round"
TOLD_MAX: Final = 300

Round = Callable[[ServiceClient, datetime], object]


def main(script: Path) -> None:
    """Load a skill's script, and call its rounds until the line ends."""
    line = Line(socket.socket(fileno=int(os.environ.pop(LINE_NUMBER))))
    head: Head
    try:
        found = _round_of(script)
    except Exception as error:  # noqa: BLE001 - a skill may raise whatever it likes
        line.ask({"broken": _told(error)})
        return
    if found is None:
        line.ask({NO_ROUND: True})
        return
    head, _ = line.ask({"ready": True})
    # The same name of the key as everywhere; the skill itself finds none in its environment.
    client = ServiceClient(
        os.environ.pop(KEY_VARIABLE),
        os.environ[URL_VARIABLE],
        clock=LineClock(line),
        over=LineTransport(line),
    )
    with client, suppress(LineClosedError):
        while "round" in head:
            head, _ = line.ask(_one_round(found, client, line))


def _one_round(found: Round, client: ServiceClient, line: Line) -> Head:
    """Call one round.

    Returns:
        What to answer.
    """
    try:
        found(client, datetime.fromtimestamp(line.now, UTC))
    except LineClosedError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        return {"done": True, "error": _told(error)}
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
    return {"done": True}


def _told(error: Exception) -> str:
    """An error in one line; its way stands in the output."""
    name = type(error).__name__
    try:
        traceback.print_exc()
        return f"{name}: {error}".splitlines()[0][:TOLD_MAX]
    except Exception:  # noqa: BLE001 - its text is the skill's own code
        return name[:TOLD_MAX]


def _round_of(script: Path) -> Round | None:
    """What the script defines as `round`; None without one."""
    # The guard has put our own folder there, in which a skill has nothing to look for.
    sys.path[0] = str(script.parent)
    if not _names_round(script):
        # It is no module to be loaded, but a program: whatever it does is done round by round.
        return None
    spec = importlib.util.spec_from_file_location("skill", script)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules["skill"] = module
    spec.loader.exec_module(module)
    found: object = getattr(module, ROUND, None)
    return found if callable(found) else None


def _names_round(script: Path) -> bool:
    """Whether a script gives something the name `round` at its top."""
    for part in ast.parse(script.read_bytes()).body:
        for one in ast.walk(part) if isinstance(part, ast.Try | ast.If) else (part,):
            if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == ROUND:
                return True
            if isinstance(one, ast.ImportFrom | ast.Import) and any(
                (name.asname or name.name) in {ROUND, "*"} for name in one.names
            ):
                return True
            targets = (
                one.targets
                if isinstance(one, ast.Assign)
                else [one.target]
                if isinstance(one, ast.AnnAssign)
                else []
            )
            if any(isinstance(target, ast.Name) and target.id == ROUND for target in targets):
                return True
    return False


if __name__ == "__main__":
    main(Path(sys.argv[1]))
