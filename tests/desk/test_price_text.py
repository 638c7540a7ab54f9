"""A price in a sentence of the desk is the one of the screens."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.console import formats
from service_tui.desk.fill_tickets import fill_tickets
from service_tui.desk.slices.orders import price_text


@pytest.mark.parametrize(
    ("price", "text"),
    [(0.9995, "0.9995"), (0.00049, "0.0005"), (0.5, "0.500"), (0.99, "0.990"), (1.0, "1.000")],
)
def test_a_price_near_its_end_is_not_rounded_to_it(price: float, text: str) -> None:
    assert price_text(price) == text
    assert formats.price(price).plain == text


def test_a_fill_at_the_highest_price_is_not_shown_as_certain() -> None:
    state = sample_state()
    trade = replace(state.trades[0], average=0.9995)
    (ticket,) = fill_tickets((trade,), ())
    assert "average 0.9995" in ticket.outcome
