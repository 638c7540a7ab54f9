"""Labelled numbers in columns, and titled blocks, as Text.

Knows Rich's Text. Must not know what the numbers mean.
Used by the order ticket, the detail panes and the line of figures.
"""

from collections.abc import Sequence
from typing import Final

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

Figure = tuple[str, Text]
"""A label and its value."""


def figures(shown: Sequence[Figure], *, across: int, width: int) -> Text:
    """Labels on the left, values right-aligned, `across` pairs a line, `width` cells wide."""
    cell = max(1, (width - _GAP * (across - 1)) // across)
    lines = [
        Text(" " * _GAP).join(_cell(figure, cell) for figure in shown[start : start + across])
        for start in range(0, len(shown), across)
    ]
    return Text("\n").join(lines)


def section(title: str, body: Text) -> Text:
    """A block under its title."""
    return Text.assemble((title, "bold heading"), "\n", body)


def large(number: str, ink: str, beside: Sequence[Text]) -> Text:
    """A number three lines high, with a line of text beside each; other letters stay small."""
    lines: list[Text] = []
    for row, told in enumerate(beside[:3]):
        glyphs = (_LARGE.get(letter, (" ", letter, " "))[row] for letter in number)
        lines.append(Text.assemble(("".join(glyphs), ink), "   ", told))
    return Text("\n").join(lines)


def _cell(figure: Figure, width: int) -> Text:
    label, value = figure
    cell = Text.assemble((label, "muted"))
    cell.append(" " * max(1, width - cell.cell_len - value.cell_len))
    cell.append_text(value)
    cell.truncate(width, overflow="ellipsis", pad=True)
    return cell
