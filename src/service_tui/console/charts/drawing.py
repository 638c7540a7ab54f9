"""A chart over time as lines of text, with a cursor and the figures at it. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from service_tui.console import formats
from service_tui.console.charts.series import Below, TimeSeries, Window, last_point
from service_tui.console.widgets import candles
from service_tui.console.widgets.braille import (
    PlotFrame,
    Point,
    time_ticks,
    traced,
    value_range,
    value_ticks,
)
from service_tui.console.widgets.chart_lines import NewsMark, Picture
from service_tui.console.widgets.columns import Piece, fitted_line
from service_tui.units import Timestamp

_ROWS_PER_TICK: Final = 3
_COLUMNS_PER_TICK: Final = 14
_BELOW_FROM: Final = 12
"""Least height with room for a lower part."""

_BELOW_MIN: Final = 3
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_UNKNOWN: Final = "·"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as it is shown.

    Args:
        lines: its rows, from the top.
        margin: cells left of the plot.
        columns: places of the cursor, from left to right or from the top.
        cursor: the cursor's place; None without one.
        reading: text of the figures at the cursor; without one, of the newest.
        places: the time, or number of the bar, at each place of the cursor.
        pitch: cells from one place to the next.
    """

    lines: list[list[Piece]]
    margin: int = 0
    columns: int = 0
    cursor: int | None = None
    reading: str = ""
    places: tuple[float, ...] = ()
    pitch: int = 1


