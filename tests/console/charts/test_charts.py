"""Charts: the figures under the cursor are the data; zoom, ranges, mouse, and what is unknown."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import Running, running
from kit.console.pictures import SIZES, assert_each
from kit.samples.charts import SPAN_S, charted_state
from kit.samples.desk import NOW
from service_tui.console import formats
from service_tui.console.charts.bars import drawn_bars
from service_tui.console.charts.drawing import Drawn, drawn_time
from service_tui.console.charts.series import BarSeries, Below, ChartBar, Series, TimeSeries, Window
from service_tui.console.charts.sources import (
    BINS,
    ChartName,
    best_by_value,
    drawdowns,
    fitting_chart,
    series_of,
    swept,
)
from service_tui.console.forms.chart import ChartDialog
from service_tui.console.screens.markets.detail import trades
from service_tui.console.view_context import ViewContext
from service_tui.desk.audit.report import results_by_skill
from service_tui.desk.commands.agents import ReadDay
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.slices.research import BacktestPoint, ResearchView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal

CHARTED = charted_state()
assert CHARTED.detail is not None
STATE = replace(CHARTED, detail=replace(CHARTED.detail, news=()))
"""Without news, which is marked beside the own trades."""
MARKET = STATE.detail.market_id if STATE.detail is not None else ""
SIZE = (76, 18)


def made(name: ChartName, state: DeskState = STATE, *, masked: bool = False) -> Series:
    view = ViewContext(state, NOW, masked)
    return series_of(name, view, MARKET, SPAN_S)


def over_time(name: ChartName, state: DeskState = STATE) -> TimeSeries:
    series = made(name, state)
    assert isinstance(series, TimeSeries)
    return series


def bars_of(name: ChartName, state: DeskState = STATE) -> BarSeries:
    series = made(name, state)
    assert isinstance(series, BarSeries)
    return series


def drawn(series: Series, cursor: float | None = None, window: Window | None = None) -> Drawn:
    if isinstance(series, TimeSeries):
        return drawn_time(series, SIZE, window or Window(*series.span), cursor)
    return drawn_bars(series, SIZE, window or Window(0, len(series.bars) - 1), cursor)


def text_of(shown: Drawn) -> str:
    return "\n".join("".join(text for text, _ in line) for line in shown.lines)


def edge(shown: Drawn, column: int) -> float:
    """The time at the right edge of a column."""
    step = (shown.places[-1] - shown.places[0]) / (len(shown.places) - 1)
    return shown.places[0] + step * (column + 0.5)


# -- figures under the cursor ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("screen_name", "market_id", "name"),
    [
        ("research", "m", ChartName.SWEEP),
        ("agents", "", ChartName.AGENTS),
        ("markets", "m-00001", ChartName.PRICE),
        ("settings", "", ChartName.EQUITY),
    ],
)
def test_the_first_chart_fits_the_screen_in_front(
    screen_name: str, market_id: str, name: ChartName
) -> None:
    assert fitting_chart(screen_name, market_id) is name


def test_the_price_under_the_cursor_is_the_datum_that_holds_there() -> None:
    series = over_time(ChartName.PRICE)
    shown = drawn(series)
    for column in range(0, shown.columns, 7):
        at = edge(shown, column)
        held = [point for point in series.points if point[0] <= at][-1:]
        reading = drawn(series, shown.places[column]).reading
        if held:
            when = formats.moment(Timestamp(held[0][0]), series.span[1] - series.span[0])
            assert reading.startswith(f"{when}  {formats.price(held[0][1]).plain}"), column


def test_volume_is_that_of_the_column_and_unknown_before_the_first_listed_trade() -> None:
    series = over_time(ChartName.PRICE)
    shown = drawn(series)
    oldest = min(at for at, _ in series.below)
    total = 0.0
    for column in range(shown.columns):
        at = edge(shown, column) if column < shown.columns - 1 else series.span[1]
        after = edge(shown, column - 1) if column else -math.inf
        amount = series.below_in(after, at)
        if at < oldest:
            assert amount is None
        else:
            total += amount or 0.0
    assert total == pytest.approx(sum(amount for _, amount in series.below))
    # The money of a trade is its shares at its price.
    assert STATE.detail is not None
    spent = sum(trade.shares / ONE * trade.price for trade in STATE.detail.trades)
    assert total == pytest.approx(spent, rel=1e-3)


def test_an_own_trade_is_marked_and_read_and_those_of_others_are_not() -> None:
    series = over_time(ChartName.PRICE)
    assert STATE.account is not None
    assert STATE.detail is not None
    own = [trade for trade in STATE.detail.trades if trade.trader == STATE.account.name]
    assert len(series.marks) == len(own) > 0
    first = series.marks[0]
    assert formats.shares(own[0].shares).plain in first.text
    assert f"{first.glyph[0]} {first.text}" in drawn(series, first.at).reading
    for mark, trade in zip(series.marks, own, strict=True):
        raises_yes = (trade.action.value == "buy") == (trade.side is Side.YES)
        assert mark.glyph[0] == ("▲" if raises_yes else "▼")


def test_an_own_trade_is_marked_whatever_else_was_traded_since() -> None:
    assert STATE.detail is not None
    others = tuple(replace(one, trader="somebody") for one in STATE.detail.trades)
    moved = replace(STATE.detail, trades=others, filled=STATE.detail.trades)
    before, now = (
        over_time(ChartName.PRICE),
        over_time(ChartName.PRICE, replace(STATE, detail=moved)),
    )
    assert now.marks == before.marks
    assert now.below == before.below


def test_an_own_trade_is_marked_at_the_price_that_was_paid() -> None:
    assert STATE.detail is not None
    assert STATE.account is not None
    tape = [one for one in STATE.detail.trades if one.trader == STATE.account.name]
    assert {one.side for one in tape} == set(Side)
    for mark, own, taped in zip(over_time(ChartName.PRICE).marks, STATE.trades, tape, strict=True):
        assert own.average is not None
        assert own.average != taped.price
        paid = f" at {formats.price(own.average).plain}"
        if own.side is Side.NO:
            paid += f" (YES {formats.price(1.0 - own.average).plain})"
        assert mark.text.endswith(paid)
    for mark, taped in zip(
        over_time(ChartName.PRICE, replace(STATE, trades=(), fills=())).marks, tape, strict=True
    ):
        assert mark.text.endswith(f", price after {formats.price(taped.price).plain}")


def test_a_candle_under_the_cursor_has_the_prices_of_its_stretch() -> None:
    series = over_time(ChartName.CANDLES)
    shown = drawn(series)
    for column in range(2, shown.columns - 3, 6):
        after, until = edge(shown, column - 1), edge(shown, column + 1)
        inside = [value for at, value in series.points if after < at <= until]
        before = [value for at, value in series.points if at <= after][-1:]
        prices = [*before, *inside]
        reading = drawn(series, shown.places[column]).reading
        named = (prices[0], max(prices), min(prices), prices[-1])
        for word, value in zip(("open", "high", "low", "close"), named, strict=True):
            assert f"{word} {formats.price(value).plain}" in reading, column


@pytest.mark.parametrize("width", range(60, 68))
def test_candles_without_a_cursor_are_read_as_the_last_one_with_it(width: int) -> None:
    series = over_time(ChartName.CANDLES)
    window = Window(*series.span)
    shown = drawn_time(series, (width, 20), window, None)
    last = drawn_time(series, (width, 20), window, shown.places[-1])
    assert shown.reading == last.reading


def test_own_trades_are_masked_with_the_amounts() -> None:
    series = made(ChartName.PRICE, masked=True)
    assert isinstance(series, TimeSeries)
    assert series.marks
    assert STATE.detail is not None
    assert STATE.account is not None
    for mark in series.marks:
        assert not any(
            formats.shares(trade.shares).plain in mark.text for trade in STATE.detail.trades
        )
    lines = trades(STATE.detail, NOW, 80, hidden=STATE.account.name).plain.splitlines()
    for trade, line in zip(STATE.detail.trades, lines[1:], strict=False):
        is_own = trade.trader == STATE.account.name
        assert (formats.shares(trade.shares).plain in line) is not is_own


def test_equity_and_drawdown_under_the_cursor_are_those_of_the_state() -> None:
    series = over_time(ChartName.EQUITY)
    tops = 0
    for point in STATE.equity[::9]:
        top = max(one.equity for one in STATE.equity if one.at <= point.at)
        tops = max(tops, top)
        reading = drawn(series, point.at).reading
        column = drawn(series, point.at).cursor
        assert column is not None
        at = edge(drawn(series), column)
        held = [one for one in STATE.equity if one.at <= at][-1]
        highest = max(one.equity for one in STATE.equity if one.at <= at)
        assert formats.money(held.equity).plain in reading
        assert f"drawdown {formats.money(Micros(held.equity - highest)).plain}" in reading
    assert drawdowns([3.0, 5.0, 4.0, 6.0]) == [0.0, 0.0, -1.0, 0.0]


def test_a_skill_has_the_sum_of_its_trades_and_no_two_currencies_in_it() -> None:
    past = STATE.supervision.pasts[0]
    real = tuple(replace(one, trade=replace(one.trade, venue=Venue.EVM)) for one in past.trades)
    results = results_by_skill((*STATE.supervision.pasts, replace(past, trades=real)))
    for result in results:
        pnls = [
            one.trade.pnl
            for each in (*STATE.supervision.pasts, replace(past, trades=real))
            for one in each.trades
            if one.skill_slug == result.skill_slug and one.trade.venue is result.venue
        ]
        assert result.pnl == sum(pnl for pnl in pnls if pnl is not None)
    assert {result.venue for result in results} == {Venue.SIM, Venue.EVM}
    series = bars_of(ChartName.SKILLS)
    for place, bar in enumerate(series.bars):
        assert bar.value is not None
        assert formats.pnl(Micros(round(bar.value * 1_000_000))).plain in bar.reading
        assert drawn(series, place).reading == bar.reading
    assert "no skill named" in text_of(drawn(series))


def test_calibration_counts_each_buy_in_a_resolved_market_once() -> None:
    series = bars_of(ChartName.CALIBRATION)
    bought = [
        one
        for past in STATE.supervision.pasts
        for one in past.trades
        if one.outcome is not None and one.trade.action == "buy"
    ]
    assert len(series.bars) == BINS
    total = 0
    for place, bar in enumerate(series.bars):
        inside = [
            one for one in bought if min(int((one.trade.average or 0) * BINS), BINS - 1) == place
        ]
        total += len(inside)
        if inside:
            wins = sum(
                one.outcome is not None and one.outcome.winner is one.trade.side for one in inside
            )
            assert bar.value == wins / len(inside)
            assert f"won {wins} of {len(inside)}" in drawn(series, place).reading
        else:
            assert bar.value is None
    assert total == len(bought) > 0
    assert f"{len(bought)} buys in resolved markets" in series.note


def test_a_buy_at_any_price_is_in_the_one_span_that_holds_its_price() -> None:
    prices = (0.0, 0.05, 0.1, 0.95, 1.0)
    past, *_ = (one for one in STATE.supervision.pasts if one.trades)
    one = past.trades[0]
    trades = tuple(
        replace(
            one, outcome=YES if price > 0.5 else NO,
            trade=replace(one.trade, action="buy", side=Side.YES, average=price),
        )
        for price in prices
    )  # fmt: skip
    supervision = replace(STATE.supervision, pasts=(replace(past, trades=trades),))
    series = made(ChartName.CALIBRATION, replace(STATE, supervision=supervision))
    assert isinstance(series, BarSeries)
    assert [bar.value for bar in series.bars] == [0.0, 0.0, *[None] * 7, 1.0]
    assert [bar.reading.partition(":")[0] for bar in series.bars] == [
        "0.0 to 0.1", "0.1 to 0.2", "0.2 to 0.3", "0.3 to 0.4", "0.4 to 0.5",
        "0.5 to 0.6", "0.6 to 0.7", "0.7 to 0.8", "0.8 to 0.9", "0.9 to 1.0",
    ]  # fmt: skip
    assert "won 0 of 2" in series.bars[0].reading
    assert "won 2 of 2" in series.bars[-1].reading


def test_the_swept_threshold_is_the_first_that_takes_more_than_one_value() -> None:
    def point(pnl: int, **config: float) -> BacktestPoint:
        return BacktestPoint(tuple(config.items()), 1, 0, Micros(pnl), None, None)

    points = (
        point(5, fixed=1, edge=0.1), point(9, fixed=1, edge=0.2), point(7, fixed=1, edge=0.1),
    )  # fmt: skip
    assert swept(points) == "edge"
    assert swept(points[::2]) == "fixed"
    assert swept((point(5),)) == ""
    # Of several points of one value the best one counts; one without the threshold does not.
    best = best_by_value((*points, point(99, fixed=1)), "edge")
    assert best == {0.1: points[2], 0.2: points[1]}


def test_the_sweep_shows_each_threshold_with_its_pnl_and_marks_the_best() -> None:
    series, result = bars_of(ChartName.SWEEP), STATE.research.backtest
    assert result is not None
    assert [bar.value for bar in series.bars] == [decimal(point.pnl) for point in result.points]
    best = max(range(len(result.points)), key=lambda place: result.points[place].pnl)
    assert series.best == best
    assert "★" in text_of(drawn(series))
    for place, point in enumerate(result.points):
        assert formats.pnl(point.pnl).plain in drawn(series, place).reading


# -- unknown, empty, masked -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [
        (ChartName.PRICE, replace(STATE, detail=None), "loading prices"),
        (ChartName.PRICE, replace(STATE, detail=None, rewound_to=NOW), "not recorded"),
        (ChartName.PRICE, replace(STATE, markets={}), "select a market first"),
        (ChartName.EQUITY, replace(STATE, equity=(), account=None), "no equity yet"),
        (
            ChartName.SKILLS,
            replace(
                STATE, supervision=replace(STATE.supervision, pasts=(), pasts_at=None), trades=()
            ),
            "loading trades",
        ),
        (
            ChartName.CALIBRATION,
            replace(STATE, supervision=replace(STATE.supervision, pasts=()), trades=()),
            "no buys in resolved markets yet",
        ),
        (ChartName.SWEEP, replace(STATE, research=ResearchView()), "no sweep yet"),
    ],
)
def test_an_empty_chart_says_why(name: ChartName, state: DeskState, said: str) -> None:
    assert said in text_of(drawn(made(name, state)))


def test_no_amount_is_in_a_masked_chart() -> None:
    for name in (ChartName.EQUITY, ChartName.SKILLS, ChartName.SWEEP):
        shown = drawn(made(name, masked=True), 0.0)
        clear = drawn(made(name), 0.0)
        assert formats.MASK in text_of(shown), name
        assert formats.MASK in shown.reading, name
        assert formats.MASK not in text_of(clear), name


def test_an_unknown_bar_is_neither_zero_nor_left_out() -> None:
    bars = (ChartBar("a", 0.5, "a"), ChartBar("b", None, "b"), ChartBar("c", 0.0, "c"))
    standing = BarSeries("t", bars, "", bounds=(0.0, 1.0))
    assert text_of(drawn(standing)).count("·") == 1
    lying = replace(standing, lies=True)
    assert text_of(drawn(lying)).splitlines()[1].rstrip().endswith("?")


@pytest.mark.parametrize(("once", "filled"), [(1.0, "█"), (-1.0, "▒")])
def test_bars_of_one_sign_are_as_long_as_their_values(once: float, filled: str) -> None:
    bars = (ChartBar("once", once, ""), ChartBar("twice", 2 * once, ""))
    rows = text_of(drawn(BarSeries("t", bars, "", lies=True))).splitlines()
    assert [len(row) for row in rows] == [SIZE[0], SIZE[0]]
    short, long = (row.count(filled) for row in rows)
    assert long > SIZE[0] / 2
    assert long == pytest.approx(2 * short, abs=1)


@pytest.mark.parametrize(
    ("first", "cursor", "seen"),
    [(10, None, 10), (36, None, 32), (10, 12, 10), (10, 17, 10), (10, 18, 11), (10, 3, 3)],
)
def test_the_rows_in_sight_follow_the_cursor(first: int, cursor: int | None, seen: int) -> None:
    bars = tuple(ChartBar(str(place), 1.0, "") for place in range(40))
    shown = drawn_bars(BarSeries("t", bars, "", lies=True), (40, 8), Window(first, 39), cursor)
    assert shown.places == tuple(map(float, range(seen, seen + 8)))
    assert shown.cursor == (None if cursor is None else cursor - seen)


def test_profit_and_loss_differ_without_colour() -> None:
    bars = (ChartBar("win", 2.0, ""), ChartBar("loss", -2.0, ""))
    for lies in (True, False):
        text = text_of(drawn(BarSeries("t", bars, "", lies=lies)))
        assert "█" in text
        assert "▒" in text


# -- windows ---------------------------------------------------------------------------------------


FINITE = st.floats(0, 1e9, allow_nan=False)


@given(st.tuples(FINITE, FINITE), st.floats(0, 1), st.floats(0.1, 10), FINITE)
def test_a_zoomed_window_lies_in_the_whole_and_keeps_the_cursor(
    ends: tuple[float, float], share: float, factor: float, around: float
) -> None:
    start, length = ends
    whole = Window(start, start + length)
    window = Window(start + length * 0.25, start + length * 0.75)
    place = window.first + window.length * share
    zoomed = window.zoomed(factor, place, whole, min(1.0, length))
    slack = 1e-6 * max(1.0, abs(whole.last))
    assert whole.first - slack <= zoomed.first <= zoomed.last <= whole.last + slack
    assert zoomed.first - slack <= place <= zoomed.last + slack
    moved = zoomed.around(min(whole.last, max(whole.first, around)), whole)
    assert whole.first - slack <= moved.first <= moved.last <= whole.last + slack


@pytest.mark.slow
@given(
    st.lists(st.tuples(FINITE, st.floats(-1e6, 1e6)), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(1, 20),
    st.none() | FINITE,
)
def test_any_points_are_drawn_in_any_room(
    points: list[tuple[float, float]], width: int, height: int, cursor: float | None
) -> None:
    series = TimeSeries(
        "t", tuple(sorted(points)), "none", below=tuple(sorted(points)), below_is=Below.SUM,
        below_title="volume",
    )  # fmt: skip
    for in_candles in (False, True):
        shown = drawn_time(
            replace(series, in_candles=in_candles), (width, height), Window(*series.span), cursor
        )
        assert len(shown.lines) == height
        assert all(sum(len(text) for text, _ in line) <= width for line in shown.lines)


@pytest.mark.slow
@given(
    st.lists(st.none() | st.floats(-1e6, 1e6), max_size=40),
    st.tuples(st.integers(1, 60), st.integers(1, 20)),
    st.none() | st.integers(0, 50),
    st.booleans(),
)
def test_any_bars_are_drawn_in_any_room(
    values: list[float | None],
    size: tuple[int, int],
    cursor: int | None,
    lies: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    width, height = size
    bars = tuple(ChartBar(str(place), value, "") for place, value in enumerate(values))
    series = BarSeries("t", bars, "none", lies=lies, write=lambda value: f"{value:.0f}")
    window = Window(0, max(0, len(bars) - 1))
    shown = drawn_bars(series, (width, height), window, cursor)
    assert len(shown.lines) <= height
    assert all(sum(len(text) for text, _ in line) <= width for line in shown.lines)
    if cursor is not None and shown.places:
        assert float(min(cursor, len(bars) - 1)) in shown.places


# -- the dialog -----------------------------------------------------------------------------------


def dialog(seen: Running) -> ChartDialog:
    assert isinstance(seen.app.screen, ChartDialog)
    return seen.app.screen


@pytest.mark.slow
async def test_keys_and_mouse_turn_read_zoom_and_range() -> None:
    async with running(STATE, first="markets", size=(100, 30)) as seen:
        await seen.app.run_action(f"go('markets', '{MARKET}')")
        await seen.press("f4")
        chart = dialog(seen)
        assert chart.chart_name is ChartName.PRICE
        assert WatchMarket(MARKET, SPAN_S) in seen.doors.submitted
        await seen.press("left", "left", "left")
        assert chart.drawn.cursor == chart.drawn.columns - 3
        assert (
            chart.drawn.reading in " ".join(seen.text.split()) or chart.drawn.reading in seen.text
        )
        await seen.press("plus")
        narrow = chart.drawn.places[-1] - chart.drawn.places[0]
        await seen.press("minus", "0", "home")
        assert chart.drawn.cursor == 0
        assert chart.drawn.places[-1] - chart.drawn.places[0] > narrow
        await seen.press("v")
        assert WatchMarket(MARKET, 604_800) in seen.doors.submitted
        await seen.press("3", "end")
        assert chart.chart_name is ChartName.EQUITY
        assert STATE.account is not None
        assert formats.money(STATE.account.equity).plain in seen.text
        await seen.press("tab")
        assert chart.chart_name is ChartName.SKILLS
        assert [one for one in seen.doors.submitted if isinstance(one, ReadDay)]
        await seen.press("end", "up")
        assert chart.drawn.cursor is not None
        await seen.press("shift+tab", "shift+tab", "shift+tab")
        assert chart.chart_name is ChartName.PRICE
        await seen.press("escape")
        # The screen below has its market as before.
        watched = [one for one in seen.doors.submitted if isinstance(one, WatchMarket)]
        assert watched[-1] == WatchMarket(MARKET, SPAN_S)


@pytest.mark.slow
async def test_a_click_reads_and_the_wheel_zooms() -> None:
    async with running(STATE, first="portfolio", size=(100, 30)) as seen:
        await seen.app.run_action("charts('equity')")
        await seen.pilot.pause()
        chart = dialog(seen)
        await seen.pilot.click("ChartView", offset=(40, 6))
        assert chart.drawn.cursor == 40 - chart.drawn.margin
        whole = chart.drawn.places[-1] - chart.drawn.places[0]
        chart.action_zoom(-1)
        assert chart.drawn.places[-1] - chart.drawn.places[0] < whole


@pytest.mark.slow
async def test_a_newer_state_is_shown_and_the_cursor_stays_on_its_time() -> None:
    async with running(STATE, first="portfolio", size=(100, 30)) as seen:
        await seen.app.run_action("charts('equity')")
        await seen.press("left", "left", "left", "left")
        chart = dialog(seen)
        reading = chart.drawn.reading
        seen.clock[0] = NOW + 30
        await seen.bring(replace(STATE, stars=frozenset({"x"})))
        assert chart.drawn.reading.split()[0] == reading.split()[0]


@pytest.mark.slow
async def test_the_command_names_a_chart() -> None:
    async with running(STATE, size=(100, 30)) as seen:
        await seen.press("colon", *"charts sweep", "enter")
        assert dialog(seen).chart_name is ChartName.SWEEP


@pytest.mark.slow
async def test_each_chart_looks_as_it_is_meant_to() -> None:
    async with running(STATE, first="markets", size=SIZES[0]) as seen:
        await seen.app.run_action(f"go('markets', '{MARKET}')")
        await seen.press("f4")
        for place, name in enumerate(ChartName, start=1):
            await seen.pilot.resize_terminal(*SIZES[0])
            await seen.press(str(place), "left", "left")
            await assert_each(seen.pilot, f"chart_{name}")
