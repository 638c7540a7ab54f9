"""A client that says what a test says, and shows what was answered."""

from dataclasses import dataclass
from typing import Any

import httpx

from kit.clock import STRIDE_S, leap
from kit.engine.falling import sink
from kit.service.stage import Stage
from service_tui.server.embedded import BASE_URL
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint


async def answer_to(stage: Stage, request: httpx.Request) -> httpx.Response:
    """The whole answer to a request, sent as it is: a client of httpx costs as much as the service.

    It merges addresses, headers and cookies anew for each call.
    """
    response = await stage.sim.transport.handle_async_request(request)
    response.request = request
    await response.aread()
    return response


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
        request = httpx.Request(
            endpoint.method,
            BASE_URL + endpoint.path.format(**(path or {})),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            json=json,
            params={name: str(value) for name, value in params.items()} or None,
        )
        return await answer_to(self.stage, request)

    async def said(
        self, endpoint: Endpoint[WireModel], code: int = 200, /, **asked: Any
    ) -> dict[str, Any]:
        response = await self.ask(endpoint, **asked)
        assert response.status_code == code, response.text[:300]
        return response.json()

    async def wait(self, seconds: float, step_s: float = STRIDE_S) -> None:
        """Let time pass. Of a paused world the strides may be longer: it crosses nothing."""
        await leap(self.stage.clock, seconds, step_s)
        await self.stage.sim.service.world_store.advance(self.stage.clock.now())
        # What the service's own tick was writing meanwhile is on disk as well.
        await self.stage.at_rest.write(lambda _: None)


def line_to(stage: Stage) -> Line:
    return Line(stage, stage.key)


async def sink_on(stage: Stage, market_id: str) -> None:
    """Let other agents sell YES on a market's book until its price has fallen."""
    events = sink(stage.world, market_id, stage.clock.now())
    await stage.sim.service.world_store.commit(events)


async def change(stage: Stage, **changes: object) -> None:
    """Give the stage's agent other settings, on disk as well."""
    events = stage.world.change(stage.agent, changes, stage.clock.now())
    await stage.sim.service.world_store.commit(events)
