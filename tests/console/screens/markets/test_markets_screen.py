"""The screen of the markets and its pane without an app: what is listed, shown and requested."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text
from textual.geometry import Size

from kit.console.alone import event
from kit.console.lone_screen import LoneScreen
from kit.samples.desk import NOW, sample_state
from service_tui.console.screens.markets import detail as market_detail
from service_tui.console.screens.markets.chips import MarketChips
from service_tui.console.screens.markets.filter import FilterContext, MarketFilter, filter_from
from service_tui.console.screens.markets.pane import (
    MarketPane,
    _entry,  # pyright: ignore[reportPrivateUsage]
    _hidden,  # pyright: ignore[reportPrivateUsage]
)
from service_tui.console.screens.markets.screen import MarketsScreen
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.slices.markets import DetailView, NewsView, TapeTradeView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

SAMPLE = sample_state(12)
PLAIN = replace(SAMPLE, preferences={}, stars=frozenset(), rewound_to=None, detail=None)
KEYS = tuple(PLAIN.markets)
CLOSED = KEYS[3]
STATE = replace(
    PLAIN,
    markets={
        key: replace(
            market,
            status=MarketStatus.CLOSED if key == CLOSED else MarketStatus.ACTIVE,
            venues=(Venue.SIM,),
        )
        for key, market in PLAIN.markets.items()
    },
)
DETAIL = DetailView(KEYS[0], 60, "", (), (), ())
OPEN = [key for key in KEYS if key != CLOSED]


def markets(state: DeskState = STATE, size: tuple[int, int] = (120, 40)) -> LoneScreen:
    return LoneScreen(MarketsScreen(state, NOW), size)


def starred(*keys: str) -> DeskState:
    return replace(STATE, stars=frozenset(keys))


def kept(market_filter: MarketFilter, state: DeskState = STATE) -> DeskState:
    return replace(state, preferences={"filter.markets": market_filter.to_text()})


def labels(lone: LoneScreen) -> tuple[str, ...]:
    return lone.screen.chips._labels


# -- what is listed ------------------------------------------------------------------------------


def test_open_markets_are_listed_and_counted_among_all() -> None:
    lone = markets()
    assert sorted(lone.listed) == sorted(OPEN)
    assert labels(lone)[0] == f"{len(OPEN)} of {len(KEYS)}"
    assert len(labels(lone)) == 1 + len(MarketChips.SWITCHES)


def test_the_filters_of_a_former_start_are_in_force_and_kept() -> None:
    wanted = MarketFilter(starred=True, status="all")
    lone = markets(kept(wanted, starred(CLOSED, OPEN[0])))
    assert sorted(lone.listed) == sorted([CLOSED, OPEN[0]])
    assert lone.kept == {}
    lone.screen._set_filter(MarketFilter(typed="x", starred=True))
    lone.screen.keep()
    lone.screen.keep()
    assert filter_from(lone.kept["filter.markets"]) == MarketFilter(typed="x", starred=True)
    assert sum(one.command.name == "filter.markets" for one in lone.posted
               if hasattr(one, "command") and hasattr(one.command, "name")) == 1  # fmt: skip


def test_a_search_narrows_the_list_beside_the_filters_and_tells_its_problem() -> None:
    lone = markets(kept(MarketFilter(starred=True), starred(*OPEN[:3])))
    word = STATE.markets[OPEN[1]].question.split()[-1]
    lone.search(word)
    assert OPEN[1] in lone.listed
    assert set(lone.listed) <= set(OPEN[:3])
    assert lone.screen.chips.filter_in_force == MarketFilter(typed=word, starred=True)
    assert lone.line.problem == ""
    lone.search("volume:>x")
    assert lone.line.problem


def test_an_empty_list_says_which_filter_empties_it() -> None:
    lone = markets(kept(MarketFilter(starred=True)))
    assert lone.listed == []
    assert "starred" in lone.screen.empty_text()
    assert lone.screen.table.empty == lone.screen.empty_text()


def test_a_hidden_market_is_shown_past_every_filter() -> None:
    lone = markets()
    assert lone.screen.is_hidden(CLOSED)
    assert not lone.screen.is_hidden(OPEN[0])
    assert not lone.screen.is_hidden("unknown")
    lone.line.typed = "nothing"
    lone.screen.focus_row(CLOSED)
    assert lone.screen.table.order.cursor == CLOSED
    assert (lone.line.typed, len(lone.listed)) == ("", len(KEYS))
    assert lone.toasts == ["filters cleared to show this market"]


def test_stepping_out_ends_at_the_open_markets() -> None:
    lone = markets(kept(MarketFilter(starred=True), starred(OPEN[0])))
    lone.screen.table.has_focus = True
    lone.line.typed = "a search"
    assert lone.screen.step_out()
    assert lone.line.typed == ""
    assert lone.listed == [OPEN[0]]
    assert lone.screen.step_out()
    assert len(lone.listed) == len(OPEN)
    assert not lone.screen.step_out()


def test_a_click_on_a_switch_is_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    lone = markets()
    done: list[str] = []
    monkeypatch.setattr(lone.screen, "action_perform", done.append)
    for place in range(len(MarketChips.SWITCHES) + 1):
        click = event(index=place)
        lone.screen._chip_clicked(click)
        assert click.stopped == ["stop"]
    assert tuple(done) == MarketChips.SWITCHES
    assert lone.focused == [lone.screen.table]


def test_the_inputs_of_a_filter_are_those_of_the_desk() -> None:
    held = STATE.positions[0].market_id
    context = FilterContext.of(markets(starred("s")).screen.view)
    assert held in context.held
    assert context.stars == {"s"}


@pytest.mark.parametrize(
    ("venues", "title"), [((Venue.SIM,), "{}"), ((Venue.SIM, Venue.EVM), "EVM  {}")]
)
def test_a_title_names_the_real_venue(venues: tuple[Venue, ...], title: str) -> None:
    market = replace(STATE.markets[OPEN[0]], venues=venues)
    assert markets().screen.title_line(market) == title.format(market.question)


# -- the pane ------------------------------------------------------------------------------------


class PaneAlone:
    """The pane of a market with nothing around it."""

    def __init__(self) -> None:
        self.lone = markets()
        self.pane: Any = self.lone.screen.market
        self.lone.posted.clear()
        self.lone.timers.clear()
        self.pane._market_id = self.pane._watched = self.pane._resting = None
        self.pane._charted = self.pane._told = None

    def show(self, key: str | None, state: DeskState = STATE) -> None:
        market = None if key is None else state.markets[key]
        self.pane.show_market(market, state, NOW)

    @property
    def watched(self) -> list[Any]:
        return [one for one in self.lone.given if isinstance(one, WatchMarket)]


DAY, WEEK = 86_400, 7 * 86_400


def detail(key: str, **other: Any) -> DetailView:
    given: dict[str, Any] = {
        "market_id": key, "span_s": DAY, "criteria": "", "points": (), "news": (), "trades": (),
    }  # fmt: skip
    return DetailView(**{**given, **other})


def test_the_detail_of_a_market_is_requested_once_the_cursor_rests() -> None:
    it = PaneAlone()
    it.show(OPEN[0])
    it.show(OPEN[0])
    it.show(OPEN[1])
    assert it.watched == []
    assert len(it.lone.timers) == 1
    it.lone.wait()
    assert it.watched == [WatchMarket(OPEN[1], DAY)]
    it.show(OPEN[1])
    assert it.lone.timers == []
    it.pane._request()
    assert len(it.watched) == 1


def test_another_span_is_requested_at_once_round_and_round() -> None:
    it = PaneAlone()
    it.show(OPEN[0])
    it.lone.wait()
    it.pane.next_range()
    spans = [one.span_s for one in it.watched]
    assert spans[0] == DAY
    assert spans[1] != DAY
    it.show(OPEN[0], replace(STATE, detail=detail(OPEN[0])))
    title = it.pane._prices._title
    assert title.startswith("YES, 24 h")
    assert "loading" in title
    while it.pane._span_s != DAY:
        it.pane.next_range()
    assert it.watched[-1] == WatchMarket(OPEN[0], DAY)
    assert len({one.span_s for one in it.watched}) == len(it.watched) - 1


def test_a_pane_that_is_left_requests_nothing_more() -> None:
    it = PaneAlone()
    it.pane.release()
    assert it.watched == []
    it.show(OPEN[0])
    it.lone.wait()
    it.show(OPEN[1])
    it.pane.release()
    it.lone.wait()
    assert it.watched == [WatchMarket(OPEN[0], DAY), WatchMarket(None)]
    it.show(OPEN[1])
    it.lone.wait()
    assert it.watched[-1] == WatchMarket(OPEN[1], DAY)


def test_no_market_is_told_and_shown_no_more() -> None:
    it = PaneAlone()
    it.show(OPEN[0])
    assert it.pane.shows(OPEN[0])
    assert not it.pane.shows(OPEN[1])
    it.show(None)
    assert it.lone.text("detail-head") == "Select a market"
    assert not it.pane.shows(OPEN[0])
    it.lone.wait()
    assert it.watched == []
    # Back on it, everything is shown anew.
    it.show(OPEN[0])
    assert STATE.markets[OPEN[0]].question in it.lone.text("detail-head")


def test_the_detail_of_another_market_is_never_shown() -> None:
    it = PaneAlone()
    other = detail(OPEN[1], points=((Timestamp(NOW - 600), 0.25),))
    it.show(OPEN[0], replace(STATE, detail=other))
    assert list(it.pane._prices._points) == []
    assert it.pane._prices._empty.startswith("loading")
    it.show(OPEN[1], replace(STATE, detail=other))
    assert next(price for _, price in it.pane._prices._points) == 0.25
    past = replace(STATE, rewound_to=Timestamp(NOW - 60))
    it.show(OPEN[0], past)
    assert it.pane._prices._empty == "not available"


def test_a_price_that_moved_is_shown_in_the_head_and_the_chart() -> None:
    it = PaneAlone()
    state = replace(STATE, detail=detail(OPEN[0], points=((Timestamp(NOW - 600), 0.25),)))
    it.show(OPEN[0], state)
    before = it.lone.text("detail-head")
    moved = replace(state.markets[OPEN[0]], price=Probability(0.123))
    it.show(OPEN[0], replace(state, markets={**state.markets, OPEN[0]: moved}))
    assert it.lone.text("detail-head") != before
    assert "NO   0.877" in it.lone.text("detail-head")
    assert it.pane._prices._points[-1][1] == pytest.approx(0.123)


def test_the_entry_of_a_position_is_a_price_of_yes() -> None:
    yes, no = (replace(STATE.positions[0], side=side, average=0.3) for side in Side)
    assert _entry((yes,)) == 0.3
    assert _entry((no,)) == pytest.approx(0.7)
    for held in ((), (yes, no), (replace(yes, average=None),)):
        assert _entry(held) is None


def test_the_own_name_is_hidden_only_while_masked() -> None:
    assert STATE.account is not None
    private = replace(STATE, preferences={"privacy": "on"})
    assert _hidden(STATE) == ""
    assert _hidden(private) == STATE.account.name
    assert _hidden(replace(private, account=None)) == ""


def test_a_screen_that_is_left_releases_its_market() -> None:
    lone = markets()
    lone.wait()
    lone.screen.leave()
    assert lone.given[-1] == WatchMarket(None)
    assert isinstance(lone.screen.market, MarketPane)


@pytest.mark.parametrize(
    ("width", "shown", "has_room", "is_updated"),
    [(0, OPEN[0], True, False), (0, OPEN[1], True, True), (120, OPEN[0], True, True),
     (120, OPEN[1], False, False)],
)  # fmt: skip
def test_coming_back_the_pane_waits_only_if_it_shows_the_market_already(
    width: int, shown: str, *, has_room: bool, is_updated: bool
) -> None:
    given: list[Any] = []
    pane = SimpleNamespace(shows=lambda key: key == shown, show_market=lambda *it: given.append(it))
    market = STATE.markets[OPEN[0]]
    screen: Any = SimpleNamespace(
        table=SimpleNamespace(highlighted=lambda: market), market=pane, size=Size(width, width),
        shows_detail=has_room, state=STATE, now=NOW,
    )  # fmt: skip
    MarketsScreen.show_detail(screen)
    assert given == ([(market, STATE, NOW)] if is_updated else [])


def test_the_news_of_a_market_are_listed_or_said_to_be_none() -> None:
    told = replace(DETAIL, news=())
    assert "none yet" in market_detail.news(told, NOW).plain
    item = NewsView(Timestamp(NOW - 9), KEYS[0], "The river rose", 0.4, 0.5)
    text = market_detail.news(replace(told, news=(item,)), NOW).plain
    assert "The river rose" in text
    assert "none yet" not in text


def test_the_tape_lists_its_trades_newest_first_or_says_why_there_are_none() -> None:
    told = replace(DETAIL, trades=(), problem="")
    for detail, text in (
        (None, market_detail.LOADING), (replace(told, problem="no"), "not available"),
        (told, "none yet"),
    ):  # fmt: skip
        assert text in market_detail.trades(detail, NOW, 60).plain
    tape = tuple(
        TapeTradeView(Timestamp(NOW - 9 * place), f"trader {place}", Side.YES, Action.BUY,
                      Micros(ONE), 0.5)
        for place in (1, 2)
    )  # fmt: skip
    _, first, second = market_detail.trades(replace(told, trades=tape), NOW, 60).plain.splitlines()
    assert ("trader 1" in first, "trader 2" in second) == (True, True)


def test_the_tape_masks_the_own_trades_while_amounts_are_masked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hidden: list[str] = []

    def tape(*_: Any, **given: Any) -> Text:
        hidden.append(given["hidden"])
        return Text("tape")

    it = PaneAlone()
    monkeypatch.setattr(market_detail, "trades", tape)
    it.show(OPEN[0])
    it.show(OPEN[0], replace(STATE, preferences={"privacy": "on"}))
    assert STATE.account is not None
    assert hidden == ["", STATE.account.name]
    assert "tape" in it.lone.text("detail-more")
