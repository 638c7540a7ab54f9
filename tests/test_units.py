"""Micros and their rounding."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.units import (
    AMOUNT_MAX,
    ONE,
    PRICE_MAX,
    PRICE_MIN,
    SHARE_QUANTUM,
    Micros,
    NotMicrosError,
    decimal,
    figure_within,
    micros,
    money_down,
    shares_down,
)

WHOLE = st.integers(-int(AMOUNT_MAX) * ONE, int(AMOUNT_MAX) * ONE)
AMOUNTS = st.floats(0, AMOUNT_MAX)


@given(WHOLE)
def test_every_micro_survives_the_way_through_a_double(amount: int) -> None:
    assert micros(decimal(Micros(amount))) == amount


@pytest.mark.parametrize(
    ("written", "meant"),
    [(0.0, 0), (25, 25 * ONE), (0.1, 100_000), (-0.000001, -1), (999_999_999.999999, None)],
)
def test_a_decimal_becomes_its_micros(written: float, meant: int | None) -> None:
    assert micros(written) == (round(written * ONE) if meant is None else meant)


@pytest.mark.parametrize(
    "amount",
    [math.nan, math.inf, -math.inf, 1e9 + 1, -1e9 - 1, 0.0000001, 1.0000005, 1e300],
)
def test_what_is_no_amount_never_becomes_one(amount: float) -> None:
    with pytest.raises(NotMicrosError):
        micros(amount)


@given(AMOUNTS)
def test_what_the_taker_gets_is_rounded_down(amount: float) -> None:
    assert 0 <= amount * ONE - money_down(amount) < 1


@given(AMOUNTS)
def test_shares_come_in_whole_quanta_and_never_too_many(amount: float) -> None:
    shares = shares_down(amount)
    assert shares % SHARE_QUANTUM == 0
    assert 0 <= amount * ONE - shares < SHARE_QUANTUM + 1e-3 * max(1.0, amount)


@given(st.integers(0, 10**13))
def test_whole_quanta_stay_as_they_are_or_lose_one(quanta: int) -> None:
    shares = Micros(quanta * SHARE_QUANTUM)
    assert shares_down(decimal(shares)) in {shares, shares - SHARE_QUANTUM}


def test_the_ends_of_the_prices_lie_inside_of_the_ends_of_probability() -> None:
    assert 0 < PRICE_MIN < PRICE_MAX < 1
    assert math.isclose(PRICE_MIN + PRICE_MAX, 1.0)


@pytest.mark.parametrize(
    ("value", "figure"),
    [
        (0.5, 0.5), (0, 0.0), (1, 1.0), (True, None), (False, None), ("0.5", None), (None, None),
        (math.nan, None), (math.inf, None), (1.01, None), (-0.01, None), (10**400, None),
    ],
)  # fmt: skip
def test_a_figure_from_outside_is_within_its_bounds_or_unknown(
    value: object, figure: float | None
) -> None:
    assert figure_within(value, (0.0, 1.0)) == figure
