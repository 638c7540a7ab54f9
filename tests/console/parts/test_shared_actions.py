"""What several screens do by the same functions: tickets, monitors, price alerts, histories."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen
from kit.console.limit_draft import open_order
from kit.samples.guarded import guarded_state
from service_tui.console.actions import NO_ROW
from service_tui.console.forms.monitor_draft import Change
from service_tui.console.forms.price_alert import PriceAlertForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.why import Why
from service_tui.console.keys import cap
from service_tui.console.messages import GoTo
from service_tui.console.parts import shared_actions as shared
from service_tui.desk.audit.why import why_fill, why_position, why_ticket
from service_tui.desk.commands.agents import ExportData, ReadDay
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Side, Venue

STATE = guarded_state()
POSITION = STATE.positions[1]
MARKET = STATE.markets[POSITION.market_id]
MONITOR = STATE.risk.monitors[1]
READ_ONLY_STATE = replace(STATE, service=replace(STATE.service, read_only=True))


def old(topic: Topic) -> DeskState:
    """The state, in which this topic alone was read long ago."""
    return replace(STATE, seen={**STATE.seen, topic: 0.0})


ON = {
    shared.can_buy: {Topic.MARKETS, Topic.ACCOUNT},
    shared.can_sell: {Topic.MARKETS, Topic.POSITIONS},
    (lambda screen: shared.ticket_block_reason(screen, MARKET, Action.BUY)): {
        Topic.MARKETS, Topic.ACCOUNT
    },
    (lambda screen: shared.ticket_block_reason(screen, MARKET, Action.SELL)): {
        Topic.MARKETS, Topic.POSITIONS
    },
}  # fmt: skip
"""What each requirement rests on."""


@pytest.mark.parametrize("rests_on", ON, ids=lambda _: "")
def test_money_is_moved_on_what_is_fresh(rests_on: Callable[[Any], str]) -> None:
    assert not rests_on(StubScreen(STATE))
    for topic in (Topic.MARKETS, Topic.ACCOUNT, Topic.POSITIONS):
        why = rests_on(StubScreen(old(topic)))
        assert why.startswith(topic.value) is (topic in ON[rests_on])


def test_on_a_closed_market_no_ticket_opens() -> None:
    closed = replace(MARKET, status=MarketStatus.CLOSED)
    screen = StubScreen(STATE)
    shared.open_ticket(screen, closed, Side.YES, Action.BUY)
    assert not screen.opened
    ((text, tone),) = screen.toasts
    assert text == shared.ticket_block_reason(screen, closed, Action.BUY)
    assert "closed" in text
    assert tone == "bad"


def test_an_export_is_given() -> None:
    screen = StubScreen(STATE)
    shared.export(screen)
    assert screen.given == [ExportData()]


def test_the_first_open_order_is_shown_or_that_there_is_none() -> None:
    screen = StubScreen(replace(STATE, orders=(open_order(), open_order(order_id="o2"))))
    shared.open_orders(screen)
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("portfolio", "o1")
    bare = StubScreen(replace(STATE, orders=()))
    shared.open_orders(bare)
    assert not bare.posted
    assert bare.toasts == [("No open orders", "info")]


HISTORY = {"a fill": STATE.fills[0], "a command": STATE.tickets[0], "a position": POSITION}

CHAINS = {"a fill": why_fill, "a command": why_ticket, "a position": why_position}


@pytest.mark.parametrize("kind", HISTORY)
@pytest.mark.parametrize("masked", [False, True])
def test_the_history_of_a_row_opens(kind: str, *, masked: bool) -> None:
    state = replace(STATE, preferences={**STATE.preferences, "privacy": "on" if masked else ""})
    screen = StubScreen(state, (HISTORY[kind],))
    assert screen.view.masked is masked
    shared.open_why(screen)
    (page,) = screen.opened
    assert isinstance(page, Why)
    assert page._masked is masked
    assert page._chain == CHAINS[kind](state, HISTORY[kind])


def test_a_changed_monitor_is_given_without_anything_more_to_do() -> None:
    screen = StubScreen(STATE)
    shared.open_monitor(screen, MONITOR)
    same = Change(MONITOR, MONITOR.thresholds)
    screen.answer(same)
    assert not screen.given
    other = Change(MONITOR, replace(MONITOR.thresholds, stop_loss_pct=0.4))
    screen.answer(other)
    assert screen.given == [other.command]


def test_a_change_of_what_has_gone_meanwhile_is_given() -> None:
    screen = StubScreen(STATE)
    shared.open_monitor(screen, MONITOR)
    screen.state = replace(STATE, risk=RiskView())
    same = Change(MONITOR, MONITOR.thresholds)
    screen.answer(same)
    assert screen.given == [same.command]


@pytest.mark.parametrize(
    "opens",
    [
        lambda screen: shared.open_monitor(screen, MONITOR),
        lambda screen: shared.open_price_alert(screen, MARKET.market_id, Side.NO),
    ],
    ids=["monitor", "price alert"],
)
def test_a_read_only_desk_opens_no_form(opens: Callable[[Any], None]) -> None:
    screen = StubScreen(READ_ONLY_STATE)
    opens(screen)
    assert not screen.opened
    assert screen.toasts == [(READ_ONLY, "warn")]


def closed_in(state: DeskState, market: MarketView) -> DeskState:
    over = replace(market, status=MarketStatus.RESOLVED)
    return replace(state, markets={**state.markets, market.market_id: over})


@pytest.mark.parametrize(
    ("state", "why"),
    [(replace(STATE, markets={}), "market not listed"), (closed_in(STATE, MARKET), "resolved")],
)
def test_no_price_alert_opens_where_nothing_can_happen(state: DeskState, why: str) -> None:
    screen = StubScreen(state)
    shared.open_price_alert(screen, MARKET.market_id, Side.NO)
    assert not screen.opened
    ((text, tone),) = screen.toasts
    assert why in text
    assert tone == "warn"


def test_what_was_done_here_is_undone_once() -> None:
    screen = StubScreen(STATE, take_back=(ExportData(), ReadDay()))
    assert not shared.can_undo(screen)
    shared.undo(screen)
    assert screen.given == [ExportData(), ReadDay()]
    assert shared.can_undo(screen) == "nothing to undo here"
    shared.undo(screen)
    assert len(screen.given) == 2


def test_a_mark_moves_the_cursor_on() -> None:
    screen = StubScreen(STATE, (POSITION,))
    shared.mark(screen)
    assert screen.table.calls == ["mark", ("move", 1)]


def test_the_market_of_the_row_is_shown() -> None:
    screen = StubScreen(STATE, (POSITION,))
    shared.open_market(screen)
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", POSITION.market_id)
    bare = StubScreen(STATE)
    shared.open_market(bare)
    assert not bare.posted


def test_a_row_and_the_right_to_change_are_needed() -> None:
    assert not shared.has_row(StubScreen(STATE, (POSITION,)))
    assert shared.has_row(StubScreen(STATE)) == NO_ROW
    assert not shared.can_change(StubScreen(STATE))
    assert shared.can_change(StubScreen(READ_ONLY_STATE)) == READ_ONLY


def test_a_market_that_is_not_listed_names_the_key_that_reads_again() -> None:
    assert shared.no_market_reason() == f"market not listed: {cap('app.refresh')} refreshes"


def test_a_ticket_is_of_its_market_side_and_action() -> None:
    screen = StubScreen(STATE)
    shared.open_ticket(screen, MARKET, Side.NO, Action.SELL, Venue.EVM)
    (form,) = screen.opened
    assert isinstance(form, TradeForm)
    about = (form.market, form.side, form.action, form.venue, form._now)
    assert about == (MARKET, Side.NO, Action.SELL, Venue.EVM, screen.now)
    screen.answer(ExportData())
    assert screen.given == [ExportData()]


def test_a_monitor_that_does_not_change_says_so() -> None:
    screen = StubScreen(STATE)
    shared.open_monitor(screen, MONITOR)
    screen.answer(Change(MONITOR, MONITOR.thresholds))
    assert screen.toasts == [("no change: same stop and target", "info")]


def test_a_changed_monitor_may_go_elsewhere() -> None:
    screen, taken = StubScreen(STATE), []
    shared.open_monitor(screen, MONITOR, taken.append)
    other = Change(MONITOR, replace(MONITOR.thresholds, stop_loss_pct=0.4))
    screen.answer(other)
    assert (taken, screen.given) == ([other], [])


def test_a_price_alert_is_given() -> None:
    screen = StubScreen(STATE)
    shared.open_price_alert(screen, MARKET.market_id, Side.NO)
    (form,) = screen.opened
    assert isinstance(form, PriceAlertForm)
    screen.answer(ExportData())
    assert screen.given == [ExportData()]
