import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Offset, Region, Size
from textual.strip import Strip
from textual.widget import Widget

from kit.console.alone import event
from kit.console.painted import strips_of
from kit.console.snapshot import assert_snapshot
from service_tui.console import formats, theme
from service_tui.console.widgets import price_chart
from service_tui.console.widgets.braille import (
    PlotFrame,
    time_ticks,
    traced,
    value_range,
    value_ticks,
)
from service_tui.console.widgets.price_chart import NewsMark, PriceChart
from service_tui.units import Timestamp

START = 1_800_000_000.0
DAY = 86_400.0
EVIL = "[@click=app.quit]title[/] [/red]"

Points = list[tuple[Timestamp, float]]


def wave(count: int, *, height: float = 0.2) -> Points:
    step = DAY / max(1, count - 1)
    return [
        (Timestamp(START + at * step), 0.5 + height * math.sin(at * 9 / count))
        for at in range(count)
    ]


NEWS = (
    NewsMark(Timestamp(START + DAY / 4), "The gauge [rises].", up=True),
    NewsMark(Timestamp(START + DAY / 2), "The gauge falls.", up=False),
    NewsMark(Timestamp(START + DAY * 3 / 4), "The gauge rests."),
    NewsMark(Timestamp(START - DAY), "Long ago."),
)


class Bare(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, chart: PriceChart) -> None:
        super().__init__()
        for each in theme.load_themes(theme.shipped_folder()).themes:
            self.register_theme(each)
        self.theme = "night"
        self.chart = chart

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.chart


def chart() -> PriceChart:
    return PriceChart(when=lambda at, span: formats.moment(at, span, UTC))


def lines_of(app: App[None]) -> list[str]:
    return [strip.text for strip in strips_of(app.screen)]


def has_line(text: str) -> bool:
    return any("\u2800" < letter <= "\u28ff" for letter in text)


@pytest.mark.slow
async def test_the_chart_looks_as_it_is_kept() -> None:
    app = Bare(chart())
    async with app.run_test(size=(100, 20)) as pilot:
        until = Timestamp(START + DAY * 1.1)
        app.chart.show(wave(500), entry=0.43, news=NEWS, title=f"YES {EVIL}", until=until)
        await assert_snapshot(pilot, "price_chart", themes=("night", "dune"))
        app.chart.focus()
        app.chart.action_read(-1)
        app.chart.action_read(-51)
        await assert_snapshot(pilot, "price_chart_reading")


async def test_no_points_say_so_and_one_or_two_are_a_line() -> None:
    app = Bare(chart())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert "no prices yet" in "\n".join(lines_of(app))
        assert app.chart.reading() is None
        for points in (wave(1), wave(2), [*wave(1), *wave(1)]):
            app.chart.show(points)
            await pilot.pause()
            assert has_line("\n".join(lines_of(app)))
        app.chart.show(())
        await pilot.pause()
        assert not has_line("\n".join(lines_of(app)))


async def test_equal_prices_are_a_flat_line_and_noise_is_no_news() -> None:
    app = Bare(chart())
    async with app.run_test(size=(60, 14)) as pilot:
        app.chart.show(wave(50, height=0.0))
        await pilot.pause()
        assert sum(has_line(line) for line in lines_of(app)) == 1
        app.chart.show(wave(50, height=0.0004))
        await pilot.pause()
        assert sum(has_line(line) for line in lines_of(app)) <= 2


