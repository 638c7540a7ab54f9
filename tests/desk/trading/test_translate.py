"""Trades and quotes of the wire as values of the desk."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from service_tui.desk.trading.translate import quote_view, trade_view
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.trades import TradeBody, TradeRow

AT = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)


def row(**fields: Any) -> TradeRow:
    return TradeRow(
        id="t",
        trade_id="t",
        market_id="m",
        side=Side.YES,
        action="buy",
        shares=2.0,
        cost=1.0,
        created_at=AT,
        **fields,
    )


def test_our_reference_is_found_again_in_a_trade() -> None:
    assert trade_view(row(signal_data={"client_ref": "abc", "edge": 0.2})).client_ref == "abc"
    assert trade_view(row(signal_data={"edge": 0.2})).client_ref == ""
    assert trade_view(row()).client_ref == ""
    assert trade_view(row(status=TradeStatus.FAILED)).status is TradeStatus.FAILED


def test_a_signal_value_that_cannot_be_read_hides_no_trade() -> None:
    given = {"edge": True, "n": math.nan, "list": [1], "none": None, "why": "radar", "x": 2}
    assert dict(trade_view(row(signal_data=given)).signal_data) == {"why": "radar", "x": "2"}


def answer(**fields: Any) -> TradeBody:
    return TradeBody(market_id="m", side=Side.YES, **fields)


FILLED = {
    "success": True,
    "shares": 50.0,
    "cost": 20.0,
    "new_price": 0.42,
    "price_before": 0.39,
    "balance": 980.0,
}


def test_a_quote_to_buy_may_lose_its_spend_and_win_the_rest() -> None:
    quote = quote_view(3, answer(**FILLED), Action.BUY, Micros(0))
    assert quote.ok
    assert (quote.request_id, quote.money, quote.shares) == (3, 20 * ONE, 50 * ONE)
    assert (quote.max_loss, quote.max_win) == (20 * ONE, 30 * ONE)
    assert quote.average == 0.4
    assert (quote.price_before, quote.price_after) == (0.39, 0.42)
    assert quote.slippage == pytest.approx(0.01)


def test_a_price_after_the_trade_that_is_not_told_is_none() -> None:
    untold = {name: value for name, value in FILLED.items() if name != "new_price"}
    assert quote_view(3, answer(**untold), Action.BUY, Micros(0)).price_after is None


def test_a_quote_to_sell_gives_up_what_the_shares_may_pay() -> None:
    quote = quote_view(3, answer(**FILLED), Action.SELL, Micros(50 * ONE))
    assert (quote.max_loss, quote.max_win) == (30 * ONE, 20 * ONE)
    less = quote_view(3, answer(**FILLED), Action.SELL, Micros(10 * ONE))
    assert less.max_loss == 0


def test_the_fee_of_a_quote_comes_on_top_of_a_buy_and_off_a_sale() -> None:
    fee = answer(**FILLED, fee=0.42)
    buy = quote_view(3, fee, Action.BUY, Micros(0))
    assert (buy.money, buy.fee) == (20 * ONE, 420_000)
    assert (buy.max_loss, buy.max_win) == (20_420_000, 29_580_000)
    sale = quote_view(3, fee, Action.SELL, Micros(50 * ONE))
    assert (sale.net, sale.max_win, sale.max_loss) == (19_580_000, 19_580_000, 30_420_000)


def test_a_quote_of_nothing_has_no_average() -> None:
    quote = quote_view(1, answer(success=True), Action.BUY, Micros(0))
    assert quote.average is None
    assert quote.slippage is None


@pytest.mark.parametrize(
    ("fields", "problem", "fix"),
    [
        ({}, "refused without a reason", ""),
        ({"error": "no", "error_hint": "hint"}, "no", "hint"),
        ({"error": "no", "error_hint": "hint", "fix": "do"}, "no", "do"),
    ],
)
def test_a_quote_that_is_refused_says_why(fields: dict[str, str], problem: str, fix: str) -> None:
    quote = quote_view(1, answer(success=False, **fields), Action.BUY, Micros(0))
    assert (quote.ok, quote.problem, quote.fix) == (False, problem, fix)


@pytest.mark.parametrize(("fee", "known"), [({"fee": 1.08}, 1_080_000), ({}, None)])
def test_a_listed_trade_has_its_fee_or_says_that_it_is_not_told(
    fee: dict[str, Any], known: int | None
) -> None:
    row = TradeRow(
        id="t", market_id="m", side=Side.YES, action="buy", venue=Venue.EVM, created_at=AT, **fee
    )
    assert trade_view(row).fee == known
