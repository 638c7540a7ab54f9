"""JSON as deep as anybody likes ends nothing, also once the libraries of Ethereum are there."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import service_tui.signing

ROOM = Path(service_tui.signing.__file__).parent
RAISING = {"eth_account", "web3"}
DEEP = 100_000

PROGRAM = f"""
import json, sys
before = sys.getrecursionlimit()
from service_tui.signing import codec, keystore, link, node, transactions, typed
assert {{"web3", "py_ecc"}} <= set(sys.modules)
assert sys.getrecursionlimit() == before, sys.getrecursionlimit()
try:
    json.loads("[" * {DEEP} + "]" * {DEEP})
except RecursionError:
    print("refused")
"""


@pytest.mark.process
def test_deep_json_is_refused_once_the_libraries_are_there() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


def scopes(path: Path) -> Iterator[list[ast.stmt]]:
    """The statements of the module, and those of each function in it."""
    tree = ast.parse(path.read_text("utf-8"))
    yield tree.body
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.body


def is_raising(statement: ast.stmt) -> bool:
    match statement:
        case ast.ImportFrom(module=str(module)):
            return module.partition(".")[0] in RAISING
        case ast.Import(names=names):
            return any(one.name.partition(".")[0] in RAISING for one in names)
        case _:
            return False


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.name)
def test_every_import_of_them_is_followed_by_the_old_limit(path: Path) -> None:
    for body in scopes(path):
        if any(map(is_raising, body)):
            calls = [ast.unparse(one) for one in body if isinstance(one, ast.Expr)]
            assert "keep_recursion_limit()" in calls


def test_what_is_kept_is_what_python_begins_with() -> None:
    with pytest.raises(RecursionError):
        json.loads("[" * DEEP + "]" * DEEP)
