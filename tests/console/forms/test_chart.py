"""The charts: where the cursor goes, what a zoom and a range show, and what is asked for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from textual.pilot import Pilot

from kit.console.host import Host
from kit.console.painted import strips_of
from kit.samples.charts import charted_state
from kit.samples.desk import NOW
from service_tui.console.charts.drawing import Drawn
from service_tui.console.charts.series import TimeSeries, Window
from service_tui.console.charts.sources import ChartName, series_of
from service_tui.console.forms.chart import (
    FAR,
    ChartDialog,
    followed,
    moved_cursor,
    next_range,
    place_under,
)
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import ReadDay
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = charted_state()
assert STATE.detail is not None
MARKET, BEFORE = STATE.detail.market_id, STATE.detail.span_s
HOUR, DAY = 3_600, 86_400
NAMES = list(ChartName)


@pytest.mark.parametrize(
    ("cursor", "by", "to"),
    [
        # The first press shows the newest in sight, wherever it would lead.
        (None, 1, 19), (None, -1, 19), (None, -10, 19), (5, 1, 16), (5, -1, 14), (1, -1, 10),
        (8, 1, 19),
        # Beyond the part in sight, and to either end of all.
        (9, 1, 20), (0, -1, 9), (9, 10, 29), (0, -10, 0), (4, 10, 24), (9, 99, 39),
        (5, -FAR, 0), (5, FAR, 39), (None, -FAR, 0), (None, FAR, 39),
    ],
)  # fmt: skip
def test_the_cursor_moves_by_places_also_beyond_those_in_sight(
    cursor: int | None, by: int, *, to: float
) -> None:
    drawn = Drawn([], cursor=cursor, places=tuple(map(float, range(10, 20))))
    assert moved_cursor(drawn, by, Window(0.0, 39.0)) == to


def test_places_over_time_are_as_far_apart_as_they_are_drawn() -> None:
    drawn = Drawn([], cursor=2, places=(500.0, 550.0, 600.0))
    assert moved_cursor(drawn, 2, Window(0.0, 1_000.0)) == 700.0
    assert moved_cursor(drawn, -1, Window(0.0, 1_000.0)) == 550.0
    assert moved_cursor(Drawn([], cursor=0, places=(5.0,)), 1, Window(5.0, 5.0)) == 5.0


@pytest.mark.parametrize(
    ("whole", "lengths"),
    [
        (10.0 * DAY, (HOUR, 6 * HOUR, DAY, 7 * DAY, None, HOUR)),
        (2.0 * HOUR, (HOUR, None, HOUR)),
        (0.5 * HOUR, (0.5 * HOUR, 0.5 * HOUR)),
    ],
)
def test_ranges_come_round_as_windows_at_the_end(
    whole: float, lengths: tuple[float | None, ...]
) -> None:
    everything = window = Window(0.0, whole)
    for length in lengths:
        shown = next_range(window, everything)
        assert shown == (None if length is None else Window(whole - length, whole))
        window = shown or everything


@pytest.mark.parametrize(
    ("last", "after"), [(100.0, Window(110.0, 160.0)), (99.0, Window(49.0, 99.0))]
)
def test_a_window_at_the_end_stays_there_and_another_stays_where_it_is(
    last: float, after: Window
) -> None:
    window = Window(last - 50.0, last)
    assert followed(window, Window(0.0, 100.0), Window(0.0, 160.0)) == after


@pytest.mark.parametrize(
    ("lies", "x", "y", "at"),
    [
        (False, 7, 0, 10.0), (False, 8, 9, 10.0), (False, 9, 0, 11.0), (False, 12, 5, 12.0),
        (False, 6, 0, None), (False, 13, 0, None), (False, 0, 1, None),
        (True, 0, 0, 10.0), (True, 30, 2, 12.0), (True, 7, 3, None),
    ],
)  # fmt: skip
def test_a_cell_shows_the_place_of_its_column_or_of_its_row(
    x: int, y: int, at: float | None, *, lies: bool
) -> None:
    drawn = Drawn([], margin=7, places=(10.0, 11.0, 12.0), pitch=2)
    assert place_under(drawn, x, y, is_lying=lies) == at


@dataclass
class Charts:
    """The charts in front of an app."""

    pilot: Pilot[None]
    app: Host
    form: ChartDialog

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    @property
    def seen(self) -> Window:
        return Window(self.form.drawn.places[0], self.form.drawn.places[-1])

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


@asynccontextmanager
async def charts(
    first: ChartName, state: DeskState = STATE, market: str = MARKET
) -> AsyncIterator[Charts]:
    app = Host(state)
    async with app.run_test(size=(100, 30)) as pilot:
        form = ChartDialog(state, NOW, market, first)
        app.push_screen(form)
        await pilot.pause()
        yield Charts(pilot, app, form)


@pytest.mark.slow
async def test_charts_come_round_each_with_its_own_part_and_its_own_cursor() -> None:
    async with charts(ChartName.EQUITY) as t:
        assert t.app.given == []
        await t.press("left", "left", "plus")
        seen, reading = t.seen, t.form.drawn.reading
        titles: set[str] = set()
        for number, name in enumerate(NAMES, start=1):
            await t.press(f"{number}")
            assert t.form.chart_name is name
            assert t.form.series.title[:60] in t.text
            assert f" {number}  {name.value}" in t.text
            titles.add(t.form.series.title)
        # The two of one market share their title.
        assert len(titles) == len(NAMES) - 1
        await t.press("tab")
        assert t.form.chart_name is NAMES[0]
        await t.press("shift+tab", str(1 + NAMES.index(ChartName.EQUITY)))
        assert (t.seen, t.form.drawn.reading) == (seen, reading)
        # The market, and what all agents traded, are each read once.
        assert t.app.given == [WatchMarket(MARKET, DAY), ReadDay()]


@pytest.mark.slow
async def test_a_zoom_shows_half_around_the_cursor_and_the_whole_comes_back() -> None:
    async with charts(ChartName.EQUITY) as t:
        whole = t.seen
        await t.press("plus")
        assert t.seen.last == pytest.approx(whole.last, abs=whole.length / 40)
        assert t.seen.length == pytest.approx(whole.length / 2, rel=0.1)
        await t.press("home")
        assert t.seen.first == pytest.approx(whole.first, abs=whole.length / 40)
        assert t.form.drawn.cursor == 0
        await t.press("minus", "minus")
        assert t.seen == whole
        await t.press(*["plus"] * 30)
        assert 20 <= t.seen.length <= 30
        await t.press("0")
        assert t.seen == whole
    async with charts(ChartName.SWEEP) as t:
        bars = len(t.form.drawn.places)
        await t.press(*["plus"] * 9)
        assert len(t.form.drawn.places) == 3
        await t.press("v")
        assert len(t.form.drawn.places) == bars


@pytest.mark.slow
async def test_the_range_of_a_market_is_asked_for_and_what_was_watched_comes_back() -> None:
    async with charts(ChartName.PRICE, market="m-other") as t:
        await t.press("plus", "v", "v", "v", "v", "v")
        spans = (DAY, 7 * DAY, 0, HOUR, 6 * HOUR, DAY)
        assert t.app.given == [WatchMarket("m-other", span) for span in spans]
        await t.press("escape")
        assert t.app.given[-1] == WatchMarket(MARKET, BEFORE)
    for state, market in ((replace(STATE, detail=None), MARKET), (STATE, "")):
        async with charts(ChartName.PRICE, state, market) as t:
            asked = [WatchMarket(market, DAY)] if market else []
            await t.press("left", "escape")
            assert t.app.given == asked


@pytest.mark.slow
async def test_a_recorded_state_is_marked_and_time_goes_on_in_a_chart_over_time() -> None:
    async with charts(ChartName.EQUITY) as t:
        last = t.seen.last
        t.app.bring(later_s=60.0)
        await t.pilot.pause()
        assert t.seen.last > last
        assert "REPLAY" not in t.text
        t.app.bring(replace(STATE, rewound_to=Timestamp(NOW)))
        await t.pilot.pause()
        assert "REPLAY" in t.text


@pytest.mark.slow
async def test_a_range_is_measured_from_a_fixed_place_to_the_cursor() -> None:
    async with charts(ChartName.PRICE) as t:
        await t.press("m")
        assert "measured" not in t.text
        await t.press("left", "m", "left", "left", "left")
        assert "measured over" in t.text
        assert " pt" in t.text.split("measured over")[1]
        # Pressed at the place itself it ends; a chart of bars has no line to measure.
        await t.press("right", "right", "right", "m")
        assert "measured" not in t.text


def test_the_chart_of_a_market_has_its_news_beside_the_own_trades() -> None:
    series = series_of(ChartName.PRICE, ViewContext.of(STATE, NOW), MARKET, DAY)
    assert isinstance(series, TimeSeries)
    assert STATE.detail is not None
    told = [mark.text for mark in series.marks]
    assert all(news.headline in told for news in STATE.detail.news)
    assert len(told) > len(STATE.detail.news) > 0
