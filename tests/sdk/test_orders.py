"""The arguments of `trade()`: rounding and refusals."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.sdk.orders import order_of, signal_with
from service_tui.wire.trades import TradeRequest


def order(*, amount: float = 0.0, shares: float = 0.0, **fields: Any) -> TradeRequest:
    usual = {"market_id": "m-1", "side": "yes", "action": "buy", "venue": "sim"}
    return order_of(usual | fields, amount=amount, shares=shares)


def test_money_has_two_decimals_and_shares_have_five() -> None:
    assert order(amount=10.126).amount == 10.13
    assert order(action="sell", shares=3.1234567).shares == 3.12346
    assert order(amount=7).amount == 7.0


def test_the_other_size_is_zero() -> None:
    assert order(amount=5).shares == 0
    assert order(action="sell", shares=5).amount == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"amount": 0}, "above 0"),
        ({"amount": -5}, "above 0"),
        ({"amount": math.nan}, "above 0"),
        ({"amount": math.inf}, "amount"),
        ({"amount": 0.004}, "after rounding"),
        ({"amount": 1e12}, "amount"),
        ({"amount": 5, "shares": 1}, "takes no shares"),
        ({"action": "sell"}, "above 0"),
        ({"action": "sell", "shares": 0.000001}, "after rounding"),
        ({"action": "sell", "shares": 1, "amount": 1}, "takes no amount"),
        ({"amount": 5, "action": "hold"}, "amount"),
        ({"amount": 5, "side": "maybe"}, "side"),
        ({"amount": 5, "order_type": "IOC"}, "order_type"),
        ({"amount": 5, "market_id": "../agents/me"}, "market_id"),
        ({"amount": 5, "price": 0.0005}, "0.001"),
        ({"amount": 5, "price": 0.9995}, "0.999"),
        ({"amount": 5, "price": 1.5}, "price"),
        ({"amount": 5, "price": math.nan}, "price"),
        ({"amount": 5, "price": 0.5, "venue": "sol_venue"}, "takes no price"),
        ({"amount": 5, "skill_slug": "a b"}, "skill_slug"),
        ({"amount": 5, "reasoning": "x" * 5_000}, "reasoning"),
        ({"amount": 5, "signal_data": {"a": {}}}, "signal_data"),
        ({"amount": 5, "signal_data": {"a": math.nan}}, "signal_data"),
        ({"amount": 5, "signal_data": {f"k{n}": n for n in range(65)}}, "64 keys"),
    ],
)
def test_what_no_service_would_take_is_refused_here(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        order(**fields)


def test_no_value_is_repeated_in_the_error() -> None:
    with pytest.raises(ValueError, match="skill_slug") as raised:
        order(amount=5, skill_slug="sk live secret")
    assert "secret" not in str(raised.value)


def test_notes_are_flat_strings_and_numbers() -> None:
    assert signal_with({"edge": 0.1, "n": 2}, "client_ref", "r") == {
        "client_ref": "r",
        "edge": 0.1,
        "n": 2,
    }
    assert signal_with({"client_ref": "own"}, "client_ref", "r") == {"client_ref": "own"}
    for value in (True, None, [], {}):
        with pytest.raises(ValueError, match=r"signal_data\.a"):
            signal_with({"a": value}, "client_ref", "r")


@given(st.floats(0.01, 1e6))
def test_a_rounded_amount_is_what_the_wire_takes(amount: float) -> None:
    sent = order(amount=amount).amount
    assert sent == round(sent, 2)
    assert abs(sent - amount) <= 0.0051
