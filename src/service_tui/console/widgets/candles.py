"""Candles of a chart: open, high, low and close of even stretches of time, as rows of text."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from service_tui.console.widgets.braille import PlotFrame, Point
from service_tui.console.widgets.columns import Piece

STEP: Final = 2
"""Columns of a candle, the gap behind it included."""

_WICK: Final = "│"
_RISE: Final = "█"
_FALL: Final = "▒"
"""The bodies differ in shape, so that they are distinguished without colour."""


class Candle(NamedTuple):
    """One stretch of time."""

    open: float
    high: float
    low: float
    close: float


def candles_of(points: Sequence[Point], frame: PlotFrame) -> list[Candle | None]:
    """The candles of a frame, oldest first; None where there is no value yet.

    Args:
        points: in order of time; each value holds until the next one.
        frame: the area of the chart.
    """
    times = [at for at, _ in points]
    result: list[Candle | None] = []
    for column in range(0, frame.columns, STEP):
        begin, end = frame.time_of(column - 1), frame.time_of(column + STEP - 1)
        first, last = bisect_right(times, begin), bisect_right(times, end)
        inside = [value for _, value in points[first:last]]
        if first:
            inside.insert(0, points[first - 1][1])
        candle = Candle(inside[0], max(inside), min(inside), inside[-1]) if inside else None
        result.append(candle)
    return result


def drawn(points: Sequence[Point], frame: PlotFrame) -> list[list[Piece]]:
    """The rows of the candles, from the top; a rising candle is solid, a falling one shaded."""
    rows: list[list[Piece]] = [[] for _ in range(frame.rows)]
    gap: Piece = (" " * (STEP - 1), "")
    for candle in candles_of(points, frame):
        cells = {} if candle is None else _cells(candle, frame)
        for row, line in enumerate(rows):
            line.append(cells.get(row, (" ", "")))
            line.append(gap)
    return [_cut(line, frame.columns) for line in rows]


def _cells(candle: Candle, frame: PlotFrame) -> dict[int, Piece]:
    """The cells of a candle by row."""
    rises = candle.close >= candle.open
    ink, body = ("profit", _RISE) if rises else ("loss", _FALL)
    top, bottom = frame.row_of(candle.high), frame.row_of(candle.low)
    cells: dict[int, Piece] = dict.fromkeys(range(top, bottom + 1), (_WICK, ink))
    ends = sorted((frame.row_of(candle.open), frame.row_of(candle.close)))
    cells |= dict.fromkeys(range(ends[0], ends[1] + 1), (body, ink))
    return cells


def _cut(line: list[Piece], columns: int) -> list[Piece]:
    """A row of at most so many cells: the last candle may have no room for its gap."""
    width = sum(len(text) for text, _ in line)
    return line if width <= columns else line[:-1]
