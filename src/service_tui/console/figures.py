"""Labelled numbers in columns or lines, and titled blocks, as Text."""

import textwrap
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

_GAP: Final = 3
"""Cells between two columns of figures."""

_LARGE: Final = {
    "0": ("┏━┓", "┃ ┃", "┗━┛"),
    "1": ("╺┓ ", " ┃ ", "╺┻╸"),
    "2": ("╺━┓", "┏━┛", "┗━╸"),
    "3": ("╺━┓", " ━┫", "╺━┛"),
    "4": ("╻ ╻", "┗━┫", "  ╹"),
    "5": ("┏━╸", "┗━┓", "╺━┛"),
    "6": ("┏━╸", "┣━┓", "┗━┛"),
    "7": ("╺━┓", "  ┃", "  ╹"),
    "8": ("┏━┓", "┣━┫", "┗━┛"),
    "9": ("┏━┓", "┗━┫", "╺━┛"),
    ".": (" ", " ", "."),
}
"""Digits three lines high, of box-drawing characters that every font has."""

_BESIDE: Final = "   "
"""Gap between a large number and the text beside it."""

LABEL_CELLS: Final = 12
"""Cells of the labels of `labelled`."""

_NARROWEST: Final = 24
"""Least cells of a value before it is broken."""

Figure = tuple[str, Text]
"""A label and its value."""


def figures(shown: Sequence[Figure], *, across: int, width: int) -> Text:
    """Labels on the left, values right-aligned, `across` pairs a line, `width` cells wide."""
    cell = _cell_width(across, width)
    lines = [
        Text(" " * _GAP).join(_cell(figure, cell) for figure in shown[start : start + across])
        for start in range(0, len(shown), across)
    ]
    return Text("\n").join(lines)


def fits(shown: Sequence[Figure], *, across: int, width: int) -> bool:
    """True if no label of these figures is cut in such lines."""
    cell = _cell_width(across, width)
    return all(cell_len(label) + 1 + value.cell_len <= cell for label, value in shown)


def _cell_width(across: int, width: int) -> int:
    return max(1, (width - _GAP * (across - 1)) // across)


def labelled(lines: Sequence[Figure], width: int = LABEL_CELLS) -> Text:
    """Labels in `width` cells on the left, values beside them, one a line."""
    return Text("\n").join(
        Text.assemble((label.ljust(width), "muted"), value) for label, value in lines
    )


def hanging(text: str, width: int, indent: int = LABEL_CELLS) -> Text:
    """A value that continues below itself, beside its label; text without gaps breaks anywhere."""
    lines = textwrap.wrap(text, max(_NARROWEST, width - indent), break_on_hyphens=False) or [""]
    return Text(("\n" + " " * indent).join(lines))


def section(title: str, body: Text) -> Text:
    """A block under its title."""
    return Text.assemble((title, "bold heading"), "\n", body)


def large(number: str, ink: str, beside: Sequence[Text], width: int = 0) -> Text:
    """A number three lines high, with a line of text beside each; other letters stay small.

    Args:
        number: the large text.
        ink: its tone.
        beside: three lines at most.
        width: cells of a line; if number and text are wider, the text goes below, so that no line
        of the number is broken. 0: there is room.

    Returns:
        Three lines, or those of the text below them.
    """
    glyphs = [_LARGE.get(letter, (" ", letter, " ")) for letter in number]
    rows = [Text("".join(glyph[row] for glyph in glyphs), ink) for row in range(3)]
    widest = max((text.cell_len for text in beside[:3]), default=0)
    if width and rows[0].cell_len + len(_BESIDE) + widest > width:
        return Text("\n").join((*rows, *beside[:3]))
    shown = zip(rows, beside[:3], strict=False)
    return Text("\n").join(Text.assemble(row, _BESIDE, text) for row, text in shown)


def _cell(figure: Figure, width: int) -> Text:
    label, value = figure
    cell = Text.assemble((label, "muted"))
    # A cut label can be guessed, a cut figure cannot.
    cell.truncate(max(1, width - value.cell_len - 1), overflow="ellipsis")
    cell.append(" " * max(1, width - cell.cell_len - value.cell_len))
    cell.append_text(value)
    cell.truncate(width, overflow="ellipsis", pad=True)
    return cell
