"""The files of tests near a change: what `make quick` runs of the slow tests."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "src/service_tui/"

NEAR: Final = "TESTS_NEAR"
"""The files of tests near a change, the nearest first, separated by the sign of PATH."""

NEAR_MOST: Final = 120
"""Cases of slow tests that the quick door runs: one takes an eighth of a second, on average."""


def mark_near(items: Iterable[pytest.Item]) -> None:
    """Mark those slow tests `near` that the quick door runs, the nearest first."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    files = os.environ.get(NEAR, "").split(os.pathsep)
    near = (item for path in files for item in slow if item.nodeid.partition("::")[0] == path)
    for item in list(near)[:NEAR_MOST]:
        item.add_marker("near")


def near_change(paths: list[str] | None = None) -> list[str]:
    """Files of tests, the nearest first.

    Changed, of the same name as a changed module, naming one, and in the folder of one.

    The change is `paths`, or what is not committed; where all is committed, the last commit.
    """
    paths = changed() if paths is None else paths
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in tests()}
    found = [path for path in paths if path in texts]
    modules = [path for path in paths if path.startswith(PACKAGE) and path.endswith(".py")]
    own = [str(folder_of(module) / f"test_{Path(module).name}") for module in modules]
    found += [path for path in own if path in texts]
    for module in modules:
        named = re.compile("|".join(names_of(module)))
        found += [path for path, text in texts.items() if named.search(text)]
    for module in modules:
        folder = folder_of(module)
        found += [path for path in texts if Path(path).parent == folder]
    return list(dict.fromkeys(found))


def changed() -> list[str]:
    """Paths from the root of the project."""
    open_ones = git("status", "--porcelain", "--untracked-files=all", "--no-renames")
    return [row[3:] for row in open_ones] or git("show", "--format=", "--name-only", "HEAD")


def git(*words: str) -> list[str]:
    """Lines of what git answers; none where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.splitlines()


def tests() -> Iterator[Path]:
    return (ROOT / "tests").rglob("test_*.py")


def names_of(module: str) -> Iterator[str]:
    """How a test may import it: by its whole name, or from the room that it lies in."""
    name = module.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    room, _, last = name.replace("/", ".").rpartition(".")
    yield rf"\b{re.escape(room)}\.{last}\b"
    yield rf"from {re.escape(room)} import [^\n]*\b{last}\b"


def folder_of(module: str) -> Path:
    """The folder of tests that mirrors the room of a module, or the nearest one around it."""
    folder = Path("tests") / Path(module.removeprefix(PACKAGE)).parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return folder
