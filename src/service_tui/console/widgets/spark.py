"""A line for a table cell, from plain numbers, on the scale that all rows of a list share."""

from collections.abc import Sequence
from typing import Final

from service_tui.console.widgets.braille import DOTS_X, DOTS_Y, PlotFrame, traced

POINTS_SPAN: Final = 0.30
"""Height of a price line in every list, 30 points: a dot is 10, and smaller moves are flat."""

_VALUE_MAX: Final = 1e6
"""Beyond it a double holds no difference of the span."""


def sparkline(values: Sequence[float], width: int, *, span: float = POINTS_SPAN) -> str:
    """The values from old to new as a braille line, exactly `width` cells.

    The same slope is the same move in every row. A row that moved further than the span is cut
    where it began; its end is always shown.

    Args:
        values: oldest first; infinite, undefined or huge values are left out. Two share a cell;
            fewer leave blanks on the left.
        width: cells, >= 0.
        span: difference between the lowest and the highest dot, > 0.

    Returns:
        `width` characters; blanks without values.
    """
    known = [value for value in values if abs(value) <= _VALUE_MAX]
    columns = min(width, -(-len(known) // DOTS_X))
    if columns <= 0:
        return " " * max(width, 0)
    low = _lowest(known, span)
    last = float(len(known) - 1)
    frame = PlotFrame(columns, 1, 0.0, max(last, 1.0), low, low + span)
    line = traced([(float(place), value) for place, value in enumerate(known)], frame)[0]
    return line.rjust(width)


def _lowest(values: Sequence[float], span: float) -> float:
    """The value of the lowest dot: the end is on a dot, and the line about in the middle."""
    step = span / (DOTS_Y - 1)
    middle = (min(values) + max(values)) / 2
    dots = round((values[-1] - middle) / step + (DOTS_Y - 1) / 2)
    return values[-1] - min(max(dots, 0), DOTS_Y - 1) * step
