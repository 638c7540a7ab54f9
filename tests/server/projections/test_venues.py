"""What the service says of a venue's markets, orders and positions, field by field."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.agents.agents import ClosedPosition
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Match, Resting, Walk
from service_tui.engine.books.catalogue import condition_of, token_of, url_of
from service_tui.engine.books.orders import VenueOrder, VenueQuote
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import Note, OrderPlaced
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.projections import venues as venues_room
from service_tui.server.projections.present import market_body
from service_tui.server.projections.venues import (
    NO_IDS,
    Worth,
    chain_ids,
    ended_body,
    order_body,
    placed_body,
    sold_on_venue,
    top_of,
    venue_exit_value,
    venue_position_body,
    venue_positions,
    venue_quote_body,
    with_book,
    worth_of,
)
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

M1, M2, M3, M4 = (f"10000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3, 4))
"""Ids as the tape gives them: a book's quotes are drawn by them."""

YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
EVM, SOL = Venue.EVM, Venue.SOL
TIMES = (AT, AT)
READY, ACTIVE = PositionState.READY, PositionState.ACTIVE


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def traded(venue: Venue = EVM, **changes: Any) -> tuple[World, Market]:
    world = bare_world("ada", "bea", claimed=True)
    return world, listed(world, M1, home=venue, **changes)


def side(shares: int, cost: int, realized: int = 0, opened_s: float = -1.0) -> SidePosition:
    return SidePosition(Micros(shares), Micros(cost), Micros(realized), Timestamp(AT + opened_s))


def held(
    world: World,
    yes: SidePosition,
    no: SidePosition | None = None,
    *,
    venue: Venue = EVM,
    market_id: str = M1,
    **fields: Any,
) -> VenuePosition:
    position = Position("ada", market_id, yes, no or SidePosition())
    state = {"state": ACTIVE, "sources": ("news",), "neg_risk": False} | fields
    found = VenuePosition(position, f"Does {market_id}?", "politics", Timestamp(AT + HOUR), **state)
    key = ("ada", venue)
    account = world.venues.accounts.setdefault(key, VenueAccount("ada", venue))
    account.holdings[market_id] = found
    return found


def resting(**fields: Any) -> Resting:
    known: dict[str, Any] = {
        "order_id": "o7", "agent_id": "bea", "venue": EVM, "market_id": M1, "side": NO,
        "action": BUY, "order_type": OrderType.GTD, "price": Micros(300_000),
        "requested": Micros(20_000_000), "left": Micros(12_000_000),
        "reserved": Micros(3_600_000), "at": Timestamp(AT - 5), "world_at": AT,
        "expires_at": Timestamp(AT + 60), "shares": Micros(8_000_000),
        "note": Note(source="news", stop_loss_pct=0.1, take_profit_pct=0.4),
    }  # fmt: skip
    return Resting(**(known | fields))


# -- identities and books ------------------------------------------------------------------


def test_only_the_chain_venue_has_identities_and_tokens_where_the_kind_is_known() -> None:
    assert chain_ids(M1, EVM, neg_risk=True) == (
        condition_of(M1),
        token_of(M1, YES, neg_risk=True),
        token_of(M1, NO, neg_risk=True),
    )
    assert chain_ids(M1, EVM, neg_risk=None) == (condition_of(M1), None, None)
    assert chain_ids(M1, SOL, neg_risk=True) == NO_IDS


def test_the_top_of_a_book_is_its_best_prices_with_all_that_stands_there() -> None:
    world, _ = traded()
    book = world.venues.book(M1)
    bid, ask = book.tops(TIMES)
    assert bid is not None
    assert ask is not None
    top = top_of(book, (AT, Timestamp(AT + 4)))
    assert top.quote_ts == AT + 3
    assert top_of(book, TIMES)._asdict() == {
        "best_bid": bid.price / ONE,
        "best_ask": ask.price / ONE,
        "best_bid_size": bid.shares / ONE,
        "best_ask_size": ask.shares / ONE,
        "spread": (ask.price - bid.price) / ONE,
        "quote_ts": AT,
    }


