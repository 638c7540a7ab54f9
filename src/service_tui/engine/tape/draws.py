"""Random numbers without state: each draw is a function of a key and a count.

Same key, same count, same number on every machine and in any order.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, TypeVar

Item = TypeVar("Item")

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB
"""Constants of SplitMix64. Source: Steele, Lea, Flood 2014, "Fast splittable PRNGs"."""

_UNIT: Final = 2.0**-53

quantile: Final = NormalDist().inv_cdf
"""The standard normal number below which a draw falls with this chance, 0 < p < 1."""


def bits(key: int, count: int) -> int:
    """The `count`-th 64 bits of the stream that starts at `key`."""
    z = (key + count * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def mix(*keys: int) -> int:
    """One key of several; the order counts."""
    mixed = 0
    for key in keys:
        mixed = bits(mixed ^ (key & _MASK), 1)
    return mixed


def unit(key: int, count: int) -> float:
    """A uniform draw, 0 < u < 1."""
    return ((bits(key, count) >> 11) + 0.5) * _UNIT


def normal(key: int, count: int) -> float:
    """A standard normal draw."""
    return quantile(((bits(key, count) >> 11) + 0.5) * _UNIT)


class Draws:
    """A stream of draws under one key, for code that takes them one after the other."""

    __slots__ = ("_count", "_key")

    def __init__(self, *keys: int) -> None:
        self._key = mix(*keys)
        self._count = 0

    def unit(self) -> float:
        """The next uniform draw, 0 < u < 1."""
        self._count += 1
        return ((bits(self._key, self._count) >> 11) + 0.5) * _UNIT

    def normal(self) -> float:
        """The next standard normal draw."""
        self._count += 1
        return normal(self._key, self._count)

    def between(self, low: float, high: float) -> float:
        """A uniform draw, low < x < high."""
        return low + (high - low) * self.unit()

    def below(self, count: int) -> int:
        """A whole number, 0 <= n < count."""
        return int(self.unit() * count)

    def pick(self, items: Sequence[Item]) -> Item:
        """One of some items, each as likely."""
        return items[self.below(len(items))]
