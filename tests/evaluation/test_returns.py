"""Figures of a curve and of a ledger against formulas worked out another way."""

import statistics
from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.evaluation.returns import (
    Claim,
    Closed,
    Period,
    Point,
    brier,
    claimed_edge,
    daily_returns,
    day_closes,
    drawdown,
    equity_at,
    gains,
    hit_rate,
    max_drawdown,
    realised_by,
    realised_by_skill,
    realised_edge,
    sharpe,
    total_return,
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
closings = st.lists(
    st.builds(
        Closed,
        st.integers(MIDNIGHT, MIDNIGHT + 90 * DAY).map(Timestamp),
        st.integers(-(10**9), 10**9).map(Micros),
        st.sampled_from(("", "gauge", "momentum")),
    ),
    max_size=30,
)
claims = st.lists(
    st.builds(
        Claim,
        st.none() | st.floats(0, 1),
        st.none() | st.booleans(),
        st.none() | st.floats(-1, 1),
        st.floats(0.001, 0.999),
    ),
    max_size=30,
)


def test_what_is_undefined_is_none_and_never_zero() -> None:
    one = curve_of((0, 100))
    assert (total_return([]), total_return(one)) == (None, None)
    assert total_return(curve_of((0, 0), (1, 5))) is None
    assert (drawdown([]), max_drawdown([]), drawdown(curve_of((0, 0)))) == (None, None, None)
    # Two days have one return, which deviates from nothing; and equal returns do not deviate.
    assert sharpe(curve_of((0, 100), (1, 110))) is None
    assert sharpe(curve_of((0, 100), (1, 100), (2, 100), (3, 100))) is None
    assert (hit_rate([]), hit_rate([Closed(Timestamp(1.0), Micros(0))])) == (None, None)
    unknown = [Claim(0.5, None, 0.1, 0.4), Claim(None, True, None, 0.4)]  # noqa: FBT003 - a row
    assert (brier(unknown), claimed_edge(unknown), realised_edge(unknown)) == (None, None, None)


def test_a_ledger_worked_out_by_hand() -> None:
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

    made = [Claim(0.8, True, 0.1, 0.7), Claim(0.6, False, 0.2, 0.4)]  # noqa: FBT003 - rows
    assert brier(made) == pytest.approx((0.04 + 0.36) / 2)
    assert claimed_edge(made) == pytest.approx(0.15)
    assert realised_edge(made) == pytest.approx((0.3 - 0.4) / 2)


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


@given(closings, st.sampled_from(Period))
def test_closings_add_up_by_period_and_by_skill_to_the_micro(
    closed: Sequence[Closed], period: Period
) -> None:
    total = sum(one.pnl for one in closed)
    assert sum(realised_by(closed, period).values()) == total
    by_skill = realised_by_skill(closed)
    assert sum(by_skill.values()) == total
    assert set(by_skill) == {one.skill for one in closed}
    wins, losses = sum(one.pnl > 0 for one in closed), sum(one.pnl < 0 for one in closed)
    rate = hit_rate(closed)
    assert rate == (wins / (wins + losses) if wins + losses else None)


@given(claims)
def test_claims_are_averages_of_those_with_an_outcome(made: Sequence[Claim]) -> None:
    sure = [(one.confidence, one.won) for one in made if None not in {one.confidence, one.won}]
    squares = [(float(p or 0) - bool(won)) ** 2 for p, won in sure]
    assert brier(made) == (pytest.approx(statistics.mean(squares)) if squares else None)
    edges = [one for one in made if one.edge is not None and one.won is not None]
    claimed, realised = claimed_edge(made), realised_edge(made)
    if not edges:
        assert (claimed, realised) == (None, None)
        return
    assert claimed == pytest.approx(statistics.mean(one.edge or 0.0 for one in edges))
    assert realised == pytest.approx(statistics.mean(bool(one.won) - one.price for one in edges))
