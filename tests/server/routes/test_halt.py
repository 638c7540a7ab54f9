"""The operator's halt over the wire, and a pause that only the operator lifts."""

from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.desk.faults import broken_disk
from kit.engine.bare import AT, bare_world, listed
from kit.engine.topics import TOPICS
from kit.service.bare import ACT, bare_service, request_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.events import HaltSet, OrderEnd, OrderEnded
from service_tui.server.embedded import BASE_URL
from service_tui.server.routes import halt
from service_tui.server.world_store import restore
from service_tui.storage.errors import StorageError
from service_tui.units import ONE, Micros
from service_tui.wire.halt import HaltBody

pytestmark = pytest.mark.slow

Json = dict[str, Any]
HALT: Final = "/api/desk/halt"
RESUME: Final = "/api/desk/resume"
TRADE: Final = "/api/sdk/trade"


async def ask(stage: Stage, method: str, path: str, key: str, **sent: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
        headers = {"Authorization": f"Bearer {key}"}
        return await client.request(method, path, headers=headers, **sent)


async def said(stage: Stage, method: str, path: str, key: str = OPERATOR, **sent: Any) -> Json:
    answer = await ask(stage, method, path, key, **sent)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def second(stage: Stage) -> Json:
    return await said(stage, "POST", "/api/sdk/agents/register", json={"name": "heron"})


def buy(stage: Stage, **fields: object) -> Json:
    return {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 25} | fields


async def test_an_agent_of_another_key_is_refused_while_halted_and_its_sales_pass(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        other = (await second(stage))["api_key"]
        bought = await said(stage, "POST", TRADE, other, json=buy(stage))
        body = await said(stage, "POST", HALT)
        HaltBody.model_validate(body, strict=False)
        assert body["halted"] is True
        for key in (other, stage.key):
            refused = await said(stage, "POST", TRADE, key, json=buy(stage))
            assert (refused["success"], refused["error_code"]) == (False, "TRADING_HALTED")
            assert "halted by the operator" in refused["error"]
            assert refused["fix"] == refused["error_hint"] != ""
        batch = {"trades": [buy(stage)], "venue": "sim"}
        answered = await said(stage, "POST", "/api/sdk/trades/batch", other, json=batch)
        assert answered["results"][0]["error_code"] == "TRADING_HALTED"
        sale = buy(stage, action="sell", amount=0, shares=bought["shares_bought"])
        assert (await said(stage, "POST", TRADE, other, json=sale))["success"] is True
        assert (await said(stage, "POST", RESUME))["halted"] is False
        assert (await said(stage, "POST", TRADE, other, json=buy(stage)))["success"] is True


async def test_the_halt_is_kept_over_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0) as stage:
        body = await said(stage, "POST", HALT)
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert found[0].halt.since == stage.world.halt.since == clock.now()
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id, speed=0) as stage:
        again = await said(stage, "POST", HALT)
        assert again["halted_at"] == body["halted_at"]
        assert (await said(stage, "GET", "/api/desk/world"))["halted_at"] == body["halted_at"]
        refused = await said(stage, "POST", TRADE, key, json=buy(stage))
        assert refused["error_code"] == "TRADING_HALTED"
        await said(stage, "POST", RESUME)
        assert (await said(stage, "GET", "/api/desk/world"))["halted_at"] is None
        assert (await said(stage, "POST", TRADE, key, json=buy(stage)))["success"] is True


