"""No sentence below the console names a key: keys can be moved; the console alone knows where."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import service_tui

ROOT = Path(service_tui.__file__).parent
ROOMS = ("desk", "engine", "server", "client", "signing", "storage", "wire", "sdk", "skills")
NAMES_A_KEY = re.compile(
    r"\b[Pp]ress(?:es)? (?:[A-Za-z0-9]\b|F\d)"  # press W
    r"|\bF[0-9]{1,2}\b"  # F9
    r"|(?<!\w)\((?:[0-9]|[a-zA-Z])(?:\)|, )"  # (8), (7, then C)
    r"|\b[b-zB-HJ-Z] (?:in [0-9]\b|lists |shows |refreshes|pays )"  # d in 0, W shows it
)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Texts of a module that a person may read, with their lines: all but its docstrings."""
    tree = ast.parse(source)
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.lineno, node.value


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_no_sentence_names_a_key(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:90]}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for line, text in sentences(path.read_text("utf-8"))
        if " " in text.strip() and NAMES_A_KEY.search(text)
    ]
    assert found == []


def test_the_search_finds_what_once_stood_there() -> None:
    for text in (
        "press 5, W, then L, and type LIVE",
        "raise it on the settings screen (8)",
        "claim the agent in Agents (7, then C)",
        "sales pass; F9 shows the halt",
        "d in 0 closes this one",
        "nothing filled yet, O lists it",
    ):
        assert NAMES_A_KEY.search(text), text