def drawn_time(
    series: TimeSeries, size: tuple[int, int], window: Window, cursor: float | None
) -> Drawn:
    """A chart over time.

    Args:
        series: the values.
        size: cells of the chart, width and height.
        window: the first and the last time shown.
        cursor: the time under the cursor; None without one.
    """
    width, height = size
    seen = _in_sight(series.points, window)
    has_below = series.below_is is not Below.NOTHING and height >= _BELOW_FROM
    rows_below = max(_BELOW_MIN, height // 5) if has_below else 0
    rows = height - 2 - rows_below - (1 if has_below else 0)
    if not seen or rows < 1 or width < _COLUMNS_PER_TICK:
        return Drawn(centered(series.empty, size))
    others = [_in_sight(line, window) for line in series.others]
    values = [value for line in (seen, *others) for _, value in line]
    low, high = value_range(values, series.bounds, series.span_min)
    frame = PlotFrame(width, rows, window.first, window.last, low, high)
    ticks = value_ticks(low, high, max(1, rows // _ROWS_PER_TICK))
    labels = {frame.row_of(tick): series.write(tick) for tick in ticks}
    below = _below_range(series, window) if has_below else (0.0, 1.0)
    edge = below[0] if series.below_is is Below.LEVEL else below[1]
    widths = [len(label) for label in labels.values()]
    widths += [len(series.write_below(edge))] if has_below else []
    margin = max(widths, default=0) + 1
    if margin > width // 2:
        labels, margin = {}, 0
    frame = replace(frame, columns=width - margin)
    column = None if cursor is None else frame.column_of(cursor)
    if column is not None and series.in_candles:
        column -= column % candles.STEP
    picture = Picture(
        frame, seen, None, series.marks, labels, margin, column, series.in_candles, others
    )
    lines = picture.plot()
    if has_below:
        lines.append(_rule(series.below_title, margin, frame.columns))
        for label, dots, ink in _lower(series, replace(frame, rows=rows_below), below, margin):
            lines.append([(label, "muted"), *_ruled(dots, ink, column)])
    times = _time_labels(frame)
    lines += [picture.axis(tuple(times)), picture.times(times)]
    read_at = frame.columns - 1 if column is None else column
    if series.in_candles:
        read_at -= read_at % candles.STEP
    return Drawn(
        lines,
        margin,
        frame.columns,
        column,
        _reading(series, frame, read_at),
        tuple(_middle(frame, place) for place in range(frame.columns)),
    )


def _stretch(frame: PlotFrame, column: int, step: int = 1) -> tuple[float, float]:
    """Bounds of the times in some columns: after the first, until the second."""
    after = frame.time_of(column - 1) if column else math.nextafter(frame.first, -math.inf)
    is_last = column + step >= frame.columns
    return after, frame.last if is_last else frame.time_of(column + step - 1)


def _middle(frame: PlotFrame, column: int) -> float:
    """The time in the middle of a column: its edge belongs to the next one."""
    return (frame.time_of(column - 1) + frame.time_of(column)) / 2


def _in_sight(points: Sequence[Point], window: Window) -> list[Point]:
    """The points in a window, preceded by the value at its beginning."""
    inside = [point for point in points if window.first <= point[0] <= window.last]
    before = [point for point in points if point[0] < window.first][-1:]
    return [(window.first, value) for _, value in before] + inside


def _reading(series: TimeSeries, frame: PlotFrame, column: int) -> str:
    """Text of a column: the value at its end, the amount of the lower part, and marks."""
    if series.others:
        return _reading_of_all(series, frame, column)
    step = candles.STEP if series.in_candles else 1
    after, until = _stretch(frame, column, step)
    span = frame.last - frame.first
    parts: list[str] = []
    if series.in_candles:
        candle = candles.candles_of(series.points, frame)[column // candles.STEP]
        parts.append(f"{_when(after, span)} to {_when(until, span)}")
        if candle is not None:
            named = zip(("open", "high", "low", "close"), candle, strict=True)
            parts += [f"{name} {series.write(value)}" for name, value in named]
    else:
        point = series.at(until)
        # The time of the datum, which holds since then.
        parts.append(_when(until if point is None else point[0], span))
        parts.append(formats.NOT_KNOWN if point is None else series.write(point[1]))
    if series.below_is is not Below.NOTHING:
        amount = series.below_in(after, until)
        written = formats.NOT_KNOWN if amount is None else series.write_below(amount)
        parts.append(f"{series.below_title.partition(',')[0]} {written}")
    parts += [f"{mark.glyph[0]} {mark.text}" for mark in _marks_of(series, frame, column, step)]
    return "  ".join(parts)


def _reading_of_all(series: TimeSeries, frame: PlotFrame, column: int) -> str:
    """Text of a column of a chart of several lines: the value of each, by its number and name."""
    _, until = _stretch(frame, column)
    parts = [_when(until, frame.last - frame.first)]
    lines = zip((series.points, *series.others), series.names, strict=False)
    for number, (points, name) in enumerate(lines, 1):
        point = last_point(points, until)
        written = formats.NOT_KNOWN if point is None else series.write(point[1])
        parts.append(f"{number} {name} {written}")
    return "  ".join(parts)


def _marks_of(series: TimeSeries, frame: PlotFrame, column: int, step: int) -> list[NewsMark]:
    seen = (mark for mark in series.marks if frame.first <= mark.at <= frame.last)
    return [mark for mark in seen if column <= frame.column_of(mark.at) < column + step]


def _when(at: float, span: float) -> str:
    return formats.moment(Timestamp(at), span)


def _time_labels(frame: PlotFrame) -> dict[int, str]:
    span = frame.last - frame.first
    times = time_ticks(frame.first, frame.last, frame.columns // _COLUMNS_PER_TICK)
    return {frame.column_of(at): _when(at, span) for at in times or (frame.last,)}


def _below_range(series: TimeSeries, window: Window) -> tuple[float, float]:
    """Ends of the axis of the lower part: amounts from 0 up, levels from 0 down."""
    seen = [value for _, value in _in_sight(series.below, window)]
    if series.below_is is Below.LEVEL:
        lowest = min(seen, default=0.0)
        return (lowest if lowest < 0 else -1.0), 0.0
    return 0.0, math.fsum(seen) or 1.0


def _rule(title: str, margin: int, columns: int) -> list[Piece]:
    """The line between both parts, with the name of the lower one."""
    name = fitted_line(title, columns - 4).rstrip() if columns > len("volume") else ""
    rest = " " + "─" * (columns - 4 - len(name))
    return [(" " * margin + "╶─ ", "faint"), (name, "muted"), (rest, "faint")]


def _lower(
    series: TimeSeries, frame: PlotFrame, ends: tuple[float, float], margin: int
) -> list[tuple[str, str, str]]:
    """The rows of the lower part: the label, the dots, and their colour."""
    rows = frame.rows
    if series.below_is is Below.LEVEL:
        seen = _in_sight(series.below, Window(frame.first, frame.last))
        low, high = ends
        plain = traced(seen, replace(frame, low=low, high=high)) if seen else [""] * rows
        labels, ink = {rows - 1: series.write_below(low)}, "loss"
    else:
        stretches = [series.below_in(*_stretch(frame, column)) for column in range(frame.columns)]
        top = max((amount for amount in stretches if amount is not None), default=0.0) or 1.0
        plain = _columns(stretches, top, rows)
        labels, ink = {0: series.write_below(top)}, "accent"
    return [
        (
            labels.get(row, "").rjust(margin - 1) + " " if margin else "",
            text.ljust(frame.columns),
            ink,
        )
        for row, text in enumerate(plain)
    ]


def _ruled(text: str, ink: str, cursor: int | None) -> list[Piece]:
    """A row with the cursor's line in it."""
    if cursor is None:
        return [(text, ink)]
    under = text[cursor]
    rule: Piece = ("│", "muted") if under == " " else (under, "bold foreground")
    return [(text[:cursor], ink), rule, (text[cursor + 1 :], ink)]


def _columns(values: Sequence[float | None], top: float, rows: int) -> list[str]:
    """Columns of eighths of a cell, from the bottom; an unknown value is a dot on the ground."""
    steps = len(_EIGHTHS) - 1
    lines: list[str] = []
    for row in range(rows - 1, -1, -1):
        cells: list[str] = []
        for value in values:
            if value is None:
                cells.append(_UNKNOWN if row == 0 else " ")
                continue
            eighths = max(1, round(value / top * rows * steps)) if value > 0 else 0
            cells.append(_EIGHTHS[min(steps, max(0, eighths - row * steps))])
        lines.append("".join(cells))
    return lines


def centered(text: str, size: tuple[int, int]) -> list[list[Piece]]:
    """The rows of an empty chart: a sentence in its middle."""
    width, height = size
    line: list[Piece] = [(fitted_line(text.center(width), width), "muted")]
    return [line if row == (height - 1) // 2 else [] for row in range(height)]