@pytest.mark.slow
async def test_every_size_is_filled_and_none_is_too_small() -> None:
    app = Bare(chart())
    async with app.run_test(size=(100, 20)) as pilot:
        app.chart.show(wave(300), entry=0.61, news=NEWS, title="日本語 " * 40)
        app.chart.focus()
        await pilot.press("left")
        for size in ((24, 8), (23, 6), (10, 5), (7, 4), (4, 3), (1, 1), (2, 30), (200, 2), (90, 9)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            lines = lines_of(app)
            assert len(lines) == size[1]
            assert all(cell_len(line) == size[0] for line in lines), size


@pytest.mark.slow
async def test_the_keys_read_time_and_price_and_the_news_of_the_moment() -> None:
    app = Bare(chart())
    async with app.run_test(size=(100, 20)) as pilot:
        app.chart.show(wave(500), news=NEWS, title="YES")
        app.chart.focus()
        assert app.chart.reading() is None
        await pilot.press("left")
        reading = app.chart.reading()
        assert reading is not None
        assert reading.at == START + DAY
        assert reading.value == wave(500)[-1][1]
        await pilot.press("home")
        first = app.chart.reading()
        assert first is not None
        assert first.at < START + DAY / 50
        await pilot.press("end", "left")
        later = app.chart.reading()
        assert later is not None
        assert first.at < later.at < reading.at
        while (now := app.chart.reading()) is not None and now.news is None:
            app.chart.action_read(-1)
        await pilot.pause()
        assert now is not None
        assert now.news == NEWS[2]
        assert lines_of(app)[0].startswith("◆ The gauge rests.")
        assert lines_of(app)[0].rstrip().endswith(formats.price(now.value).plain)


@pytest.mark.slow
async def test_the_mouse_reads_and_takes_its_reading_along() -> None:
    app = Bare(chart())
    async with app.run_test(size=(100, 20)) as pilot:
        app.chart.show(wave(500), title="YES")
        await pilot.pause()
        await pilot.hover(PriceChart, offset=(50, 8))
        middle = app.chart.reading()
        assert middle is not None
        assert abs(middle.at - (START + DAY / 2)) < DAY / 20
        await pilot.hover(PriceChart, offset=(0, 8))
        left = app.chart.reading()
        assert left is not None
        assert left.at < START + DAY / 50
        app.chart._pointer_left()
        assert app.chart.reading() is None


async def test_money_has_its_own_axis() -> None:
    equity = PriceChart(
        value=lambda value: f"{value:,.0f}",
        when=lambda at, span: formats.moment(at, span, UTC),
        bounds=None,
        span_min=1.0,
    )
    app = Bare(equity)
    async with app.run_test(size=(60, 14)) as pilot:
        equity.show([(at, 10_000 + 300 * price) for at, price in wave(60)], title="Equity $")
        await pilot.pause()
        labels = [line.split()[0] for line in lines_of(app)[1:-2] if line[:1] != " "]
        assert labels
        assert all(label.startswith("10,") for label in labels)


async def test_what_is_not_finite_is_left_out() -> None:
    app = Bare(chart())
    async with app.run_test(size=(60, 14)) as pilot:
        odd: Points = [(Timestamp(START), math.nan), (Timestamp(math.inf), 0.5), *wave(3)]
        app.chart.show(odd, entry=math.nan)
        await pilot.pause()
        assert len(app.chart._points) == 3
        assert "entry" not in "\n".join(lines_of(app))


def frame(columns: int, rows: int, points: Sequence[tuple[float, float]]) -> PlotFrame:
    low, high = value_range([value for _, value in points], (0.0, 1.0), 0.02)
    return PlotFrame(columns, rows, points[0][0], points[-1][0], low, high)


def test_a_rise_is_drawn_from_the_lower_left_to_the_upper_right() -> None:
    points = [(float(at), at / 10) for at in range(11)]
    lines = traced(points, frame(8, 4, points))
    assert lines[0].strip()
    assert lines[0].startswith("    ")
    assert lines[3].rstrip() == lines[3][: len(lines[3].rstrip())]
    assert lines[3].endswith("    ")
    assert lines[3][0] != " "


def test_a_price_holds_until_the_next_one() -> None:
    points = [(0.0, 0.2), (90.0, 0.8), (100.0, 0.8)]
    lines = traced(points, frame(10, 5, points))
    bottom = next(line for line in reversed(lines) if line.strip())
    assert len(bottom.rstrip()) >= 9


PRICES = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1)), min_size=1, max_size=60).map(
    sorted
)


@pytest.mark.slow
@given(PRICES, st.integers(1, 60), st.integers(1, 20))
def test_the_line_is_unbroken_from_the_first_price_to_the_right_edge(
    points: list[tuple[float, float]], columns: int, rows: int
) -> None:
    lines = traced(points, frame(columns, rows, points))
    assert [len(line) for line in lines] == [columns] * rows
    drawn = ["".join(line[column] for line in lines).strip() != "" for column in range(columns)]
    assert all(drawn)