@pytest.mark.parametrize("bids", [True, False])
def test_a_book_with_one_empty_side_has_no_spread(*, bids: bool) -> None:
    world, _ = traded()
    book = world.venues.book(M1)
    quotes = book.quotes(AT)
    gone = quotes.bids if bids else quotes.asks
    book.take(quotes.number, gone)
    top = top_of(book, TIMES)
    empty = (top.best_bid, top.best_bid_size) if bids else (top.best_ask, top.best_ask_size)
    other = (top.best_ask, top.best_ask_size) if bids else (top.best_bid, top.best_bid_size)
    assert empty == (None, None)
    assert None not in other
    assert top.spread is None


def test_a_market_of_a_venue_is_told_with_its_book() -> None:
    world, market = traded()
    world.world_at = Timestamp(AT + 1.25)
    body = market_body(market, world.world_at, sparkline=False, criteria=False)
    book = world.venues.book(M1)
    quotes, top = book.quotes(world.world_at), top_of(book, (AT, world.world_at))
    told = with_book(world, market, body).model_dump()
    changed = {name: value for name, value in told.items() if value != body.model_dump()[name]}
    assert changed == {
        "simulated": True,
        "fee_rate_bps": 400,
        "polymarket_id": condition_of(M1),
        "polymarket_token_id": token_of(M1, YES, neg_risk=False),
        "polymarket_no_token_id": token_of(M1, NO, neg_risk=False),
        "liquidity_tier": "tight",
        **top._asdict(),
        "tick_size": 0.01,
        "external_price_yes": round(quotes.external, 6),
        "divergence": round(round(quotes.external, 6) - 0.4, 6),
        "spread_cents": round((top.spread or 0) * 100, 4),
        "quote_age_seconds": 1.25,
        "is_orderbook_open": True,
    }


def test_a_closed_market_of_a_venue_is_told_without_prices() -> None:
    world, market = traded(SOL)
    body = market_body(market, Timestamp(AT + HOUR), sparkline=False, criteria=False)
    told = with_book(world, market, body)
    assert (told.fee_rate_bps, told.simulated, told.liquidity_tier) == (700, True, "tight")
    assert (told.polymarket_id, told.best_bid, told.is_orderbook_open) == (None, None, False)


def test_a_market_without_a_venue_is_told_as_it_is() -> None:
    world, market = traded(Venue.SIM)
    body = market_body(market, AT, sparkline=False, criteria=False)
    assert with_book(world, market, body) is body


# -- orders --------------------------------------------------------------------------------


def test_an_open_order_is_told_with_what_is_left_of_it() -> None:
    world, _ = traded()
    assert order_body(world, resting()).model_dump() == {
        "order_id": "o7",
        "trade_id": "o7",
        "market_id": M1,
        "question": f"Does {M1} end well?",
        "side": NO,
        "trade_type": BUY,
        "shares": 12.0,
        "price": 0.3,
        "cost_usdc": 3.6,
        "venue": EVM,
        "source": "news",
        "created_at": at(-5),
        "condition_id": condition_of(M1),
        "token_id_yes": token_of(M1, YES, neg_risk=False),
        "token_id_no": token_of(M1, NO, neg_risk=False),
        "order_type": OrderType.GTD,
        "expires_at": at(60),
        "shares_filled": 8.0,
        "stop_loss_pct": 0.1,
        "take_profit_pct": 0.4,
        "simulated": True,
    }


def test_an_open_sale_asks_for_what_is_left_at_its_price() -> None:
    world, _ = traded()
    sale = resting(
        action=SELL, reserved=Micros(0), left=Micros(10_000_010), expires_at=None, note=Note()
    )
    body = order_body(world, sale)
    assert (body.cost_usdc, body.expires_at, body.source) == (3.000003, None, None)


