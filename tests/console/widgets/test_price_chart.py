"""The price chart: lines, axes, entries and news."""

import math
from collections.abc import Sequence
from datetime import UTC
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from kit.console.painted import strips_of
from kit.console.snapshot import assert_snapshot
from service_tui.console import formats, theme
from service_tui.console.widgets.braille import (
    PlotFrame,
    time_ticks,
    traced,
    value_range,
    value_ticks,
)
from service_tui.console.widgets.price_chart import (
    AXIS_FROM,
    LABELS_FROM,
    TIMES_FROM,
    TITLE_FROM,
    NewsMark,
    PriceChart,
)
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
        assert has_line("\n".join(lines_of(app)))
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


@pytest.mark.parametrize(
    ("low", "high", "count", "ticks"),
    [
        (-0.4, 0.9, 1, (0.0, 0.5)),
        (-0.9, 0.9, 1, (-0.5, 0.5)),
        (-1.2, 0.84, 1, (-1.0, 0.0)),
        (0.31, 0.42, 2, (0.35, 0.4)),
    ],
)
def test_an_axis_of_values_has_two_at_least(
    low: float, high: float, count: int, ticks: tuple[float, ...]
) -> None:
    assert value_ticks(low, high, count) == ticks


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


ONE_VALUE, RISE = [(Timestamp(START), 0.5)], [(Timestamp(START), 0.0), (Timestamp(START + 90), 0.9)]


def plain() -> PriceChart:
    """A chart that writes its times as seconds since the first point."""
    return PriceChart(when=lambda at, _: f"at {at - START:.0f}")


async def test_a_chart_reaches_to_the_later_one_of_its_last_point_and_what_is_told() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 10)) as pilot:
        app.chart.focus()
        for until, last in ((None, 90.0), (START + 50.0, 90.0), (0.0, 90.0), (START + 200, 200.0)):
            app.chart.show(RISE, until=None if until is None else Timestamp(until))
            await pilot.press("end", "left", "right")
            reading = app.chart.reading()
            assert reading is not None
            assert reading.at == START + last


async def test_a_reading_has_its_value_or_none_before_the_first() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 10)) as pilot:
        app.chart.show(RISE, title="price")
        await pilot.pause()
        assert lines_of(app)[0].split() == ["price", "0.900"]
        app.chart.focus()
        await pilot.press("home")
        assert lines_of(app)[0].split() == ["price", "at", "3", "0.000"]
        # The same place once more is the first still, and one step leads to the next column.
        await pilot.press("left", "right")
        step = app.chart.reading()
        assert step is not None
        assert START + 3 < step.at < START + 10
        await pilot.press("end")
        assert lines_of(app)[0].split() == ["price", "at", "90", "0.900"]


async def test_the_text_of_an_empty_chart_stands_in_its_middle_and_may_be_another() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 1)) as pilot:
        for height in (1, 2, 5, 6):
            await pilot.resize_terminal(40, height)
            await pilot.pause()
            texts = [line.strip() for line in lines_of(app)]
            assert texts.index("no prices yet") == (height - 1) // 2
        for told, shown in (("none here", "none here"), (None, "none here"), ("", "")):
            app.chart.show([], empty=told)
            await pilot.pause()
            assert "".join(lines_of(app)).strip() == shown


async def test_the_own_entry_widens_the_axis_and_has_its_label() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 10)) as pilot:
        for entry in (None, 0.30):
            app.chart.show([(Timestamp(START), 0.50), (Timestamp(START + 9), 0.52)], entry=entry)
            await pilot.pause()
            assert any(line.startswith("0.300") for line in lines_of(app)) is (entry is not None)


async def test_a_chart_drops_its_outer_lines_first_and_its_labels_where_it_is_narrow() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 10)) as pilot:
        app.chart.show(RISE, title="the price")
        for height, title, axis, times in (
            (TITLE_FROM - 1, False, False, False), (TITLE_FROM, True, False, False),
            (AXIS_FROM, True, True, False), (TIMES_FROM, True, True, True),
        ):  # fmt: skip
            await pilot.resize_terminal(40, height)
            await pilot.pause()
            lines = lines_of(app)
            assert lines[0].startswith("the price") is title
            assert ("at " in lines[-1]) is times
            assert sum(has_line(line) for line in lines) <= height - sum((title, axis, times))
            assert has_line(lines[-1]) is not axis
        for width in (LABELS_FROM - 1, LABELS_FROM, 60):
            await pilot.resize_terminal(width, 10)
            await pilot.pause()
            has_labels = any(line[:2] in {"0.", "1."} for line in lines_of(app)[1:-2])
            assert has_labels is (width >= LABELS_FROM)


@pytest.mark.slow
async def test_the_pointer_reads_the_column_under_it_until_it_leaves() -> None:
    app = Bare(plain())
    async with app.run_test(size=(40, 10)) as pilot:
        app.chart.show(RISE)
        await pilot.pause()
        margin = len("0.900 ")
        times: list[float] = []
        for x in (0, margin, margin + 5, 39):
            await pilot.hover(PriceChart, offset=(x, 1))
            reading = app.chart.reading()
            assert reading is not None
            times.append(reading.at - START)
        assert times[0] == times[1] < times[2] < times[3] == 90
        app.chart.focus()
        await pilot.pause()
        app.screen.set_focus(None)
        await pilot.pause()
        assert app.chart.reading() is None
