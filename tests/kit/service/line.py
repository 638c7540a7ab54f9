"""A client that says what a test says, and shows what was answered."""

from dataclasses import dataclass
from typing import Any

import httpx

from kit.clock import leap
from kit.service.stage import Stage
from service_tui.server.embedded import BASE_URL
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint


@dataclass(frozen=True)
class Line:
    """Calls of one agent, as they stand on the wire."""

    stage: Stage
    key: str

    async def ask(
        self,
        endpoint: Endpoint[WireModel],
        /,
        *,
        json: object = None,
        path: dict[str, str] | None = None,
        **params: object,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        transport = self.stage.sim.transport
        async with httpx.AsyncClient(
            transport=transport, base_url=BASE_URL, headers=headers
        ) as client:
            where = endpoint.path.format(**(path or {}))
            query = {name: str(value) for name, value in params.items()}
            return await client.request(endpoint.method, where, json=json, params=query)

    async def said(
        self, endpoint: Endpoint[WireModel], code: int = 200, /, **asked: Any
    ) -> dict[str, Any]:
        response = await self.ask(endpoint, **asked)
        assert response.status_code == code, response.text[:300]
        return response.json()

    async def wait(self, seconds: float) -> None:
        await leap(self.stage.clock, seconds)
        await self.stage.sim.service.world_store.advance(self.stage.clock.now())
        # What the service's own tick was writing meanwhile is on disk as well.
        await self.stage.at_rest.write(lambda _: None)


def line_to(stage: Stage) -> Line:
    return Line(stage, stage.key)


async def change(stage: Stage, **changes: object) -> None:
    """Give the stage's agent other settings, on disk as well."""
    events = stage.world.change(stage.agent, changes, stage.clock.now())
    await stage.sim.service.world_store.commit(events)
