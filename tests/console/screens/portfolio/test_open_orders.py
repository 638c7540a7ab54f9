"""Open orders on screen 1: listed, amended in place, cancelled by key."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.console.limit_draft import open_order
from kit.console.pictures import SIZES, assert_each
from kit.console.real_ticket import REAL
from kit.samples.desk import NOW
from service_tui.console.forms.live_order import live_question
from service_tui.console.forms.order_draft import typed
from service_tui.console.forms.trade_form import TradeForm, _to_cent
from service_tui.console.screens.portfolio.orders import ORDERS, describe_order, notes
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.cursor_loss import DEAD_S
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.trading import CancelOrders, PlaceTrade
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_DECIMALS, Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

TWO = (open_order(), open_order(order_id="o2", action=Action.BUY, filled=Micros(5 * ONE)))


def state_of(*orders: object) -> DeskState:
    state = replace(REAL, orders=orders, seen={**REAL.seen, Topic.ORDERS: NOW})
    return seen_before(state)


def cancels(seen: Running) -> list[CancelOrders]:
    return [command for command in seen.doors.submitted if isinstance(command, CancelOrders)]


def listed(seen: Running) -> list[str]:
    order = seen.app.front.table.order
    return [order.key_at(place) for place in range(len(order))]


def test_an_order_shows_what_is_open_filled_and_reserved() -> None:
    state = state_of(*TWO)
    view = ViewContext.of(state, NOW, 60)
    cells = {column.id: str(column.cell(TWO[1], view)) for column in ORDERS.columns}
    assert (cells["action"], cells["limit"], cells["shares"]) == ("buy", "0.60", "30.00")
    assert (cells["filled"], cells["money"], cells["currency"]) == ("5.00", "18.00", "USDC.e")
    # A sale reserves shares, no money.
    (reserved,) = (column for column in ORDERS.columns if column.id == "money")
    assert str(reserved.cell(TWO[0], view)) not in {"0.00", "18.00"}
    head, body, rest = describe_order(TWO[0], view)
    assert "SELL YES  limit 0.60  evm_venue" in head.plain
    assert "proceeds USDC.e" in body.plain
    assert "good till cancelled" in rest.plain
    masked = ViewContext.of(replace(state, preferences={"privacy": "on"}), NOW, 60)
    assert "18.00" not in describe_order(TWO[0], replace(masked, masked=True)).body.plain


@pytest.mark.slow
async def test_the_footer_has_the_verbs_of_the_list_in_front() -> None:
    async with running(state_of(*TWO), first="portfolio", size=(120, 40)) as seen:
        for is_orders in (False, True, False):
            last = seen.lines[-2]
            assert ("e amend" in last, "d cancel" in last) == (is_orders, is_orders)
            assert ("x sell" in last) is not is_orders
            await seen.press("O")
            await seen.until(lambda was=last: seen.lines[-2] != was)


@pytest.mark.slow
async def test_a_key_cancels_the_order_under_the_cursor_and_no_other() -> None:
    async with running(state_of(*TWO), first="portfolio", size=(120, 40)) as seen:
        await seen.press("O", "g")
        first, second = listed(seen)
        given = {order.order_id: order for order in TWO}
        await seen.press("j", "d")
        assert cancels(seen) == [CancelOrders((second,), given[second].describe())]
        # Its row goes: the neighbour is highlighted, and no key hits that at once.
        await seen.bring(state_of(given[first]))
        await seen.press("d")
        assert len(cancels(seen)) == 1
        await seen.pilot.pause(2 * DEAD_S)
        await seen.press("k", "d")
        assert cancels(seen)[-1] == CancelOrders((first,), given[first].describe())
        await seen.bring(state_of())
        assert "No open orders" in seen.text
        await seen.press("d")
        assert len(cancels(seen)) == 2


@pytest.mark.slow
async def test_an_order_is_amended_in_its_ticket_which_changes_price_and_size_alone() -> None:
    async with running(state_of(TWO[1]), first="portfolio", size=(120, 40)) as seen:
        await seen.press("O", "e")
        form = seen.app.screen
        assert isinstance(form, TradeForm)
        limit, amount = (
            form.query_one(f"#ticket-{name}", PlainInput) for name in ("limit", "amount")
        )
        assert (limit.value, amount.value) == ("0.60", "18.00")
        await seen.press("f5", "f6", "f7", "f8")
        assert "Amending changes price and size only" in seen.text
        draft = form._draft()
        assert (draft.side, draft.action, draft.venue) == (TWO[1].side, Action.BUY, TWO[1].venue)
        assert draft.rests
        assert draft.amends == TWO[1]


@pytest.mark.slow
async def test_an_amended_buy_keeps_its_stop_and_target() -> None:
    resting = replace(TWO[1], stop_loss_pct=0.123456, take_profit_pct=0.5)
    async with running(state_of(resting), first="portfolio", size=(120, 40)) as seen:
        await seen.press("O", "e")
        form = seen.app.screen
        assert isinstance(form, TradeForm)
        order = form._order()
        assert isinstance(order, PlaceTrade)
        assert (order.stop_loss_pct, order.take_profit_pct) == (0.123456, 0.5)
        form.query_one("#ticket-stop", PlainInput).value = "20"
        await seen.pilot.pause()
        order = form._order()
        assert isinstance(order, PlaceTrade)
        assert (order.stop_loss_pct, order.take_profit_pct) == (0.2, 0.5)


def test_an_amended_order_keeps_its_money_to_the_cent_and_its_question_names_the_old_one() -> None:
    for money, shown in ((19_998_000, "20.00"), (3_333_000, "3.33"), (18_000_000, "18.00")):
        assert typed(_to_cent(Micros(money)), decimals=MONEY_DECIMALS) == shown
    state, order = (
        state_of(*TWO),
        PlaceTrade(
            TWO[1].market_id, Side.YES, Action.BUY, Venue.EVM, Micros(20 * ONE), replaces="o2"
        ),
    )
    asked = live_question(order, state, None)
    assert asked.title == "Real money: replace this order?"
    assert "30.00 shares at 0.60, cancelled first" in asked.body.plain
    other = live_question(replace(order, replaces=""), state, None)
    assert other.title == "Real money: place this order?"
    assert "cancelled first" not in other.body.plain


def test_a_list_that_is_old_or_incomplete_shows_so() -> None:
    state = replace(state_of(TWO[0]), polls={Topic.ORDERS: 5.0})
    assert not notes(state, NOW).plain
    service = replace(state.service, problem="it broke", problem_of=Topic.ORDERS)
    old = notes(replace(state, service=service), Timestamp(NOW + 600)).plain
    assert old == "open orders as of 10m 00s ago: it broke"
    service = replace(state.service, dropped={Topic.ORDERS: 2})
    assert "2 open orders cannot be read" in notes(replace(state, service=service), NOW).plain


@pytest.mark.slow
async def test_the_open_orders_look_like_this() -> None:
    async with running(state_of(*TWO), first="portfolio", size=SIZES[0]) as seen:
        await seen.press("O")
        await assert_each(seen.pilot, "open_orders")
