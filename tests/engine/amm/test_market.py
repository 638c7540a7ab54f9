"""One market of the market maker: prices, quotes and bounds."""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.engine.amm.market import RECENT_MAX, SAMPLES_MAX, TAPE_MAX, Market, Quote
from service_tui.engine.errors import BelowMinimum, MarketNotOpen, PriceOutOfRange, Refusal
from service_tui.engine.listing import Listing
from service_tui.terms import Category, MarketStatus, Side
from service_tui.units import (
    ONE,
    PRICE_MAX,
    PRICE_MIN,
    SHARE_QUANTUM,
    Micros,
    Probability,
    Timestamp,
)

OPENS: Final = 1_800_000_000.0
DAY_S: Final = 86_400.0
LARGEST: Final = 10**15  # a billion in micros: the most that any field takes

starts = st.floats(0.01, 0.99)
depths = st.integers(20, 100_000).map(lambda units: units * ONE)
sides = st.sampled_from(Side)
spends = st.integers(1, 500 * ONE)
# An order: side, buy or sell, spend of a buy, parts per thousand of the holding to sell.
orders = st.tuples(sides, st.booleans(), spends, st.integers(1, 1_000))
unhurried = examples(15)

Orders = list[tuple[Side, bool, int, int]]


def market(
    *, b: int = 1_000 * ONE, start: float = 0.5, life_s: float = DAY_S, delay_s: float = 600.0
) -> Market:
    return Market(
        Listing(
            market_id="00000000-0000-4000-a000-000000000001",
            slot=0,
            number=0,
            category=Category.WEATHER,
            question="Will it rain?",
            criteria="It counts if it rains.",
            tags=("weather",),
            b=Micros(b),
            start_price=Probability(start),
            opens_at=Timestamp(OPENS),
            resolves_at=Timestamp(OPENS + life_s),
            resolved_at=Timestamp(OPENS + life_s + delay_s),
            outcome=True,
            strength=1.0,
            news=(),
        )
    )


def traded(book: Market, sequence: Orders) -> int:
    """Carries the orders out as one trader; what the market maker has taken in less paid out."""
    taken = 0
    for side, buys, spend, part in sequence:
        try:
            if buys:
                quote = book.quote_buy(side, Micros(spend))
                book.move(side, quote.shares)
                taken += quote.money
            elif held := book.sold(side) * part // 1_000:
                quote = book.quote_sell(side, Micros(held))
                book.move(side, Micros(-held))
                taken -= quote.money
        except Refusal:
            continue
    return taken


@given(depths, starts, st.lists(orders, max_size=20))
@unhurried
def test_the_prices_of_both_sides_sum_to_one(b: int, start: float, sequence: Orders) -> None:
    book = market(b=b, start=start)
    traded(book, sequence)
    assert book.price() == book.price_of(Side.YES)
    assert math.isclose(book.price_of(Side.YES) + book.price_of(Side.NO), 1.0, abs_tol=1e-15)


@st.composite
def books_in_use(draw: st.DrawFn) -> Market:
    book = market(b=draw(depths), start=draw(starts))
    traded(book, draw(st.lists(orders, max_size=10)))
    return book


books = books_in_use()


@given(depths, starts)
@unhurried
def test_a_market_opens_at_its_start_price(b: int, start: float) -> None:
    assert math.isclose(market(b=b, start=start).price(), start, rel_tol=1e-6)


@pytest.mark.slow
@given(books, sides, spends)
@examples(50)
def test_a_round_trip_never_profits(book: Market, side: Side, spend: int) -> None:
    before = (book.yes, book.no)
    try:
        bought = book.quote_buy(side, Micros(spend))
        book.move(side, bought.shares)
        sold = book.quote_sell(side, bought.shares)
    except Refusal:
        assume(False)  # noqa: FBT003
    book.move(side, Micros(-bought.shares))
    assert sold.money <= spend
    # Not even rounding takes more than the worth of a quantum and a micro.
    assert spend - sold.money <= SHARE_QUANTUM + 1
    assert (book.yes, book.no) == before