def placed(**fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "order_id": "o8", "agent_id": "ada", "venue": EVM, "market_id": M1, "side": NO,
        "action": BUY, "order_type": OrderType.FAK, "size": Micros(10_000_000),
        "price": Micros(0), "requested": Micros(25_000_000), "shares": Micros(20_000_000),
        "money": Micros(8_000_000), "fee": Micros(120_000), "rests": Micros(0),
        "reserved": Micros(0), "price_before": 0.38, "price_after": 0.42, "at": AT,
        "world_at": AT, "realized": Micros(0), "expires_at": Timestamp(0.0), "number": 1,
        "taken": (), "note": Note(),
    }  # fmt: skip
    return OrderPlaced(**(known | fields))


def wish(world: World, action: Action = BUY, size: int = 10_000_000) -> VenueOrder:
    return VenueOrder(world.agents["ada"], M1, NO, action, Micros(size), EVM)


def test_a_buy_that_was_filled_in_part_tells_what_was_not() -> None:
    world, _ = traded()
    told = placed_body(world, wish(world), placed(reserved=Micros(700_000))).model_dump()
    wanted = {
        "success": True,
        "trade_id": "o8",
        "order_id": "o8",
        "market_id": M1,
        "side": NO,
        "shares_bought": 20.0,
        "shares_sold": 0.0,
        "shares_requested": 25.0,
        "shares": 20.0,
        "status": "filled",
        "order_status": "matched",
        "fill_status": "partially_filled",
        "cost": 8.0,
        "new_price": 0.42,
        "price_before": 0.38,
        "avg_price": 0.4,
        "fee_rate_bps": 400,
        "fee": 0.12,
        "reserved": 0.7,
        "balance": 1_000.0,
        "simulated": True,
        "warnings": ("only a part was filled: 2 USDC were not",),
    }
    assert {name: told[name] for name in wanted} == wanted
    assert told["position"]["sim_balance"] == 10_000.0


def test_a_sale_that_was_filled_in_part_tells_the_shares_that_were_not() -> None:
    world, _ = traded()
    order = wish(world, SELL, 25_000_000)
    body = placed_body(world, order, placed(action=SELL))
    assert (body.shares_bought, body.shares_sold) == (0.0, 20.0)
    assert body.warnings == ("only a part was filled: 5 shares were not",)
    whole = placed_body(world, order, placed(action=SELL, requested=Micros(20_000_000)))
    assert (whole.fill_status, whole.warnings) == ("filled", ())


@pytest.mark.parametrize(
    ("left", "status", "warned"),
    [(4, "filled", False), (5, "partially_filled", True)],
)
def test_money_for_less_than_the_smallest_share_leaves_a_buy_whole(
    *, left: int, status: str, warned: bool
) -> None:
    # At 42 cents 0.00001 shares cost 4.2 micros.
    world, _ = traded()
    body = placed_body(world, wish(world), placed(money=Micros(10_000_000 - left)))
    assert (body.fill_status, bool(body.warnings)) == (status, warned)


@pytest.mark.parametrize(
    ("shares", "rests", "status", "order_status", "fill_status"),
    [
        (0, 25_000_000, "submitted", "live", "submitted"),
        (20_000_000, 5_000_000, "partially_filled", "live", "partially_filled"),
        (25_000_000, 0, "filled", "matched", "filled"),
    ],
)
def test_an_order_that_may_rest_is_open_until_nothing_of_it_rests(
    *, shares: int, rests: int, status: str, order_status: str, fill_status: str
) -> None:
    world, _ = traded()
    event = placed(order_type=OrderType.GTC, shares=Micros(shares), rests=Micros(rests))
    body = placed_body(world, wish(world), event)
    assert (body.status, body.order_status, body.fill_status) == (
        status,
        order_status,
        fill_status,
    )
    assert (body.avg_price is None) is (shares == 0)
    assert body.warnings == ()


def quoted(**fields: Any) -> VenueQuote:
    matches = (Match(Micros(1), Micros(1), Micros(1), None),)
    walked = Walk(matches, Micros(20_000_000), Micros(8_000_000), Micros(120_000), is_whole=False)
    known: dict[str, Any] = {
        "order_type": OrderType.FAK, "price": None, "walked": walked,
        "requested": Micros(25_000_000), "rests": Micros(0), "reserved": Micros(700_000),
        "price_before": 0.38, "price_after": 0.42,
    }  # fmt: skip
    return VenueQuote(**(known | fields))


