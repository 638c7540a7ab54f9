"""Records from JSON that somebody may have changed: each field has its declared type, or none is.

It must import nothing heavy: the first paint waits for it.
"""

import math
from collections.abc import Callable
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

Fields = dict[str, Any]
"""A record's fields as JSON gives them; every use below makes typed values of them."""

Reader = Callable[[Any], object]

UNREADABLE: Final = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)
"""What JSON that is no record may end in."""


def checked(kind: type[Record], fields: Fields) -> Record:
    """A record from its fields, each checked against the type that it is declared with.

    Raises one of `UNREADABLE` where it is no such record.
    """
    readers = _readers(kind)
    return kind(**{name: readers[name](value) for name, value in fields.items()})


@cache
def _readers(kind: type[object]) -> dict[str, Reader]:
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> Reader:  # noqa: ANN401  (whatever a field is declared as)
    """Function that converts a JSON value to the declared type, or raises."""
    declared = getattr(hint, "__supertype__", hint)
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return declared
    if declared in _PLAIN:
        return _PLAIN[declared]
    inner = [_reader(part) for part in get_args(declared) if part not in {NoneType, Ellipsis}]
    if get_origin(declared) is tuple:
        return partial(_entries, inner[0])
    if get_origin(declared) in {Union, UnionType} and len(inner) == 1:
        return lambda value: None if value is None else inner[0](value)
    # Other records are never frozen: where one may stand, only nothing is read.
    return _nothing


def _entries(read: Reader, value: object) -> tuple[object, ...]:
    if _is_list(value):
        return tuple([read(entry) for entry in value])
    raise TypeError("no list")


def text_in(value: object) -> str:
    """The value, if it is a text; else TypeError."""
    if type(value) is str:
        return value
    raise TypeError("no text")


def number_in(value: object) -> float:
    """The value, if it is a finite number; else TypeError."""
    if (type(value) is float or type(value) is int) and math.isfinite(value):
        return float(value)
    raise TypeError("no finite number")


def _whole(value: object) -> int:
    if type(value) is int:
        return value
    raise TypeError("not a whole number")


def _truth(value: object) -> bool:
    if type(value) is bool:
        return value
    raise TypeError("neither true nor false")


def _is_list(value: object) -> TypeGuard[list[object]]:
    return type(value) is list


def _nothing(value: object) -> None:
    if value is not None:
        raise TypeError("not empty")


_PLAIN: Final[dict[Any, Reader]] = {str: text_in, float: number_in, int: _whole, bool: _truth}
