"""A table of records: a cursor that stays on its row, sorting, a filter, marks, keys and mouse.

Where the cursor goes when the rows change:

- Its row is still shown: it stays on that row, wherever the row is now.
- Its row went: it moves to the row now at that place. For a second row keys do nothing, so that no
  key acts on a row that the person has not seen.
- Its row went and no row is left: it keeps that place, and the first row that comes later gets it.
  If the same row comes back, keys work on it at once.
- Its row was restored from the last run and has not arrived: no row is highlighted until it comes.
- `newest_on_top`: a newer row takes the cursor along while it is on the top row, or until the
  person has moved it; with `keeps_row` no longer once the person can see the rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from service_tui.console.keys import bindings_of
from service_tui.console.widgets.columns import GAP, ColumnChoice
from service_tui.console.widgets.cursor_loss import CursorLoss
from service_tui.console.widgets.record_view import RecordView

R = TypeVar("R")

_DOUBLE: Final = 2
"""Clicks that open a row."""


@dataclass(frozen=True, slots=True)
class TableState:
    """The layout of a table, stored over restarts. `place` is that of the cursor's row.

    `falling` is true for a descending order. `columns` are those that the person chose, in their
    order; empty for the usual ones.
    """

    sort: str | None = None
    falling: bool = False
    cursor: str | None = None
    scroll: int = 0
    place: int = 0
    columns: tuple[ColumnChoice, ...] = ()


class RecordTable(RecordView[R], Generic[R], can_focus=True):  # noqa: PLR0904 - one action a key
    """A `RecordView` with keys and mouse. Its arguments are those of the view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False, id="table.down"),
        Binding("k,up", "move(-1)", "up", show=False, id="table.up"),
        Binding("g,home", "move_to_end(False)", "first row", show=False, id="table.top"),
        Binding("G,end", "move_to_end(True)", "last row", show=False, id="table.bottom"),
        Binding("ctrl+d", "move_page(0.5)", "half down", show=False, id="table.half_down"),
        Binding("ctrl+u", "move_page(-0.5)", "half up", show=False, id="table.half_up"),
        Binding("pagedown", "move_page(1)", "page down", show=False, id="table.page_down"),
        Binding("pageup", "move_page(-1)", "page up", show=False, id="table.page_up"),
        Binding("enter", "open", "open", show=False, id="table.open"),
        *(
            binding
            for binding in bindings_of("rows")
            if binding.action in {"sort_next", "sort_reverse", "sort_menu"}
        ),
    ]

    _scroll_target: int | None = None

    newest_on_top: bool = False
    """True if the newest row is on top: the cursor follows it until the person moves it down, and
    again once it is back on top."""

    newest_by: str = ""
    """Id of the column that puts the newest row on top, descending; empty: the rows' own order."""

    keeps_row: bool = False
    """True if rows are acted on: once the person can see them, the cursor stays on its row, also
    when newer ones come, until the person moves it or leaves the table and returns."""

    is_moved: bool = False
    """True if the person, or a jump to a row, has put the cursor where it is."""

    _is_looked_at = False

    awaits_cursor: bool = False
    """True until the row of a restored cursor arrives: nothing is highlighted before."""

    class RowMessage(Message):
        """An event of one row of a table; None: of no row."""

        def __init__(self, table: Widget, row_key: str | None) -> None:
            super().__init__()
            self.table = table
            self.row_key = row_key

        @property
        def control(self) -> Widget:
            """The table, for the selectors of `@on`."""
            return self.table

    class Moved(RowMessage):
        """A key or the mouse put the cursor on a row, or changed the marks."""

    class Opened(RowMessage):
        """Enter, or a double click, on a row."""

    class SortMenuRequested(Message):
        """A key asks for the menu of columns; the screen opens it."""

    class Lost(RowMessage):
        """A key needed the highlighted row, and there is none: the screen shows so."""

    def selected(self) -> R | None:
        """The highlighted row; None for a moment after the cursor lost its own: actions refuse."""
        return None if self.has_lost_row else self._order.selected()

    def highlighted(self) -> R | None:
        """The row under the cursor, for display and not for actions."""
        return self._order.selected()

    @property
    def has_lost_row(self) -> bool:
        """True if the cursor's row went a moment ago and a neighbour is highlighted."""
        return self._cursor_loss.is_recent

    _lost_last_row = False
    """True after the cursor's row went and left no row that could take its place."""

    @cached_property
    def _cursor_loss(self) -> CursorLoss:
        return CursorLoss(self)

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows; if the cursor's row went, the row now at its place is highlighted.

        The docstring of the module lists where the cursor goes.
        """
        before, was_empty = self._order.index, not self._order.total
        is_restored = self.awaits_cursor
        follows = self._follows_newest()
        known = frozenset(self._order.keys) if follows else frozenset[str]()
        super().show(rows)
        # A row that only moved up is not a newer one: the cursor stays on its row.
        has_newer = bool(self._order.index) and self._order.key_at(0) not in known
        if follows and has_newer and not self._order.marked:
            # Newer rows came on top: keys do nothing until the person has seen them.
            self._move_to_neighbour(0)
            return
        if before is None and not is_restored:
            # Scroll to a cursor that was put on a row; a restored layout has its own scrolling.
            self._follow()
        self.awaits_cursor = self.awaits_cursor and self._order.index is None
        is_lost = self._order.cursor_lost and not self.awaits_cursor
        if not self._order.cursor_lost and self._lost_last_row:
            # The same row came back after an empty answer: keys work on it at once.
            self._lost_last_row = False
            self._cursor_loss.end()
        if not is_lost or (before is None and not was_empty):
            return
        if len(self._order):
            self._move_to_neighbour(self._order.place if before is None else before)
        elif before is not None and not self._order.total:
            self._cursor_loss.begin()
            self._lost_last_row = True

    def _follows_newest(self) -> bool:
        """True while a newer row takes the cursor along."""
        in_order = self._sort is None or (self._sort.id == self.newest_by and self._falls)
        if not (self.newest_on_top and in_order) or (self.keeps_row and self._is_looked_at):
            return False
        return self._order.index == 0 or not self.is_moved

    def look_away(self) -> None:
        """Note that the rows are out of sight: the cursor may follow newer rows again."""
        self._is_looked_at = False

    def settle_cursor(self) -> None:
        """Once every row has arrived: put a restored cursor whose row is gone on the row there."""
        self._is_looked_at = len(self._order) > 0
        if self.awaits_cursor and len(self._order):
            self.awaits_cursor = False
            self._move_to_neighbour(self._order.place)

    def _move_to_neighbour(self, place: int) -> None:
        self._lost_last_row = False
        self._order.put_near(place)
        self._cursor_loss.begin()
        self._refresh_row(self._order.index)
        self._follow()

    def selected_or_marked(self) -> tuple[R, ...]:
        """The rows of an action: the marked rows shown, else the highlighted one, else none."""
        if self.has_lost_row and not self._order.marked:
            return ()
        return self._order.selected_or_marked()

    def toggle_all_marks(self) -> None:
        """Mark every row that is shown, or none if all are."""
        self._order.toggle_all_marks()
        self.refresh()
        self._post_row(self.Moved)

    def clear_marks(self) -> None:
        """Unmark every row."""
        self._order.clear_marks()
        self.refresh()

    def put_cursor(self, row_key: str) -> None:
        """Put the cursor on a row by its key, now or as soon as that row is shown."""
        self._cursor_loss.end()
        self.awaits_cursor, self.is_moved = False, True
        self._order.put(row_key)
        self._follow()
        self.refresh()

    def state(self) -> TableState:
        """The layout to store."""
        sort = None if self._sort is None else self._sort.id
        scroll = self._top if self._scroll_target is None else self._scroll_target
        order = self._order
        return TableState(sort, self._falls, order.cursor, scroll, order.place, self.column_choices)

    def restore(self, state: TableState) -> None:
        """Apply a stored layout; parts that no longer exist are ignored."""
        self.sort_by(state.sort, falling=state.falling)
        if state.columns != self.column_choices:
            self.choose_columns(state.columns)
        if self.newest_on_top:
            # It opens at its newest row, wherever the cursor was when it was closed.
            return
        if state.cursor is not None:
            self._order.put(state.cursor, state.place)
            self.awaits_cursor = self._order.index is None
        self._scroll_target = state.scroll
        self._take_scroll()
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self._move(lambda: self._order.move(by))

    def action_move_page(self, pages: float) -> None:
        """Move the cursor and the view by pages."""
        rows = max(1, int(self._page * abs(pages)))
        by = rows if pages > 0 else -rows
        self._scroll(self._top + by)
        self._move(lambda: self._order.move(by))

    def action_move_to_end(self, last: bool) -> None:  # noqa: FBT001 - arguments of actions have no names
        """Move the cursor to the first or the last row."""
        self._move(lambda: self._order.move_to(len(self._order) - 1 if last else 0))

    def action_open(self) -> None:
        """Post that the highlighted row is opened."""
        self._post_row(self.Opened)

    def action_mark(self) -> None:
        """Mark the highlighted row, or unmark it."""
        if self.has_lost_row:
            self._post_row(self.Lost)
            return
        self._order.toggle_mark()
        self._refresh_row(self._order.index)
        self._refresh_note()
        self._post_row(self.Moved)

    def action_sort_next(self) -> None:
        """Sort by the next column that is shown and sortable."""
        names = [place.column.id for place in self._lines.placed if place.column.sort_key]
        if names:
            now = "" if self._sort is None else self._sort.id
            self.sort_by(names[(names.index(now) + 1) % len(names) if now in names else 0])

    def action_sort_reverse(self) -> None:
        """Reverse the order."""
        if self._sort is not None:
            self.sort_by(self._sort.id, falling=not self._falls)

    def action_sort_menu(self) -> None:
        """Post that the menu of columns is requested."""
        self.post_message(self.SortMenuRequested())

    def pick_sort(self, column_id: str) -> None:
        """Sort by a column in its first direction; reverse if the rows are sorted by it."""
        if self._sort is not None and self._sort.id == column_id:
            self.action_sort_reverse()
        else:
            self.sort_by(column_id)

    @property
    def shown_columns(self) -> frozenset[str]:
        """The ids of the columns for which there is room."""
        return frozenset(place.column.id for place in self._lines.placed)

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        index = self._top + offset.y - 1
        if offset.y == 0:
            self._sort_at(offset.x)
        elif index < len(self._order):
            # Rows may move between two clicks: only the row that the first one selected opens.
            opens = event.chain == _DOUBLE and index == self._order.index
            self._move(lambda: self._order.move_to(index))
            if opens:
                self.action_open()

    def _sort_at(self, x: int) -> None:
        for place in self._lines.placed:
            if place.left <= x < place.left + place.width + GAP and place.column.sort_key:
                self.pick_sort(place.column.id)

    def _move(self, move: Callable[[], None]) -> None:
        before = self._order.index
        self._cursor_loss.end()
        self.awaits_cursor, self.is_moved = False, True
        move()
        self._refresh_row(before)
        self._refresh_row(self._order.index)
        self._follow()
        if self._order.index is not None:
            self._post_row(self.Moved)

    def _post_row(self, message_type: type[RowMessage]) -> None:
        is_lost = self._order.index is None or self.has_lost_row
        posted = self.Lost if is_lost else message_type
        self.post_message(posted(self, self._order.cursor))

    def _change(self, change: Callable[[], None]) -> None:
        super()._change(change)
        self._take_scroll()

    @on(events.Resize)
    def _scroll_after_resize(self) -> None:
        self._take_scroll()

    def _take_scroll(self) -> None:
        # A restored position waits until there are rows, and room to scroll in.
        if self._scroll_target is not None and self.size and len(self._order):
            target, self._scroll_target = self._scroll_target, None
            self._scroll(target)