async def test_a_resting_buy_is_cancelled_and_told(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        stage.agent.change({"claimed": True, "real_trading_enabled": True})
        market = next(one for one in stage.open_markets() if one.listing.home.value == "evm_venue")
        book = await said(stage, "GET", f"/api/sdk/markets/{market.market_id}", stage.key)
        order = {
            "market_id": market.market_id, "side": "yes", "amount": 20, "venue": "evm_venue",
            "order_type": "GTC", "price": book["market"]["best_bid"],
        }  # fmt: skip
        rests = await said(stage, "POST", TRADE, stage.key, json=order)
        assert rests["status"] == "submitted"
        (cancelled,) = (await said(stage, "POST", HALT))["cancelled"]
        assert cancelled["order_id"] == rests["trade_id"]
        assert (cancelled["agent_name"], cancelled["returned_usdc"]) == ("tester", 20)
        assert (await said(stage, "GET", "/api/sdk/orders/open", stage.key))["count"] == 0
        assert (await said(stage, "POST", HALT))["cancelled"] == []
        refused = await said(stage, "POST", TRADE, stage.key, json=order)
        assert refused["error_code"] == "TRADING_HALTED"


async def test_only_the_operator_halts_and_resumes(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        for path in (HALT, RESUME):
            assert (await ask(stage, "POST", path, stage.key)).status_code == 401
        assert stage.world.halt.since is None


async def shown(stage: Stage, key: str) -> set[bool]:
    """What every document that an agent reads says of its pause."""
    paths = ("settings", "user/settings", "context", "briefing")
    bodies = [await said(stage, "GET", f"/api/sdk/{path}", key) for path in paths]
    return {body["trading_paused"] for body in bodies}


async def test_an_agent_lifts_neither_the_operators_pause_nor_the_halt(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        other = await second(stage)
        key, row = other["api_key"], f"/api/desk/agents/{other['agent_id']}"
        await said(stage, "PATCH", row, json={"trading_paused": True})
        tries = (("PATCH", "user/settings"), ("PATCH", "settings"), ("POST", "settings"))
        for method, path in tries:
            body = await said(
                stage, method, f"/api/sdk/{path}", key, json={"trading_paused": False}
            )
            assert body["trading_paused"] is True
        assert await shown(stage, key) == {True}
        refused = await said(stage, "POST", TRADE, key, json=buy(stage))
        assert refused["error_code"] == "TRADING_PAUSED"
        assert "operator" in refused["fix"]
        assert (await said(stage, "PATCH", row, json={"trading_paused": False}))[
            "trading_paused"
        ] is False
        assert await shown(stage, key) == {False}
        await said(stage, "POST", HALT)
        for method, path in tries:
            body = await said(
                stage, method, f"/api/sdk/{path}", key, json={"trading_paused": False}
            )
            assert body["trading_paused"] is True
        assert await shown(stage, key) == {True}
        refused = await said(stage, "POST", TRADE, key, json=buy(stage))
        assert refused["error_code"] == "TRADING_HALTED"
        brief = await said(stage, "GET", "/api/sdk/briefing", key)
        assert "halted by the operator" in brief["actions"][0]
        await said(stage, "POST", RESUME)
        assert await shown(stage, key) == {False}


async def test_an_agents_own_pause_stays_its_own_over_a_halt(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        paused = {"trading_paused": True}
        await said(stage, "PATCH", "/api/sdk/user/settings", stage.key, json=paused)
        await said(stage, "POST", HALT)
        await said(stage, "POST", RESUME)
        assert await shown(stage, stage.key) == {True}
        body = await said(
            stage, "PATCH", "/api/sdk/user/settings", stage.key, json={"trading_paused": False}
        )
        assert body["trading_paused"] is False


async def test_advice_on_a_halted_order_does_not_send_anybody_to_the_settings(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await said(stage, "POST", HALT)
        asked = {"error_text": "TRADING_HALTED", "message": "why can I not buy?"}
        advice = await said(stage, "POST", "/api/sdk/troubleshoot", stage.key, json=asked)
        assert "resume" in str(advice)
        assert "PATCH" not in str(advice)


async def test_a_halt_that_a_full_disk_refused_is_done_before_anything_is_traded_again(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        store = stage.sim.service.world_store
        with broken_disk():
            assert (await ask(stage, "POST", HALT, OPERATOR)).status_code == 503
            refused = await ask(stage, "POST", TRADE, stage.key, json=buy(stage))
            assert refused.status_code == 503
        await store.advance(stage.clock.now())
        assert (await said(stage, "GET", "/api/desk/world"))["halted_at"] is not None
        blocked = await said(stage, "POST", TRADE, stage.key, json=buy(stage))
        assert blocked["error_code"] == "TRADING_HALTED"
        assert (await said(stage, "POST", RESUME))["halted"] is False
        await store.advance(stage.clock.now())
        assert (await said(stage, "POST", TRADE, stage.key, json=buy(stage)))["success"] is True


def service() -> Any:
    world = bare_world("ada")
    listed(world)
    return bare_service(world)


async def test_a_halt_and_its_end_are_written_once_with_who_did_it() -> None:
    one = service()
    for _ in range(2):
        answer = await halt.halt(request_to(one))
        assert answer.halted
        assert answer.halted_at is not None
        assert answer.halted_at.timestamp() == AT
        assert answer.cancelled == ()
    assert one.world_store.written == [HaltSet(AT, halted=True), ACT]
    for _ in range(2):
        answer = await halt.resume(request_to(one))
        assert (answer.halted, answer.halted_at) == (False, None)
    assert one.world_store.written[2:] == [HaltSet(AT, halted=False), ACT]


async def test_buys_that_were_cancelled_are_told_with_what_came_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = OrderEnded(
        "o1", "ada", "m1", OrderEnd.CANCELLED, AT, AT, Micros(0), Micros(0), Micros(0),
        Micros(7 * ONE),
    )  # fmt: skip
    events = [HaltSet(AT, halted=True), ended]
    monkeypatch.setattr(halt.halting, "halt", lambda *_: events)
    one = service()
    (row,) = (await halt.halt(request_to(one))).cancelled
    assert row.model_dump() == {
        "order_id": "o1", "agent_id": "ada", "agent_name": "ada", "market_id": "m1",
        "returned_usdc": 7.0,
    }  # fmt: skip
    assert one.world_store.written == [*events, ACT]


async def test_nothing_is_halted_in_memory_while_the_disk_refuses() -> None:
    one = service()
    one.world_store.refuses = StorageError("no room")
    for call in (halt.halt, halt.resume):
        with pytest.raises(StorageError):
            await call(request_to(one))
    assert one.world.halt.since is None
