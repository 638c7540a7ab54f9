"""Two markets in one chart: which are offered, what is drawn of both, and what is not known."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running
from kit.samples.charts import SPAN_S, charted_state
from kit.samples.desk import NOW
from service_tui.console.charts.series import TimeSeries, measured
from service_tui.console.charts.sources import ChartName, series_of
from service_tui.console.forms.compare_menu import CompareMenu, ranked
from service_tui.console.saved import Watchlist, keep_watchlists
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.slices.markets import BesideView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, VOID, Outcome
from service_tui.terms import MarketStatus
from service_tui.units import Probability, Timestamp

STATE = charted_state()
assert STATE.detail is not None
MARKET = STATE.detail.market_id
OTHERS = sorted(one.market_id for one in STATE.markets.values() if one.market_id != MARKET)
OTHER = OTHERS[0]
POINTS = tuple((Timestamp(NOW - 3_600 + 60 * place), 0.2 + place / 200) for place in range(60))


def with_beside(
    beside: BesideView | None, *, is_open: bool = True, outcome: Outcome = NO
) -> DeskState:
    detail, market = STATE.detail, STATE.markets[OTHER]
    assert detail is not None
    market = replace(market, question="Will the other end?", price=Probability(0.61))
    if not is_open:
        market = replace(market, status=MarketStatus.RESOLVED, outcome=outcome)
    else:
        market = replace(market, status=MarketStatus.ACTIVE, outcome=None)
    return replace(
        STATE,
        detail=replace(detail, beside=beside),
        markets={**STATE.markets, OTHER: market},
    )


KNOWN = with_beside(BesideView(OTHER, POINTS))


def both(state: DeskState) -> TimeSeries:
    view = ViewContext.of(state, NOW)
    series = series_of(ChartName.PRICE, view, MARKET, SPAN_S, beside_id=OTHER)
    assert isinstance(series, TimeSeries)
    return series


async def open_menu(seen: Running) -> None:
    await seen.app.run_action(f"go('markets', '{MARKET}')")
    await seen.press("f4", "c")


async def test_a_second_market_is_found_by_its_words_drawn_and_left_out_again() -> None:
    async with running(KNOWN, first="markets", size=(100, 30)) as seen:
        await open_menu(seen)
        await seen.press(*"other end")
        assert "▌ Will the other end?" in seen.text
        await seen.press("enter")
        watched = [one for one in seen.doors.submitted if isinstance(one, WatchMarket)]
        assert watched[-1] == WatchMarket(MARKET, SPAN_S, OTHER)
        assert "YES of two markets, 24 h" in seen.text
        assert "2 Will the other end?" in seen.text
        await seen.press("left", "left", "m", *["left"] * 9)
        assert "measured over" in seen.text
        # Both figures of both places, and below them both prices under the cursor.
        assert any(line.startswith("│ 2 0.") and " pt" in line for line in seen.lines)
        assert "2 Will the other" in seen.lines[-2]
        await seen.press("c")
        watched = [one for one in seen.doors.submitted if isinstance(one, WatchMarket)]
        assert watched[-1] == WatchMarket(MARKET, SPAN_S)
        assert "two markets" not in seen.text


async def test_a_text_that_no_market_has_offers_none_and_enter_chooses_none() -> None:
    async with running(KNOWN, first="markets", size=(100, 30)) as seen:
        await open_menu(seen)
        await seen.press(*"zzzz", "enter")
        assert "No market matches." in seen.text
        assert isinstance(seen.app.screen, CompareMenu)
        await seen.press("escape")
        assert "two markets" not in seen.text


@pytest.mark.parametrize(
    ("outcome", "told"),
    [(NO, "resolved NO"), (VOID, "resolved void"), (Outcome.at(0.35), "resolved 0.35")],
)
async def test_the_list_names_how_each_ended_market_ended(outcome: Outcome, told: str) -> None:
    state = with_beside(None, is_open=False, outcome=outcome)
    async with running(state, first="markets", size=(100, 30)) as seen:
        await open_menu(seen)
        await seen.press(*"other end")
        assert told in next(line for line in seen.lines if "▌ Will the other end?" in line)


async def test_without_a_market_the_key_says_what_is_missing() -> None:
    async with running(KNOWN, first="portfolio", size=(100, 30)) as seen:
        await seen.app.run_action("go('settings')")
        await seen.press("f4", "c")
        assert seen.toasts[-1] == "! compare: select a market first"


def test_the_second_line_ends_at_the_price_of_now_and_an_ended_one_at_its_last() -> None:
    series = both(KNOWN)
    assert series.others == ((*POINTS, (NOW, 0.61)),)
    assert series.legend[1] == "Will the other end?"
    assert not series.marks
    ended = both(with_beside(BesideView(OTHER, POINTS), is_open=False))
    assert ended.others == (POINTS,)
    assert ended.legend[1] == "Will the other end? (resolved NO)"


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        (None, "loading prices"),
        (BesideView("another", POINTS), "loading prices"),
        (BesideView(OTHER, problem="no such market"), "not available: no such market"),
        (BesideView(OTHER), "no prices known"),
    ],
)
def test_a_market_without_known_prices_says_so_beside_the_line_of_the_first(
    beside: BesideView | None, why: str
) -> None:
    series = both(with_beside(beside))
    assert series.points
    assert series.legend[1] == f"Will the other end?: {why}"
    assert measured(series, NOW - 600, NOW).count(" to ") == 1


def test_markets_seen_lately_come_first_then_those_kept_then_those_alike() -> None:
    market = replace(STATE.markets[MARKET], event_id="e", tags=("weather", "rain"))
    seen, starred, kept, same, topic = OTHERS[:5]
    markets = {
        **{key: replace(one, event_id="", tags=("x", "y")) for key, one in STATE.markets.items()},
        MARKET: market,
        same: replace(STATE.markets[same], event_id="e", tags=()),
        topic: replace(STATE.markets[topic], event_id="", tags=("sport", "rain")),
    }
    lists = keep_watchlists([Watchlist("mine", (kept, seen, "gone", MARKET))])
    state = replace(
        STATE,
        markets=markets,
        stars=frozenset({starred}),
        preferences={lists.name: lists.value},
    )
    found = ranked(state, market, (seen, MARKET, "forgotten"))
    assert found[:5] == (
        (seen, "seen"), (starred, "starred"), (kept, "mine"), (same, "same event"),
        (topic, "same topic"),
    )  # fmt: skip
    assert sorted(key for key, _ in found) == OTHERS
