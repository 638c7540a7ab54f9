"""Checks of an order's or a quote's answer against the request."""

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
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.fixes import FIX_OF
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.trading.execution_check import (
    ExecutionCheck,
    check_execution,
    filled_text,
    is_holding,
    mismatch_text,
    names_trade,
    quote_doubt,
    sold_text,
)
from service_tui.desk.trading.preflight import HeldSide
from service_tui.storage.blotter import StoredState
from service_tui.terms import Action, Side, TradeStatus, Venue
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


HALF = "bought 0.50 shares, for 0.20 USDC.e (average 0.400), no fee"
RESTING = replace(BUY, venue=Venue.EVM, rests=True, price=0.42, confirmed=True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dry_run": True}, "marked as a dry run"),
        ({"market_id": "m-7"}, "another market, m-7"),
        ({"side": "no"}, "side NO, not YES"),
        ({"cost": 10.02, "shares_bought": 21.0}, "cost 10.02, above the 10.00 ordered"),
        ({"shares_sold": 0.5}, "shares were sold, not ordered"),
        ({**NOTHING, "cost": 0.02, "shares": 0.001},
         "0.02 for 0.00 shares exceeds their maximum payout"),
        ({"fill_status": "failed"}, "both failed and filled"),
        ({**NOTHING, "shares": 0.5, "cost": 0.1, "status": "failed"}, "both failed and filled"),
        ({"success": False}, "refused, yet a trade is named"),
        ({"fill_status": "unconfirmed"}, "not confirmed by the venue"),
        ({**NOTHING, "fill_status": "parked"}, "state 'parked' without shares"),
        (NOTHING, "accepted, yet no shares filled"),
    ],
)  # fmt: skip
def test_a_doubt_is_told_as_a_whole(fields: dict[str, Any], words: str) -> None:
    assert check_execution(BUY, body(**{**BOUGHT, **fields})) == ExecutionCheck(
        TicketState.UNKNOWN,
        f"sent, answer inconsistent: {words}",
        "being looked up; do not resend",
    )


@pytest.mark.parametrize(
    ("fields", "state", "words", "fix"),
    [
        ({"error": "no", "error_code": "DAILY_LIMIT", "fix": "f"}, TicketState.REFUSED, "no",
         FIX_OF["DAILY_LIMIT"]),
        ({"error": "no", "error_code": "ODD", "fix": "do it", "error_hint": "a hint"},
         TicketState.REFUSED, "no", "do it"),
        ({"error": "no", "error_hint": "a hint"}, TicketState.REFUSED, "no", "a hint"),
        ({}, TicketState.REFUSED, "refused without a reason", ""),
        ({"success": True, "status": "failed", "error": "no cash", "fix": "do it"},
         TicketState.FAILED, "accepted by the venue, then failed: no cash", "do it"),
        ({"success": True, "status": "failed"},
         TicketState.FAILED, "accepted by the venue, then failed: no reason given", ""),
        ({"success": True, "status": "cancelled", "fix": "do it"},
         TicketState.FAILED, "ended by the venue without a fill", "do it"),
    ],
)  # fmt: skip
def test_a_no_gives_its_reason_and_the_fix_of_this_desk_before_the_service_s(
    fields: dict[str, Any], state: TicketState, words: str, fix: str
) -> None:
    verdict = check_execution(BUY, body(**{"success": False, **fields}))
    assert verdict == ExecutionCheck(state, words, fix)


@pytest.mark.parametrize(
    ("order", "fields", "words", "fix"),
    [
        (BUY, {}, "done; shares not reported", ""),
        (BUY, {"shares": 0.5, "cost": 0.1}, "bought 0.50 shares, for 0.10 (average 0.200)", ""),
        (BUY, {"status": "cancelled", "shares": 0.5, "cost": 0.1},
         "bought 0.50 shares, for 0.10 (average 0.200)", ""),
        (BUY, {**NOTHING, "order_status": "LIVE"}, "LIVE: no shares yet", ""),
        (RESTING, {**NOTHING, "order_status": "LIVE"},
         "open at 0.42: nothing filled yet", Fix.LIST_ORDERS),
        (RESTING, {"shares": 0.5, "cost": 0.2, "fee": 0.0, "order_status": "live"},
         f"{HALF}; the rest is open on the book",
         Fix.LIST_ORDERS),
        (RESTING, {"shares": 5.0, "cost": 2.0, "fee": 0.0, "order_status": "matched"},
         "bought 5.00 shares, for 2.00 USDC.e (average 0.400), no fee", ""),
        (RESTING, {**NOTHING, "order_status": "delayed"}, "delayed: no shares yet", ""),
        (RESTING, {"shares": 0.5, "cost": 0.2, "fee": 0.0}, HALF, ""),
        (replace(RESTING, rests=False),
         {"shares": 0.5, "cost": 0.2, "fee": 0.0, "order_status": "live"}, HALF, ""),
    ],
)  # fmt: skip
def test_the_end_of_an_order_says_what_filled_and_what_rests(
    order: PlaceTrade, fields: dict[str, Any], words: str, fix: str
) -> None:
    verdict = check_execution(order, body(**{"success": True, **fields}))
    assert verdict == ExecutionCheck(TicketState.DONE, words, fix)


