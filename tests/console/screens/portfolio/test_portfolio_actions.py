"""What each key of the portfolio does: to which position or order, on which venue."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.console.limit_draft import open_order
from kit.console.opened import words_in
from kit.samples.guarded import guarded_state
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.console.forms.price_alert import PriceAlertForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.messages import GoTo
from service_tui.console.screens.portfolio.actions import ACTIONS
from service_tui.console.screens.portfolio.orders import ORDERS
from service_tui.console.screens.portfolio.table import CLOSED, OPEN
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import Timestamp

STATE = guarded_state()
FIRST, SECOND, *_ = STATE.positions
MARKET = STATE.markets[SECOND.market_id]
ORDER = open_order(market_id=MARKET.market_id, side=Side.NO)
UNLISTED = [("market not listed: r refreshes", "warn")]
LATER = Timestamp(StubScreen(STATE).now + 3_600)


def on(*rows: Any, state: DeskState = STATE, spec: Any = OPEN) -> StubScreen:
    return StubScreen(state, rows, spec=spec)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"portfolio.{key}")


@pytest.mark.parametrize(("key", "action"), [("sell", Action.SELL), ("buy", Action.BUY)])
def test_a_ticket_is_about_the_highlighted_position(key: str, action: Action) -> None:
    held = replace(SECOND, venue=Venue.EVM, side=Side.NO)
    screen = on(held, FIRST)
    assert not press(screen, key)
    (ticket,) = screen.opened
    assert isinstance(ticket, TradeForm)
    assert (ticket.market, ticket.action) == (MARKET, action)
    assert (ticket.side, ticket.venue) == (Side.NO, Venue.EVM)
    assert ticket._amends is None
    screen.answer("an order")
    assert screen.given == ["an order"]


@pytest.mark.parametrize("key", ["sell", "buy"])
def test_without_its_market_a_position_is_not_traded(key: str) -> None:
    screen = on(SECOND, state=replace(STATE, markets={}))
    press(screen, key)
    assert not screen.opened
    assert screen.toasts == UNLISTED


@pytest.mark.parametrize("key", ["sell", "buy"])
def test_nothing_is_traded_on_old_figures(key: str) -> None:
    screen = on(SECOND)
    screen.now = LATER
    assert "too old to trade" in press(screen, key)


async def test_the_monitor_of_the_position_is_edited() -> None:
    screen = on(SECOND)
    press(screen, "monitor")
    (form,) = screen.opened
    assert isinstance(form, MonitorForm)
    text = await words_in(form)
    assert SECOND.question[:30] in text
    bare = on(SECOND, state=replace(STATE, risk=RiskView()))
    press(bare, "monitor")
    (form,) = bare.opened
    empty = await words_in(form)
    assert SECOND.question[:30] in empty
    assert empty != text


@pytest.mark.parametrize("row", [SECOND, ORDER])
def test_a_price_alert_is_on_the_market_and_side_of_the_row(row: Any) -> None:
    screen = on(row)
    press(screen, "alert")
    (form,) = screen.opened
    assert isinstance(form, PriceAlertForm)
    assert (form.market, form.side) == (MARKET, row.side)


def test_the_market_of_the_row_is_shown() -> None:
    screen = on(SECOND)
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", SECOND.market_id)


def test_an_order_is_amended_where_it_rests() -> None:
    screen = on(ORDER, spec=ORDERS)
    press(screen, "amend")
    (ticket,) = screen.opened
    assert ticket.market == MARKET
    assert (ticket.side, ticket.action) == (Side.NO, Action.SELL)
    assert (ticket.venue, ticket._amends) == (Venue.EVM, ORDER)
    assert ticket._type is OrderType.GTC
    timed = on(replace(ORDER, expires_at=LATER), spec=ORDERS)
    press(timed, "amend")
    assert timed.opened[-1]._type is OrderType.GTD


def test_an_order_whose_market_is_not_listed_is_not_amended() -> None:
    screen = on(ORDER, spec=ORDERS, state=replace(STATE, markets={}))
    press(screen, "amend")
    assert not screen.opened
    assert screen.toasts == UNLISTED


def test_the_highlighted_order_is_cancelled_at_once() -> None:
    other = open_order(order_id="o2")
    screen = on(other, ORDER, spec=ORDERS)
    press(screen, "cancel")
    assert screen.given == [CancelOrders(("o2",), other.describe())]
    assert not screen.opened


def test_all_listed_orders_are_cancelled_after_a_question() -> None:
    screen = on(ORDER, open_order(order_id="o2"), spec=ORDERS)
    press(screen, "cancel_all")
    assert screen.question.title == "Cancel all listed orders?"
    assert screen.question.body.plain == "2 open orders. Fills stay."
    assert screen.question.confirm == "cancel all"
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [CancelOrders(("o1", "o2"))]


CLOSED_ONE = "position closed: L shows open positions"
OF_AN_ORDER = "not for an open order"
NO_ORDER = "not for a position; O shows the open orders"


@pytest.mark.parametrize("key", ["sell", "buy", "monitor"])
def test_a_closed_position_and_an_order_are_not_traded(key: str) -> None:
    assert press(on(SECOND, spec=CLOSED), key).startswith("position closed: ")
    assert press(on(ORDER, spec=ORDERS), key) == OF_AN_ORDER


def test_the_history_is_that_of_a_position() -> None:
    assert press(on(ORDER, spec=ORDERS), "why") == OF_AN_ORDER
    screen = on(SECOND)
    assert not press(screen, "why")
    assert len(screen.opened) == 1
    assert not press(on(SECOND, spec=CLOSED), "why")


@pytest.mark.parametrize("key", ["amend", "cancel", "cancel_all"])
def test_a_position_is_no_order(key: str) -> None:
    assert press(on(SECOND), key).startswith("not for a position; ")
    assert press(on(SECOND, spec=CLOSED), key).startswith("not for a position; ")


@pytest.mark.parametrize(
    ("key", "row"),
    [("monitor", SECOND), ("alert", SECOND), ("amend", ORDER), ("cancel", ORDER),
     ("cancel_all", ORDER)],
)  # fmt: skip
def test_a_read_only_desk_changes_nothing(key: str, row: Any) -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    screen = on(row, state=state, spec=ORDERS if row is ORDER else OPEN)
    assert press(screen, key) == READ_ONLY
    assert not screen.given


OF_A_ROW = (
    "sell", "buy", "market", "monitor", "alert", "why", "amend", "cancel", "cancel_all",
)  # fmt: skip


@pytest.mark.parametrize("key", OF_A_ROW)
def test_without_a_row_nothing_is_done(key: str) -> None:
    assert press(on(), key) == "select a row"


def test_the_lists_follow_each_other_and_the_orders_come_and_go() -> None:
    screen = on(SECOND)
    screen.lists = (OPEN, ORDERS, CLOSED)
    press(screen, "list")
    screen.spec = ORDERS
    press(screen, "orders")
    screen.spec = CLOSED
    press(screen, "orders")
    assert screen.calls == [("bring_forward", place) for place in (1, 0, 1)]
    assert screen.table.calls == ["focus"] * 3
