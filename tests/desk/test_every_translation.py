"""What the desk makes of each answer, field by field, and what its records say of themselves.

Kept as text: answers whose every field has a value of its own go through each function that
translates, and records through each of their properties.
"""

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import service_tui.desk
from kit.console.texts import assert_text
from kit.samples.filled import filled, value_of
from service_tui.desk import slices

DESK = Path(service_tui.desk.__file__).parent
TRANSLATING = [
    f"service_tui.desk.{path.relative_to(DESK).with_suffix('').as_posix().replace('/', '.')}"
    for path in sorted(DESK.glob("*/translate.py"))
]
WITHOUT_PROPERTIES = {
    "own_notes",
    "account",
    "holdings",
    "notices",
    "position_key",
    "rows",
    "topics",
    "webhooks",
    "world",
}
SLICES = [
    one.name for one in pkgutil.iter_modules(slices.__path__) if one.name not in WITHOUT_PROPERTIES
]
SEEDS = range(6)
KEPT = Path(__file__).parent / "snapshots"


def public(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__ and not name.startswith("_"):
            yield name, function


def said(value: Any) -> str:
    """A value with the names of its fields, in an order that is always the same."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{said(key)}: {said(one)}' for key, one in value.items())}}}"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(said, value)))}}}"
    if isinstance(value, Iterator):
        return said(tuple(value))
    return repr(value)


def outcome(function: Callable[..., Any], *given: Any, **named: Any) -> str:
    try:
        return said(function(*given, **named))
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def translations(module: ModuleType) -> Iterator[str]:
    for name, function in public(module):
        made = 0
        kinds = get_type_hints(function)
        kinds.pop("return", None)
        for seed in SEEDS:
            given = {
                each: value_of(kind, 100 * seed + place, each)
                for place, (each, kind) in enumerate(kinds.items())
            }
            said_of = outcome(function, **given)
            made += "Error: " not in said_of
            yield f"{name} {seed}: {said_of}"
        assert made, f"{name} translates none of them"


@pytest.mark.parametrize("name", TRANSLATING)
def test_an_answer_is_translated_field_by_field(name: str) -> None:
    short = name.removeprefix("service_tui.").replace(".", "_")
    assert_text(short, translations(importlib.import_module(name)), KEPT)


def properties(module: ModuleType) -> Iterator[str]:
    for name, record in inspect.getmembers(module, dataclasses.is_dataclass):
        if record.__module__ != module.__name__ or not isinstance(record, type):
            continue
        own = [one for one, kind in inspect.getmembers(record) if isinstance(kind, property)]
        for seed in SEEDS if own else ():
            made = filled(record, seed)
            for each in own:
                yield f"{name} {seed}: {each} = {outcome(getattr, made, each)}"


@pytest.mark.parametrize("name", SLICES)
def test_a_record_says_the_same_of_itself(name: str) -> None:
    module = importlib.import_module(f"service_tui.desk.slices.{name}")
    assert_text(f"slices_{name}", properties(module), KEPT)
