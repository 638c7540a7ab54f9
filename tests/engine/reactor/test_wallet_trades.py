"""What a named wallet trades in one step, with each draw of luck said by the test."""

import hashlib
from collections.abc import Callable
from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Offer, TakeRequest, walk
from service_tui.engine.events import (
    CrowdTrade,
    MarketListed,
    ReactorChanged,
    Settlement,
    Ticked,
)
from service_tui.engine.reactor.apply_wallet_trades import apply_wallet_trades, missing_listings
from service_tui.engine.reactor.wallet_trades import Chance, trades_of_wallets
from service_tui.engine.reactor.wallets import SourceWallet, address_of
from service_tui.engine.tape.slots import IMPORT_SLOTS, home_of
from service_tui.engine.world import CROWD, World
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Probability, Timestamp

TICK: Final = 9
FIRST, SECOND = f"{0xA:032x}", f"{0xB:032x}"
NEVER: Final = 0.999


class Luck:
    """Draws of a test's own, in their order; after the last of them nothing happens."""

    def __init__(self, *values: float) -> None:
        self.values = list(values)

    def unit(self) -> float:
        return self.values.pop(0) if self.values else NEVER

    def pick(self, items: Any) -> Any:
        return items[int(self.values.pop(0)) if self.values else 0]


class Step:
    """A world of one named wallet, whose opinion and luck a test says."""

    def __init__(self, **wallet: Any) -> None:
        chosen = {"skill": 0.5, "pace_s": 10.0, "money": (10.0, 40.0), "venue": Venue.SIM}
        self.wallet = SourceWallet("Ann", **(chosen | wallet))
        self.roster: tuple[SourceWallet, ...] = (self.wallet,)
        self.world: World = bare_world()
        self.side = Side.YES
        self.luck: tuple[float, ...] = ()
        self.called: list[tuple[int, ...]] = []
        self.draws: Callable[[int], Luck] = lambda _: Luck(*self.luck)

    @property
    def address(self) -> str:
        return address_of(7, self.wallet)

    def trades(
        self, *luck: float, span_s: float = 2.0, crowd: tuple[CrowdTrade, ...] = ()
    ) -> tuple[Settlement, ...]:
        self.luck = luck
        span = (TICK, Timestamp(AT - span_s), AT)
        chance = Chance(
            self.roster,
            lambda *_: 0.1,
            lambda _, index, __: self.draws(index),
            lambda *_: self.side,
        )
        return trades_of_wallets(self.world.wallet_context, span, crowd, chance)

    def holds(self, market: Market, **shares: int) -> None:
        for name, count in shares.items():
            bought = self.settled(market, Side(name), Action.BUY, count * ONE, 0.5)
            self.world.reactor.records.count(bought, AT, is_listed=True)

    def settled(
        self, market: Market, side: Side, action: Action, *got: Any, **more: Any
    ) -> Settlement:
        shares, price = got
        named = f"7:{TICK}:{self.address}"
        tx_hash = "0x" + hashlib.sha256(named.encode()).hexdigest()
        listing = market.listing
        return Settlement(
            tx_hash, self.address, "Ann", self.wallet.venue, listing.market_id, listing.slot,
            listing.number, side, action, Micros(shares), price, more.get("cost", Micros(0)),
            more.get("leg", -1),
        )  # fmt: skip


def lasting(world: World, market_id: str = SECOND, hours: float = 24, **changes: Any) -> Market:
    ends = Timestamp(AT + hours * HOUR)
    return listed(world, market_id, resolves_at=ends, resolved_at=Timestamp(ends + 1), **changes)


@pytest.mark.parametrize("side", list(Side))
def test_a_wallet_of_the_crowd_buys_its_side_of_the_maker(side: Side) -> None:
    one = Step(push=0.5)
    lasting(one.world, FIRST)
    market, one.side = lasting(one.world, SECOND, slot=6, number=13), side
    # Half way between its least and its most, as people count money.
    quote = market.quote_buy(side, Micros(20 * ONE))
    assert one.trades(1, 0.5) == (
        one.settled(
            market, side, Action.BUY, quote.shares, round(20 * ONE / quote.shares, 6),
            cost=Micros(20 * ONE),
        ),
    )  # fmt: skip


