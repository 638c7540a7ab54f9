"""Charts of bars, cell by cell: their axis, their names, the cursor, and what is unknown."""

from dataclasses import replace

import pytest

from service_tui.console.charts.bars import HEIGHT_MIN, WIDTH_MIN, _ends, _shown, drawn_bars
from service_tui.console.charts.drawing import Drawn
from service_tui.console.charts.series import BarSeries, ChartBar, Window


def whole(value: float) -> str:
    return f"{value:.0f}"


BARS = (
    ChartBar("ebb", 10.0, "ebb: ten"),
    ChartBar("tide", -5.0, "tide: five lost"),
    ChartBar("moss", None, "moss: unknown"),
    ChartBar("calm", 0.0, "calm: nothing"),
)
ROWS = BarSeries("P&L", BARS, "no trades yet", lies=True, write=whole, note="of today")
COLUMNS = replace(ROWS, lies=False, best=0)
ALL = Window(0, 3)


def text(drawn: Drawn) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in drawn.lines]


def inks(drawn: Drawn, row: int) -> list[str]:
    return [ink for _, ink in drawn.lines[row]]


def test_rows_begin_at_the_zero_of_all_and_go_either_way() -> None:
    drawn = drawn_bars(ROWS, (26, 4), ALL, None)
    assert [len(line) for line in text(drawn)] == [26] * 4
    assert [line[:6] for line in text(drawn)] == ["  ebb ", "  tide", "  moss", "  calm"]
    assert [line[-3:] for line in text(drawn)] == [" 10", " -5", "  ?", "  0"]
    bars = [line[7:-3] for line in text(drawn)]
    zero = bars[0].index("█")
    assert bars[0] == " " * zero + "█" * (len(bars[0]) - zero)
    assert bars[1] == "▒" * zero + "│" + " " * (len(bars[1]) - zero - 1)
    assert bars[2] == bars[3] == " " * zero + "│" + " " * (len(bars[2]) - zero - 1)
    assert [inks(drawn, row)[3] for row in range(4)] == ["profit", "loss", "muted", "profit"]
    assert inks(drawn, 0)[1] == "muted"
    assert (drawn.reading, drawn.places) == ("of today", (0.0, 1.0, 2.0, 3.0))


def test_a_row_under_the_cursor_is_marked_and_read() -> None:
    drawn = drawn_bars(ROWS, (26, 4), ALL, 1.4)
    assert [line[0] for line in text(drawn)] == [" ", "▸", " ", " "]
    assert inks(drawn, 1)[1] == inks(drawn, 1)[5] == "bold foreground"
    assert (drawn.reading, drawn.cursor) == ("tide: five lost", 1)


def test_the_marked_row_is_the_bar_under_the_cursor_wherever_the_list_begins() -> None:
    many = replace(
        ROWS, bars=tuple(ChartBar(f"b{place}", -(10.0**place), "") for place in range(7))
    )
    drawn = drawn_bars(many, (40, 4), Window(2, 5), 4.0)
    lines = text(drawn)
    assert [line[:4] for line in lines] == ["  b2", "  b3", "▸ b4", "  b5"]
    # Figures end below one another, however long the others are.
    widest = len("-1000000")
    assert [line[-widest:] for line in lines] == [
        f"{-(10**place)}".rjust(widest) for place in range(2, 6)
    ]
    assert {len(line) for line in lines} == {40}


@pytest.mark.parametrize("size", [(WIDTH_MIN - 1, 9), (40, HEIGHT_MIN - 1)])
def test_a_chart_without_room_or_bars_says_what_it_would_show(size: tuple[int, int]) -> None:
    for series in (ROWS, COLUMNS):
        assert "no trades" in " ".join(text(drawn_bars(series, size, ALL, None)))
        empty = replace(series, bars=())
        assert "no trades yet" in " ".join(text(drawn_bars(empty, (40, 9), ALL, None)))
    assert "no trades" not in " ".join(text(drawn_bars(ROWS, (WIDTH_MIN, HEIGHT_MIN), ALL, None)))


