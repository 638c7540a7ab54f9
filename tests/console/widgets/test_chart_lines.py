"""The lines of a chart: its dashed entry, its axis with news and cursor, and its times."""

from dataclasses import replace

import pytest

from service_tui.console.widgets.braille import PlotFrame
from service_tui.console.widgets.chart_lines import NewsMark, Picture
from service_tui.units import Timestamp

POINTS = ((0.0, 1.0), (50.0, 2.0), (100.0, 3.0))
FRAME = PlotFrame(20, 4, 0.0, 100.0, -1.0, 1.0)
PICTURE = Picture(FRAME, POINTS, None, (), {}, 0, None)


def test_an_entry_of_nothing_has_its_line() -> None:
    rows = replace(PICTURE, points=((0.0, 1.0), (100.0, 1.0)), entry=0.0).plot()
    dashed = [row for row in rows if any("╌" in piece for piece, _ in row)]
    assert len(dashed) == 1
    assert dashed[0] is rows[FRAME.row_of(0.0)]


def test_an_entry_has_the_tone_of_a_warning_beside_its_line_and_no_dashes_among_candles() -> None:
    row = FRAME.row_of(0.0)
    labels = {row: "0.00", 0: "1.00"}
    for in_candles in (False, True):
        drawn = replace(PICTURE, entry=0.0, labels=labels, margin=6, in_candles=in_candles)
        rows = drawn.plot()
        assert rows[row][0] == (" 0.00 ", "warn")
        assert rows[0][0] == (" 1.00 ", "muted")
        assert any("╌" in piece for piece, _ in rows[row]) is not in_candles


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


def test_the_axis_is_as_long_as_the_plot_and_shows_news_before_a_notch() -> None:
    mark = NewsMark(Timestamp(50), "it rains")
    at = FRAME.column_of(mark.at)
    margin, *axis = replace(PICTURE, news=(mark,), margin=3).axis((at,))
    assert margin == ("   ", "")
    assert len(axis) == FRAME.columns
    assert axis[at] == mark.glyph


def test_a_time_that_would_touch_its_neighbour_is_left_out() -> None:
    assert PICTURE.times({2: "12:00", 7: "13:00", 10: "14:00"})[0][0] == "12:00   14:00"
    assert PICTURE.times({2: "12:00", 9: "13:00"})[0][0] == "12:00  13:00"