@pytest.mark.slow
@given(depths, starts, st.lists(orders, min_size=2, max_size=20))
@unhurried
def test_no_way_of_trading_in_and_out_profits(b: int, start: float, sequence: Orders) -> None:
    book = market(b=b, start=start)
    taken = traded(book, sequence)
    for side in Side:
        if book.sold(side):
            taken -= book.exit_value(side, book.sold(side))
            book.move(side, Micros(-book.sold(side)))
    assert taken >= 0


@given(depths, starts, st.lists(orders, max_size=40))
@unhurried
def test_the_maker_never_loses_more_than_its_bound(b: int, start: float, sequence: Orders) -> None:
    book = market(b=b, start=start)
    taken = traded(book, sequence)
    for winner in Side:
        assert taken - book.sold(winner) >= -book.worst_loss() - 1


def test_from_even_odds_the_bound_is_b_times_the_logarithm_of_two() -> None:
    assert math.isclose(market(b=100 * ONE).worst_loss(), 100 * ONE * math.log(2))


@given(depths, starts, sides, spends)
@unhurried
def test_a_buy_gets_whole_quanta_at_a_price_between_before_and_after(
    b: int, start: float, side: Side, spend: int
) -> None:
    book = market(b=b, start=start)
    try:
        quote = book.quote_buy(side, Micros(spend))
    except Refusal:
        assume(False)  # noqa: FBT003
    assert quote.money == spend
    assert quote.shares > 0
    assert quote.shares % SHARE_QUANTUM == 0
    assert quote.price_before <= quote.price_after <= PRICE_MAX
    book.move(side, quote.shares)
    assert book.price_of(side) == pytest.approx(quote.price_after, abs=1e-12)
    # The average lies between the prices, up to the quantum that rounding may keep.
    assert quote.price_before * quote.shares <= spend + 1
    assert spend <= quote.price_after * (quote.shares + SHARE_QUANTUM) + 1


