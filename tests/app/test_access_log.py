"""The log of calls: a line each, with the endpoint and an id that the answer has as well."""

import json
import logging
import tracemalloc
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp

from kit.service.stage import Stage, open_stage
from service_tui.app.access_log import logged, random_id, route_of
from service_tui.app.logfile import JsonLine
from service_tui.app.ops import ProcessFigures
from service_tui.server.http.loopback import listen

pytestmark = pytest.mark.slow


async def answers(
    stage: Stage, *calls: tuple[str, dict[str, bytes]]
) -> list[tuple[httpx.Response, list[str]]]:
    """Answers of a logged port, each with its ids."""
    found: list[tuple[httpx.Response, list[str]]] = []

    def once(app: ASGIApp) -> ASGIApp:
        return logged(app, stage.clock.monotonic, random_id)

    async with (
        listen(stage.sim.app, around=lambda app: once(once(app))) as url,
        httpx.AsyncClient(base_url=url) as client,
    ):
        for path, headers in calls:
            raw = [(name.encode(), value) for name, value in headers.items()]
            reply = await client.get(path, headers=raw)
            found.append((reply, reply.headers.get_list("x-request-id")))
    return found


async def test_a_plain_id_leads_through_and_another_one_is_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "service_tui.access")
    key = {"X-Request-Id": b"order-7.a_B"}
    bad = [{"X-Request-Id": text} for text in (b"", b"a b", b"x" * 65, "é".encode())]
    async with open_stage(tmp_path, speed=0) as stage:
        found = await answers(
            stage, *(("/api/sdk/health", one) for one in (key, {}, *bad)), ("/claim/c0de", {})
        )
    ids = [found_ids for _, found_ids in found]
    assert ids[0] == ["order-7.a_B"]
    made = [one for (one,) in ids[1:]]
    assert all(len(one) == 16 and one.isalnum() for one in made)
    assert len(set(made)) == len(made)
    lines = [one.getMessage() for one in caplog.records if one.name == "service_tui.access"]
    # As of a follower and a leader: two lines, one id.
    assert [line.split()[0] for line in lines] == [one for (one,) in ids for _ in range(2)]
    assert lines[0].startswith("order-7.a_B GET /api/sdk/health 200 ")
    assert not any("c0de" in line for line in lines)


async def test_a_collector_gets_the_parts_of_a_line_as_fields(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "service_tui.access")
    async with open_stage(tmp_path, speed=0) as stage:
        key = {"X-Request-Id": b"a-1", "Authorization": f"Bearer {stage.key}".encode()}
        wrong = {"X-Request-Id": b"a-2", "Authorization": b"Bearer sk_live_wrong"}
        market = stage.open_markets()[0].market_id
        path = f"/api/sdk/context/{market}"
        await answers(stage, (path, key), ("/api/sdk/agents/me", wrong))
    lines = [
        json.loads(JsonLine().format(one))
        for one in caplog.records
        if one.name == "service_tui.access"
    ]
    parts = [
        tuple(one[name] for name in ("id", "method", "endpoint", "status", "agent"))
        for one in lines[::2]
    ]
    assert parts == [
        ("a-1", "GET", "/api/sdk/context/{market_id}", 200, stage.agent_id),
        ("a-2", "GET", "/api/sdk/agents/me", 401, None),
    ]
    # As of a follower that asked its copy: whoever logs the call around it names the agent too.
    assert [one["agent"] for one in lines] == [stage.agent_id] * 2 + [None] * 2
    assert {one["ms"] for one in lines} == {0.0}


def test_long_paths_of_strangers_are_not_kept() -> None:
    tracemalloc.start()
    try:
        routes = {
            route_of({"path": f"/api/sdk/markets/{number:060000}"}) for number in range(1_100)
        }
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert routes == {"other"}
    # All of them are sixty megabytes.
    assert kept < 4_000_000


async def test_times_are_counted_by_endpoint_and_made_up_paths_are_one(tmp_path: Path) -> None:
    figures = ProcessFigures(lambda: 0.0)
    async with (
        open_stage(tmp_path, speed=0) as stage,
        listen(stage.sim.app, around=figures.measured) as url,
        httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {stage.key}"}) as client,
    ):
        market = stage.open_markets()[0].market_id
        for path in (f"/api/sdk/markets/{market}", "/a/b", "/a/c"):
            await client.get(path)
        await client.request("INVENTED", "/a/d")
    counts = {
        (one.labels["method"], one.labels["route"], one.labels["status"]): one.value
        for metric in figures.registry.collect()
        for one in metric.samples
        if one.name == "service_tui_route_seconds_count"
    }
    assert counts[("GET", "/api/sdk/markets/{market_id}", "2xx")] == 1.0
    assert counts[("GET", "other", "4xx")] == 2.0
    assert {method for method, _, _ in counts} <= {"GET", "other"}
