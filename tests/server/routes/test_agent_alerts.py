"""Alerts on agents over the wire: set, fired, told to programs, kept over a restart."""

import json
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.stage import OPERATOR, Stage, WebhookParts, open_stage
from service_tui.clock import ManualClock
from service_tui.server.embedded import BASE_URL
from service_tui.server.webhooks.post import Parcel

pytestmark = pytest.mark.slow

Json = dict[str, Any]
ALERTS: Final = "/api/desk/alerts"
TRADE: Final = "/api/sdk/trade"


async def ask(stage: Stage, method: str, path: str, key: str, **sent: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
        headers = {"Authorization": f"Bearer {key}"}
        return await client.request(method, path, headers=headers, **sent)


async def said(stage: Stage, method: str, path: str, key: str = OPERATOR, **sent: Any) -> Json:
    answer = await ask(stage, method, path, key, **sent)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def is_set(stage: Stage, kind: str, limit: float, **other: object) -> Json:
    sent = {"kind": kind, "limit": limit} | other
    return await said(stage, "POST", f"/api/desk/agents/{stage.agent_id}/alerts", json=sent)


async def listed(stage: Stage) -> list[Json]:
    return (await said(stage, "GET", ALERTS))["alerts"]


async def bought(stage: Stage, amount: float = 60, **other: object) -> Json:
    order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": amount}
    return await said(stage, "POST", TRADE, stage.key, json=order | other)


async def passed(stage: Stage, seconds: int = 1) -> None:
    for _ in range(seconds):
        await stage.clock.advance(1.0)
        await stage.sim.service.world_store.advance(stage.clock.now())


async def test_an_alert_is_listed_with_its_last_firing_and_pauses_its_agent(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        placed = await is_set(stage, "spend", 50, minutes=10, action="pause")
        assert (placed["last_fired_at"], placed["last_value"]) == (None, None)
        assert (placed["id"], placed["agent_id"]) == ("aa1", stage.agent_id)
        await bought(stage)
        await passed(stage)

        (row,) = await listed(stage)

        assert (row["fired_count"], row["is_beyond"], row["last_value"]) == (1, True, 60.0)
        assert row["last_fired_at"] is not None
        refused = await bought(stage)
        assert (refused["success"], refused["error_code"]) == (False, "TRADING_PAUSED")
        path = f"/api/desk/agents/{stage.agent_id}/alerts/aa1"
        assert (await said(stage, "DELETE", path))["success"] is True
        assert await listed(stage) == []
        assert (await ask(stage, "DELETE", path, OPERATOR)).status_code == 404


async def test_a_restart_neither_loses_nor_doubles_a_firing(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock) as stage:
        key, agent_id = stage.key, stage.agent_id
        await is_set(stage, "spend", 50, minutes=10, action="halt")
        await is_set(stage, "errors", 2, minutes=10)
        await bought(stage)
        await passed(stage)
        # Refused while halted: one error, and its alert fires after the restart alone.
        assert (await bought(stage))["success"] is False
        before = await listed(stage)
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        assert await listed(stage) == before
        assert (await bought(stage))["success"] is False
        await passed(stage, 3)
        assert [row["fired_count"] for row in await listed(stage)] == [1, 1]
        assert stage.world.halt.since is not None


async def test_a_refused_order_counts_as_an_error_of_its_skill(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await is_set(stage, "errors", 2, minutes=5, skill_slug="momentum")
        for slug in ("momentum", "reversal", "momentum"):
            assert (await bought(stage, 9_999, skill_slug=slug))["success"] is False
            await passed(stage)
            fired = [row["fired_count"] for row in await listed(stage)]
        assert fired == [1]
        assert (await listed(stage))[0]["last_value"] == 2.0


async def test_a_silent_agent_is_one_that_calls_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await is_set(stage, "silent", 1)
        for _ in range(3):
            await passed(stage, 50)
            await said(stage, "GET", "/api/sdk/agents/me", stage.key)
        assert (await listed(stage))[0]["fired_count"] == 0
        await passed(stage, 61)
        assert (await listed(stage))[0]["fired_count"] == 1


async def test_the_webhooks_of_its_agent_get_the_firing(tmp_path: Path) -> None:
    got: list[Json] = []

    async def post(_: str, parcel: Parcel, *__: object, **___: object) -> str:
        got.append(json.loads(parcel.body))
        return ""

    async with open_stage(tmp_path, webhooks=WebhookParts(post=post)) as stage:
        hook = {"url": "https://hook.example/in", "events": ["agent.alert"]}
        await said(stage, "POST", "/api/sdk/webhooks", stage.key, json=hook)
        await is_set(stage, "spend", 50, minutes=10)
        await bought(stage)
        await passed(stage, 2)
        await stage.clock.advance(1.0)
    (one,) = got
    assert one["event"] == "agent.alert"
    assert one["data"] | {"fired_at": ""} == {
        "alert_id": "aa1", "agent_id": stage.agent_id, "agent_name": "tester",
        "kind": "spend", "limit": 50.0, "minutes": 10, "value": 60.0, "action": "tell",
        "skill_slug": "", "market_id": "", "fired_at": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"kind": "silent", "limit": 0.5}, "limit"),
        ({"kind": "drawdown", "limit": 20}, "limit"),
        ({"kind": "errors", "limit": 2.5, "minutes": 5}, "limit"),
        ({"kind": "silent", "limit": 5, "minutes": 5}, "minutes"),
        ({"kind": "spend", "limit": 5}, "minutes"),
        ({"kind": "spend", "limit": 5, "minutes": 5, "skill_slug": "momentum"}, "skill_slug"),
    ],
)
async def test_a_limit_that_the_kind_has_not_is_refused_by_its_field(
    tmp_path: Path, sent: Json, field: str
) -> None:
    async with open_stage(tmp_path) as stage:
        path = f"/api/desk/agents/{stage.agent_id}/alerts"
        refused = await ask(stage, "POST", path, OPERATOR, json=sent)
        assert refused.status_code == 422
        assert field in refused.text
        assert await listed(stage) == []


async def test_a_trader_pauses_own_agents_and_halts_nobody(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        person = await said(
            stage, "POST", "/api/desk/people", json={"name": "ada", "role": "trader"}
        )
        stage.agent.change({"owner": "ada"})
        stage.sim.service.operator_agent = None
        path, key = f"/api/desk/agents/{stage.agent_id}/alerts", person["key"]
        for action, status in (("tell", 200), ("pause", 200), ("halt", 403)):
            sent = {"kind": "silent", "limit": 5, "action": action}
            assert (await ask(stage, "POST", path, key, json=sent)).status_code == status
