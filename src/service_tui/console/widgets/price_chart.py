"""A price over time: a braille line with axes, the own entry, news and a reading."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Final, NamedTuple

from rich.segment import Segment
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.widgets.braille import (
    PlotFrame,
    Point,
    time_ticks,
    value_range,
    value_ticks,
)
from service_tui.console.widgets.chart_lines import NewsMark, Picture
from service_tui.console.widgets.columns import Piece, fitted_line
from service_tui.console.widgets.paint import Paint
from service_tui.units import Timestamp

LABELS_FROM: Final = 24
"""Narrowest width, in cells, at which values are written beside the line."""

TITLE_FROM: Final = 4
AXIS_FROM: Final = 5
TIMES_FROM: Final = 6
"""Least heights with room for title, axis and times beside the line itself."""

_ROWS_PER_TICK: Final = 3
_COLUMNS_PER_TICK: Final = 14
"""Distances below which labels would crowd."""

_FAR: Final = 100_000
"""More columns than any terminal has."""


class Reading(NamedTuple):
    """The chart at a time: its value, and the news of that moment."""

    at: Timestamp
    value: float | None
    news: NewsMark | None


def price_text(value: float) -> str:
    """A price as its column shows it."""
    return formats.price(value).plain


class PriceChart(Widget, can_focus=True):
    """A line of values, each constant until the next one.

    Args:
        value: writes a value, on the axis and in the reading.
        when: writes a time, given the seconds that the chart spans.
        bounds: limits of the axis; None for money.
        span_min: least distance of the axis' ends, so that noise does not look like news.
        empty: text without any point.
        id: Textual's id.
    """

    ALLOW_SELECT: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "read(-1)", "earlier", show=False, id="chart.earlier"),
        Binding("right", "read(1)", "later", show=False, id="chart.later"),
        Binding("home", f"read(-{_FAR})", "first", show=False, id="chart.first"),
        Binding("end", f"read({_FAR})", "last", show=False, id="chart.last"),
        Binding("c", "candles", "candles", show=False, id="chart.candles"),
    ]

    def __init__(
        self,
        *,
        value: Callable[[float], str] = price_text,
        when: Callable[[Timestamp, float], str] = formats.moment,
        bounds: tuple[float, float] | None = (0.0, 1.0),
        span_min: float = 0.02,
        empty: str = "no prices yet",
        id: str | None = None,  # noqa: A002 - Textual's own word
    ) -> None:
        super().__init__(id=id)
        self._value = value
        self._when = when
        self._bounds = bounds
        self._span_min = span_min
        self._empty = empty
        self._paint = Paint(self)
        self._points: Sequence[Point] = ()
        self._until = 0.0
        self._entry: float | None = None
        self._news: Sequence[NewsMark] = ()
        self._title = ""
        self._in_candles = False
        self._column: int | None = None
        self._strips: list[Strip] = []

    def show(
        self,
        points: Sequence[tuple[Timestamp, float]],
        *,
        entry: float | None = None,
        news: Sequence[NewsMark] = (),
        title: str = "",
        until: Timestamp | None = None,
        empty: str | None = None,
    ) -> None:
        """Show these points instead of the former ones.

        Args:
            points: times and values in any order; infinite or undefined values are left out.
            entry: the own average entry price, drawn as a dashed line.
            news: marks on the axis of time.
            title: name of the line, with its unit.
            until: right edge, to which the last value extends; None: the last point.
            empty: text without any point; None: the former one.
        """
        self._empty = self._empty if empty is None else empty
        known = [(at, value) for at, value in points if math.isfinite(at) and math.isfinite(value)]
        self._points = sorted(known, key=lambda point: point[0])
        last = self._points[-1][0] if self._points else 0.0
        self._until = last if until is None else max(last, until)
        self._entry = entry if entry is not None and math.isfinite(entry) else None
        self._news = news
        self._title = title
        self._redraw()

    def reading(self) -> Reading | None:
        """Time and value under the cursor; None while the cursor is not on the chart."""
        picture = self._picture()
        return None if picture is None else self._read(picture)

    def action_read(self, by: int) -> None:
        """Move the reading by columns; the first press starts at the right edge."""
        picture = self._picture()
        if picture is not None:
            edge = picture.frame.columns - 1
            start = edge if picture.column is None else picture.column + by
            self._column = min(edge, max(0, start if abs(by) < _FAR else edge + by))
            self._redraw()

    def action_candles(self) -> None:
        """Draw candles instead of the line, or the line again."""
        self._in_candles = not self._in_candles
        self._redraw()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region; the whole chart is drawn once and kept until it changes."""
        if self._paint.prepare():
            self._strips = []
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the chart."""
        if not self._strips:
            self._strips = [self._strip(pieces) for pieces in self._drawn()]
        return self._strips[y] if y < len(self._strips) else self._strip([])

    @on(events.Resize)
    def _resized(self) -> None:
        # Shown again at the same size, it stays as it was drawn.
        drawn = {strip.cell_length for strip in self._strips}
        if len(self._strips) != self.size.height or drawn - {self.size.width}:
            self._redraw()

    @on(events.Focus)
    def _redraw(self) -> None:
        self._strips = []
        self.refresh()

    @on(events.MouseMove)
    def _pointed(self, event: events.MouseMove) -> None:
        offset, picture = event.get_content_offset(self), self._picture()
        if offset is None or picture is None:
            return
        column = min(picture.frame.columns - 1, max(0, offset.x - picture.margin))
        if column != self._column:
            self._column = column
            self._redraw()

    @on(events.Leave)
    @on(events.Blur)
    def _pointer_left(self) -> None:
        self._column = None
        self._redraw()

    def _drawn(self) -> list[list[Piece]]:
        (width, height), picture = self.size, self._picture()
        if picture is None:
            text: list[Piece] = [(fitted_line(self._empty.center(width), width), "muted")]
            return [text if y == (height - 1) // 2 else [] for y in range(height)]
        lines = picture.plot()
        if height >= TITLE_FROM:
            title, read = self._title_and_reading(picture)
            lines.insert(0, picture.heading(title, read, has_focus=self.has_focus))
        ticks = self._times(picture.frame)
        if height >= AXIS_FROM:
            lines.append(picture.axis(tuple(ticks)))
        if height >= TIMES_FROM:
            lines.append(picture.times(ticks))
        return lines

    def _picture(self) -> Picture | None:
        width, height = self.size
        rows = height - sum(height >= need for need in (TITLE_FROM, AXIS_FROM, TIMES_FROM))
        if not self._points or rows < 1 or width < 1:
            return None
        values = [value for _, value in self._points]
        if self._entry is not None:
            values.append(self._entry)
        low, high = value_range(values, self._bounds, self._span_min)
        frame = PlotFrame(width, rows, self._points[0][0], self._until, low, high)
        labels = self._labels(frame) if width >= LABELS_FROM else {}
        margin = max((len(label) + 1 for label in labels.values()), default=0)
        if margin >= width:
            labels, margin = {}, 0
        frame = replace(frame, columns=width - margin)
        column = None if self._column is None else min(self._column, frame.columns - 1)
        return Picture(
            frame, self._points, self._entry, self._news, labels, margin, column, self._in_candles
        )

    def _labels(self, frame: PlotFrame) -> dict[int, str]:
        ticks = value_ticks(frame.low, frame.high, max(1, frame.rows // _ROWS_PER_TICK))
        labels = {frame.row_of(tick): self._value(tick) for tick in ticks}
        if self._entry is not None:
            labels[frame.row_of(self._entry)] = self._value(self._entry)
        return labels

    def _times(self, frame: PlotFrame) -> dict[int, str]:
        span = frame.last - frame.first
        count = frame.columns // _COLUMNS_PER_TICK
        times = time_ticks(frame.first, frame.last, count) or (frame.last,)
        return {frame.column_of(at): self._when(Timestamp(at), span) for at in times}

    def _title_and_reading(self, picture: Picture) -> tuple[str, str]:
        """Title and reading; without a cursor, the last value."""
        reading = self._read(picture)
        if reading is None:
            return self._title, self._value(self._points[-1][1])
        written = formats.NOT_KNOWN if reading.value is None else self._value(reading.value)
        when = self._when(reading.at, picture.frame.last - picture.frame.first)
        news = reading.news
        title = self._title if news is None else f"{news.glyph[0]} {news.text}"
        return title, f"{when}  {written}"

    def _read(self, picture: Picture) -> Reading | None:
        if picture.column is None:
            return None
        at = picture.frame.time_of(picture.column)
        place = bisect_right(self._points, at, key=lambda point: point[0]) - 1
        value = self._points[place][1] if place >= 0 else None
        here = (
            mark
            for mark in reversed(picture.seen_news())
            if picture.frame.column_of(mark.at) == picture.column
        )
        return Reading(Timestamp(at), value, next(here, None))

    def _strip(self, pieces: Sequence[Piece]) -> Strip:
        style = self._paint.style
        segments = [Segment(text, style(ink)) for text, ink in pieces if text]
        return Strip(segments).adjust_cell_length(self.size.width, style())
