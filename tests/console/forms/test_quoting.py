"""The worst price that an order may fill at, from its quote."""

import pytest

from service_tui.console.forms.quoting import bounded
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import Action, Side, Venue


@pytest.mark.parametrize(
    ("action", "average", "price"),
    [
        (Action.BUY, 0.5, 0.51),
        (Action.BUY, 0.99, 0.999),
        (Action.BUY, 0.9995, None),
        (Action.SELL, 0.5, 0.49),
        (Action.SELL, 0.001, 0.001),
        (Action.SELL, 0.0004, None),
        (Action.BUY, None, None),
    ],
)
def test_the_bound_lies_beyond_the_quote_or_there_is_none(
    action: Action, average: float | None, price: float | None
) -> None:
    order = PlaceTrade("m-1", Side.YES, action, Venue.SIM)
    assert bounded(order, QuoteView(1, ok=True, average=average)).price == price
