"""Plants small faults in modules, one at a time, and shows those that given tests do not notice.

Run: python tests/bench/faults.py console/formats.py tests/console/test_formats.py ...
The first word is a module or a folder below src/service_tui, or several with commas. A fault is
`<=` for `<`, `-` for `+`, a number one too large, another field of the same record, arguments or
branches exchanged, a condition, a filter, a call or an assignment left out. Tests run once without
a fault; then each fault has a fork of that process, in which the function has other code. The
process exits with 1 if a fault was noticed by nobody. Some of these cannot be: they change nothing.
"""

import ast
import contextlib
import copy
import difflib
import gc
import os
import select
import signal
import sys
import tempfile
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "service_tui"
TESTS = ROOT / "tests"
PATIENCE_S = 30.0

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
RECKONED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
EXCHANGED = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNTOUCHED = {"annotation", "returns", "decorator_list", "format_spec"}

Change = Callable[[], object]


@dataclass(frozen=True)
class Place:
    """One function of a module, by its name in the module and its first line."""

    path: Path
    name: str
    line: int


# -- the faults of a function -------------------------------------------------------------------


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Functions of a module and of its classes."""
    for one in getattr(node, "body", []):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + one.name, one
        elif isinstance(one, ast.ClassDef):
            yield from functions(one, f"{prefix}{one.name}.")
        elif isinstance(one, ast.If | ast.Try):
            yield from functions(one, prefix)


def faults(function: ast.AST) -> Iterator[Change]:
    """Each changes the function in place."""
    fields = defaultdict(set)
    for one in ast.walk(function):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            fields[one.value.id].add(one.attr)
    for one in parts(function):
        yield from of_operators(one)
        yield from of_values(one, fields)
        yield from of_statements(one)


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, without types, defaults, the texts of errors and those of f-strings."""
    yield node
    for name, value in ast.iter_fields(node):
        is_default = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name == "args"
        if name in UNTOUCHED or is_default or isinstance(node, ast.Raise):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from parts(child)


def of_operators(node: Any) -> Iterator[Change]:
    """Comparisons, sums, conditions and choices."""
    match node:
        case ast.Compare():
            for place, op in enumerate(node.ops):
                yield lambda place=place, op=op: put(node.ops, place, COMPARED[type(op)]())
        case ast.BinOp() if type(node.op) in RECKONED and not (text(node.left) or text(node.right)):
            yield lambda: setattr(node, "op", RECKONED[type(node.op)]())
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield lambda: setattr(node, "op", other)
            for place in range(len(node.values)):
                rest = [one for each, one in enumerate(node.values) if each != place]
                yield lambda rest=rest: setattr(node, "values", [*rest, copy.deepcopy(rest[0])])
        case ast.IfExp():
            yield lambda: exchange(node, "body", "orelse")
        case ast.UnaryOp(op=ast.Not()):
            yield lambda: negated(node)


def of_values(node: Any, fields: dict[str, set[str]]) -> Iterator[Change]:
    """Constants, fields, arguments and filters."""
    match node:
        case ast.Constant(value=bool()):
            yield lambda: setattr(node, "value", not node.value)
        case ast.Constant(value=int() | float()):
            yield lambda: setattr(node, "value", node.value + 1)
        case ast.Attribute(value=ast.Name(id=name)):
            for other in sorted(fields[name] - {node.attr}):
                yield lambda other=other: setattr(node, "attr", other)
        case ast.Call(func=ast.Name(id=name)) if name in EXCHANGED:
            yield lambda: setattr(node.func, "id", EXCHANGED[name])
        case ast.Call() if len(node.args) > 1:
            yield lambda: node.args.insert(0, node.args.pop(1))
        case ast.comprehension():
            for place in range(len(node.ifs)):
                yield lambda place=place: node.ifs.pop(place)


