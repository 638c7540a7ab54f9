"""Columns of a table: content and width of cells, and the cutting of text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.row_order import Rank

Row = TypeVar("Row")
Row_contra = TypeVar("Row_contra", contravariant=True)
"""The row type of a column: one that shows any row shows those of a subtype as well."""

GAP: Final = 2
"""Blank cells between columns."""

GUTTER: Final = 2
"""Cells left of the first column: the cursor's bar, and the mark or the row's sign."""

TABLE_MAX: Final = 140
"""Cells beyond which a table grows by further columns only. Source: ux, "Looks"."""

_NAME_WHOLE: Final = 72
"""Cells in which a name is whole, as a rule."""

SENTENCE_WHOLE: Final = 120
"""Cells in which a sentence is whole, as a rule."""

_SENTENCE_MIN: Final = 24
"""Cells from which a text is cut at the end of a word, if one is near."""

FLEX_LEFT_MIN: Final = 8
"""Narrowest useful cut of the flexible column, when a table is squeezed below all its tiers."""

_MIDDLE_MIN: Final = 20
"""Cells from which a text can be cut in the middle and both of its ends are still readable."""

_WORD_MAX: Final = 8
"""Cells that each part of a cut text gives up so that it has whole words."""

Ink: TypeAlias = str | Style
"""A name of a meaning, such as `profit`; empty is plain text."""

Piece: TypeAlias = tuple[str, Ink]
"""A run of characters in one ink."""


# No slots: `Column[Row](...)` sets an attribute, which Python 3.11 cannot refuse on frozen slots.
@dataclass(frozen=True)
class Column(Generic[Row_contra]):
    """One column of a table.

    Args:
        id: its name in a saved state and in a filter, `price`.
        title: its header, with the unit.
        width: cells; for the flexible column the least it needs.
        cell: the text of a row, given the state, the time and whether amounts are masked; a
        str is plain text, and markup is read in neither.
        sort_key: the value by which rows are sorted; None: not sortable. A row's None comes last.
        numeric: right-aligned; the first sort puts the largest on top.
        align: `right` for texts such as ages that are aligned like numbers.
        flex: takes the room that the others leave; the first such column of a table.
        tier: least width of the table, in cells, at which the column is shown; 0: always.
        glows: whether a change of the text is worth a glow; not for ages and sparklines.
        keeps_end: whether a text that is too long is cut in its middle: its end distinguishes rows.
        shorter: the text of a row whose `cell` has no room; it is cut as that would be.
        in_gutter: a sign of one cell beside the cursor's bar; of the first column alone.
        wide: least width of the table from which the column is wider, and its cells then.
        of_row: the cell depends on the row and on masking alone: it is laid out once a row.
        fits: as wide as its longest cell so far, at most `width`: the flexible one has the rest.
        whole: cells that the flexible column takes even where the table is wide enough for the eye.
    """

    id: str
    title: str
    width: int
    cell: Callable[[Row_contra, ViewContext], Text | str]
    sort_key: Callable[[Row_contra, ViewContext], Rank | None] | None = None
    numeric: bool = False
    align: Literal["left", "right"] = "left"
    flex: bool = False
    tier: int = 0
    glows: bool = True
    keeps_end: bool = False
    shorter: Callable[[Row_contra, ViewContext], Text | str] | None = None
    in_gutter: bool = False
    wide: tuple[int, int] | None = None
    of_row: bool = False
    fits: bool = False
    whole: int = _NAME_WHOLE

    def width_in(self, table: int, longest: int | None = None) -> int:
        """The cells that the column needs in a table of a width.

        Args:
            table: cells of the table.
            longest: cells of the longest text in a column that `fits`; None: not known.
        """
        width = self.width if self.wide is None or table < self.wide[0] else self.wide[1]
        return width if longest is None else min(width, max(longest, cell_len(self.title)))

    def text_in(self, row: Row_contra, view: ViewContext, width: int) -> Text | str:
        """The text of a row for so many cells; it may be longer."""
        cell = self.cell(row, view)
        plain = cell if isinstance(cell, str) else cell.plain
        if self.shorter is None or cell_len(plain) <= width:
            return cell
        return self.shorter(row, view)

    @property
    def is_right(self) -> bool:
        """True if texts end at the column's right edge."""
        return self.numeric or self.align == "right"


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """What a person chose of a column: shown at any width, never, or with None as there is room."""

    id: str
    shown: bool | None = None