@pytest.mark.parametrize(
    ("action", "bought", "sold", "balance", "warning"),
    [
        (BUY, 20.0, 0.0, 991.18, "only a part was filled: 2 USDC were not"),
        (SELL, 0.0, 20.0, 1_007.88, "only a part was filled: 5 shares were not"),
    ],
)
def test_a_quote_of_a_venue_tells_the_balance_after_it(
    *, action: Action, bought: float, sold: float, balance: float, warning: str
) -> None:
    world, _ = traded()
    order = wish(world, action, 10_000_000 if action is BUY else 25_000_000)
    told = venue_quote_body(world, order, quoted()).model_dump()
    wanted = {
        "success": True,
        "trade_id": None,
        "market_id": M1,
        "side": NO,
        "shares_bought": bought,
        "shares_sold": sold,
        "shares_requested": 25.0,
        "shares": 20.0,
        "order_status": "matched",
        "fill_status": "partially_filled",
        "cost": 8.0,
        "new_price": 0.42,
        "price_before": 0.38,
        "avg_price": 0.4,
        "fee_rate_bps": 400,
        "fee": 0.12,
        "reserved": 0.7,
        "balance": balance,
        "dry_run": True,
        "simulated": True,
        "warnings": (warning,),
    }
    assert {name: told[name] for name in wanted} == wanted
    assert told["position"]["sim_balance"] == 10_000.0


def test_a_quote_that_would_rest_is_live_and_one_that_meets_nothing_has_no_price() -> None:
    world, _ = traded()
    nothing = Walk((), Micros(0), Micros(0), Micros(0), is_whole=False)
    kind = OrderType.GTC
    rests = venue_quote_body(
        world, wish(world), quoted(walked=nothing, rests=Micros(25_000_000), order_type=kind)
    )
    assert (rests.order_status, rests.fill_status, rests.avg_price) == ("live", "submitted", None)
    assert rests.warnings == ()
    fails = venue_quote_body(world, wish(world), quoted(walked=nothing))
    assert fails.fill_status == "failed"
    whole = venue_quote_body(
        world, wish(world), quoted(walked=quoted().walked._replace(is_whole=True))
    )
    assert (whole.fill_status, whole.warnings) == ("filled", ())


# -- positions -----------------------------------------------------------------------------


def test_a_position_of_a_venue_is_told_with_both_sides() -> None:
    world, market = traded()
    holding = held(
        world,
        side(10_000_000, 3_000_000, 500_000, -30),
        side(5_000_000, 4_000_000, -200_000, -20),
    )
    agent, book = world.agents["ada"], world.venues.book(M1)
    price = book.mid(TIMES)
    values = int(10_000_000 * price), int(5_000_000 * (1 - price))
    floating = sum(values) - 7_000_000
    body = venue_position_body(world, agent, EVM, holding)
    assert body.model_dump(exclude={"sides"}) == {
        "market_id": M1,
        "question": f"Does {M1}?",
        "shares_yes": 10.0,
        "shares_no": 5.0,
        "current_price": price,
        "current_value": sum(values) / 1e6,
        "cost_basis": 7.0,
        "avg_cost": pytest.approx(7 / 15),
        "pnl": pytest.approx((floating + 300_000) / 1e6),
        "realized_pnl": 0.3,
        "unrealized_pnl": floating / 1e6,
        "venue": EVM,
        "currency": "USDC",
        "status": "active",
        "lifecycle": "active",
        "outcome": None,
        "resolves_at": at(HOUR),
        "resolved_at": None,
        "sources": ("news",),
        "sim_balance": None,
        "redeemable": False,
        "redeemable_side": None,
        "wallet": None,
        "payout_per_yes": None,
        "voided": False,
        "neg_risk": False,
        "condition_id": condition_of(M1),
        "token_id_yes": token_of(M1, YES, neg_risk=False),
        "token_id_no": token_of(M1, NO, neg_risk=False),
        **top_of(book, TIMES)._asdict(),
        "url": url_of(market.listing),
        "simulated": True,
    }
    yes, no = (one.model_dump() for one in body.sides)
    assert yes == {
        "side": "yes",
        "shares": 10.0,
        "cost_basis": 3.0,
        "avg_cost": 0.3,
        "mark_price": price,
        "current_value": values[0] / 1e6,
        "exit_value": venue_exit_value(world, agent, holding, YES) / 1e6,
        "realized_pnl": 0.5,
        "opened_at": at(-30),
        "unrealized_pnl": (values[0] - 3_000_000) / 1e6,
        "exit_together": None,
    }
    assert (no["side"], no["shares"], no["mark_price"]) == ("no", 5.0, 1.0 - price)
    assert (no["realized_pnl"], no["opened_at"], no["cost_basis"]) == (-0.2, at(-20), 4.0)
    assert 0 < no["exit_value"] < no["current_value"]


