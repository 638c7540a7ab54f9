"""Checks the arguments of the client's methods, before anything is sent."""

import functools
import inspect
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import Enum
from typing import Final, Literal, SupportsFloat, SupportsIndex, TypeVar

from pydantic import ValidationError

from service_tui.terms import LINE_MAX

Made = TypeVar("Made", bound=type)
Choice = TypeVar("Choice", bound=Enum)

TEXT_MAX: Final = 10_000
"""# ours: letters of any text; an answer with a smaller bound of its own says so."""

WHOLE_MAX: Final = 2**53
NUMBER_MAX: Final = 1e15
"""# ours: far above every price, size and time, and exact as the numbers of JSON."""


def checked(made: Made) -> Made:
    """Have the public methods of a class check what they are given.

    Returns:
        The class. Each of its methods raises ValueError in one sentence for an argument of another
        kind, without an end, empty or too large, before it sends anything.
    """
    for name, found in list(vars(made).items()):
        is_static = isinstance(found, staticmethod)
        method: object = found.__func__ if is_static else found
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            guarded = _guarded(method)
            setattr(made, name, staticmethod(guarded) if is_static else guarded)
    return made


def _guarded(method: Callable[..., object]) -> Callable[..., object]:
    signature = inspect.signature(method)
    hints = typing.get_type_hints(method)

    @functools.wraps(method)
    def guarded(*given: object, **named: object) -> object:
        for name, value in signature.bind(*given, **named).arguments.items():
            parameter = signature.parameters[name]
            if name in hints and value is not parameter.default:
                is_required = parameter.default is inspect.Parameter.empty
                check_argument(name, value, hints[name], is_required=is_required)
        try:
            return method(*given, **named)
        except ValidationError as error:
            # What was passed is not repeated: a key may have slipped into a text.
            raise ValueError(first_fault(error)) from None

    return guarded


def check_argument(name: str, value: object, kind: object, *, is_required: bool = False) -> None:
    """Refuse a value that a parameter of this kind cannot take.

    Raises:
        ValueError: it is of another kind, not finite, too large, or empty where it is required.
    """
    kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    problems = [_problem(value, one, is_required=is_required) for one in kinds]
    if "" not in problems:
        raise ValueError(f"{name} {problems[0]}")
    if name.endswith("_id") and isinstance(value, str) and len(value) > LINE_MAX:
        raise ValueError(f"{name} has more than {LINE_MAX} letters")


def _problem(value: object, kind: object, *, is_required: bool) -> str:
    """What is wrong with a value of a kind; empty where nothing is."""
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        return "" if value in choices else f"is one of {', '.join(map(str, choices))}"
    kind = typing.get_origin(kind) or kind
    if kind is types.NoneType:
        return "" if value is None else "is not None"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "" if isinstance(value, kind) else f"is no {kind.__name__.lower()}"
    # Of a clock and the like the parts are used at once: nothing is sent without them.
    check = _CHECKS.get(kind) if isinstance(kind, type) else None
    return "" if check is None else check(value, is_required)


def _text(value: object, is_required: bool) -> str:  # noqa: FBT001
    if not isinstance(value, str):
        return f"is a text, not {_named(value)}"
    if is_required and not value.strip():
        return "is empty"
    if len(value) > TEXT_MAX:
        return f"has more than {TEXT_MAX:,} letters"
    return "" if _can_be_sent(value) else "holds half a letter"


def _can_be_sent(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _truth(value: object, _: bool) -> str:  # noqa: FBT001
    return "" if isinstance(value, bool) else f"is True or False, not {_named(value)}"


def _whole(value: object, _: bool) -> str:  # noqa: FBT001
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return f"is a whole number, not {_named(value)}"
    return "" if abs(operator.index(value)) <= WHOLE_MAX else "is too large a number"


def _number(value: object, _: bool) -> str:  # noqa: FBT001
    if isinstance(value, bool) or not isinstance(value, SupportsFloat | SupportsIndex):
        return f"is a number, not {_named(value)}"
    number = math.inf
    with suppress(OverflowError, ValueError):
        number = float(value)
    if not math.isfinite(number) and not isinstance(value, int):
        return "is no finite number"
    return "" if abs(number) <= NUMBER_MAX else "is too large a number"


def _time(value: object, _: bool) -> str:  # noqa: FBT001
    return "" if isinstance(value, datetime) else f"is a datetime, not {_named(value)}"


def _pairs(value: object, _: bool) -> str:  # noqa: FBT001
    return "" if isinstance(value, Mapping) else f"is a dict, not {_named(value)}"


_CHECKS: Final[Mapping[type, Callable[[object, bool], str]]] = {
    str: _text,
    bool: _truth,
    int: _whole,
    float: _number,
    datetime: _time,
    Mapping: _pairs,
}


def _named(value: object) -> str:
    """The kind of a value; never the value, which may be a key."""
    return "None" if value is None else type(value).__name__


def choice_of(kind: type[Choice], value: str, name: str) -> Choice:
    """One of a closed set by its text.

    Raises:
        ValueError: it is none of them.
    """
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(str(one.value) for one in kind)
        raise ValueError(f"{name} is one of {choices}") from None


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a request, in one sentence."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'the request'}: {first['msg']}"
