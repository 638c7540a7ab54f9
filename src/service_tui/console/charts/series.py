"""The data of a chart: values over time, or bars. Pure; `charts/sources.py` makes them."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from service_tui.console import formats
from service_tui.console.widgets.braille import Point
from service_tui.console.widgets.chart_lines import NewsMark


class Below(StrEnum):
    """What lies below a line: amounts that are added up, or a level that holds until the next."""

    NOTHING = "nothing"
    SUM = "sum"
    LEVEL = "level"


def price_text(value: float) -> str:
    """A price as its column shows it."""
    return formats.price(value).plain


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Values over time, each constant until the next one.

    Args:
        title: name of the line, with its unit.
        points: times and finite values, oldest first.
        empty: text without any point.
        below: amounts or levels of the lower part, oldest first.
        below_is: their meaning.
        below_title: their name.
        below_since: earlier amounts are unknown; None: all are known.
        marks: own trades on the axis.
        in_candles: candles in place of a line.
        bounds: limits of the axis; None for money.
        span_min: least distance of the axis' ends.
        others: further lines on the same axes, each in order of time; numbered from 2.
        names: the names of all lines, the first one's before the others'.
        legend: what each line is, in full; empty where the names are enough.
        write: writes a value.
        write_below: writes an amount or a level of the lower part.
    """

    title: str
    points: tuple[Point, ...]
    empty: str
    below: tuple[Point, ...] = ()
    below_is: Below = Below.NOTHING
    below_title: str = ""
    below_since: float | None = None
    marks: tuple[NewsMark, ...] = ()
    in_candles: bool = False
    bounds: tuple[float, float] | None = None
    span_min: float = 1.0
    others: tuple[tuple[Point, ...], ...] = ()
    names: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()
    write: Callable[[float], str] = price_text
    write_below: Callable[[float], str] = price_text

    @property
    def span(self) -> tuple[float, float]:
        """Times of the first point, and of the last one or what came since; both 0 without one."""
        if not self.points:
            return 0.0, 0.0
        since = [at for at, _ in self.below[-1:]] + [mark.at for mark in self.marks]
        lines = [line for line in (self.points, *self.others) if line]
        return min(line[0][0] for line in lines), max([line[-1][0] for line in lines] + since)

    def at(self, when: float) -> Point | None:
        """The point that holds at a time; None before the first."""
        return last_point(self.points, when)

    def below_in(self, after: float, until: float) -> float | None:
        """The amount of a stretch of time, or the level at its end; None if unknown."""
        if self.below_is is Below.LEVEL:
            level = last_point(self.below, until)
            return None if level is None else level[1]
        if self.below_since is not None and until < self.below_since:
            return None
        first = bisect_right(self.below, after, key=lambda point: point[0])
        last = bisect_right(self.below, until, key=lambda point: point[0])
        return math.fsum(amount for _, amount in self.below[first:last])


def measured(series: TimeSeries, fixed: float, cursor: float) -> str:
    """What lies between two places of a line: both values, the change, and the time.

    Of several lines one below the other, by their numbers. Empty where no line has a value yet.
    """
    first, last = sorted((fixed, cursor))
    lines = [_change(series, points, first, last) for points in (series.points, *series.others)]
    if series.others:
        lines = [f"{number} {text}" for number, text in enumerate(lines, 1) if text]
    known = "\n".join(text for text in lines if text)
    return f"measured over {formats.duration(last - first)}: {known}" if known else ""


def _change(series: TimeSeries, points: Sequence[Point], first: float, last: float) -> str:
    """Both values of a line, the change and what lies below it; empty without a value."""
    before, after = last_point(points, first), last_point(points, last)
    if before is None or after is None:
        return ""
    was, now = before[1], after[1]
    change = now - was
    if series.bounds == (0.0, 1.0):
        text = f"{100 * change:+.1f} pt"
    else:
        text = f"{'-' if change < 0 else '+'}{series.write(abs(change))}"
    rate = f", {change / was:+.1%}" if was > 0 else ""
    amount = series.below_in(first, last) if series.below_is is Below.SUM else None
    below = "" if amount is None else f", volume {series.write_below(amount)}"
    return f"{series.write(was)} to {series.write(now)}, {text}{rate}{below}"


def last_point(points: Sequence[Point], when: float) -> Point | None:
    """The last point not after a time; None before the first."""
    place = bisect_right(points, when, key=lambda point: point[0])
    return points[place - 1] if place else None


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bar.

    Args:
        label: its name below it, or beside it.
        value: its end; None if unknown.
        reading: its figures.
        mark: a second value, shown as a sign; None: none.
    """

    label: str
    value: float | None
    reading: str
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class BarSeries:
    """Bars in their order.

    Args:
        title: their name, with the unit.
        bars: the bars.
        empty: text without any bar.
        lies: each bar is a row with its name beside it; else a column.
        bounds: limits of the axis; None for money.
        write: writes a value.
        note: what to know about them, below the chart.
    """

    title: str
    bars: tuple[ChartBar, ...]
    empty: str
    lies: bool = False
    bounds: tuple[float, float] | None = None
    write: Callable[[float], str] = price_text
    note: str = ""

    best: int | None = field(default=None)
    """Place of the best bar, which is marked; None: none."""


Series = TimeSeries | BarSeries


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a chart in sight: times, or places of bars; `first` <= `last`."""

    first: float
    last: float

    @property
    def length(self) -> float:
        """Its length."""
        return self.last - self.first

    def zoomed(self, factor: float, around: float, whole: "Window", least: float) -> "Window":
        """A window `factor` times as long in which a place keeps its share of the way.

        Args:
            factor: below 1 shows less, above 1 more.
            around: the place; outside of the window its nearer end.
            whole: nothing outside of it is shown.
            least: shortest window.
        """
        length = min(whole.length, max(least, self.length * factor))
        place = min(self.last, max(self.first, around))
        share = (place - self.first) / self.length if self.length > 0 else 0.5
        return Window(place - share * length, place + (1 - share) * length).within(whole)

    def within(self, whole: "Window") -> "Window":
        """The window moved into another one, and cut where it is longer."""
        length = min(self.length, whole.length)
        first = min(max(self.first, whole.first), whole.last - length)
        return Window(first, first + length)

    def around(self, place: float, whole: "Window") -> "Window":
        """The window moved so that a place is in sight."""
        if place < self.first:
            return Window(place, place + self.length).within(whole)
        if place > self.last:
            return Window(place - self.length, place).within(whole)
        return self.within(whole)