def settled(world: World, *, outcome: Outcome, **fields: Any) -> VenuePosition:
    known = {"state": READY, "outcome": outcome, "resolved_at": Timestamp(AT + 9)} | fields
    return held(world, side(10_000_000, 3_000_000, 500_000), side(5_000_000, 4_000_000), **known)


@pytest.mark.parametrize(
    ("outcome", "value", "word"), [(ENDED_YES, 10.0, "yes"), (ENDED_NO, 5.0, "no")]
)
def test_a_settled_position_is_worth_the_payout_that_waits(
    outcome: Outcome, value: float, word: str
) -> None:
    world, _ = traded()
    holding = settled(world, outcome=outcome)
    del world.markets[M1]
    body = venue_position_body(world, world.agents["ada"], EVM, holding)
    assert (body.status, body.lifecycle, body.outcome) == (
        "won",
        "ready_to_redeem",
        outcome == ENDED_YES,
    )
    assert (body.redeemable, body.redeemable_side) == (True, word)
    assert (body.current_price, body.current_value) == (outcome.part, value)
    assert (body.resolved_at, body.url, body.best_bid) == (at(9), None, None)
    assert body.pnl == pytest.approx(value - 7.0 + 0.5)
    exits = {one.side: one.exit_value for one in body.sides}
    assert exits == {"yes": 0.0, "no": 0.0} | {word: value}


def test_who_holds_only_the_other_side_has_lost() -> None:
    world, _ = traded()
    lost = held(world, side(1_000_000, 1), state=READY, outcome=ENDED_NO)
    body = venue_position_body(world, world.agents["ada"], EVM, lost)
    assert (body.status, body.redeemable, body.redeemable_side) == ("lost", False, None)
    assert body.current_value == 0.0


def test_a_position_whose_window_has_ended_is_closed_and_sold_no_more() -> None:
    world, _ = traded()
    holding = held(world, side(1_000_000, 1), state=PositionState.AWAITING)
    body = venue_position_body(world, world.agents["ada"], EVM, holding)
    assert (body.status, body.lifecycle, body.best_ask) == ("closed", "awaiting_settlement", None)
    assert venue_exit_value(world, world.agents["ada"], holding, YES) == 0


def test_what_a_side_is_worth_adds_up_to_the_micro() -> None:
    world, _ = traded()
    open_one = held(world, side(10_000_001, 3_000_000, 500_000))
    assert worth_of(open_one, YES, 0.25) == Worth(2_500_000, 500_000, -500_000)
    won = settled(world, outcome=ENDED_YES)
    assert worth_of(won, YES, 0.25) == Worth(10_000_000, 7_500_000, 0)
    assert worth_of(won, NO, 0.25) == Worth(0, -4_000_000, 0)
    # Part of the payout was taken on the chain: only the rest still waits.
    won.burned_yes = Micros(4_000_000)
    assert worth_of(won, YES, 0.25) == Worth(6_000_000, 7_500_000, 0)
    won.state = PositionState.REDEEMED
    assert worth_of(won, YES, 0.25) == Worth(0, 7_500_000, 0)


