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
from typing import NamedTuple

import pytest
import textual

TESTS = Path(__file__).resolve().parents[1]
OUTSIDE = ("kit", "bench")
MOST = {"private names": 195, "stand-ins": 179, "patched modules": 305}
SLACK = 15
"""So far the count may fall below its figure before the figure has to follow."""

OF_RECORDS = {"_replace", "_asdict", "_make", "_fields"}


class Reached(NamedTuple):
    """Something inside that a test reaches: what kind it is of, where, and its name."""

    kind: str
    path: Path
    lineno: int
    name: str = ""


@cache
def reached() -> tuple[Reached, ...]:
    """All that the tests reach, read once: no tree is kept, and none is walked twice."""
    return tuple(
        one
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).parts[0] not in OUTSIDE
        for one in reached_in(path)
    )


def reached_in(path: Path) -> Iterator[Reached]:
    where = path.relative_to(TESTS)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(lineno=line, attr=name) if is_private(node):
                yield Reached("private names", where, line, name)
            case ast.Call(func=ast.Name("SimpleNamespace"), lineno=line):
                yield Reached("stand-ins", where, line)
            case ast.Call(func=ast.Attribute(ast.Name("monkeypatch"), "setattr"), lineno=line):
                yield Reached("patched modules", where, line)
            case ast.ImportFrom(lineno=line, module=str(name)) if name.startswith("textual._"):
                yield Reached("imports", where, line, name)


def is_private(node: ast.Attribute) -> bool:
    """Whether it names a private attribute of something else."""
    of_itself = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    is_private_name = re.match("_[a-zA-Z]", node.attr) and node.attr not in OF_RECORDS
    return bool(is_private_name) and not of_itself


@pytest.mark.slow
def test_no_more_tests_reach_inside_than_before() -> None:
    counts = Counter(one.kind for one in reached())
    for kind, most in MOST.items():
        assert counts[kind] <= most, f"{kind}: use a door, or pull the decision out as a value"
        assert counts[kind] >= most - SLACK, f"{kind}: lower the figure"


def test_a_file_is_excused_only_while_it_names_private_parts() -> None:
    listed = tomllib.loads((TESTS / "ruff.toml").read_text(encoding="utf-8"))
    excused = set(listed["lint"]["extend-per-file-ignores"]) - {"kit/**", "bench/**"}
    naming = {one.path.as_posix() for one in reached() if one.kind == "private names"}
    assert sorted(excused - naming) == [], "take these off tests/ruff.toml"


def defined_in(folder: Path, names: set[str]) -> set[str]:
    """Which of these private names are functions or attributes that a folder's modules define."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if names.isdisjoint(re.findall(r"\b_\w+", text)):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    return names & found


@pytest.mark.slow
def test_private_names_of_textual_are_used_in_the_kit_alone() -> None:
    """What Textual may change without a word is looked at in one place."""
    named = {one.name for one in reached() if one.kind == "private names"}
    ours = defined_in(TESTS.parent / "src", named)
    textuals = defined_in(Path(textual.__file__).parent, named - ours)
    assert [
        f"{one.path}:{one.lineno} {one.name}"
        for one in reached()
        if one.kind == "imports" or (one.kind == "private names" and one.name in textuals)
    ] == []
