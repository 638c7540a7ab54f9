"""Amounts of the wire in micros."""

from hypothesis import given
from hypothesis import strategies as st

from service_tui.desk.wire_values import amount
from service_tui.units import ONE


@given(st.floats(-1e9, 1e9))
def test_an_amount_of_the_wire_becomes_the_nearest_micro(value: float) -> None:
    assert abs(amount(value) / ONE - value) <= 0.5e-6 + abs(value) * 1e-15
