"""An answer that the caller has already is not built again, and never a stale one."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.engine.bare import bare_world
from kit.service.bare import bare_service, request_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.unchanged import OF_THE_WORLD, UNCHANGED, unless_unchanged
from service_tui.units import Timestamp
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import SET_SPEED, TAPE
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE
from service_tui.wire.world_seq import WORLD_SEQ


async def ask(
    http: httpx.AsyncClient, endpoint: Endpoint[WireModel], market_id: str, tag: str = ""
) -> httpx.Response:
    headers = {"If-None-Match": tag} if tag else {}
    return await http.get(endpoint.path.format(market_id=market_id), headers=headers)


def http_to(stage: Stage, key: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(stage.sim.app), base_url=BASE_URL, headers=headers
    )


@dataclass
class Hands:
    """Somebody who changes the world now and then, and time that goes by."""

    stage: Stage
    agent: httpx.AsyncClient
    operator: httpx.AsyncClient
    market_id: str
    rng: random.Random

    async def do(self) -> None:
        """One thing, or nothing."""
        match self.rng.randrange(5):
            case 0:
                order = {"market_id": self.market_id, "side": "yes", "amount": 1, "venue": "sim"}
                assert (await self.agent.post(PLACE_TRADE.path, json=order)).is_success
            case 1:
                await self.stage.clock.advance(self.rng.choice([0.2, 1.0, 40.0]))
            case 2:
                pace = {"speed": self.rng.choice([0, 0, 1, 60])}
                assert (await self.operator.post(SET_SPEED.path, json=pace)).is_success
            case _:
                pass


@pytest.mark.slow
async def test_what_is_called_unchanged_is_the_same_and_what_changed_is_sent_whole(
    tmp_path: Path,
) -> None:
    async with (
        open_stage(tmp_path, speed=1) as stage,
        http_to(stage, stage.key) as agent,
        http_to(stage, OPERATOR) as operator,
    ):
        market_id = max(stage.open_markets(), key=lambda one: one.listing.resolves_at).market_id
        hands = Hands(stage, agent, operator, market_id, random.Random(4))
        ways = {MARKETS: agent, TAPE: operator}
        assert set(ways) == set(OF_THE_WORLD)
        kept = {endpoint: await ask(http, endpoint, market_id) for endpoint, http in ways.items()}
        counts = {304: 0, 200: 0}
        for _ in range(150):
            await hands.do()
            for endpoint, http in ways.items():
                last = kept[endpoint]
                answer = await ask(http, endpoint, market_id, last.headers["ETag"])
                whole = kept[endpoint] = await ask(http, endpoint, market_id)
                counts[answer.status_code] += 1
                is_same = answer.status_code == 304
                assert answer.content == (b"" if is_same else whole.content)
                assert not is_same or whole.content == last.content
                assert answer.headers["ETag"] == whole.headers["ETag"]
                assert answer.headers[WORLD_SEQ] == whole.headers[WORLD_SEQ]
        assert min(counts.values()) > 20, counts


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["*", "", '"x"', "0"])
async def test_another_version_brings_the_answer(tmp_path: Path, tag: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage, http_to(stage, stage.key) as http:
        assert (await ask(http, MARKETS, "", tag)).status_code == 200


@pytest.mark.slow
async def test_a_key_that_is_refused_learns_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, http_to(stage, stage.key) as http:
        tag = (await ask(http, MARKETS, "")).headers["ETag"]
        http.headers["Authorization"] = "Bearer sk_live_nobody"
        assert (await ask(http, MARKETS, "", tag)).status_code == 401


@pytest.mark.parametrize("change", ["", "opened", "seq", "world_at", "caller"])
async def test_an_answer_is_the_same_of_one_opening_row_moment_and_caller_alone(
    change: str,
) -> None:
    answer: Any = object()

    async def handler(_: object) -> Any:
        return answer

    async def asked(opened: float, request: Any) -> tuple[Any, str]:
        given = await unless_unchanged(handler, Timestamp(opened))(request)
        return given, request.headers["ETag"]

    def request(known: str = "") -> Any:
        return request_to(service, "ada", known=known)

    service = bare_service(bare_world("ada", "bea"))
    given, tag = await asked(1.0, request())
    assert given is answer
    known = request(tag)
    match change:
        case "seq":
            service.world_store.seq += 1
        case "world_at":
            service.world.world_at = Timestamp(service.world.world_at + 1.0)
        case "caller":
            known = request_to(service, "bea", known=tag)
        case _:
            pass
    given, _ = await asked(2.0 if change == "opened" else 1.0, known)
    assert given is (answer if change else UNCHANGED)