def of_statements(node: ast.AST) -> Iterator[Change]:
    """A call, an assignment to a field, or a branch left out."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        for place, one in enumerate(body if isinstance(body, list) else []):
            is_call = isinstance(one, ast.Expr) and isinstance(one.value, ast.Call | ast.Await)
            is_kept = isinstance(one, ast.Assign) and not isinstance(one.targets[0], ast.Name)
            if is_call or is_kept or (isinstance(one, ast.If) and not one.orelse):
                empty = ast.copy_location(ast.Pass(), one)
                yield lambda body=body, place=place, empty=empty: put(body, place, empty)


def text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.Constant) and isinstance(
        getattr(node, "value", ""), str
    )


def put(where: list[Any], place: int, what: Any) -> None:
    where[place] = what


def exchange(node: Any, one: str, other: str) -> None:
    first, second = getattr(node, one), getattr(node, other)
    setattr(node, one, second)
    setattr(node, other, first)


def negated(node: Any) -> None:
    """`not x` becomes `not not x`."""
    node.operand = ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node.operand)


# -- planting -----------------------------------------------------------------------------------


def planted(wanted: list[str]) -> Iterator[tuple[Place, types.CodeType, list[str]]]:
    """Each fault: where, the whole module's code with it, and the lines that differ."""
    for path in sorted(SOURCE.rglob("*.py")):
        if not any(path == SOURCE / one or SOURCE / one in path.parents for one in wanted):
            continue
        source = path.read_text(encoding="utf-8")
        for name, function in functions(ast.parse(source)):
            for number in range(sum(1 for _ in faults(function))):
                tree = ast.parse(source)
                one = next(
                    found
                    for each, found in functions(tree)
                    if each == name and found.lineno == function.lineno
                )
                before = ast.unparse(one).splitlines()
                list(faults(one))[number]()
                ast.fix_missing_locations(tree)
                after = ast.unparse(one).splitlines()
                changed = [
                    line
                    for line in difflib.unified_diff(before, after, n=0, lineterm="")
                    if line[:1] in "+-" and line[:3] not in {"+++", "---"}
                ]
                if changed:
                    yield Place(path, name, one.lineno), compile(tree, str(path), "exec"), changed


def code_of(module: types.CodeType, name: str) -> Iterator[types.CodeType]:
    for one in module.co_consts:
        if isinstance(one, types.CodeType):
            if one.co_qualname == name:
                yield one
            yield from code_of(one, name)


def living() -> dict[tuple[str, str], list[types.FunctionType]]:
    """The functions of the program that were loaded, by file and name."""
    found = defaultdict(list)
    gc.unfreeze()
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType):
            found[one.__code__.co_filename, one.__code__.co_qualname].append(one)
    return found


def is_noticed(items: list[pytest.Item], plant: Change) -> bool:
    """Whether a test fails, ends the process or takes too long, in a fork with the fault."""
    sys.modules["kit.markers"].ending()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for one in range(3):
            os.dup2(nowhere, one)
        try:
            with tempfile.TemporaryDirectory() as folder:
                items[0].config._tmp_path_factory._basetemp = Path(folder)
                os.chdir(folder)
                plant()
                os.write(writing, b"." if passed(items) else b"F")
        except ValueError:
            # The function lends names to another one, and takes no other code: nothing was planted.
            os.write(writing, b"?")
        finally:
            os._exit(0)
    os.close(writing)
    heard, _, _ = select.select([reading], [], [], PATIENCE_S)
    said = os.read(reading, 1) if heard else b""
    os.close(reading)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said not in {b".", b"?"}


def passed(items: list[pytest.Item]) -> bool:
    following = [*items[1:], None]
    for item, after in zip(items, following, strict=True):
        if any(one.failed for one in runtestprotocol(item, log=False, nextitem=after)):
            return False
    return True


class Planting:
    """In place of pytest's own loop."""

    def __init__(self, wanted: list[str]) -> None:
        self._wanted = wanted
        self.count = self.unnoticed = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = list(session.items)
        # A fault may turn a path into a relative one: what it writes must not lie in the tree.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            self._try_all(items)
        return True

    def _try_all(self, items: list[pytest.Item]) -> None:
        if not passed(items):
            print("a test fails without a fault", file=sys.__stderr__)
            return
        loaded = living()
        for place, module, changed in planted(self._wanted):
            found = loaded[str(place.path), place.name]
            codes = {one.co_firstlineno: one for one in code_of(module, place.name)}

            def plant(found: list[Any] = found, codes: dict[int, Any] = codes) -> None:
                for one in found:
                    one.__code__ = codes.get(one.__code__.co_firstlineno, one.__code__)

            self.count += 1
            if not found or not is_noticed(items, plant):
                self.unnoticed += 1
                where = f"{place.path.relative_to(SOURCE)}:{place.line} {place.name}"
                print(where, *changed, sep="\n    ", file=sys.__stderr__)


def main(wanted: str, *tests: str) -> int:
    sys.path.insert(0, str(TESTS))
    os.chdir(ROOT)
    planting = Planting(wanted.split(","))
    given = ["-q", "-s", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not chain and not fuzz"]
    pytest.main([*given, *tests], plugins=[planting])
    print(f"{planting.unnoticed} of {planting.count} faults are not noticed")
    return 1 if planting.unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