@pytest.mark.slow
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.sampled_from([None, (0.0, 1.0)]),
    st.floats(1e-6, 0.5),
)
@example([0.0, 0.203125], (0.0, 1.0), 0.234375)
def test_the_axis_holds_every_value_and_keeps_within_its_bounds(
    values: list[float], bounds: tuple[float, float] | None, span_min: float
) -> None:
    low, high = value_range(values, bounds, span_min)
    assert low < high
    assert low <= min(values)
    assert max(values) <= high
    assert high - low >= span_min * 0.999
    if bounds is not None:
        assert 0.0 <= low < high <= 1.0


@given(st.floats(-1e9, 1e9))
def test_equal_amounts_of_money_have_an_axis_too(value: float) -> None:
    low, high = value_range([value], None, 1e-9)
    assert low < value < high


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(0, 10))
def test_ticks_are_round_few_and_inside(low: float, span: float, count: int) -> None:
    ticks = value_ticks(low, low + span, count)
    assert len(ticks) <= count + 1
    assert all(low - span * 1e-6 <= tick <= low + span * 1.000001 for tick in ticks)
    assert list(ticks) == sorted(set(ticks))


@given(st.floats(0, 2e9), st.floats(0, 1e9), st.integers(0, 12))
def test_times_on_the_axis_are_few_and_inside(first: float, span: float, count: int) -> None:
    ticks = time_ticks(first, first + span, count)
    assert len(ticks) <= count + 1
    assert all(first <= tick <= first + span for tick in ticks)


@pytest.mark.parametrize(
    ("span", "step"), [(600, 120), (3_600, 600), (86_400, 21_600), (604_800, 172_800)]
)
def test_times_on_the_axis_are_round(span: float, step: float) -> None:
    ticks = time_ticks(START, START + span, 6)
    steps = {later - earlier for earlier, later in pairwise(ticks)}
    assert steps == {step}
    assert all(tick % step == 0 for tick in ticks)


class Sized(PriceChart):
    """A chart of a size, without an app."""

    size = Size(40, 10)

    def refresh(self, *_: Any, **__: Any) -> Any:
        return self


def sized(*values: float, **given: Any) -> Sized:
    made = Sized(when=lambda at, _: f"at {at:.0f}")
    made.show([(Timestamp(at * 10.0), value) for at, value in enumerate(values, 1)], **given)
    return made


def test_a_chart_reaches_to_the_later_one_of_its_last_point_and_what_is_told() -> None:
    for until, last in ((None, 20.0), (15.0, 20.0), (0.0, 20.0), (90.0, 90.0)):
        picture = sized(0.1, 0.2, until=until)._picture()
        assert picture is not None
        assert picture.frame.last == last


def test_the_text_of_an_empty_chart_may_be_taken_away() -> None:
    made = sized()
    for told, shown in ((None, "no prices yet"), ("none here", "none here"), (None, "none here")):
        made.show([], empty=told)
        assert any(shown in text for row in made._drawn() for text, _ in row)
    made.show([], empty="")
    assert not any(text.strip() for row in made._drawn() for text, _ in row)


def test_a_value_of_nothing_is_read_as_one_and_none_before_the_first() -> None:
    made = sized(0.0, 0.5)
    made.action_read(-100_000)
    assert made.reading() is not None
    picture = made._picture()
    assert picture is not None
    assert "0.0" in made._title_and_reading(picture)[1]
    before = replace(picture, frame=replace(picture.frame, first=-100.0), column=0)
    read = made._read(before)
    assert read is not None
    assert read.value is None
    assert made._title_and_reading(before)[1].endswith(formats.NOT_KNOWN)


