"""The lines of a chart as pieces of text and the names of their colours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.console.widgets import candles
from service_tui.console.widgets.braille import PlotFrame, Point, traced
from service_tui.console.widgets.columns import Piece, fitted_line, one_line
from service_tui.units import Timestamp

_DASH: Final = "╌"
_RULE: Final = "│"
_ENTRY: Final = " entry "
_BLANKS: Final = re.compile("( +)")


@dataclass(frozen=True, slots=True)
class NewsMark:
    """An event at a time; `up` is the direction in which it pushed the price, None if unknown."""

    at: Timestamp
    text: str = ""
    up: bool | None = None

    @property
    def glyph(self) -> Piece:
        """Its mark on the axis; the shape gives the direction without the colour."""
        return {True: ("▲", "profit"), False: ("▼", "loss"), None: ("◆", "warn")}[self.up]


@dataclass(frozen=True, slots=True)
class Picture:
    """The content of a chart.

    Args:
        frame: the area of the line.
        points: in order of time, at least one.
        entry: value of the dashed line, None: no such line.
        news: marks on the axis.
        labels: values beside the line, by row.
        margin: cells left of the line, for the labels.
        column: the cursor's column of the frame; None: no cursor.
        in_candles: draws candles instead of a line.
        others: further lines; each ends in its number, so that no colour is needed.
    """

    frame: PlotFrame
    points: Sequence[Point]
    entry: float | None
    news: Sequence[NewsMark]
    labels: Mapping[int, str]
    margin: int
    column: int | None
    in_candles: bool = False
    others: Sequence[Sequence[Point]] = ()

    def plot(self) -> list[list[Piece]]:
        """The rows of the line with their labels."""
        entry_row = None if self.entry is None else self.frame.row_of(self.entry)
        rows: list[list[Piece]] = []
        for row, drawn in enumerate(self._drawn()):
            here = row == entry_row
            pieces = _dashed(drawn[0][0]) if here and not self.in_candles else drawn
            label = self.labels.get(row, "").rjust(self.margin - 1) + " " if self.margin else ""
            rows.append([(label, "warn" if here else "muted"), *self._with_cursor(pieces)])
        return rows

    def _drawn(self) -> list[list[Piece]]:
        if self.in_candles:
            return candles.drawn(self.points, self.frame)
        if self.others:
            return several((self.points, *self.others), self.frame)
        return [[(dots, "accent")] for dots in traced(self.points, self.frame)]

    def axis(self, ticks: Sequence[int]) -> list[Piece]:
        """The axis of time with a notch at each tick, and the news on it."""
        marks: dict[int, Piece] = dict.fromkeys(ticks, ("┴", "faint"))
        if self.column is not None:
            marks[self.column] = ("┴", "foreground")
        marks |= {self.frame.column_of(mark.at): mark.glyph for mark in self.seen_news()}
        return [
            (" " * self.margin, ""),
            *(marks.get(column, ("─", "faint")) for column in range(self.frame.columns)),
        ]

    def times(self, ticks: Mapping[int, str]) -> list[Piece]:
        """The times under their notches; one that would touch its neighbour is left out."""
        line, width = "", self.frame.columns
        for column, label in sorted(ticks.items()):
            start = min(max(0, column - len(label) // 2), width - len(label))
            if start >= (len(line) + 2 if line else 0):
                line = line.ljust(start) + label
        return [(" " * self.margin + line, "muted")]

    def heading(self, title: str, right: str, *, has_focus: bool) -> list[Piece]:
        """The title, and at the right edge the chart's reading."""
        room = self.margin + self.frame.columns - len(right) - 2
        left = fitted_line(one_line(title), room) if room > 0 else ""
        ink = "bold accent" if has_focus else "heading"
        return [(left, ink), ("  " if left else "", ""), (right, "bold foreground")]

    def seen_news(self) -> tuple[NewsMark, ...]:
        """The news within the frame."""
        return tuple(m for m in self.news if self.frame.first <= m.at <= self.frame.last)

    def _with_cursor(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        column = self.column
        if column is None:
            return pieces
        line: list[Piece] = []
        at = 0
        for text, ink in pieces:
            inside = column - at
            if 0 <= inside < len(text):
                under = text[inside]
                rule = (_RULE, "muted") if under in {" ", _DASH} else (under, "bold foreground")
                line += [(text[:inside], ink), rule, (text[inside + 1 :], ink)]
            else:
                line.append((text, ink))
            at += len(text)
        return line


LINE_INKS: Final = ("accent", "profit", "warn", "loss", "foreground", "muted")
"""The colours of several lines, in their order; each line ends in its number besides."""


def several(lines: Sequence[Sequence[Point]], frame: PlotFrame) -> list[list[Piece]]:
    """Several lines in one frame: where they meet the first one's colour stays.

    The end of each is its number, one cell further left where another number stands already.
    """
    grid: list[list[Piece]] = [[(" ", "")] * frame.columns for _ in range(frame.rows)]
    drawn = [(place, line) for place, line in enumerate(lines) if line]
    for place, line in drawn:
        ink = LINE_INKS[place % len(LINE_INKS)]
        for cells, dots in zip(grid, traced(line, frame), strict=True):
            cells[:] = [_over(cell, dot, ink) for cell, dot in zip(cells, dots, strict=True)]
    taken: set[tuple[int, int]] = set()
    for place, line in drawn:
        row, column = frame.row_of(line[-1][1]), frame.columns - 1
        while (row, column) in taken and column:
            column -= 1
        taken.add((row, column))
        grid[row][column] = (f"{place + 1}", f"bold {LINE_INKS[place % len(LINE_INKS)]}")
    return grid


_DOTS: Final = 0x2800


def _over(cell: Piece, dots: str, ink: str) -> Piece:
    """A cell with the dots of a further line in it."""
    before, kept = cell
    if dots == " ":
        return cell
    if before == " ":
        return dots, ink
    return chr(_DOTS | (ord(before) - _DOTS) | (ord(dots) - _DOTS)), kept


def _dashed(dots: str) -> list[Piece]:
    """A row of the line with dashes in its blanks, and a label where there is room for it."""
    pieces: list[Piece] = [
        (_DASH * len(run), "warn") if run[0] == " " else (run, "accent")
        for run in _BLANKS.split(dots)
        if run
    ]
    widest = max(range(len(pieces)), key=lambda place: _dashes(pieces[place]))
    text, ink = pieces[widest]
    if _dashes(pieces[widest]) > len(_ENTRY) + 2:
        # At the right end, where the eye looks for the present; or at the left, beside a line.
        ahead = len(text) - len(_ENTRY) - 2 if widest == len(pieces) - 1 else 2
        pieces[widest] = (text[:ahead] + _ENTRY + text[ahead + len(_ENTRY) :], ink)
    return pieces


def _dashes(piece: Piece) -> int:
    return len(piece[0]) if piece[0][0] == _DASH else 0
