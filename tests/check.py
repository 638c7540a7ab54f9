"""Every check in order, the quick ones first; what `make test` and CI run.

Each prints its name; the first that fails ends the run with its status. pytest comes last, so that
its closing line is the last one.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

PYTEST = [sys.executable, "-m", "pytest"]
CHECKS = (
    ("format", [BIN / "ruff", "format", "--check", "--quiet", "src", "tests"]),
    ("lint", [BIN / "ruff", "check", "--quiet", "src", "tests"]),
    ("layers", [BIN / "lint-imports"]),
    ("dead code", [BIN / "vulture"]),
    ("types", [BIN / "basedpyright"]),
    ("tests", [*PYTEST, "-n", "auto", "--dist", "worksteal"]),
)
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST_AGAIN = 5
"""Terminals and processes that share a loaded machine may starve; a fault fails alone, too."""


def main() -> int:
    for name, command in CHECKS:
        started = time.monotonic()
        print(f"== {name}", flush=True)
        FAILED.unlink(missing_ok=True)
        status = run(command, quiet=name != "tests")
        if status == 1 and name == "tests":
            status = again()
        if status:
            print(f"{name} failed after {time.monotonic() - started:.0f} s")
            return status
    return 0


def run(command: Sequence[object], *, quiet: bool) -> int:
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, check=False, capture_output=quiet, text=True
    )
    if quiet and done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done.returncode


def again() -> int:
    """The few tests that failed beside others, named, each once more with the machine to itself."""
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not 0 < len(failed) <= MOST_AGAIN:
        return 1
    print("== failed beside others, now alone:", *failed, sep="\n   ", flush=True)
    return run([*PYTEST, "--last-failed", "--last-failed-no-failures", "none"], quiet=False)


if __name__ == "__main__":
    sys.exit(main())