@given(books, sides, spends, st.integers(1, 1_000))
@unhurried
def test_a_quote_changes_nothing(book: Market, side: Side, spend: int, part: int) -> None:
    before = (book.yes, book.no)
    with suppress(Refusal):
        quote = book.quote_buy(side, Micros(spend))
        book.quote_sell(side, Micros(max(1, quote.shares * part // 1_000)))
    assert (book.yes, book.no) == before


@given(depths, starts, sides, spends)
@unhurried
def test_what_an_exit_is_worth_is_what_the_sale_brings(
    b: int, start: float, side: Side, spend: int
) -> None:
    book = market(b=b, start=start)
    try:
        shares = book.quote_buy(side, Micros(spend)).shares
        book.move(side, shares)
        sold = book.quote_sell(side, shares)
    except Refusal:
        assume(False)  # noqa: FBT003
    assert book.exit_value(side, shares) == sold.money


def test_larger_b_means_smaller_slippage() -> None:
    shallow, deep = (market(b=b * ONE).quote_buy(Side.YES, Micros(100 * ONE)) for b in (300, 5_000))
    assert shallow.price_before == deep.price_before == 0.5
    assert shallow.price_after > deep.price_after
    assert shallow.shares < deep.shares


@given(st.integers(300, 5_000), st.floats(0.08, 0.92), sides)
@unhurried
def test_a_refused_buy_names_the_amount_that_passes(b: int, start: float, side: Side) -> None:
    book = market(b=b * ONE, start=start)
    with pytest.raises(PriceOutOfRange) as refusal:
        book.quote_buy(side, Micros(10**12))
    assert f"above {PRICE_MAX}" in refusal.value.error
    assert "spend at most" in refusal.value.fix
    most = float(refusal.value.fix.split()[3])
    quote = book.quote_buy(side, Micros(round(most * ONE)))
    assert quote.price_after <= PRICE_MAX
    with pytest.raises(PriceOutOfRange):
        book.quote_buy(side, Micros(round((most + 0.02) * ONE)))


@pytest.mark.parametrize("side", Side)
def test_at_the_edge_of_the_range_there_is_nothing_left_to_spend(side: Side) -> None:
    book = market(b=300 * ONE)
    most = float(refusal_of(book.quote_buy, side, 10**12).fix.split()[3])
    book.move(side, book.quote_buy(side, Micros(round(most * ONE))).shares)
    assert refusal_of(book.quote_buy, side, 10 * ONE).fix == "spend at most 0.00 $SIM here now"


def refusal_of(quote: Callable[[Side, Micros], Quote], side: Side, size: int) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        quote(side, Micros(size))
    return refusal.value


@pytest.mark.parametrize("side", Side)
def test_a_sale_below_the_range_is_refused_and_says_what_to_do(side: Side) -> None:
    refusal = refusal_of(market(b=300 * ONE).quote_sell, side, 10_000 * ONE)
    assert isinstance(refusal, PriceOutOfRange)
    assert f"below {PRICE_MIN}" in refusal.error
    assert refusal.fix == "sell fewer shares, or wait for the outcome"


@pytest.mark.parametrize("b", [300 * ONE, 5_000 * ONE])
@pytest.mark.parametrize("side", Side)
def test_the_largest_amounts_are_refused_and_not_a_fault(b: int, side: Side) -> None:
    book = market(b=b)
    assert isinstance(refusal_of(book.quote_buy, side, LARGEST), PriceOutOfRange)
    assert isinstance(refusal_of(book.quote_sell, side, LARGEST), PriceOutOfRange)


@pytest.mark.slow
def test_a_spend_that_buys_no_quantum_is_below_the_minimum() -> None:
    assert isinstance(refusal_of(market().quote_buy, Side.YES, 1), BelowMinimum)


def test_a_sale_that_brings_no_micro_is_below_the_minimum() -> None:
    assert isinstance(refusal_of(market().quote_sell, Side.YES, 1), BelowMinimum)


@pytest.mark.parametrize(
    ("after_s", "status"),
    [
        (0.0, MarketStatus.ACTIVE),
        (DAY_S - 0.001, MarketStatus.ACTIVE),
        (DAY_S, MarketStatus.CLOSED),
        (DAY_S + 10_000.0, MarketStatus.CLOSED),
    ],
)
def test_a_market_closes_when_it_may_resolve_and_is_final_only_when_confirmed(
    after_s: float, status: MarketStatus
) -> None:
    book = market()
    at = Timestamp(OPENS + after_s)
    assert book.status(at) is status
    assert (book.outcome, book.resolved_at) == (None, None)
    if status is MarketStatus.ACTIVE:
        book.check_open(at)
    else:
        with pytest.raises(MarketNotOpen, match="closed, awaiting its outcome"):
            book.check_open(at)


def test_a_confirmed_market_is_resolved_at_any_time() -> None:
    book = market()
    book.resolved_at = Timestamp(OPENS + DAY_S)
    assert book.status(Timestamp(OPENS)) is MarketStatus.RESOLVED
    with pytest.raises(MarketNotOpen, match=re.escape(f"is resolved: {book.listing.question}")):
        book.check_open(Timestamp(OPENS))


def test_volume_counts_the_last_day_of_the_tape() -> None:
    book = market(life_s=10 * DAY_S)
    for hour in range(48):
        book.count_volume(Timestamp(OPENS + hour * 3_600), Micros(ONE))
    now = Timestamp(OPENS + 47 * 3_600)
    assert book.volume_24h(now) == 24 * ONE
    assert book.volume_24h(Timestamp(now + 30 * 3_600)) == 0
    assert len(book.volumes) <= 24


def test_memory_of_prices_and_trades_is_bounded() -> None:
    book = market(life_s=DAY_S)
    for step in range(8_640):
        book.sample(Timestamp(OPENS + 10 * step))
    assert len(book.samples) <= SAMPLES_MAX
    assert len(book.recent) == RECENT_MAX
    assert book.tape.maxlen == TAPE_MAX


def test_the_price_of_a_while_ago_is_the_last_sample_before() -> None:
    book = market()
    assert book.price_ago(Timestamp(OPENS), DAY_S) == book.listing.start_price
    book.samples = [(Timestamp(OPENS + step * 100.0), step / 100) for step in range(1, 11)]
    now = Timestamp(OPENS + 1_000.0)
    assert book.price_ago(now, 0.0) == 0.10
    assert book.price_ago(now, 150.0) == 0.08
    assert book.price_ago(now, DAY_S) == 0.01