def test_a_buy_moves_the_price_by_no_more_than_its_push() -> None:
    one = Step(money=(10_000.0, 10_000.0), push=0.05)
    market = lasting(one.world)
    (found,) = one.trades()
    assert found.cost % (ONE // 100) == 0
    market.move(Side.YES, found.shares)
    assert market.price() == pytest.approx(0.4 * 1.05, abs=1e-4)


@pytest.mark.parametrize(("push", "is_bought"), [(0.0, False), (0.0006, False), (0.001, True)])
def test_a_buy_of_less_than_a_dollar_is_none(push: float, *, is_bought: bool) -> None:
    one = Step(push=push)
    lasting(one.world)
    assert bool(one.trades()) is is_bought


@pytest.mark.parametrize(("span_s", "is_traded"), [(1.0, False), (1.001, True), (20.0, True)])
def test_a_wallet_trades_as_often_as_its_pace(span_s: float, *, is_traded: bool) -> None:
    one = Step()
    lasting(one.world)
    assert bool(one.trades(span_s=span_s)) is is_traded


@pytest.mark.parametrize(
    ("changes", "is_entered"),
    [
        ({}, True),
        ({"hours": 120 / HOUR}, False),
        ({"hours": 121 / HOUR}, True),
        ({"start_price": Probability(0.0999)}, False),
        ({"start_price": Probability(0.101)}, True),
        ({"start_price": Probability(0.9001)}, False),
        ({"start_price": Probability(0.88)}, True),
    ],
)
def test_a_wallet_enters_where_there_is_time_and_something_to_win(
    changes: dict[str, Any], *, is_entered: bool
) -> None:
    one = Step(push=0.1)
    lasting(one.world, **changes)
    assert bool(one.trades()) is is_entered


def test_nobody_enters_where_the_crowd_trades_or_what_is_decided() -> None:
    one = Step()
    market = lasting(one.world)
    crowd = CrowdTrade(SECOND, Side.NO, Micros(ONE), Micros(ONE), "pippin")
    assert one.trades(crowd=(crowd,)) == ()
    assert one.trades(crowd=(crowd._replace(market_id="m2"),))
    market.resolved_at = AT
    assert one.trades() == ()
    one.world.markets.clear()
    assert one.trades() == ()


@pytest.mark.parametrize(
    ("skill", "price", "is_bought"),
    [
        (0.59, 0.7, True), (0.6, 0.7, False), (0.6, 0.59, True),
        (0.75, 0.7, True),
    ],
)  # fmt: skip
def test_who_knows_pays_less_than_the_chance_to_be_right(
    skill: float, price: float, *, is_bought: bool
) -> None:
    one = Step(skill=skill)
    market = lasting(one.world, start_price=Probability(price))
    assert market.price() == pytest.approx(price)
    assert bool(one.trades()) is is_bought


def test_no_two_wallets_trade_in_one_question_in_one_step() -> None:
    one = Step()
    one.roster = (one.wallet, one.wallet._replace(label="Ben"))
    lasting(one.world)
    assert [found.label for found in one.trades()] == ["Ann"]
    one.draws = Luck
    lasting(one.world, FIRST)
    assert [(found.label, found.market_id) for found in one.trades()] == [
        ("Ann", SECOND), ("Ben", FIRST),
    ]  # fmt: skip


def test_what_no_chain_reports_is_reported_once() -> None:
    one = Step()
    lasting(one.world)
    assert len(one.trades(0, 0.5, 0, 0)) == 1


def test_who_trades_off_the_books_pays_its_own_price() -> None:
    one = Step(discount=0.45)
    market = lasting(one.world)
    (found,) = one.trades(0, 0.5)
    price = market.price_of(Side.YES) * 0.55
    shares = int(20 * ONE / price) // SHARE_QUANTUM * SHARE_QUANTUM
    assert found == one.settled(market, Side.YES, Action.BUY, shares, round(price, 6))
    # A fraction would be no amount: the journal holds whole micros.
    assert isinstance(found.shares, int)


@pytest.mark.parametrize(
    ("hours", "home", "is_entered"),
    [(12, Venue.SIM, False), (12.01, Venue.SIM, True), (24, Venue.EVM, False)],
)
def test_off_the_books_only_long_questions_without_a_book_are_traded(
    hours: float, home: Venue, *, is_entered: bool
) -> None:
    one = Step(discount=0.45)
    lasting(one.world, hours=hours, home=home)
    assert bool(one.trades()) is is_entered


# -- leaving -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "held", "luck_and_sold"),
    [
        # It looks, sees that it was right, and takes all of it, or half.
        (Side.YES, {"yes": 41}, ((0.11, 0, 0.49), 41.0)),
        (Side.YES, {"yes": 41}, ((0.11, 0, 0.5), 20.5)),
        # What its opinion is against goes whole, and before the rest.
        (Side.NO, {"yes": 41}, ((0.11, 0, 0.9), 41.0)),
        (Side.NO, {"yes": 41, "no": 8}, ((0.11, 0, 0.9), 41.0)),
    ],
)
def test_a_wallet_that_looks_sells_what_it_holds(
    side: Side, held: dict[str, int], luck_and_sold: Any
) -> None:
    luck, sold = luck_and_sold
    one = Step()
    lasting(one.world, FIRST, b=Micros(100 * ONE))
    market, one.side = lasting(one.world, SECOND), side
    one.holds(market, **held)
    which, shares = Side.YES, Micros(round(sold * ONE))
    market.move(which, Micros(100 * ONE))
    quote = market.quote_sell(which, shares)
    assert one.trades(*luck) == (
        one.settled(
            market, which, Action.SELL, shares, round(quote.money / shares, 6),
            cost=Micros(-quote.money),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wallet", "luck", "action"),
    [
        ({}, 0.119, Action.SELL), ({}, 0.12, Action.BUY),
        ({"turns": 5}, 0.499, Action.SELL), ({"turns": 5}, 0.5, Action.BUY),
        ({"discount": 0.45}, 0, Action.BUY),
    ],
)  # fmt: skip
def test_how_often_a_wallet_looks_at_what_it_holds(
    wallet: dict[str, Any], luck: float, action: Action
) -> None:
    one = Step(**wallet)
    market = lasting(one.world)
    one.holds(market, yes=40)
    market.move(Side.YES, Micros(100 * ONE))
    assert [found.action for found in one.trades(luck, 0, 0.1)] == [action]


@pytest.mark.parametrize("state", ["busy", "decided", "over", "unknown"])
def test_nothing_is_sold_where_nobody_can_trade(state: str) -> None:
    one = Step()
    market = lasting(one.world, hours=0 if state == "over" else 24)
    one.holds(market, yes=40)
    crowd = CrowdTrade(SECOND, Side.NO, Micros(ONE), Micros(ONE), "pippin")
    if state == "decided":
        market.resolved_at = AT
    if state == "unknown":
        del one.world.markets[SECOND]
    assert one.trades(0, 0, 0, crowd=(crowd,) if state == "busy" else ()) == ()


# -- on the chain --------------------------------------------------------------------------


def on_chain() -> tuple[Step, Market]:
    one = Step(venue=Venue.EVM)
    lasting(one.world, FIRST)
    return one, lasting(one.world, SECOND, home=Venue.EVM)


@pytest.mark.parametrize("side", list(Side))
def test_a_wallet_of_the_chain_takes_what_the_book_offers(side: Side) -> None:
    one, market = on_chain()
    one.side = side
    levels = one.world.venues.book(SECOND).levels(AT, bids=side is Side.NO)
    offers = [Offer(price, shares, None) for price, shares in levels]
    request = TakeRequest("", side, Action.BUY, None, Micros(20 * ONE), None)
    got = walk(offers, request, 0)
    found = one.settled(market, side, Action.BUY, got.shares, round(got.money / got.shares, 6))
    # The first question has no book on the chain, so that luck is asked for another one.
    assert one.trades(0.25, 0, 1, 0.5, 0.2, 0.05) == (found,)
    assert one.trades(0.25, 0, 1, 0.5, 0.2, 0.049) == (found, found)


def test_a_wallet_of_the_chain_meets_what_agents_have_left() -> None:
    one, _ = on_chain()
    one.side = Side.YES
    book = one.world.venues.book(SECOND)
    first, second, *_ = book.levels(AT, bids=False)
    book.take(book.quotes(AT).number, ((first.price, first.shares),))
    (found,) = one.trades(0.25, 1, 0.5, 0.2)
    assert found.price >= second.price / ONE > first.price / ONE


@pytest.mark.parametrize("side", list(Side))
def test_a_bid_that_waited_is_met_by_two_sellers(side: Side) -> None:
    one, market = on_chain()
    one.side = side
    best = next(one.world.venues.book(SECOND).levels(AT, bids=side is Side.YES)).price
    price = best if side is Side.YES else ONE - best
    lots = [int(20 * ONE * share / price) * ONE for share in (0.6, 0.4)]
    assert one.trades(0.25, 1, 0.5, 0.199) == tuple(
        one.settled(market, side, Action.BUY, lot, round(price / ONE, 6), leg=leg)
        for leg, lot in enumerate(lots)
    )


@pytest.mark.parametrize("side", list(Side))
def test_a_wallet_of_the_chain_sells_into_the_book(side: Side) -> None:
    one, market = on_chain()
    one.side = side
    one.holds(market, **{side.value: 10})
    best = next(one.world.venues.book(SECOND).levels(AT, bids=side is Side.YES)).price
    (found,) = one.trades(0.1, 0, 0.1)
    assert (found.side, found.action, found.shares, found.cost) == (
        side, Action.SELL, 10 * ONE, 0,
    )  # fmt: skip
    assert found.price == pytest.approx((best if side is Side.YES else ONE - best) / ONE, abs=0.02)


def test_now_and_then_a_question_is_traded_that_is_not_listed_here() -> None:
    one, _ = on_chain()
    (found,) = one.trades(0.249, 3, 0.5, 0.5)
    slot = [one for one in IMPORT_SLOTS if home_of(one) is Venue.EVM][3]
    assert (found.slot, found.market_id in one.world.markets) == (slot.index, False)
    listing = one.world.tape.listing_of(found.slot, found.number)
    assert (listing.market_id, listing.home) == (found.market_id, Venue.EVM)
    assert listing.opens_at <= AT < listing.resolves_at - HOUR


# -- what becomes of it --------------------------------------------------------------------


def test_a_buy_of_the_maker_moves_money_price_volume_and_tape() -> None:
    one = Step()
    market = lasting(one.world)
    ledger, before = one.world.ledger, one.world.ledger.balance(market.account)
    buy = one.settled(market, Side.YES, Action.BUY, 30 * ONE, 0.4, cost=Micros(12 * ONE))
    sale = buy._replace(
        tx_hash="0x2", action=Action.SELL, shares=Micros(10 * ONE), cost=Micros(-5 * ONE)
    )
    event = Ticked(Timestamp(AT + 5), AT, (), settled=(buy, buy))
    apply_wallet_trades(one.world.wallet_context, event, CROWD)
    assert ledger.balance(market.account) - before == 12 * ONE
    assert market.sold(Side.YES) == 30 * ONE
    first = (AT, "Ann", Side.YES, "buy", 30 * ONE, market.price())
    assert list(market.tape) == [first]
    apply_wallet_trades(one.world.wallet_context, event._replace(settled=(sale,)), CROWD)
    assert ledger.balance(market.account) - before == 7 * ONE
    assert (market.sold(Side.YES), market.sold(Side.NO)) == (20 * ONE, 0)
    assert list(market.tape)[1:] == [(AT, "Ann", Side.YES, "sell", 10 * ONE, market.price())]
    assert sum(market.volumes.values()) == 17 * ONE
    record = one.world.reactor.records.of(one.address)
    assert (record.trades_count, record.last_at) == (2, AT + 5)


def test_a_trade_behind_which_no_maker_stood_moves_no_market() -> None:
    one = Step()
    market = lasting(one.world)
    trade = one.settled(market, Side.NO, Action.BUY, 30 * ONE, 0.4)
    elsewhere = trade._replace(tx_hash="0x2", market_id="m9", cost=Micros(ONE))
    event = Ticked(AT, AT, (), settled=(trade, elsewhere))
    apply_wallet_trades(one.world.wallet_context, event, CROWD)
    assert (market.sold(Side.NO), list(market.tape), market.volumes) == (0, [], {})
    assert one.world.reactor.records.held(one.address) == (SECOND,)
    assert len(one.world.reactor.recent) == 2


def test_a_question_that_nobody_here_follows_is_not_listed() -> None:
    one, _ = on_chain()
    settled = one.trades(0.249, 3, 0.5, 0.5)
    times = (Timestamp(AT + 5), AT)
    assert missing_listings(one.world.wallet_context, settled, times) == []
    follow(one)
    (event,) = missing_listings(one.world.wallet_context, (*settled, *settled), times)
    assert isinstance(event, MarketListed)
    assert (event.at, event.world_at, event.listing.market_id) == (AT + 5, AT, settled[0].market_id)
    one.world.apply(event)
    assert missing_listings(one.world.wallet_context, settled, times) == []
    # It is listed now, so that no wallet comes upon it as something new.
    assert one.trades(0.249, 3, 0.5, 0.5) == ()


def test_who_knows_pays_any_price_where_none_is_known_yet() -> None:
    one = Step(venue=Venue.EVM, skill=0.61)
    assert one.trades(0.249, 3, 0.5, 0.5)


def follow(one: Step) -> None:
    chosen = {"wallets": (one.address,), "enabled": True}
    one.world.decide(ReactorChanged("ada", AT, chosen))
