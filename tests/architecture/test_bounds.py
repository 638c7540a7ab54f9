"""Each bound of the protocol is one constant, named on the wire and written nowhere anew."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from service_tui import terms
from service_tui.console.screens.wallet import forms as wallet_forms
from service_tui.signing import keystore, orders
from service_tui.units import ONE

SOURCE = Path(terms.__file__).parent
WIRE = sorted((SOURCE / "wire").rglob("*.py"))
KEYWORDS = {"ge", "gt", "le", "lt", "min_length", "max_length"}
BOUND = re.compile(r"_(MAX|MIN|DEFAULT|DECIMALS|LOW|HIGH|PATTERN)(_S|_BPS)?$")
ENDS_OF_A_RANGE = {0, 1, -1}
"""Nothing, all of it, and one: they are no choice that could change."""

OTHER_THINGS = {
    "AGAIN_MAX_S": "each wait of its own",
    "AT_ONCE_MAX": "mirrors, and exits",
    "FILE_MAX": "bytes of a file of settings, and of one of keys",
    "LINE_MAX": "bytes of a line of the stream, and of one of the log",
    "PAGES_MAX": "pages of markets, and of trades",
    "PASSPHRASE_MIN": "signing knows nobody: held equal below",
    "SPAN_MIN": "two axes",
}
"""Names that stand in two rooms with one figure by chance, or on purpose."""


def calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"Field", "StringConstraints"}:
            yield node


def constants(path: Path) -> Iterator[tuple[str, str]]:
    """Name and figure of each bound that a module states as a literal."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            name, value = node.target.id, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
        else:
            continue
        names = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
        if BOUND.search(name) and not names - {"Micros", "ONE"}:
            yield name.strip("_"), ast.unparse(value)


@pytest.mark.slow
def test_every_bound_of_a_field_of_the_wire_has_a_name() -> None:
    bare = [
        f"{path.name}:{call.lineno} {bound.arg}={ast.unparse(bound.value)}"
        for path in WIRE
        for call in calls(path)
        for bound in call.keywords
        if bound.arg in KEYWORDS
        and not any(isinstance(one, ast.Name) for one in ast.walk(bound.value))
        and ast.literal_eval(bound.value) not in ENDS_OF_A_RANGE
    ]
    assert bare == []


@pytest.mark.slow
def test_no_bound_is_stated_in_two_places() -> None:
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name, figure in constants(path):
            found[name, figure].append(str(path.relative_to(SOURCE)))
    twice = {
        name: places
        for (name, _), places in found.items()
        if len(places) > 1 and name not in OTHER_THINGS
    }
    assert twice == {}


@pytest.mark.slow
def test_no_other_room_gives_a_bound_of_the_protocol_another_figure() -> None:
    shared = {name for name, _ in constants(Path(terms.__file__))}
    elsewhere = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != Path(terms.__file__)
        for name, _ in constants(path)
        if name in shared and name not in OTHER_THINGS
    ]
    assert elsewhere == []


def test_the_bounds_of_the_room_that_knows_nobody_are_those_of_the_others() -> None:
    assert orders.SHARES_MIN == terms.ORDER_SHARES_MIN * ONE
    assert keystore.PASSPHRASE_MIN == wallet_forms.PASSPHRASE_MIN
