"""What may be typed as a limit, a threshold and quiet hours, and what may not."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.console.fields import FieldError, percent_text
from service_tui.console.forms.buy_limit_draft import (
    figure_text,
    read_buy_limit,
    read_defaults,
    read_figure,
    read_quiet,
)
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.slices.buy_limits import BuyLimit, BuyLimitView, RiskDefaults
from service_tui.terms import DAY_BUYS_MAX
from service_tui.units import AMOUNT_MAX, ONE

BAD = (
    "nan", "NaN", "inf", "-inf", "Infinity", "-5", "-0.01", "0", "0.00", "1e3", "1e999", "5,00",
    "five", ".", "1.2.3", "0x10", "\u0665", "1_000", "10000000001", "9" * 60, "5.001",
)  # fmt: skip
TRADE = BuyLimitView(BuyLimit.TRADE, 100 * ONE, 40 * ONE)
BUYS = BuyLimitView(BuyLimit.DAY_BUYS, 50, None, used=7)
MARKET = BuyLimitView(BuyLimit.MARKET, 2_000 * ONE, None)
DEFAULTS = RiskDefaults(0.2, None, auto_monitor=True)


def refused(read: Callable[[], object]) -> str:
    with pytest.raises(FieldError) as error:
        read()
    return str(error.value)


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("whose", ["service", "own"])
def test_what_is_no_limit_is_refused_in_a_sentence(text: str, whose: str) -> None:
    lines = {"service": "100.00", "own": "40.00", whose: text}
    assert refused(lambda: read_buy_limit(TRADE, lines["service"], lines["own"]))
    with pytest.raises(FieldError):
        read_buy_limit(BUYS, *(text if one == whose else "" for one in ("service", "own")))


@pytest.mark.parametrize("text", ["2.5", " ", "1e2", "0", "5001", "-1", "1000001"])
def test_a_number_of_buys_is_whole_and_within_the_plan(text: str) -> None:
    with pytest.raises(FieldError):
        read_figure(BuyLimit.DAY_BUYS, text, most=5_000)


def test_the_plans_most_is_said() -> None:
    assert refused(lambda: read_buy_limit(BUYS, "5001", "", most=5_000)) == (
        "Above the plan's limit of 5,000"
    )


def test_only_what_changed_is_ordered_the_desks_own_first() -> None:
    both = read_buy_limit(TRADE, "80", "20")
    assert both.commands == (
        SetBuyLimit(BuyLimit.TRADE, 20 * ONE, own=True),
        SetBuyLimit(BuyLimit.TRADE, 80 * ONE),
    )
    assert read_buy_limit(TRADE, "80", "40.00").commands == (SetBuyLimit(BuyLimit.TRADE, 80 * ONE),)
    assert "No change yet" in refused(lambda: read_buy_limit(TRADE, "100.00", " 40.00 "))


def test_what_was_changed_comes_back() -> None:
    change = read_buy_limit(TRADE, "80", "off")
    assert change.undone == (
        SetBuyLimit(BuyLimit.TRADE, 40 * ONE, own=True),
        SetBuyLimit(BuyLimit.TRADE, 100 * ONE),
    )


@pytest.mark.parametrize("text", ["", "off", " OFF "])
def test_only_what_may_be_off_can_be_taken_away(text: str) -> None:
    assert read_buy_limit(BUYS, text, "").service is None
    assert read_buy_limit(MARKET, text, "").service is None
    assert "cannot be off" in refused(lambda: read_buy_limit(TRADE, text, "40.00"))
    assert read_buy_limit(TRADE, "100.00", text).own is None


@pytest.mark.parametrize(
    ("service", "own", "loosened"),
    [
        ("100.00", "20", False),
        ("100.00", "60", True),
        ("100.00", "", True),
        ("50", "40.00", False),
        ("30", "", False),
        ("40", "", False),
        ("900", "40.00", False),
        ("900", "", True),
    ],
)
def test_a_limit_is_loosened_when_more_may_be_spent(
    service: str, own: str, *, loosened: bool
) -> None:
    assert read_buy_limit(TRADE, service, own).is_loosened is loosened


def test_taking_the_only_limit_away_loosens_it() -> None:
    desk = BuyLimitView(BuyLimit.DESK_DAY, None, 40 * ONE, used=0)
    assert read_buy_limit(desk, "", "").is_loosened
    assert not read_buy_limit(
        BuyLimitView(BuyLimit.DESK_DAY, None, None, used=0), "", "5"
    ).is_loosened


def test_an_unreadable_figure_is_mended_by_any_line() -> None:
    broken = BuyLimitView(BuyLimit.SIM_TRADE, 500 * ONE, None, is_broken=True)
    for text, figure in (("", None), ("25", 25 * ONE)):
        change = read_buy_limit(broken, "", text)
        assert change.commands == (SetBuyLimit(BuyLimit.SIM_TRADE, figure, own=True),)
        assert not change.after.is_broken


@given(st.integers(1, int(AMOUNT_MAX) * 100))
def test_a_figure_is_read_as_it_is_written(cents: int) -> None:
    amount = cents * ONE // 100
    assert read_figure(BuyLimit.TRADE, figure_text(BuyLimit.TRADE, amount)) == amount


@pytest.mark.slow
@given(st.integers(1, DAY_BUYS_MAX))
def test_a_number_is_read_as_it_is_written(count: int) -> None:
    assert read_figure(BuyLimit.DAY_BUYS, figure_text(BuyLimit.DAY_BUYS, count)) == count


# -- thresholds -----------------------------------------------------------------------------------


def read(stop: str, target: str, *, auto: bool = True) -> RiskDefaults:
    return read_defaults(DEFAULTS, stop, target, auto_monitor=auto)


@pytest.mark.parametrize(
    ("stop", "target", "expected"),
    [
        ("35", "", (0.35, None)),
        ("100", "", (1.0, None)),
        ("", "150", (None, 1.5)),
        ("off", "0", (None, None)),
        ("0", "off", (None, None)),
        ("20", "100000", (0.2, 1_000.0)),
        ("12.5", "33.3333", (0.125, 0.333333)),
    ],
)
def test_thresholds_are_percent(
    stop: str, target: str, expected: tuple[float | None, float | None]
) -> None:
    found = read(stop, target)
    assert (found.stop_loss_pct, found.take_profit_pct) == pytest.approx(expected)


@pytest.mark.parametrize("bad", ["nan", "inf", "-5", "+5", "five", "1e2", "1.23456", "9999999"])
def test_what_is_no_threshold_is_refused(bad: str) -> None:
    assert refused(lambda: read(bad, "")).startswith("stop")
    assert refused(lambda: read("20", bad)).startswith("target")


def test_a_stop_is_at_most_all_and_a_target_at_most_a_thousandfold() -> None:
    assert refused(lambda: read("100.1", "")) == "stop: at most 100 %"
    assert refused(lambda: read("20", "100001")) == "target: at most 100,000 %"


def test_nothing_changed_is_said_and_the_automatic_alone_is_a_change() -> None:
    assert "No change yet" in refused(lambda: read("20", ""))
    assert read("20", "", auto=False) == RiskDefaults(0.2, None, auto_monitor=False)


@given(st.floats(0.0001, 1.0))
def test_a_threshold_that_was_not_touched_loses_no_digits(fraction: float) -> None:
    before = RiskDefaults(fraction, None, auto_monitor=True)
    found = read_defaults(before, percent_text(fraction), "", auto_monitor=False)
    assert found.stop_loss_pct == fraction


# -- quiet hours ----------------------------------------------------------------------------------


def test_quiet_hours_are_a_span_or_off() -> None:
    found = read_quiet("22-7")
    assert found is not None
    assert found.describe() == "22:00-07:00"
    assert read_quiet("") is read_quiet("off") is None
    for bad in ("nan", "inf", "-1", "22", "25:00-7:00", "10:00-10:00", "night"):
        assert "22:00-07:00" in refused(lambda one=bad: read_quiet(one))
