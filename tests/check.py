"""Every check in order, the quick ones first; what `make test` and CI run.

Each prints its name; the first that fails ends the run with its status. pytest comes last, so that
its closing line is the last one.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS = (
    ("format", [BIN / "ruff", "format", "--check", "--quiet", "src", "tests"]),
    ("lint", [BIN / "ruff", "check", "--quiet", "src", "tests"]),
    ("layers", [BIN / "lint-imports"]),
    ("dead code", [BIN / "vulture"]),
    ("types", [BIN / "basedpyright"]),
    ("tests", [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal"]),
)


def main() -> int:
    for name, command in CHECKS:
        started = time.monotonic()
        print(f"== {name}", flush=True)
        quiet = name != "tests"
        done = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            check=False,
            capture_output=quiet,
            text=True,
        )
        if done.returncode:
            if quiet:
                print(done.stdout, done.stderr, sep="\n")
            print(f"{name} failed after {time.monotonic() - started:.0f} s")
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
