"""The charts: where the cursor goes, what a zoom and a range show, and what is asked for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.charts import charted_state
from kit.samples.desk import NOW
from service_tui.console.charts.drawing import Drawn
from service_tui.console.charts.series import BarSeries, ChartBar, TimeSeries, Window
from service_tui.console.charts.sources import ChartName
from service_tui.console.forms.chart import FAR, ChartDialog, ChartPlace
from service_tui.console.widgets.chart_view import ChartView
from service_tui.desk.commands.agents import ReadDay
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.slices.account import EquityPoint
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp

STATE = charted_state()
assert STATE.detail is not None
MARKET = STATE.detail.market_id
HOUR, DAY = 3_600, 86_400
Chart = Unopened[ChartDialog]


@pytest.fixture(autouse=True)
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[ChartView]:
    """The views that were to be drawn again; drawing itself is tested with the charts."""
    drawn: list[ChartView] = []
    monkeypatch.setattr(ChartView, "redraw", lambda *view: drawn.extend(view))
    return drawn


@pytest.fixture
def t() -> Iterator[Chart]:
    with unopened(ChartDialog(STATE, NOW, MARKET, ChartName.EQUITY)) as seen:
        yield seen


def of_bars(t: Chart, count: int, *, lies: bool = False) -> None:
    bars = tuple(ChartBar(str(place), 1.0, "") for place in range(count))
    t.form.series = BarSeries("t", bars, "", lies=lies)


def of_time(t: Chart, seconds: float) -> None:
    assert isinstance(t.form.series, TimeSeries)
    points = ((0.0, 1.0), (seconds, 1.0))
    t.form.series = replace(t.form.series, points=points, below=(), marks=())


def place(t: Chart) -> ChartPlace:
    return t.form._places.get(t.form.chart_name, ChartPlace())


def put(t: Chart, window: Window | None = None, cursor: float | None = None) -> None:
    t.form._places[t.form.chart_name] = ChartPlace(window, cursor)


@pytest.mark.parametrize(
    ("cursor", "by", "to", "first"),
    [
        # The first press shows the newest in sight, wherever it would lead.
        (None, 1, 19, 10), (None, -1, 19, 10), (None, -10, 19, 10),
        (5, 1, 16, 10), (5, -1, 14, 10), (1, -1, 10, 10), (8, 1, 19, 10),
        # Beyond the part in sight the window follows.
        (9, 1, 20, 11), (0, -1, 9, 9), (9, 10, 29, 20), (0, -10, 0, 0), (4, 10, 24, 15),
        # To either end of all.
        (5, -FAR, 0, 0), (5, FAR, 39, 30), (None, -FAR, 0, 0), (None, FAR, 39, 30),
    ],
)  # fmt: skip
def test_the_cursor_moves_by_places_and_the_window_follows(
    t: Chart, cursor: int | None, by: int, *, to: float, first: float
) -> None:
    of_bars(t, 40)
    put(t, Window(10.0, 19.0))
    t.form.drawn = Drawn([], columns=10, cursor=cursor, places=tuple(map(float, range(10, 20))))
    t.form.action_move(by)
    assert place(t) == ChartPlace(Window(first, first + 9.0), to)


def test_places_over_time_are_as_far_apart_as_they_are_drawn(t: Chart) -> None:
    of_time(t, 1_000.0)
    put(t, Window(500.0, 600.0))
    t.form.drawn = Drawn([], cursor=2, places=(500.0, 550.0, 600.0))
    t.form.action_move(2)
    assert place(t) == ChartPlace(Window(600.0, 700.0), 700.0)


def test_a_cursor_moves_nowhere_in_a_chart_of_nothing(t: Chart) -> None:
    for by in (1, -1, FAR, -FAR):
        t.form.action_move(by)
    assert place(t) == ChartPlace()


@pytest.mark.parametrize(
    ("window", "cursor", "by", "seen"),
    [
        # Without a cursor the end stays in sight.
        (None, None, -1, (500.0, 1000.0)), ((200.0, 600.0), None, -1, (400.0, 600.0)),
        ((200.0, 600.0), 200.0, -1, (200.0, 400.0)), ((200.0, 600.0), 300.0, -1, (250.0, 450.0)),
        ((200.0, 600.0), 600.0, 1, (0.0, 800.0)), ((400.0, 600.0), 500.0, 1, (300.0, 700.0)),
        # All of it is no window.
        ((200.0, 800.0), None, 1, None), (None, None, 1, None),
    ],
)  # fmt: skip
def test_a_zoom_shows_half_or_twice_as_much_around_the_cursor(
    t: Chart,
    window: tuple[float, float] | None,
    cursor: float | None,
    by: int,
    *,
    seen: tuple[float, float] | None,
) -> None:
    of_time(t, 1_000.0)
    put(t, window and Window(*window), cursor)
    t.form.action_zoom(by)
    assert place(t) == ChartPlace(seen and Window(*seen), cursor)


def test_the_shortest_window_is_half_a_minute_or_three_bars(t: Chart) -> None:
    for seconds, seen in ((30.0, None), (31.0, Window(1.0, 31.0))):
        of_time(t, seconds)
        t.form.action_zoom(-1)
        assert place(t).window == seen
    put(t)
    for count, seen in ((3, None), (4, Window(1.0, 3.0))):
        of_bars(t, count)
        t.form.action_zoom(-1)
        assert place(t).window == seen


def test_the_wheel_zooms_and_the_whole_comes_back_with_its_cursor(t: Chart) -> None:
    of_time(t, 100.0)
    put(t, None, 100.0)
    message = ChartView.Turned(-1)
    t.tell(message)
    assert message._stop_propagation
    assert place(t) == ChartPlace(Window(50.0, 100.0), 100.0)
    t.form.action_whole()
    assert place(t) == ChartPlace(None, 100.0)


@pytest.mark.parametrize(
    ("lies", "x", "y", "at"),
    [
        (False, 7, 0, 10.0), (False, 8, 9, 10.0), (False, 9, 0, 11.0), (False, 12, 5, 12.0),
        (False, 6, 0, None), (False, 13, 0, None), (False, 0, 1, None),
        (True, 0, 0, 10.0), (True, 30, 2, 12.0), (True, 7, 3, None),
    ],
)  # fmt: skip
def test_a_click_reads_the_place_under_the_pointer(
    t: Chart, x: int, y: int, at: float | None, *, lies: bool
) -> None:
    of_bars(t, 40, lies=lies)
    put(t, Window(10.0, 12.0))
    t.form.drawn = Drawn([], margin=7, places=(10.0, 11.0, 12.0), pitch=2)
    message = ChartView.CellPicked(x, y)
    t.tell(message)
    assert message._stop_propagation
    assert place(t) == ChartPlace(Window(10.0, 12.0), at)


def test_the_range_of_a_market_is_asked_for_and_shown_whole() -> None:
    with unopened(ChartDialog(STATE, NOW, MARKET, ChartName.PRICE)) as t:
        assert t.given == [WatchMarket(MARKET, DAY)]
        t.form.action_turn(1)
        assert t.given == [WatchMarket(MARKET, DAY)]
        for span in (7 * DAY, 0, HOUR, 6 * HOUR, DAY):
            put(t, Window(1.0, 2.0), 1.0)
            t.form.action_range()
            assert t.given[-1] == WatchMarket(MARKET, span)
            assert place(t) == ChartPlace()


def test_the_range_of_the_equity_is_a_window_at_its_end(t: Chart) -> None:
    of_time(t, 10.0 * DAY)
    for length in (HOUR, 6 * HOUR, DAY, 7 * DAY, None, HOUR):
        t.form.action_range()
        seen = None if length is None else Window(10.0 * DAY - length, 10.0 * DAY)
        assert place(t) == ChartPlace(seen)
    of_time(t, 2.0 * HOUR)
    put(t, None, 5.0)
    for seen in (Window(HOUR, 2.0 * HOUR), None):
        t.form.action_range()
        assert place(t) == ChartPlace(seen, 5.0)
    assert t.given == []


def test_the_range_of_bars_is_all_of_them(t: Chart) -> None:
    of_bars(t, 9)
    put(t, Window(1.0, 4.0), 2.0)
    t.form.action_range()
    assert place(t) == ChartPlace(None, 2.0)


def test_charts_come_round_by_key_and_are_picked_by_number(
    t: Chart, drawings: list[ChartView]
) -> None:
    names = list(ChartName)
    for by, name in ((1, ChartName.SKILLS), (-1, ChartName.EQUITY), (-3, ChartName.SWEEP)):
        before = len(drawings)
        t.form.action_turn(by)
        assert t.form.chart_name is name
        assert len(drawings) > before
        assert t.text("chart-title") == t.form.series.title
    t.form.action_turn(1)
    assert t.form.chart_name is names[0]
    titles: set[str] = set()
    for number, name in enumerate(names):
        t.form.action_pick(number)
        assert t.form.chart_name is name
        titles.add(t.text("chart-title"))
    # The two of one market share their title.
    assert len(titles) == len(names) - 1
    tabs = " ".join(f"{number} {name.value}" for number, name in enumerate(names, start=1))
    assert " ".join(t.text("chart-tabs").split()) == tabs


def test_what_all_agents_traded_is_read_once_and_only_for_its_charts(t: Chart) -> None:
    assert t.given == []
    for name in (ChartName.SWEEP, ChartName.SKILLS, ChartName.CALIBRATION, ChartName.SKILLS):
        t.form.action_pick(list(ChartName).index(name))
        assert t.given == ([] if name is ChartName.SWEEP else [ReadDay()])


def test_each_chart_keeps_its_own_place(t: Chart) -> None:
    put(t, Window(1.0, 2.0), 1.5)
    t.form.action_turn(1)
    assert place(t) == ChartPlace()
    t.form.action_turn(-1)
    assert place(t) == ChartPlace(Window(1.0, 2.0), 1.5)


def test_the_screen_below_gets_its_market_again_if_another_was_asked_for(t: Chart) -> None:
    t.form.action_close()
    assert (t.given, t.returned) == ([], [None])
    assert STATE.detail is not None
    with unopened(ChartDialog(STATE, NOW, "m-other", ChartName.CANDLES)) as other:
        other.form.action_close()
        assert other.given == [
            WatchMarket("m-other", DAY),
            WatchMarket(MARKET, STATE.detail.span_s),
        ]
        assert other.returned == [None]
    with unopened(ChartDialog(replace(STATE, detail=None), NOW, MARKET, ChartName.PRICE)) as none:
        none.form.action_close()
        assert none.given == [WatchMarket(MARKET, DAY)]
    with unopened(ChartDialog(STATE, NOW, "", ChartName.PRICE)) as nothing:
        assert nothing.given == []


def later(state: DeskState, seconds: float) -> DeskState:
    point = EquityPoint(Timestamp(state.equity[-1].at + seconds), Micros(9_000 * ONE))
    return replace(state, equity=(*state.equity, point))


def test_a_window_at_the_end_stays_there_and_another_stays_where_it_is(t: Chart) -> None:
    last = t.form._whole().last
    newer = later(STATE, 600.0)
    for window, moves in (
        (Window(last - 900.0, last), True),
        (Window(last - 900.0, last - 1.0), False),
        (None, False),
    ):
        t.form.take(STATE, NOW)
        put(t, window, last - 800.0)
        t.form.take(newer, Timestamp(NOW + 600.0))
        grown = t.form._whole().last
        assert grown > last
        seen = Window(grown - 900.0, grown) if moves else window
        assert place(t) == ChartPlace(seen, last - 800.0)


def test_the_same_state_is_drawn_again_only_where_time_goes_on(
    t: Chart, drawings: list[ChartView]
) -> None:
    for name in (ChartName.EQUITY, ChartName.PRICE, ChartName.SWEEP):
        t.form.action_pick(list(ChartName).index(name))
        before = len(drawings)
        t.form.take(STATE, Timestamp(NOW + 1.0))
        assert (len(drawings) > before) is (name is not ChartName.SWEEP)
    t.form.take(replace(STATE, notices=()), NOW)
    assert len(drawings) > before


def test_a_recorded_state_is_marked_with_its_time(t: Chart) -> None:
    def title() -> str:
        return str(t.form.query_one("#frame").border_title)

    assert title().strip() == "Charts"
    t.form.take(replace(STATE, rewound_to=NOW), NOW)
    assert "REPLAY" in title()
    t.form.take(STATE, NOW)
    assert title().strip() == "Charts"


@pytest.mark.parametrize("name", [ChartName.EQUITY, ChartName.SWEEP])
def test_what_is_drawn_is_the_window_with_its_cursor(name: ChartName) -> None:
    with unopened(ChartDialog(STATE, NOW, MARKET, name)) as t:
        whole = t.form._whole()
        middle = (whole.first + whole.last) / 2
        put(t, Window(middle, whole.last), whole.last)
        lines: Any = t.form._draw((76, 18))
        assert lines is t.form.drawn.lines
        assert t.form.drawn.cursor is not None
        assert t.form.drawn.places[0] >= middle - 1.0
        t.form._redraw()
        assert t.text("chart-reading") == t.form.drawn.reading != ""
