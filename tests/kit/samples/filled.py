"""Records whose every field has a value of its own, as real ones seldom have.

    filled(AgentView, 3)

A text that takes the wrong one of two fields, forgets one, or mixes None with 0 is another text
then. The same seed makes the same record in every run.
"""

import dataclasses
import random
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from kit.samples.desk import NOW
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.units import ONE

Record = TypeVar("Record")

WORDS = {
    "state": ("Active", "Awaiting Settlement", "Ready to Redeem", "Redeemed"),
    "taker_side": ("BUY",),
    "status": ("pending", "executed", "expired", "active"),
    "side": ("yes", "no"),
    "redeemable_side": ("yes", "no"),
    "tx_hash": ("0x" + "ab" * 32,),
    "taker_wallet": ("0x" + "cd" * 20,),
    "signal_id": ("0x" + "ef" * 32,),
}
"""Texts that a service has from a list."""

NONE_OF = 4
"""One optional field in so many is None."""


def value_of(kind: Any, seed: int, name: str = "text") -> Any:
    """A value of any kind that a field may have."""
    return _Filling(seed).value(kind, name)


def filled(record: type[Record], seed: int, **given: Any) -> Record:
    """A record of a seed; fields of `given` have these values."""
    return _Filling(seed).record(record, given)


class _Filling:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._count = 0

    def record(self, record: Any, given: Mapping[str, Any] = types.MappingProxyType({})) -> Any:
        is_body = issubclass(record, BaseModel)
        hints = get_type_hints(record)
        names = (
            [*record.model_fields]
            if is_body
            else [one.name for one in dataclasses.fields(record) if one.init]
        )
        values = {
            name: given[name] if name in given else self.value(hints[name], name) for name in names
        }
        # A body is made as it comes off the wire: read, and within no bound.
        return record.model_construct(**values) if is_body else record(**values)

    def value(self, kind: Any, name: str) -> Any:
        self._count += 1
        origin, inner = get_origin(kind), get_args(kind)
        if origin in {typing.Union, types.UnionType}:
            some = [one for one in inner if one is not types.NoneType]
            is_none = types.NoneType in inner and not self._rng.randrange(NONE_OF)
            return None if is_none else self.value(self._rng.choice(some), name)
        if origin is typing.Literal:
            return self._rng.choice(inner)
        if origin is not None:
            return self._many(origin, inner, name)
        return self._plain(kind, name)

    def _many(self, origin: Any, inner: tuple[Any, ...], name: str) -> Any:
        if origin is tuple and inner[-1] is not Ellipsis:
            return tuple(self.value(one, name) for one in inner)
        if issubclass(origin, Mapping):
            return {self.value(inner[0], name): self.value(inner[1], name)}
        some = [self.value(inner[0], name) for _ in range(self._rng.randrange(3))]
        return origin(some) if origin in {list, frozenset, set} else tuple(some)

    def _plain(self, kind: Any, name: str) -> Any:
        made = {
            "Outcome": lambda: (YES, NO, Outcome.at(0.35), VOID)[int(self._rng.random() * 4)],
            "Micros": lambda: self._rng.randrange(1, 5_000) * ONE // 10 + self._count * 10_000,
            "Probability": lambda: round(self._rng.uniform(0.02, 0.98), 4),
            "Timestamp": lambda: NOW - self._rng.randrange(1, 300_000),
            "AwareDatetime": self._time,
            "datetime": self._time,
            "date": lambda: self._time().date(),
        }.get(getattr(kind, "__name__", ""))
        if made is not None:
            return made()
        if dataclasses.is_dataclass(kind) or (
            isinstance(kind, type) and issubclass(kind, BaseModel)
        ):
            return self.record(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return self._rng.choice(list(kind))
        if kind is str and name in WORDS:
            return self._rng.choice(WORDS[name])
        return {
            bool: lambda: self._rng.random() < 1 / 2,
            int: lambda: self._rng.randrange(1, 90) + self._count * 100,
            float: lambda: round(self._rng.uniform(0.02, 0.98), 4),
        }.get(kind, lambda: f"{name}-{self._count}")()

    def _time(self) -> datetime:
        return datetime.fromtimestamp(NOW - self._rng.randrange(300_000), UTC)
