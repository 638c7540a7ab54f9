"""A line of blocks for a table cell, from plain numbers."""

import math
from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int, *, span_min: float = 0.0) -> str:
    """The values from old to new as block characters, exactly `width` cells.

    Args:
        values: oldest first; infinite or undefined values are left out. More values than cells are
        thinned, the first and the last always kept; fewer leave blanks on the left.
        width: cells, >= 0.
        span_min: difference that at least fills the height, so that noise does not look like news.

    Returns:
        `width` characters; blanks without values, a middle line if all are equal.
    """
    known = [value for value in values if math.isfinite(value)]
    if not known or width <= 0:
        return " " * max(width, 0)
    shown = _thinned(known, width)
    low, high = min(shown), max(shown)
    # The shorter span sits in the middle of the wider one.
    slack = max(0.0, span_min - (high - low)) / 2
    low, span = low - slack, high - low + 2 * slack
    if not (0 < span < math.inf):
        return (BLOCKS[3] * len(shown)).rjust(width)
    top = len(BLOCKS) - 1
    return "".join(
        BLOCKS[min(top, max(0, round((value - low) / span * top)))] for value in shown
    ).rjust(width)


def _thinned(values: list[float], width: int) -> list[float]:
    if len(values) <= width:
        return values
    if width == 1:
        return values[-1:]
    step = (len(values) - 1) / (width - 1)
    return [values[round(place * step)] for place in range(width)]