@pytest.mark.parametrize(
    ("sold", "tail"),
    [
        (0.5, "; 9.50 not sold"),
        (9.5, "; 0.50 not sold"),
        (9.9999, "; 0.00 not sold"),
        (9.99999, ""),
        (10.0, ""),
        (10.00001, ""),
    ],
)
def test_a_sale_says_what_is_left_of_it_down_to_the_smallest_part_of_a_share(
    sold: float, tail: str
) -> None:
    verdict = check_execution(SELL, body(success=True, shares_sold=sold, cost=0.1))
    assert verdict.state is TicketState.DONE
    assert verdict.outcome.startswith(f"sold {sold:,.2f} ")
    assert verdict.outcome.partition(" for 0.10 $SIM")[2] == tail


def test_a_sale_that_sold_more_by_more_than_the_smallest_part_is_doubted() -> None:
    verdict = check_execution(SELL, body(success=True, shares_sold=10.00002, cost=4.0))
    text = "sent, answer inconsistent: more than the 10.00 shares ordered sold"
    assert verdict == ExecutionCheck(TicketState.UNKNOWN, text, "being looked up; do not resend")


@pytest.mark.parametrize("changes", [{"cost": 10.01}, {"cost": 10.21, "fee_rate_bps": 200}])
def test_the_last_cent_of_cost_is_no_doubt_and_the_next_is(changes: dict[str, Any]) -> None:
    whole = {**BOUGHT, **changes}
    assert check_execution(BUY, body(**whole)).state is TicketState.DONE
    more = check_execution(BUY, body(**{**whole, "cost": changes["cost"] + 0.00001}))
    assert "above the 10.00 ordered" in more.outcome


@pytest.mark.parametrize("changes", [{"cost": 5.01}, {"cost": 5.11, "fee_rate_bps": 200}])
def test_a_share_costs_one_and_its_fee_and_a_cent_at_most(changes: dict[str, Any]) -> None:
    five = {**BOUGHT, "shares": 5.0, "shares_bought": 5.0, **changes}
    assert check_execution(BUY, body(**five)).state is TicketState.DONE
    more = check_execution(BUY, body(**{**five, "cost": changes["cost"] + 0.00001}))
    assert "for 5.00 shares exceeds their maximum payout" in more.outcome


def test_money_without_any_share_is_not_measured_by_the_payout_of_none() -> None:
    fields = {**YES, "shares": 0.0, "cost": 4.0, "order_status": "live"}
    assert check_execution(BUY, body(**fields)).state is TicketState.DONE


@pytest.mark.parametrize("name", ["shares", "shares_bought"])
def test_a_figure_of_no_shares_is_no_proof_and_a_missing_one_no_doubt(name: str) -> None:
    assert check_execution(BUY, body(success=True)).state is TicketState.DONE
    assert check_execution(BUY, body(success=True, shares_sold=0.0)).state is TicketState.DONE
    assert check_execution(BUY, body(success=True, **{name: 0.0})).state is TicketState.UNKNOWN


def test_a_sale_is_not_proved_by_a_figure_of_what_was_bought() -> None:
    assert check_execution(SELL, body(success=True, shares_bought=0.0)).state is TicketState.DONE
    assert check_execution(SELL, body(success=True, shares_sold=0.0)).state is TicketState.UNKNOWN


def test_a_venue_that_confirms_one_state_and_not_the_other_has_filled() -> None:
    both = {**BOUGHT, "status": "unconfirmed", "fill_status": "filled"}
    assert check_execution(BUY, body(**both)).state is TicketState.DONE


@pytest.mark.parametrize(
    "fields",
    [
        {"trade_id": "t1"},
        {"shares": 0.5},
        {"shares_bought": 0.5},
        {"shares_sold": 0.5},
        {"cost": 0.5},
        {"status": "submitted"},
        {"fill_status": "confirmed"},
        {"order_status": "DELAYED"},
    ],
)
def test_an_answer_names_a_trade_by_any_of_its_fields(fields: dict[str, Any]) -> None:
    assert names_trade(body(success=False, **fields))
    assert not names_trade(body(success=False, status="failed", order_status="odd"))


def test_a_quote_s_first_doubt_is_that_it_is_of_another_market() -> None:
    other = {**BOUGHT, "trade_id": None, "market_id": "m-7", "cost": 99.0}
    assert quote_doubt(BUY, body(**other)) == "another market, m-7"


def found_ticket(**fields: Any) -> TicketView:
    whole = {"ticket_id": "t", "kind": "trade", "market_id": MARKET.market_id, "what": "buy",
             "state": TicketState.SENT, "opened_at": NOW, "holding": BUY.holding}  # fmt: skip
    return TicketView(**{**whole, **fields})


FOUND = replace(
    STATE.trades[0],
    market_id=MARKET.market_id,
    side=Side.YES,
    shares=Micros(20_000_000),
    cost=Micros(10_010_000),
    venue=Venue.SIM,
    status=TradeStatus.FILLED,
)


