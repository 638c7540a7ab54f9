"""A chart of bars as lines of text: rows with their names, or columns over an axis. Pure."""

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

from service_tui.console.charts.drawing import Drawn, centered
from service_tui.console.charts.series import BarSeries, ChartBar, Window
from service_tui.console.widgets.braille import PlotFrame, value_ticks
from service_tui.console.widgets.columns import Piece, fitted_line

Lines: TypeAlias = list[list[Piece]]

WIDTH_MIN: Final = 14
HEIGHT_MIN: Final = 4

_ROWS_PER_TICK: Final = 3
_NAME_MAX: Final = 24
_PITCH_MAX: Final = 10
_UNKNOWN: Final = "·"
_MARK: Final = "◆"
_BEST: Final = "★"
_NONE: Final = "▁"
_RISE: Final = "█"
_FALL: Final = "▒"
"""A loss is shaded, so that it is distinguished without colour."""


def drawn_bars(
    series: BarSeries, size: tuple[int, int], window: Window, cursor: float | None
) -> Drawn:
    """A chart of bars.

    Args:
        series: the bars.
        size: cells of the chart, width and height.
        window: places of the bars in sight.
        cursor: place of the bar under the cursor; None without one.
    """
    if not series.bars or size[0] < WIDTH_MIN or size[1] < HEIGHT_MIN:
        return Drawn(centered(series.empty, size))
    place = None if cursor is None else min(len(series.bars) - 1, max(0, round(cursor)))
    draw = _lying if series.lies else _standing
    return draw(series, size, window, place)


