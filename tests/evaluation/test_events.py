"""What a set of all outcomes costs and pays: against the market maker that sells it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.engine.amm.lmsr import cost_of_shares
from service_tui.evaluation.events import SET_SHARES, OutcomePrice, event_sums
from service_tui.units import ONE, Micros, Probability

DEPTH = Micros(500 * ONE)
PRICES = st.floats(0.001, 0.999)


def outcomes(*prices: float, depth: Micros | None = DEPTH) -> list[OutcomePrice]:
    return [OutcomePrice(Probability(price), depth) for price in prices]


@given(st.lists(PRICES, min_size=2, max_size=8))
def test_a_set_costs_what_the_market_makers_ask_for_its_parts(prices: list[float]) -> None:
    sums = event_sums(outcomes(*prices))
    shares = SET_SHARES / ONE
    asked = math.fsum(
        cost_of_shares(shares, b=DEPTH / ONE, x=math.log((1 - price) / price)) for price in prices
    )
    assert sums.yes_set.cost is not None
    assert sums.yes_set.cost / ONE == pytest.approx(asked, abs=1e-6 * (len(prices) + 1))
    assert sums.sum_yes == math.fsum(prices)


@given(st.lists(PRICES, min_size=2, max_size=8))
def test_whichever_outcome_comes_true_a_set_pays_the_same(prices: list[float]) -> None:
    sums = event_sums(outcomes(*prices))
    for _ in prices:
        assert sums.yes_set.pays == SET_SHARES
        assert sums.no_set.pays == SET_SHARES * (len(prices) - 1)
    # Both sets together are every share of every market: they cost no less than these pay.
    both = (sums.yes_set.cost or 0) + (sums.no_set.cost or 0)
    assert both >= SET_SHARES * len(prices)


def test_fair_prices_leave_no_gain_and_low_ones_do() -> None:
    assert (event_sums(outcomes(0.5, 0.3, 0.2)).yes_set.gain or 0) < 0
    assert (event_sums(outcomes(0.3, 0.2, 0.1)).yes_set.gain or 0) > 0


def test_a_part_without_a_price_leaves_the_sum_unknown() -> None:
    mixed = [*outcomes(0.4), *outcomes(0.5, depth=None)]
    assert event_sums(mixed).yes_set.cost is None
    assert event_sums(mixed).yes_set.gain is None
    books = [OutcomePrice(Probability(0.4), None, 0.39, 0.41), OutcomePrice(Probability(0.5))]
    assert (event_sums(books).asks, event_sums(books).bids) == (None, None)
    assert event_sums(books[:1]).asks == 0.41
    assert event_sums([]).yes_set.cost is None


def test_a_set_beyond_all_depth_costs_its_payout_and_no_error() -> None:
    thin = outcomes(0.5, 0.5, depth=Micros(1))
    cost = event_sums(thin).yes_set.cost
    assert cost == pytest.approx(2 * SET_SHARES, abs=4)
