"""Reads carried straight to the handlers are answered as by the app, and nothing else is."""

from pathlib import Path

import httpx
import pytest

from kit.service.stage import OPERATOR, open_stage
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.access import Access, hash_of
from service_tui.server.read_transport import ReadTransport


@pytest.mark.slow
async def test_reads_alone_are_answered_and_as_the_app_does(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id = stage.open_markets()[0].market_id
        service = stage.sim.service
        straight = ReadTransport(service, Access(hash_of(OPERATOR)))

        async def ask(
            line: httpx.AsyncBaseTransport, path: str, key: str, method: str = "GET"
        ) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            async with httpx.AsyncClient(transport=line, base_url=BASE_URL) as http:
                return await http.request(method, path, headers=headers)

        for path, key, status in (
            (f"/api/sdk/markets/{market_id}", stage.key, 200),
            # A path of its own comes before one with an id.
            ("/api/sdk/markets/importable?limit=3", stage.key, 200),
            ("/api/sdk/markets?limit=7&sort=volume", stage.key, 200),
            ("/api/desk/world", OPERATOR, 200),
            ("/api/sdk/health", "", 200),
            ("/api/sdk/markets/none", stage.key, 404),
            ("/api/sdk/markets?limit=many", stage.key, 422),
            ("/api/sdk/agents/me", "sk_live_nobody", 401),
            ("/api/desk/world", stage.key, 401),
        ):
            one, other = [await ask(line, path, key) for line in (straight, stage.sim.transport)]
            assert (one.status_code, one.json()) == (status, other.json()), path
            assert one.headers["content-type"] == "application/json"
        for method, path in (
            ("POST", "/api/sdk/trade"),
            ("POST", f"/api/sdk/markets/{market_id}"),
            ("GET", f"/api/sdk/markets/{market_id}/more"),
            ("GET", "/api/other/m1"),
        ):
            refused = await ask(straight, path, stage.key, method)
            assert refused.status_code == 404
            assert refused.json()["error"] == f"{method} {path} is not read here"
        assert service.world_store.seq == service.world_store.written_seq
