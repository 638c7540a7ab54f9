"""Accounts on the real venues: what each event moves, counts and leaves."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.book import Resting
from service_tui.engine.books.venues import (
    SETTLED_KEPT,
    Traded,
    VenueAccount,
    VenuePosition,
)
from service_tui.engine.errors import MarketNotFound
from service_tui.engine.events import (
    NO_NOTE,
    MarkedRedeemed,
    MarketResolved,
    Note,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    PositionRedeemed,
)
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.tape.slots import SLOT_BY_INDEX
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Action, OrderEnd, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

MARKET = "10000000-0000-4000-8000-000000000001"
YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
EVM, SOL = Venue.EVM, Venue.SOL
ACTIVE, AWAITING = PositionState.ACTIVE, PositionState.AWAITING
READY, REDEEMED = PositionState.READY, PositionState.REDEEMED
DAY = int(AT // 86_400)
TIMES = (AT, AT)


def traded() -> World:
    world = bare_world("ada", "bea")
    listed(world, MARKET, home=EVM)
    return world


def balances(world: World) -> dict[str, float]:
    """What each account of the venue has, against what it began with; only what moved."""
    began = {"agent:ada": 1_000, "agent:bea": 1_000, "issuer": -2_000}
    names = [*began, "orders", "venue", "fees"]
    found = {name: world.ledger.balance(f"{name}:evm_venue") / ONE for name in names}
    moved = {name: held - began.get(name, 0) for name, held in found.items()}
    return {name: round(much, 6) for name, much in moved.items() if much}


def placed(**fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "order_id": "o1", "agent_id": "ada", "venue": EVM, "market_id": MARKET, "side": YES,
        "action": BUY, "order_type": OrderType.GTC, "size": Micros(60 * ONE),
        "price": Micros(500_000), "requested": Micros(120 * ONE), "shares": Micros(40 * ONE),
        "money": Micros(19 * ONE), "fee": Micros(300_000), "rests": Micros(80 * ONE),
        "reserved": Micros(40 * ONE), "price_before": 0.4, "price_after": 0.5, "at": AT,
        "world_at": AT, "realized": Micros(0), "expires_at": Timestamp(0.0), "number": 5,
        "taken": ((Micros(480_000), Micros(40 * ONE)),),
        "note": Note("why", "sdk:p", "dips"),
    }  # fmt: skip
    return OrderPlaced(**(known | fields))


def filled(shares: int, money: int, **fields: Any) -> OrderFilled:
    known: dict[str, Any] = {
        "order_id": "o1", "agent_id": "ada", "market_id": MARKET, "shares": Micros(shares * ONE),
        "money": Micros(money * ONE), "realized": Micros(0), "at": Timestamp(AT + 9),
        "world_at": AT, "number": 5, "taken": (),
    }  # fmt: skip
    return OrderFilled(**(known | fields))


def ended(returned: int, at: float = AT + 20) -> OrderEnded:
    return OrderEnded(
        "o1", "ada", MARKET, OrderEnd.CANCELLED, Timestamp(at), AT, Micros(0), Micros(0),
        Micros(0), Micros(returned * ONE),
    )  # fmt: skip


# -- orders --------------------------------------------------------------------------------


def test_a_buy_takes_its_money_and_keeps_what_rests_apart() -> None:
    world = traded()
    event = placed()
    world.apply(event)
    assert balances(world) == {"agent:ada": -59.3, "orders": 40.0, "venue": 19.0, "fees": 0.3}
    venues, agent = world.venues, world.agents["ada"]
    account = venues.account("ada", EVM)
    holding = account.holdings[MARKET]
    assert holding == VenuePosition(
        Position(
            "ada",
            MARKET,
            SidePosition(
                Micros(40 * ONE), Micros(19 * ONE + 300_000), Micros(0), opened_at=AT, bought_at=AT
            ),
        ),
        f"Does {MARKET} end well?",
        "politics",
        Timestamp(AT + HOUR),
        sources=("sdk:p",),
    )
    assert venues.spent_today("ada", AT) == 59 * ONE
    assert (agent.day_buys, agent.day_resting, agent.day_spent) == (1, 0, 59 * ONE)
    assert agent.skills_spent == {"dips": 59 * ONE}
    assert (agent.trades_count, agent.last_trade_at, account.trades_count) == (1, AT, 1)
    assert (venues.order_count, venues.book(MARKET).taken) == (1, {480_000: 40 * ONE})
    (traded_one,) = venues.traded
    money = Micros(19 * ONE + 300_000)
    assert traded_one == Traded(event, EVM, YES, BUY, money, Micros(40 * ONE), event.note)


def test_a_buy_that_only_rests_is_no_trade_yet() -> None:
    world = traded()
    nothing: dict[str, Any] = {"shares": Micros(0), "money": Micros(0), "fee": Micros(0)}
    world.apply(placed(taken=(), **nothing))
    agent = world.agents["ada"]
    assert (agent.trades_count, agent.day_buys, agent.day_resting) == (0, 0, 1)
    assert (agent.last_trade_at, world.venues.traded) == (None, [])
    assert ("ada", EVM) not in world.venues.accounts
    assert world.venues.book(MARKET).orders["o1"] == Resting(
        "o1", "ada", EVM, MARKET, YES, BUY, OrderType.GTC, Micros(500_000), Micros(120 * ONE),
        Micros(80 * ONE), Micros(40 * ONE), AT, AT, note=Note("why", "sdk:p", "dips"),
    )  # fmt: skip
    world.apply(filled(10, 5))
    assert (agent.trades_count, agent.day_buys, agent.day_resting) == (1, 1, 0)
    assert world.venues.account("ada", EVM).trades_count == 1
    assert agent.last_trade_at == AT + 9


def test_a_fill_takes_from_what_was_kept_and_counts_once() -> None:
    world = traded()
    world.apply(placed())
    event = filled(30, 15, realized=Micros(7), taken=((Micros(470_000), Micros(30 * ONE)),))
    world.apply(event)
    assert balances(world) == {"agent:ada": -59.3, "orders": 25.0, "venue": 34.0, "fees": 0.3}
    order = world.venues.book(MARKET).orders["o1"]
    assert (order.left, order.shares, order.reserved) == (50 * ONE, 70 * ONE, 25 * ONE)
    assert (order.money, order.realized) == (34 * ONE, 7)
    held = world.venues.account("ada", EVM).holdings[MARKET]
    assert (held.position.yes.shares, held.position.yes.cost) == (70 * ONE, 34 * ONE + 300_000)
    assert (held.position.yes.bought_at, held.sources) == (AT + 9, ("sdk:p",))
    assert (world.agents["ada"].trades_count, world.agents["ada"].day_buys) == (1, 1)
    assert world.venues.book(MARKET).taken[Micros(470_000)] == 30 * ONE
    # Its first fill has told the monitors of its thresholds.
    assert world.venues.traded[-1] == Traded(
        event, EVM, YES, BUY, Micros(15 * ONE), Micros(70 * ONE), NO_NOTE
    )


def test_another_source_is_added_and_the_same_one_is_not() -> None:
    world = traded()
    for order_id, source in (("o1", "sdk:p"), ("o2", "sdk:q"), ("o3", "sdk:p"), ("o4", "")):
        world.apply(placed(order_id=order_id, note=Note(source=source)))
    world.apply(placed(order_id="o5", action=SELL, shares=Micros(ONE), note=Note(source="sdk:r")))
    assert world.venues.account("ada", EVM).holdings[MARKET].sources == ("sdk:p", "sdk:q")


def test_the_source_of_a_buy_that_rested_is_known_from_its_first_fill_on() -> None:
    world = traded()
    nothing: dict[str, Any] = {"shares": Micros(0), "money": Micros(0), "fee": Micros(0)}
    for order_id, source in (("o1", "sdk:p"), ("o2", "sdk:q"), ("o3", "")):
        world.apply(placed(order_id=order_id, taken=(), note=Note(source=source), **nothing))
    for order_id in ("o1", "o1", "o2", "o3"):
        world.apply(filled(2, 1, order_id=order_id))
    assert world.venues.account("ada", EVM).holdings[MARKET].sources == ("sdk:p", "sdk:q")


def test_a_sale_that_rested_adds_no_source() -> None:
    world = traded()
    world.apply(placed())
    order = placed(
        order_id="o2", action=SELL, shares=Micros(0), money=Micros(0), fee=Micros(0), taken=(),
        reserved=Micros(0), note=Note(source="sdk:s"),
    )  # fmt: skip
    world.apply(order)
    world.apply(filled(2, 1, order_id="o2"))
    account = world.venues.account("ada", EVM)
    assert account.holdings[MARKET].sources == ("sdk:p",)
    assert account.holdings[MARKET].position.yes.shares == 38 * ONE
    # What is left of a resting sale keeps shares, and no money.
    left = world.venues.book(MARKET).orders["o2"]
    assert (left.left, left.reserved, left.money) == (78 * ONE, 0, ONE)


def test_an_order_that_met_some_and_rests_keeps_what_it_got() -> None:
    world = traded()
    world.apply(placed(expires_at=Timestamp(AT + 600), realized=Micros(7)))
    assert world.venues.book(MARKET).orders["o1"] == Resting(
        "o1", "ada", EVM, MARKET, YES, BUY, OrderType.GTC, Micros(500_000), Micros(120 * ONE),
        Micros(80 * ONE), Micros(40 * ONE), AT, AT, Timestamp(AT + 600), Micros(40 * ONE),
        Micros(19 * ONE), Micros(300_000), Micros(7), Note("why", "sdk:p", "dips"),
    )  # fmt: skip


def test_a_position_knows_whether_its_question_is_one_of_an_event() -> None:
    world = traded()
    outcome = next(one for one in SLOT_BY_INDEX.values() if one.event is not None)
    listed(world, "m2", home=EVM, slot=outcome.index)
    for order_id, market_id in (("o1", MARKET), ("o2", "m2")):
        world.apply(placed(order_id=order_id, market_id=market_id))
    holdings = world.venues.account("ada", EVM).holdings
    assert {key: one.neg_risk for key, one in holdings.items()} == {MARKET: False, "m2": True}


@pytest.mark.parametrize(("realized", "won", "lost"), [(1, 1, 0), (0, 0, 0), (-1, 0, 1)])
def test_a_sale_wins_or_loses_from_a_micro_on(realized: int, won: int, lost: int) -> None:
    world = traded()
    world.apply(placed())
    sale = placed(
        order_id="o2", action=SELL, shares=Micros(10 * ONE), rests=Micros(0), reserved=Micros(0),
        realized=Micros(realized),
    )  # fmt: skip
    world.apply(sale)
    account = world.venues.account("ada", EVM)
    assert (account.realized, account.win_count, account.loss_count) == (realized, won, lost)


def test_what_an_order_gives_back_counts_against_no_day() -> None:
    world = traded()
    world.apply(placed())
    world.apply(ended(40))
    agent = world.agents["ada"]
    assert balances(world) == {"agent:ada": -19.3, "venue": 19.0, "fees": 0.3}
    assert world.venues.spent_today("ada", AT) == 19 * ONE
    assert (agent.day_spent, agent.skills_spent) == (19 * ONE, {"dips": 19 * ONE})
    assert world.venues.book(MARKET).orders == {}
    assert agent.day_buys == 1


def test_what_was_promised_yesterday_is_not_given_back_to_today() -> None:
    world = traded()
    world.apply(placed(at=Timestamp(AT - 86_400)))
    world.apply(placed(order_id="o2"))
    world.apply(ended(40))
    assert world.venues.spent_today("ada", AT) == 59 * ONE
    # A clock that goes back over midnight goes on counting, further back it begins anew.
    assert world.venues.spent_today("ada", Timestamp(AT - 86_400)) == 59 * ONE
    assert world.venues.spent_today("ada", Timestamp(AT - 2 * 86_400)) == 0
    assert world.venues.spent_today("bea", AT) == 0
    assert world.agents["ada"].skills_spent == {"dips": 59 * ONE}


def test_a_sale_brings_money_less_its_fee_and_its_result() -> None:
    world = traded()
    world.apply(placed(rests=Micros(0), reserved=Micros(0)))
    sale = placed(
        order_id="o2", action=SELL, shares=Micros(10 * ONE), money=Micros(6 * ONE),
        fee=Micros(100_000), rests=Micros(0), reserved=Micros(0), realized=Micros(1_075_000),
    )  # fmt: skip
    world.apply(sale)
    account = world.venues.account("ada", EVM)
    assert balances(world) == {"agent:ada": -13.4, "venue": 13.0, "fees": 0.4}
    assert (account.realized, account.win_count, account.loss_count) == (1_075_000, 1, 0)
    assert account.holdings[MARKET].position.yes.shares == 30 * ONE
    assert world.venues.traded[-1].money == 5_900_000
    # A sale is no buy of the day, whatever it brings.
    assert (world.agents["ada"].day_buys, world.venues.spent_today("ada", AT)) == (1, 19 * ONE)
    world.apply(sale._replace(order_id="o3", realized=Micros(-5)))
    world.apply(sale._replace(order_id="o4", realized=Micros(0)))
    assert (account.win_count, account.loss_count, account.trades_count) == (1, 1, 4)


def test_shares_promised_to_open_sales_are_not_free() -> None:
    world = traded()
    world.apply(placed(rests=Micros(0), reserved=Micros(0)))
    for order_id, side, action, who in (
        ("o2", YES, SELL, "ada"), ("o3", NO, SELL, "ada"), ("o4", YES, BUY, "ada"),
        ("o5", YES, SELL, "bea"),
    ):  # fmt: skip
        world.venues.book(MARKET).orders[order_id] = Resting(
            order_id, who, EVM, MARKET, side, action, OrderType.GTC, Micros(1), Micros(9),
            Micros(9 * ONE), Micros(2 * ONE), Timestamp(AT - int(order_id[1])), AT,
        )  # fmt: skip
    venues = world.venues
    assert venues.free_shares("ada", MARKET, YES) == 31 * ONE
    assert [one.order_id for one in venues.orders("ada")] == ["o4", "o3", "o2"]
    assert venues.orders("ada", SOL) == []
    assert venues.reserved("ada", EVM) == 6 * ONE
    assert venues.reserved("bea", EVM) == 2 * ONE


MIRROR: Final = Note(signal_data={"tx_hash": "0x1"})


def test_a_mirror_counts_with_its_fee_and_with_what_waits() -> None:
    world = traded()
    world.apply(placed(note=MIRROR))
    mirrors = world.venues.mirrors
    assert mirrors.spent_today("ada", EVM, AT) == 59 * ONE + 300_000
    assert mirrors.spent_today("ada", SOL, AT) == mirrors.spent_today("bea", EVM, AT) == 0
    world.apply(filled(30, 15))
    assert mirrors.spent_today("ada", EVM, AT) == 59 * ONE + 300_000
    # What never was spent comes back to the day of the order, whenever it ends.
    world.apply(ended(25, AT + 2 * 86_400))
    assert mirrors.spent_today("ada", EVM, AT) == 34 * ONE + 300_000
    sale = placed(
        order_id="o2", action=SELL, shares=Micros(9 * ONE), rests=Micros(0), reserved=Micros(0),
        note=MIRROR,
    )  # fmt: skip
    world.apply(sale)
    assert mirrors.spent_today("ada", EVM, AT) == 34 * ONE + 300_000


def test_every_trade_counts_once_for_its_agent_and_its_account() -> None:
    world = traded()
    nothing: dict[str, Any] = {"shares": Micros(0), "money": Micros(0), "fee": Micros(0)}
    world.apply(placed())
    world.apply(placed(order_id="o2"))
    for order_id in ("o3", "o4"):
        world.apply(placed(order_id=order_id, taken=(), **nothing))
        world.apply(filled(2, 1, order_id=order_id, at=Timestamp(AT + 30)))
        world.apply(filled(2, 1, order_id=order_id, at=Timestamp(AT + 40)))
    agent, account = world.agents["ada"], world.venues.account("ada", EVM)
    assert (agent.trades_count, account.trades_count, world.venues.order_count) == (4, 4, 4)
    assert agent.last_trade_at == AT + 40
    assert (agent.day_buys, agent.day_resting) == (4, 0)
    assert world.agents["bea"].trades_count == 0
    # What the quotes lose adds up as well.
    assert world.venues.book(MARKET).taken == {480_000: 80 * ONE}


def test_the_thresholds_of_an_order_are_told_with_its_first_shares_alone() -> None:
    world = traded()
    nothing: dict[str, Any] = {"shares": Micros(0), "money": Micros(0), "fee": Micros(0)}
    note = Note("why", stop_loss_pct=0.1)
    world.apply(placed(taken=(), note=note, **nothing))
    world.apply(filled(2, 1))
    world.apply(filled(2, 1))
    assert [one.note for one in world.venues.traded] == [note, NO_NOTE]
    assert [one.left for one in world.venues.traded] == [2 * ONE, 4 * ONE]


def test_a_fill_is_of_the_refresh_that_it_names() -> None:
    world = traded()
    world.apply(placed())
    world.apply(filled(2, 1, number=6, taken=((Micros(490_000), Micros(2 * ONE)),)))
    book = world.venues.book(MARKET)
    assert (book.taken_number, book.taken) == (6, {490_000: 2 * ONE})


def test_the_shares_that_are_sold_have_earned_what_they_brought() -> None:
    world = traded()
    world.apply(placed(rests=Micros(0), reserved=Micros(0), fee=Micros(0)))
    sale = placed(
        order_id="o2", action=SELL, shares=Micros(10 * ONE), money=Micros(6 * ONE),
        fee=Micros(100_000), rests=Micros(0), reserved=Micros(0), realized=Micros(1_150_000),
    )  # fmt: skip
    world.apply(sale)
    account = world.venues.account("ada", EVM)
    side = account.holdings[MARKET].position.yes
    # A quarter of 19 dollars was paid for them, and 5.90 is what they brought.
    assert (side.shares, side.cost, side.realized) == (30 * ONE, 14_250_000, 1_150_000)
    for order_id in ("o3", "o4"):
        world.apply(sale._replace(order_id=order_id, realized=Micros(-7)))
    assert (account.realized, account.win_count, account.loss_count) == (1_149_986, 1, 2)


def test_a_day_never_spent_less_than_nothing() -> None:
    world = traded()
    world.apply(placed(money=Micros(0), reserved=Micros(0), fee=Micros(0), shares=Micros(0)))
    world.ledger.transfer("agent:ada:evm_venue", "orders:evm_venue", Micros(9 * ONE))
    world.apply(ended(9))
    assert (world.venues.spent_today("ada", AT), world.agents["ada"].day_spent) == (0, 0)


def test_orders_of_one_moment_stand_in_the_order_of_their_numbers() -> None:
    world = traded()
    for number in (10, 9, 100, 2):
        world.apply(placed(order_id=f"o{number}"))
    assert [one.order_id for one in world.venues.orders("ada")] == ["o2", "o9", "o10", "o100"]


def test_a_market_that_is_not_there_has_no_book() -> None:
    with pytest.raises(MarketNotFound, match="m9"):
        traded().venues.book("m9")


# -- outcomes ------------------------------------------------------------------------------


def held(world: World, market_id: str = MARKET, who: str = "ada", **fields: Any) -> VenuePosition:
    """8 shares of YES for 2, and 5 of NO for 3."""
    venue = fields.pop("venue", EVM)
    position = Position(who, market_id)
    position.yes = SidePosition(Micros(8 * ONE), Micros(2 * ONE), Micros(9), opened_at=AT)
    position.no = SidePosition(Micros(5 * ONE), Micros(3 * ONE), opened_at=AT)
    known: dict[str, Any] = {"question": "Q?", "category": "c", "resolves_at": Timestamp(AT + 60)}
    found = VenuePosition(position, **(known | fields))
    account = world.venues.accounts.setdefault((who, venue), VenueAccount(who, venue))
    account.holdings[market_id] = found
    return found


def resolved(outcome: Outcome, market_id: str = MARKET) -> MarketResolved:
    return MarketResolved(market_id, Timestamp(AT + 70), Timestamp(AT + 71), outcome, (), Micros(0))


@pytest.mark.parametrize(
    ("outcome", "payout", "realized", "won"),
    [
        (ENDED_YES, 8, 3, 1),
        (ENDED_NO, 5, 0, 0),
        (Outcome.at(0.25), 5.75, 0.75, 1),
        (VOID, 5, 0, 0),
    ],
)
def test_an_outcome_makes_a_position_ready_and_counts_it(
    outcome: Outcome, payout: float, realized: float, won: int
) -> None:
    world = traded()
    holding = held(world)
    other = held(world, "m2")
    world.venues.book(MARKET)
    world.venues.settle(resolved(outcome))
    assert (holding.state, holding.outcome) == (READY, outcome)
    assert (holding.resolved_at, holding.ready_at) == (AT + 71, AT + 70)
    assert (holding.payout(), holding.is_redeemable()) == (payout * ONE, True)
    account = world.venues.account("ada", EVM)
    assert (account.realized, account.win_count, account.loss_count) == (realized * ONE, won, 0)
    assert account.redeemable_count() == 1
    assert world.venues.payable == {"ada": {MARKET}}
    assert (other.state, other.outcome) == (ACTIVE, None)
    assert MARKET not in world.venues.books


def test_a_lost_position_counts_as_a_loss_and_waits_for_nothing() -> None:
    world = traded()
    holding = held(world)
    holding.position.no.shares = Micros(0)
    world.venues.settle(resolved(outcome=ENDED_NO))
    account = world.venues.account("ada", EVM)
    assert (account.realized, account.win_count, account.loss_count) == (-5 * ONE, 0, 1)
    assert (world.venues.payable, account.redeemable_count()) == ({}, 0)


def redeemed(tx_hash: str = "", side: Side = YES, shares: int = 8) -> PositionRedeemed:
    return PositionRedeemed(
        "ada", EVM, MARKET, side, Micros(shares * ONE), Micros(2 * ONE), Micros(8 * ONE),
        Timestamp(AT + 80), AT, tx_hash,
    )  # fmt: skip


def test_the_services_redemption_pays_and_is_done() -> None:
    world = traded()
    holding = held(world)
    world.venues.settle(resolved(outcome=ENDED_YES))
    world.apply(redeemed())
    assert balances(world) == {"agent:ada": 8.0, "venue": -8.0}
    assert (holding.state, holding.paid, holding.redeemed_at) == (REDEEMED, 8 * ONE, AT + 80)
    assert (holding.payout(), holding.on_chain(YES), holding.tx_hash) == (0, 0, "")
    assert world.venues.payable == {}


def test_a_redemption_on_the_chain_pays_and_waits_for_its_report() -> None:
    world = traded()
    holding = held(world)
    world.venues.settle(resolved(outcome=ENDED_YES))
    world.apply(redeemed("0xa", NO, 2))
    assert (holding.on_chain(NO), holding.on_chain(YES)) == (3 * ONE, 8 * ONE)
    assert world.venues.payable == {"ada": {MARKET}}
    world.apply(redeemed("0xb"))
    assert (holding.state, holding.tx_hash, holding.paid) == (READY, "0xb", 16 * ONE)
    assert (holding.on_chain(YES), holding.payout(), holding.is_redeemable()) == (0, 0, True)
    assert world.venues.payable == {}
    world.apply(MarkedRedeemed("ada", EVM, MARKET, YES, AT, AT, "0xc"))
    assert (holding.state, holding.tx_hash) == (REDEEMED, "0xc")


def test_a_mark_without_a_hash_keeps_the_one_that_is_known() -> None:
    world = traded()
    holding = held(world, state=READY, outcome=ENDED_YES, tx_hash="0xa")
    world.apply(MarkedRedeemed("ada", EVM, MARKET, YES, AT, AT, ""))
    assert (holding.state, holding.tx_hash) == (REDEEMED, "0xa")


def test_the_other_venue_pays_on_a_page_of_its_own() -> None:
    world = traded()
    held(world, venue=SOL)
    world.venues.settle(resolved(outcome=ENDED_YES))
    assert world.venues.payable == {}
    assert world.venues.account("ada", SOL).redeemable_count() == 1


def test_windows_end_at_their_time_and_only_then() -> None:
    world = traded()
    soon, late = held(world), held(world, "m2", resolves_at=Timestamp(AT + 90))
    done = held(world, "m3", "bea", state=READY, outcome=ENDED_YES)
    for at_s, states in ((59, (ACTIVE, ACTIVE)), (60, (AWAITING, ACTIVE)), (89, (AWAITING, ACTIVE)),
                         (90, (AWAITING, AWAITING))):  # fmt: skip
        world.venues.close_windows(Timestamp(AT + at_s))
        assert (soon.state, late.state, done.state) == (*states, READY)
    # One that is bought since is looked at as well.
    world.apply(placed(agent_id="bea", rests=Micros(0), reserved=Micros(0)))
    world.venues.close_windows(Timestamp(AT + HOUR))
    assert world.venues.account("bea", EVM).holdings[MARKET].state is AWAITING


def test_a_longer_market_that_is_bought_since_makes_nobody_wait_for_its_end() -> None:
    world = traded()
    listed(world, "m2", home=EVM, resolves_at=Timestamp(AT + 9 * HOUR))
    world.apply(placed())
    world.venues.close_windows(AT)
    world.apply(placed(order_id="o2", market_id="m2"))
    world.venues.close_windows(Timestamp(AT + HOUR))
    states = {key: one.state for key, one in world.venues.account("ada", EVM).holdings.items()}
    assert states == {MARKET: AWAITING, "m2": ACTIVE}


def test_outcomes_add_up_in_their_account() -> None:
    world = traded()
    for market_id, shares in (("m1", 8), ("m2", 8), ("m3", 0), ("m4", 0)):
        listed(world, market_id, home=EVM)
        held(world, market_id).position.yes.shares = Micros(shares * ONE)
        world.venues.settle(resolved(ENDED_YES, market_id))
    account = world.venues.account("ada", EVM)
    assert (account.win_count, account.loss_count, account.realized) == (2, 2, -4 * ONE)
    assert world.venues.payable == {"ada": {"m1", "m2"}}


@pytest.mark.parametrize("count", [1, SETTLED_KEPT // 2 + 2, SETTLED_KEPT - 1])
def test_fewer_old_positions_than_are_kept_all_stay(count: int) -> None:
    world = traded()
    for number in range(count):
        held(world, f"m{number}", state=REDEEMED, outcome=ENDED_YES, resolved_at=AT)
    listed(world, "last", home=EVM)
    held(world, "last", state=AWAITING).position.yes.shares = Micros(0)
    world.venues.settle(resolved(ENDED_YES, "last"))
    assert len(world.venues.account("ada", EVM).holdings) == count + 1


def test_an_account_that_is_read_back_is_looked_at_anew() -> None:
    world = traded()
    world.venues.close_windows(Timestamp(AT + 10))
    account = VenueAccount("ada", EVM)
    world.venues.accounts["ada", EVM] = account
    holding = held(world)
    ready = held(world, "m2", state=READY, outcome=ENDED_YES)
    del world.venues.accounts["ada", EVM]
    world.venues.keep(account)
    assert world.venues.accounts == {("ada", EVM): account}
    assert world.venues.payable == {"ada": {"m2"}}
    world.venues.close_windows(Timestamp(AT + 60))
    assert (holding.state, ready.state) == (AWAITING, READY)


def test_old_positions_without_a_payout_give_way() -> None:
    world = traded()
    for number in range(SETTLED_KEPT + 1):
        held(
            world, f"m{number}", state=REDEEMED, outcome=ENDED_YES,
            resolved_at=Timestamp(AT - number),
        )  # fmt: skip
    held(world, "waits", state=READY, outcome=ENDED_YES, resolved_at=Timestamp(AT - 999))
    held(world, "open")
    listed(world, "last", home=EVM)
    held(world, "last", state=AWAITING).position.yes.shares = Micros(0)
    world.venues.settle(resolved(ENDED_YES, "last"))
    kept = world.venues.account("ada", EVM).holdings
    assert len(kept) == SETTLED_KEPT + 2
    assert {"waits", "open", "last", "m0"} <= set(kept)
    assert {f"m{SETTLED_KEPT}", f"m{SETTLED_KEPT - 1}"}.isdisjoint(kept)


@pytest.mark.parametrize("marks", [False, True])
def test_a_position_that_is_paid_out_gives_way_to_newer_ones(*, marks: bool) -> None:
    world = traded()
    holding = held(world, state=READY, outcome=ENDED_YES, resolved_at=Timestamp(AT - 9_999))
    for number in range(SETTLED_KEPT):
        held(world, f"m{number}", state=REDEEMED, outcome=ENDED_YES, resolved_at=AT)
    if marks:
        world.apply(MarkedRedeemed("ada", EVM, MARKET, YES, AT, AT, "0xc"))
    else:
        world.apply(redeemed())
    kept = world.venues.account("ada", EVM).holdings
    assert holding.state is REDEEMED
    assert len(kept) == SETTLED_KEPT
    assert MARKET not in kept


# -- what an account is worth --------------------------------------------------------------


def test_equity_counts_cash_open_buys_payouts_and_marks() -> None:
    world = traded()
    world.apply(placed(fee=Micros(0)))
    venues = world.venues
    account = venues.account("ada", EVM)
    mid = venues.book(MARKET).mid(TIMES)
    marked = int(40 * ONE * mid)
    assert venues.price(account.holdings[MARKET], TIMES) == mid
    assert venues.unrealized(account, TIMES) == marked - 19 * ONE
    assert venues.equity(account, TIMES) == 941 * ONE + 40 * ONE + marked
    won = held(world, "m2", state=READY, outcome=ENDED_YES)
    lost = held(world, "m3", state=READY, outcome=ENDED_NO)
    lost.position.no.shares = Micros(0)
    assert venues.equity(account, TIMES) == 981 * ONE + marked + 8 * ONE
    assert venues.unrealized(account, TIMES) == marked - 19 * ONE
    assert (venues.price(won, TIMES), venues.price(lost, TIMES)) == (1.0, 0.0)


def test_shares_of_no_are_worth_what_is_left_of_one() -> None:
    world = traded()
    holding = held(world)
    venues, account = world.venues, world.venues.account("ada", EVM)
    mid = venues.book(MARKET).mid(TIMES)
    worth = 8 * ONE * mid + 5 * ONE * (1 - mid)
    assert venues.unrealized(account, TIMES) == pytest.approx(worth - 5 * ONE, abs=2)
    assert venues.equity(account, TIMES) == pytest.approx(1_000 * ONE + worth, abs=2)
    holding.position.yes.shares = holding.position.yes.cost = Micros(0)
    holding.position.no.cost = Micros(ONE)
    worth = 5 * ONE * (1 - mid)
    assert venues.unrealized(account, TIMES) == pytest.approx(worth - ONE, abs=2)
    # What is open adds up.
    other = f"2{MARKET[1:]}"
    listed(world, other, home=EVM)
    held(world, other)
    mid = venues.book(other).mid(TIMES)
    worth += 8 * ONE * mid + 5 * ONE * (1 - mid)
    assert venues.unrealized(account, TIMES) == pytest.approx(worth - 6 * ONE, abs=4)
    assert venues.equity(account, TIMES) == pytest.approx(1_000 * ONE + worth, abs=4)


@pytest.mark.parametrize(
    ("fields", "payout", "redeemable"),
    [
        ({}, 0, False),
        ({"state": AWAITING, "outcome": ENDED_YES}, 0, False),
        ({"state": AWAITING}, 0, False),
        ({"state": READY, "outcome": ENDED_YES}, 8, True),
        ({"state": READY, "outcome": ENDED_YES, "burned_yes": Micros(3 * ONE)}, 5, True),
        ({"state": READY, "outcome": ENDED_YES, "burned_no": Micros(3 * ONE)}, 8, True),
        ({"state": READY, "outcome": ENDED_NO}, 5, True),
        ({"state": REDEEMED, "outcome": ENDED_YES}, 0, False),
    ],
)
def test_a_position_pays_what_has_won_and_is_not_burned(
    *, fields: dict[str, Any], payout: int, redeemable: bool
) -> None:
    holding = held(traded(), **fields)
    assert (holding.payout(), holding.is_redeemable()) == (payout * ONE, redeemable)
    assert holding.is_held()
    holding.position.yes.shares = holding.position.no.shares = Micros(0)
    assert not holding.is_held()
    assert not holding.is_redeemable()
