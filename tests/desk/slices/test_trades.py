"""The kinds of rows in the trade history."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.terms import Action, TradeStatus
from service_tui.units import Micros

STATE = sample_state(12)


def trade(action: str, shares: int, cost: int) -> TradeView:
    return replace(
        STATE.trades[0],
        action=action,
        shares=Micros(shares),
        cost=Micros(cost),
        status=TradeStatus.FILLED,
    )


@pytest.mark.parametrize(
    ("action", "shares", "cost", "deal", "is_fill", "did"),
    [
        ("buy", 5, 3, Deal.BUY, True, "buy"),
        ("sell", 5, 3, Deal.SALE, True, "sell"),
        ("sell", 5, 0, Deal.SALE, True, "sell"),
        ("buy", 0, 3, Deal.BUY, False, "buy"),
        ("buy", 0, 0, Deal.ORDER, False, "buy order"),
        ("sell", 0, 0, Deal.ORDER, False, "sell order"),
        ("redeem", 5, 3, Deal.PAYOUT, False, "payout"),
        ("redeem", 0, 0, Deal.PAYOUT, False, "payout"),
    ],
)
def test_a_row_of_the_history_is_a_fill_a_payout_or_an_order_without_either(
    action: str, shares: int, cost: int, deal: Deal, *, did: str, is_fill: bool
) -> None:
    row = trade(action, shares, cost)
    assert (row.deal, row.is_fill, row.did) == (deal, is_fill, did)


def test_a_buy_alone_is_a_buy() -> None:
    assert {trade(one.value, 1, 1).deal for one in Action} == {Deal.BUY, Deal.SALE}
