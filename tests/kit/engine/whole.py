"""Records with a value in every field, no two alike: what comes back whole has lost none."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import count
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from service_tui.outcome import Outcome
from service_tui.records import UNSTORED
from service_tui.terms import Plan, Venue, WalletKind
from service_tui.units import Micros

DICTS: Final[dict[str, dict[str, Any]]] = {
    "AgentChanged": {"name": "Zoë", "plan": Plan.ELITE, "wallet": WalletKind.EXTERNAL},
    "ReactorChanged": {"wallets": ("0xAb", "0xCd"), "venue": Venue.SOL, "daily_cap": 7},
}
"""What stands in the dictionary of a record; of any other `EXTRA`."""

EXTRA: Final[dict[str, Any]] = {"first": 5, "other": 6}

_BOTH: Final = 2


def whole(kind: type[Any], *, empty: bool = False) -> Any:
    """A record of this type, whatever it holds filled in too; `empty` leaves out what may be."""
    return _Maker(empty=empty).record(kind)


def typed(value: Any) -> object:
    """The value with the type of each part: a plain "buy" is not an Action, a list no tuple."""
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        return {key: typed(entry) for key, entry in entries.items()}
    if isinstance(value, tuple | list):
        rows = cast("Sequence[Any]", value)
        return (type(rows), *(typed(entry) for entry in rows))
    kind = cast("type[Any]", type(value))
    if is_dataclass(kind):
        return (kind, *(typed(getattr(value, one.name)) for one in fields(kind)))
    return (kind, value)


_hints_of = cache(get_type_hints)


class _Maker:
    """Makes values of types, each with a number of its own."""

    def __init__(self, *, empty: bool) -> None:
        self._empty = empty
        self._numbers = count(3)

    def record(self, kind: Any) -> Any:
        if kind is Outcome:
            return Outcome(Micros(next(self._numbers)))
        names = getattr(kind, "_fields", None) or [
            one.name for one in fields(kind) if one.metadata != UNSTORED
        ]
        hints = _hints_of(kind)
        return kind(**{name: self._value(hints[name], kind.__name__) for name in names})

    def _value(self, hint: Any, owner: str) -> Any:
        hint = getattr(hint, "__supertype__", hint)
        inner = get_args(hint)
        if get_origin(hint) in {Union, UnionType}:
            is_left_out = self._empty and NoneType in inner
            return None if is_left_out else self._value(inner[0], owner)
        if inner:
            return self._several(hint, inner, owner)
        if issubclass(hint, tuple) or is_dataclass(hint):
            return self.record(hint)
        return self._plain(hint)

    def _several(self, hint: Any, inner: tuple[Any, ...], owner: str) -> Any:
        kind = get_origin(hint)
        if kind is dict:
            if not is_dataclass(inner[1]):
                return dict(DICTS.get(owner, EXTRA))
            return {key: self.record(inner[1]) for key in EXTRA}
        is_fixed = kind is tuple and inner[-1] is not Ellipsis
        kinds = inner if is_fixed else inner[:1] * _BOTH
        return kind(self._value(one, owner) for one in kinds)

    def _plain(self, kind: Any) -> Any:
        number = next(self._numbers)
        if issubclass(kind, Enum):
            # One of the last two: the first is what a field begins with.
            return list(kind)[-1 - number % _BOTH]
        if kind is bool:
            return True
        return f"é {number}" if kind is str else kind(number)
