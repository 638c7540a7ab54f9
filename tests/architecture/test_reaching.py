"""How many tests still reach inside what they test. The figures may only fall.

A test speaks through a door: HTTP, the command line, the SDK, a screen's keys and text, a desk on
the embedded service, a public function of values. What was written before that rule is counted
here; whoever takes some of it away lowers the figure.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import textual

TESTS = Path(__file__).resolve().parents[1]
OUTSIDE = ("kit", "bench")
MOST = {"private names": 195, "stand-ins": 179, "patched modules": 305}
SLACK = 15
"""So far the count may fall below its figure before the figure has to follow."""

OF_RECORDS = {"_replace", "_asdict", "_make", "_fields"}


@cache
def trees() -> dict[Path, ast.Module]:
    return {
        path.relative_to(TESTS): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).parts[0] not in OUTSIDE
    }


def reached() -> Iterator[tuple[str, str]]:
    """What kind of inside is reached, and where."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            where = f"{path}:{getattr(node, 'lineno', 0)}"
            match node:
                case ast.Attribute() if is_private(node):
                    yield "private names", where
                case ast.Call(func=ast.Name("SimpleNamespace")):
                    yield "stand-ins", where
                case ast.Call(func=ast.Attribute(ast.Name("monkeypatch"), "setattr")):
                    yield "patched modules", where


def is_private(node: ast.Attribute) -> bool:
    """Whether it names a private attribute of something else."""
    of_itself = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    is_private_name = re.match("_[a-zA-Z]", node.attr) and node.attr not in OF_RECORDS
    return bool(is_private_name) and not of_itself


@pytest.mark.slow
def test_no_more_tests_reach_inside_than_before() -> None:
    counts = Counter(kind for kind, _ in reached())
    for kind, most in MOST.items():
        assert counts[kind] <= most, f"{kind}: use a door, or pull the decision out as a value"
        assert counts[kind] >= most - SLACK, f"{kind}: lower the figure"


def test_a_file_is_excused_only_while_it_names_private_parts() -> None:
    listed = tomllib.loads((TESTS / "ruff.toml").read_text(encoding="utf-8"))
    excused = set(listed["lint"]["extend-per-file-ignores"]) - {"kit/**", "bench/**"}
    naming = {
        path.as_posix()
        for path, tree in trees().items()
        if any(isinstance(node, ast.Attribute) and is_private(node) for node in ast.walk(tree))
    }
    assert sorted(excused - naming) == [], "take these off tests/ruff.toml"


def private_names_of(folder: Path) -> set[str]:
    """Private functions and attributes that the modules of a folder define."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    return {name for name in found if re.match("_[a-zA-Z]", name)}


@pytest.mark.slow
def test_private_names_of_textual_are_used_in_the_kit_alone() -> None:
    """What Textual may change without a word is looked at in one place."""
    ours = private_names_of(TESTS.parent / "src")
    textuals = private_names_of(Path(textual.__file__).parent) - ours
    used = [
        f"{path}:{node.lineno} {node.attr}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in textuals and is_private(node)
    ]
    imported = [
        f"{path}:{node.lineno} {node.module}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual._")
    ]
    assert used + imported == []
