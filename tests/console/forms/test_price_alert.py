"""A price alert as it is typed: its side, its condition, and what it will say."""

from dataclasses import replace

import pytest

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.price_alert import PriceAlertForm, meaning_of
from service_tui.desk.commands.risk import SetPriceAlert
from service_tui.terms import AlertCondition, MarketStatus, Side
from service_tui.units import Probability

STATE = sample_state()
MARKET = replace(
    next(one for one in STATE.markets.values() if one.status is MarketStatus.ACTIVE),
    price=Probability(0.6),
)


@pytest.mark.parametrize(
    ("condition", "threshold", "said"),
    [
        (AlertCondition.ABOVE, 0.6, "YES is already above: alerts at once"),
        (AlertCondition.ABOVE, 0.5, "YES is already above: alerts at once"),
        (AlertCondition.BELOW, 0.6, "YES is already below: alerts at once"),
        (
            AlertCondition.CROSSES_ABOVE,
            0.5,
            "YES is already above: alerts once the price returns and",
        ),
        (
            AlertCondition.CROSSES_BELOW,
            0.7,
            "YES is already below: alerts once the price returns and",
        ),
        (AlertCondition.ABOVE, 0.65, "Alert when YES > 0.65 (+5.0 pt)"),
        (AlertCondition.BELOW, 0.55, "Alert when YES < 0.55 (-5.0 pt)"),
        (AlertCondition.CROSSES_ABOVE, 0.65, "Alert when YES crosses above 0.65 (+5.0 pt)"),
        (AlertCondition.CROSSES_BELOW, 0.55, "Alert when YES crosses below 0.55 (-5.0 pt)"),
    ],
)
def test_an_alert_says_when_it_comes(
    condition: AlertCondition, threshold: float, said: str
) -> None:
    alert = SetPriceAlert("m", Side.YES, condition, threshold, "Will it rain?")
    assert meaning_of(alert, 0.6).plain.startswith(said)


@pytest.mark.slow
async def test_the_alert_has_the_side_the_way_and_the_price_of_the_form() -> None:
    async with opened(PriceAlertForm(STATE, NOW, MARKET), STATE) as t:
        assert "● YES 0.600   ○ NO 0.400" in t.text
        for typed, word in (("0.61", "above"), ("0.6", "above"), ("0.59", "below")):
            await t.type("alert-price", typed)
            assert f"● {word}" in t.told("alert-condition")
        # By key the side and the condition come round; a click selects one.
        await t.press("f5")
        assert "● NO" in t.told("alert-side")
        await t.type("alert-price", "0.39")
        assert "● below" in t.told("alert-condition")
        for word in ("crosses above", "crosses below", "above", "below"):
            await t.press("f6")
            assert f"● {word}" in t.told("alert-condition")
        await t.click("alert-condition")
        assert "● above" in t.told("alert-condition")
        await t.click("alert-side")
        assert "● YES" in t.told("alert-side")
        await t.type("alert-price", "0.65")
        assert t.told("form-preview") == "Alert when YES > 0.65 (+5.0 pt). One-shot."
        await t.press("enter")
        assert t.returned == [
            SetPriceAlert(MARKET.market_id, Side.YES, AlertCondition.ABOVE, 0.65, MARKET.question)
        ]


@pytest.mark.slow
async def test_what_is_no_price_and_a_market_that_closes_are_refused() -> None:
    async with opened(PriceAlertForm(STATE, NOW, MARKET), STATE) as t:
        for typed, said in (
            ("", "Enter the alert price"), (" ", "Enter the alert price"), ("x", ""),
            ("0", "between 0 and 1"), ("1", "between 0 and 1"), ("1.2", "between 0 and 1"),
        ):  # fmt: skip
            await t.type("alert-price", typed)
            assert said in t.told("form-problem")
            assert t.is_off("form-set")
            assert t.told("form-preview").startswith("One-shot notification")
        # Without a price the first choice is above, and the key takes the one behind it.
        await t.press("f6")
        assert "● below" in t.told("alert-condition")
        await t.type("alert-price", "0.65")
        assert not t.is_off("form-set")
        closed = replace(MARKET, status=MarketStatus.CLOSED)
        await t.bring(replace(STATE, markets={MARKET.market_id: closed}))
        assert "closed" in t.told("form-problem").lower()
        await t.press("enter")
        assert t.returned == []
        await t.bring(replace(STATE, markets={MARKET.market_id: MARKET}))
        # A market that is not listed for a moment keeps its last row.
        await t.bring(replace(STATE, markets={}))
        assert not t.is_off("form-set")
