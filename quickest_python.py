"""Print the Python that runs this project quickest, of those on this machine: for the Makefile.

`python3`, unless another one that is new enough runs a short loop in seven eighths of its time: one
that was built on the machine itself without optimization (as pyenv does) needs half as much time
again for everything as the one of a distribution.
"""

import shutil
import subprocess
import sys

OLDEST = 11
NAMES = ["python3", *(f"python3.{minor}" for minor in range(OLDEST, 20))]
FOLDERS = [None, "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
"""None is what PATH names."""

LOOP = f"""
import sys, time
if sys.version_info < (3, {OLDEST}):
    sys.exit("too old")
import ensurepip, venv

class Account:
    def __init__(self, cash):
        self.cash = cash

    def after(self, amount):
        return self.cash + amount

def seconds():
    started, held = time.perf_counter(), {{}}
    for each in range(30_000):
        held[each % 97] = Account(each).after(held.get(each % 97, 0)) % 1_000
    return time.perf_counter() - started

print(min(seconds() for _ in range(7)))
"""


def main() -> None:
    """Print its path; say why when it is not `python3`."""
    times = {path: seconds for path in candidates() if (seconds := timed(path))}
    usual = shutil.which("python3") or "python3"
    best = min(times, key=lambda path: times[path], default=usual)
    if usual in times and times[best] > 7 / 8 * times[usual]:
        best = usual
    if best != usual and usual in times:
        print(
            f"{best} is {times[usual] / times[best]:.1f} times as quick as {usual}, and is taken; "
            "make PYTHON=python3 keeps to that one",
            file=sys.stderr,
        )
    print(best)


def candidates() -> "list[str]":
    """Every Python 3 by its path, each once, `python3` first."""
    found = (shutil.which(name, path=folder) for folder in FOLDERS for name in NAMES)
    return list(dict.fromkeys(path for path in found if path))


def timed(path: str) -> "float | None":
    """Seconds that a short loop takes; None where it is too old or cannot make an environment."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", LOOP], capture_output=True, text=True, timeout=20, check=True
        )
        return float(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


if __name__ == "__main__":
    main()
