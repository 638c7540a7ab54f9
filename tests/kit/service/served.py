"""The embedded service on loopback, with a list of what was asked of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kit.service.stage import Stage, open_stage
from service_tui import ServiceClient
from service_tui.clock import Clock
from service_tui.server.http.loopback import listen
from service_tui.terms import Plan


@dataclass
class Served:
    stage: Stage
    url: str = ""
    asked: list[str] = field(default_factory=list)
    """Methods and paths, in order."""

    def client(
        self, *, live: bool = True, venue: str = "sim", clock: Clock | None = None
    ) -> ServiceClient:
        return ServiceClient(self.stage.key, self.url, live=live, venue=venue, clock=clock)

    @property
    def market_id(self) -> str:
        return self.markets[0]

    @property
    def markets(self) -> list[str]:
        """Open markets, those with the most even odds first."""
        found = sorted(self.stage.open_markets(), key=lambda one: abs(one.price() - 0.5))
        return [one.market_id for one in found]

    @property
    def posts(self) -> list[str]:
        return [line for line in self.asked if not line.startswith("GET")]


class Counting:
    """The service's app, with a list of what it is asked."""

    def __init__(self, stage: Stage, asked: list[str]) -> None:
        self._app = stage.sim.app
        self._asked = asked
        self.state = stage.sim.app.state

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self._asked.append(f"{scope['method']} {scope['path']}")
        await self._app(scope, receive, send)


@asynccontextmanager
async def open_served(path: Path, *, plan: Plan = Plan.ELITE) -> AsyncGenerator[Served]:
    async with open_stage(path, plan=plan) as stage:
        served = Served(stage)

        async with listen(Counting(stage, served.asked)) as served.url:
            yield served
