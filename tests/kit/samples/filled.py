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
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from kit.samples.desk import NOW
from service_tui.units import ONE

Record = TypeVar("Record")

NONE_OF = 4
"""One optional field in so many is None."""


def filled(record: type[Record], seed: int, **given: Any) -> Record:
    """A record of a seed; fields of `given` have these values."""
    return _Filling(seed).record(record, given)


class _Filling:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._count = 0

    def record(self, record: Any, given: Mapping[str, Any] = types.MappingProxyType({})) -> Any:
        hints = get_type_hints(record)
        names = [one.name for one in dataclasses.fields(record) if one.init]
        values = {
            name: given[name] if name in given else self.value(hints[name], name) for name in names
        }
        return record(**values)

    def value(self, kind: Any, name: str) -> Any:
        self._count += 1
        origin, inner = get_origin(kind), get_args(kind)
        if origin in {typing.Union, types.UnionType}:
            some = [one for one in inner if one is not types.NoneType]
            is_none = types.NoneType in inner and not self._rng.randrange(NONE_OF)
            return None if is_none else self.value(self._rng.choice(some), name)
        if origin is not None:
            return self._many(origin, inner, name)
        return self._plain(kind, name)

    def _many(self, origin: Any, inner: tuple[Any, ...], name: str) -> Any:
        if origin is tuple and inner[-1] is not Ellipsis:
            return tuple(self.value(one, name) for one in inner)
        if issubclass(origin, Mapping):
            return {self.value(inner[0], name): self.value(inner[1], name)}
        return origin(self.value(inner[0], name) for _ in range(self._rng.randrange(3)))

    def _plain(self, kind: Any, name: str) -> Any:
        made = {
            "Micros": lambda: self._rng.randrange(1, 5_000) * ONE // 10 + self._count * 10_000,
            "Probability": lambda: round(self._rng.uniform(0.02, 0.98), 4),
            "Timestamp": lambda: NOW - self._rng.randrange(1, 300_000),
        }.get(getattr(kind, "__name__", ""))
        if made is not None:
            return made()
        if dataclasses.is_dataclass(kind):
            return self.record(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return self._rng.choice(list(kind))
        return {
            bool: lambda: self._rng.random() < 1 / 2,
            int: lambda: self._rng.randrange(1, 90) + self._count * 100,
            float: lambda: round(self._rng.uniform(0.02, 0.98), 4),
        }.get(kind, lambda: f"{name} {self._count}")()
