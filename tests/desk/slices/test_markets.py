"""Prices of a market's two sides, and its changes."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.terms import MarketStatus, Side
from service_tui.units import Probability

STATE = sample_state(12)

MARKET = replace(
    next(one for one in STATE.markets.values() if one.is_open),
    price=Probability(0.4),
    price_24h_ago=0.25,
    venue_price=0.46,
    bid=0.3,
    ask=0.45,
)


def test_both_sides_of_a_market_are_worth_one_together() -> None:
    assert MARKET.price_of(Side.YES) == 0.4
    assert MARKET.price_of(Side.NO) == pytest.approx(0.6)


def test_who_sells_yes_buys_no() -> None:
    assert MARKET.quotes_of(Side.YES) == (0.3, 0.45)
    assert MARKET.quotes_of(Side.NO) == pytest.approx((0.55, 0.7))
    assert replace(MARKET, bid=None).quotes_of(Side.NO) == (pytest.approx(0.55), None)
    assert replace(MARKET, ask=None).quotes_of(Side.NO) == (None, pytest.approx(0.7))


def test_a_change_and_a_gap_are_measured_from_the_price_here() -> None:
    assert MARKET.change == pytest.approx(0.15)
    assert MARKET.gap == pytest.approx(0.06)
    assert replace(MARKET, price_24h_ago=None).change is None
    assert replace(MARKET, venue_price=None).gap is None


@pytest.mark.parametrize("status", MarketStatus)
def test_an_active_market_alone_takes_orders(status: MarketStatus) -> None:
    assert replace(MARKET, status=status).is_open == (status is MarketStatus.ACTIVE)
