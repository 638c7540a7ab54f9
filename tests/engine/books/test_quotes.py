"""The simulated quotes of a venue: their tiers, fees, times and levels."""

from itertools import pairwise

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.engine.books import liquidity
from service_tui.engine.books.liquidity import (
    EDGE,
    PRICE_HIGH,
    PRICE_LOW,
    REFRESH_S,
    TICK,
    TICK_FINE,
    background,
    fee_rate_bps,
    quoted_at,
    refresh_at,
    tier_of,
)
from service_tui.engine.listing import Listing
from service_tui.terms import Category, Venue
from service_tui.units import ONE, Micros, Timestamp


def listing(**changes: object) -> Listing:
    return listed(bare_world(), "00000000-0000-4000-a000-000000000001", **changes).listing


@pytest.mark.parametrize(
    ("b", "name"),
    [(2_000, "tight"), (1_800, "tight"), (1_799, "moderate"), (750, "moderate"), (749, "wide")],
)
def test_a_deep_question_is_quoted_tightly(b: int, name: str) -> None:
    assert tier_of(listing(b=Micros(b * ONE))).name == name


@pytest.mark.parametrize(
    ("home", "category", "fee"),
    [
        (Venue.SIM, Category.POLITICS, 0),
        (Venue.EVM, Category.POLITICS, 400),
        (Venue.EVM, Category.SCIENCE, 0),
        (Venue.SOL, Category.SCIENCE, 700),
    ],
)
def test_takers_pay_the_venues_fee(home: Venue, category: Category, fee: int) -> None:
    assert fee_rate_bps(listing(home=home, category=category)) == fee


def test_a_refresh_stands_until_the_next_and_the_last_one_before_the_end() -> None:
    one = listing()
    number = refresh_at(one, AT)

    assert quoted_at(number) <= AT < quoted_at(number + 1)
    assert quoted_at(number + 1) - quoted_at(number) == REFRESH_S
    late = refresh_at(one, Timestamp(one.resolves_at + 900))
    assert late == refresh_at(one, one.resolves_at)
    assert quoted_at(late) <= one.resolves_at - REFRESH_S


@pytest.mark.parametrize("price", [0.01, 0.03, 0.05, 0.4, 0.5, 0.95, 0.985])
@pytest.mark.parametrize("b", [500, 1_000, 2_000])
def test_levels_lie_a_tick_apart_around_the_price_and_in_its_range(price: float, b: int) -> None:
    one = listing(start_price=price, b=Micros(b * ONE))
    tier = tier_of(one)

    quotes = background(7, one, refresh_at(one, AT))

    is_inner = EDGE <= quotes.external <= 1.0 - EDGE
    assert quotes.tick == (TICK if is_inner else TICK_FINE)
    bids, asks = ([level.price for level in side] for side in (quotes.bids, quotes.asks))
    assert bids == sorted(bids, reverse=True)
    assert asks == sorted(asks)
    assert len(bids) <= tier.levels
    assert len(asks) <= tier.levels
    for side in (bids, asks):
        assert all(abs(a - b) == quotes.tick for a, b in pairwise(side))
        assert all(PRICE_LOW <= level <= PRICE_HIGH for level in side)
    if bids and asks:
        assert bids[0] < quotes.external * ONE < asks[0]
    if is_inner and tier.levels * 0.01 + tier.half_spread < quotes.external < 0.8:
        assert (len(bids), len(asks)) == (tier.levels, tier.levels)


@pytest.mark.parametrize(
    ("chance", "tick"),
    [
        (EDGE - 1e-9, TICK_FINE),
        (EDGE, TICK),
        (0.5, TICK),
        (1.0 - EDGE, TICK),
        (1.0 - EDGE + 1e-9, TICK_FINE),
        (0.99, TICK_FINE),
    ],
)
def test_prices_move_in_tenths_of_a_cent_near_either_end(
    monkeypatch: pytest.MonkeyPatch, chance: float, tick: Micros
) -> None:
    monkeypatch.setattr(liquidity, "chance_of", lambda _: chance)

    quotes = background(7, listing(), 5)

    assert (quotes.number, quotes.external, quotes.tick) == (5, chance, tick)
    assert all(level.price % tick == 0 for level in (*quotes.bids, *quotes.asks))


@pytest.mark.parametrize("chance", [0.0625, 0.125, 0.25, 0.375])
def test_both_sides_of_a_question_are_quoted_alike(
    monkeypatch: pytest.MonkeyPatch, chance: float
) -> None:
    spreads: list[int] = []
    for one in (chance, 1.0 - chance):
        monkeypatch.setattr(liquidity, "chance_of", lambda _, one=one: one)
        quotes = background(7, listing(b=Micros(500 * ONE)), 5)
        spreads.append(quotes.asks[0].price - quotes.bids[0].price)
    assert spreads[0] == spreads[1]


def test_the_money_of_a_level_lies_in_what_backs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liquidity.Draws, "between", lambda *_: 1.0)
    one = listing(start_price=0.4)
    tier = tier_of(one)

    quotes = background(7, one, refresh_at(one, AT))

    for depth, (bid, ask) in enumerate(zip(quotes.bids, quotes.asks, strict=True)):
        money = tier.depth * (1.0 + 0.3 * depth)
        assert bid.shares == round(money / (bid.price / ONE)) * ONE
        assert ask.shares == round(money / (1.0 - ask.price / ONE)) * ONE


def test_a_price_near_its_end_is_backed_by_some_money_at_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(liquidity.Draws, "between", lambda *_: 1.0)
    one = listing(start_price=0.02)
    tier = tier_of(one)

    quotes = background(7, one, refresh_at(one, AT))

    best = quotes.bids[0]
    assert best.price < 50_000
    assert best.shares == round(tier.depth / 0.05) * ONE


def test_the_same_refresh_of_a_world_is_the_same_and_another_is_not() -> None:
    one = listing()
    number = refresh_at(one, AT)

    assert background(7, one, number) == background(7, one, number)
    assert background(8, one, number) != background(7, one, number)
    assert background(7, one, number + 1).external != background(7, one, number).external
