"""Shared by all slices: replace a row by its key, and cache a derived value. Pure."""

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

Row = TypeVar("Row")
Made = TypeVar("Made")


def in_place(rows: tuple[Row, ...], row: Row, name: Callable[[Row], str]) -> tuple[Row, ...] | None:
    """The rows with this one in place of the row with its key.

    Returns:
        None without one: the caller knows where a new row belongs.
    """
    key = name(row)
    if not any(name(one) == key for one in rows):
        return None
    return tuple(row if name(one) == key else one for one in rows)


class LastMade(Generic[Made]):
    """What was made of the last values; of the same ones it is not made again.

    To compare identities is enough: the client returns the same object for the same bytes, and no
    view is ever changed.
    """

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], Made] | None = None

    def of(self, values: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """What is made of these values."""
        if self._last is None or not _are_same(self._last[0], values):
            self._last = (values, make())
        return self._last[1]


def _are_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))