def _ends(series: BarSeries) -> tuple[float, float]:
    """Ends of the axis: 0 and every value are in sight."""
    if series.bounds is not None:
        return series.bounds
    values = [bar.value for bar in series.bars if bar.value is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    return (low, high) if low < high else (low, low + 1.0)


def _shown(series: BarSeries, first: int, count: int, cursor: int | None) -> range:
    """Places of as many bars as have room, the one under the cursor among them."""
    if cursor is not None:
        first = min(max(first, cursor - count + 1), cursor)
    first = max(0, min(first, len(series.bars) - count))
    return range(first, min(len(series.bars), first + count))


def _with_figures(
    series: BarSeries, shown: range, cursor: int | None, lines: Lines, *, margin: int = 0
) -> Drawn:
    return Drawn(
        lines,
        margin,
        len(shown),
        None if cursor is None else cursor - shown[0],
        series.note if cursor is None else series.bars[cursor].reading,
        tuple(map(float, shown)),
    )


# -- rows -----------------------------------------------------------------------------------------


def _lying(series: BarSeries, size: tuple[int, int], window: Window, cursor: int | None) -> Drawn:
    """Bars as rows, each with its name and its value."""
    width, height = size
    low, high = _ends(series)
    written = [_written(series, bar) for bar in series.bars]
    names = min(_NAME_MAX, max(len(bar.label) for bar in series.bars), width // 3)
    values = max(map(len, written))
    room = max(1, width - names - values - 4)
    shown = _shown(series, math.floor(window.first), height, cursor)
    lines: Lines = []
    for place in shown:
        is_here = place == cursor
        ink = "bold foreground" if is_here else "muted"
        lines.append([
            ("▸ " if is_here else "  ", "bold accent"),
            (fitted_line(series.bars[place].label, names), ink),
            (" ", ""),
            _row_of(series.bars[place].value, low, high, room),
            (" ", ""),
            (written[place].rjust(values), ink),
        ])
    return _with_figures(series, shown, cursor, lines)


def _written(series: BarSeries, bar: ChartBar) -> str:
    return "?" if bar.value is None else series.write(bar.value)


def _row_of(value: float | None, low: float, high: float, room: int) -> Piece:
    """One bar of a row, from the zero of all."""
    zero = round((0.0 - low) / (high - low) * room)
    cells, ink = [" "] * room, "muted"
    if value is not None:
        end = round((value - low) / (high - low) * room)
        left, right = min(zero, end), max(zero, end)
        cells[left:right] = (_RISE if value >= 0 else _FALL) * (right - left)
        ink = "profit" if value >= 0 else "loss"
    if 0 < zero < room and cells[zero] == " ":
        cells[zero] = "│"
    return "".join(cells), ink


# -- columns --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of bars in sight: `pitch` cells from one to the next, `body` of them filled."""

    series: BarSeries
    frame: PlotFrame
    shown: range
    pitch: int
    cursor: int | None

    @property
    def body(self) -> int:
        return max(1, self.pitch - 1)

    def middle(self, place: int) -> int:
        """The cell over a bar's name."""
        return (place - self.shown[0]) * self.pitch + self.body // 2

    def rows(self) -> Lines:
        """The cells of all bars, from the top."""
        blank: Piece = (" ", "")
        width = len(self.shown) * self.pitch
        grid: Lines = [[blank] * width for _ in range(self.frame.rows)]
        for place in self.shown:
            bar = self.series.bars[place]
            if bar.value is None:
                grid[self.frame.row_of(0.0)][self.middle(place)] = (_UNKNOWN, "muted")
            else:
                self._fill(grid, place, bar.value)
            if bar.mark is not None:
                grid[self.frame.row_of(bar.mark)][self.middle(place)] = (_MARK, "bold warn")
        return grid

    def _fill(self, grid: Lines, place: int, value: float) -> None:
        zero, end = self.frame.row_of(0.0), self.frame.row_of(value)
        ink = "profit" if value >= 0 else "loss"
        if place == self.series.best:
            ink = "bold accent"
        if place == self.cursor:
            ink = "bold foreground"
        glyph = _NONE if value == 0 else _RISE if value > 0 else _FALL
        cell: Piece = (glyph, ink)
        start = (place - self.shown[0]) * self.pitch
        for row in grid[min(zero, end) : max(zero, end) + 1]:
            row[start : start + self.body] = [cell] * self.body
        if place == self.series.best:
            grid[max(0, end - 1)][self.middle(place)] = (_BEST, "bold accent")

    def axis(self) -> str:
        """The ground with a notch below each bar, and the cursor on it."""
        marks = {self.middle(place): "┴" for place in self.shown}
        if self.cursor is not None:
            marks[self.middle(self.cursor)] = "▲"
        return "".join(marks.get(cell, "─") for cell in range(len(self.shown) * self.pitch))

    def names(self) -> str:
        """Names below their bars; one that would touch its neighbour is left out."""
        line = ""
        for place in self.shown:
            label = self.series.bars[place].label
            at = max(0, self.middle(place) - len(label) // 2)
            if at >= (len(line) + 1 if line else 0):
                line = line.ljust(at) + label
        return line


def _standing(
    series: BarSeries, size: tuple[int, int], window: Window, cursor: int | None
) -> Drawn:
    """Bars as columns over an axis with their names."""
    width, height = size
    low, high = _ends(series)
    frame = PlotFrame(width, height - 2, 0, 1, low, high)
    ticks = value_ticks(low, high, max(1, frame.rows // _ROWS_PER_TICK))
    labels = {frame.row_of(tick): series.write(tick) for tick in ticks}
    margin = max((len(label) for label in labels.values()), default=0) + 1
    room = max(1, width - margin)
    wanted = math.floor(window.last) - math.floor(window.first) + 1
    pitch = max(1, min(_PITCH_MAX, room // max(1, wanted)))
    count = max(1, min(wanted, room // pitch))
    shown = _shown(series, math.floor(window.first), count, cursor)
    columns = _Columns(series, frame, shown, pitch, cursor)
    lines: Lines = [
        [(labels.get(row, "").rjust(margin - 1) + " ", "muted"), *pieces]
        for row, pieces in enumerate(columns.rows())
    ]
    lines.append([(" " * margin + columns.axis(), "faint")])
    lines.append([(" " * margin + columns.names(), "muted")])
    return _with_figures(series, shown, cursor, lines, margin=margin)
