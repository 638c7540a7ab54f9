"""The three doors to the checks: `check.py quick`, `check.py` and `check.py deep`.

`quick` is for a person between two edits: the static tools, every test but those marked `slow`,
and some of these near what was changed (`kit/near.py`); none that starts a process, a chain or
fuzzing. Without a word everything runs but what is marked `deep`, as in `make test` and CI. `deep`
tries ten times as many examples and every point at which a program is killed, and its storms are
longer. Soaks and benchmarks lie in `tests/bench` and are run one by one.

The static tools run side by side, and each is named with its time; the first that fails ends the
run. The types take the longest by far and one core: the tests begin beside them when the others are
through. pytest ends last, so that its closing line is the last one. Nothing is run twice.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kit import near

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

TYPES = "types"
LOADED = "tests can be loaded"
STATIC = {
    TYPES: ["basedpyright"],
    "dead code": ["vulture"],
    "layers": ["lint-imports"],
    "declared libraries": ["deptry", "src"],
    "lint": ["ruff", "check", "--quiet", "src", "tests", "examples"],
    "format": ["ruff", "format", "--check", "--quiet", "src", "tests", "examples"],
    LOADED: ["pytest", "--collect-only", "-qq"],
}
"""The longest first. To load the tests compiles them, once for all workers and later runs."""

DOORS = {
    "quick": ["-m", "not process and not chain and not fuzz and not deep and (not slow or near)"],
    "all": ["-m", "not deep"],
    "deep": [],
}

OF_NODE = {"NODE_OPTIONS": "--max-semi-space-size=128"}
"""MB for young objects: the types make many, and a sixth of their time was collecting them."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
MEMORY = Path("/dev/shm")  # noqa: S108 - the files of a run lie in a folder of its own below it
ROOM = 4 * 2**30
"""Bytes that must be free there: what a run of all tests leaves behind is a tenth of it."""


def main() -> int:
    door = sys.argv[1] if len(sys.argv) > 1 else "all"
    if door not in DOORS:
        print(f"check.py knows {', '.join(DOORS)}, not {door}")
        return 2
    started = time.monotonic()
    running = static(without=LOADED if door == "quick" or is_compiled() else None)
    types = {TYPES: running.pop(TYPES)}
    failed = shown(running, started)
    if failed:
        shown(types, started)
        return failed
    with tests(door) as suite:
        failed = shown(types, started)
        if failed:
            suite.terminate()
        return failed or suite.wait()


def static(*, without: str | None) -> dict[str, subprocess.Popen[str]]:
    """Start the static tools side by side."""
    return {
        name: subprocess.Popen(
            [BIN / command[0], *command[1:]],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**compiled_once(), **OF_NODE},
        )
        for name, command in STATIC.items()
        if name != without
    }


def is_compiled() -> bool:
    """Whether the tests were compiled before; what has changed since is little."""
    tests = ROOT / "tests"
    return len([*tests.rglob("*-pytest-*.pyc")]) >= len([*tests.rglob("test_*.py")])


def shown(running: dict[str, subprocess.Popen[str]], started: float) -> int:
    """Wait for tools; a failing one is shown whole."""
    failed = 0
    for name, tool in reversed(running.items()):
        said, _ = tool.communicate()
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
        if tool.returncode:
            print(said)
            failed = failed or tool.returncode
    return failed


def tests(door: str) -> subprocess.Popen[bytes]:
    """Start pytest on every core, its files in memory where there is room.

    More workers than cores: a test that waits for a program leaves its core to another, and where
    something else keeps the cores busy, each worker has its share. The quick ones wait for nothing.
    """
    print(f"== tests ({door})", flush=True)
    workers = CORES if door == "quick" else 2 * CORES
    command = [sys.executable, "-m", "pytest", "-n", str(workers), "--dist", "worksteal"]
    return subprocess.Popen(
        [*command, *DOORS[door], *sys.argv[2:]],
        cwd=ROOT,
        env={**compiled_once(), **in_memory(), **of_door(door)},
    )


def of_door(door: str) -> dict[str, str]:
    """What the tests of a door are told by their environment."""
    if door == "quick":
        return {near.NEAR: os.pathsep.join(near.near_change())}
    return {"TEST_DEPTH": "10"} if door == "deep" else {}


def compiled_once() -> dict[str, str]:
    """The environment, in which Python keeps what it compiled: every program started needs it."""
    return {name: value for name, value in os.environ.items() if name != NO_BYTECODE}


def in_memory() -> dict[str, str]:
    """Where the tests put their files: a disk that syncs would be measured, not our code."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        return {"TMPDIR": str(MEMORY)}
    return {}


if __name__ == "__main__":
    sys.exit(main())
