"""The order book: matching, quotes, expiry and rounding."""

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engine.topics import TOPICS
from kit.examples import examples
from service_tui.engine.books.book import (
    Book,
    Match,
    Offer,
    Resting,
    TakeRequest,
    is_bid,
    maker_money,
    money_of,
    own_price,
    shares_for,
    walk,
)
from service_tui.engine.books.liquidity import (
    PRICE_HIGH,
    PRICE_LOW,
    REFRESH_S,
    TICK,
    TICK_FINE,
    TIERS,
    background,
    fee_rate_bps,
    refresh_at,
    tier_of,
)
from service_tui.engine.errors import OwnOrderInTheWay
from service_tui.engine.listing import Listing
from service_tui.engine.tape.feed import Tape
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
NOW: Final = (AT, AT)
TAPE: Final = Tape(7, TOPICS)
LISTINGS: Final = tuple(
    one
    for one in TAPE.listings_at(AT)
    if one.home is not Venue.SIM and one.resolves_at > AT + REFRESH_S
)
YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL

listings = st.sampled_from(LISTINGS)
moments = st.floats(0, 1).map(lambda u: u)
sides, actions = st.sampled_from(Side), st.sampled_from(Action)
quanta = st.integers(1, 10**8).map(lambda n: n * SHARE_QUANTUM)
prices = st.integers(1, 999).map(lambda n: n * 1_000)


def within(listing: Listing, share: float) -> Timestamp:
    return Timestamp(listing.opens_at + share * (listing.resolves_at - listing.opens_at))


def resting(order_id: str, price: int, shares: int, **changes: object) -> Resting:
    order = Resting(
        order_id=order_id,
        agent_id=f"agent of {order_id}",
        venue=Venue.EVM,
        market_id="m",
        side=YES,
        action=BUY,
        order_type=OrderType.GTC,
        price=Micros(price),
        requested=Micros(shares),
        left=Micros(shares),
        reserved=Micros(0),
        at=AT,
        world_at=AT,
    )
    return replace(order, **changes)  # pyright: ignore[reportArgumentType]


def book_with(*orders: Resting) -> Book:
    book = Book(7, LISTINGS[0])
    book.orders = {order.order_id: order for order in orders}
    return book


# -- simulated quotes ----------------------------------------------------------------------


@pytest.mark.slow
@given(listing=listings, share=moments, seed=st.integers(0, 5))
@examples(75)
def test_quotes_are_never_crossed_and_lie_on_ticks_within_the_range(
    listing: Listing, share: float, seed: int
) -> None:
    quotes = background(seed, listing, refresh_at(listing, within(listing, share)))
    bids, asks = [one.price for one in quotes.bids], [one.price for one in quotes.asks]
    assert bids == sorted(bids, reverse=True)
    assert asks == sorted(asks)
    assert len(set(bids + asks)) == len(bids + asks)
    assert not (bids and asks) or bids[0] < asks[0]
    assert bids or asks
    for level in quotes.bids + quotes.asks:
        assert PRICE_LOW <= level.price <= PRICE_HIGH
        assert level.price % quotes.tick == 0
        assert level.shares >= ONE
        assert level.shares % SHARE_QUANTUM == 0
    assert quotes.tick == (TICK if 0.04 <= quotes.external <= 0.96 else TICK_FINE)


def test_the_same_seed_market_and_refresh_make_the_same_quotes() -> None:
    number = refresh_at(LISTINGS[0], AT)
    again = background(7, replace(LISTINGS[0]), number)
    assert background(7, LISTINGS[0], number) == again
    assert background(8, LISTINGS[0], number) != again
    assert background(7, LISTINGS[0], number + 1) != again
    assert background(7, LISTINGS[1], number) != again


def test_after_the_end_the_last_quotes_stand_so_that_no_outcome_shines_through() -> None:
    listing = LISTINGS[0]
    late = refresh_at(listing, Timestamp(listing.resolves_at + 10_000))
    assert late == refresh_at(listing, listing.resolves_at)
    assert late * REFRESH_S < listing.resolves_at


