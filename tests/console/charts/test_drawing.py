"""Charts over time, cell by cell: what is in sight, the cursor, and the lower part."""

from dataclasses import replace

import pytest

from service_tui.console import formats
from service_tui.console.charts.drawing import (
    Drawn,
    _below_range,
    _columns,
    _in_sight,
    centered,
    drawn_time,
)
from service_tui.console.charts.series import Below, TimeSeries, Window
from service_tui.units import Timestamp

POINTS = ((0.0, 1.0), (50.0, 2.0), (100.0, 3.0))
SERIES = TimeSeries("price", POINTS, "nothing yet")


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
    shallow = replace(level, below=((0.0, 0.0), (50.0, -0.25)))
    assert _below_range(shallow, Window(0.0, 100.0)) == (-0.25, 0.0)
    fallen = replace(level, below=((0.0, 0.0), (50.0, -4.0)))
    assert _below_range(fallen, Window(0.0, 100.0)) == (-4.0, 0.0)
    assert _below_range(replace(SERIES, below_is=Below.SUM), Window(0.0, 100.0)) == (0.0, 1.0)
    # A column holds all that lies below it, and may hold everything.
    summed = replace(SERIES, below=((10.0, 2.0), (11.0, 3.0)), below_is=Below.SUM)
    assert _below_range(summed, Window(0.0, 100.0)) == (0.0, 5.0)


def test_a_level_is_drawn_from_what_held_at_the_beginning_and_named_at_its_lowest() -> None:
    def below(*points: tuple[float, float]) -> list[str]:
        level = replace(
            SERIES, below=points, below_is=Below.LEVEL, below_title="loss", write_below=str
        )
        lines = text(drawn_time(level, (40, 20), Window(0.0, 100.0), None)).splitlines()
        rule = next(place for place, line in enumerate(lines) if "loss" in line)
        return lines[rule + 1 : -2]

    rows = below((0.0, -1.0), (50.0, -4.0))
    assert [line.split()[0] for line in rows if "-" in line] == ["-4.0"]
    assert "-4.0" in rows[-1]
    # What came before or after the window has no place in it.
    assert below((-90.0, -9.0), (-50.0, -1.0), (50.0, -4.0), (150.0, -8.0)) == rows


def test_a_lower_part_without_an_amount_yet_is_there() -> None:
    series = replace(SERIES, below_is=Below.SUM, below_title="volume, $SIM")
    assert "volume, $SIM" in text(drawn_time(series, (40, 14), Window(0.0, 100.0), None))
    assert "volume, $SIM" not in text(drawn_time(series, (40, 11), Window(0.0, 100.0), None))


@pytest.mark.parametrize(("height", "below"), [(14, 3), (15, 3), (20, 4), (40, 8)])
def test_the_lower_part_has_a_fifth_of_the_height_and_three_lines_at_least(
    height: int, below: int
) -> None:
    series = replace(SERIES, below=((50.0, 2.0),), below_is=Below.SUM, below_title="volume")
    lines = text(drawn_time(series, (60, height), Window(0.0, 100.0), None)).splitlines()
    assert len(lines) == height
    (rule,) = [place for place, line in enumerate(lines) if "volume" in line]
    # Behind the lower part stand the axis and its times.
    assert height - rule - 3 == below


@pytest.mark.parametrize(("height", "place"), [(1, 0), (4, 1), (5, 2)])
def test_the_sentence_of_an_empty_chart_stands_in_its_middle(height: int, place: int) -> None:
    lines = centered("no trades", (21, height))
    assert [bool(line) for line in lines] == [row == place for row in range(height)]
    assert lines[place][0][0] == "      no trades      "


def test_the_figures_of_a_column_are_those_that_hold_there_with_the_amount_of_it_alone() -> None:
    day = 86_400.0
    points = ((0.0, 0.25), (day, 0.75))
    series = replace(
        SERIES, points=points, below=((0.0, 5.0), (day, 2.0)), below_is=Below.SUM,
        below_title="volume, $SIM", write_below=str,
    )  # fmt: skip
    window = Window(0.0, 4 * day)
    drawn = drawn_time(series, (60, 20), window, 2 * day)
    # The datum of the first day holds two days later, and nothing was traded then.
    assert drawn.reading == f"{formats.moment(Timestamp(day), 4 * day)}  0.750  volume 0.0"
    first = drawn_time(series, (60, 20), window, 0.0).reading
    assert first.endswith("0.250  volume 5.0")


def test_several_lines_share_their_axes_and_each_ends_in_its_number() -> None:
    other = ((0.0, 1.0), (100.0, -7.0))
    series = replace(SERIES, others=(other,), names=("heron", "moss"))
    drawn = drawn_time(series, (40, 12), Window(0.0, 100.0), None)
    ends = [line[-1][0][-1:] for line in drawn.lines]
    assert [row for row, end in enumerate(ends) if end == "1"] < [
        row for row, end in enumerate(ends) if end == "2"
    ]
    # Where both lines begin, one cell has the dots of both.
    assert drawn.reading.endswith("  1 heron 3.000  2 moss -7.000")
    before = drawn_time(series, (40, 12), Window(0.0, 100.0), 0.0).reading
    assert "1 heron 1.000  2 moss 1.000" in before
    assert series.span == (0.0, 100.0)
    assert replace(series, others=(((-9.0, 1.0),),)).span == (-9.0, 100.0)


def test_two_numbers_at_one_height_stand_beside_each_other() -> None:
    series = replace(SERIES, others=(POINTS,), names=("heron", "moss"))
    assert "21" in text(drawn_time(series, (40, 12), Window(0.0, 100.0), None))
