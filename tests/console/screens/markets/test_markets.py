"""The markets screen: list, filters, and the market in focus."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.painted import strips_of
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from service_tui.console.charts.sources import RANGES
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.screens.markets import detail as market_text
from service_tui.console.screens.markets.detail import LOADING
from service_tui.console.screens.markets.pane import REST_S
from service_tui.console.screens.markets.screen import MarketsScreen
from service_tui.desk.commands.settings import WatchMarket
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.markets import DetailView, MarketView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Micros, Probability, Timestamp

STATE = sample_state(60)
SMALL, WIDE, WIDEST = (80, 24), (120, 40), (160, 50)
THEMES = {
    (60, 18): ("night",),
    (80, 24): ("night",),
    (120, 40): ("night", "paper"),
    (160, 50): ("dune",),
}


PLOT = {chr(place) for place in range(0x2801, 0x2900)}
"""The characters of which lines of a chart are made."""


class View:
    """The screen, seen from outside."""

    def __init__(self, pilot: Pilot[None], app: Host, screen: MarketsScreen) -> None:
        self.pilot = pilot
        self.app = app
        self.screen = screen

    def rows(self) -> list[MarketView]:
        order = self.screen.table.order
        return [order[place] for place in range(len(order))]

    def ids(self) -> list[str]:
        return [market.market_id for market in self.rows()]

    def part(self, selector: str) -> str:
        return str(self.screen.query_one(selector, Static).content)

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    @property
    def watched(self) -> list[WatchMarket]:
        return [command for command in self.app.given if isinstance(command, WatchMarket)]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def search(self, typed: str) -> None:
        self.screen.query_one(Input).value = typed
        await self.pilot.pause()

    async def rest(self) -> None:
        await self.pilot.pause(1.5 * REST_S)


@asynccontextmanager
async def markets(
    state: DeskState = STATE, size: tuple[int, int] = SMALL, *, opens_dialogs: bool = False
) -> AsyncIterator[View]:
    app = Host(state, MarketsScreen, opens_dialogs=opens_dialogs)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.front, MarketsScreen)
        yield View(pilot, app, app.front)


def with_market(state: DeskState, market: MarketView) -> DeskState:
    return replace(state, markets={**state.markets, market.market_id: market})


@pytest.mark.slow
async def test_open_markets_come_with_the_most_traded_first() -> None:
    async with markets() as view:
        volumes = [market.volume or 0 for market in view.rows()]
        assert volumes == sorted(volumes, reverse=True)
        assert {market.status for market in view.rows()} == {MarketStatus.ACTIVE}
        assert f"{len(volumes)} of 60" in view.part("#markets-chips")


@pytest.mark.slow
async def test_search_narrows_at_every_key_and_escape_clears_it() -> None:
    async with markets() as view:
        await view.press("slash", "h", "a", "r", "b")
        assert view.rows()
        assert all("harb" in market.question for market in view.rows())
        await view.press("enter")
        assert view.screen.table.has_focus
        assert view.screen.table.selected() == view.rows()[0]
        await view.press("escape")
        assert len(view.rows()) > len(view.ids()) // 2
        assert all(market.is_open for market in view.rows())
        assert view.screen.query_one(Input).value == ""


@pytest.mark.slow
async def test_what_cannot_be_read_is_said_and_the_rest_is_in_force() -> None:
    async with markets() as view:
        await view.press("slash")
        await view.search("harbour price:>abc")
        assert "wants a number" in view.part("#filter-problem")
        assert all("harbour" in market.question for market in view.rows())
        for typed in ("[/red]", "(", "[@click=app.quit]x", "price:>", "!", "!!"):
            await view.search(typed)
        await view.search("price:>0.6")
        assert view.part("#filter-problem") == ""
        assert all(market.price > 0.6 for market in view.rows())


@pytest.mark.slow
async def test_keys_and_clicks_switch_the_filters_and_the_chips_say_so() -> None:
    async with markets() as view:
        chips = "#markets-chips"
        await view.press("c")
        assert {market.category for market in view.rows()} == {"crypto"}
        assert "c category crypto" in view.part(chips)
        await view.press("escape", "o")
        assert {market.status for market in view.rows()} == {MarketStatus.CLOSED}
        await view.press("o", "o")
        assert len(view.rows()) == 60
        await view.press("t")
        assert all((m.resolves_at or 0) - NOW <= 3_600 for m in view.rows())
        await view.press("t", "t", "t", "h")
        assert set(view.ids()) == {held.market_id for held in STATE.positions}
        await view.press("h", "w")
        assert set(view.ids()) == STATE.stars
        await view.pilot.click(chips, offset=(view.part(chips).index("w starred") + 2, 0))
        assert len(view.rows()) == 60


KINDS = ((Venue.SIM, Venue.EVM), (Venue.SIM, Venue.SOL), (Venue.SIM,))
ON_VENUES = replace(
    STATE,
    markets={
        market_id: replace(market, venues=KINDS[place % len(KINDS)])
        for place, (market_id, market) in enumerate(STATE.markets.items())
    },
)


MARKS = {KINDS[0]: "EVM", KINDS[1]: "SOL", KINDS[2]: "sim"}


@pytest.mark.slow
@pytest.mark.parametrize("size", [(110, 30), (250, 70)])
async def test_the_list_shows_the_real_venue_of_a_market(size: tuple[int, int]) -> None:
    async with markets(ON_VENUES, size) as view:
        assert " venue " in view.screen.table.render_line(0).text
        for place, market in enumerate(view.rows()[:12], start=1):
            line = view.screen.table.render_line(place).text
            assert MARKS[market.venues] in line.split()


@pytest.mark.slow
async def test_a_small_list_shows_venue_and_question_of_the_row_in_a_line_of_their_own() -> None:
    async with markets(ON_VENUES, SMALL) as view:
        table = view.screen.table
        for market in view.rows()[:4]:
            line = table.render_line(table.size.height - 1).text.strip()
            venue = MARKS[market.venues]
            title = market.question if venue == "sim" else f"{venue}  {market.question}"
            start, _, end = line.partition("…")
            assert title.startswith(start)
            assert title.endswith(end)
            await view.press("j")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, WIDEST])
async def test_the_pane_shows_where_a_market_trades(size: tuple[int, int]) -> None:
    async with markets(ON_VENUES, size) as view:
        await view.press("enter")
        assert "trades on" in view.part("#markets-detail .detail-more")


@pytest.mark.slow
async def test_a_service_that_does_not_say_where_markets_trade_is_not_filtered_by_it() -> None:
    async with markets() as view:
        every = view.ids()
        await view.press("V")
        assert view.ids() == every
        assert any("no venue data" in said for said in view.app.said)


@pytest.mark.slow
async def test_an_empty_list_says_why_and_what_to_do() -> None:
    async with markets() as view:
        await view.press("slash")
        await view.search("zzz")
        assert "/zzz" in view.screen.table.empty
        assert "esc clears" in view.screen.table.empty
        for phase, words in (
            (Phase.CONNECTING, "Connecting"),
            (Phase.OFFLINE, "cannot be reached: connection refused"),
            (Phase.UNAUTHORIZED, "refuses this key"),
            (Phase.ONLINE, "No markets listed"),
        ):
            service = replace(STATE.service, phase=phase, problem="connection refused")
            view.app.bring(replace(STATE, markets={}, service=service))
            assert words in view.screen.table.empty


@pytest.mark.slow
async def test_an_order_from_the_ticket_goes_to_the_desk() -> None:
    async with markets(opens_dialogs=True) as view:
        market = view.screen.table.selected()
        assert market is not None
        await view.press("b", "5")
        form = view.app.screen
        assert isinstance(form, TradeForm)
        await until(
            view.pilot, lambda: any(isinstance(one, RequestQuote) for one in view.app.given)
        )
        (ask,) = [command for command in view.app.given if isinstance(command, RequestQuote)]
        quote = QuoteView(ask.request_id, ok=True, shares=Micros(10), money=Micros(5))
        form.take(replace(STATE, quote=quote), NOW)
        await view.press("enter")
        await view.pilot.pause()
        (order,) = [command for command in view.app.given if isinstance(command, PlaceTrade)]
        assert order.market_id == market.market_id


@pytest.mark.slow
async def test_the_market_under_a_resting_cursor_is_asked_about_once() -> None:
    async with markets(size=WIDE) as view:
        await view.rest()
        assert view.watched == [WatchMarket(view.ids()[0], 86_400)]
        for _ in range(4):
            view.screen.table.action_move(1)
        await view.rest()
        assert [watch.market_id for watch in view.watched] == [view.ids()[0], view.ids()[4]]
        await view.press("v")
        assert view.watched[-1] == WatchMarket(view.ids()[4], 604_800)
        view.screen.leave()
        await view.pilot.pause()
        assert view.watched[-1] == WatchMarket(None)


@pytest.mark.slow
async def test_a_small_terminal_asks_about_nothing_until_a_market_is_opened() -> None:
    async with markets() as view:
        await view.rest()
        assert view.watched == []
        await view.press("enter")
        await view.rest()
        assert view.watched == [WatchMarket(view.ids()[0], 86_400)]
        assert view.screen.query_one("#markets-detail").has_focus
        await view.press("escape")
        assert view.screen.table.has_focus
        assert not view.screen.has_class("-opened")


@pytest.mark.slow
async def test_the_detail_of_another_market_is_never_shown() -> None:
    async with markets(size=WIDE) as view:
        await view.rest()
        detail = STATE.detail
        assert detail is not None
        first, second = view.ids()[:2]
        view.app.bring(replace(STATE, detail=replace(detail, market_id=first)))
        await view.pilot.pause()
        assert "Officials at station 1" in view.part(".detail-more")
        assert PLOT & {*view.text}
        await view.press("j")
        assert view.screen.table.selected() == STATE.markets[second]
        assert "Officials" not in view.part(".detail-more")
        assert "loading" in view.part(".detail-more")
        assert not PLOT & {*view.text}
        assert STATE.markets[second].question in view.part(".detail-head")


@pytest.mark.slow
async def test_the_chart_says_which_span_it_shows_and_which_is_on_its_way() -> None:
    async with markets(size=WIDE) as view:
        await view.rest()
        assert STATE.detail is not None
        first = replace(STATE.detail, market_id=view.ids()[0], span_s=86_400, problem="")
        view.app.bring(replace(STATE, detail=first))
        await view.pilot.pause()
        assert "YES, 24 h" in view.text
        for _ in RANGES:
            await view.press("v")
        assert {watch.span_s for watch in view.watched} == set(RANGES)
        await view.press("v")
        view.app.bring(later_s=1.0)
        await view.pilot.pause()
        assert "YES, 24 h, world time; 7 d" in view.text
        view.app.bring(replace(STATE, detail=None, rewound_to=Timestamp(NOW - 60)))
        await view.pilot.pause()
        assert "not available" in view.text


@pytest.mark.slow
async def test_in_a_paused_world_the_pane_is_written_anew_only_for_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    rules = market_text.rules

    def noted(market: MarketView, *rest: Any) -> Text:
        written.append(market.market_id)
        return rules(market, *rest)

    assert STATE.world is not None
    paused = replace(STATE, world=replace(STATE.world, speed=0))
    async with markets(paused, size=WIDE) as view:
        await view.rest()
        monkeypatch.setattr(market_text, "rules", noted)
        view.app.bring(replace(paused, seen=dict(paused.seen)), later_s=1.0)
        view.app.bring(later_s=60.0)
        assert written == []
        first = view.rows()[0]
        view.app.bring(with_market(paused, replace(first, price=Probability(0.123))))
        assert written == [first.market_id]
        assert "0.877" in view.part(".detail-head")
        view.app.bring(STATE, later_s=1.0)
        view.app.bring(later_s=1.0)
        assert len(written) == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_no_key_ever_acts_on_another_row_than_the_one_highlighted(seed: int) -> None:
    rng = random.Random(seed)
    everything = dict(STATE.markets)
    async with markets(size=(60, 12)) as view:
        for _ in range(30):
            await shake(view, rng, everything)
            table, before = view.screen.table, len(view.app.dialogs)
            # While its row is gone nothing is highlighted; should it come back, it is that row.
            highlighted = table.order.cursor
            said = len(view.app.said)
            key = rng.choice("bx")
            view.app.post_message(events.Key(key, key))
            if rng.random() < 0.5:
                # A newer state between the key and its action.
                view.app.bring(shaken(view.app.state, rng, everything))
            await view.pilot.pause()
            if len(view.app.dialogs) > before:
                form = view.app.dialogs[-1]
                assert isinstance(form, TradeForm)
                assert form.market.market_id == highlighted
            else:
                assert len(view.app.said) > said


async def shake(view: View, rng: random.Random, everything: dict[str, MarketView]) -> None:
    """Something that happens between two keys."""
    screen = view.screen
    match rng.randrange(6):
        case 0:
            screen.table.action_sort_next()
        case 1:
            screen.table.action_sort_reverse()
        case 2:
            screen.action_perform("markets.status")
        case 3:
            screen.narrow(rng.choice(["", "harbour", "price:>0.5", "!kestrels"]))
        case 4:
            screen.table.action_move(rng.randint(-5, 5))
        case _:
            view.app.bring(shaken(view.app.state, rng, everything))


def shaken(state: DeskState, rng: random.Random, everything: dict[str, MarketView]) -> DeskState:
    """Some markets go, some come back, prices and volumes move."""
    kept = {
        key: replace(market, price=Probability(rng.uniform(0.05, 0.95)))
        for key, market in everything.items()
        if rng.random() < 0.7
    }
    return replace(state, markets=dict(rng.sample(sorted(kept.items()), len(kept))))


@pytest.mark.slow
async def test_the_screen_looks_as_kept_at_every_size() -> None:
    first = max(STATE.markets.values(), key=lambda market: (market.is_open, market.volume or 0))
    detail = STATE.detail
    assert detail is not None
    # The curve of another market, moved to where this one stands.
    move = first.price - detail.points[-1][1]
    points = tuple(
        (at, price + move * place / 199) for place, (at, price) in enumerate(detail.points)
    )
    watched = replace(detail, market_id=first.market_id, span_s=86_400, points=points)
    state = replace(STATE, detail=watched)
    async with markets(state) as view:
        for size, themes in THEMES.items():
            await view.pilot.resize_terminal(*size)
            await view.rest()
            await assert_snapshot(view.pilot, f"markets_{size[0]}x{size[1]}", themes=themes)
        for size in ((250, 70), (60, 18), (20, 5), (1, 1), (80, 24)):
            await view.pilot.resize_terminal(*size)
            await view.press("enter")
        view.app.bring(later_s=1.0)
        await view.pilot.pause()
        assert view.app.is_running


@pytest.mark.slow
async def test_titles_of_markup_and_escapes_are_shown_as_they_are() -> None:
    nasty = "[@click=app.quit]click[/red] [bold"
    first = max(STATE.markets.values(), key=lambda market: (market.is_open, market.volume or 0))
    async with markets(with_market(STATE, replace(first, question=nasty)), WIDE) as view:
        await view.rest()
        assert nasty in view.part(".detail-head")
        await view.pilot.click(MarketsScreen, offset=(10, 2))
        assert view.app.is_running


def test_criteria_that_are_on_their_way_are_not_said_to_be_missing() -> None:
    market = replace(next(iter(STATE.markets.values())), criteria="")
    assert "no criteria" not in market_text.rules(market, None, 40).plain
    assert LOADING in market_text.rules(market, None, 40).plain
    there = DetailView(market.market_id, 0, "", (), (), ())
    assert "no criteria" in market_text.rules(market, there, 40).plain
    late = replace(there, problem="it did not answer")
    assert "not available" in market_text.rules(market, late, 40).plain
