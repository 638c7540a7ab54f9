"""Charts and frames of a terminal as lines: braille dots, blocks and box drawing, in SVG paths.

A font leaves gaps between such characters in a browser. Here each dot, block and arm of a line is
drawn at its exact place, and neighbours of one colour are joined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

CELL: Final = 12.2
"""Width of a character cell, as Textual exports it."""

ROW: Final = 24.4
"""Height of a row."""

TOP: Final = 1.5
"""Where the first row begins."""

_DOT: Final = CELL / 2
"""Distance between two dots of braille; a row has four."""

_DOT_WIDTH: Final = 3.0
_WIDTHS: Final = {1: 1.6, 2: 3.4}
"""Strokes of light and heavy lines."""

_BITS: Final = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""Column and row of each bit of a braille character."""

_EIGHTHS: Final[Mapping[str, tuple[int, int, int, int]]] = {
    **{chr(0x2580 + n): (0, 8 - n, 8, n) for n in range(1, 9)},
    **{chr(0x2590 - n): (0, 0, n, 8) for n in range(1, 8)},
    "▀": (0, 0, 8, 4),
    "▐": (4, 0, 4, 8),
    "▔": (0, 0, 8, 1),
    "▕": (7, 0, 1, 8),
}
"""Block characters: left, top, width and height in eighths of a cell."""

_ARMS: Final[Mapping[str, str]] = {
    "─": "lr", "│": "ud", "┌": "dr", "┐": "dl", "└": "ur", "┘": "ul", "├": "udr", "┤": "udl",
    "┬": "dlr", "┴": "ulr", "┼": "udlr", "╴": "l", "╵": "u", "╶": "r", "╷": "d",
    "━": "LR", "┃": "UD", "┏": "DR", "┓": "DL", "┗": "UR", "┛": "UL", "┣": "UDR", "┫": "UDL",
    "┳": "DLR", "┻": "ULR", "╋": "UDLR", "╸": "L", "╹": "U", "╺": "R", "╻": "D",
    "╭": "dr", "╮": "dl", "╰": "ur", "╯": "ul",
}  # fmt: skip
"""Arms of a line: up, down, left and right; capitals are heavy."""

_AROUND: Final = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
"""The eight neighbours of a dot."""

_Point = tuple[int, int]


def is_drawn(letter: str) -> bool:
    """True if a character is drawn here instead of written."""
    return "\u2800" < letter <= "\u28ff" or letter in _EIGHTHS or letter in _ARMS


@dataclass
class Strokes:
    """The drawn characters of one picture, by their colour."""

    dots: dict[str, set[_Point]] = field(default_factory=dict[str, set[_Point]])
    blocks: dict[str, list[tuple[int, int, str]]] = field(
        default_factory=dict[str, list[tuple[int, int, str]]]
    )
    arms: dict[tuple[str, int], set[tuple[int, int, str]]] = field(
        default_factory=dict[tuple[str, int], set[tuple[int, int, str]]]
    )

    def add(self, letter: str, column: int, row: int, colour: str) -> None:
        """Put one character into a cell."""
        if letter in _EIGHTHS:
            self.blocks.setdefault(colour, []).append((column, row, letter))
        elif letter in _ARMS:
            for arm in _ARMS[letter]:
                place = (column, row, arm.lower())
                self.arms.setdefault((colour, 1 + arm.isupper()), set()).add(place)
        else:
            for bit, (right, down) in enumerate(_BITS):
                if ord(letter) - 0x2800 >> bit & 1:
                    point = (2 * column + right, 4 * row + down)
                    self.dots.setdefault(colour, set()).add(point)

    def paths(self) -> Iterator[str]:
        """Everything as path elements; a row's blocks and lines stay together."""
        for colour, blocks in self.blocks.items():
            for _, row in groupby(sorted(blocks, key=lambda each: each[1]), lambda each: each[1]):
                data = "".join(_block(*each) for each in row)
                yield f'<path fill="{colour}" shape-rendering="crispEdges" d="{data}"/>'
        for (colour, weight), arms in self.arms.items():
            data = "".join(_lines(arms))
            yield f'<path stroke="{colour}" stroke-width="{_WIDTHS[weight]}" d="{data}"/>'
        for colour, dots in self.dots.items():
            data = "".join(_chart(dots))
            yield (
                f'<path fill="{colour}" stroke="{colour}" stroke-width="{_DOT_WIDTH}"'
                f' stroke-linecap="round" stroke-linejoin="round" d="{data}"/>'
            )


def number(value: float) -> str:
    """A coordinate, as short as it can be."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _block(column: int, row: int, letter: str) -> str:
    left, top, width, height = _EIGHTHS[letter]
    x, y = CELL * (column + left / 8), TOP + ROW * (row + top / 8)
    across = number(CELL * width / 8)
    return f"M{number(x)} {number(y)}h{across}v{number(ROW * height / 8)}h-{across}z"


def _lines(arms: set[tuple[int, int, str]]) -> Iterator[str]:
    """Arms as lines, those in one direction joined over cells."""
    flat = {(row, 2 * column + (arm == "r")) for column, row, arm in arms if arm in "lr"}
    tall = {(column, 2 * row + (arm == "d")) for column, row, arm in arms if arm in "ud"}
    for row, start, length in _runs(flat):
        y = TOP + ROW * (row + 0.5)
        yield f"M{number(start * CELL / 2)} {number(y)}h{number(length * CELL / 2)}"
    for column, start, length in _runs(tall):
        y = TOP + start * ROW / 2
        yield f"M{number(CELL * (column + 0.5))} {number(y)}v{number(length * ROW / 2)}"


def _runs(points: set[_Point]) -> Iterator[tuple[int, int, int]]:
    """Unbroken runs: the line on which a run lies, where it begins and its length."""
    for line, start in sorted(points):
        if (line, start - 1) not in points:
            length = 1
            while (line, start + length) in points:
                length += 1
            yield line, start, length


def _chart(dots: set[_Point]) -> Iterator[str]:
    """Dots as lines between neighbours, areas filled, single dots as dots."""
    for line, start, length in _runs({(y, x) for x, y in dots}):
        if length > 1:
            yield f"M{_at(start, line)}h{number((length - 1) * _DOT)}"
    for line, start, length in _runs(dots):
        if length > 1:
            yield f"M{_at(line, start)}v{number((length - 1) * _DOT)}"
    for dot in sorted(dots):
        yield from _slanted(dot, dots)


def _slanted(dot: _Point, dots: set[_Point]) -> Iterator[str]:
    """The area right of and below a dot, its slanted lines down, or the dot if it stands alone."""
    x, y = dot
    side = number(_DOT)
    if {(x + 1, y), (x, y + 1), (x + 1, y + 1)} <= dots:
        yield f"M{_at(x, y)}h{side}v{side}h-{side}z"
    for across in (-1, 1):
        beside = {(x, y + 1), (x + across, y)}
        if (x + across, y + 1) in dots and dots.isdisjoint(beside):
            yield f"M{_at(x, y)}l{number(across * _DOT)} {side}"
    if not any((x + right, y + down) in dots for right, down in _AROUND):
        yield f"M{_at(x, y)}h0"


def _at(x: int, y: int) -> str:
    """The middle of a dot."""
    return f"{number((x + 0.5) * _DOT)} {number(TOP + (y + 0.5) * _DOT)}"
