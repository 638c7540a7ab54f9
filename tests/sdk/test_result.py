"""What a script reads of a trade."""

import pytest

from service_tui.sdk.result import TradeResult, answered, skipped
from service_tui.terms import Action, Side, Venue
from service_tui.wire.trades import TradeBody, TradeRequest


@pytest.mark.parametrize(
    ("success", "requested", "bought", "sold", "is_full"),
    [
        (True, 5.0, 5.0, 0.0, True),
        (True, 5.0, 0.0, 5.0, True),
        (True, 5.0, 4.9, 0.0, False),
        (True, 0.0, 0.0, 0.0, False),
        (False, 5.0, 5.0, 0.0, False),
    ],
)
def test_a_trade_is_filled_whole_where_all_that_was_asked_changed_hands(
    *, success: bool, requested: float, bought: float, sold: float, is_full: bool
) -> None:
    result = TradeResult(
        success=success, shares_requested=requested, shares_bought=bought, shares_sold=sold
    )
    assert result.fully_filled is is_full
    assert result.shares_filled == (bought or sold)


def sale(action: Action = Action.SELL) -> TradeRequest:
    sizes = {"shares": 3.0} if action is Action.SELL else {"amount": 3.0}
    return TradeRequest.model_validate({
        "market_id": "m1",
        "side": Side.NO,
        "action": action,
        "venue": Venue.EVM,
        **sizes,
    })


def test_an_answer_keeps_what_was_said_and_where_it_was_asked() -> None:
    body = TradeBody(success=True, trade_id="t1", shares_sold=3.0, cost=1.5)
    result = answered(body, sale(), "ref")
    assert (result.venue, result.client_ref) == (Venue.EVM, "ref")
    assert (result.trade_id, result.shares_sold, result.cost) == ("t1", 3.0, 1.5)


@pytest.mark.parametrize(("action", "shares"), [(Action.SELL, 3.0), (Action.BUY, 0.0)])
def test_an_order_that_was_held_back_says_why(action: Action, shares: float) -> None:
    result = skipped(sale(action), "already held", "it is held", "sell it first")
    assert (result.success, result.market_id, result.side) == (False, "m1", Side.NO)
    assert (result.shares_requested, result.venue) == (shares, Venue.EVM)
    assert (result.skip_reason, result.error_code) == ("already held", "ALREADY_HELD")
    rehearsed = sale(action).model_copy(update={"dry_run": True})
    assert [skipped(one, "x", "y", "z").dry_run for one in (sale(action), rehearsed)] == [
        False, True
    ]  # fmt: skip
    assert (result.error, result.fix, result.error_hint) == (
        "it is held",
        "sell it first",
        "sell it first",
    )
