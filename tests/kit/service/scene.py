"""A running service as the rows of the conformity table meet it: by HTTP, and with its clock."""

import random
from dataclasses import dataclass, field
from typing import Any

import httpx

from kit.service.stage import ANSWER_S, OPERATOR
from kit.service.threaded import Threaded
from service_tui.engine.amm.market import Market
from service_tui.units import Timestamp

Json = dict[str, Any]


@dataclass
class Caller:
    """One agent on its line."""

    url: str
    key: str
    agent_id: str = ""
    agent: str = ""

    def ask(self, method: str, path: str, **sent: Any) -> httpx.Response:
        """A call under `/api/sdk/`; a `key` of None sends none."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= sent.pop("headers", {})
        where = path if path.startswith("/") else f"/api/sdk/{path}"
        # Without a look through the environment for proxies, which costs more than the call.
        with httpx.Client(
            base_url=self.url, headers=headers, timeout=ANSWER_S, trust_env=False
        ) as line:
            return line.request(method, where, **sent)

    def get(self, path: str, **params: Any) -> Json:
        return self.ok("GET", path, params=params)

    def ok(self, method: str, path: str, **sent: Any) -> Json:
        response = self.ask(method, path, **sent)
        assert response.status_code == 200, (method, path, response.status_code, response.text)
        return response.json()

    def trade(self, market_id: str, side: str = "yes", amount: float = 10, **more: Any) -> Json:
        body = {"market_id": market_id, "side": side, "amount": amount} | more
        if more.get("action") == "sell":
            body["amount"] = 0
        return self.ok("POST", "trade", json=body)


@dataclass
class Scene:
    """The service, its first agent, and what it takes to meet every row."""

    service: Threaded
    used: set[str] = field(default_factory=set)
    count: int = 0

    @property
    def me(self) -> Caller:
        return Caller(self.service.url, self.service.stage.key, self.service.stage.agent_id)

    def nobody(self) -> Caller:
        return Caller(self.service.url, "")

    def desk(self, method: str, path: str, **sent: Any) -> Json:
        return Caller(self.service.url, OPERATOR).ok(method, f"/api/desk/{path}", **sent)

    def stranger(self, *, plan: str = "elite", claimed: bool = False, real: bool = False) -> Caller:
        """A new agent. The clock moves on, so that nobody meets the rate of registrations."""
        self.wait(61)
        self.count += 1
        body = {"name": f"stranger {self.count}"}
        born = self.nobody().ok("POST", "agents/register", json=body)
        if plan != "elite":
            self.desk("PATCH", f"agents/{born['agent_id']}", json={"plan": plan})
        if claimed:
            self.desk("POST", f"agents/{born['agent_id']}/claim")
        who = Caller(self.service.url, born["api_key"], born["agent_id"])
        if real:
            who.ok("POST", "settings", json={"sdk_real_trading_enabled": True})
        return who

    def market(self, venue: str = "sim", *, life_s: float = 7_200.0) -> str:
        """A market of the venue that no row has touched, open for a while."""
        found = [one for one in self._open(venue) if self._left(one) > life_s]
        near = [one for one in found if 0.2 < one.price() < 0.8] or found
        market = random.Random(len(self.used)).choice(near)
        self.used.add(market.market_id)
        return market.market_id

    def soonest(self, venue: str = "sim") -> Market:
        """The open market of the venue that is decided first, among those worth a bet."""
        found = [one for one in self._open(venue) if 0.1 < one.price() < 0.9]
        market = min(found, key=lambda one: one.listing.resolved_at)
        self.used.add(market.market_id)
        return market

    def _open(self, venue: str) -> list[Market]:
        return [
            one
            for one in self.service.stage.open_markets()
            if one.market_id not in self.used and (venue in {"sim", one.listing.home.value})
        ]

    def _left(self, market: Market) -> float:
        return market.listing.resolves_at - self.service.stage.world.world_at

    def wait(self, seconds: float) -> None:
        """Wall time passes; the tape stays where it is, so that markets do not run out."""
        self.service.stage.clock.set(self.service.stage.clock.now() + seconds)

    def pass_to(self, world_at: float) -> None:
        """The tape moves on to a moment of the world."""

        async def move() -> None:
            world_store, world = (
                self.service.stage.sim.service.world_store,
                self.service.stage.world,
            )
            await world_store.advance(Timestamp(world.at + world_at - world.world_at))
            self.service.stage.clock.set(max(self.service.stage.clock.now(), world_store.world.at))

        self.service.run(move())

    def document(self) -> Json:
        return self.nobody().ok("GET", "/openapi.json")
