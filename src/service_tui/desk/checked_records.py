"""Turns records into trees of plain values and back; checks files that others may have changed.

A tree is what JSON can hold. Records become objects by the names of their fields, so that a later
program still reads them: an unknown field is left out, a new one has its default. Each field has
its declared type, or none of the record is read. What only we write, journals and snapshots, is
read by `records.py`, which checks nothing and is faster.

It must import nothing heavy: the first paint waits for it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum, StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from service_tui.units import LATEST, Timestamp
from service_tui.wire.text import harmless

Tree: TypeAlias = Any
"""None, bool, int, float, str, a list of trees, or a dict of trees by text."""

Reader = Callable[[Tree], object]

NODES_MAX: Final = 2_000_000
"""ours: values in a tree, each counted where it is used; a hundred times those of a full desk."""

WHOLE_MAX: Final = 2**63
"""Whole numbers beyond it are none that the desk counts with."""

FORMER: Final = {
    "stop_loss_pct": "stop_pct",
    "take_profit_pct": "target_pct",
    "trailing_stop_pct": "trail_pct",
    "trailing_stop_points": "trail_points",
}
"""Fields by the names that recordings of an older program gave them."""

STORED: Final = {"pending_id": "held_id", "pending_trades": "held"}
"""Fields by the names that recordings give them, where the code calls them by another."""

_SCALARS: Final = (bool, int, float, str)


UNREADABLE: Final = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)
"""What a file that is no record may end in."""


class TreeError(ValueError):
    """A tree that is no value of the wanted type; names the type only, never a value."""


def tree_of(value: object) -> Tree:
    """The tree of a record, a collection or a plain value.

    Raises:
        TreeError: there is a type in it that no tree holds.
    """
    tree: Tree
    if value is None or type(value) in _SCALARS:
        return value
    match value:
        case Enum():
            tree = value.value
        case bool() | int() | float() | str():
            tree = value
        case tuple():
            tree = [tree_of(entry) for entry in cast("tuple[object, ...]", value)]
        case frozenset():
            tree = sorted(tree_of(entry) for entry in cast("frozenset[object]", value))
        case Mapping():
            entries = cast("Mapping[object, object]", value).items()
            tree = {str(tree_of(key)): tree_of(entry) for key, entry in entries}
        case _ if is_dataclass(value):
            tree = {stored: tree_of(getattr(value, name)) for name, stored in _names(type(value))}
        case _:
            raise TreeError(f"no tree for {type(value).__name__}")
    return tree


def value_of(  # the type is whatever a hint names
    kind: Any,  # noqa: ANN401
    tree: Tree,
    nodes_max: int = NODES_MAX,
) -> Any:  # noqa: ANN401
    """The value of a type hint that a tree describes.

    Trees come from files: text in them is made harmless as any from outside, and numbers are
    finite.

    Raises:
        TreeError: the tree is none of that type.
    """
    if _is_endless(tree, nodes_max):
        raise TreeError("too many values")
    return _reader(kind)(tree)


def _is_endless(tree: Tree, nodes_max: int) -> bool:
    """Whether there are more values than any desk has; parts that are used twice count twice."""
    count, waiting = 0, [tree]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, dict):
            inner = cast("dict[str, Tree]", entry).values()
        elif isinstance(entry, list):
            inner = cast("list[Tree]", entry)
        else:
            continue
        count += len(inner)
        if count > nodes_max:
            return True
        waiting.extend(inner)
    return False


@cache
def _names(kind: type[object]) -> tuple[tuple[str, str], ...]:
    """The fields of a record: the name of each in the code, and in a tree."""
    names = (field.name for field in fields(cast("Any", kind)))
    return tuple((name, STORED.get(name, name)) for name in names)


@dataclass(frozen=True, slots=True)
class _FieldReader:
    """How one field of a record is read; `needed` if it has no default, `stored` is its key."""

    name: str
    stored: str
    read: Reader
    needed: bool


@cache
def _reader(hint: Any) -> Reader:  # noqa: ANN401 - whatever a type hint names
    """The function that reads a tree as this type."""
    if hint is Timestamp:
        return _timestamp
    declared = getattr(hint, "__supertype__", hint)
    if declared in _SCALARS:
        return partial(_scalar, (declared,))
    make = _READER_OF.get(get_origin(declared))
    if make is not None:
        return make(get_args(declared))
    return _of_class(declared)


def _of_class(kind: Any) -> Reader:  # noqa: ANN401 - whatever a type hint names
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return partial(_member, kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        defaults = {field.name: _has_default(field) for field in fields(kind)}
        readers = tuple(
            _FieldReader(name, stored, _reader(hints[name]), needed=not defaults[name])
            for name, stored in _names(kind)
        )
        return partial(_record, kind, readers)
    raise TypeError(f"no reader for {kind}")


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _of_union(arguments: tuple[Any, ...]) -> Reader:
    """One of several types: nothing, plain values by their exact type, or the first that reads."""
    others = [argument for argument in arguments if argument is not NoneType]
    scalars = tuple(argument for argument in others if argument in _SCALARS)
    readers = [_reader(argument) for argument in others if argument not in _SCALARS]
    if scalars:
        readers.append(partial(_scalar, scalars))
    return partial(_either, tuple(readers), len(others) < len(arguments))


def _of_tuple(arguments: tuple[Any, ...]) -> Reader:
    if arguments[-1] is Ellipsis:
        return partial(_sequence, _reader(arguments[0]))
    return partial(_fixed, tuple(map(_reader, arguments)))


def _of_set(arguments: tuple[Any, ...]) -> Reader:
    return partial(_set, _reader(arguments[0]))


def _of_mapping(arguments: tuple[Any, ...]) -> Reader:
    return partial(_mapping, _key_reader(arguments[0]), _reader(arguments[1]))


_READER_OF: Final[Mapping[Any, Callable[[tuple[Any, ...]], Reader]]] = {
    Union: _of_union,
    UnionType: _of_union,
    tuple: _of_tuple,
    frozenset: _of_set,
    Mapping: _of_mapping,
}
"""The maker of a reader by the origin of a generic type."""


def _key_reader(hint: Any) -> Reader:  # noqa: ANN401 - whatever a type hint names
    """Keys of an object are text, whatever the type of the mapping's keys."""
    declared = getattr(hint, "__supertype__", hint)
    return _whole_key if declared is int else _reader(hint)


