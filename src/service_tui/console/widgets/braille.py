"""A line through points in time, drawn with the eight dots of braille characters.

A price is constant until the next one: the line goes in steps, not in slopes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Point: TypeAlias = tuple[float, float]
"""Seconds since 1970, value."""

DOTS_X: Final = 2
DOTS_Y: Final = 4
"""Dots of one character, across and down."""

PADDING: Final = 0.08
"""Share of the range that stays free above and below the line."""

_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of a dot by row and column. Source: Unicode, block Braille Patterns."""

_CHARACTERS: Final = (" ", *map(chr, range(0x2801, 0x2900)))
"""Characters by the sum of their bits; a blank for the empty pattern, which some fonts draw."""

_Span: TypeAlias = tuple[float, float, float]
"""Lowest, highest and last value within one column of dots."""

_TIME_STEPS: Final = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200),
    *(86_400, 172_800, 604_800, 1_209_600, 2_592_000),
)
"""Round distances between times, in seconds."""


@dataclass(frozen=True, slots=True)
class PlotFrame:
    """A piece of the plane, and how many characters it has. first <= last, low < high."""

    columns: int
    rows: int
    first: float
    last: float
    low: float
    high: float

    def column_of(self, at: float) -> int:
        """The column of characters of a time, clamped to the frame."""
        if not self.last > self.first:
            return self.columns - 1
        share = (at - self.first) / (self.last - self.first)
        return min(self.columns - 1, max(0, int(share * self.columns)))

    def time_of(self, column: int) -> float:
        """The time at the right edge of a column."""
        return self.first + (self.last - self.first) * (column + 1) / self.columns

    def row_of(self, value: float) -> int:
        """The row of characters of a value, 0 at the top, clamped to the frame."""
        share = (self.high - value) / (self.high - self.low)
        return min(self.rows - 1, max(0, int(share * self.rows)))


def value_range(
    values: Sequence[float], bounds: tuple[float, float] | None, span_min: float
) -> tuple[float, float]:
    """The lowest and highest value of an axis, low < high.

    Args:
        values: the values that must be visible; not empty.
        bounds: limits of the axis, such as (0, 1); None: no limits.
        span_min: least distance of the two, so that noise does not fill the height; > 0.

    Returns:
        Both ends, padded; never wider than the bounds.
    """
    low, high = min(values), max(values)
    pad = (high - low) * PADDING
    slack = max(0.0, span_min - (high - low + 2 * pad)) / 2
    low, high = low - pad - slack, high + pad + slack
    if not low < high:
        # A span so small beside its values that a double cannot hold it.
        low, high = low - abs(low) / 1e6 - 1, high + abs(high) / 1e6 + 1
    if bounds is None:
        return low, high
    floor, ceiling = bounds
    if min(ceiling, high) - max(floor, low) < span_min:
        # The part cut off at one bound is added at the other, to keep the least distance.
        shift = max(0.0, floor - low) - max(0.0, high - ceiling)
        low, high = low + shift, high + shift
    return max(floor, low), min(ceiling, high)


_ROUND: Final = (1, 2, 2.5, 5, 10, 20)


def value_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """At most `count` round values within a range, lowest first; two where there is one step.

    One value alone would be no scale: then the step is finer, and the outermost two stand.
    """
    if count < 1:
        return ()
    step = (high - low) / count
    power = 10.0 ** math.floor(math.log10(step))
    step = next(factor * power for factor in _ROUND if factor * power >= step)
    ticks = _multiples(step, low, high)
    if len(ticks) > 1:
        return ticks
    below = (factor * scale for scale in (power, power / 10) for factor in reversed(_ROUND))
    finer = (_multiples(one, low, high) for one in below if one < step)
    more = next((one for one in finer if len(one) > 1 and one[0] < one[-1]), ticks)
    return (more[0], more[-1]) if more else ()


def _multiples(step: float, low: float, high: float) -> tuple[float, ...]:
    """The multiples of a step within a range, lowest first."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(place * step, 9) for place in range(first, last + 1))


def time_ticks(first: float, last: float, count: int) -> tuple[float, ...]:
    """At most about `count` round times within a range, earliest first."""
    span = last - first
    if count < 1 or not span > 0:
        return ()
    step = next((step for step in _TIME_STEPS if span / step <= count), span / count)
    places = range(math.ceil(first / step), math.floor(last / step) + 1)
    # A product of doubles may lie a hair outside of its range.
    return tuple(at for place in places if first <= (at := place * step) <= last)


def traced(points: Sequence[Point], frame: PlotFrame) -> list[str]:
    """The line as braille; `points` are in order of time, and at least one.

    Returns:
        One string a row of characters, blanks where there is no dot.
    """
    cells = [[0] * frame.columns for _ in range(frame.rows)]
    bottom = frame.rows * DOTS_Y - 1
    scale = bottom / (frame.high - frame.low)

    def dot(value: float) -> int:
        return bottom - round((min(max(value, frame.low), frame.high) - frame.low) * scale)

    before: int | None = None
    for x, span in enumerate(_spans(points, frame)):
        if span is None:
            continue
        lowest, highest, last = span
        now = dot(last)
        upper, lower = (now, now) if lowest == highest else (dot(highest), dot(lowest))
        if before is not None:
            # A step is joined up to the dot beside the former one: the line stays one dot thick.
            upper, lower = min(upper, before + 1), max(lower, before - 1)
        before = now
        column, side = divmod(x, DOTS_X)
        for y in range(upper, lower + 1):
            cells[y // DOTS_Y][column] |= _BITS[y % DOTS_Y][side]
    return ["".join(map(_CHARACTERS.__getitem__, row)) for row in cells]


def _spans(points: Sequence[Point], frame: PlotFrame) -> list[_Span | None]:
    """The values in each column of dots; None before the first point."""
    width = frame.columns * DOTS_X
    per_dot = width / (frame.last - frame.first) if frame.last > frame.first else 0.0
    spans: list[_Span | None] = [None] * width
    filled = -1
    level: _Span | None = None
    for at, value in points:
        x = min(width - 1, max(0, int((at - frame.first) * per_dot)))
        if x > filled:
            spans[filled + 1 : x] = [level] * (x - filled - 1)
            spans[x] = (value, value, value)
        else:
            lowest, highest, _ = spans[x] or (value, value, value)
            spans[x] = (min(lowest, value), max(highest, value), value)
        filled, level = x, (value, value, value)
    spans[filled + 1 :] = [level] * (width - filled - 1)
    return spans
