"""What is read of a damaged table: as far as a page allows, from either end."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from service_tui.storage.recovery.salvage import _from_the_end


class Damaged:
    """A table of which a page cannot be read behind some rows."""

    def __init__(self, *rows: tuple[int, str], is_whole: bool = False) -> None:
        self._rows, self._is_whole = rows, is_whole

    def execute(self, _: str) -> Iterator[tuple[int, str]]:
        yield from self._rows
        if not self._is_whole:
            raise sqlite3.DatabaseError("database disk image is malformed")


@pytest.mark.parametrize("is_whole", [True, False])
def test_rows_from_the_end_are_kept_up_to_what_cannot_be_read(*, is_whole: bool) -> None:
    source: Any = Damaged((9, "nine"), (8, "eight"), is_whole=is_whole)
    assert _from_the_end(source, "SELECT", {}) == {9: ("nine",), 8: ("eight",)}


def test_rows_from_the_end_stop_at_the_first_that_is_known() -> None:
    source: Any = Damaged((9, "nine"), (3, "three"), (2, "two"))
    assert _from_the_end(source, "SELECT", {3: ("three",)}) == {9: ("nine",)}
    assert _from_the_end(Damaged(), "SELECT", {}) == {}  # type: ignore[arg-type]
