"""The past of every agent: the same as each agent's own calls give, in calls that do not grow."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import httpx
import pytest

from kit.clock import leap
from kit.service.line import Line, line_to
from kit.service.scene import Json
from kit.service.stage import OPERATOR, Stage, first_state, open_stage
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.desk import wanted
from service_tui.desk.agents.translate import reasoned_trade_view
from service_tui.desk.audit.listings import LISTINGS
from service_tui.desk.ports import DeskContext
from service_tui.desk.single_read import read_once
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.wanted import PastPart, Wanted
from service_tui.server.embedded import BASE_URL
from service_tui.terms import Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import DESK, Endpoint
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_TRADES,
    DESK_OUTCOMES,
    DESK_RETURNS,
    DESK_TRADES,
)
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER
from service_tui.wire.trades import TradeRow

ZERO = tuple((venue, Micros(0)) for venue in Venue)


class Counting(httpx.AsyncBaseTransport):
    """The service behind a count of the calls by path.

    Of an older holder one is `missing`; `said` are answers of one that says what it likes.
    """

    def __init__(
        self, stage: Stage, missing: str = "", said: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        self.calls = Counter[str]()
        self._stage, self._missing, self._said = stage, missing, said

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls[request.url.path] += 1
        if request.url.path == self._missing:
            return httpx.Response(404, stream=httpx.ByteStream(b'{"error": "nothing here"}'))
        if (text := self._said.get(request.url.path)) is not None:
            return httpx.Response(200, stream=httpx.ByteStream(text))
        return await self._stage.sim.transport.handle_async_request(request)


async def agents_that_trade(stage: Stage, count: int, first: int = 0) -> list[str]:
    """More agents, each with two buys and a sale of the first one."""
    found: list[str] = []
    for number in range(first, first + count):
        new = await line_to(stage).said(REGISTER, json={"name": f"agent {number}"})
        line = Line(stage, new["api_key"])
        market = stage.open_markets()[number % 5].market_id
        for side in ("yes", "no"):
            order = {"market_id": market, "side": side, "amount": 5 + number, "venue": "sim"}
            bought = await line.said(PLACE_TRADE, json=order)
            assert bought["success"], bought
            if side == "yes":
                sale = order | {"action": "sell", "shares": 1}
                del sale["amount"]
                assert (await line.said(PLACE_TRADE, json=sale))["success"]
        found.append(new["agent_id"])
    return found


async def read(
    stage: Stage, parts: Wanted, missing: str = "", **said: bytes
) -> tuple[DeskState, Mapping[str, AgentDetailView], Counter[str]]:
    """What a list of the shell reads, and its calls; `said` are answers by the end of a path."""
    counting = Counting(stage, missing, {f"{DESK}/{name}": text for name, text in said.items()})
    api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
    rng = random.Random(1)
    async with Client(counting, BASE_URL, api_keys, clock=stage.clock, rng=rng) as client:
        context = DeskContext(client, stage.database, stage.clock, lambda: "0" * 32, rng)
        state, pasts = await read_once(first_state(), context, parts)
    return state, pasts, counting.calls


@pytest.mark.slow
async def test_the_calls_of_a_list_do_not_grow_with_the_agents(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        lists = {name: one for name, one in LISTINGS.items() if not one.wanted.is_nothing}
        await agents_that_trade(stage, 2)
        few = {name: (await read(stage, one.wanted))[2] for name, one in lists.items()}
        await agents_that_trade(stage, 4, first=2)
        for name, one in lists.items():
            _, pasts, calls = await read(stage, one.wanted)
            assert calls == few[name], name
            assert len(pasts) == (7 if one.wanted.parts else 0)


@pytest.mark.slow
@pytest.mark.parametrize("before", [0, 5, 1_000_000_000])
async def test_a_past_whose_next_page_leads_nowhere_comes_to_an_end(
    tmp_path: Path, before: int
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await agents_that_trade(stage, 1)
        said = b'{"trades": [], "before": %d}' % before
        parts = Wanted((Topic.AGENTS,), frozenset({PastPart.TRADES}))
        _, _, calls = await read(stage, parts, trades=said)
        assert calls[DESK_TRADES.path] <= 2


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 5_000_000, 1_000_000_000])
async def test_returns_whose_next_page_leads_nowhere_come_to_an_end(
    tmp_path: Path, after: int
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        said = b'{"agents": [], "next": %d}' % after
        state, _, calls = await read(stage, Wanted((Topic.FLEET,), returns=True), returns=said)
        assert calls[DESK_RETURNS.path] == 1
        assert state.supervision.returns == ()


@pytest.mark.slow
async def test_each_past_is_that_of_the_agents_own_calls(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        agents = await agents_that_trade(stage, 3)
        operator = Line(stage, OPERATOR)
        _, pasts, _ = await read(stage, Wanted((Topic.AGENTS,), wanted.DAY))
        for agent_id in agents:
            path = {"agent_id": agent_id}
            own = await operator.said(DESK_AGENT_TRADES, path=path)
            rows = [TradeRow.model_validate_json(json.dumps(row)) for row in own["trades"]]
            assert len(rows) == 3
            assert pasts[agent_id].trades == tuple(map(reasoned_trade_view, rows))
            since = "2020-01-01T00:00:00Z"
            sums = await operator.said(DESK_AGENT_OUTCOMES, path=path, since=since)
            realized = {venue: decimal(pnl) for venue, pnl in pasts[agent_id].realized_today}
            assert realized == {Venue(name): one["pnl"] for name, one in sums["by_venue"].items()}
            assert realized[Venue.SIM]


@pytest.mark.slow
async def test_what_became_final_before_today_counts_no_more(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        (sold,) = await agents_that_trade(stage, 1)
        await leap(stage.clock, 86_400.0, 3_600.0)
        _, pasts, _ = await read(stage, Wanted((Topic.AGENTS,), wanted.DAY))
        assert len(pasts[sold].trades) == 3
        assert pasts[sold].realized_today == ZERO
        # The stage's own agent never traded: nothing of it is known, and nothing was asked.
        assert pasts[stage.agent_id] == AgentDetailView(stage.agent_id, (), ())


@pytest.mark.slow
@pytest.mark.parametrize("missing", [DESK_TRADES, DESK_OUTCOMES])
async def test_who_traded_has_the_reason_where_no_past_can_be_read(
    tmp_path: Path, missing: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        (agent_id,) = await agents_that_trade(stage, 1)
        _, pasts, _ = await read(stage, Wanted((Topic.AGENTS,), wanted.DAY), missing.path)
        assert pasts[agent_id].trades == ()
        assert "nothing here" in pasts[agent_id].problem
        assert not pasts[stage.agent_id].problem


@pytest.mark.slow
async def test_pages_of_all_trades_follow_each_other_without_gap(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await agents_that_trade(stage, 3)
        operator = Line(stage, OPERATOR)
        whole = await operator.said(DESK_TRADES)
        assert whole["before"] is None
        found: list[Json] = []
        before: dict[str, int] = {}
        while True:
            page = await operator.said(DESK_TRADES, limit=4, **before)
            found += page["trades"]
            if page["before"] is None:
                break
            # What happens meanwhile moves no row to another page.
            await agents_that_trade(stage, 1, first=len(found) + 20)
            before = {"before": page["before"]}
        assert found == whole["trades"]
        assert len(found) == 9


@pytest.mark.slow
async def test_a_page_ends_before_its_text_is_more_than_a_client_reads(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market = stage.open_markets()[0].market_id
        order = {"market_id": market, "side": "yes", "amount": 1, "reasoning": "," * 2_000}
        for _ in range(60):
            assert (await line_to(stage).said(PLACE_TRADE, json=order))["success"]
        _, pasts, calls = await read(stage, Wanted((Topic.AGENTS,), frozenset({PastPart.TRADES})))
        assert len(pasts[stage.agent_id].trades) == 60
        assert calls[DESK_TRADES.path] == 2


@pytest.mark.slow
async def test_returns_come_page_by_page(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await agents_that_trade(stage, 4)
        operator = Line(stage, OPERATOR)
        whole = await operator.said(DESK_RETURNS)
        pages = [await operator.said(DESK_RETURNS, offset=begin, limit=2) for begin in (0, 2, 4)]
        assert [page["next"] for page in (*pages, whole)] == [2, 4, None, None]
        ids = [one["agent_id"] for page in pages for one in page["agents"]]
        assert ids == [one["agent_id"] for one in whole["agents"]] == list(stage.world.agents)
