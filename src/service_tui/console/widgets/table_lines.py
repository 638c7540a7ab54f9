"""The lines of a table: header, rows and the text of an empty one, as strips of segments.

A row's cells are laid out once and kept until `forget`; a line with the same text, state and
glow is not drawn a second time.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import (
    GAP,
    GUTTER,
    Column,
    Piece,
    Placed,
    fitted,
    fitted_line,
    placed,
)
from service_tui.console.widgets.paint import Paint

R = TypeVar("R")

KEPT_MAX: Final = 2_000
"""Rows whose layout is kept; some screens full, so that scrolling back costs nothing."""

DRAWN_MAX: Final = 400
"""Rows whose line is kept: a few screens full, each some kilobytes."""

_BLANKS: Final = re.compile(r" +")
_BAR: Final = "▌"
_MARK: Final = "•"
_GAP: Final = " " * GAP
_ARROWS: Final[Mapping[bool, str]] = {False: "↑", True: "↓"}
"""Arrows by whether the order falls."""


Glow: TypeAlias = Mapping[str, Mapping[str, str]]
"""Grounds of the cells that glow, by row key and column id."""


@dataclass(frozen=True, slots=True)
class Laid(Generic[R]):
    """The layout of a row: the text of each column shown, and its pieces."""

    row: R
    texts: tuple[Text | str, ...]
    cells: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, slots=True)
class RowState:
    """State of a row, drawn under it and left of it."""

    has_cursor: bool = False
    has_focus: bool = False
    is_marked: bool = False

    @property
    def paper(self) -> str:
        """Name of the ground under the row."""
        if self.has_cursor:
            return "row-cursor" if self.has_focus else "row-cursor-blurred"
        return "row-mark" if self.is_marked else ""

    @property
    def bar(self) -> str:
        """The first cell, with the same meaning as the ground, without colour."""
        return _BAR if self.has_cursor else " "

    @property
    def mark(self) -> str:
        """The second cell; a mark covers the row's sign."""
        return _MARK if self.is_marked else " "


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A line, and everything it was drawn from."""

    cells: tuple[tuple[Piece, ...], ...]
    state: RowState
    glow: Mapping[str, str]
    strip: Strip


_NO_GLOW: Final[Mapping[str, str]] = {}


class TableLines(Generic[R]):  # noqa: PLR0904 - it measures, lays out and draws
    """Draws the lines of one table in its present width."""

    def __init__(
        self, columns: Sequence[Column[R]], paint: Paint, view: Callable[[], ViewContext]
    ) -> None:
        self._columns = columns
        self._view = view
        self._paint = paint
        self._room: tuple[int, int, int | None, int | None] = 0, 0, None, None
        self._fitting = tuple(column for column in columns if column.fits)
        self._longest: dict[str, int] = {}
        self._measured: dict[str, R] = {}
        self._is_outgrown = False
        self._laid: dict[str, Laid[R]] = {}
        self._former: dict[str, Laid[R]] = {}
        self._was_masked = False
        self._drawn: dict[str, _Drawn] = {}
        self.placed: tuple[Placed[R], ...] = ()
        self.glow: Glow = {}

    def use(self, columns: Sequence[Column[R]]) -> None:
        """Draw these columns instead of the former ones, from the next layout on."""
        self._columns = columns
        self._fitting = tuple(column for column in columns if column.fits)
        self._measured.clear()
        self._is_outgrown = True
        self.forget()

    def lay_out(
        self, width: int, outer: int, text: int | None = None, text_max: int | None = None
    ) -> None:
        """Choose and place the columns for a width, within a table that is `outer` wide.

        Args:
            width: cells available.
            outer: cells of the whole table.
            text: cells of the flexible column before columns of a tier are shown.
            text_max: its cells at most.
        """
        if (width, outer, text, text_max) != self._room or self._is_outgrown:
            self._room = width, outer, text, text_max
            self._is_outgrown = False
            self.placed = placed(
                self._columns,
                width,
                outer=outer,
                text=text,
                text_max=text_max,
                longest=self._longest,
            )
            self._laid.clear()
            self._former.clear()
            self.recolour()

    def measure(self, rows: Iterable[tuple[str, R]]) -> bool:
        """Make room in the columns that fit their texts; a column that has grown stays so wide.

        Args:
            rows: the rows about to be shown, with their keys.

        Returns:
            True if the next layout differs: every line is to be painted again.
        """
        if not self._fitting:
            return False
        view = self._view()
        for key, row in rows:
            if self._measured.get(key) is row:
                continue
            if len(self._measured) >= KEPT_MAX:
                self._measured.clear()
            self._measured[key] = row
            for column in self._fitting:
                cell = column.cell(row, view)
                length = cell_len(cell if isinstance(cell, str) else cell.plain)
                if length > self._longest.get(column.id, 0):
                    self._longest[column.id] = length
                    self._is_outgrown = True
        return self._is_outgrown

    def recolour(self) -> None:
        """Forget every drawn line, as the colours have changed."""
        self._drawn.clear()

    def forget(self) -> None:
        """Write every row anew at its next use; cells stay where their text or their row does."""
        if self._laid:
            self._former, self._laid = self._laid, {}

    def kept(self, key: str) -> Laid[R] | None:
        """The layout of a row, if it is still kept."""
        return self._laid.get(key)

    def laid(self, key: str, row: R) -> Laid[R]:
        """The layout of a row, made now if needed."""
        laid = self._laid.get(key)
        if laid is None:
            if len(self._laid) >= KEPT_MAX:
                self._laid.clear()
            laid = self._laid[key] = self._laid_out(key, row)
        return laid

    def _laid_out(self, key: str, row: R) -> Laid[R]:
        view = self._view()
        if view.masked != self._was_masked:
            self._was_masked = view.masked
            self._former.clear()
        former = self._former.get(key)
        is_same_row = former is not None and former.row is row
        texts: list[Text | str] = []
        cells: list[tuple[Piece, ...]] = []
        for index, place in enumerate(self.placed):
            column = place.column
            if former is not None and is_same_row and column.of_row:
                text, cell = former.texts[index], former.cells[index]
            else:
                text = column.text_in(row, view, place.width)
                # To fit a text costs more than to write it, and most are as they were.
                cell = (
                    former.cells[index]
                    if former is not None and _are_equal(text, former.texts[index])
                    else fitted(
                        text, place.width, right=column.is_right, keeps_end=column.keeps_end
                    )
                )
            texts.append(text)
            cells.append(cell)
        return Laid(row, tuple(texts), tuple(cells))

    def changes(self, before: Mapping[str, Laid[R]], rows: Iterable[tuple[str, R]]) -> Glow:
        """The cells whose text changed, and the ground for the direction of the change.

        Args:
            before: layouts of these or other rows by key.
            rows: the rows now, with their keys.

        Returns:
            By row key and column id: `glow-up`, `glow-down`, or `glow` for texts.
        """
        result: dict[str, dict[str, str]] = {}
        for key, row in rows:
            old = before.get(key)
            if old is None or old.row is row:
                continue
            new = self.laid(key, row)
            for place, was, now in zip(self.placed, old.cells, new.cells, strict=True):
                if place.column.glows and was != now:
                    paper = _direction(place.column, old.row, row, self._view())
                    result.setdefault(key, {})[place.column.id] = paper
        return result

    def header(self, sort: str | None, *, falling: bool, note: str = "") -> Strip:
        """The titles, the sorted one with its arrow beside it; a note where no title stands."""
        segments: list[Segment] = []
        at = 0
        for place in self.placed:
            column, left, width = place.column, place.left, place.width
            title, ink = column.title, "heading"
            if column.id == sort:
                arrow, ink, width = _ARROWS[falling], "bold accent", width + 1
                title = arrow + title if column.is_right else title + arrow
                left -= column.is_right
            title = fitted_line(title, width, right=column.is_right)
            segments.append(Segment(" " * (left - at) + title, self._paint.style(ink)))
            at = left + width
        line = self._filled(segments, self._paint.style("heading"), at)
        return self._with_note(line, note) if note else line

    def _with_note(self, line: Strip, note: str) -> Strip:
        """The titles with a note in their largest gap: whole, short, or as its sign alone."""
        start, shown = note_place(note, line.text[: self._room[0]])
        text = Strip([Segment(shown, self._paint.style("bold accent"))], len(shown))
        end = start + len(shown)
        return Strip.join((line.crop(0, start), text, line.crop(end, self._room[1])))

    def row(self, key: str, row: R, state: RowState) -> Strip:
        """One row."""
        cells, glow = self.laid(key, row).cells, self.glow.get(key, _NO_GLOW)
        drawn = self._drawn.get(key)
        if drawn is None or (drawn.cells, drawn.state, drawn.glow) != (cells, state, glow):
            if len(self._drawn) >= DRAWN_MAX:
                self._drawn.clear()
            drawn = _Drawn(cells, state, glow, self._row(cells, state, glow))
            self._drawn[key] = drawn
        return drawn.strip

    def _row(
        self,
        cells: tuple[tuple[Piece, ...], ...],
        state: RowState,
        glow: Mapping[str, str],
    ) -> Strip:
        paper, style = state.paper, self._paint.style
        plain = style("", paper)
        segments: list[Segment] = []
        signed = bool(self.placed) and self.placed[0].column.in_gutter and not state.is_marked
        text, ink = state.bar + ("" if signed else state.mark), style("accent", paper)
        at = GUTTER
        for place, cell in zip(self.placed, cells, strict=True):
            if place.column.in_gutter and not signed:
                continue
            # The cursor's own ground wins over a glow, or the cursor would seem to have holes.
            under = paper or glow.get(place.column.id, "")
            gap = "" if place.column.in_gutter else _GAP
            for piece, name in (
                *((piece, style(name, under)) for piece, name in cell),
                (gap, plain),
            ):
                # Neighbours of one style are one run: less output for the terminal.
                if name is ink:
                    text += piece
                else:
                    segments.append(Segment(text, ink))
                    text, ink = piece, name
            at = place.left + place.width + len(gap)
        segments.append(Segment(text, ink))
        return self._filled(segments, plain, at)

    def text_line(self, text: str, line: int, height: int) -> Strip:
        """A line of a quiet text in the middle of an empty table."""
        style = self._paint.style("muted")
        lines = _wrapped(text, max(1, self._room[0] - 2 * GUTTER))
        place = line - max(0, (height - len(lines)) // 3)
        if not 0 <= place < len(lines):
            return self.blank()
        return self._filled(
            [Segment(lines[place].center(self._room[0]), style)], style, self._room[0]
        )

    def title(self, text: str) -> Strip:
        """The line below the rows, with the whole title of one of them."""
        style = self._paint.style("", "row-mark")
        room = max(0, self._room[0] - GUTTER)
        shown = "".join(piece for piece, _ in fitted(text, room, right=False, keeps_end=True))
        return self._filled([Segment(" " * GUTTER + shown, style)], style, GUTTER + room)

    def blank(self) -> Strip:
        """A line below the last row."""
        return self._filled([], self._paint.style(), 0)

    def _filled(self, segments: Sequence[Segment], style: Style, length: int) -> Strip:
        line = Strip(segments, length).adjust_cell_length(self._room[0], style)
        # Where the scroll bar would be only the ground is drawn.
        return line.adjust_cell_length(self._room[1], self._paint.ground)


def _are_equal(text: Text | str, other: Text | str) -> bool:
    """Whether two texts are drawn alike; Rich compares no style of a whole text."""
    if isinstance(text, str) or isinstance(other, str):
        return type(text) is type(other) and text == other
    return text.plain == other.plain and text.style == other.style and text.spans == other.spans


def note_place(note: str, titles: str) -> tuple[int, str]:
    """Where a note hides no title, and as much of it as has room there.

    Returns:
        Its first cell and its text; without any room its sign, left of the titles.
    """
    gap = max(_BLANKS.finditer(titles, GUTTER), key=lambda one: len(one[0]), default=None)
    short = f" {''.join(note.split()[:2])} "
    for text in (note, short):
        if gap is not None and len(text) <= len(gap[0]):
            return gap.end() - len(text), text
    return 0, note.split(maxsplit=1)[0][:GUTTER]


def _direction(column: Column[R], was: R, now: R, view: ViewContext) -> str:
    if column.sort_key is None:
        return "glow"
    before, after = column.sort_key(was, view), column.sort_key(now, view)
    if isinstance(before, str) or isinstance(after, str) or before is None or after is None:
        return "glow"
    by = float(after) - float(before)
    return "glow-up" if by > 0 else "glow-down" if by < 0 else "glow"


def _wrapped(text: str, width: int) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, width) or [""]]
