"""Orders on the simulated venues: reserved money, cancels and refusals."""

import json
import random
from collections import Counter
from contextlib import suppress
from typing import Final

import pytest

from kit.engine.ends import ENDS, mixed
from kit.engine.topics import TOPICS
from kit.engine.venues import (
    AT,
    EVM,
    NO,
    SELL,
    SOL,
    YES,
    best,
    books_balance,
    gap_price,
    market_of,
    new_world,
    order,
    put,
    times,
    waiting_payouts,
)
from service_tui.engine.books.book import own_price
from service_tui.engine.books.liquidity import REFRESH_S, fee_rate_bps
from service_tui.engine.books.orders import GTD_DEFAULT_S, place, quote
from service_tui.engine.books.resting import cancel, cancel_all
from service_tui.engine.books.venues import GRANT, REAL, SETTLED_KEPT, VenueAccount, VenuePosition
from service_tui.engine.chain.redemption import redeem
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.codec.events import dumps
from service_tui.engine.errors import (
    AgentSuspended,
    AlreadyRedeemed,
    DaySpend,
    DayTrades,
    InsufficientBalance,
    InsufficientShares,
    InvalidExpiration,
    InvalidTick,
    MarketTooLarge,
    NoLiquidity,
    NotAllowed,
    NotClaimed,
    NotFilledWhole,
    NotFinalized,
    OrderNotFound,
    OrderTooSmall,
    PositionLost,
    PositionNotFound,
    PriceOutOfRange,
    RealTradingOff,
    Refusal,
    TradeTooLarge,
    TradingPaused,
    VenueNotServed,
)
from service_tui.engine.events import (
    AgentRegistered,
    Event,
    MarketResolved,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    kind_of,
)
from service_tui.engine.tick import advance
from service_tui.engine.transitions import (
    POSITION,
    NoTransitionError,
    PositionState,
    PositionTrigger,
    moved,
)
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import MarketStatus, OrderEnd, OrderType, Plan, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

GTC, GTD, FOK, FAK = OrderType.GTC, OrderType.GTD, OrderType.FOK, OrderType.FAK


def placed(events: list[Event]) -> OrderPlaced:
    assert isinstance(events[0], OrderPlaced)
    return events[0]