def whole_order(
    columns: Sequence[Column[Row]], choices: Sequence[ColumnChoice]
) -> tuple[Column[Row], ...]:
    """Every column in a person's order; a sign in the gutter first.

    A column that was not there when they were chosen stands behind its usual neighbour.
    """
    by_id = {column.id: column for column in columns if not column.in_gutter}
    order = list(dict.fromkeys(choice.id for choice in choices if choice.id in by_id))
    before = ""
    for name in by_id:
        if name not in order:
            order.insert(order.index(before) + 1 if before else 0, name)
        before = name
    signs = (column for column in columns if column.in_gutter)
    return (*signs, *(by_id[name] for name in order))


def arranged(
    columns: Sequence[Column[Row]], choices: Sequence[ColumnChoice]
) -> tuple[Column[Row], ...]:
    """The columns in a person's order, without those that are never shown.

    The flexible column stays, whatever was chosen: a row is known by it.
    """
    shown = {choice.id: choice.shown for choice in choices}
    return tuple(
        replace(column, tier=0) if shown.get(column.id) and column.tier else column
        for column in whole_order(columns, choices)
        if column.flex or shown.get(column.id) is not False
    )


@dataclass(frozen=True, slots=True)
class Placed(Generic[Row]):
    """A displayed column, with its first cell and its width."""

    column: Column[Row]
    left: int
    width: int


def placed(
    columns: Sequence[Column[Row]],
    width: int,
    *,
    outer: int | None = None,
    text: int | None = None,
    text_max: int | None = None,
    longest: Mapping[str, int] | None = None,
) -> tuple[Placed[Row], ...]:
    """The columns that fit into a table of a width, with their places.

    Args:
        columns: from left to right.
        width: cells available.
        outer: cells of the whole table, to which the tiers refer; None: the same.
        text: cells that the flexible column takes before columns of a tier are shown; None: its
        least width.
        text_max: cells that it takes at most; None: all that the others leave.
        longest: cells of the longest text in each column that `fits`, by its id.

    Returns:
        Columns of a tier above the width are left out, then, while there is no room, those of the
        highest tier, the rightmost first; of tier 0 the flexible one shrinks, the last ones go.
    """
    table = outer or width
    known = longest or {}
    shown = [column for column in columns if column.tier <= table]
    while (highest := max((c.tier for c in shown), default=0)) and _needed(
        shown, table, known
    ) > width:
        last = max(place for place, column in enumerate(shown) if column.tier == highest)
        del shown[last]
    while (highest := max((c.tier for c in shown), default=0)) and (
        _needed(shown, table, known, text) > width
    ):
        last = max(place for place, column in enumerate(shown) if column.tier == highest)
        del shown[last]
    while len(shown) > 1 and _needed(shown, table, known, FLEX_LEFT_MIN) > width:
        del shown[max(place for place, column in enumerate(shown) if not column.flex)]
    flexible = next((column for column in shown if column.flex), None)
    needed = _needed(shown, table, known)
    least = 0 if flexible is None else flexible.width_in(table, known.get(flexible.id))
    # No further than the eye follows a row from its name to the figures at its end; but a name
    # that is cut has what room there is.
    enough = max(text or 0, _NAME_WHOLE if flexible is None else flexible.whole) - least
    spare = min(width - needed, max(TABLE_MAX - needed, enough, 0))
    result: list[Placed[Row]] = []
    left = GUTTER
    for column in shown:
        wide = column.width_in(table, known.get(column.id))
        if column is flexible:
            wide = max(1, wide + spare)
        if column.in_gutter:
            result.append(Placed(column, GUTTER - 1, 1))
            continue
        if column is flexible and text_max is not None:
            wide = min(wide, text_max)
        result.append(Placed(column, left, wide))
        left += wide + GAP
    return tuple(result)


def fitted(
    cell: Text | str, width: int, *, right: bool, keeps_end: bool = False
) -> tuple[Piece, ...]:
    """A cell's text in exactly `width` cells, cut with an ellipsis where it is longer.

    Args:
        cell: the text.
        width: cells.
        right: whether it is aligned with the right edge.
        keeps_end: whether it is cut in the middle.
    """
    if isinstance(cell, str):
        cell = Text(cell)
    if not cell.spans and not keeps_end:
        return ((fitted_line(cell.plain, width, right=right), cell.style),)
    pieces = (_cut_middle if keeps_end else _cut)(_pieces(cell), width)
    blank = width - sum(cell_len(text) for text, _ in pieces)
    padding: tuple[Piece, ...] = ((" " * blank, ""),) if blank else ()
    return padding + pieces if right else pieces + padding


