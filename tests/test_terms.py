"""Words that every floor shares."""

import pytest

from service_tui.terms import AlertCondition

ABOVE, BELOW = AlertCondition.ABOVE, AlertCondition.BELOW
RISES, FALLS = AlertCondition.CROSSES_ABOVE, AlertCondition.CROSSES_BELOW


@pytest.mark.parametrize(
    ("condition", "price", "fires", "fires_if_armed"),
    [
        (ABOVE, 0.499, False, False), (ABOVE, 0.5, True, True), (ABOVE, 0.6, True, True),
        (BELOW, 0.501, False, False), (BELOW, 0.5, True, True), (BELOW, 0.4, True, True),
        (RISES, 0.499, False, False), (RISES, 0.5, False, True), (RISES, 0.6, False, True),
        (FALLS, 0.501, False, False), (FALLS, 0.5, False, True), (FALLS, 0.4, False, True),
    ],
)  # fmt: skip
def test_an_alert_fires_at_its_threshold_and_a_crossing_only_from_the_near_side(
    condition: AlertCondition, price: float, *, fires: bool, fires_if_armed: bool
) -> None:
    assert condition.fires(0.5, price, is_armed=False) is fires
    assert condition.fires(0.5, price, is_armed=True) is fires_if_armed
