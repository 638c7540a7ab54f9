"""The reactor's screen without an app: which signals are listed, and when a quote is requested."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import event
from kit.console.lone_screen import LoneScreen
from kit.samples.desk import NOW
from kit.samples.reactor import WALLETS, reactor_state, waiting
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.screens.reactor.feed import STATES, FeedFilter, filter_text
from service_tui.console.screens.reactor.screen import ReactorScreen
from service_tui.console.screens.reactor.table import (
    FEED,
    TABLES,
    _nothing_loaded,
    key_of,
)
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState

STATE = reactor_state()
SIGNALS = STATE.reactor.signals
FIRST = replace(waiting(1, STATE, age_s=9.0), price=0.5, price_max=0.55, price_now=0.5)
SECOND = replace(waiting(2, STATE, age_s=20.0), price=0.4, price_max=0.45, price_now=0.4)
SKIPPED = replace(SIGNALS[4], state=SignalState.SKIPPED, ticket_id="t")
FEED_PLACE = TABLES.index(FEED)
WALLETS_PLACE = 1 - FEED_PLACE


def with_signals(*signals: SignalView) -> DeskState:
    return replace(STATE, reactor=replace(STATE.reactor, signals=signals))


FEW = with_signals(FIRST, SECOND, SKIPPED)


def reactor(state: DeskState = FEW, **other: Any) -> LoneScreen:
    return LoneScreen(ReactorScreen(state, NOW), **other)


def filtered(lone: LoneScreen, feed_filter: FeedFilter) -> list[str]:
    lone.screen.feed.filter_in_force = feed_filter
    lone.screen._filter_feed(lone.screen.place)
    lone.screen.filter_rows()
    return lone.listed


def kept(feed_filter: FeedFilter, tab: int = FEED_PLACE) -> DeskState:
    memory = ViewMemory(tab=tab, choices=feed_filter.to_choices())
    return replace(FEW, preferences={**FEW.preferences, f"{VIEW}reactor": memory.to_text()})


WAITING = next(place for place, (name, _) in enumerate(STATES) if name == "waiting")


# -- what is listed ------------------------------------------------------------------------------


def test_the_feed_lists_every_signal_and_the_other_tab_the_wallets() -> None:
    lone = reactor()
    assert lone.listed == [key_of(one) for one in (FIRST, SECOND, SKIPPED)]
    lone.screen.bring_forward(WALLETS_PLACE)
    assert set(lone.listed) == {wallet.address for wallet in FEW.reactor.wallets()}


@pytest.mark.parametrize(
    ("phase", "problem", "says"),
    [
        (Phase.OFFLINE, "", "cannot be reached: no response."),
        (Phase.OFFLINE, "it is shut", "cannot be reached: it is shut."),
        (Phase.UNAUTHORIZED, "bad key", "refuses this key: bad key."),
    ],
)
def test_an_empty_list_says_why_nothing_is_loaded(phase: Phase, problem: str, says: str) -> None:
    service = replace(STATE.service, phase=phase, problem=problem)
    assert says in _nothing_loaded(replace(with_signals(), service=service))


def test_a_filter_of_the_feed_hides_signals_and_no_wallets() -> None:
    lone = reactor()
    assert filtered(lone, FeedFilter(state=WAITING)) == [key_of(FIRST), key_of(SECOND)]
    assert filtered(lone, FeedFilter(wallet=SKIPPED.wallet)) == [
        key_of(one) for one in (FIRST, SECOND, SKIPPED) if one.wallet == SKIPPED.wallet
    ]
    lone.screen.bring_forward(WALLETS_PLACE)
    assert len(lone.listed) == len(FEW.reactor.wallets())
    lone.screen.bring_forward(FEED_PLACE)
    assert len(lone.listed) < 3
    lone.screen.show_all()
    assert len(lone.listed) == 3
    assert not lone.screen.feed.filter_in_force


def test_the_filters_of_the_feed_are_kept_for_the_next_start() -> None:
    lone = reactor()
    assert lone.screen.choices() == {}
    filtered(lone, FeedFilter(WAITING, WALLETS[0]))
    assert lone.screen.choices() == {"state": "waiting", "wallet": WALLETS[0]}
    again = reactor(kept(FeedFilter(WAITING)))
    assert again.screen.feed.filter_in_force == FeedFilter(WAITING)
    assert again.listed == [key_of(FIRST), key_of(SECOND)]
    # Begun at the wallets, it hides none of them.
    other = reactor(kept(FeedFilter(WAITING), tab=WALLETS_PLACE))
    assert len(other.listed) == len(FEW.reactor.wallets())


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, FeedFilter()),
        ({"state": "unknown", "wallet": "w"}, FeedFilter(0, "w")),
        ({"state": "waiting"}, FeedFilter(WAITING)),
    ],
)
def test_an_unknown_state_of_a_former_start_is_every_one(
    choices: dict[str, str], expected: FeedFilter
) -> None:
    assert FeedFilter.from_choices(choices) == expected
    assert bool(expected) is (expected != FeedFilter())


def test_only_signals_are_hidden_by_the_filter_of_the_feed() -> None:
    wallet = STATE.reactor.wallet(WALLETS[3])
    assert FeedFilter(WAITING, WALLETS[0]).wants(wallet)


def test_a_frozen_feed_keeps_its_rows_as_they_are_now_and_counts_newer_ones() -> None:
    lone = reactor(with_signals(FIRST, SECOND))
    lone.screen.feed.paused_rows = lone.screen.feed.rows(lone.screen.state.reactor)
    newer = replace(FIRST, signal_id="0xnew")
    mirrored = replace(FIRST, state=SignalState.MIRRORED)
    lone.bring(with_signals(newer, mirrored, SECOND))
    assert lone.listed == [key_of(FIRST), key_of(SECOND)]
    assert lone.screen.table.order[0].state is SignalState.MIRRORED
    assert str(lone.screen.feed.content).startswith("frozen, 1 newer; ")
    lone.screen.feed.paused_rows = None
    lone.screen.show_state()
    assert len(lone.listed) == 3
    assert str(lone.screen.feed.content).startswith("filters: ")


@pytest.mark.parametrize(
    ("feed_filter", "newer", "parts"),
    [
        (FeedFilter(), None, ["filters:"]),
        (FeedFilter(WAITING), None, ["only waiting"]),
        (FeedFilter(wallet=WALLETS[0]), None, ["only Quiet Abacus"]),
        (FeedFilter(WAITING, WALLETS[0]), 0, ["frozen;", "only waiting", "only Quiet Abacus"]),
        (FeedFilter(), 3, ["frozen, 3 newer;"]),
    ],
)
def test_the_filters_in_force_are_named(
    feed_filter: FeedFilter, newer: int | None, parts: list[str]
) -> None:
    text = filter_text(feed_filter, ViewContext.of(STATE, NOW), newer).plain
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert places[0] == 0
    assert ("only" in text) is bool(feed_filter)
    assert ("frozen" in text) is (newer is not None)


def test_what_is_copied_of_a_row_is_its_question_or_its_address() -> None:
    screen = reactor().screen
    assert screen.name_of(FIRST) == FIRST.question
    assert screen.name_of(STATE.reactor.wallet(WALLETS[0])) == WALLETS[0]
    assert screen.explain(None, screen.view) == ()
    assert screen.explain(FIRST, screen.view)


def test_the_tab_of_the_feed_stands_out_while_a_signal_waits() -> None:
    lone = reactor()
    assert lone.screen.tabs._strong == {FEED_PLACE}
    lone.bring(with_signals(SKIPPED))
    assert lone.screen.tabs._strong == set()
    assert lone.text("reactor-state")


# -- the quote of a mirror -----------------------------------------------------------------------


def asked(lone: LoneScreen) -> list[str]:
    """The markets whose quotes were requested."""
    return [one.order.market_id for one in lone.given if isinstance(one, RequestQuote)]


def test_the_quote_of_the_signal_in_focus_is_requested_and_its_answer_shown() -> None:
    lone = reactor()
    assert asked(lone) == [FIRST.market_id]
    lone.bring(FEW, later_s=0.1)
    assert "requesting quote" in lone.detail
    (request,) = lone.given
    assert isinstance(request, RequestQuote)
    quote = QuoteView(request.request_id, ok=True, average=0.52, price_before=0.5, price_after=0.53)
    lone.bring(replace(FEW, quote=quote))
    assert "indicative quote" in lone.detail
    assert asked(lone) == [FIRST.market_id]


def test_a_moving_cursor_requests_no_quote_before_it_rests() -> None:
    lone = reactor()
    lone.screen.table.action_move(1)
    lone.screen._cursor_moved()
    lone.screen._cursor_moved()
    lone.bring(FEW, later_s=1.0)
    assert asked(lone) == [FIRST.market_id]
    assert len(lone.timers) == 1
    lone.wait()
    assert asked(lone) == [FIRST.market_id, SECOND.market_id]
    # Once it rests, time alone renews the quote.
    lone.bring(FEW, later_s=30.0)
    assert len(asked(lone)) == 3


@pytest.mark.parametrize("why", ["ended", "wallet", "covered", "no detail"])
def test_no_quote_is_requested_that_nobody_needs(why: str) -> None:
    state = with_signals(SKIPPED) if why == "ended" else with_signals()
    lone = reactor(state, size=(120, 4) if why == "no detail" else (120, 40))
    lone.above.is_current = why != "covered"
    if why == "wallet":
        lone.screen.bring_forward(WALLETS_PLACE)
    lone.bring(state if why in {"ended", "wallet"} else FEW)
    assert asked(lone) == []


def test_a_key_moves_the_tab_by_its_click() -> None:
    lone = reactor()
    other = event(choice=object(), index=1)
    lone.screen._tab_chosen(other)
    assert (lone.screen.place, other.stopped) == (0, [])
    click = event(choice=lone.screen.tabs, index=1)
    lone.screen._tab_chosen(click)
    assert (lone.screen.place, click.stopped) == (1, ["stop"])
    assert lone.focused[-1] is lone.screen.lists[1]
