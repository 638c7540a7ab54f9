import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import (
    CASH,
    TRADES,
    at_work,
    buy,
    ended,
    is_order,
    is_quote,
    rows,
    said,
    sell,
    until,
)
from kit.samples.desk import NOW, sample_state
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.records import TicketState, TicketView
from service_tui.desk.trading.execution_check import check_execution, mismatch_text, quote_doubt
from service_tui.storage.blotter import StoredState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros
from service_tui.wire.trades import TradeBody

STATE = sample_state()
MARKET = STATE.markets["m-00001"]
BUY = buy(MARKET, 10 * ONE)
SELL = sell(STATE.positions[0], 10 * ONE)
YES = {"market_id": MARKET.market_id, "side": "yes", "trade_id": "t1", "success": True}
BOUGHT = {**YES, "shares_bought": 20.0, "shares": 20.0, "cost": 10.0, "new_price": 0.51}
NOTHING = {"shares": 0, "shares_bought": 0, "cost": 0}


def body(**fields: Any) -> TradeBody:
    return TradeBody.model_validate_json(json.dumps(fields))


DOUBTFUL = {
    "a dry run": ({"dry_run": True}, "dry run"),
    "another market": ({"market_id": "m-7"}, "another market, m-7"),
    "another side": ({"side": "no"}, "side NO, not YES"),
    "ten times the cost": ({"cost": 100.0, "shares": 5.0, "shares_bought": 5.0}, "10.00 ordered"),
    "a cent too much": ({"cost": 10.02}, "above the 10.00 ordered"),
    "more than a fee": ({"cost": 10.5, "fee_rate_bps": 200}, "above the 10.00 ordered"),
    "a fee of a hostile service": ({"cost": 12.0, "fee_rate_bps": 10**9}, "10.00 ordered"),
    "two a share": ({"shares_bought": 5.0, "shares": 5.0}, "exceeds their maximum payout"),
    "sold, not bought": (
        {**NOTHING, "shares_sold": 30, "cost": 10},
        "shares were sold, not ordered",
    ),
    "filled with nothing": ({**NOTHING, "fill_status": "filled"}, "no shares filled"),
    "matched with nothing": ({**NOTHING, "order_status": "matched"}, "no shares filled"),
    "nothing at all": (NOTHING, "no shares filled"),
    "failed and filled": ({"fill_status": "failed"}, "both failed and filled"),
    "two states": ({**NOTHING, "status": "failed", "fill_status": "filled"}, "both failed"),
    "a no with a trade": ({"success": False, **NOTHING}, "a trade is named"),
    "a no that was filled": (
        {"success": False, **NOTHING, "trade_id": None, "fill_status": "filled"},
        "a trade is named",
    ),
    "a no with shares": ({"success": False, "trade_id": None}, "a trade is named"),
    "a no about another": (
        {"success": False, **NOTHING, "trade_id": None, "side": "no"},
        "side NO, not YES",
    ),
    "not confirmed": ({"fill_status": "unconfirmed"}, "not confirmed by the venue"),
    "a strange word": ({**NOTHING, "fill_status": "parked"}, "'parked'"),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_an_answer_that_contradicts_the_order_or_itself_proves_nothing(name: str) -> None:
    changes, words = DOUBTFUL[name]
    verdict = check_execution(BUY, body(**{**BOUGHT, **changes}))
    assert verdict.state is TicketState.UNKNOWN
    assert words in verdict.outcome
    assert "do not resend" in verdict.fix


ENDED = {
    "all of it": (BOUGHT, TicketState.DONE, "bought 20.00 shares, for 10.00"),
    "almost nothing said": ({"success": True}, TicketState.DONE, "shares not reported"),
    "only that it was filled": (
        {"success": True, "fill_status": "filled"},
        TicketState.DONE,
        "shares not reported",
    ),
    "less than ordered": ({**BOUGHT, "cost": 4.0}, TicketState.DONE, "for 4.00"),
    "a cent of rounding": ({**BOUGHT, "cost": 10.01}, TicketState.DONE, "for 10.01"),
    "a fee on top": ({**BOUGHT, "cost": 10.2, "fee_rate_bps": 200}, TicketState.DONE, "10.20"),
    "resting": ({**YES, **NOTHING, "status": "submitted"}, TicketState.DONE, "submitted: no"),
    "live": ({**YES, **NOTHING, "order_status": "live"}, TicketState.DONE, "live: no shares yet"),
    "a strange word with shares": ({**BOUGHT, "fill_status": "parked"}, TicketState.DONE, "20.00"),
    "failed": (
        {**YES, **NOTHING, "status": "failed", "fill_status": "failed", "error": "no liquidity"},
        TicketState.FAILED,
        "then failed: no liquidity",
    ),
    "ended": (
        {**YES, **NOTHING, "order_status": "cancelled", "status": "cancelled"},
        TicketState.FAILED,
        "without a fill",
    ),
    "a no": ({"success": False, "error": "no cash"}, TicketState.REFUSED, "no cash"),
    "a no that is on record": (
        {**YES, **NOTHING, "success": False, "fill_status": "FAILED", "error": "no cash"},
        TicketState.REFUSED,
        "no cash",
    ),
}


@pytest.mark.parametrize("name", ENDED)
def test_what_an_answer_leaves_out_is_no_contradiction(name: str) -> None:
    fields, state, words = ENDED[name]
    verdict = check_execution(BUY, body(**fields))
    assert verdict.state is state
    assert words in verdict.outcome


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shares_sold": 10.1}, "more than the 10.00 shares ordered"),
        ({"cost": 10.2}, "exceeds their maximum payout"),
        ({"shares_bought": 10.0}, "shares were bought"),
    ],
)
def test_a_sale_is_compared_as_well(changes: dict[str, Any], words: str) -> None:
    sold = {"success": True, "shares_sold": 10.0, "cost": 4.0}
    assert check_execution(SELL, body(**sold)).state is TicketState.DONE
    assert words in check_execution(SELL, body(**{**sold, **changes})).outcome
    part = check_execution(SELL, body(**{**sold, "shares_sold": 4.0}))
    assert (part.state, "6.00 not sold" in part.outcome) == (TicketState.DONE, True)