def test_spreads_and_depth_follow_the_tier() -> None:
    def spread(tier_name: str) -> tuple[float, float]:
        found = [
            background(7, listing, refresh_at(listing, AT))
            for listing in LISTINGS
            if tier_of(listing).name == tier_name and 0.2 < listing.start_price < 0.8
        ]
        two = [one for one in found if one.bids and one.asks and one.tick == TICK]
        width = sum(one.asks[0].price - one.bids[0].price for one in two) / len(two)
        depth = sum(level.shares for one in two for level in one.asks) / len(two)
        return width, depth

    tight, moderate, wide = (spread(tier.name) for _, tier in TIERS)
    assert tight[0] < moderate[0] < wide[0]
    assert tight[1] > moderate[1] > wide[1]


# -- the book ------------------------------------------------------------------------------


def test_better_prices_come_first_then_agents_then_the_older_order() -> None:
    book = book_with()
    best = book.quotes(AT).bids[0].price
    first, second = resting("o1", best, 10 * ONE), resting("o2", best, 20 * ONE)
    better = resting("o3", best + 1_000, 30 * ONE)
    no_side = resting("o4", ONE - best, 40 * ONE, side=NO, action=SELL)
    book.orders = {one.order_id: one for one in (first, second, better, no_side)}
    offers = book.offers(NOW, bids=True)
    assert [one.order for one in offers[:5]] == [better, first, second, no_side, None]
    assert [one.price for one in offers[:5]] == [best + 1_000, best, best, best, best]
    level = book.best(NOW, bids=True)
    assert level is not None
    assert level.price == best + 1_000
    assert level.shares == 30 * ONE


def test_an_expired_order_is_met_by_nobody() -> None:
    order = resting("o1", 990_000, 10 * ONE, expires_at=AT)
    book = book_with(order)
    assert all(one.order is None for one in book.offers(NOW, bids=True))
    assert book.offers((Timestamp(AT - 1), AT), bids=True)[0].order is order


def test_what_is_taken_is_gone_until_the_next_refresh() -> None:
    book = book_with()
    quotes = book.quotes(AT)
    first, second = quotes.asks[:2]
    book.take(quotes.number, (first, (second.price, Micros(ONE))))
    left = list(book.levels(AT, bids=False))
    assert left[0] == (second.price, second.shares - ONE)
    assert tuple(book.levels(AT, bids=True)) == quotes.bids
    later = Timestamp(AT + REFRESH_S)
    assert tuple(book.levels(later, bids=False)) == book.quotes(later).asks


@given(side=sides, action=actions)
def test_an_order_for_no_stands_as_its_mirror(side: Side, action: Action) -> None:
    assert is_bid(side, action) is not is_bid(side.other, action)
    assert own_price(side, own_price(side, Micros(300_000))) == 300_000
    assert own_price(NO, Micros(300_000)) == 700_000


# -- walking -------------------------------------------------------------------------------


def wanted(**changes: object) -> TakeRequest:
    basis = TakeRequest("me", YES, BUY, None, None, None)
    return basis._replace(**changes)


def test_a_walk_takes_the_best_first_and_stops_at_its_limit() -> None:
    book = book_with()
    asks = book.quotes(AT).asks
    limit = asks[1].price
    found = walk(
        book.offers(NOW, bids=False), wanted(shares=Micros(10**12), limit=Micros(limit)), 0
    )
    assert [(one.price, one.shares) for one in found.matches] == list(asks[:2])
    assert not found.is_whole
    part = walk(book.offers(NOW, bids=False), wanted(shares=Micros(ONE)), 0)
    assert [(one.price, one.shares) for one in part.matches] == [(asks[0].price, ONE)]
    assert part.is_whole
    assert part.taken() == ((asks[0].price, ONE),)


@pytest.mark.parametrize(("action", "money"), [(BUY, 1), (SELL, 0)])
def test_money_is_rounded_against_the_taker_at_each_match(action: Action, money: int) -> None:
    offers = [Offer(Micros(price), Micros(1), None) for price in (400_000, 400_001)]
    found = walk(offers, wanted(action=action, shares=Micros(2)), 0)
    assert [one.money for one in found.matches] == [money] * 2
    assert (found.shares, found.money, found.is_whole) == (2, 2 * money, True)


@pytest.mark.parametrize(
    ("money", "shares", "bought"),
    [(4 * ONE, 100 * ONE, 10), (100 * ONE, 7 * ONE, 7), (4 * ONE, None, 10), (None, 7 * ONE, 7)],
)
def test_a_buy_bound_by_money_and_by_shares_ends_at_the_nearer_bound(
    money: int | None, shares: int | None, bought: int
) -> None:
    offers = [Offer(Micros(400_000), Micros(50 * ONE), None)]
    bounds = [None if one is None else Micros(one) for one in (money, shares)]
    found = walk(offers, TakeRequest("me", YES, BUY, None, *bounds), 0)
    assert (found.shares, found.money) == (bought * ONE, bought * 400_000)
    assert found.is_whole