def test_columns_stand_on_their_zero_with_their_names_below() -> None:
    drawn = drawn_bars(COLUMNS, (40, 9), ALL, None)
    lines = text(drawn)
    assert lines[-1].split() == ["ebb", "tide", "moss", "calm"]
    axis = lines[-2]
    assert axis.count("┴") == 4
    # Each name is centred below its notch.
    for label in ("ebb", "tide", "moss", "calm"):
        at = lines[-1].index(label) + len(label) // 2
        assert axis[at] == "┴"
    notches = [at for at, cell in enumerate(axis) if cell == "┴"]
    columns = ["".join(line[at] for line in lines[:-2]) for at in notches]
    assert columns[0][0] in "█★"
    assert set(columns[0]) <= {"█", "★", " "}
    assert columns[1].strip() == "▒" * len(columns[1].strip())
    assert columns[2].strip() == "·"
    assert columns[3].strip() == "▁"
    zero = columns[3].index("▁")
    assert columns[2].index("·") == columns[1].index("▒") == zero
    assert columns[0].rindex("█") == zero
    assert drawn.reading == "of today"


def test_the_best_column_has_a_star_and_its_own_tone_and_the_cursor_another() -> None:
    tones = {ink for line in drawn_bars(COLUMNS, (40, 9), ALL, None).lines for _, ink in line}
    assert {"bold accent", "loss", "muted"} <= tones
    assert "bold foreground" not in tones
    here = drawn_bars(COLUMNS, (40, 9), ALL, 1.0)
    assert "bold foreground" in {ink for line in here.lines for _, ink in line}
    assert text(here)[-2].count("▲") == 1
    assert here.reading == "tide: five lost"
    without = drawn_bars(replace(COLUMNS, best=None), (40, 9), ALL, None)
    assert "★" not in "".join(text(without))
    assert "★" in "".join(text(drawn_bars(COLUMNS, (40, 9), ALL, None)))


def test_a_mark_stands_at_its_own_height() -> None:
    marked = replace(COLUMNS, bars=(replace(BARS[0], mark=0.0), *BARS[1:]), best=None)
    lines = text(drawn_bars(marked, (40, 9), ALL, None))
    (row,) = [place for place, line in enumerate(lines) if "◆" in line]
    assert "▁" in lines[row]
    assert lines[row].index("◆") == lines[-2].index("┴")


@pytest.mark.parametrize(
    ("values", "bounds", "ends"),
    [
        ((10.0, -5.0), None, (-5.0, 10.0)),
        ((10.0, 20.0), None, (0.0, 20.0)),
        ((-10.0, -20.0), None, (-20.0, 0.0)),
        ((0.0, 0.0), None, (0.0, 1.0)),
        ((None, None), None, (0.0, 1.0)),
        ((0.5, 0.9), (0.0, 1.0), (0.0, 1.0)),
    ],
)
def test_the_axis_holds_zero_and_every_value(
    values: tuple[float | None, ...], bounds: tuple[float, float] | None, ends: tuple[float, float]
) -> None:
    bars = tuple(ChartBar("x", value, "") for value in values)
    assert _ends(replace(ROWS, bars=bars, bounds=bounds)) == ends


@pytest.mark.parametrize(
    ("first", "count", "cursor", "shown"),
    [
        (0, 2, None, [0, 1]),
        (2, 2, None, [2, 3]),
        (3, 2, None, [2, 3]),
        (-1, 2, None, [0, 1]),
        (0, 2, 1, [0, 1]),
        (0, 2, 2, [1, 2]),
        (2, 2, 1, [1, 2]),
        (0, 9, 3, [0, 1, 2, 3]),
        (0, 1, 3, [3]),
    ],
)
def test_the_bar_under_the_cursor_is_always_in_sight(
    first: int, count: int, cursor: int | None, shown: list[int]
) -> None:
    assert list(_shown(ROWS, first, count, cursor)) == shown


def test_a_name_that_would_touch_its_neighbour_is_left_out() -> None:
    long = replace(COLUMNS, bars=tuple(replace(one, label=f"{one.label} strategy") for one in BARS))
    names = text(drawn_bars(long, (30, 9), ALL, None))[-1]
    assert "ebb strategy" in names
    assert "tide strategy" not in names


SINGLE = BarSeries("P&L", (ChartBar("ebb", 4.0, "ebb"), ChartBar("moss", None, "moss")), "none")


def test_the_star_of_a_bar_that_fills_the_chart_stands_at_its_top() -> None:
    full = replace(SINGLE, bounds=(0.0, 4.0), best=0, write=lambda value: f"{value:.0f}")
    drawn = drawn_bars(full, (30, 8), Window(0, 1), None)
    rows = text(drawn)
    assert [index for index, row in enumerate(rows) if "★" in row] == [0]
