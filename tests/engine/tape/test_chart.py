"""Price charts of markets over a span."""

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engine.topics import TOPICS
from kit.examples import examples
from service_tui.engine.amm.market import Market
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.chart import prices
from service_tui.engine.tape.feed import Tape
from service_tui.terms import Side
from service_tui.units import Timestamp

AT: Final = Timestamp(1_800_000_000.0)
LISTING: Final = max(
    Tape(7, TOPICS).listings_at(AT), key=lambda one: min(AT - one.opens_at, one.resolves_at - AT)
)


def traded(*samples: tuple[float, float]) -> Market:
    """A market with these recorded prices, by seconds before AT."""
    market = Market(replace(LISTING))
    market.samples = [(Timestamp(AT - ago), price) for ago, price in samples]
    return market


def test_points_are_even_steps_and_the_last_is_now() -> None:
    market = traded()
    points = prices(market, Timestamp(AT - 1_000), AT, 10)
    assert [at for at, _ in points] == pytest.approx([AT - 900 + 100 * n for n in range(10)])
    assert points[-1] == (AT, market.price())


def test_what_was_recorded_stands_and_the_belief_stands_elsewhere() -> None:
    market = traded((850.0, 0.111), (450.0, 0.222), (420.0, 0.333))
    points = prices(market, Timestamp(AT - 1_000), AT, 10)
    found = [price for _, price in points]
    assert found[1] == 0.111
    # Of two prices in one step the later one counts.
    assert found[5] == 0.333
    assert found[3] == belief(LISTING, points[3][0])


def test_each_point_without_a_price_is_the_belief_of_its_own_time() -> None:
    points = prices(traded(), Timestamp(AT - 1_000), AT, 4)
    assert [at - AT for at, _ in points] == [-750, -500, -250, 0]
    assert [price for _, price in points[:-1]] == [belief(LISTING, at) for at, _ in points[:-1]]


def test_every_tick_of_a_while_ago_is_finer_than_the_samples() -> None:
    market = traded((450.0, 0.222))
    market.recent.append((Timestamp(AT - 440.0), 0.444))
    assert prices(market, Timestamp(AT - 1_000), AT, 10)[5][1] == 0.444


def test_before_the_listing_and_after_the_end_there_is_nothing() -> None:
    market = traded()
    points = prices(market, Timestamp(0.0), Timestamp(AT + 1e9), 20)
    assert points[0][0] > LISTING.opens_at
    assert points[-1] == (LISTING.resolves_at, market.price())


@pytest.mark.parametrize("until", [LISTING.opens_at - 10, LISTING.opens_at])
def test_a_span_without_length_is_one_point(until: float) -> None:
    market = traded()
    assert prices(market, Timestamp(until - 50), Timestamp(until), 5) == [
        (until, market.price_of(Side.YES))
    ]


@pytest.mark.slow
@given(
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
    st.integers(1, 60),
    st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(0.01, 0.99)), max_size=20),
)
@examples(15)
def test_a_chart_is_in_order_within_its_span_and_never_too_long(
    ago: float, length: float, count: int, samples: list[tuple[float, float]]
) -> None:
    since = AT - ago
    points = prices(traded(*samples), Timestamp(since), Timestamp(since + length), count)
    assert 1 <= len(points) <= count
    assert all(earlier <= later for (earlier, _), (later, _) in pairwise(points))
    assert all(0 < price < 1 for _, price in points)