def test_a_walk_never_meets_an_order_of_its_own_agent() -> None:
    book = book_with(resting("o1", 1_000, 10 * ONE, side=YES, action=SELL, agent_id="me"))
    with pytest.raises(OwnOrderInTheWay, match="o1"):
        walk(book.offers(NOW, bids=False), wanted(shares=Micros(ONE)), 0)


@pytest.mark.slow
@given(
    listing=listings,
    side=sides,
    action=actions,
    size=st.integers(1, 10**10),
    limit=st.none() | prices,
    bps=st.sampled_from((0, 100, 720, 10_000)),
)
@examples(100)
def test_a_walk_conserves_shares_and_money_and_keeps_its_bounds(  # noqa: PLR0917
    listing: Listing, side: Side, action: Action, size: int, limit: int | None, bps: int
) -> None:
    book = Book(7, listing)
    buys = action is BUY
    order = TakeRequest(
        "me",
        side,
        action,
        None if limit is None else Micros(limit),
        Micros(size) if buys else None,
        None if buys else Micros(size * SHARE_QUANTUM),
    )
    offers = book.offers(NOW, bids=not is_bid(side, action))
    found = walk(offers, order, bps)
    assert found.shares == sum(one.shares for one in found.matches)
    assert found.money == sum(one.money for one in found.matches)
    assert found.shares % SHARE_QUANTUM == 0
    standing = {one.price: one.shares for one in offers}
    exact_fee = 0.0
    for one in found.matches:
        own = own_price(side, one.price)
        assert 0 < one.shares <= standing[one.price]
        exact = one.shares * own / ONE
        assert exact <= one.money < exact + 1 if buys else exact - 1 < one.money <= exact
        if limit is not None:
            assert own <= limit if buys else own >= limit
        exact_fee += one.shares * bps / 10_000 * own * (ONE - own) / ONE / ONE
    assert found.fee % 10 == 0
    assert exact_fee - 0.01 <= found.fee < exact_fee + 10.01
    if buys:
        assert found.money <= size
    else:
        assert found.shares <= size * SHARE_QUANTUM
        assert found.is_whole is (found.shares == size * SHARE_QUANTUM)


@given(price=prices, shares=quanta, taker=sides, action=actions, maker=sides)
def test_two_agents_exchange_exactly_what_a_share_is_worth(  # noqa: PLR0917
    price: int, shares: int, taker: Side, action: Action, maker: Side
) -> None:
    own = own_price(taker, Micros(price))
    match = Match(
        Micros(price), Micros(shares), money_of(Micros(shares), own, up=action is BUY), None
    )
    makers = SELL if (maker is taker) is (action is BUY) else BUY
    order = resting("o1", own_price(maker, Micros(price)), shares, side=maker, action=makers)
    money = maker_money(match, taker, order)
    paid = sum(
        amount if does is BUY else -amount
        for amount, does in ((match.money, action), (money, makers))
    )
    # Two buyers make a pair of shares worth one, two sellers give one back, else nothing is made.
    made = {(BUY, BUY): shares, (SELL, SELL): -shares}.get((action, makers), 0)
    assert paid == made
    # Makers never fare worse than at their own price.
    fair = shares * order.price / ONE
    assert money <= fair if makers is BUY else money >= fair


@given(money=st.integers(1, 10**12), price=prices)
def test_money_buys_no_more_shares_than_it_pays_for(money: int, price: int) -> None:
    shares = shares_for(Micros(money), Micros(price))
    assert money_of(shares, Micros(price), up=True) <= money
    assert money_of(Micros(shares + SHARE_QUANTUM), Micros(price), up=True) > money or (
        (shares + SHARE_QUANTUM) * price > money * ONE
    )


def test_nobody_pays_a_fee_where_there_is_no_book() -> None:
    assert {fee_rate_bps(replace(one, home=Venue.SIM)) for one in LISTINGS} == {0}
    assert all(0 <= fee_rate_bps(one) <= 1_000 for one in LISTINGS)
    assert any(fee_rate_bps(one) > 0 for one in LISTINGS)
