"""The simulated crowd: number, size and direction of its trades."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.amm import lmsr
from service_tui.engine.amm.market import Market
from service_tui.engine.events import CrowdTrade
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.crowd import (
    INFORMED,
    INTENTIONS_MAX,
    NOISE,
    WHALES,
    Intention,
    corrections,
    crowd_trade,
    crowd_trades,
    intentions,
    opening_of,
    turnover,
)
from service_tui.engine.tape.feed import Tape
from service_tui.terms import Side
from service_tui.units import ONE, PRICE_MAX, PRICE_MIN, Micros, Probability, Timestamp

SEED: Final = 12
START: Final = Timestamp(1_790_000_000.0)


class Floor:
    """Markets with nobody but the crowd: enough of a maker to see what it does to prices."""

    def __init__(self) -> None:
        self.tape = Tape(SEED, TOPICS)
        self.prices: dict[str, float] = {}
        self.wishes: list[Intention] = []
        self.counts: list[int] = []
        self.gaps: list[float] = []

    def run(self, ticks: int, span_s: float) -> None:
        for tick in range(ticks):
            at = Timestamp(START + tick * span_s)
            listings = [one for one in self.tape.listings_at(at) if at < one.resolves_at]
            quotes = [
                (one, self.prices.setdefault(one.market_id, belief(one, at))) for one in listings
            ]
            wishes = intentions(SEED, quotes, tick=tick, at=at, span_s=span_s)
            known = {one.market_id: one for one in listings}
            for wish in wishes:
                self.prices[wish.market_id] = price_after(
                    known[wish.market_id], self.prices[wish.market_id], wish
                )
            self.wishes += wishes
            self.counts.append(len(wishes))
            self.gaps += [abs(self.prices[one.market_id] - belief(one, at)) for one in listings]


def price_after(listing: Listing, price: float, wish: Intention) -> float:
    sign = 1.0 if wish.side is Side.YES else -1.0
    x = -sign * math.log(price / (1.0 - price))
    b = listing.b / ONE
    shares = lmsr.shares_for_spend(wish.spend / ONE, b=b, x=x)
    after = lmsr.price(x - shares / b)
    return after if wish.side is Side.YES else 1.0 - after


@cache
def floor(ticks: int, span_s: float) -> Floor:
    played = Floor()
    played.run(ticks, span_s)
    return played


def open_listings(at: Timestamp = START) -> list[Listing]:
    return [one for one in Tape(SEED, TOPICS).listings_at(at) if at < one.resolves_at]


def at_price(price: float) -> list[tuple[Listing, float]]:
    return [(one, price) for one in open_listings()]


def many_ticks(quotes: Iterable[tuple[Listing, float]], ticks: int) -> list[Intention]:
    return [
        wish
        for tick in range(ticks)
        for wish in intentions(SEED, quotes, tick=tick, at=START, span_s=1.0)
    ]


@pytest.mark.slow
def test_a_second_brings_six_to_fifteen_trades() -> None:
    counts = floor(200, 1.0).counts
    assert 6 < sum(counts) / len(counts) < 15
    assert max(counts) <= INTENTIONS_MAX


@pytest.mark.slow
@pytest.mark.parametrize(("ticks", "span_s"), [(200, 1.0), (50, 10.0), (50, 60.0)])
def test_prices_stay_near_the_beliefs_at_any_speed(ticks: int, span_s: float) -> None:
    played = floor(ticks, span_s)
    assert max(played.counts) <= INTENTIONS_MAX
    assert sum(played.gaps) / len(played.gaps) < 0.03
    assert all(PRICE_MIN < price < PRICE_MAX for price in played.prices.values())


def test_a_tick_trades_each_market_at_most_once() -> None:
    wishes = intentions(SEED, at_price(0.5), tick=1, at=START, span_s=60.0)
    assert len(wishes) == INTENTIONS_MAX
    assert len({wish.market_id for wish in wishes}) == len(wishes)


def test_the_crowd_is_a_function_of_seed_tick_and_prices() -> None:
    quotes = at_price(0.4)
    once = intentions(SEED, quotes, tick=7, at=START, span_s=10.0)
    assert intentions(SEED, quotes, tick=7, at=START, span_s=10.0) == once
    assert intentions(SEED, reversed(quotes), tick=7, at=START, span_s=10.0) == once
    assert intentions(SEED, quotes, tick=8, at=START, span_s=10.0) != once
    assert intentions(SEED + 1, quotes, tick=7, at=START, span_s=10.0) != once


@pytest.mark.slow
def test_the_informed_close_part_of_the_gap_and_never_more() -> None:
    quotes = at_price(0.5)
    known = {one.market_id: one for one, _ in quotes}
    seen = 0
    for wish in many_ticks(quotes, 60):
        if wish.trader not in INFORMED:
            continue
        seen += 1
        target = belief(known[wish.market_id], START)
        after = price_after(known[wish.market_id], 0.5, wish)
        assert min(0.5, target) - 1e-4 <= after <= max(0.5, target) + 1e-4
        assert (after - 0.5) * (target - 0.5) > 0
    assert seen > 100


@pytest.mark.slow
def test_the_informed_leave_a_fair_price_alone() -> None:
    quotes = [(one, float(belief(one, START))) for one in open_listings()]
    assert not [wish for wish in many_ticks(quotes, 40) if wish.trader in INFORMED]


def test_news_is_traded_within_seconds() -> None:
    one = replace(open_listings()[0], news=())
    price = belief(one, START) - 0.3 if belief(one, START) > 0.5 else belief(one, START) + 0.3
    waits: list[int] = []
    for trial in range(60):
        for tick in range(60):
            wishes = intentions(trial, [(one, price)], tick=tick, at=START, span_s=1.0)
            if any(wish.trader in INFORMED for wish in wishes):
                waits.append(tick)
                break
    assert len(waits) == 60
    assert sum(waits) / len(waits) < 8


@pytest.mark.slow
def test_noise_buys_both_sides_and_pushes_nowhere() -> None:
    for price in (0.1, 0.5, 0.85):
        quotes = at_price(price)
        known = {one.market_id: one for one, _ in quotes}
        wishes = [wish for wish in many_ticks(quotes, 150) if wish.trader not in INFORMED]
        assert {wish.side for wish in wishes} == {Side.YES, Side.NO}
        moves = [price_after(known[wish.market_id], price, wish) - price for wish in wishes]
        mean = sum(moves) / len(moves)
        error = math.sqrt(sum(move * move for move in moves)) / len(moves)
        assert abs(mean) < 4 * error


@pytest.mark.slow
def test_noise_is_small_and_round_with_a_rare_whale() -> None:
    wishes = [wish for wish in many_ticks(at_price(0.5), 250) if wish.trader not in INFORMED]
    spends = sorted(wish.spend / ONE for wish in wishes)
    assert 5 < spends[len(spends) // 2] < 25
    assert spends[-1] > 300
    assert all(spend >= 1 and spend == int(spend) for spend in spends)
    names = Counter(wish.trader for wish in wishes)
    assert set(names) <= set(NOISE) | set(WHALES)
    assert 0 < sum(names[name] for name in WHALES) < 0.05 * len(wishes)


def test_twenty_four_handles_trade() -> None:
    handles = {*INFORMED, *NOISE, *WHALES}
    assert len(handles) == 24
    assert all(handle.isprintable() and len(handle) <= 16 for handle in handles)
    assert {wish.trader for wish in floor(200, 1.0).wishes} == handles


@pytest.mark.parametrize("moved", ["before", "after"])
def test_markets_that_are_not_open_are_passed_over(moved: str) -> None:
    quotes = [
        (
            replace(one, opens_at=Timestamp(START + 1))
            if moved == "before"
            else replace(one, resolves_at=START),
            0.5,
        )
        for one in open_listings()
    ]
    assert intentions(SEED, quotes, tick=1, at=START, span_s=60.0) == []


@pytest.mark.slow
@pytest.mark.parametrize("price", [0.0003, 0.004, 0.5, 0.996, 0.9997])
def test_every_intention_is_a_legal_order_at_its_price(price: float) -> None:
    quotes = at_price(price)
    known = {one.market_id: one for one, _ in quotes}
    for wish in many_ticks(quotes, 60):
        assert wish.spend >= ONE
        after = price_after(known[wish.market_id], price, wish)
        assert min(price, 0.0004) <= after <= max(price, 0.9996)


def test_a_calm_moment_brings_next_to_nothing() -> None:
    quotes = [(one, float(belief(one, START))) for one in open_listings()]
    assert len(intentions(SEED, quotes, tick=1, at=START, span_s=0.01)) <= 2


# -- one market ----------------------------------------------------------------------------


def listed(**changes: object) -> Listing:
    """A market of one hour whose belief is its start price: it is asked before it opens."""
    given: dict[str, object] = {
        "market_id": "8000b69d-1e49-49e5-a551-7c9c368dcaf3",
        "b": Micros(1_000 * ONE),
        "start_price": Probability(0.5),
        "opens_at": Timestamp(1_000.0),
        "resolves_at": Timestamp(4_600.0),
        "resolved_at": Timestamp(4_700.0),
    }
    return replace(Tape(SEED, TOPICS).listing_of(0, 0), **{**given, **changes})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("b", "lot"), [(1_000, 22.5616), (50, 15.0)])
def test_a_market_turns_over_its_trades_of_noise_times_their_size(b: int, lot: float) -> None:
    # The first four digits of the id say that it is in the middle of the fashion: 0.095 a second.
    assert turnover(listed(b=Micros(b * ONE))) == pytest.approx(0.095001 * lot, rel=1e-4)


@pytest.mark.parametrize(
    ("target", "side", "price"),
    [
        (0.7, Side.YES, 0.7),
        (0.3, Side.NO, 0.3),
        (0.99999, Side.YES, PRICE_MAX),
        (0.00001, Side.NO, PRICE_MIN),
    ],
)
def test_one_trade_brings_a_market_to_a_price_at_its_cost(
    target: float, side: Side, price: float
) -> None:
    market = Market(listed(start_price=Probability(0.6)))
    before = market.price_of(side)
    (trade,) = crowd_trade(market, target, "mae")
    assert trade == CrowdTrade(market.market_id, side, trade.shares, trade.cost, "mae")
    market.move(side, trade.shares)
    assert market.price() == pytest.approx(price, abs=1e-6)
    after = market.price_of(side)
    assert trade.cost / ONE == pytest.approx(1_000 * math.log((1 - before) / (1 - after)), abs=1e-2)
    assert trade.shares % 10 == 0


def test_a_market_at_its_price_needs_no_trade() -> None:
    market = Market(listed())
    assert crowd_trade(market, 0.5, "mae") == []
    assert crowd_trade(market, 0.5 + 1e-9, "mae") == []


def test_a_long_gap_corrects_open_markets_alone() -> None:
    before = Timestamp(0.0)
    still = listed(market_id="8001b69d-1e49-49e5-a551-7c9c368dcaf3", start_price=Probability(0.7))
    ended = Market(listed(market_id="8002b69d-1e49-49e5-a551-7c9c368dcaf3"))
    ended.move(Side.YES, Micros(ONE))
    ended.resolved_at = before
    far = Market(still)
    far.move(Side.YES, Micros(200 * ONE))
    (trade,) = corrections([ended, far, Market(listed())], before)
    assert trade == crowd_trade(far, 0.7, "the crowd")[0]
    assert trade.side is Side.NO
    assert trade.shares == pytest.approx(200 * ONE, abs=10)
    assert corrections([far], still.resolves_at) == []


def test_a_question_listed_in_the_middle_of_its_life_opens_at_its_belief() -> None:
    listing = listed(start_price=Probability(0.4), outcome=True)
    (trade,) = opening_of(listing, listing.resolves_at)
    market = Market(listing)
    assert [trade] == crowd_trade(market, belief(listing, listing.resolves_at), "the crowd")
    market.move(trade.side, trade.shares)
    assert market.price() == pytest.approx(0.9995, abs=1e-6)
    assert opening_of(listing, Timestamp(0.0)) == ()


def test_a_step_trades_what_the_crowd_wants_at_the_quotes_of_the_markets() -> None:
    at = Timestamp(2_000.0)
    markets = {
        listing.market_id: Market(listing)
        for listing in (
            listed(market_id=f"800{n}b69d-1e49-49e5-a551-7c9c368dcaf{n}") for n in range(9)
        )
    }
    ended = next(iter(markets.values()))
    ended.resolved_at = at
    quotes = [(one.listing, one.price()) for one in markets.values() if one is not ended]
    wanted = intentions(SEED, quotes, tick=3, at=at, span_s=60.0)
    trades = crowd_trades(SEED, markets, (3, Timestamp(at - 60), at))
    assert len(wanted) > 4
    assert trades == [
        CrowdTrade(
            one.market_id,
            one.side,
            markets[one.market_id].quote_buy(one.side, one.spend).shares,
            one.spend,
            one.trader,
        )
        for one in wanted
    ]


def test_what_the_market_refuses_is_no_trade(monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(listed())
    monkeypatch.setattr(
        "service_tui.engine.tape.crowd.intentions",
        lambda *_args, **_named: [
            Intention(market.market_id, Side.NO, Micros(10_000_000 * ONE), "mae"),
            Intention(market.market_id, Side.NO, Micros(5 * ONE), "ann"),
        ],
    )
    (trade,) = crowd_trades(SEED, {market.market_id: market}, (1, Timestamp(0), Timestamp(1)))
    assert (trade.trader, trade.cost) == ("ann", 5 * ONE)


def test_the_crowd_of_a_world_wants_the_same_in_every_release() -> None:
    quotes = [
        (listed(market_id=f"{n}000b69d-1e49-49e5-a551-7c9c368dcaf{n}", b=b, **times), price)
        for n, (b, times, price) in enumerate([
            (Micros(900 * ONE), {}, 0.5),
            (Micros(400 * ONE), {}, 0.05),
            (Micros(5_000 * ONE), {"resolves_at": Timestamp(2_799.0)}, 0.9),
            (Micros(300 * ONE), {"resolves_at": Timestamp(2_800.0)}, 0.35),
            (Micros(2_000 * ONE), {}, 0.985),
        ])
    ]
    at = Timestamp(1_600.0)
    found = [
        (int(one.market_id[0]), one.side.value, one.spend / ONE, one.trader)
        for tick in range(4)
        for one in intentions(5, quotes, tick=tick, at=at, span_s=4.0)
    ]
    assert found == [
        (0, "yes", 117.09, "slowlight"),
        (2, "no", 1228.6, "northdesk"),
        (1, "yes", 42.94, "oldkeel"),
        (3, "yes", 47.39, "oldkeel"),
        (3, "yes", 44.25, "slowlight"),
        (0, "yes", 226.52, "tern_survey"),
        (4, "no", 103.18, "oldkeel"),
        (2, "no", 1228.6, "quietledger"),
        (1, "yes", 28.87, "slowlight"),
        (4, "no", 605.58, "ninefathoms"),
        (2, "yes", 6.0, "velvetfox"),
        (2, "no", 1228.6, "slowlight"),
        (4, "no", 150.58, "martingale_mae"),
    ]
