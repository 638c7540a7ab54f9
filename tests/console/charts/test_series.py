"""Values over time and windows on them: what holds when, and what is in sight."""

from dataclasses import replace

import pytest

from service_tui.console.charts.series import (
    Below,
    TimeSeries,
    Window,
    last_point,
    measured,
    price_text,
)
from service_tui.console.widgets.chart_lines import NewsMark

POINTS = ((10.0, 1.0), (20.0, 2.0), (20.0, 3.0), (30.0, 4.0))
SERIES = TimeSeries("price", POINTS, "nothing yet")
WHOLE = Window(0.0, 100.0)


@pytest.mark.parametrize(
    ("when", "point"),
    [(9.9, None), (10.0, (10.0, 1.0)), (19.9, (10.0, 1.0)), (20.0, (20.0, 3.0)),
     (29.9, (20.0, 3.0)), (99.0, (30.0, 4.0))],
)  # fmt: skip
def test_a_value_holds_until_the_next_one(when: float, point: tuple[float, float] | None) -> None:
    assert last_point(POINTS, when) == point
    assert SERIES.at(when) == point
    assert last_point((), when) is None


def test_the_span_reaches_to_whatever_came_last() -> None:
    assert SERIES.span == (10.0, 30.0)
    mark = NewsMark(44.0, "a trade")
    assert replace(SERIES, marks=(NewsMark(5.0, "x"), mark)).span == (10.0, 44.0)
    assert replace(SERIES, below=((60.0, 1.0), (33.0, 1.0))).span == (10.0, 33.0)
    assert replace(SERIES, below=((1.0, 1.0), (29.0, 1.0))).span == (10.0, 30.0)
    assert replace(SERIES, points=(), marks=(mark,)).span == (0.0, 0.0)


@pytest.mark.parametrize(
    ("after", "until", "amount"),
    [(0, 9, 0.0), (0, 10, 1.0), (10, 20, 2.0), (9, 20, 3.0), (20, 30, 4.0), (10, 30, 6.0),
     (30, 99, 0.0)],
)  # fmt: skip
def test_amounts_below_are_summed_behind_the_first_time_up_to_the_second(
    after: float, until: float, amount: float
) -> None:
    below = ((10.0, 1.0), (20.0, 2.0), (30.0, 4.0))
    series = replace(SERIES, below=below, below_is=Below.SUM)
    assert series.below_in(after, until) == amount


def test_amounts_of_a_time_before_they_were_known_are_unknown() -> None:
    series = replace(SERIES, below=((20.0, 2.0),), below_is=Below.SUM, below_since=15.0)
    assert series.below_in(0, 14.9) is None
    assert series.below_in(0, 15.0) == 0.0
    assert series.below_in(15.0, 20.0) == 2.0


def test_a_level_below_is_that_at_the_end() -> None:
    levels = ((10.0, 5.0), (20.0, 7.0))
    series = replace(SERIES, below=levels, below_is=Below.LEVEL, below_since=99.0)
    assert [series.below_in(0, at) for at in (9.0, 10.0, 19.0, 20.0)] == [None, 5.0, 5.0, 7.0]


def test_a_price_is_written_as_its_column_shows_it() -> None:
    assert price_text(0.4126) == "0.413"


@pytest.mark.parametrize(
    ("window", "within"),
    [
        (Window(20, 40), Window(20, 40)),
        (Window(-10, 10), Window(0, 20)),
        (Window(95, 115), Window(80, 100)),
        (Window(-50, 150), Window(0, 100)),
    ],
)
def test_a_window_is_moved_into_the_whole_and_cut_to_it(window: Window, within: Window) -> None:
    assert window.within(WHOLE) == within


@pytest.mark.parametrize(
    ("place", "moved"),
    [
        (30, Window(20, 40)),
        (20, Window(20, 40)),
        (40, Window(20, 40)),
        (10, Window(10, 30)),
        (50, Window(30, 50)),
        (-5, Window(0, 20)),
        (120, Window(80, 100)),
    ],
)
def test_a_window_is_moved_no_further_than_a_place_needs(place: float, moved: Window) -> None:
    assert Window(20, 40).around(place, WHOLE) == moved


@pytest.mark.parametrize(
    ("factor", "around", "least", "zoomed"),
    [
        (0.5, 30, 1, Window(25, 35)),
        (0.5, 20, 1, Window(20, 30)),
        (0.5, 25, 1, Window(22.5, 32.5)),
        (0.5, 99, 1, Window(30, 40)),
        (0.5, 0, 1, Window(20, 30)),
        (2.0, 30, 1, Window(10, 50)),
        (2.0, 20, 1, Window(20, 60)),
        (0.1, 30, 8, Window(26, 34)),
        (9.0, 30, 1, Window(0, 100)),
    ],
)
def test_zooming_keeps_the_place_where_it_is(
    factor: float, around: float, least: float, zoomed: Window
) -> None:
    found = Window(20, 40).zoomed(factor, around, WHOLE, least)
    assert (found.first, found.last) == pytest.approx((zoomed.first, zoomed.last))


def test_a_window_without_length_is_zoomed_about_its_middle() -> None:
    found = Window(30, 30).zoomed(2.0, 30, WHOLE, 10)
    assert (found.first, found.last) == (25, 35)
    assert found.length == 10


PRICES = TimeSeries("YES", ((0.0, 0.4), (60.0, 0.5)), "", bounds=(0.0, 1.0))
MONEY = TimeSeries(
    "equity", ((0.0, 200.0), (60.0, 150.0)), "", write=lambda value: f"{value:.0f} $"
)


@pytest.mark.parametrize(
    ("series", "fixed", "cursor", "text"),
    [
        (PRICES, 0.0, 90.0, "measured over 1m 30s: 0.400 to 0.500, +10.0 pt, +25.0%"),
        # From either end the earlier place is the first.
        (PRICES, 90.0, 0.0, "measured over 1m 30s: 0.400 to 0.500, +10.0 pt, +25.0%"),
        (MONEY, 0.0, 60.0, "measured over 1m 00s: 200 $ to 150 $, -50 $, -25.0%"),
        (PRICES, -5.0, 60.0, ""),
        (replace(MONEY, points=()), 0.0, 60.0, ""),
    ],
)
def test_a_range_of_a_line_is_measured_between_two_places(
    series: TimeSeries, fixed: float, cursor: float, text: str
) -> None:
    assert measured(series, fixed, cursor) == text


def test_the_volume_between_two_places_is_measured_where_it_is_known() -> None:
    series = replace(PRICES, below=((10.0, 7.0),), below_is=Below.SUM)
    assert measured(series, 0.0, 60.0).endswith(", volume 7.000")
    assert "volume" not in measured(replace(series, below_since=99.0), 0.0, 60.0)
