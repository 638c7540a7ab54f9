"""Records from JSON, read by the types that their fields declare.

A NamedTuple is a list in the order of its fields; one that ends early, of an older program, has the
defaults of the rest. A dataclass is an object by the names of its fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from service_tui.outcome import Outcome

Fields = list[Any]
"""A record's fields in order, as JSON gives them."""

Named = dict[str, Any]
"""A record's fields by name, likewise."""

Record = TypeVar("Record")
Reader = Callable[[Any], Any]


def read(kind: type[Record], value: Fields | Named) -> Record:
    """A record from its JSON.

    Raises:
        TypeError, ValueError: it is no record of this kind.
    """
    return cast("Record", cast("Reader", _reader(kind))(value))


def read_some(kind: type[object], changes: Named) -> Named:
    """Some fields of a record by name, each with its declared type."""
    readers = _readers(kind)
    return {name: readers[name](one) if name in readers else one for name, one in changes.items()}


UNSTORED: Final = {"stored": False}
"""The metadata of a field that is found anew whenever its record is read."""


def json_of(value: object) -> object:
    """What `json.dumps` writes for a value of ours that it does not know."""
    return value.stored if isinstance(value, Outcome) else fields_of_record(value)


def fields_of_record(record: object) -> Named:
    """The stored fields of a dataclass by name, for `json.dumps`."""
    return {name: getattr(record, name) for name in _stored(type(record))}


@cache
def _stored(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.metadata.get("stored", True))


@cache
def _readers(kind: type[object]) -> dict[str, Reader]:
    """The readers of those fields whose JSON is not their value already."""
    found = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
    return {name: reader for name, reader in found.items() if reader is not None}


@cache
def _reader(hint: Any) -> Reader | None:  # noqa: ANN401  (whatever a field is declared as)
    """What makes a value of this type from its JSON; None where JSON is the value already."""
    declared = getattr(hint, "__supertype__", hint)
    if isinstance(declared, type):
        return _of_class(declared)
    parts = [part for part in get_args(declared) if part is not NoneType]
    inner = [_reader(part) for part in parts if part is not Ellipsis]
    origin = get_origin(declared)
    if origin in {Union, UnionType}:
        reader = inner[0] if len(inner) == 1 else None
        return None if reader is None else lambda value: None if value is None else reader(value)
    if origin is tuple and parts[-1] is not Ellipsis:
        return lambda values: tuple([
            value if one is None else one(value) for one, value in zip(inner, values, strict=True)
        ])
    if origin in {tuple, list, set}:
        make, one = cast("type[Any]", origin), inner[0]
        return make if one is None else lambda values: make([one(value) for value in values])
    if origin in {dict, Mapping}:
        one = inner[1]
        return None if one is None else lambda rows: {key: one(row) for key, row in rows.items()}
    raise TypeError(f"no reader for {declared}")


def _of_class(kind: type[Any]) -> Reader | None:
    if issubclass(kind, Enum):
        return kind
    if issubclass(kind, Outcome):
        return kind.of
    if hasattr(kind, "_fields"):
        readers = [(kind._fields.index(name), one) for name, one in _readers(kind).items()]

        def by_place(values: Fields) -> object:
            known = [*values]
            for place, one in readers:
                if place < len(known):
                    known[place] = one(known[place])
            return kind(*known)

        return by_place
    if is_dataclass(kind):
        return lambda row: kind(**read_some(kind, row))
    return None
