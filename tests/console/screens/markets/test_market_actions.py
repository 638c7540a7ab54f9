"""What each key of the markets does: on which market and side, and which markets are listed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.widgets import Input

from kit.console.acting import StubScreen, perform
from kit.console.doors import running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.forms.price_alert import PriceAlertForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.screens.markets.actions import ACTIONS
from service_tui.console.screens.markets.chips import MarketChips
from service_tui.console.screens.markets.filter import MarketFilter
from service_tui.console.screens.markets.pane import MarketPane
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.markets import BookLevelView, DetailView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = guarded_state()
HELD_ID = STATE.positions[1].market_id
HELD = STATE.markets[HELD_ID]
FREE = next(
    one
    for one in STATE.markets.values()
    if one.status is MarketStatus.ACTIVE and not STATE.held(one.market_id)
)


def on(*rows: Any, state: DeskState = STATE, narrowed: MarketFilter | None = None) -> StubScreen:
    screen = StubScreen(state, rows)
    screen.parts[MarketChips] = SimpleNamespace(filter_in_force=narrowed or MarketFilter())
    screen.parts[MarketPane] = SimpleNamespace(place=None)
    return screen


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"markets.{key}")


def test_the_highlighted_market_is_bought() -> None:
    screen = on(FREE, HELD)
    press(screen, "buy")
    (ticket,) = screen.opened
    assert isinstance(ticket, TradeForm)
    assert (ticket.market, ticket.action) == (FREE, Action.BUY)


def test_the_side_and_venue_held_are_sold() -> None:
    held = replace(STATE.positions[1], side=Side.NO)
    screen = on(HELD, state=replace(STATE, positions=(held,)))
    press(screen, "exit")
    (ticket,) = screen.opened
    assert (ticket.market, ticket.action) == (HELD, Action.SELL)
    assert (ticket.side, ticket.venue) == (Side.NO, Venue.SIM)


def test_what_is_not_held_is_not_sold() -> None:
    screen = on(FREE)
    press(screen, "exit")
    assert not screen.opened
    assert screen.toasts == [("no position in this market: b to buy", "warn")]


def test_nothing_is_sold_before_the_positions_have_loaded() -> None:
    seen = {topic: at for topic, at in STATE.seen.items() if topic is not Topic.POSITIONS}
    early = replace(STATE, seen=seen)
    assert press(on(FREE, state=early), "exit") == "positions not loaded yet: r refreshes"
    assert "not loaded yet" in press(on(HELD, state=early), "exit")


@pytest.mark.parametrize("key", ["buy", "exit"])
def test_nothing_is_traded_on_old_prices(key: str) -> None:
    screen = on(HELD)
    screen.now = Timestamp(screen.now + 3_600)
    assert "too old to trade" in press(screen, key)


def test_a_star_is_set_and_taken_away() -> None:
    screen = on(FREE, state=replace(STATE, stars=frozenset({HELD_ID})))
    press(screen, "star")
    assert screen.given == [SetStar(FREE.market_id, on=True)]
    starred = on(FREE, state=replace(STATE, stars=frozenset({FREE.market_id})))
    press(starred, "star")
    assert starred.given == [SetStar(FREE.market_id, on=False)]


def test_a_price_alert_is_on_the_side_that_is_held() -> None:
    held = replace(STATE.positions[1], side=Side.NO)
    for row, side in ((HELD, Side.NO), (FREE, Side.YES)):
        screen = on(row, state=replace(STATE, positions=(held,)))
        press(screen, "alert")
        (form,) = screen.opened
        assert isinstance(form, PriceAlertForm)
        assert (form.market, form.side) == (row, side)


def test_a_read_only_desk_sets_no_price_alert() -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    assert press(on(FREE, state=state), "alert") == READ_ONLY


@pytest.mark.parametrize("key", ["buy", "exit", "star", "alert"])
def test_without_a_market_nothing_is_done(key: str) -> None:
    assert press(on(), key) == "select a row"


NARROWED = MarketFilter(typed="rain")
CATEGORIES = sorted({one.category for one in STATE.markets.values() if one.category})
STEPS = {
    "category": [{"category": name} for name in (*CATEGORIES[:2],)],
    "status": [{"status": "closed"}, {"status": "resolved"}, {"status": "all"}, {}],
    "held": [{"held": True}, {}],
    "starred": [{"starred": True}, {}],
}


@pytest.mark.parametrize("key", STEPS)
def test_a_filter_goes_on_to_its_next_choice_and_leaves_the_others(key: str) -> None:
    screen = on(FREE, narrowed=NARROWED)
    for step in STEPS[key]:
        screen.calls.clear()
        press(screen, key)
        assert screen.parts[MarketChips].filter_in_force == replace(NARROWED, **step)
        assert screen.calls == ["filter_rows"]


def test_the_time_to_the_end_is_narrowed_and_freed_again() -> None:
    screen = on(FREE, narrowed=NARROWED)
    seen = []
    while not seen or seen[-1] != "any":
        press(screen, "until")
        seen.append(screen.parts[MarketChips].filter_in_force.until)
    assert len(seen) == len(set(seen)) > 2
    assert screen.parts[MarketChips].filter_in_force == NARROWED


def test_venues_are_gone_through_where_markets_have_any() -> None:
    bare = on(FREE, state=replace(STATE, markets={FREE.market_id: FREE}), narrowed=NARROWED)
    press(bare, "venue")
    assert bare.toasts == [("no venue data for these markets", "warn")]
    assert bare.parts[MarketChips].filter_in_force == NARROWED
    # A filter kept from yesterday can be left.
    kept = on(FREE, state=bare.state, narrowed=replace(NARROWED, venue="sim alone"))
    press(kept, "venue")
    assert kept.parts[MarketChips].filter_in_force == NARROWED
    assert not kept.toasts


def test_the_next_span_of_the_chart_is_shown() -> None:
    screen = on(FREE)
    spans: list[str] = []
    screen.parts[MarketPane] = SimpleNamespace(next_range=lambda: spans.append("next"))
    press(screen, "range")
    assert spans == ["next"]
    assert screen.calls == ["show_detail"]


BOOK = DetailView(
    HELD_ID, 86_400, "", (), (), (),
    bids=(BookLevelView(0.44, Micros(90 * ONE)), BookLevelView(0.43, Micros(50 * ONE))),
    asks=(BookLevelView(0.46, Micros(40 * ONE)), BookLevelView(0.47, Micros(20 * ONE))),
)  # fmt: skip
ON_VENUE = replace(HELD, venues=(Venue.SIM, Venue.EVM), bid=0.44, ask=0.46)
WITH_BOOK = seen_before(
    replace(
        STATE,
        markets={**STATE.markets, HELD_ID: ON_VENUE},
        detail=BOOK,
        on_venues=(replace(STATE.positions[1], venue=Venue.EVM, side=Side.NO),),
    )
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "side", "action", "limit"),
    [
        (("shift+down", "b"), Side.YES, Action.BUY, "0.44"),
        (("shift+down", "shift+down", "shift+down", "b"), Side.YES, Action.BUY, "0.43"),
        (("shift+up", "shift+up", "b"), Side.YES, Action.BUY, "0.47"),
        (("shift+down", "shift+up", "b"), Side.YES, Action.BUY, "0.46"),
        # The ladder has prices of YES; what is held is NO.
        (("shift+up", "x"), Side.NO, Action.SELL, "0.54"),
    ],
)
async def test_an_order_begins_at_the_highlighted_price_of_the_book(
    keys: tuple[str, ...], side: Side, action: Action, limit: str
) -> None:
    async with running(WITH_BOOK, first="markets", size=(160, 50)) as seen:
        seen.app.front.focus_row(HELD_ID)
        await seen.pilot.pause()
        *marks, opens = keys
        await seen.press(*marks)
        assert seen.text.count("▸") == 1
        await seen.press(opens)
        ticket = seen.app.screen
        assert isinstance(ticket, TradeForm)
        assert (ticket.side, ticket.action, ticket.venue) == (side, action, Venue.EVM)
        assert ticket.query_one("#ticket-limit", Input).value == limit
        assert ticket.query_one("#ticket-limit").display


@pytest.mark.slow
async def test_a_price_that_left_the_book_opens_no_ticket_and_escape_leaves_the_book() -> None:
    async with running(WITH_BOOK, first="markets", size=(160, 50)) as seen:
        seen.app.front.focus_row(HELD_ID)
        await seen.pilot.pause()
        await seen.press("shift+down")
        await seen.bring(replace(WITH_BOOK, detail=replace(BOOK, bids=BOOK.bids[1:])))
        await seen.press("b")
        assert seen.toasts == ["! bid 0.44 has left the book"]
        await seen.press("escape", "b")
        ticket = seen.app.screen
        assert isinstance(ticket, TradeForm)
        assert ticket.venue is Venue.SIM


@pytest.mark.slow
async def test_a_market_without_a_book_has_none_to_choose_from() -> None:
    async with running(seen_before(STATE), first="markets", size=(160, 50)) as seen:
        seen.app.front.focus_row(FREE.market_id)
        await seen.pilot.pause()
        await seen.press("shift+down")
        assert seen.toasts == ["! no order book here: only markets of real venues have one"]


def test_marked_markets_are_starred_together_and_once_all_are_their_stars_go() -> None:
    starred = replace(STATE, stars=frozenset({FREE.market_id}))
    screen = StubScreen(starred, (), marked=(FREE, HELD))
    press(screen, "star")
    assert screen.given == [SetStar(HELD_ID, on=True)]
    both = replace(STATE, stars=frozenset({FREE.market_id, HELD_ID}))
    screen = StubScreen(both, (), marked=(FREE, HELD))
    press(screen, "star")
    assert screen.given == [SetStar(FREE.market_id, on=False), SetStar(HELD_ID, on=False)]