def test_drawn_lines_are_kept_until_the_theme_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made, changes = sized(0.1), [True, False, True]
    monkeypatch.setattr(made._paint, "prepare", lambda: changes.pop(0))
    monkeypatch.setattr(Widget, "render_lines", lambda *_: [])
    kept: list[int] = []
    for _ in range(3):
        made._strips = [Strip.blank(40)]
        made.render_lines(Region(0, 0, 40, 10))
        kept.append(len(made._strips))
    assert kept == [0, 1, 0]


def test_the_own_entry_widens_the_axis_and_has_its_label() -> None:
    made = sized(0.50, 0.52, entry=0.30)
    picture = made._picture()
    assert picture is not None
    assert picture.frame.low <= 0.30
    assert picture.labels[picture.frame.row_of(0.30)].startswith("0.30")
    without = sized(0.50, 0.52)._picture()
    assert without is not None
    assert without.frame.low > 0.30


@pytest.mark.parametrize(
    ("height", "title", "axis", "times"),
    [
        (price_chart.TITLE_FROM - 1, False, False, False),
        (price_chart.TITLE_FROM, True, False, False),
        (price_chart.AXIS_FROM, True, True, False),
        (price_chart.TIMES_FROM, True, True, True),
    ],
)
def test_a_chart_fills_its_height_and_drops_its_outer_lines_first(
    monkeypatch: pytest.MonkeyPatch, height: int, *, title: bool, axis: bool, times: bool
) -> None:
    monkeypatch.setattr(Sized, "size", Size(40, height))
    made = sized(0.1, 0.9, title="the price")
    lines = ["".join(text for text, _ in row) for row in made._drawn()]
    assert len(lines) == height
    assert lines[0].startswith("the price") is title
    picture = made._picture()
    assert picture is not None
    assert picture.frame.rows == height - sum((title, axis, times))
    assert any("at " in line for line in lines[-1:]) is times


@pytest.mark.parametrize(
    ("width", "has_labels"),
    [(price_chart.LABELS_FROM - 1, False), (price_chart.LABELS_FROM, True), (60, True)],
)
def test_the_labels_stand_beside_the_line_and_never_push_it_out(
    monkeypatch: pytest.MonkeyPatch, width: int, *, has_labels: bool
) -> None:
    monkeypatch.setattr(Sized, "size", Size(width, 10))
    made = sized(0.1, 0.9, 0.4)
    picture = made._picture()
    assert picture is not None
    assert bool(picture.labels) is has_labels
    assert picture.frame.columns + picture.margin == width
    for row in made._drawn():
        assert sum(cell_len(text) for text, _ in row) <= width


@pytest.mark.parametrize("height", [1, 2, 5, 6])
def test_the_text_of_an_empty_chart_stands_in_its_middle(
    monkeypatch: pytest.MonkeyPatch, height: int
) -> None:
    monkeypatch.setattr(Sized, "size", Size(40, height))
    lines = ["".join(text for text, _ in row) for row in sized()._drawn()]
    (place,) = [place for place, line in enumerate(lines) if "no prices yet" in line]
    assert len(lines) == height
    assert place == (height - 1) // 2


def test_the_pointer_reads_the_column_under_it_until_it_leaves() -> None:
    made = sized(0.1, 0.9)
    picture = made._picture()
    assert picture is not None
    edge = picture.frame.columns - 1
    drawn: list[int] = []
    made.refresh = lambda *_, **__: drawn.append(1)  # type: ignore[method-assign]
    for x, column in ((0, 0), (picture.margin, 0), (picture.margin + 5, 5), (1_000, edge)):
        made._pointed(event(get_content_offset=lambda _, x=x: Offset(x, 1)))
        read = made._picture()
        assert read is not None
        assert read.column == column
    # Neither the same column again nor a place outside draws it anew.
    count = len(drawn)
    made._pointed(event(get_content_offset=lambda _: Offset(1_000, 1)))
    made._pointed(event(get_content_offset=lambda _: None))
    assert len(drawn) == count == 3
    reading = made.reading()
    assert reading is not None
    assert reading.value == 0.9
    title, text = made._title_and_reading(made._picture())  # type: ignore[arg-type]
    assert text.startswith("at ")
    assert title == ""
    made._pointer_left()
    assert made.reading() is None
    assert len(drawn) == count + 1
