"""What becomes of an order of unknown end by what the service lists."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, NotFoundError, RefusalReason, UnreachableError
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.facts import Noticed
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.reactor import MIRROR
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.lookup import (
    EARLIER_S,
    FURTHER_S,
    LOOK_MAX_S,
    PAGES_MAX,
    ROUNDED,
    UNKNOWN_HORIZON_S,
    BookSearch,
    TradeSearch,
    give_up,
    look_at_books,
    look_through,
    reconcile,
)
from service_tui.desk.trading.translate import trade_view
from service_tui.storage.blotter import StoredState
from service_tui.terms import TRADES_PAGE_MAX, Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal
from service_tui.wire.endpoints.public import OPEN_ORDERS, TRADES
from service_tui.wire.orders import OrderBody
from service_tui.wire.trades import TradeRow, TradesQuery

CALLED = Called("GET", "/x")
LATE = {"sent_at": Timestamp(NOW - UNKNOWN_HORIZON_S - 1), "opened_at": Timestamp(NOW - 700)}
MOVED = [Topic.POSITIONS, Topic.ACCOUNT, Topic.TRADES, Topic.ORDERS]


def unknown(name: str = "t1", **other: Any) -> TicketView:
    given = {
        "kind": "trade",
        "market_id": "m1",
        "what": "buy NO for 20.00",
        "state": TicketState.UNKNOWN,
        "opened_at": Timestamp(NOW - 100),
        "sent_at": Timestamp(NOW - 99),
        "outcome": "sent, no answer",
        "client_ref": f"ref-{name}",
        "amount": Micros(20 * ONE),
        "venue": Venue.EVM,
        "holding": position_key("m1", Side.NO, Venue.EVM),
        **other,
    }
    return TicketView(name, **given)


def row(**other: Any) -> TradeRow:
    given: dict[str, Any] = {
        "id": "tr-1",
        "market_id": "m1",
        "side": "no",
        "action": "buy",
        "shares": 40.0,
        "cost": 18.5,
        "venue": "evm_venue",
        "status": "filled",
        "fee": 0.25,
        "signal_data": {"client_ref": "ref-t1"},
        "created_at": "2027-01-15T08:00:00Z",
        **other,
    }
    return TradeRow.model_validate_json(json.dumps(given))


def desk(*tickets: TicketView, rows: tuple[TradeRow, ...] = (), **other: Any) -> Offline:
    state = replace(sample_state(8), tickets=tickets)
    pages = [SimpleNamespace(trades=rows), *[SimpleNamespace(trades=())] * 9]
    return Offline(state, {TRADES: pages, OPEN_ORDERS: SimpleNamespace(orders=())}, **other)


async def looked_up(on: Offline) -> TicketView:
    await reconcile(on.state.tickets, on.ports)
    return on.state.tickets[0]


# -- found among the trades ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "state", "outcome", "woken"),
    [
        ({"status": "failed"}, TicketState.FAILED, "order found: failed", []),
        (
            {"status": "cancelled", "shares": 0.0, "cost": 0.0},
            TicketState.FAILED,
            "order found: ended unfilled",
            [],
        ),
        (
            {"status": "submitted", "shares": 0.0, "cost": 0.0},
            TicketState.DONE,
            "order found: open on the book, nothing filled yet",
            [Topic.ORDERS],
        ),
        (
            {},
            TicketState.DONE,
            "order found: filled 40.00 shares for 18.50 USDC.e, fee 0.25 USDC.e on top",
            MOVED,
        ),
        (
            {"status": "submitted", "shares": 0.0},
            TicketState.DONE,
            "order found: open on the book, nothing filled yet",
            [Topic.ORDERS],
        ),
        (
            {"status": "submitted"},
            TicketState.DONE,
            "order found: filled 40.00 shares for 18.50 USDC.e, fee 0.25 USDC.e on top",
            MOVED,
        ),
        (
            {"status": "filled", "shares": 0.0},
            TicketState.DONE,
            "order found: filled 0.00 shares for 18.50 USDC.e, fee 0.25 USDC.e on top",
            MOVED,
        ),
        (
            {"status": "unconfirmed"},
            TicketState.DONE,
            "order found: filled 40.00 shares for 18.50 USDC.e, fee 0.25 USDC.e on top",
            MOVED,
        ),
        (
            {"action": "redeem"},
            TicketState.DONE,
            "order found: filled 40.00 shares for 18.50",
            MOVED,
        ),
        (
            {"status": "cancelled"},
            TicketState.DONE,
            "order found: filled 40.00 shares for 18.50 USDC.e, fee 0.25 USDC.e on top",
            MOVED,
        ),
    ],
)
async def test_an_order_that_is_listed_ends_as_it_is_listed(
    listed: dict[str, object], state: TicketState, outcome: str, woken: list[Topic]
) -> None:
    on = desk(unknown(), rows=(row(**listed),))
    ended = await looked_up(on)
    assert (ended.state, ended.settled_at) == (state, NOW)
    assert ended.outcome == outcome
    ((name, stored, _, at),) = on.written
    assert (name, stored, at) == ("t1", StoredState(state.value), NOW)
    assert on.woken == woken
    assert [one.kind for one in on.told] == [NoticeKind.FILL]


async def test_play_money_that_was_spent_has_no_name() -> None:
    ticket = unknown(venue=Venue.SIM, holding=position_key("m1", Side.NO, Venue.SIM))
    ended = await looked_up(desk(ticket, rows=(row(venue="sim"),)))
    assert ended.outcome == "order found: filled 40.00 shares for 18.50"


@pytest.mark.parametrize(
    ("ticket", "listed", "mismatch"),
    [
        ({}, {"market_id": "m2"}, "trade of NO in m2, not ordered"),
        ({}, {"side": "yes"}, "trade of YES in m1, not ordered"),
        ({"amount": Micros(15 * ONE)}, {}, "cost above the 15.00 ordered"),
        (
            {"amount": Micros(0), "shares": Micros(39 * ONE)},
            {"action": "sell"},
            "more than the 39.00 shares ordered",
        ),
    ],
)
async def test_a_fill_that_was_not_ordered_is_told_loudly(
    ticket: dict[str, Any], listed: dict[str, object], mismatch: str
) -> None:
    on = desk(unknown(**ticket), rows=(row(**listed),))
    ended = await looked_up(on)
    assert ended.outcome.endswith(f", but {mismatch}")
    assert on.told[0] == Noticed("bad", f"buy NO for 20.00: {mismatch}")
    assert ended.state is TicketState.DONE


async def test_a_trade_that_is_not_confirmed_ends_nothing_and_leaves_a_doubt_later() -> None:
    unsure = row(status="unconfirmed", shares=0.0, cost=0.0)
    on = desk(unknown(), rows=(unsure,))
    assert await looked_up(on) == unknown()
    late = unknown(sent_at=Timestamp(NOW - UNKNOWN_HORIZON_S - 1))
    on = desk(late, rows=(unsure,))
    ended = await looked_up(on)
    doubt = f"{NOT_FOUND}: order listed but not confirmed"
    assert ended == replace(late, outcome=doubt, fix=Fix.CHECK_POSITIONS)
    assert on.written == []


async def test_each_order_has_the_trade_of_its_own_reference() -> None:
    tickets = (unknown("t1"), unknown("t2"), unknown("t3"))
    other = row(id="tr-2", signal_data={"client_ref": "ref-t2"}, shares=7.0, cost=3.0)
    on = desk(*tickets, rows=(other, row()))
    await looked_up(on)
    first, second, third = on.state.tickets
    assert "filled 40.00 shares for 18.50" in first.outcome
    assert "filled 7.00 shares for 3.00" in second.outcome
    assert third == tickets[2]


async def test_what_was_closed_meanwhile_is_left_as_it_was_closed() -> None:
    closed = replace(unknown(), state=TicketState.FAILED, outcome="closed by you")
    other = replace(unknown("t9", **LATE), outcome="being looked up elsewhere")
    on = desk(closed, other, rows=(row(),))
    await reconcile([unknown()], on.ports)
    assert on.state.tickets == (closed, other)
    assert (on.facts, on.written) == ([], [])


# -- found nowhere ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["trade", MIRROR])
async def test_an_order_without_a_trace_is_left_to_the_person(kind: str) -> None:
    on = desk(unknown(kind=kind, **LATE))
    left = await looked_up(on)
    fix = Fix.NEVER_MIRRORED_AGAIN if kind == MIRROR else Fix.SEND_AGAIN_YOURSELF
    assert left == unknown(kind=kind, outcome=NO_TRACE, fix=fix, **LATE)
    assert on.told == [Noticed("warn", f"buy NO for 20.00: {NO_TRACE}", fix=fix)]
    assert await looked_up(on) == left
    assert len(on.told) == 1, "it is told once"


@pytest.mark.parametrize(
    ("listed", "is_doubt"),
    [
        ({}, True),
        ({"action": "sell"}, False),
        ({"side": "yes"}, False),
        ({"market_id": "m2"}, False),
        ({"created_at": "2027-01-10T08:00:00Z"}, False),
    ],
)
async def test_a_trade_without_a_reference_is_a_doubt_where_it_may_be_the_order(
    listed: dict[str, object], *, is_doubt: bool
) -> None:
    on = desk(unknown(**LATE), rows=(row(signal_data=None, **listed),), skew_s=0.0)
    left = await looked_up(on)
    # A trade of the very first moment at which it may have happened counts.
    edge = datetime.fromtimestamp(LATE["opened_at"] - FURTHER_S, UTC).isoformat()
    first = desk(
        unknown(**LATE), rows=(row(signal_data=None, **{"created_at": edge, **listed}),), skew_s=0.0
    )
    assert (await looked_up(first)).outcome == left.outcome
    doubt = f"{NOT_FOUND}: a similar trade exists without a reference"
    assert left.outcome == (doubt if is_doubt else NO_TRACE)
    assert left.fix == (Fix.CHECK_POSITIONS if is_doubt else Fix.SEND_AGAIN_YOURSELF)


async def test_an_order_without_a_reference_is_never_surely_gone() -> None:
    left = await looked_up(desk(unknown(client_ref="", **LATE)))
    assert left.outcome == f"{NOT_FOUND}: order without a reference"


async def test_a_sale_is_looked_for_among_the_sales() -> None:
    ticket = unknown(amount=Micros(0), shares=Micros(9 * ONE), **LATE)
    sale = row(signal_data=None, action="sell")
    assert (await looked_up(desk(ticket, rows=(sale,)))).outcome.startswith(NOT_FOUND)
    assert (await looked_up(desk(ticket, rows=(row(signal_data=None),)))).outcome == NO_TRACE


async def test_a_service_that_does_not_answer_ends_nothing_and_leaves_a_doubt_later() -> None:
    on = desk(unknown(), unknown("t2", **LATE))
    on.answers[TRADES] = UnreachableError("no connection", CALLED)
    with pytest.raises(UnreachableError):
        await reconcile(on.state.tickets, on.ports)
    first, second = on.state.tickets
    assert first == unknown()
    assert second.outcome == f"{NOT_FOUND}: trades unavailable, no connection"
    assert second.fix == Fix.CHECK_POSITIONS


async def test_an_order_that_is_on_its_way_again_is_not_settled_by_an_older_look() -> None:
    on = desk(unknown(state=TicketState.SENT, **LATE), unknown("t2", **LATE))
    rows = on.state.tickets
    before = replace(rows[0], state=TicketState.UNKNOWN)
    await reconcile([before], on.ports)
    on.answers[TRADES] = UnreachableError("no connection", CALLED)
    with pytest.raises(UnreachableError):
        await reconcile([before], on.ports)
    # Nor is one that nobody asked about.
    assert on.state.tickets == rows


# -- found on the book --------------------------------------------------------------------------

LIMIT = 0.4


def resting(**other: Any) -> OrderBody:
    given: dict[str, Any] = {
        "order_id": "o-1",
        "trade_id": "tr-9",
        "market_id": "m1",
        "side": Side.NO,
        "trade_type": Action.BUY,
        "shares": 30.0,
        "shares_filled": 20.0,
        "price": LIMIT,
        "cost_usdc": 12.0,
        "venue": Venue.EVM,
        "created_at": "2027-01-15T07:59:00Z",
        **other,
    }
    return OrderBody.model_validate_json(json.dumps(given))


async def on_book(
    ticket: TicketView, *orders: OrderBody, others: tuple[TicketView, ...] = (), **given: Any
) -> BookSearch:
    on = desk(ticket, *others, **{"skew_s": 0.0, **given})
    on.answers[OPEN_ORDERS] = SimpleNamespace(orders=orders)
    found = await look_at_books([ticket, *others[:0]], on.ports)
    assert on.woken == [Topic.ORDERS]
    return found[ticket.ticket_id]


def rests(**other: Any) -> TicketView:
    return unknown(limit=LIMIT, **{"opened_at": Timestamp(NOW - 62), "sent_at": None, **other})


SALE = {"amount": Micros(0), "shares": Micros(50 * ONE)}


async def test_an_order_that_rests_as_it_was_given_is_found() -> None:
    found = await on_book(rests(), resting())
    assert found.order is not None
    assert (found.order.order_id, found.order.shares, found.doubt) == ("o-1", 30 * ONE, "")


@pytest.mark.parametrize(
    "other",
    [
        {"market_id": "m2"},
        {"side": Side.YES},
        {"venue": Venue.SOL},
        {"trade_type": Action.SELL},
        {"price": 0.41},
        {"shares": 31.0, "shares_filled": 18.9},
        {"shares": 50.1, "shares_filled": 0.0},
    ],
)
async def test_an_order_of_other_terms_is_another(other: dict[str, object]) -> None:
    assert await on_book(rests(), resting(**other)) == BookSearch()


@pytest.mark.parametrize(
    ("spare", "is_like"), [(-ROUNDED - 1, False), (-ROUNDED, True), (10_000, True), (10_001, False)]
)
async def test_a_sale_may_differ_from_its_order_by_what_a_venue_rounds(
    spare: int, *, is_like: bool
) -> None:
    left = decimal(Micros(30 * ONE + spare))
    found = await on_book(rests(**SALE), resting(trade_type=Action.SELL, shares=left))
    assert (found.order is not None) == is_like


@pytest.mark.parametrize(
    ("amount", "is_like"),
    [
        # What rests keeps 12 of it, and the whole would have cost 20.
        (20 * ONE + ROUNDED, True),
        (20 * ONE + ROUNDED + 1, False),
        (12 * ONE - ROUNDED, True),
        (12 * ONE - ROUNDED - 1, False),
    ],
)
async def test_a_buy_is_between_what_still_rests_and_what_it_was_in_whole(
    amount: int, *, is_like: bool
) -> None:
    found = await on_book(rests(amount=Micros(amount)), resting())
    assert (found.order is not None) == is_like


@pytest.mark.parametrize(
    ("given_s", "skew_s", "is_found"),
    [
        (EARLIER_S, 0.0, True),
        (EARLIER_S + 1, 0.0, False),
        (EARLIER_S + 5, 5.0, True),
        (EARLIER_S + 6, 5.0, False),
    ],
)
async def test_an_entry_that_is_older_than_the_order_is_another(
    given_s: float, skew_s: float, *, is_found: bool
) -> None:
    ticket = rests(sent_at=Timestamp(resting().created_at.timestamp() + given_s))
    found = await on_book(ticket, resting(), skew_s=skew_s)
    assert (found.order is not None) == is_found


SIMILAR = BookSearch(doubt="a similar order is open and may be another one")


async def test_one_of_several_that_could_be_it_proves_nothing() -> None:
    assert await on_book(rests(), resting(), resting(order_id="o-2")) == SIMILAR
    assert await on_book(rests(), resting(), skew_s=None) == SIMILAR


@pytest.mark.parametrize(
    ("other", "is_rival"),
    [
        ({}, True),
        ({"state": TicketState.DONE, "settled_at": Timestamp(NOW)}, True),
        ({"state": TicketState.DONE, "settled_at": Timestamp(NOW - 62 - EARLIER_S)}, True),
        ({"state": TicketState.DONE, "settled_at": Timestamp(NOW - 62.5 - EARLIER_S)}, False),
        ({"state": TicketState.DONE, "settled_at": None}, True),
        ({"state": TicketState.REFUSED, "settled_at": Timestamp(NOW)}, False),
        ({"limit": 0.41}, False),
        ({"holding": position_key("m1", Side.YES, Venue.EVM)}, False),
        ({"amount": Micros(21 * ONE)}, False),
        ({"shares": Micros(1)}, False),
    ],
)
async def test_another_order_of_this_desk_that_looks_the_same_leaves_a_doubt(
    other: dict[str, Any], *, is_rival: bool
) -> None:
    twin = replace(rests(), ticket_id="t2", client_ref="ref-t2", **other)
    found = await on_book(rests(), resting(), others=(twin,))
    assert (found == SIMILAR) == is_rival
    assert (found.order is not None) != is_rival


async def test_a_book_of_which_a_part_cannot_be_read_proves_nothing() -> None:
    unread = BookSearch(doubt="some open orders are unreadable")
    assert await on_book(rests(), dropped=1) == unread
    assert await on_book(rests(), resting(), dropped=1) == SIMILAR


async def test_a_book_that_cannot_be_read_whole_is_the_doubt_of_an_order_that_may_rest() -> None:
    on = desk(unknown(limit=LIMIT, **LATE), skew_s=0.0, dropped=0)
    on.answers[TRADES] = SimpleNamespace(trades=())
    on.answers[OPEN_ORDERS] = SimpleNamespace(orders=(resting(), resting(order_id="o-2")))
    left = await looked_up(on)
    assert left.outcome == f"{NOT_FOUND}: {SIMILAR.doubt}"
    assert left.fix == Fix.CHECK_POSITIONS


async def test_only_orders_that_may_rest_are_looked_for_on_the_book() -> None:
    on = desk(unknown())
    assert await look_at_books([unknown()], on.ports) == {}
    assert (on.asked, on.woken) == ([], [])
    on.answers[OPEN_ORDERS] = NotFoundError(RefusalReason("none", ""), CALLED, status=404)
    assert await look_at_books([rests()], on.ports) == {}
    assert on.asked == [Asked(OPEN_ORDERS)]


async def test_an_order_found_on_the_book_is_done_and_says_where_it_rests() -> None:
    ticket = rests(sent_at=Timestamp(resting().created_at.timestamp() + 1))
    on = desk(ticket, skew_s=0.0)
    on.answers[OPEN_ORDERS] = SimpleNamespace(orders=(resting(),))
    ended = await looked_up(on)
    assert ended.state is TicketState.DONE
    assert ended.outcome == ("order found, open on the book: buy 30.00 NO at 0.40 on evm_venue")


# -- page by page -------------------------------------------------------------------------------

Pages = list[tuple[list[TradeView], int]]


def trade(name: str, age_s: float = 0.0, ref: str = "another") -> TradeView:
    return replace(trade_view(row(id=name)), at=Timestamp(NOW - age_s), client_ref=ref)


async def searched(
    pages: Pages, *, before_s: float = 1_000.0, wanted: str = "mine", seconds: float = 0.0
) -> tuple[TradeSearch, list[TradesQuery]]:
    """What is found in these pages, of which the last one is repeated, and what was asked."""
    asked: list[TradesQuery] = []

    async def read(query: TradesQuery) -> tuple[list[TradeView], int]:
        asked.append(query)
        return pages[min(len(asked), len(pages)) - 1]

    look = await look_through(
        frozenset({wanted}),
        lambda: Timestamp(NOW - before_s),
        read,
        lambda: 100.0 + seconds * len(asked),
    )
    return look, asked


async def test_a_search_goes_back_to_the_oldest_of_several_orders() -> None:
    old = unknown("t1", opened_at=Timestamp(NOW - 9_000))
    newer = row(id="tr-8", created_at="2027-01-15T06:30:00Z", signal_data={"client_ref": "x"})
    on = desk(unknown("t2"), old, skew_s=0.0)
    on.answers[TRADES] = [SimpleNamespace(trades=(one,)) for one in (newer, row())]
    on.answers[TRADES].append(SimpleNamespace(trades=()))  # type: ignore[union-attr]
    await reconcile(on.state.tickets, on.ports)
    assert [one.state for one in on.state.tickets] == [TicketState.UNKNOWN, TicketState.DONE]


async def test_pages_are_read_until_the_order_is_found() -> None:
    first, mine = [trade("a"), trade("b", 1)], [trade("c", 2), trade("d", 3, "mine")]
    look, asked = await searched([(first, 1), (mine, 0), ([], 0)])
    assert (look.found, look.doubt) == ({"mine": mine[1]}, "some trades are unreadable")
    assert asked == [
        TradesQuery(limit=TRADES_PAGE_MAX, offset=place, include_failed=True) for place in (0, 3)
    ]


async def test_a_search_ends_at_an_empty_page_and_a_short_one_is_no_end() -> None:
    look, asked = await searched([([trade("a")], 0), ([trade("b", 1)], 0), ([], 0)])
    assert (look.found, look.doubt, len(asked)) == ({}, "", 3)
    assert look.unsigned == []


@pytest.mark.parametrize(("age_s", "count"), [(1_000.0, 2), (1_000.1, 1)])
async def test_a_search_ends_where_only_older_trades_follow(age_s: float, count: int) -> None:
    look, asked = await searched([([trade("a"), trade("b", age_s)], 0), ([], 0)])
    assert (len(asked), look.doubt) == (count, "")


@pytest.mark.parametrize(
    "pages",
    [
        [([trade("a", 9_000), trade("b")], 0)],
        [([trade("a", 9_000), trade("b"), trade("c", 9_000)], 0)],
        [([trade("a", 1)], 0), ([trade("b", 0), trade("c", 9_000)], 0)],
    ],
)
async def test_trades_in_no_order_of_time_are_read_to_their_end(pages: Pages) -> None:
    _, asked = await searched([*pages, ([trade("z", 9_001)], 0), ([], 0)])
    assert len(asked) == len(pages) + 2


async def test_trades_of_one_moment_are_in_order() -> None:
    same = [trade("a", 5_000), trade("b", 5_000)]
    assert len((await searched([(same, 0)]))[1]) == 1


async def test_a_page_that_comes_again_ends_the_search_with_a_doubt() -> None:
    look, asked = await searched([([trade("a"), trade("b")], 0)])
    assert (len(asked), look.doubt) == (2, "the service repeats one page of trades")
    # New trades push old ones onto the next page: what is new there counts.
    moved = [([trade("a")], 0), ([trade("a"), trade("c", ref="mine")], 0)]
    look, asked = await searched(moved)
    assert (list(look.found), look.doubt) == (["mine"], "")
    unread: Pages = [([], 2)]
    look, asked = await searched(unread)
    assert (len(asked), look.doubt) == (2, "some trades are unreadable")


async def test_a_search_that_takes_too_long_or_too_many_pages_is_given_up() -> None:
    endless: Pages = [([trade(f"t{number}")], 0) for number in range(99)]
    look, asked = await searched(endless)
    assert (len(asked), look.doubt) == (PAGES_MAX, "too many trades to search")
    look, asked = await searched(endless, seconds=LOOK_MAX_S / 2)
    assert (len(asked), look.doubt) == (3, "too many trades to search")
    first = ([trade("a")], 1)
    look, _ = await searched([first, *endless])
    assert look.doubt == "some trades are unreadable", "the first doubt stays"


async def test_trades_without_a_reference_are_set_aside() -> None:
    bare = trade("a", ref="")
    look, _ = await searched([([bare, trade("b")], 0), ([], 0)])
    assert (look.unsigned, look.found) == ([bare], {})


# -- closed by hand -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ticket", "words"),
    [
        (unknown("t7"), "order already settled"),
        (replace(unknown(), state=TicketState.DONE), "order already settled"),
        (unknown(), "lookup still running: wait for its result"),
    ],
)
async def test_an_order_is_not_closed_while_it_may_still_be_found(
    ticket: TicketView, words: str
) -> None:
    on = desk(ticket)
    await give_up(GiveUp("t1"), on.ports)
    assert (on.words, on.written) == ([("warn", words)], [])
    assert on.state.tickets == (ticket,)


async def test_a_lost_order_is_closed_with_what_was_known_of_it() -> None:
    doubt = f"{NOT_FOUND}: too many trades to search"
    other = unknown("t2", outcome=NO_TRACE)
    on = desk(other, unknown(outcome=doubt))
    await give_up(GiveUp("t1"), on.ports)
    left, closed = on.state.tickets
    assert left == other
    assert (closed.state, closed.outcome) == (TicketState.FAILED, f"{doubt}; closed by you")
    assert on.written[0][:2] == ("t1", StoredState.FAILED)


# -- what is left open ----------------------------------------------------------------------------


def test_a_page_that_cannot_be_read_at_all_keeps_the_time_of_the_one_before() -> None:
    look = TradeSearch(frozenset({"ref-t1"}))
    look.take([trade("a", 50.0)], 0)
    look.take([], 3)
    assert look.last_at == NOW - 50.0
    assert look.doubt == "some trades are unreadable"
    assert [look.is_past(Timestamp(NOW - age)) for age in (50.0, 49.0)] == [False, True]
    look.take([trade("b", 10.0)], 0)
    assert not look.in_order


async def test_a_book_that_does_not_answer_is_no_service_without_a_book() -> None:
    on = desk(rests())
    on.answers[OPEN_ORDERS] = UnreachableError("no answer", CALLED)
    with pytest.raises(UnreachableError):
        await look_at_books(on.state.tickets, on.ports)
    on.answers[OPEN_ORDERS] = NotFoundError(RefusalReason("none", ""), CALLED, status=404)
    assert await look_at_books(on.state.tickets, on.ports) == {}


async def test_the_person_hears_once_of_a_doubt_and_again_when_it_has_gone() -> None:
    doubted = unknown(**LATE, outcome=f"{NOT_FOUND}: some trades are unreadable")
    on = desk(doubted)
    assert doubted.is_lost
    left = await looked_up(on)
    assert left.outcome == NO_TRACE
    notices = [one for one in on.facts if isinstance(one, Noticed)]
    assert [(one.tone, one.text) for one in notices] == [("warn", f"{doubted.what}: {NO_TRACE}")]
