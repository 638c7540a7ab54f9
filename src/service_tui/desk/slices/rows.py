"""A row in its place among others: what the slices of the state do alike. Pure."""

from collections.abc import Callable
from typing import TypeVar

Row = TypeVar("Row")


def in_place(rows: tuple[Row, ...], row: Row, name: Callable[[Row], str]) -> tuple[Row, ...] | None:
    """The rows with this one in place of the row with its key.

    Returns:
        None without one: the caller knows where a new row belongs.
    """
    key = name(row)
    if not any(name(one) == key for one in rows):
        return None
    return tuple(row if name(one) == key else one for one in rows)
