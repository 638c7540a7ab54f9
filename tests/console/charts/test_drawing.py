"""Charts over time, cell by cell: what is in sight, the cursor, and the lower part."""

from dataclasses import replace

import pytest

from service_tui.console.charts.bars import _ends, drawn_bars
from service_tui.console.charts.drawing import (
    Drawn,
    _below_range,
    _columns,
    _in_sight,
    drawn_time,
)
from service_tui.console.charts.series import BarSeries, Below, ChartBar, TimeSeries, Window
from service_tui.console.widgets.braille import PlotFrame
from service_tui.console.widgets.chart_lines import NewsMark, Picture
from service_tui.units import Timestamp

POINTS = ((0.0, 1.0), (50.0, 2.0), (100.0, 3.0))
SERIES = TimeSeries("price", POINTS, "nothing yet")
FRAME = PlotFrame(20, 4, 0.0, 100.0, -1.0, 1.0)
PICTURE = Picture(FRAME, POINTS, None, (), {}, 0, None)


def text(drawn: Drawn) -> str:
    return "\n".join("".join(piece for piece, _ in line) for line in drawn.lines)


def test_what_holds_at_the_beginning_begins_there() -> None:
    assert _in_sight(POINTS, Window(10.0, 60.0)) == [(10.0, 1.0), (50.0, 2.0)]
    assert _in_sight(POINTS, Window(50.0, 60.0)) == [(50.0, 1.0), (50.0, 2.0)]
    assert _in_sight(POINTS, Window(0.0, 60.0)) == [(0.0, 1.0), (50.0, 2.0)]


def test_a_cursor_at_the_time_0_is_one() -> None:
    drawn = drawn_time(SERIES, (40, 10), Window(0.0, 100.0), 0.0)
    assert drawn.cursor == 0
    assert drawn_time(SERIES, (40, 10), Window(0.0, 100.0), None).cursor is None


def test_a_small_amount_is_seen_and_an_unknown_one_is_a_dot_on_the_ground() -> None:
    assert _columns([0.0, 0.001, 1.0, None], 1.0, 2) == ["  █ ", " ▁█·"]


def test_a_level_that_never_fell_has_an_axis_all_the_same() -> None:
    level = replace(SERIES, below=((0.0, 0.0),), below_is=Below.LEVEL)
    assert _below_range(level, Window(0.0, 100.0)) == (-1.0, 0.0)
    fallen = replace(level, below=((0.0, 0.0), (50.0, -4.0)))
    assert _below_range(fallen, Window(0.0, 100.0)) == (-4.0, 0.0)
    assert _below_range(replace(SERIES, below_is=Below.SUM), Window(0.0, 100.0)) == (0.0, 1.0)


def test_a_lower_part_without_an_amount_yet_is_there() -> None:
    series = replace(SERIES, below_is=Below.SUM, below_title="volume, $SIM")
    assert "volume, $SIM" in text(drawn_time(series, (40, 14), Window(0.0, 100.0), None))
    assert "volume, $SIM" not in text(drawn_time(series, (40, 11), Window(0.0, 100.0), None))


def test_an_entry_of_nothing_has_its_line() -> None:
    rows = replace(PICTURE, points=((0.0, 1.0), (100.0, 1.0)), entry=0.0).plot()
    dashed = [row for row in rows if any("╌" in piece for piece, _ in row)]
    assert len(dashed) == 1
    assert dashed[0] is rows[FRAME.row_of(0.0)]


@pytest.mark.parametrize(("at", "is_seen"), [(-1, False), (0, True), (100, True), (101, False)])
def test_news_at_either_end_is_seen(at: float, is_seen: bool) -> None:  # noqa: FBT001
    mark = NewsMark(Timestamp(at), "it rains")
    assert replace(PICTURE, news=(mark,)).seen_news() == ((mark,) if is_seen else ())


def test_the_axis_shows_a_cursor_in_its_first_column() -> None:
    def inks(column: int | None) -> list[tuple[str, str]]:
        return replace(PICTURE, column=column).axis((5,))[1:]

    assert inks(None)[0] == ("─", "faint")
    assert inks(0)[0] == ("┴", "foreground")
    assert (inks(0)[5], inks(5)[5]) == (("┴", "faint"), ("┴", "foreground"))


def test_a_time_that_would_touch_its_neighbour_is_left_out() -> None:
    assert PICTURE.times({2: "12:00", 7: "13:00", 10: "14:00"})[0][0] == "12:00   14:00"
    assert PICTURE.times({2: "12:00", 9: "13:00"})[0][0] == "12:00  13:00"


BARS = BarSeries("P&L", (ChartBar("ebb", 4.0, "ebb"), ChartBar("moss", None, "moss")), "none")


def test_an_unknown_bar_moves_no_end_of_the_axis() -> None:
    assert _ends(BARS) == (0.0, 4.0)
    assert _ends(replace(BARS, bars=(ChartBar("moss", None, "moss"),))) == (0.0, 1.0)


def test_the_star_of_a_bar_that_fills_the_chart_stands_at_its_top() -> None:
    full = replace(BARS, bounds=(0.0, 4.0), best=0, write=lambda value: f"{value:.0f}")
    drawn = drawn_bars(full, (30, 8), Window(0, 1), None)
    rows = text(drawn).splitlines()
    assert [index for index, row in enumerate(rows) if "★" in row] == [0]