def test_a_signed_sale_may_take_the_rest_that_no_order_can_name() -> None:
    # 96.15 shares were signed, which is all that a signature can say of 96.15769.
    order = replace(SELL, venue=Venue.EVM, shares=Micros(96_150_000), price=0.3, confirmed=True)
    sold = {"success": True, "shares_sold": 96.15769, "cost": 61.54}
    assert check_execution(order, body(**sold)).state is TicketState.DONE
    more = check_execution(order, body(**{**sold, "shares_sold": 96.17}))
    assert "more than the 96.15 shares ordered" in more.outcome
    whole = replace(order, shares=Micros(96_157_690))
    assert "not sold" not in check_execution(whole, body(**{**sold, "shares_sold": 96.15})).outcome
    found = replace(
        STATE.trades[0],
        market_id=order.market_id,
        side=order.side,
        shares=Micros(96_157_690),
        venue=Venue.EVM,
    )
    ticket = TicketView(
        ticket_id="t",
        kind="place_trade",
        market_id=order.market_id,
        what="sell",
        state=TicketState.SENT,
        opened_at=NOW,
        holding=order.holding,
        shares=order.shares,
        venue=order.venue,
    )
    assert mismatch_text(ticket, found) == ""
    assert mismatch_text(ticket, replace(found, shares=Micros(96_170_000))) != ""


def test_a_quote_of_something_else_is_no_quote() -> None:
    dry = {**BOUGHT, "trade_id": None}
    assert quote_doubt(BUY, body(**dry)) == ""
    assert quote_doubt(BUY, body(**{**BOUGHT, "dry_run": True})) == ""
    assert "may have traded" in quote_doubt(BUY, body(**BOUGHT))
    assert "another market" in quote_doubt(BUY, body(**{**dry, "market_id": "m-7"}))
    assert "10.00 ordered" in quote_doubt(BUY, body(**{**dry, "cost": 11.0}))
    assert quote_doubt(BUY, body(success=False, error="no", side="no")) == ""


async def test_an_order_with_a_contradictory_answer_is_looked_up_and_never_repeated(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        wrong = {"success": True, "market_id": market.market_id, "side": "no", "shares": 50.0}
        line.fault = lambda request: said({**wrong, "cost": 25.0}) if is_order(request) else None
        ticket = desk.submit(buy(market))
        view = await ended(desk, ticket, stage)
        assert view.state is TicketState.UNKNOWN
        assert "side NO, not YES" in view.outcome
        assert (await rows(stage))[0].state is StoredState.UNKNOWN
        (order,) = line.orders()
        row = {
            "id": "t1", "market_id": market.market_id, "side": "no", "action": "buy",
            "shares": 50.0, "cost": 25.0, "status": "filled",
            "signal_data": order["signal_data"], "created_at": "2027-01-15T08:00:00Z",
        }  # fmt: skip
        line.fault = lambda request: (
            said({"trades": [row], "total_count": 1}) if request.url.path == TRADES else None
        )
        await until(desk, lambda _: ticket.view.state is TicketState.DONE, stage)
        assert "not ordered" in ticket.view.outcome
        assert len(line.orders()) == 1


async def test_a_quote_that_may_have_traded_is_told_and_offered_to_nobody(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        market = stage.open_markets()[0]
        filled = {"success": True, "trade_id": "t1", "shares": 50.0, "cost": 25.0}
        line.fault = lambda request: said(filled) if is_quote(request) else None
        desk.submit(RequestQuote(1, buy(market)))
        quote = (await until(desk, lambda s: s.quote, stage)).quote
        assert (quote.ok, quote.shares) == (False, 0)
        assert "may have traded" in quote.problem
        assert stage.world.cash(stage.agent) == CASH
