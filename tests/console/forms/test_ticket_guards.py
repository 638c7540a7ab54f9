"""Guards of the ticket as values: slippage, the stop of a low price, a size by risk."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from kit.samples.risk import monitor_of
from service_tui.console.fields import FieldError
from service_tui.console.forms.ticket_guards import (
    RISK_FIX,
    SLIPPAGE,
    SLIPPAGE_DEFAULT,
    is_risk,
    low_price_text,
    read_slippage,
    read_worst,
    risked_money,
    slippage_max,
    slippage_objection,
    stop_of,
    takes_worst,
    wider_stop,
)
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.buy_limits import RiskDefaults
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Probability

STATE = sample_state()
MARKET = replace(STATE.markets[STATE.positions[0].market_id], price=Probability(0.4))
BUY = PlaceTrade(MARKET.market_id, Side.YES, Action.BUY, Venue.SIM, Micros(ONE))


@pytest.mark.parametrize(
    ("text", "points"),
    [("", 5), ("7.5", 7.5), ("99", 99), ("off", None), ("0.01", 0.01), ("nonsense", 5), ("-3", 5)],
)
def test_a_limit_of_slippage_that_cannot_be_read_is_the_default(
    text: str, points: float | None
) -> None:
    state = replace(STATE, preferences={SLIPPAGE: text})
    assert slippage_max(state) == (None if points is None else Micros(round(points * ONE)))


@pytest.mark.parametrize("text", ["100", "0.001", "nan", "5 pt", "-1"])
def test_no_points_are_refused_with_the_fix(text: str) -> None:
    with pytest.raises(FieldError, match="slippage"):
        read_slippage(text)


@pytest.mark.parametrize(
    ("average", "before", "most", "said"),
    [
        (0.55, 0.5, SLIPPAGE_DEFAULT, ""),
        (0.5502, 0.5, SLIPPAGE_DEFAULT, "Slippage 5.0 pt is beyond 5 pt"),
        # A sale slips down.
        (0.44, 0.5, SLIPPAGE_DEFAULT, "Slippage 6.0 pt is beyond 5 pt"),
        (0.9, 0.1, None, ""),
        (None, 0.5, SLIPPAGE_DEFAULT, ""),
    ],
)
def test_slippage_is_the_distance_of_the_average_from_the_price_now(
    average: float | None, before: float, most: Micros | None, said: str
) -> None:
    quote = QuoteView(1, ok=True, average=average, price_before=before)
    assert slippage_objection(quote, most) == said
    assert slippage_objection(None, most) == ""
    assert slippage_objection(replace(quote, ok=False), most) == ""


@pytest.mark.parametrize(
    ("price", "stop", "wider"),
    [
        (0.3, 0.2, None), (0.29, 0.2, 0.25), (0.2, 0.2, 0.3), (0.1, 0.2, 0.6), (0.05, 0.2, 0.8),
        (0.05, 0.8, None), (0.15, 0.1, 0.2), (0.0, 0.2, None),
    ],
)  # fmt: skip
def test_a_wider_stop_is_as_far_as_at_a_price_of_thirty(
    price: float, stop: float, wider: float | None
) -> None:
    assert wider_stop(price, stop) == wider


def test_the_warning_names_the_points_and_the_key() -> None:
    assert low_price_text(0.2, 0.2, "F10") == "only 4.0 points away; F10 sets 30 %"
    assert low_price_text(0.05, 0.8, "F10") == "only 4.0 points away"
    assert low_price_text(0.3, 0.2, "F10") == ""


@pytest.mark.parametrize(
    ("risk", "stop", "money"), [(20, 0.2, 100), (20, 0.25, 80), (1, 0.3, 3.33), (20, 1.0, 20)]
)
def test_a_size_by_risk_loses_no_more_at_the_stop(risk: int, stop: float, money: float) -> None:
    got = risked_money(Micros(risk * ONE), MARKET, BUY, stop)
    assert got == Micros(round(money * ONE))
    assert got * stop <= risk * ONE


def test_a_size_by_risk_counts_the_way_from_the_ask_to_the_mark() -> None:
    market = replace(MARKET, bid=0.39, ask=0.45)
    order = replace(BUY, venue=Venue.EVM)
    # A share costs 0.45 and is sold at 0.32.
    assert risked_money(Micros(13 * ONE), market, order, 0.2) == Micros(45 * ONE)


def test_without_a_stop_there_is_no_size_by_risk() -> None:
    for stop in (None, 0.0):
        with pytest.raises(FieldError, match=RISK_FIX):
            risked_money(Micros(ONE), MARKET, BUY, stop)


@pytest.mark.parametrize(("text", "by"), [("20r", True), (" 20 R", True), ("20", False)])
def test_a_size_by_risk_is_marked(text: str, *, by: bool) -> None:
    assert is_risk(text) is by


def test_the_stop_of_a_buy_is_typed_or_the_position_s_or_the_default() -> None:
    assert STATE.buy_limits is not None
    limits = replace(STATE.buy_limits, defaults=RiskDefaults(0.2, None, auto_monitor=True))
    bare = replace(STATE, risk=replace(STATE.risk, monitors=()), buy_limits=limits)
    assert stop_of(bare, BUY, 0.3) == 0.3
    assert stop_of(bare, BUY, None) == 0.2
    monitor = monitor_of(MARKET.market_id, stop_loss_pct=0.4)
    guarded = replace(bare, risk=replace(bare.risk, monitors=(monitor,)))
    assert stop_of(guarded, BUY, None) == 0.4
    off = replace(limits, defaults=RiskDefaults(0.2, None, auto_monitor=False))
    assert stop_of(replace(bare, buy_limits=off), BUY, None) is None
    assert stop_of(replace(bare, buy_limits=None), BUY, None) is None


def test_a_worst_price_is_taken_where_the_service_keeps_it() -> None:
    elsewhere = replace(STATE, service=replace(STATE.service, embedded=False))
    assert takes_worst(STATE, Venue.SIM, rests=False, buys=True)
    assert takes_worst(elsewhere, Venue.EVM, rests=False, buys=True)
    assert not takes_worst(elsewhere, Venue.SIM, rests=False, buys=True)
    assert not takes_worst(STATE, Venue.SIM, rests=False, buys=False)
    assert not takes_worst(STATE, Venue.EVM, rests=True, buys=True)
    assert (read_worst(""), read_worst("0.47")) == (None, 0.47)
    for text in ("0", "1", "nan", "-0.4", "0.47555"):
        with pytest.raises(FieldError, match="Not above"):
            read_worst(text)