@pytest.mark.parametrize(
    ("ticket", "changes", "words"),
    [
        ({}, {}, ""),
        ({}, {"side": Side.NO}, "trade of NO in m-00001, not ordered"),
        ({}, {"market_id": "m-9"}, "trade of YES in m-9, not ordered"),
        ({"holding": ""}, {"side": Side.NO, "market_id": "m-9"}, ""),
        ({"amount": Micros(10_000_000)}, {"cost": Micros(11_010_000)}, ""),
        ({"amount": Micros(10_000_000)}, {"cost": Micros(11_010_001)},
         "cost above the 10.00 ordered"),
        ({"shares": Micros(19_999_990)}, {}, ""),
        ({"shares": Micros(19_999_989)}, {}, "more than the 20.00 shares ordered"),
        ({"shares": Micros(12_000_000), "amount": Micros(9_500_000)}, {},
         "more than the 12.00 shares ordered"),
    ],
)  # fmt: skip
def test_a_trade_that_was_found_is_compared_with_its_order(
    ticket: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    assert mismatch_text(found_ticket(**ticket), replace(FOUND, **changes)) == words


def test_a_position_is_that_of_the_order_on_its_venue_or_on_none_that_is_named() -> None:
    bare = f"{MARKET.market_id}:yes"
    real = replace(FOUND, venue=Venue.EVM)
    assert is_holding(bare, FOUND)
    assert is_holding(bare, real)
    assert is_holding(f"{bare}:{Venue.EVM.value}", real)
    assert not is_holding(f"{bare}:{Venue.EVM.value}", FOUND)
    assert not is_holding(f"{bare}:{Venue.SOL.value}", real)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("fields", "action", "words"),
    [
        (FILLED, Action.BUY, "bought 50.00 shares, for 20.00 (average 0.400); price now 0.420"),
        (FILLED, Action.SELL, "sold 50.00 shares, brought 20.00 (average 0.400); price now 0.420"),
        (
            {"success": True, "shares_bought": 2.0, "cost": 1.0},
            Action.BUY,
            "bought 2.00 shares, for 1.00 (average 0.500)",
        ),
        (
            {"success": True, "fill_status": TradeStatus.SUBMITTED},
            Action.BUY,
            "submitted: no shares yet",
        ),
        ({"success": True}, Action.BUY, "bought 0.00 shares, for 0.00 (average 0.000)"),
    ],
)
def test_an_order_that_went_through_in_words(
    fields: dict[str, Any], action: Action, words: str
) -> None:
    assert filled_text(answer(**fields), action) == words


@pytest.mark.parametrize(
    ("fee", "action", "words"),
    [
        ({"fee": 1.08}, Action.BUY,
         "for 20.00 USDC.e (average 0.400), fee 1.08 USDC.e on top; price"),
        ({"fee": 0.93}, Action.SELL,
         "brought 20.00 USDC.e (average 0.400), fee 0.93 USDC.e taken off; price"),
        ({"fee": 0.0}, Action.BUY, "(average 0.400), no fee; price"),
        ({"fee_rate_bps": 550}, Action.BUY, "fee not reported, rate 5.5%; price"),
        ({}, Action.BUY, "(average 0.400), fee not reported; price"),
    ],
)  # fmt: skip
def test_a_real_trade_tells_its_money_and_its_fee(
    fee: dict[str, Any], action: Action, words: str
) -> None:
    assert words in filled_text(answer(**FILLED, **fee), action, Venue.EVM)


SOLD = {"success": True, "shares_sold": 30.42, "cost": 23.78, "new_price": 0.774}


@pytest.mark.parametrize(
    ("held", "tail"),
    [
        # All of it, a half of it, a position that the desk did not know, and more than it knew.
        (HeldSide(Micros(30_420_000), Micros(25_000_000)), ", P&L -1.22"),
        (HeldSide(Micros(60_840_000), Micros(40_000_000)), ", P&L +3.78"),
        (None, ""),
        (HeldSide(Micros(0), Micros(0)), ""),
    ],
)
def test_a_sale_says_side_price_money_and_gain(held: HeldSide | None, tail: str) -> None:
    sale = replace(SELL, side=Side.YES, shares=Micros(30_420_000))
    verdict = check_execution(sale, body(**{**SOLD, "side": Side.YES}), held)
    assert verdict.outcome == f"sold 30.42 YES at 0.782 for 23.78 $SIM{tail}"


def test_the_fee_of_a_real_sale_is_no_gain() -> None:
    held = HeldSide(Micros(30_420_000), Micros(23_000_000))
    with_fee = answer(**SOLD, fee=0.5)
    expected = "sold 30.42 NO at 0.782 for 23.78 USDC.e, P&L +0.28, fee 0.50 USDC.e taken off"
    assert sold_text(with_fee, Side.NO, Venue.EVM, held) == expected
    bare = sold_text(answer(**SOLD, fee_rate_bps=550), Side.NO, Venue.EVM, held)
    assert bare.endswith("for 23.78 USDC.e, fee not reported, rate 5.5%")