def text_of(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


def replayed(text: str, events: list[Event]) -> World:
    world = snapshot.world_of(json.loads(text), TOPICS)
    for event in events:
        world.apply(codec.decode(kind_of(event), codec.encode(event)))
    return world


# -- money of the venues -------------------------------------------------------------------


def test_every_agent_has_play_money_on_both_venues() -> None:
    world = new_world()
    for venue in REAL:
        assert world.venues.cash("ada", venue) == GRANT
    assert world.cash(world.agents["ada"]) == 10_000 * ONE
    books_balance(world)


@pytest.mark.slow
def test_a_snapshot_from_before_the_venues_grants_the_first_money() -> None:
    world = new_world("ada", "bea")
    fields = json.loads(dumps(snapshot.fields_of(world)))
    del fields["venues"]
    fields["ledger"] = {
        name: held for name, held in world.ledger.balances().items() if not name.endswith("_venue")
    }
    for market in fields["markets"]:
        del market["listing"]["home"]
    old = snapshot.world_of(json.loads(codec.dumps(fields)), TOPICS)
    assert old.venues.cash("bea", SOL) == GRANT
    books_balance(old)
    assert text_of(snapshot.world_of(json.loads(text_of(old)), TOPICS)) == text_of(old)


# -- buying and selling at once ------------------------------------------------------------


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("venue", REAL)
def test_a_buy_takes_the_best_offers_and_pays_the_fee(venue: Venue, side: Side) -> None:
    world = new_world()
    market = market_of(world, venue)
    price = best(world, market, side)
    event = placed(put(world, "ada", market, side=side))
    assert event.order_type is FAK
    assert event.price_before == price / ONE
    assert 19_900_000 < event.money <= 20 * ONE
    rate = fee_rate_bps(market.listing) / 10_000
    average = event.money / event.shares
    assert event.fee == pytest.approx(event.shares * rate * average * (1 - average), rel=0.01)
    assert event.fee % 10 == 0
    assert world.venues.cash("ada", venue) == GRANT - event.money - event.fee
    assert world.ledger.balance(f"fees:{venue.value}") == event.fee
    holding = world.venues.account("ada", venue).holdings[market.market_id]
    assert holding.position.shares(side) == event.shares
    assert holding.position.cost(side) == event.money + event.fee
    assert holding.state is PositionState.ACTIVE
    assert world.agents["ada"].buys_today(world.at) == 1
    books_balance(world)


def test_what_is_taken_is_dearer_for_the_next_until_the_quotes_are_fresh() -> None:
    world = new_world("ada", "bea")
    market = market_of(world)
    first = placed(put(world, "ada", market, size=400.0))
    second = placed(put(world, "bea", market, size=400.0))
    assert second.money * first.shares > first.money * second.shares
    books_balance(world)
    advance(world, Timestamp(world.at + REFRESH_S + 1))
    book = world.venues.book(market.market_id)
    quotes = book.quotes(world.world_at)
    assert tuple(book.levels(world.world_at, bids=False)) == quotes.asks


def test_a_sale_of_everything_closes_the_position_and_brings_less() -> None:
    world = new_world()
    market = market_of(world)
    bought = placed(put(world, "ada", market, size=50.0))
    sold = placed(put(world, "ada", market, action=SELL, size=bought.shares, order_type=FAK))
    assert sold.shares == bought.shares
    assert sold.realized == sold.money - sold.fee - bought.money - bought.fee < 0
    holding = world.venues.account("ada", EVM).holdings[market.market_id]
    assert not holding.is_held()
    assert world.venues.cash("ada", EVM) == GRANT + sold.realized
    books_balance(world)


def test_fill_or_kill_is_all_or_nothing() -> None:
    world = new_world()
    market = market_of(world)
    before = text_of(world)
    limit = best(world, market) / ONE
    with pytest.raises(NotFilledWhole):
        put(world, "ada", market, size=900.0, price=limit, order_type=FOK)
    assert text_of(world) == before
    taken = placed(put(world, "ada", market, size=900.0, price=limit, order_type=FAK))
    assert 0 < taken.money < 900 * ONE
    assert taken.rests == taken.reserved == 0
    advance(world, Timestamp(world.at + REFRESH_S + 1))
    whole = placed(put(world, "ada", market, size=10.0, order_type=FOK))
    assert 10 * ONE - whole.money < 20
    books_balance(world)


def test_fill_and_kill_with_nothing_to_meet_is_refused() -> None:
    world = new_world()
    market = market_of(world)
    before = text_of(world)
    with pytest.raises(NoLiquidity, match="no liquidity"):
        put(world, "ada", market, price=gap_price(world, market))
    assert text_of(world) == before


def test_a_quote_is_what_the_order_then_gets_and_changes_nothing() -> None:
    world = new_world()
    market = market_of(world)
    before = text_of(world)
    wanted = order(world, "ada", market, size=70.0)
    quoted = quote(world.venues, wanted, times(world))
    assert text_of(world) == before
    got = placed(place(world.venues, wanted, times(world)))
    walked = quoted.walked
    assert (got.shares, got.money, got.fee) == (walked.shares, walked.money, walked.fee)
    assert (got.price_before, got.price_after) == (quoted.price_before, quoted.price_after)


# -- resting orders ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GTC, GTD])
def test_a_limit_order_rests_and_keeps_its_money(kind: OrderType) -> None:
    world = new_world()
    market = market_of(world)
    price = gap_price(world, market)
    event = placed(put(world, "ada", market, price=price, order_type=kind))
    assert (event.shares, event.money, event.fee) == (0, 0, 0)
    assert event.rests == event.requested
    assert 20 * ONE - 10 < event.reserved <= 20 * ONE
    assert event.expires_at == (0 if kind is GTC else world.at + GTD_DEFAULT_S)
    assert world.venues.cash("ada", EVM) == GRANT - event.reserved
    assert world.venues.account("ada", EVM).holdings == {}
    assert world.venues.spent_today("ada", world.at) == event.reserved
    (resting,) = world.venues.orders("ada")
    assert resting.order_id == event.order_id
    books_balance(world)


@pytest.mark.parametrize("side", Side)
def test_cancelling_gives_back_exactly_what_was_kept(side: Side) -> None:
    world = new_world()
    market = market_of(world)
    price = best(world, market, side, SELL) / ONE
    event = placed(put(world, "ada", market, side=side, price=price, order_type=GTC))
    (ended,) = cancel(world.venues, world.agents["ada"], times(world), order_id=event.order_id)
    assert (ended.reason, ended.returned) == (OrderEnd.CANCELLED, event.reserved)
    assert world.venues.cash("ada", EVM) == GRANT
    assert world.venues.spent_today("ada", world.at) == 0
    assert world.venues.orders("ada") == []
    with pytest.raises(OrderNotFound, match="order not found: o1"):
        cancel(world.venues, world.agents["ada"], times(world), order_id=event.order_id)
    books_balance(world)


def test_an_order_that_crosses_takes_first_and_rests_with_what_is_left() -> None:
    world = new_world()
    market = market_of(world)
    price = best(world, market) / ONE
    event = placed(put(world, "ada", market, size=900.0, price=price, order_type=GTC))
    assert event.shares > 0
    assert event.rests > 0
    assert event.money + event.reserved <= 900 * ONE
    assert event.shares + event.rests == event.requested
    top = world.venues.book(market.market_id).best(times(world), bids=True)
    assert top is not None
    assert top.price == round(price * ONE)
    books_balance(world)


def test_two_buyers_of_opposite_sides_make_a_pair_between_them() -> None:
    world = new_world("ada", "bea")
    market = market_of(world)
    bid = best(world, market, YES, SELL)
    maker = placed(put(world, "ada", market, size=30.0, price=bid / ONE, order_type=GTC))
    other = own_price(NO, Micros(bid)) / ONE
    events = put(
        world, "bea", market, side=NO, size=maker.rests * other / ONE, price=other, order_type=FAK
    )
    fill = next(one for one in events if isinstance(one, OrderFilled))
    assert fill.agent_id == "ada"
    assert fill.shares <= placed(events).shares
    assert world.venues.free_shares("ada", market.market_id, YES) == fill.shares
    assert world.venues.free_shares("bea", market.market_id, NO) == placed(events).shares
    books_balance(world)


# -- what is refused -----------------------------------------------------------------------

GATES: Final[dict[str, tuple[dict[str, object], type[Refusal]]]] = {
    "unclaimed": ({"claimed": False}, NotClaimed),
    "suspended": ({"suspended": True}, AgentSuspended),
    "real trading off": ({"real_trading_enabled": False}, RealTradingOff),
    "paused": ({"trading_paused": True}, TradingPaused),
    "a large trade": ({"max_trade": Micros(19 * ONE)}, TradeTooLarge),
    "the day's money": ({"day_spend_max": Micros(19 * ONE)}, DaySpend),
    "a large position": ({"max_position": Micros(19 * ONE)}, MarketTooLarge),
}


@pytest.mark.parametrize("name", GATES)
def test_a_gate_refuses_and_changes_nothing(name: str) -> None:
    changes, refusal = GATES[name]
    world = new_world()
    world.change(world.agents["ada"], changes, world.at)
    before = text_of(world)
    with pytest.raises(refusal) as said:
        put(world, "ada", market_of(world))
    assert said.value.error
    assert said.value.fix
    assert text_of(world) == before


def test_an_unclaimed_agent_may_not() -> None:
    assert issubclass(NotClaimed, NotAllowed)


def test_the_defaults_are_a_hundred_a_trade_and_five_hundred_a_day() -> None:
    world = new_world()
    event = AgentRegistered("eve", AT, "eve", "", "h", "c", Plan.PRO, Micros(ONE))
    world.register(event)
    agent = world.agents["eve"]
    world.change(agent, {"claimed": True, "real_trading_enabled": True}, AT)
    market = market_of(world)
    with pytest.raises(TradeTooLarge, match=r"above the limit of 100\.00 USDC a trade"):
        put(world, "eve", market, size=100.01)
    for _ in range(5):
        put(world, "eve", market_of(world, SOL), size=99.0, price=0.01, order_type=GTC)
    with pytest.raises(DaySpend, match=r"Daily limit reached: \$500"):
        put(world, "eve", market, size=6.0)
    midnight = Timestamp((AT // 86_400 + 1) * 86_400)
    assert world.venues.spent_today("eve", midnight) == 0


def test_the_days_buys_are_counted_over_all_venues() -> None:
    world = new_world()
    world.change(world.agents["ada"], {"trades_per_day": 2}, world.at)
    put(world, "ada", market_of(world))
    put(world, "ada", market_of(world, SOL))
    with pytest.raises(DayTrades):
        put(world, "ada", market_of(world))
    # Sales are exempt.
    held = world.venues.free_shares("ada", market_of(world).market_id, YES)
    put(world, "ada", market_of(world), action=SELL, size=held)


def test_a_buy_that_rests_is_no_buy_of_the_day_and_keeps_a_place_in_its_limit() -> None:
    world = new_world("ada", "bea")
    ada, market = world.agents["ada"], market_of(world)
    world.change(ada, {"trades_per_day": 1}, world.at)
    price = gap_price(world, market)
    event = placed(put(world, "ada", market, price=price, order_type=GTC))
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (0, 1)
    with pytest.raises(DayTrades):
        put(world, "ada", market)
    # What ends without shares gives its place back.
    cancel(world.venues, ada, times(world), order_id=event.order_id)
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (0, 0)
    put(world, "ada", market, price=price, order_type=GTC)
    # The first shares make it a buy, further ones no second.
    put(world, "bea", market)
    for _ in range(2):
        put(world, "bea", market, action=SELL, size=Micros(5 * ONE), order_type=FAK)
    assert world.venues.orders("ada")[0].shares > 0
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (1, 0)
    cancel_all(world.venues, world.venues.orders("ada"), times(world))
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (1, 0)


def test_a_buy_that_has_shares_gives_back_no_place_of_another() -> None:
    world = new_world("ada", "bea")
    ada, market = world.agents["ada"], market_of(world)
    price = gap_price(world, market)
    first, _ = (placed(put(world, "ada", market, price=price, order_type=GTC)) for _ in range(2))
    put(world, "bea", market)
    put(world, "bea", market, action=SELL, size=Micros(5 * ONE), order_type=FAK)
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (1, 1)
    cancel(world.venues, ada, times(world), order_id=first.order_id)
    assert (ada.buys_today(world.at), ada.resting_today(world.at)) == (1, 1)


def test_an_open_buy_counts_on_the_day_of_its_first_shares() -> None:
    world = new_world()
    ada = world.agents["ada"]
    ada.count_buy(AT, Micros(ONE), has_filled=False)
    tomorrow = Timestamp(AT + 86_400)
    assert ada.resting_today(tomorrow) == 0
    ada.count_first_fill(AT, tomorrow)
    assert (ada.buys_today(tomorrow), ada.resting_today(tomorrow)) == (1, 0)


BAD: Final[dict[str, tuple[dict[str, object], type[Refusal]]]] = {
    "four shares": ({"size": 2.0, "price": 0.5, "order_type": GTC}, OrderTooSmall),
    "four shares to sell": ({"action": SELL, "size": 4.0}, OrderTooSmall),
    "no price": ({"price": 0.0009}, PriceOutOfRange),
    "certainty": ({"price": 0.9991, "order_type": GTC}, PriceOutOfRange),
    "between ticks": ({"price": 0.4251, "order_type": GTC}, InvalidTick),
    "nothing held": ({"action": SELL, "size": 20.0}, InsufficientShares),
    "too much money": ({"size": 1_000.0, "price": 0.01, "order_type": GTC}, InsufficientBalance),
    "an expiration without need": ({"expires_at": Timestamp(AT + 60)}, InvalidExpiration),
    "an expiration of yesterday": ({"order_type": GTD, "expires_at": AT}, InvalidExpiration),
    "another venue": ({"venue": SOL}, VenueNotServed),
    "no venue": ({"venue": Venue.SIM}, VenueNotServed),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_order_is_refused_and_changes_nothing(name: str) -> None:
    fields, refusal = BAD[name]
    world = new_world()
    if refusal is InsufficientBalance:
        put(world, "ada", market_of(world), size=10.0)
    before = text_of(world)
    with pytest.raises(refusal) as said:
        put(world, "ada", market_of(world), **fields)
    assert said.value.fix
    assert text_of(world) == before


def test_too_small_says_so_with_code_and_hint() -> None:
    world = new_world()
    with pytest.raises(OrderTooSmall, match=r"Order too small: 2\.00000 shares") as said:
        put(world, "ada", market_of(world), size=0.2, price=0.1)
    assert said.value.code == "ORDER_TOO_SMALL"
    assert "5 shares" in said.value.fix
    # The other venue takes as little as there is.
    assert placed(put(world, "ada", market_of(world, SOL), size=0.5)).shares > 0


def test_a_price_between_ticks_is_told_the_nearest_one() -> None:
    world = new_world()
    with pytest.raises(InvalidTick, match=r"tick size is 0\.01") as said:
        put(world, "ada", market_of(world), price=0.4251, order_type=GTC)
    assert "0.43" in said.value.fix
    # An order that never rests may name any bound.
    assert placed(put(world, "ada", market_of(world), price=0.98765)).shares


# -- lifecycle -----------------------------------------------------------------------------


@pytest.mark.parametrize("state", PositionState)
@pytest.mark.parametrize("trigger", PositionTrigger)
def test_the_lifecycle_is_the_specs_table(state: PositionState, trigger: PositionTrigger) -> None:
    row = POSITION.get((state, trigger))
    if row is None:
        with pytest.raises(NoTransitionError):
            moved(state, trigger)
    else:
        assert moved(state, trigger) is row


@pytest.mark.parametrize("venue", REAL)
def test_a_position_goes_from_active_to_redeemed_and_pays_once(  # noqa: PLR0915  (one life)
    venue: Venue,
) -> None:
    world = new_world()
    agent = world.agents["ada"]
    market = min(
        (
            one
            for one in world.markets.values()
            if one.listing.home is venue and one.status(world.world_at) is MarketStatus.ACTIVE
        ),
        key=lambda one: one.listing.resolved_at,
    )
    listing = market.listing
    bought = {
        side: placed(put(world, "ada", market, side=side, size=20.0))
        for side in Side
        if 0.02 < own_price(side, Micros(round(market.price() * ONE))) / ONE < 0.98
    }
    winner = YES if listing.outcome else NO
    account = world.venues.account("ada", venue)
    holding = account.holdings[market.market_id]

    def go(world_at: float) -> None:
        advance(world, Timestamp(world.at + world_at - world.world_at))
        books_balance(world)

    def pay(side: Side) -> None:
        redeem(world.venues, agent, (market.market_id, side), times(world))

    go(listing.resolves_at - 1)
    assert holding.state is PositionState.ACTIVE
    go(listing.resolves_at)
    assert holding.state is PositionState.AWAITING
    with pytest.raises(NotFinalized, match="not finalized"):
        pay(winner)
    cash = world.venues.cash("ada", venue)
    go(listing.resolved_at)
    assert holding.state is PositionState.READY
    ended = ENDED_YES if listing.outcome else ENDED_NO
    assert (holding.outcome, holding.resolved_at) == (ended, listing.resolved_at)
    assert world.venues.cash("ada", venue) == cash
    assert account.redeemable_count() == (winner in bought)
    if winner.other in bought:
        with pytest.raises(PositionLost, match="position lost"):
            pay(winner.other)
        assert holding.state is PositionState.READY
    if winner in bought:
        pay(winner)
        assert world.venues.cash("ada", venue) == cash + bought[winner].shares
        with pytest.raises(AlreadyRedeemed, match="balance is 0"):
            pay(winner)
        assert holding.state is PositionState.REDEEMED
    assert account.redeemable_count() == 0
    books_balance(world)
    with pytest.raises(PositionNotFound, match="position in market nowhere not found"):
        redeem(world.venues, agent, ("nowhere", YES), times(world))


@pytest.mark.slow
def test_a_position_outlives_its_forgotten_market() -> None:
    world = new_world()
    held = [
        one
        for one in world.markets.values()
        if one.listing.home is not Venue.SIM
        and one.listing.resolved_at < world.world_at + 7_200
        and one.listing.resolves_at > world.world_at + 5
    ]
    for market in held:
        for side in Side:
            with suppress(Refusal):
                put(world, "ada", market, side=side, size=6.0)
    for _ in range(14):
        advance(world, Timestamp(world.at + 3_600))
    gone = [one for one in held if one.market_id not in world.markets]
    assert gone
    again = snapshot.world_of(json.loads(text_of(world)), TOPICS)
    assert text_of(again) == text_of(world)
    redeemed = 0
    for market in gone:
        winner = YES if market.listing.outcome else NO
        with suppress(PositionNotFound):
            redeem(again.venues, again.agents["ada"], (market.market_id, winner), times(again))
            redeemed += 1
    assert redeemed
    books_balance(again)


@pytest.mark.slow
def test_old_positions_without_a_payout_are_forgotten() -> None:
    world = new_world()
    market = market_of(world, life_s=0.0)
    put(world, "ada", market)
    account = world.venues.account("ada", EVM)
    holding = account.holdings[market.market_id]
    for count in range(SETTLED_KEPT + 5):
        account.holdings[f"old{count}"] = VenuePosition(
            holding.position,
            "q",
            "c",
            AT,
            PositionState.REDEEMED,
            outcome=True,
            resolved_at=Timestamp(count),
        )
    advance(world, Timestamp(world.at + market.listing.resolved_at - world.world_at))
    assert "old0" not in account.holdings
    assert len(account.holdings) <= SETTLED_KEPT + 1


def test_an_empty_account_counts_nothing() -> None:
    assert VenueAccount("ada", EVM).redeemable_count() == 0


# -- anything at all -----------------------------------------------------------------------


class Traders:
    """Random operations on the venues of one world; each gives its events."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = random.Random(seed)
        self.refused: Counter[str] = Counter()

    def operate(self) -> list[Event]:
        draw = self.rng.random()
        if draw < 0.08:
            return advance(
                self.world, Timestamp(self.world.at + self.rng.choice((1.0, 2.0, 4.0, 4.0, 900.0)))
            )
        if draw < 0.16:
            return self.cancel()
        if draw < 0.2:
            return self.redeem()
        try:
            return self.trade()
        except Refusal as refusal:
            self.refused[refusal.code] += 1
            return []

    def cancel(self) -> list[Event]:
        agent = self.rng.choice(list(self.world.agents.values()))
        found = self.world.venues.orders(agent.agent_id)
        chosen = found if self.rng.random() < 0.1 else found[:1]
        return [*cancel_all(self.world.venues, chosen, times(self.world))]

    def redeem(self) -> list[Event]:
        venues = self.world.venues
        for account in venues.accounts.values():
            for market_id, holding in account.holdings.items():
                side = next((one for one in Side if holding.payout(one)), None)
                if side is not None:
                    agent = self.world.agents[account.agent_id]
                    return [*redeem(venues, agent, (market_id, side), times(self.world))]
        return []

    def trade(self) -> list[Event]:
        rng, world = self.rng, self.world
        name = rng.choice(list(world.agents))
        found = [
            one
            for one in world.markets.values()
            if one.listing.home is not Venue.SIM and one.status(world.world_at).value == "active"
        ]
        # Few markets, so that traders meet each other.
        market = min(rng.sample(found, 12), key=lambda one: one.market_id)
        side = rng.choice(list(Side))
        kind = rng.choice((None, GTC, GTC, GTC, GTD, FOK, FAK))
        fields: dict[str, object] = {"side": side, "order_type": kind}
        held = world.venues.free_shares(name, market.market_id, side)
        size = rng.randrange(100, 4_000) / 100
        if held and rng.random() < 0.5:
            whole = held if rng.random() < 0.3 else held // 20 // SHARE_QUANTUM * SHARE_QUANTUM * 10
            fields |= {"action": SELL, "size": Micros(whole)}
        else:
            fields |= {"size": Micros(round(size * ONE))}
        if kind is not None and rng.random() < 0.9:
            book = world.venues.book(market.market_id)
            tick = book.quotes(world.world_at).tick
            mid = book.mid(times(world)) if side is YES else 1 - book.mid(times(world))
            ticks = round(mid * ONE / tick) + rng.randrange(-4, 5)
            fields["price"] = Micros(ticks * tick)
        return put(world, name, market, **fields)


@pytest.mark.slow
def test_random_operations_keep_every_micro_and_a_replay_makes_the_same_world() -> None:
    world = mixed(new_world("ada", "bea", "cyd"))
    start = text_of(world)
    traders = Traders(world, 5)
    events: list[Event] = []
    moments = [(0, start)]
    for count in range(1, 1_501):
        events += traders.operate()
        if count % 100 == 0:
            books_balance(world)
        if count % 500 == 0:
            moments.append((len(events), text_of(world)))
    kinds = Counter(kind_of(event) for event in events)
    ends = Counter(one.reason for one in events if isinstance(one, OrderEnded))
    between = sum(isinstance(one, OrderFilled) and not one.taken for one in events)
    crossed = sum(isinstance(one, OrderFilled) and bool(one.taken) for one in events)
    # The run means something: everything happened, often.
    assert kinds["order"] > 500
    assert kinds["redeemed"] > 10
    assert between > 10
    assert crossed > 10
    assert set(ends) >= {OrderEnd.FILLED, OrderEnd.CANCELLED, OrderEnd.MARKET_CLOSED}
    assert {one.outcome for one in events if isinstance(one, MarketResolved)} == set(ENDS)
    spans = [(moments[0], moments[-1]), (moments[1], moments[2])]
    for (since, text), (until, wanted) in spans:
        assert text_of(replayed(text, events[since:until])) == wanted


@pytest.mark.slow
def test_a_world_read_back_trades_on_as_the_one_that_was_not_stopped() -> None:
    world = new_world("ada", "bea", "cyd")
    first = Traders(world, 9)
    for _ in range(400):
        first.operate()
    again = snapshot.world_of(json.loads(text_of(world)), TOPICS)
    one, other = Traders(world, 10), Traders(again, 10)
    for _ in range(300):
        one.operate()
        other.operate()
        assert again.venues.payable == waiting_payouts(again)
    assert text_of(again) == text_of(world)