def test_positions_are_told_by_state_the_largest_value_first() -> None:
    world, _ = traded()
    listed(world, M2, home=EVM)
    listed(world, M3, home=EVM)
    held(world, side(1_000_000, 1))
    held(world, side(9_000_000, 1), market_id=M2)
    held(world, side(0, 0, 5), market_id=M3)
    held(world, side(5_000_000, 1), market_id=M4, state=READY, outcome=ENDED_YES)
    agent = world.agents["ada"]
    assert ids(venue_positions(world, agent, EVM, frozenset({ACTIVE}))) == [M2, M1]
    every = frozenset(PositionState)
    assert ids(venue_positions(world, agent, EVM, every)) == [M4, M2, M1]
    assert venue_positions(world, agent, SOL, every) == []


def ids(bodies: list[Any]) -> list[str]:
    return [one.market_id for one in bodies]


def test_a_side_sold_whole_on_a_venue_is_told_with_what_it_brought() -> None:
    world, _ = traded()
    held(
        world,
        side(1_000_000, 1),
        side(0, 0, -900_000, -60),
        resolved_at=Timestamp(AT + 3),
        neg_risk=True,
    )
    held(world, side(0, 0, 7, -9), market_id=M4, state=READY, outcome=ENDED_YES)
    agent = world.agents["ada"]
    price = world.venues.book(M1).mid(TIMES)
    (sold,) = sold_on_venue(world, agent, EVM, settled=False)
    assert sold.model_dump(exclude={"sides"}, exclude_defaults=True) == {
        "market_id": M1,
        "question": f"Does {M1}?",
        "current_price": price,
        "pnl": -0.9,
        "realized_pnl": -0.9,
        "venue": EVM,
        "currency": "USDC",
        "status": "sold",
        "resolves_at": at(HOUR),
        "resolved_at": at(3),
        "sources": ("news",),
        "neg_risk": True,
        "condition_id": condition_of(M1),
        "token_id_yes": token_of(M1, YES, neg_risk=True),
        "token_id_no": token_of(M1, NO, neg_risk=True),
        "simulated": True,
    }
    assert [(one.side, one.realized_pnl, one.mark_price) for one in sold.sides] == [
        ("no", -0.9, 1.0 - price)
    ]
    (done,) = sold_on_venue(world, agent, EVM, settled=True)
    assert (done.market_id, done.outcome, done.lifecycle) == (M4, True, None)
    assert [(one.side, one.mark_price) for one in done.sides] == [("yes", 1.0)]


@pytest.mark.parametrize(
    ("outcome", "shares", "lifecycle"),
    [
        (ENDED_YES, 1_000_000, "redeemed"),
        (ENDED_NO, 1_000_000, "ready_to_redeem"),
        (Outcome.at(0.35), 1_000_000, "redeemed"),
        (VOID, 1_000_000, "redeemed"),
        (ENDED_YES, 0, None),
    ],
)
def test_an_ended_market_of_the_journal_is_told_as_of_its_venue(
    outcome: Outcome, shares: int, lifecycle: str | None
) -> None:
    closed = ClosedPosition(
        market_id="m9", question="Did it?", category="sports", side=YES, shares=Micros(shares),
        cost=Micros(1), payout=Micros(1), realized=Micros(1), outcome=outcome,
        opened_at=AT, resolved_at=AT,
    )  # fmt: skip
    body = ended_body(closed, EVM)
    assert (body.venue, body.currency, body.lifecycle) == (EVM, "USDC", lifecycle)
    assert (body.condition_id, body.token_id_yes) == (condition_of("m9"), None)
    assert body.simulated
    assert ended_body(closed, SOL).condition_id is None
    on_sim = ended_body(closed, Venue.SIM)
    assert (on_sim.lifecycle, on_sim.simulated) == (None, False)


def test_what_an_exit_would_bring_is_asked_of_the_book_by_both_clocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _ = traded()
    world.at, world.world_at = Timestamp(AT + 3), Timestamp(AT + 70)
    asked: list[Any] = []
    monkeypatch.setattr(
        venues_room, "exit_value", lambda _, held, times: asked.append((held.side, times))
    )
    holding = held(world, side(1_000_000, 1))
    venue_exit_value(world, world.agents["ada"], holding, YES)
    assert asked == [(YES, (AT + 3, AT + 70))]
