"""What is read of open orders, and what is read and woken once one of them moved."""

from dataclasses import replace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, NotFoundError, RefusalReason
from service_tui.desk.changes import Loaded
from service_tui.desk.facts import OrdersSeen
from service_tui.desk.feed.orders import read_orders, venue_sums
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.translate import open_order_view, trade_view
from service_tui.terms import Venue
from service_tui.units import Micros
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.public import OPEN_ORDERS, TRADES
from service_tui.wire.orders import OrderBody
from service_tui.wire.positions import PortfolioBody, PortfolioVenue
from service_tui.wire.trades import TradeRow

NONE = NotFoundError(RefusalReason("no path", "", ""), Called("GET", "/x"), status=404)


class Answer:
    """An answer that has the given fields."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


ROWS = tuple(
    filled(OrderBody, seed, side="yes", action="buy", order_id=f"o-{seed}") for seed in (1, 2)
)
ORDERS = tuple(open_order_view(body) for body in ROWS)
TRADE = filled(TradeRow, 3, side="yes", action="buy")


def desk(answer: object, state: DeskState | None = None) -> Offline:
    on = Offline(state or with_orders())
    on.answers = {OPEN_ORDERS: answer, TRADES: Answer(trades=(TRADE,))}
    on.dropped = 0
    return on


def with_orders(*orders: Any, rests: TicketState | None = None, seen: bool = False) -> DeskState:
    state = sample_state(8)
    tickets = state.tickets[:1]
    if rests is not None:
        tickets = (replace(tickets[0], limit=0.4, state=rests),)
    times = {topic: at for topic, at in state.seen.items() if topic is not Topic.ORDERS}
    if seen:
        times[Topic.ORDERS] = NOW
    return replace(state, orders=orders, tickets=tickets, seen=times)


async def test_orders_that_rest_as_before_are_shown_and_nothing_more_is_read() -> None:
    on = desk(Answer(orders=ROWS), replace(with_orders(*ORDERS), gone_orders=frozenset({"o-9"})))
    on.dropped = 1
    seen = OrdersSeen(ORDERS, 1, frozenset({"o-9"}))
    assert await read_orders(on.ports, PollerMemory()) == ([seen], 0.01)
    assert on.asked == [Asked(OPEN_ORDERS)]
    assert on.woken == []


@pytest.mark.parametrize("what", ["gone", "filled further"])
async def test_an_order_that_moved_has_the_trades_read_first_and_its_money_anew(what: str) -> None:
    one = ORDERS[0] if what == "gone" else replace(ORDERS[1], filled=Micros(ORDERS[1].filled - 1))
    on = desk(Answer(orders=ROWS[1:]), with_orders(one))
    traded = Loaded(TradeView, (trade_view(TRADE),), 0)
    facts, latency_s = await read_orders(on.ports, PollerMemory())
    assert facts == [traded, OrdersSeen(ORDERS[1:], 0, frozenset())]
    assert latency_s == 0.01
    assert on.woken == [Topic.POSITIONS, Topic.ACCOUNT, Topic.REDEMPTIONS, Topic.WALLET]


async def test_a_new_order_is_no_move_of_an_old_one() -> None:
    on = desk(Answer(orders=ROWS), with_orders(ORDERS[0]))
    facts, _ = await read_orders(on.ports, PollerMemory())
    assert facts == [OrdersSeen(ORDERS, 0, frozenset())]


async def test_a_service_without_open_orders_is_asked_once() -> None:
    on, memory = desk(NONE), PollerMemory()
    assert await read_orders(on.ports, memory) == ([OrdersSeen(())], None)
    assert memory.without_orders
    assert await read_orders(on.ports, memory) == ([], None)
    assert len(on.asked) == 1


@pytest.mark.parametrize(
    ("rests", "seen"),
    [(TicketState.DONE, False), (TicketState.UNKNOWN, False), (None, True)],
)
async def test_orders_that_may_rest_are_not_taken_for_gone_by_a_path_that_is_missing(
    rests: TicketState | None, *, seen: bool
) -> None:
    on, memory = desk(NONE, with_orders(rests=rests, seen=seen)), PollerMemory()
    with pytest.raises(NotFoundError):
        await read_orders(on.ports, memory)
    assert not memory.without_orders


async def test_a_service_without_orders_is_asked_again_once_one_may_rest_there() -> None:
    memory = PollerMemory(without_orders=True)
    on = desk(Answer(orders=()), with_orders(rests=TicketState.SENT))
    assert (await read_orders(on.ports, memory))[0] == [OrdersSeen((), 0, frozenset())]
    refused = desk(Answer(orders=()), with_orders(rests=TicketState.REFUSED))
    assert await read_orders(refused.ports, memory) == ([], None)


def test_each_real_venue_is_summed_by_its_own_row() -> None:
    def row(seed: int) -> PortfolioVenue:
        return filled(
            PortfolioVenue, seed, balance=seed + 0.5, pnl=-seed - 0.25, positions_count=seed,
            total_exposure=seed + 0.75, reserved=seed + 0.125, trades_count=seed + 90,
        )  # fmt: skip

    first, second = row(11), row(22)
    body = PortfolioBody.model_construct(polymarket=first, kalshi=second)
    assert venue_sums(body) == tuple(
        VenueSumView(
            venue=venue, cash=Micros(seed * 1_000_000 + 500_000),
            reserved=Micros(seed * 1_000_000 + 125_000), value=Micros(seed * 1_000_000 + 750_000),
            positions=seed, pnl=Micros(-seed * 1_000_000 - 250_000),
            pnl_at=None if one.pnl_as_of is None else timestamp(one.pnl_as_of), trades=seed + 90,
        )
        for venue, seed, one in ((Venue.EVM, 11, first), (Venue.SOL, 22, second))
    )  # fmt: skip
    bare = first.model_copy(update={"balance": None, "pnl": None, "pnl_as_of": None})
    (alone,) = venue_sums(PortfolioBody.model_construct(polymarket=None, kalshi=bare))
    assert (alone.venue, alone.cash, alone.pnl, alone.pnl_at) == (Venue.SOL, None, None, None)
    assert venue_sums(PortfolioBody.model_construct(polymarket=None, kalshi=None)) == ()
