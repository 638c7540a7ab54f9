"""Figures of a curve of equity against formulas worked out another way."""

import statistics
from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.evaluation.returns import (
    Period,
    Point,
    daily_returns,
    day_closes,
    drawdown,
    equity_at,
    gains,
    max_drawdown,
    sharpe,
    sortino,
    total_return,
    under_water_s,
)
from service_tui.units import ONE, Micros, Timestamp

DAY = 86_400
MIDNIGHT = 1_799_971_200
"""2027-01-15 00:00 UTC, a Friday."""


def curve_of(*points: tuple[float, int]) -> list[Point]:
    """Points by days since midnight and units of money."""
    return [Point(Timestamp(MIDNIGHT + day * DAY), Micros(equity * ONE)) for day, equity in points]


curves = st.lists(
    st.tuples(st.integers(1, 5 * DAY), st.integers(1, 10**12)), min_size=1, max_size=40
).map(
    lambda steps: [
        Point(Timestamp(MIDNIGHT + sum(one for one, _ in steps[: place + 1])), Micros(equity))
        for place, (_, equity) in enumerate(steps)
    ]
)


def test_what_is_undefined_is_none_and_never_zero() -> None:
    one = curve_of((0, 100))
    assert (total_return([]), total_return(one)) == (None, None)
    assert total_return(curve_of((0, 0), (1, 5))) is None
    assert (drawdown([]), max_drawdown([]), drawdown(curve_of((0, 0)))) == (None, None, None)
    # Two days have one return, which deviates from nothing; and equal returns do not deviate.
    assert sharpe(curve_of((0, 100), (1, 110))) is None
    assert sharpe(curve_of((0, 100), (1, 100), (2, 100), (3, 100))) is None


def test_a_curve_worked_out_by_hand() -> None:
    curve = curve_of((0.5, 100), (1.2, 120), (1.9, 110), (3.1, 99), (3.5, 132))
    assert total_return(curve) == pytest.approx(0.32)
    assert max_drawdown(curve) == pytest.approx(0.175)
    assert drawdown(curve) == 0
    assert drawdown(curve[:4]) == pytest.approx(0.175)
    # The day without a point closes as the day before.
    assert day_closes(curve) == [100 * ONE, 110 * ONE, 110 * ONE, 132 * ONE]
    assert daily_returns(curve) == pytest.approx([0.1, 0.0, 0.2])
    assert sharpe(curve) == pytest.approx(0.1 / 0.1 * 365**0.5)
    assert equity_at(curve, Timestamp(MIDNIGHT)) is None
    assert equity_at(curve, curve[1].at) == 120 * ONE


@pytest.mark.parametrize(
    ("period", "first"),
    [
        (Period.DAY, date(2027, 1, 15)),
        (Period.WEEK, date(2027, 1, 11)),
        (Period.MONTH, date(2027, 1, 1)),
    ],
)
def test_a_period_begins_at_midnight_utc(period: Period, first: date) -> None:
    assert period.first_day(Timestamp(MIDNIGHT)) == first
    assert period.first_day(Timestamp(MIDNIGHT + DAY - 1)) == first
    before = Timestamp(MIDNIGHT - 4 * DAY - 1)
    assert (period.first_day(before) == first) is (period is Period.MONTH)


@given(curves)
def test_the_deepest_fall_is_the_worst_of_all_pairs(curve: Sequence[Point]) -> None:
    pairs = [
        Fraction(earlier.equity - later.equity, earlier.equity)
        for place, earlier in enumerate(curve)
        for later in curve[place:]
    ]
    found = max_drawdown(curve)
    assert found == pytest.approx(float(max(pairs)))
    last = drawdown(curve)
    assert last is not None
    assert found is not None
    assert 0 <= last <= found + 1e-12


@given(curves)
def test_the_ratio_is_that_of_the_statistics_of_daily_closes(curve: Sequence[Point]) -> None:
    by_day: dict[date, int] = {}
    for point in curve:
        by_day[datetime.fromtimestamp(point.at, UTC).date()] = point.equity
    days = [
        date.fromordinal(one) for one in range(min(by_day).toordinal(), max(by_day).toordinal() + 1)
    ]
    closes: list[int] = []
    for day in days:
        closes.append(by_day.get(day, closes[-1] if closes else 0))
    returns = [after / before - 1 for before, after in pairwise(closes)]
    found = sharpe(curve)
    if len(returns) < 2 or statistics.variance(returns) == 0:
        assert found is None
    else:
        expected = statistics.mean(returns) / statistics.stdev(returns) * 365**0.5
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(curves, st.sampled_from(Period))
def test_the_periods_add_up_to_the_whole_to_the_micro(
    curve: Sequence[Point], period: Period
) -> None:
    found = gains(curve, period)
    assert sum(one.gained for one in found) == curve[-1].equity - curve[0].equity
    first_days = [one.first_day for one in found]
    assert first_days == sorted(set(first_days))
    for one in found[1:]:
        until = max(point for point in curve if period.first_day(point.at) == one.first_day)
        before = max(point for point in curve if period.first_day(point.at) < one.first_day)
        assert one.gained == until.equity - before.equity


@given(curves)
def test_the_ratio_to_losses_is_that_of_daily_returns_below_nothing(
    curve: Sequence[Point],
) -> None:
    returns = daily_returns(curve)
    losses = [one for one in returns if one < 0]
    found = sortino(curve)
    if len(returns) < 2 or not losses:
        assert found is None
    else:
        below = (sum(one**2 for one in losses) / len(returns)) ** 0.5
        expected = statistics.mean(returns) / below * 365**0.5
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(curves)
def test_the_longest_time_below_a_peak_is_found_by_looking_at_every_pair(
    curve: Sequence[Point],
) -> None:
    longest = 0.0
    for place, peak in enumerate(curve):
        if place and max(one.equity for one in curve[:place]) > peak.equity:
            continue
        after = curve[place + 1 :]
        until = next((n for n, one in enumerate(after) if one.equity >= peak.equity), None)
        below = after if until is None else after[: until + 1]
        if below and below[0].equity < peak.equity:
            longest = max(longest, below[-1].at - peak.at)
    assert under_water_s(curve) == pytest.approx(longest)


def test_a_curve_that_only_rises_is_never_under_water() -> None:
    assert under_water_s(curve_of((0, 1), (1, 2), (5, 3))) == 0
    assert under_water_s(curve_of((0, 5), (1, 2), (5, 3))) == 5 * DAY
    assert under_water_s(curve_of((0, 5), (1, 2), (3, 5), (4, 6))) == 3 * DAY
    assert under_water_s([]) is None
    assert sortino(curve_of((0, 1), (1, 2), (2, 3))) is None
