"""The process of one trial: `python -m service_tui.trials.worker FOLDER`."""

import asyncio
import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Final

from service_tui.app.closed import only_reason
from service_tui.records import json_of
from service_tui.storage.errors import StorageError
from service_tui.trials.plan import read_plan
from service_tui.trials.trial import run_trial

PLAN_FILE: Final = "plan.json"
PROGRESS_FILE: Final = "progress"
RESULT_FILE: Final = "result.json"
REFUSED_FILE: Final = "refused"
PROGRESS_EVERY: Final = 20
"""Rounds between two writes of the progress file."""


def main(folder: Path) -> int:
    """Run the trial that is planned in a folder, and write down its result there.

    Returns:
        Exit code: 0 with a result.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.basicConfig(filename=folder / "trial.log", level=logging.WARNING)
    plan = read_plan((folder / PLAN_FILE).read_text(encoding="utf-8"))

    def on_round(rounds: int, trades: int) -> None:
        if rounds % PROGRESS_EVERY == 0:
            _put(folder / PROGRESS_FILE, f"{rounds} {trades}")

    try:
        result = asyncio.run(run_trial(plan, folder, on_round))
    except Exception as error:
        # What runs the service wraps what passes through it.
        reason = only_reason(error)
        if not isinstance(reason, StorageError | OSError):
            raise
        _put(folder / REFUSED_FILE, str(reason))
        return 1
    _put(folder / RESULT_FILE, json.dumps(result, default=json_of))
    return 0


def _end_with_parent() -> None:
    """End at once when the parent process has ended; the skill ends with this process."""
    # Not by `sys.stdin`, whose lock the end of the interpreter waits for.
    while os.read(0, 1):
        pass
    os._exit(1)


def _put(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
