"""Rows under a fixed header, drawn line by line, with the viewed rows kept in place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from textual import events, on
from textual.geometry import Region, Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from service_tui.console.keys import with_keys
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column, ColumnChoice, arranged
from service_tui.console.widgets.paint import Paint
from service_tui.console.widgets.row_order import Rank, RowOrder
from service_tui.console.widgets.table_lines import Laid, RowState, TableLines

R = TypeVar("R")

GLOW_S: Final = 0.6
"""How long a changed cell glows: long enough to be seen, short enough not to distract."""

HIDDEN: Final = "The filter hides all {total} rows.\n\n{rows.out} clears it."
"""Text of a table that the filter empties."""

TITLE_FROM: Final = 5
"""Lines of a table above which the last one is for the title of the row under the cursor."""

ABOVE: Final = " ▲ {count:,} new above "
"""Note in the line of titles on new rows above the visible ones."""

MARKED: Final = " • {count:,} marked "
"""Note in their place on marked rows, those that a filter hides among them."""


@dataclass(frozen=True, slots=True)
class _VisibleLine(Generic[R]):
    """A line on the screen; `laid` None if it was never drawn."""

    key: str
    laid: Laid[R] | None
    drawn_from: tuple[str, RowState, object]


class RecordView(  # noqa: PLR0904 - one method a change of the list
    ScrollView, Generic[R], inherit_bindings=False
):
    """Draws only visible rows, whatever their number, and only changes.

    Args:
        columns: from left to right.
        key: identifies a row for as long as it lives; unique.
        empty: text without rows: why, and what to do. It may have several lines.
        view: gives the state, the time and whether amounts are masked, for the cells.
        id: Textual's id.
        classes: Textual's classes.
    """

    # Dragging over rows selects no text: a double click opens a row instead.
    ALLOW_SELECT: ClassVar[bool] = False

    DEFAULT_CSS: ClassVar[str] = """
    RecordView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    empty: var[str] = var("")
    """Text in place of rows."""

    glowing: var[bool] = var(default=True)
    """Whether changed cells glow; they do not if the app's animations are off either."""

    is_styled_by_focus: bool = False
    """Whether a style sheet has a rule for its focus. Looking for one takes longer than to paint
    the table."""

    shows_title: var[bool] = var(default=False)
    """Whether the last line has the whole title of the row under the cursor, from `title_of`."""

    text_min: int | None = None
    """Cells of the flexible column before columns of a tier are shown; None: its least width."""

    text_max: int | None = None
    """Its cells at most; None: all that the others leave."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        key: Callable[[R], str],
        empty: str,
        *,
        view: Callable[[], ViewContext],
        id: str | None = None,  # noqa: A002 - Textual's own word
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(RecordView.empty, empty)
        self.columns = tuple(columns)
        self._order = RowOrder(key)
        self._sort: Column[R] | None = None
        self._falls = False
        self._paint = Paint(self)
        self._view = view
        self.title_of: Callable[[R], str] | None = None
        self._titled = ""
        self._drawn_text: str | None = None
        """The text in place of rows, as last painted; None before."""
        self._seen = view()
        self._lines = TableLines(self.columns, self._paint, view)
        self.column_choices: tuple[ColumnChoice, ...] = ()
        """What the person chose of the columns; empty for the usual ones."""
        self._resting: Timer | None = None
        self._unseen: set[str] = set()
        self._above = 0
        self._noted = ""

    @property
    def order(self) -> RowOrder[R]:
        """The rows in their order, the cursor and the marks; read only."""
        return self._order

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows instead of the former ones; cursor, sort, filter and marks stay.

        The sequence is kept, not copied: pass a tuple.
        """
        before, known = self._visible_lines(), self._order.keys
        self._change(lambda: self._order.replace(rows))
        self._keep_unseen(known)
        self._lines.forget()
        self._light(before)
        self._repaint(before)
        self._mark_seen()
        if self._measured():
            self.refresh()

    def _measured(self) -> bool:
        """True if visible rows need wider columns than the last layout has."""
        order = self._order
        return self._lines.measure((order.key_at(index), order[index]) for index in self._visible())

    def redraw(self) -> None:
        """Lay out the visible rows again, for cells that depend on time, privacy or a star.

        Only lines whose text then differs are painted again.
        """
        before = self._visible_lines()
        self._lines.forget()
        self._repaint(before)

    def choose_columns(self, choices: Sequence[ColumnChoice]) -> None:
        """Show the columns that a person chose, in that order; none are the usual ones."""
        self.column_choices = tuple(choices)
        self._lines.use(arranged(self.columns, self.column_choices))
        self.refresh()

    def sort_by(self, column_id: str | None, *, falling: bool | None = None) -> None:
        """Sort the rows by a column; None, or one that is not sortable: in the given order.

        `falling` None is the column's own first direction: numbers from the largest down.
        """
        named = (each for each in self.columns if each.id == column_id and each.sort_key)
        self._sort = column = next(named, None)
        self._falls = (column is not None and column.numeric) if falling is None else falling
        rank = None if column is None else self._rank(column)
        self._change(lambda: self._order.sort(rank, reverse=self._falls))
        self.refresh()

    def filter(self, keep: Callable[[R], bool] | None) -> None:
        """Show only the rows that match a predicate; None shows all."""
        self._change(lambda: self._order.filter(keep))
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region; colours and widths are looked up once for all of them."""
        if self._paint.prepare():
            self._lines.recolour()
        width = self.size.width
        inner = width - self.scrollbar_gutter.width
        if self._measured() and crop.height < self.size.height:
            # The other lines have to keep up with these.
            self.call_later(self.refresh)
        self._lines.lay_out(inner, width, self.text_min, self.text_max)
        if self.styles.gutter:
            return super().render_lines(crop)
        # Without border and padding, the lines need none of Textual's own styling.
        strips = [self.render_line(y) for y in crop.line_range]
        ground = self.background_colors[1]
        for each in self.get_line_filters():
            strips = [strip.apply_filter(each, ground) for strip in strips]
        if crop.column_span != (0, width):
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One line of the widget: the header, a row, or a line of the empty table's text."""
        order, lines = self._order, self._lines
        if self._has_title_line and y == self.size.height - 1:
            self._titled = self._title_of_cursor()
            return lines.title(self._titled)
        if y == 0:
            note = self._noted = self._note()
            sort = None if self._sort is None else self._sort.id
            return lines.header(sort, falling=self._falls, note=note)
        index = self._top + y - 1
        if 0 <= index < len(order):
            return lines.row(order.key_at(index), order[index], self._row_state(index))
        if len(order):
            return lines.blank()
        self._drawn_text = self.no_row_text
        return lines.text_line(self._drawn_text, y - 1, self._page)

    @property
    def no_row_text(self) -> str:
        """Why no row is shown: the filter hides all of them, or there are none."""
        total = self._order.total
        return with_keys(HIDDEN).replace("{total}", f"{total:,}") if total else self.empty

    def watch_has_focus(self, _has_focus: bool) -> None:  # noqa: FBT001 - Textual's own signature
        """Apply the styles again, if any rule depends on the focus."""
        if self.is_styled_by_focus:
            super().watch_has_focus(_has_focus)

    def watch_empty(self) -> None:
        """Show the new text."""
        self.refresh()

    def watch_shows_title(self) -> None:
        """Make room for the line, or give its room to the rows."""
        self._change(lambda: None)
        self.refresh()

    @property
    def _has_title_line(self) -> bool:
        return self.shows_title and self.title_of is not None and self.size.height > TITLE_FROM

    def _title_of_cursor(self) -> str:
        row = self._order.selected()
        return "" if row is None or self.title_of is None else self.title_of(row)

    def _refresh_title(self) -> None:
        if self._has_title_line and self._title_of_cursor() != self._titled:
            self.refresh_line(self.size.height - 1 + self._top)

    @on(events.Focus)
    @on(events.Blur)
    def _focus_changed(self) -> None:
        self._refresh_row(self._order.index)

    @on(events.Resize)
    def _resized(self) -> None:
        self._follow()

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    @property
    def _page(self) -> int:
        return max(1, self.size.height - 1 - self._has_title_line)

    def _visible(self) -> range:
        return range(self._top, min(len(self._order), self._top + self._page))

    def _scroll(self, y: int) -> None:
        if self.size:
            self.scroll_to(y=y, animate=False, force=True)

    def _follow(self) -> None:
        """Scroll until the cursor is visible."""
        index, top, page = self._order.index, self._top, self._page
        if index is not None and not top <= index < top + page:
            self._scroll(index if index < top else index - page + 1)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Count the unseen rows above again, besides Textual's own work."""
        super().watch_scroll_y(old_value, new_value)
        self._mark_seen()

    def _rank(self, column: Column[R]) -> Callable[[R], Rank | None] | None:
        key = column.sort_key
        return None if key is None else lambda row: key(row, self._seen)

    def _keep_unseen(self, known: Sequence[str]) -> None:
        """Keep which rows came in since they were last visible; another list has none."""
        keys = self._order.keys
        if known is keys or known == keys:
            return
        now, before = set(keys), set(known)
        is_same_list = not before.isdisjoint(now)
        self._unseen = (self._unseen & now) | (now - before) if is_same_list else set()

    def _mark_seen(self) -> None:
        """Mark visible rows as seen; count the unseen rows above them."""
        above = 0
        if self._unseen and self.size:
            key_at = self._order.key_at
            self._unseen.difference_update(map(key_at, self._visible()))
            top = min(self._top, len(self._order))
            above = sum(key_at(index) in self._unseen for index in range(top))
        self._above = above
        self._refresh_note()

    def _note(self) -> str:
        """The note in the line of titles: on new rows above, else on marked ones."""
        if self._above:
            return ABOVE.format(count=self._above)
        marked = len(self._order.marked)
        return MARKED.format(count=marked) if marked else ""

    def _refresh_note(self) -> None:
        if self._note() != self._noted:
            self.refresh_line(self._top)

    def see_all(self) -> None:
        """Count no present row as new: another filter has brought them."""
        self._unseen.clear()
        self._mark_seen()

    def _change(self, change: Callable[[], None]) -> None:
        """Change the order, and keep the viewed rows in their place on the screen."""
        order, visible = self._order, self._visible()
        anchor = order.index if order.index in visible else next(iter(visible), None)
        key = None if anchor is None else order.key_at(anchor)
        # Called once, not for each of thousands of rows.
        self._seen = self._view()
        change()
        self.virtual_size = Size(1, len(order) + 1 + self._has_title_line)
        place = None if key is None else order.index_of(key)
        y = self._top
        if anchor is not None and place is not None:
            # At the top new rows are shown, as long as the kept row stays visible.
            stays = visible.start == 0 and place < self._page
            y = 0 if stays else place - (anchor - visible.start)
        self._scroll(y)

    def _row_state(self, index: int) -> RowState:
        order = self._order
        here, is_marked = index == order.index, order.key_at(index) in order.marked
        return RowState(here, here and self.has_focus, is_marked)

    def _drawn_from(self, index: int) -> tuple[str, RowState, object]:
        key = self._order.key_at(index)
        return key, self._row_state(index), self._lines.glow.get(key)

    def _visible_lines(self) -> list[_VisibleLine[R]]:
        """The visible lines that have been drawn."""
        drawn_from = [self._drawn_from(index) for index in self._visible()]
        return [_VisibleLine(each[0], self._lines.kept(each[0]), each) for each in drawn_from]

    def _repaint(self, before: Sequence[_VisibleLine[R]]) -> None:
        """Paint the lines again that differ from the former ones."""
        order, visible = self._order, self._visible()
        if not before and not visible and self.no_row_text == self._drawn_text:
            return
        if not before or len(before) != len(visible):
            self.refresh()
            return
        self._refresh_title()
        for line, (was, index) in enumerate(zip(before, visible, strict=True), start=1):
            cells = self._lines.laid(order.key_at(index), order[index]).cells
            if (
                was.laid is None
                or was.laid.cells != cells
                or was.drawn_from != self._drawn_from(index)
            ):
                self.refresh(Region(0, line, self.size.width, 1))

    def _refresh_row(self, index: int | None) -> None:
        if index is not None:
            self.refresh_line(index + 1)
        self._refresh_title()

    def _light(self, before: Sequence[_VisibleLine[R]]) -> None:
        """Let changed cells glow in rows that were visible before."""
        if not before or not self.glowing or not self._paint.is_animated:
            return
        order = self._order
        old = {line_.key: line_.laid for line_ in before if line_.laid is not None}
        rows = [(order.key_at(index), order[index]) for index in self._visible()]
        changes = self._lines.changes(old, rows)
        if changes:
            self._lines.glow = changes
            if self._resting is not None:
                self._resting.stop()
            self._resting = self.set_timer(GLOW_S, self._rest)

    def _rest(self) -> None:
        before = self._visible_lines()
        self._lines.glow, self._resting = {}, None
        self._repaint(before)