def _whole_key(tree: Tree) -> object:
    try:
        return _scalar((int,), int(tree))
    except ValueError as error:
        raise TreeError("no whole number") from error


def _timestamp(tree: Tree) -> object:
    at = _scalar((float,), tree)
    if -LATEST <= cast("float", at) <= LATEST:
        return at
    raise TreeError("no time")


def _scalar(kinds: tuple[type, ...], tree: Tree) -> object:
    # A whole number may stand for a float, as in the state itself; it stays a whole number.
    if type(tree) in kinds or (type(tree) is int and float in kinds):
        if isinstance(tree, str):
            return harmless(tree)
        if math.isfinite(tree) if isinstance(tree, float) else abs(tree or 0) <= WHOLE_MAX:
            return tree
    raise TreeError("no " + " or ".join(kind.__name__ for kind in kinds))


def _member(kind: type[StrEnum], tree: Tree) -> object:
    try:
        return kind(tree)
    except ValueError as error:
        raise TreeError(f"no {kind.__name__}") from error


def _record(kind: type[object], readers: Iterable[_FieldReader], tree: Tree) -> object:
    if not isinstance(tree, dict):
        raise TreeError(f"no {kind.__name__}")
    found = cast("dict[str, Tree]", tree)
    values: dict[str, object] = {}
    for reader in readers:
        name = reader.stored if reader.stored in found else FORMER.get(reader.name, reader.stored)
        if name in found:
            values[reader.name] = reader.read(found[name])
        elif reader.needed:
            raise TreeError(f"no {reader.name} in {kind.__name__}")
    return kind(**values)


def _either(readers: tuple[Reader, ...], may_be_none: bool, tree: Tree) -> object:  # noqa: FBT001 - bound once
    if tree is None and may_be_none:
        return None
    for reader in readers:
        try:
            return reader(tree)
        except TreeError:
            continue
    raise TreeError("none of the types")


def _sequence(read: Reader, tree: Tree) -> tuple[object, ...]:
    if isinstance(tree, list):
        return tuple([read(entry) for entry in cast("list[Tree]", tree)])
    raise TreeError("no list")


def _fixed(readers: tuple[Reader, ...], tree: Tree) -> tuple[object, ...]:
    if isinstance(tree, list) and len(cast("list[Tree]", tree)) == len(readers):
        return tuple([
            read(entry) for read, entry in zip(readers, cast("list[Tree]", tree), strict=True)
        ])
    raise TreeError("no list of this length")


def _set(read: Reader, tree: Tree) -> frozenset[object]:
    return frozenset(_sequence(read, tree))


def _mapping(read_key: Reader, read: Reader, tree: Tree) -> dict[object, object]:
    if isinstance(tree, dict):
        entries = cast("dict[str, Tree]", tree).items()
        return {read_key(key): read(entry) for key, entry in entries}
    raise TreeError("no mapping")
