"""What monitors and thresholds say of themselves."""

from dataclasses import replace

import pytest

from kit.samples.risk import alert_of, monitor_of, price_alert_of
from service_tui.desk.slices.risk import (
    EXIT,
    UNNAMED,
    Thresholds,
    exit_name,
    stop_price,
    target_price,
)
from service_tui.terms import AlertCondition, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


def test_a_stop_lies_below_the_entry_and_a_target_above_it() -> None:
    assert stop_price(0.5, 0.2) == pytest.approx(0.4)
    assert target_price(0.5, 0.2) == pytest.approx(0.6)
    for price in (stop_price, target_price):
        assert price(None, 0.2) is None
        assert price(0.5, None) is None
        assert price(0.5, 0.0) == 0.5


@pytest.mark.parametrize(
    ("thresholds", "peak", "price"),
    [
        (Thresholds(trailing_stop_pct=0.25), 0.8, 0.6),
        (Thresholds(trailing_stop_points=0.25), 0.8, 0.55),
        (Thresholds(trailing_stop_pct=0.1, trailing_stop_points=0.25), 0.8, 0.55),
        (Thresholds(trailing_stop_pct=0.25), None, None),
        (Thresholds(stop_loss_pct=0.25), 0.8, None),
    ],
)
def test_a_trailing_stop_follows_the_peak(
    thresholds: Thresholds, peak: float | None, price: float | None
) -> None:
    found = thresholds.trail_price(peak)
    assert found == (None if price is None else pytest.approx(price))
    assert thresholds.trails is (thresholds != Thresholds(stop_loss_pct=0.25))


def test_thresholds_are_said_with_all_that_they_watch() -> None:
    assert Thresholds().is_empty
    assert not Thresholds(exit_at=Timestamp(5.0)).is_empty
    assert Thresholds(0.125, 0.5).describe() == "stop 12.5% down, target 50.0% up"
    every = Thresholds(None, None, 0.2, None, Timestamp(1_800_000_000.0))
    assert every.describe() == (
        "no stop, no target, trailing stop 20.0% below the peak, "
        "time stop 15 Jan 08:00 UTC wall time"
    )
    points = Thresholds(trailing_stop_points=0.025).describe()
    assert points.endswith("trailing stop 2.5 pt below the peak")


def test_a_monitor_sells_at_the_higher_of_its_floors() -> None:
    both = monitor_of(entry=0.5, stop_loss_pct=0.2, trail_price=0.45, peak=0.6)
    assert (both.floor_price, both.is_trailing) == (0.45, True)
    lower = replace(both, trail_price=0.3)
    assert (lower.floor_price, lower.is_trailing) == (pytest.approx(0.4), False)
    neither = monitor_of(stop_loss_pct=None)
    assert (neither.floor_price, neither.is_trailing) == (None, False)
    shares = Micros(40 * ONE)
    whole = monitor_of(exit_value=Micros(22 * ONE), shares=shares)
    assert (whole.exit_price, whole.exit_pnl) == (0.55, -3 * ONE)
    assert monitor_of(shares=Micros(0)).exit_price is None


def test_an_exit_is_named_by_its_alert_and_the_moment_of_its_breach() -> None:
    at = Timestamp(1_800_000_000.4)
    assert exit_name("a-7", at) == f"{EXIT}a-7-1800000000"
    assert exit_name(f"{UNNAMED}m", at) == exit_name(f"{UNNAMED}m", Timestamp(5.0))
    odd = exit_name("alert/7", at)
    assert odd.startswith(EXIT)
    assert len(odd) == len(EXIT) + 32
    assert odd != exit_name("alert/8", at)
    alert = alert_of("a-7", breached_at=at, expires_at=Timestamp(at + 60))
    assert alert.exit_name == exit_name("a-7", at)
    assert [alert.left_s(Timestamp(at + late)) for late in (0, 59, 61)] == [60, 1, 0]
    assert alert_of(venue=Venue.EVM).holding != alert.holding == "m:yes"


def test_a_price_alert_is_said_with_its_side_and_its_price() -> None:
    said = {
        one: price_alert_of(condition=one, side=Side.NO, threshold=0.25).describe()
        for one in AlertCondition
    }
    assert said == {
        AlertCondition.ABOVE: "NO > 0.25",
        AlertCondition.BELOW: "NO < 0.25",
        AlertCondition.CROSSES_ABOVE: "NO crosses above 0.25",
        AlertCondition.CROSSES_BELOW: "NO crosses below 0.25",
    }
