"""The desk's own answers to a skill on its leash, and what a service's answer proves."""

import json
from dataclasses import replace

import pytest

from kit.samples.fleet import pending_trade_of
from service_tui.desk.agents.proxy_answers import (
    approved_order,
    bounded_price,
    is_sure_no,
    pending_trade_body,
    pending_trades_seen,
    refused,
    submitted,
)
from service_tui.desk.agents.stored_leash import LeashRefusal, StoredLeash
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.terms import Action, LeashMode, PendingStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import TradeRequest

OK = b'{"success": true, "trade_id": "tr-1"}'
NO = b'{"success": false, "error": "too thin"}'
MONEY = Micros(8 * ONE)
ASKED = TradeRequest(market_id="m1", side=Side.NO, action=Action.BUY, amount=8.0)


def test_answers_to_a_skill_are_those_of_a_service() -> None:
    no = json.loads(refused(ASKED, LeashRefusal("CODE", "why", "what to do")))
    assert (no["success"], no["market_id"], no["side"]) == (False, "m1", "no")
    assert (no["error"], no["error_code"], no["fix"]) == ("why", "CODE", "what to do")
    waits = json.loads(
        submitted(ASKED, pending_trade_of("h9", expires_at=Timestamp(1_800_000_000.0)))
    )
    assert (waits["success"], waits["trade_id"], waits["market_id"]) == (True, "h9", "m1")
    assert {waits[name] for name in ("status", "order_status", "fill_status")} == {"submitted"}
    assert waits["warnings"][0].startswith("pending approval until 2027-01-15T08:00:00+00:00")


def test_pending_trades_are_told_to_their_skill_and_decided_ones_on_request() -> None:
    leash = StoredLeash("a-2", "heron", "gauge", LeashMode.ASK)
    waiting = leash.let_wait(ASKED, MONEY, {}, Timestamp(1_800_000_000.0))
    done = pending_trade_of(
        "h7",
        amount=Micros(3 * ONE),
        market_id="m9",
        venue=Venue.EVM,
        side=Side.NO,
        action=Action.SELL,
        reasoning="because",
        skill_slug="tide",
        signal_data={"edge": 0.06},
        created_at=Timestamp(1_799_996_401.0),
        expires_at=Timestamp(1_799_996_402.0),
    )
    at = Timestamp(1_800_000_009.0)
    leash.end(done, PendingStatus.REFUSED, "no, thanks", at, trade_id="tr-4")
    found = json.loads(pending_trade_body(leash, everything=False))
    assert [one["held_id"] for one in found["held"]] == [waiting.pending_id]
    found = json.loads(pending_trade_body(leash, everything=True))
    assert found["waiting_count"] == 1
    first, second = found["held"]
    assert (first["held_id"], first["amount"], first["decided_at"]) == (
        waiting.pending_id,
        8.0,
        None,
    )
    told = {
        "held_id": "h7",
        "agent_id": "a-2",
        "agent_name": "heron",
        "status": "refused",
        "market_id": "m9",
        "venue": "evm_venue",
        "side": "no",
        "action": "sell",
        "amount": 3.0,
        "reasoning": "because",
        "source": "sdk:gauge",
        "skill_slug": "tide",
        "signal_data": {"edge": 0.06},
        "reason": "no, thanks",
        "trade_id": "tr-4",
    }
    assert {name: second[name] for name in told} == told
    assert second["created_at"].startswith("2027-01-15T07:00:01")
    assert second["expires_at"].startswith("2027-01-15T07:00:02")
    assert second["decided_at"].startswith("2027-01-15T08:00:09")


def test_the_desk_sees_first_what_ends_first_and_what_was_decided_last() -> None:
    first, second = (StoredLeash("a-2", "heron", "gauge", LeashMode.ASK) for _ in range(2))
    late = first.let_wait(ASKED, MONEY, {}, Timestamp(2_000.0))
    soon = second.let_wait(ASKED, MONEY, {}, Timestamp(1_000.0))
    first.end(pending_trade_of("h1"), PendingStatus.REFUSED, "", Timestamp(5.0))
    second.end(pending_trade_of("h2"), PendingStatus.REFUSED, "", Timestamp(9.0))
    seen = pending_trades_seen([first, second])
    assert seen.pending_trades == (soon, late)
    assert [one.pending_id for one in seen.decided] == ["h2", "h1"]


def test_an_approval_orders_what_waited() -> None:
    trade = pending_trade_of("h1", venue=Venue.EVM, side=Side.NO)
    expected = PlaceTrade("m", Side.NO, Action.BUY, Venue.EVM, Micros(25 * ONE))
    assert approved_order(trade, ApproveTrade("h1", "x")) == expected
    resized = ApproveTrade("h1", "x", Micros(ONE), confirmed=True)
    assert approved_order(trade, resized) == replace(expected, amount=Micros(ONE), confirmed=True)


@pytest.mark.parametrize(
    ("action", "own", "bounds", "sent"),
    [
        (Action.BUY, None, {}, {}),
        (Action.BUY, 0.5, {}, {}),
        (Action.BUY, None, {"not_above": 0.47}, {"price": 0.47}),
        (Action.BUY, 0.5, {"not_above": 0.47}, {"price": 0.47}),
        (Action.BUY, 0.4, {"not_above": 0.47}, {}),
        (Action.SELL, 0.4, {"not_below": 0.47}, {"price": 0.47}),
        (Action.SELL, 0.5, {"not_below": 0.47}, {}),
        (Action.SELL, 0.5, {"not_above": 0.47}, {}),
    ],
)
def test_an_approved_order_leaves_with_the_stricter_price(
    action: Action, own: float | None, bounds: dict[str, float], sent: dict[str, float]
) -> None:
    trade = pending_trade_of("h1", action=action, price_limit=own)
    assert bounded_price(trade, ApproveTrade("h1", "x", **bounds)) == sent


@pytest.mark.parametrize(
    ("status", "answer", "is_no"),
    [
        (200, NO, True),
        (200, OK, False),
        (200, b"{}", False),
        (200, b'{"success": true}', False),
        (200, b'{"success": true, "error": "too thin"}', False),
        (200, b"x", False),
        (200, b'{"success": false, "shares": 2}', False),
        (404, b"", True),
        (429, b"", True),
        (408, b"", False),
        (409, b"", False),
        (500, NO, False),
    ],
)
def test_an_answer_is_a_sure_no_or_proves_nothing(
    status: int, answer: bytes, *, is_no: bool
) -> None:
    assert is_sure_no(status, answer) is is_no