def fitted_line(text: str, width: int, *, right: bool = False) -> str:
    """Plain text in exactly `width` cells; a letter of two cells is never halved."""
    text = one_line(text)
    length = len(text) if text.isascii() else cell_len(text)
    if length > width:
        return _shortened(text, width)
    blank = " " * (width - length)
    return blank + text if right else text + blank


def one_line(text: str) -> str:
    """The text on one line: breaks, tabs and controls become blanks."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _needed(
    columns: Sequence[Column[Row]],
    table: int,
    longest: Mapping[str, int],
    flex_width: int | None = None,
) -> int:
    widths = [
        flex_width
        if flex_width is not None and column.flex
        else column.width_in(table, longest.get(column.id))
        for column in columns
        if not column.in_gutter
    ]
    return GUTTER + sum(widths) + GAP * max(0, len(widths) - 1)


def _shortened(text: str, width: int) -> str:
    if width <= 0:
        return ""
    cut = set_cell_size(text, width - 1)
    kept = cut.rstrip()
    if width >= _SENTENCE_MIN and kept == cut and not text[len(cut)].isspace():
        # The beginning of a word says little, that of a number something else.
        start = kept.rfind(" ", len(kept) - _WORD_MAX)
        kept = kept[:start].rstrip() if start > 0 else kept
    return kept + "…" + " " * (width - 1 - cell_len(kept))


def _pieces(cell: Text) -> list[Piece]:
    inks: list[Ink] = [cell.style] * len(cell.plain)
    for span in cell.spans:
        for place in range(max(0, span.start), min(span.end, len(inks))):
            inks[place] = span.style
    return list(_joined(zip(one_line(cell.plain), inks, strict=True)))


def _cut(pieces: list[Piece], width: int) -> tuple[Piece, ...]:
    if sum(cell_len(text) for text, _ in pieces) <= width:
        return tuple(pieces)
    kept: list[Piece] = []
    room = width
    for text, ink in pieces:
        length = cell_len(text)
        if length >= room:
            # An ellipsis is due even if a piece ends exactly at the edge: more follows.
            kept.append((_shortened(text + " ", room), ink))
            break
        kept.append((text, ink))
        room -= length
    return tuple(kept)


def _cut_middle(pieces: list[Piece], width: int) -> tuple[Piece, ...]:
    """The beginning and the end of a text, with an ellipsis between them."""
    if width < _MIDDLE_MIN or sum(cell_len(text) for text, _ in pieces) <= width:
        return _cut(pieces, width)
    letters = [(letter, ink) for text, ink in pieces for letter in text]
    end = _end(letters, 2 * (width - 1) // 5)
    room = width - 1 - sum(cell_len(letter) for letter, _ in end)
    kept: list[Piece] = []
    for letter, ink in letters:
        room -= cell_len(letter)
        if room < 0:
            break
        kept.append((letter, ink))
    kept = _whole_words(kept, letters)
    return _joined([*kept, ("…", kept[-1][1] if kept else ""), *end])


def _whole_words(kept: list[Piece], letters: list[Piece]) -> list[Piece]:
    """The first letters, without a word that was cut if its beginning is near."""
    if letters[len(kept)][0] != " ":
        near = range(len(kept) - 1, max(0, len(kept) - 1 - _WORD_MAX), -1)
        kept = kept[: next((place for place in near if kept[place][0] == " "), len(kept))]
    while kept and kept[-1][0] == " ":
        kept.pop()
    return kept


def _end(letters: list[Piece], width: int) -> list[Piece]:
    """The last letters, from the beginning of a word on if one is near."""
    taken = 0
    start = len(letters)
    while start and taken + cell_len(letters[start - 1][0]) <= width:
        start -= 1
        taken += cell_len(letters[start][0])
    if letters[start - 1][0] != " ":
        near = range(start, min(start + _WORD_MAX, len(letters)))
        start = next((place + 1 for place in near if letters[place][0] == " "), start)
    while start < len(letters) and letters[start][0] == " ":
        start += 1
    return letters[start:]


def _joined(letters: Iterable[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one ink as one run."""
    runs: list[Piece] = []
    for letter, ink in letters:
        if runs and runs[-1][1] == ink:
            runs[-1] = (runs[-1][0] + letter, ink)
        else:
            runs.append((letter, ink))
    return tuple(runs)
