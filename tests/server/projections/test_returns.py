"""The returns of an agent from its marks: days by hand, and few points of a long life."""

from datetime import date

import pytest

from kit.engine.bare import bare_world
from service_tui.engine.agents.marks import Mark
from service_tui.evaluation.returns import Point
from service_tui.server.projections.returns import (
    POINTS_MAX,
    MoneyHistory,
    curve_of,
    history_of,
    returns_body,
    thinned,
)
from service_tui.units import ONE, Micros, Timestamp

MIDNIGHT = 1_799_971_200
"""2027-01-15 00:00 UTC, a Friday."""
HOUR = 3_600


def mark(hours: float, worth: float) -> Mark:
    micros = Micros(round(worth * ONE))
    return Mark(Timestamp(MIDNIGHT + hours * HOUR), micros, micros)


def history(*marks: Mark, now: Point, peak: float = 0.0) -> MoneyHistory:
    first_cash = Micros(100 * ONE)
    born_at = Timestamp(MIDNIGHT - 90 * 24 * HOUR)
    return MoneyHistory("ada", born_at, first_cash, Micros(round(peak * ONE)), marks, now, 3, 1)


def point(hours: float, worth: float) -> Point:
    return Point(Timestamp(MIDNIGHT + hours * HOUR), Micros(round(worth * ONE)))


def test_a_day_ends_with_what_the_first_mark_of_a_later_one_shows() -> None:
    # Bought at 10:00, worth less at once; nothing until Monday, when it is worth less still.
    one = history(
        mark(10, 100), mark(10.1, 98), mark(20, 104), mark(78, 90), now=point(79, 95), peak=104
    )
    body = returns_body(one)
    found = [(day.first_day, day.gained) for day in body.days]
    # From 20:00 on nothing happened before midnight: the fall belongs to the mark's own day.
    assert found == [(date(2027, 1, 15), -10.0), (date(2027, 1, 18), 5.0)]
    assert [(week.first_day, week.gained) for week in body.weeks] == [
        (date(2027, 1, 11), -10.0), (date(2027, 1, 18), 5.0),
    ]  # fmt: skip
    assert [month.gained for month in body.months] == [-5.0]
    assert body.total_return == pytest.approx(-0.05)
    assert body.drawdown == pytest.approx(9 / 104)
    assert body.max_drawdown == pytest.approx(14 / 104)
    assert body.hit_rate == 0.75


def test_a_peak_that_no_mark_shows_any_more_still_counts() -> None:
    body = returns_body(history(mark(1, 100), now=point(2, 100), peak=125))
    assert (body.drawdown, body.max_drawdown) == (0.2, 0.2)


def test_an_agent_that_never_traded_has_one_point_and_no_figure_of_days() -> None:
    world = bare_world("ada")
    body = returns_body(history_of(world, world.agents["ada"], world.at))
    assert {one.equity for one in body.points} == {10_000.0}
    assert (body.total_return, body.drawdown, body.max_drawdown) == (0.0, 0.0, 0.0)
    assert (body.sharpe, body.hit_rate) == (None, None)
    assert body.days == body.weeks == body.months == ()


def test_days_without_an_event_are_closed_as_they_began() -> None:
    one = history(mark(10, 100), now=point(60, 90), peak=100)
    assert [(day.first_day, day.gained) for day in returns_body(one).days] == [
        (date(2027, 1, 15), -10.0)
    ]


@pytest.mark.parametrize("count", [2, POINTS_MAX, POINTS_MAX + 1, 348])
def test_a_long_life_has_few_points_with_both_its_ends(count: int) -> None:
    curve = [point(place if place % 3 else place + 0.5, 100 + place) for place in range(count)]
    kept = thinned(curve)
    assert (kept[0], kept[-1]) == (curve[0], curve[-1])
    assert len(kept) == min(count, len(kept)) <= POINTS_MAX
    assert set(kept) <= set(curve)
    assert list(kept) == sorted(kept)


def test_the_curve_ends_now_and_never_goes_back_in_time() -> None:
    one = history(mark(23.9999, 100), mark(24, 101), mark(25, 99), now=point(25.5, 98))
    times = [at for at, _ in curve_of(one)]
    assert times == sorted(times)
    assert curve_of(one)[-1] == point(25.5, 98)
