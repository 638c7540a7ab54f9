"""The displayed rows, their order, and the cursor's row - by identity.

The promise: between two moves of the cursor, whatever happens to the rows, `selected` is the row
that was highlighted, or None.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from service_tui.units import Micros

Row = TypeVar("Row")

Rank = str | float | Micros
"""The sort value of a row; within one column all of one type."""


class Arrangement(Generic[Row]):
    """Rows filtered and sorted. `key` names a row while it lives; no two rows share one."""

    def __init__(self, key: Callable[[Row], str]) -> None:
        self._key = key
        self._rows: Sequence[Row] = ()
        self._keys: list[str] = []
        self._shown: Sequence[int] = ()
        self._rank: Callable[[Row], Rank | None] | None = None
        self._reverse = False
        self._keep: Callable[[Row], bool] | None = None

    def __len__(self) -> int:
        """The number of rows shown, after the filter."""
        return len(self._shown)

    def __getitem__(self, index: int) -> Row:
        """The row at a place of the order, 0 <= index < len."""
        return self._rows[self._shown[index]]

    @property
    def total(self) -> int:
        """The number of rows before the filter."""
        return len(self._rows)

    @property
    def keys(self) -> Sequence[str]:
        """The keys of all rows, before the filter; another list after each change of the rows."""
        return self._keys

    def key_at(self, index: int) -> str:
        """The key of the row at a place of the order."""
        return self._keys[self._shown[index]]

    def index_of(self, key: str) -> int | None:
        """The place of a row in the order, None if it is not shown."""
        try:
            return self._shown.index(self._keys.index(key))
        except ValueError:
            return None

    def replace(self, rows: Sequence[Row]) -> None:
        """Use these rows instead of the former ones."""
        self._rows = rows
        self._keys = list(map(self._key, rows))
        self._arrange()

    def sort(self, rank: Callable[[Row], Rank | None] | None, *, reverse: bool) -> None:
        """Sort by a rank, rows without one last in both directions; None is the given order."""
        self._rank, self._reverse = rank, reverse
        self._arrange()

    def filter(self, keep: Callable[[Row], bool] | None) -> None:
        """Show only these rows; None shows all."""
        self._keep = keep
        self._arrange()

    def _arrange(self) -> None:
        # Written for speed: this runs over every row at each poll.
        rows, keep, rank = self._rows, self._keep, self._rank
        shown: Sequence[int] = range(len(rows))
        if keep is not None:
            shown = [place for place, row in enumerate(rows) if keep(row)]
        if rank is not None:
            ranks: dict[int, Rank] = {
                place: value
                for place, value in zip(shown, map(rank, self._at(shown)), strict=True)
                if value is not None
            }
            unknown = [] if len(ranks) == len(shown) else [p for p in shown if p not in ranks]
            shown = sorted(ranks, key=ranks.__getitem__, reverse=self._reverse) + unknown
        self._shown = shown
        self._settle()

    def _at(self, places: Sequence[int]) -> Sequence[Row]:
        rows = self._rows
        return rows if len(places) == len(rows) else [rows[place] for place in places]

    def _settle(self) -> None:
        """Hook after every change of the order."""


class RowOrder(Arrangement[Row]):  # noqa: PLR0904 - one method a thing that happens to rows
    """An arrangement with a cursor and marks, which follow rows and not places.

    The first row ever shown gets the cursor. A cursor whose row has vanished highlights nothing
    until it is moved; it comes back when its row comes back.
    """

    def __init__(self, key: Callable[[Row], str]) -> None:
        super().__init__(key)
        self._cursor: str | None = None
        self._index: int | None = None
        self._place = 0
        self._marked: frozenset[str] = frozenset()
        self._marks_lost = False

    @property
    def cursor(self) -> str | None:
        """Key of the cursor's row, also after it vanished; None before there ever was a row."""
        return self._cursor

    @property
    def index(self) -> int | None:
        """Place of the highlighted row; None if none is highlighted."""
        return self._index

    @property
    def cursor_lost(self) -> bool:
        """True if the cursor's row is not shown any more."""
        return self._cursor is not None and self._index is None

    @property
    def marked(self) -> frozenset[str]:
        """Keys of the marked rows, also those that the filter hides."""
        return self._marked

    def move(self, by: int) -> None:
        """Move the cursor by so many rows, from its present or lost place."""
        if self._index is not None:
            self.move_to(self._index + by)
        else:
            # Another row is at the lost one's place: one step down highlights that one.
            self.move_to(self._place + by - 1 if by > 0 else self._place + by)

    def move_to(self, index: int) -> None:
        """Put the cursor on a place, clamped to the rows shown."""
        if self._shown:
            self._index = self._place = max(0, min(index, len(self._shown) - 1))
            self._cursor = self.key_at(self._index)
            self._marks_lost = False

    def put_near(self, index: int) -> None:
        """Move the cursor of a lost row to the row now nearest this place. Lost marks stay lost."""
        are_lost = self._marks_lost
        self.move_to(index)
        self._marks_lost = are_lost

    @property
    def place(self) -> int:
        """The place of the cursor's row, or the one where it was last."""
        return self._place

    def put(self, key: str, place: int | None = None) -> None:
        """Put the cursor on a row by its key, even before that row exists; then at this place."""
        self._cursor = key
        self._place = self._place if place is None else place
        self._settle()

    def selected(self) -> Row | None:
        """The highlighted row, or None if none is highlighted."""
        return None if self._index is None else self[self._index]

    def toggle_mark(self) -> bool:
        """Mark the highlighted row, or unmark it; False if none is highlighted."""
        if self._index is None or self._cursor is None:
            return False
        self._marked ^= {self._cursor}
        self._marks_lost = False
        return True

    def toggle_all_marks(self) -> None:
        """Mark every row that is shown, or none if all are."""
        shown = frozenset(self._keys[place] for place in self._shown)
        self._marked = frozenset() if self._marked >= shown else self._marked | shown

    def clear_marks(self) -> None:
        """Unmark every row."""
        self._marked = frozenset()
        self._marks_lost = False

    def selected_or_marked(self) -> tuple[Row, ...]:
        """The marked rows that are shown, in their order; without marks, the highlighted row.

        Returns:
            Empty if none is highlighted, if the filter hides all marked rows, or if all marked
            rows vanished since the last key: an action must then refuse.
        """
        if self._marked:
            return tuple(
                self._rows[place] for place in self._shown if self._keys[place] in self._marked
            )
        row = self.selected()
        return () if row is None or self._marks_lost else (row,)

    def _settle(self) -> None:
        if self._cursor is None and self._shown:
            self._cursor = self.key_at(0)
        self._index = None if self._cursor is None else self.index_of(self._cursor)
        if self._index is not None:
            self._place = self._index
        if self._marked:
            left = self._marked.intersection(self._keys)
            self._marks_lost = self._marks_lost or not left
            self._marked = left
