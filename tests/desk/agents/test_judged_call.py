"""A call of a skill leaves as it was judged: its path, its query and its body."""

import json
from typing import Any

import pytest

from service_tui.desk.agents.judged_call import NotJudgedError, judged_body, judged_call
from service_tui.desk.agents.proxy_calls import SkillCall
from service_tui.wire.endpoints.public import ALL
from service_tui.wire.trades import TradeRequest

MONITOR = "/api/sdk/positions/m-1/monitor"
SIGNED = {
    "salt": "1", "maker": "0x" + "1" * 40, "signer": "0x" + "1" * 40, "taker": "0x" + "0" * 40,
    "tokenId": "7", "makerAmount": "5000000", "takerAmount": "9000000", "expiration": "0",
    "nonce": "0", "feeRateBps": "0", "side": "BUY", "signatureType": 0,
    "signature": "0x" + "1" * 130,
}  # fmt: skip


def left(call: str, body: object = None) -> tuple[str, str, bytes] | None:
    method, _, target = call.partition(" ")
    raw = b"" if body is None else json.dumps(body).encode()
    found = judged_call(SkillCall(method, target, {}, raw))
    return None if found is None else found.call


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("GET /api/sdk/markets", "/api/sdk/markets"),
        ("GET /api/sdk/markets?", "/api/sdk/markets"),
        ("GET /api/sdk/markets?limit=3&q=a+b", "/api/sdk/markets?limit=3&q=a%20b"),
        ("GET /api/sdk/markets?q=%26limit%3d9", "/api/sdk/markets?q=%26limit%3D9"),
        ("GET /api/sdk/markets/m-1", "/api/sdk/markets/m-1"),
        ("GET /api/sdk/positions?venue=all", "/api/sdk/positions?venue=all"),
        ("DELETE /api/sdk/orders/o-1", "/api/sdk/orders/o-1"),
        ("DELETE /api/sdk/orders", "/api/sdk/orders"),
        (f"DELETE {MONITOR}?side=yes", f"{MONITOR}?side=yes"),
        ("DELETE /api/sdk/risk-alerts/m-1/yes", "/api/sdk/risk-alerts/m-1/yes"),
    ],
)
def test_path_and_query_are_spelt_anew_and_no_body_goes_along(call: str, target: str) -> None:
    assert left(call, {"amount": 900}) == (call.partition(" ")[0], target, b"")


@pytest.mark.parametrize(
    "call",
    [
        "GET /api/desk/agents",
        "GET /api/sdk/no-such-reading",
        "GET /api/sdk/markets/m-1/no-such-part",
        "GET /api/sdk/markets/m 1",
        "GET /api/sdk/markets/%6d-1",
        "GET /api/sdk/markets/",
        "POST /api/sdk/positions/m-1/close",
        "POST /api/sdk/positions/m-1/monitor/x",
        "DELETE /api/sdk/orders-and-more",
        "DELETE /api/sdk/positions/m-1",
        "PATCH /api/sdk/user/settings",
        "POST /api/sdk/agents/register",
    ],
)
def test_a_call_that_is_not_known_does_not_pass(call: str) -> None:
    assert left(call, {}) is None


@pytest.mark.parametrize(
    ("call", "body", "words"),
    [
        ("GET /api/sdk/markets?trade=1", None, "unknown parameter not passed on: 'trade'"),
        ("GET /api/sdk/markets?Limit=1", None, "unknown parameter not passed on: 'Limit'"),
        ("GET /api/sdk/markets/m-1?limit=1", None, "unknown parameter not passed on: 'limit'"),
        ("GET /api/sdk/markets?limit=1&limit=2", None, "a parameter comes twice"),
        ("GET /api/sdk/markets?" + "limit=1&" * 80, None, "more than 64 parameters"),
        (f"POST {MONITOR}", {"side": "yes", "stop_loss": 0.1}, "unknown field not passed on"),
        (f"POST {MONITOR}", {"side": "yes"}, "malformed body"),
        (f"POST {MONITOR}", [], "malformed body"),
        (f"POST {MONITOR}?amount=1", {"side": "yes", "stop_loss_pct": 0.1}, "'amount'"),
    ],
)
def test_a_name_that_is_not_known_is_refused_by_name(call: str, body: object, words: str) -> None:
    with pytest.raises(NotJudgedError, match=words):
        left(call, body)


def test_a_monitor_leaves_with_what_it_sets_and_what_it_removes() -> None:
    body = {"side": "yes", "stop_loss_pct": 0.2, "take_profit_pct": None, "venue": "kalshi"}
    call = left(f"POST {MONITOR}", body)
    assert call is not None
    assert json.loads(call[2]) == body


def test_every_reading_of_the_table_that_is_a_skills_passes() -> None:
    for one in ALL:
        is_a_skills = one.path.startswith("/api/sdk/") and not (one.operator or one.streams)
        path = one.path.replace("{side}", "yes")
        while "{" in path:
            before, _, after = path.partition("{")
            path = f"{before}m-1{after.partition('}')[2]}"
        if one.method == "GET":
            assert (left(f"GET {path}") is not None) is is_a_skills, path


@pytest.mark.parametrize("venue", ["sim", "evm_venue", "polymarket", "kalshi"])
def test_an_order_leaves_whole_and_with_nothing_else(venue: str) -> None:
    order: dict[str, Any] = {
        "market_id": "m-1", "side": "yes", "amount": 5.0, "action": "buy", "venue": venue,
        "order_type": "FAK", "price": 0.6, "dry_run": False, "reasoning": "why", "source": "sdk",
        "skill_slug": "gauge", "signal_data": {"edge": 0.1, "note": "x"}, "stop_loss_pct": 0.2,
        "signed_order": SIGNED, "wallet_address": "0x" + "1" * 40,
    }  # fmt: skip
    assert judged_body(TradeRequest, json.dumps(order).encode()).fields == order
    nested = order | {"signed_order": SIGNED | {"legs": 2}}
    assert judged_body(TradeRequest, json.dumps(nested).encode()).fields == order


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b"nonsense", b'{"market_id": "m", "side": "yes", "amount": NaN}',
        b'{"market_id": "m", "side": "yes", "amount": 1e999}',
        b'{"market_id": "m", "side": "yes", "amount": ' + b"9" * 5_000 + b"}",
        b'{"market_id": "m", "side": "yes", "amount": 5, "signal_data": ' + b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_order_is_refused(raw: bytes) -> None:
    with pytest.raises(NotJudgedError, match="malformed body"):
        judged_body(TradeRequest, raw)
