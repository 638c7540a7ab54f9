"""What cancelling asks of the service, what it frees, and what is told of it."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    RefusalReason,
    UnreachableError,
)
from service_tui.desk.changes import Removed
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.trading.cancel_orders import (
    GONE,
    READ_ONLY,
    cancel,
    cancel_order,
    free_shares,
    held_now,
    sellable,
    withdraw,
)
from service_tui.desk.trading.translate import open_order_view
from service_tui.terms import TRADES_PAGE_MAX, Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, POSITIONS, TRADES
from service_tui.wire.orders import OrderBody
from service_tui.wire.positions import PositionsQuery
from service_tui.wire.trades import TradesQuery

CALLED = Called("POST", "/x")
NOBODY = NotFoundError(RefusalReason("none", ""), CALLED, status=404)
SILENT = UnreachableError("no connection", CALLED)
AFTER = [
    Topic.ORDERS,
    Topic.TRADES,
    Topic.POSITIONS,
    Topic.ACCOUNT,
    Topic.REDEMPTIONS,
    Topic.WALLET,
]


def order(name: str = "o-1", **other: Any) -> OrderBody:
    given = {
        "order_id": name,
        "trade_id": f"tr-{name}",
        "market_id": "m1",
        "side": Side.NO,
        "trade_type": Action.SELL,
        "shares": 30.0,
        "shares_filled": 5.0,
        "price": 0.4,
        "cost_usdc": 12.0,
        "venue": Venue.EVM,
        "created_at": "2027-01-15T08:00:00Z",
        **other,
    }
    return OrderBody.model_validate_json(json.dumps(given))


def done(back: float = 0.0, **other: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"success": True, "message": "", "returned_usdc": back, **other})


def desk(*orders: OrderBody, **other: Any) -> Offline:
    views = tuple(open_order_view(one) for one in orders)
    state = replace(sample_state(8), orders=views)
    state = replace(state, wallet=replace(state.wallet, ownership=Ownership.MANAGED))
    answers = {CANCEL_ORDER: done(7.5), OPEN_ORDERS: SimpleNamespace(orders=orders)}
    return Offline(state, answers, **other)


def open_now(on: Offline) -> list[str]:
    return [one.order_id for one in on.state.orders]


# -- one order ----------------------------------------------------------------------------------


async def test_a_cancelled_order_is_gone_and_what_it_kept_is_told_in_its_money() -> None:
    on = desk(order("o-2", venue=Venue.SOL), order())
    assert await cancel_order("o-1", on.ports) == ("good", "done, 7.50 USDC.e released")
    assert on.asked == [Asked(CANCEL_ORDER, {"order_id": "o-1"})]
    assert on.facts == [Removed(OpenOrderView, "o-1")]
    assert open_now(on) == ["o-2"]
    on.answers[CANCEL_ORDER] = done()
    assert await cancel_order("o-2", on.ports) == ("good", "done")
    on.answers[CANCEL_ORDER] = done(3.0)
    assert await cancel_order("o-9", on.ports) == ("good", "done, 3.00 released")


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (NOBODY, ("warn", GONE)),
        (
            OutcomeUnknownError("no answer", CALLED),
            ("bad", "sent, no answer: no answer (POST /x); refreshing the list"),
        ),
        (SILENT, ("bad", "no connection (POST /x)")),
        (ValueError("no id"), ("bad", "no id")),
        (done(success=False, message="the book is busy"), ("bad", "the book is busy")),
        (done(success=False), ("bad", "refused without a reason")),
    ],
)
async def test_an_order_that_was_not_cancelled_stays_listed(
    answer: object, result: tuple[str, str]
) -> None:
    on = desk(order())
    on.answers[CANCEL_ORDER] = answer
    assert await cancel_order("o-1", on.ports) == result
    assert (on.facts, open_now(on)) == ([], ["o-1"])


async def test_several_are_cancelled_one_by_one_and_each_is_told() -> None:
    on = desk(order(), order("o-2", side=Side.YES))
    on.answers[CANCEL_ORDER] = [done(1.0), NOBODY, done()]
    await cancel(CancelOrders(("o-1", "o-7", "o-2"), "what was shown"), on.ports)
    assert on.words == [
        ("good", "cancel sell 30.00 NO at 0.40 on evm_venue: done, 1.00 USDC.e released"),
        ("warn", f"cancel what was shown: {GONE}"),
        ("good", "cancel sell 30.00 YES at 0.40 on evm_venue: done"),
    ]
    assert on.woken == AFTER
    on.answers[CANCEL_ORDER] = NOBODY
    await cancel(CancelOrders(("o-8",)), on.ports)
    assert on.words[-1] == ("warn", f"cancel o-8: {GONE}")


async def test_a_desk_that_only_reads_cancels_nothing() -> None:
    on = desk(order())
    on.state = replace(on.state, service=replace(on.state.service, read_only=True))
    await cancel(CancelOrders(("o-1",)), on.ports)
    assert (on.asked, on.woken) == ([], [])
    assert on.words == [("warn", READ_ONLY)]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (CancelOrders(("a",)), "cancel 1 open order"),
        (CancelOrders(("a", "b")), "cancel 2 open orders"),
        (CancelOrders(("a",), "buy YES"), "cancel buy YES"),
    ],
)
def test_a_cancellation_names_the_order_or_counts_them(command: CancelOrders, text: str) -> None:
    assert command.describe() == text


# -- to be replaced -----------------------------------------------------------------------------


def rows(**shares: float) -> SimpleNamespace:
    return SimpleNamespace(
        trades=[
            SimpleNamespace(id=name.replace("_", "-"), shares=one) for name, one in shares.items()
        ]
    )


@pytest.mark.parametrize(
    ("trades", "why"),
    [
        (rows(tr_o_9=1.0, tr_o_1=5.0), None),
        (
            rows(tr_o_1=7.25),
            Reason("Cancelled, but 2.25 more shares filled before", Fix.ORDER_AGAIN),
        ),
        (rows(tr_o_9=5.0), Reason("Cancelled, but its fills are not listed", Fix.ORDER_AGAIN)),
        (
            SILENT,
            Reason(f"Cancelled, but its fills cannot be read: {SILENT}", Fix.ORDER_AGAIN),
        ),
    ],
)
async def test_an_order_is_replaced_only_as_the_person_saw_it(
    trades: object, why: Reason | None
) -> None:
    on = desk(order())
    on.answers[TRADES] = trades
    assert await withdraw("o-1", Micros(5 * ONE), on.ports) == why
    query = TradesQuery(venue=Venue.EVM, market_id="m1", limit=TRADES_PAGE_MAX)
    assert on.asked == [Asked(CANCEL_ORDER, {"order_id": "o-1"}), Asked(TRADES, query=query)]
    assert on.woken == AFTER


async def test_what_was_filled_since_the_person_decided_counts_though_the_list_knows_it() -> None:
    on = desk(order())
    seven = replace(on.state.orders[0], filled=Micros(7 * ONE))
    on.state = replace(on.state, orders=(seven,))
    on.answers[TRADES] = rows(tr_o_1=7.0)
    why = await withdraw("o-1", Micros(5 * ONE), on.ports)
    more = "Cancelled, but 2.00 more shares filled before"
    assert why == Reason(more, Fix.ORDER_AGAIN)


async def test_an_order_that_is_not_surely_cancelled_is_not_replaced() -> None:
    on = desk(order())
    gone = Reason("The order to amend is no longer open", Fix.LIST_ORDERS)
    assert await withdraw("o-9", Micros(0), on.ports) == gone
    assert (on.asked, on.woken) == ([], [])
    on.answers[CANCEL_ORDER] = NOBODY
    no = Reason(f"The order to amend was not cancelled: {GONE}", Fix.LIST_ORDERS)
    assert await withdraw("o-1", Micros(0), on.ports) == no
    assert on.woken == AFTER
    assert [one.endpoint for one in on.asked] == [CANCEL_ORDER]


# -- before an exit -----------------------------------------------------------------------------

HOLDING = open_order_view(order()).holding


async def test_an_exit_cancels_the_open_sales_of_its_position_alone() -> None:
    on = desk(
        order("o-1"),
        order("o-2", trade_type=Action.BUY),
        order("o-3", side=Side.YES),
        order("o-4", market_id="m2"),
        order("o-5", venue=Venue.SOL),
        order("o-6"),
    )
    on.state = replace(on.state, orders=())
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is True
    assert on.asked == [
        Asked(OPEN_ORDERS),
        *(Asked(CANCEL_ORDER, {"order_id": one}) for one in ("o-1", "o-6")),
    ]
    assert (
        on.words
        == [("good", "cancel sell 30.00 NO at 0.40 on evm_venue for the sale: done, 7.50 released")]
        * 2
    )


async def test_an_exit_without_open_sales_frees_nothing() -> None:
    on = desk(order(trade_type=Action.BUY))
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is False
    assert on.facts == []
    on.answers[OPEN_ORDERS] = NOBODY
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is False


async def test_nothing_is_cancelled_for_an_exit_that_has_no_book_or_no_signature() -> None:
    on = desk(order())
    assert await free_shares(HOLDING, Venue.SIM, on.ports) is False
    on.state = replace(on.state, wallet=replace(on.state.wallet, ownership=Ownership.EXTERNAL))
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is False
    assert on.asked == []


async def test_open_orders_that_cannot_be_read_are_those_that_were_known() -> None:
    on = desk(order())
    on.answers[OPEN_ORDERS] = SILENT
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is True
    assert on.words[0] == ("warn", f"open orders unreadable before a sale: {SILENT}")
    assert on.asked[1] == Asked(CANCEL_ORDER, {"order_id": "o-1"})
    on = desk(order(), dropped=2)
    assert await free_shares(HOLDING, Venue.EVM, on.ports) is True
    assert on.words[0] == ("warn", "before a sale: 2 open orders unreadable, left as they are")


def side(name: str, shares: float) -> SimpleNamespace:
    return SimpleNamespace(side=name, shares=shares)


def held(*sides: SimpleNamespace, market: str = "m1", venue: Venue = Venue.EVM) -> SimpleNamespace:
    return SimpleNamespace(
        market_id=market, venue=venue, sides=sides, shares_yes=3.0, shares_no=4.0
    )


@pytest.mark.parametrize(
    ("positions", "dropped", "shares"),
    [
        ([held(side("yes", 1.0), side("no", 2.0))], 0, 2 * ONE),
        ([held(side("yes", 1.0))], 0, 0),
        ([held()], 0, 4 * ONE),
        ([held(), held(side("no", 0.5))], 0, 4 * ONE + ONE // 2),
        ([held(market="m2"), held(venue=Venue.SOL)], 0, 0),
        ([held(market="m2")], 1, None),
        ([held()], 1, 4 * ONE),
        ([], 0, 0),
    ],
)
async def test_what_is_held_now_is_that_side_of_that_market_on_that_venue(
    positions: list[SimpleNamespace], dropped: int, shares: int | None
) -> None:
    on = desk(dropped=dropped)
    on.answers[POSITIONS] = SimpleNamespace(positions=positions)
    assert await held_now("m1", Side.NO, Venue.EVM, on.ports) == shares
    assert on.asked == [Asked(POSITIONS, query=PositionsQuery(venue=Venue.EVM, status="active"))]


async def test_the_other_side_is_read_by_its_own_figure() -> None:
    on = desk()
    on.answers[POSITIONS] = SimpleNamespace(positions=[held()])
    assert await held_now("m1", Side.YES, Venue.EVM, on.ports) == 3 * ONE


@pytest.mark.parametrize(
    ("venue", "shares", "sold"),
    [
        (Venue.EVM, 5 * ONE + 19_999, 5 * ONE + 10_000),
        (Venue.EVM, 5 * ONE, 5 * ONE),
        (Venue.EVM, 5 * ONE - 1, 0),
        (Venue.SIM, 5 * ONE + 19_999, 5 * ONE + 19_990),
        (Venue.SIM, 10, 10),
        (Venue.SIM, 9, 0),
        (Venue.SIM, 0, 0),
    ],
)
def test_an_order_sells_what_its_venue_can_count(venue: Venue, shares: int, sold: int) -> None:
    assert sellable(venue, Micros(shares)) == sold
