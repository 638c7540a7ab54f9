"""A table of records: a cursor that stays on its row, sorting, a filter, marks, keys and mouse."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from service_tui.console.keys import bindings_of
from service_tui.console.widgets.columns import GAP
from service_tui.console.widgets.fall import Fall
from service_tui.console.widgets.record_view import RecordView

R = TypeVar("R")

_DOUBLE: Final = 2
"""Clicks that open a row."""


@dataclass(frozen=True, slots=True)
class TableState:
    """The layout of a table, stored over restarts. `place` is that of the cursor's row."""

    sort: str | None = None
    falling: bool = False
    cursor: str | None = None
    scroll: int = 0
    place: int = 0


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

    is_journal: bool = False
    """Whether the newest row comes on top: the cursor follows it until the person moves it, and
    again from the top."""

    newest_by: str = ""
    """Id of the column by whose falling order the newest row is on top; empty: as the rows come."""

    holds: bool = False
    """Whether a journal is acted on: once the person can see its rows, the cursor stays on its row
    until it is moved, or the table is looked at again."""

    is_moved: bool = False
    """Whether the person, or a jump to a row, has put the cursor where it is."""

    _is_looked_at = False

    awaits_cursor: bool = False
    """Whether the row of a restored cursor has not come yet: nothing is highlighted until then."""

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
        """The highlighted row; None in the moment after the cursor fell on it: actions refuse."""
        return None if self.has_just_fallen else self._order.selected()

    def highlighted(self) -> R | None:
        """The row under the cursor, for display and not for actions."""
        return self._order.selected()

    @property
    def has_just_fallen(self) -> bool:
        """True if the cursor fell to a neighbour a moment ago because its row went."""
        return self._fall.is_fresh

    _fell_into_nothing = False
    """Whether the cursor still means the row that went: no other took its place."""

    @cached_property
    def _fall(self) -> Fall:
        return Fall(self)

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows; a cursor whose row went falls to the neighbour at its place.

        If that row was the last one, the cursor falls to the first row that comes later.
        """
        before, was_empty = self._order.index, not self._order.total
        is_restored = self.awaits_cursor
        follows = self._follows_newest()
        known = frozenset(self._order.keys) if follows else frozenset[str]()
        super().show(rows)
        # A row that only moved up is no newer one: the cursor stays on its row.
        has_newer = bool(self._order.index) and self._order.key_at(0) not in known
        if follows and has_newer and not self._order.marked:
            # Newer rows came on top: keys do nothing until the person has seen them.
            self._fall_to(0)
            return
        if before is None and not is_restored:
            # A restored layout has its own place; a cursor that was put on a row shows that row.
            self._follow()
        self.awaits_cursor = self.awaits_cursor and self._order.index is None
        is_lost = self._order.cursor_lost and not self.awaits_cursor
        if not self._order.cursor_lost and self._fell_into_nothing:
            # A reading without it came in between: it is the row that the person saw before.
            self._fell_into_nothing = False
            self._fall.end()
        if not is_lost or (before is None and not was_empty):
            return
        if len(self._order):
            self._fall_to(self._order.place if before is None else before)
        elif before is not None and not self._order.total:
            self._fall.begin()
            self._fell_into_nothing = True

    def _follows_newest(self) -> bool:
        """True while a newer row takes the cursor with it."""
        in_order = self._sort is None or (self._sort.id == self.newest_by and self._falls)
        if not (self.is_journal and in_order) or (self.holds and self._is_looked_at):
            return False
        return self._order.index == 0 or not self.is_moved

    def look_away(self) -> None:
        """Note that the person sees the rows no more: the cursor may go to newer ones again."""
        self._is_looked_at = False

    def settle_cursor(self) -> None:
        """Once every row is here: a restored cursor whose row is gone falls to its place."""
        self._is_looked_at = len(self._order) > 0
        if self.awaits_cursor and len(self._order):
            self.awaits_cursor = False
            self._fall_to(self._order.place)

    def _fall_to(self, place: int) -> None:
        self._fell_into_nothing = False
        self._order.fall_to(place)
        self._fall.begin()
        self._refresh_row(self._order.index)
        self._follow()

    def selected_or_marked(self) -> tuple[R, ...]:
        """The rows of an action: the marked rows shown, else the highlighted one, else none."""
        if self.has_just_fallen and not self._order.marked:
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
        self._fall.end()
        self.awaits_cursor, self.is_moved = False, True
        self._order.put(row_key)
        self._follow()
        self.refresh()

    def state(self) -> TableState:
        """The layout to store."""
        sort = None if self._sort is None else self._sort.id
        scroll = self._top if self._scroll_target is None else self._scroll_target
        return TableState(sort, self._falls, self._order.cursor, scroll, self._order.place)

    def restore(self, state: TableState) -> None:
        """Apply a stored layout; parts that no longer exist are ignored."""
        self.sort_by(state.sort, falling=state.falling)
        if self.is_journal:
            # It opens at its newest row, wherever the person was when it was closed.
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
        if self.has_just_fallen:
            self._post_row(self.Lost)
            return
        self._order.toggle_mark()
        self._refresh_row(self._order.index)
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
        self._fall.end()
        self.awaits_cursor, self.is_moved = False, True
        move()
        self._refresh_row(before)
        self._refresh_row(self._order.index)
        self._follow()
        if self._order.index is not None:
            self._post_row(self.Moved)

    def _post_row(self, message_type: type[RowMessage]) -> None:
        is_lost = self._order.index is None or self.has_just_fallen
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
