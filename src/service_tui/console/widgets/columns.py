"""Columns of a table: content and width of cells, and the cutting of text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

GUTTER: Final = 3
"""Cells left of the first column: the cursor's bar, the mark, a blank."""

FLEX_LEFT_MIN: Final = 8
"""Narrowest useful cut of the flexible column, when a table is squeezed below all its tiers."""

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
        tier: least width of the table, in cells, at which the column is shown: 0, 80, 120, 160.
        glows: whether a change of the text is worth a glow; not for ages and sparklines.
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

    @property
    def is_right(self) -> bool:
        """True if texts end at the column's right edge."""
        return self.numeric or self.align == "right"


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
) -> tuple[Placed[Row], ...]:
    """The columns that fit into a table of a width, with their places.

    Args:
        columns: from left to right.
        width: cells available.
        outer: cells of the whole table, to which the tiers refer; None: the same.
        text: cells that the flexible column takes before columns of a tier are shown, and after
        them; None: its least width, and all that is left.

    Returns:
        Columns of a tier above the width are left out, then, while there is no room, those of the
        highest tier, the rightmost first; of tier 0 the flexible one shrinks, the last ones go.
    """
    shown = [column for column in columns if column.tier <= (outer or width)]
    while (highest := max((c.tier for c in shown), default=0)) and _needed(shown) > width:
        last = max(place for place, column in enumerate(shown) if column.tier == highest)
        del shown[last]
    while (highest := max((c.tier for c in shown), default=0)) and _needed(shown, text) > width:
        last = max(place for place, column in enumerate(shown) if column.tier == highest)
        del shown[last]
    while len(shown) > 1 and _needed(shown, FLEX_LEFT_MIN) > width:
        del shown[max(place for place, column in enumerate(shown) if not column.flex)]
    flexible = next((column for column in shown if column.flex), None)
    spare = width - _needed(shown)
    result: list[Placed[Row]] = []
    left = GUTTER
    for column in shown:
        wide = max(1, column.width + spare) if column is flexible else column.width
        if column is flexible and text is not None:
            wide = min(wide, text)
        result.append(Placed(column, left, wide))
        left += wide + GAP
    return tuple(result)


def fitted(cell: Text | str, width: int, *, right: bool) -> tuple[Piece, ...]:
    """A cell's text in exactly `width` cells, cut with an ellipsis where it is longer."""
    if isinstance(cell, str):
        return ((fitted_line(cell, width, right=right), ""),)
    if not cell.spans:
        return ((fitted_line(cell.plain, width, right=right), cell.style),)
    pieces = _cut(_pieces(cell), width)
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


def _needed(columns: Sequence[Column[Row]], flex_width: int | None = None) -> int:
    widths = [
        flex_width if flex_width is not None and column.flex else column.width for column in columns
    ]
    return GUTTER + sum(widths) + GAP * max(0, len(widths) - 1)


def _shortened(text: str, width: int) -> str:
    if width <= 0:
        return ""
    kept = set_cell_size(text, width - 1).rstrip()
    return kept + "…" + " " * (width - 1 - cell_len(kept))


def _pieces(cell: Text) -> list[Piece]:
    inks: list[Ink] = [cell.style] * len(cell.plain)
    for span in cell.spans:
        for place in range(max(0, span.start), min(span.end, len(inks))):
            inks[place] = span.style
    pieces: list[Piece] = []
    for letter, ink in zip(one_line(cell.plain), inks, strict=True):
        if pieces and pieces[-1][1] == ink:
            pieces[-1] = (pieces[-1][0] + letter, ink)
        else:
            pieces.append((letter, ink))
    return pieces


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
