"""A price alert as it is typed: its side, its condition, and what it will say."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.price_alert import PriceAlertForm
from service_tui.desk.commands.risk import SetPriceAlert
from service_tui.desk.slices.risk import Condition
from service_tui.terms import MarketStatus, Side
from service_tui.units import Probability

STATE = sample_state()
MARKET = replace(
    next(one for one in STATE.markets.values() if one.status is MarketStatus.ACTIVE),
    price=Probability(0.6),
)


@contextmanager
def alert(**changes: Any) -> Iterator[Unopened[PriceAlertForm]]:
    with unopened(PriceAlertForm(STATE, NOW, replace(MARKET, **changes))) as seen:
        yield seen


def test_the_alert_that_is_set_has_the_side_and_the_price_of_the_form() -> None:
    with alert() as t:
        t.type("alert-price", "0.65")
        t.submit("alert-price")
        assert t.returned == [
            SetPriceAlert(MARKET.market_id, Side.YES, Condition.ABOVE, 0.65, MARKET.question)
        ]


@pytest.mark.parametrize(
    ("side", "typed", "condition"),
    [
        ("yes", "0.61", Condition.ABOVE), ("yes", "0.6", Condition.ABOVE),
        ("yes", "0.59", Condition.BELOW), ("no", "0.41", Condition.ABOVE),
        ("no", "0.39", Condition.BELOW),
    ],
)  # fmt: skip
def test_without_a_choice_the_alert_waits_for_the_way_from_the_price_of_its_side(
    side: str, typed: str, condition: Condition
) -> None:
    with alert() as t:
        if side == "no":
            t.form.action_side()
        t.type("alert-price", typed)
        assert f"● {condition.describe}" in t.text("alert-condition")
        t.submit("alert-price")
        assert (t.returned[0].side.value, t.returned[0].condition) == (side, condition)


def test_sides_and_conditions_come_round_by_key_and_by_click() -> None:
    with alert() as t:
        assert t.text("alert-side").split() == ["●", "YES", "0.600", "○", "NO", "0.400"]
        t.form.action_side()
        assert "● NO" in t.text("alert-side")
        t.form.action_side()
        assert "● YES" in t.text("alert-side")
        t.pick("alert-side", 1)
        assert "● NO" in t.text("alert-side")
        t.pick("alert-side", 0)
        assert "● YES" in t.text("alert-side")
        # Without a price the first choice is above, and the key takes the one behind it.
        for word in ("below", "crosses above", "crosses below", "above", "below"):
            t.form.action_condition()
            t.type("alert-price", "0.65")
            assert f"● {word}" in t.text("alert-condition")
        for place, condition in enumerate(Condition):
            t.pick("alert-condition", place)
            assert f"● {condition.describe}" in t.text("alert-condition")


def test_the_key_takes_the_condition_behind_the_one_that_is_shown() -> None:
    with alert() as t:
        t.type("alert-price", "0.5")
        assert "● below" in t.text("alert-condition")
        t.form.action_condition()
        assert "● crosses above" in t.text("alert-condition")


@pytest.mark.parametrize(
    ("typed", "said"),
    [("", "Enter the alert price"), (" ", "Enter the alert price"), ("0", "between 0 and 1"),
     ("1", "between 0 and 1"), ("1.2", "between 0 and 1"), ("x", "")],
)  # fmt: skip
def test_what_is_no_price_is_refused(typed: str, said: str) -> None:
    with alert() as t:
        t.type("alert-price", typed)
        assert said in t.text("form-problem")
        assert t.is_disabled("form-set")
        assert t.text("form-preview") == "One-shot notification on this console; no trade."


def test_a_market_that_closes_meanwhile_takes_no_alert() -> None:
    with alert() as t:
        t.type("alert-price", "0.65")
        assert not t.is_disabled("form-set")
        closed = replace(MARKET, status=MarketStatus.CLOSED)
        t.form.take(replace(STATE, markets={MARKET.market_id: closed}), NOW)
        assert "closed" in t.text("form-problem").lower()
        t.submit("alert-price")
        assert t.returned == []
        t.form.take(replace(STATE, markets={MARKET.market_id: MARKET}), NOW)
        # A market that is not listed for a moment keeps its last row.
        t.form.take(replace(STATE, markets={}), NOW)
        assert not t.is_disabled("form-set")


@pytest.mark.parametrize(
    ("place", "typed", "said"),
    [
        (0, "0.6", "YES is already above: alerts at once"),
        (0, "0.5", "YES is already above: alerts at once"),
        (1, "0.6", "YES is already below: alerts at once"),
        (1, "0.7", "YES is already below: alerts at once"),
        (2, "0.5", "YES is already above: alerts once the price returns and crosses"),
        (3, "0.7", "YES is already below: alerts once the price returns and crosses"),
        (0, "0.65", "Alert when YES > 0.65 (+5.0 pt)"),
        (1, "0.55", "Alert when YES < 0.55 (-5.0 pt)"),
        (2, "0.65", "Alert when YES crosses above 0.65 (+5.0 pt)"),
        (3, "0.55", "Alert when YES crosses below 0.55 (-5.0 pt)"),
    ],
)
def test_the_form_says_when_the_alert_comes(place: int, typed: str, said: str) -> None:
    with alert() as t:
        t.pick("alert-condition", place)
        t.type("alert-price", typed)
        assert t.text("form-preview").startswith(said)
