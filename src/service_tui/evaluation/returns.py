"""An agent's returns, computed from its equity curve. Pure.

Every figure is None where it is undefined, never 0. Days, weeks and months are those of UTC; a week
begins on Monday.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from service_tui.units import Micros, Timestamp

DAY_S: Final = 86_400.0
DAYS_A_YEAR: Final = 365
"""# ours: prediction markets trade every day."""

RETURNS_MIN: Final = 2
"""Returns of days from which on they deviate at all."""


class Point(NamedTuple):
    """Equity at a time: Unix seconds, and micros of one kind of money."""

    at: Timestamp
    equity: Micros


class Period(StrEnum):
    """By what figures are summed, UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def first_day(self, at: Timestamp) -> date:
        """The first day of the period of a moment."""
        day = datetime.fromtimestamp(at, UTC).date()
        match self:
            case Period.DAY:
                return day
            case Period.WEEK:
                return day - timedelta(days=day.weekday())
            case Period.MONTH:
                return day.replace(day=1)


# -- a curve of equity ---------------------------------------------------------------------------


def equity_at(curve: Sequence[Point], at: Timestamp) -> Micros | None:
    """The equity at a moment: that of the last point until then, micros; None before the first."""
    place = bisect_right(curve, at, key=lambda point: point.at)
    return curve[place - 1].equity if place else None


def total_return(curve: Sequence[Point]) -> float | None:
    """The gain from the first point to the last, as a fraction of the first.

    None of fewer than two points, and where the first is not above 0.
    """
    if len(curve) < RETURNS_MIN or curve[0].equity <= 0:
        return None
    return curve[-1].equity / curve[0].equity - 1.0


def drawdown(curve: Sequence[Point]) -> float | None:
    """How far the last point is below the highest, as a fraction of that; None without a peak."""
    peak = max((point.equity for point in curve), default=Micros(0))
    return (peak - curve[-1].equity) / peak if peak > 0 else None


def max_drawdown(curve: Sequence[Point]) -> float | None:
    """The deepest fall from a peak to a later point, as a fraction of that peak.

    0 of a curve that never fell; None while no point is above 0.
    """
    deepest: float | None = None
    peak = 0
    for point in curve:
        peak = max(peak, point.equity)
        if peak > 0:
            deepest = max(deepest or 0.0, (peak - point.equity) / peak)
    return deepest


def day_closes(curve: Sequence[Point]) -> list[Micros]:
    """The equity at the end of each whole day UTC, micros; of one without a point the day before's.

    The first day begins before the curve and the last one is not over: it counts to its last point.
    """
    if not curve:
        return []
    first, last = int(curve[0].at // DAY_S), int(curve[-1].at // DAY_S)
    ends = (math.nextafter((day + 1) * DAY_S, 0.0) for day in range(first, last + 1))
    closes = (equity_at(curve, Timestamp(end)) for end in ends)
    return [close for close in closes if close is not None]


def daily_returns(curve: Sequence[Point]) -> list[float]:
    """The gain of each day over the close of the day before, as a fraction of that.

    A day after a close that is not above 0 is left out: nothing can be earned on nothing.
    """
    return [after / before - 1.0 for before, after in pairwise(day_closes(curve)) if before > 0]


def sharpe(curve: Sequence[Point]) -> float | None:
    """Mean over sample deviation of the daily returns, times the root of 365: a year's ratio.

    None of fewer than two returns, and where they do not deviate. # ours: no rate of interest is
    taken off, as play money earns none.
    """
    returns = daily_returns(curve)
    if len(returns) < RETURNS_MIN:
        return None
    mean = math.fsum(returns) / len(returns)
    variance = math.fsum((one - mean) ** 2 for one in returns) / (len(returns) - 1)
    if not variance > 0.0:
        return None
    ratio = mean / math.sqrt(variance) * math.sqrt(DAYS_A_YEAR)
    return ratio if math.isfinite(ratio) else None


def sortino(curve: Sequence[Point]) -> float | None:
    """Mean of the daily returns over the root of the mean of their squares below 0, a year's ratio.

    None of fewer than two returns, and where none is below 0.
    """
    found = daily_returns(curve)
    if len(found) < RETURNS_MIN:
        return None
    below = math.fsum(min(0.0, one) ** 2 for one in found) / len(found)
    if not below > 0.0:
        return None
    mean = math.fsum(found) / len(found)
    ratio = mean / math.sqrt(below) * math.sqrt(DAYS_A_YEAR)
    return ratio if math.isfinite(ratio) else None


def under_water_s(curve: Sequence[Point]) -> float | None:
    """The longest time from a peak to the point that reaches it again, or to the end; seconds.

    0 of a curve that never fell; None of one without a point.
    """
    if not curve:
        return None
    longest, peak, fell = 0.0, curve[0], False
    for point in curve:
        if fell or point.equity < peak.equity:
            # The way back up is under water too.
            longest = max(longest, point.at - peak.at)
            fell = True
        if point.equity >= peak.equity:
            peak, fell = point, False
    return longest


def mean_of(values: Iterable[float]) -> float | None:
    """The mean; None of nothing."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a period brought: its first day, and micros."""

    first_day: date
    gained: Micros


def gains(curve: Sequence[Point], period: Period) -> tuple[Gain, ...]:
    """The change of the equity in each period that has a point, oldest first, in micros.

    The sum of all is the last point less the first one. A period without a point changed nothing.
    """
    found: dict[date, Micros] = {}
    before = curve[0].equity if curve else Micros(0)
    for point in curve:
        first_day = period.first_day(point.at)
        found[first_day] = Micros(found.get(first_day, 0) + point.equity - before)
        before = point.equity
    return tuple(Gain(day, gained) for day, gained in found.items())
