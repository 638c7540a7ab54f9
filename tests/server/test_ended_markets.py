"""Markets that ended stay known to whoever traded them, while memory keeps the last few alone."""

from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.engine import world as world_room
from service_tui.engine.amm.market import Market
from service_tui.wire.endpoints.browse import BROWSE
from service_tui.wire.endpoints.desk import TAPE
from service_tui.wire.endpoints.public import (
    MARKET,
    MARKET_CONTEXT,
    MARKET_HISTORY,
    MARKETS,
    PLACE_TRADE,
    POSITIONS,
    TRADES,
)

HOUR_S = 3_600.0


async def pass_to(stage: Stage, world_at: float) -> None:
    """Cross a silence up to a moment of the tape."""
    world_store, world = stage.sim.service.world_store, stage.world
    stage.clock.set(world.at + world_at - world.world_at)
    await world_store.advance(stage.clock.now())


def soonest(stage: Stage, count: int) -> list[Market]:
    found = [
        one
        for one in stage.open_markets()
        if one.listing.resolves_at > stage.world.world_at + 60 and 0.1 < one.price() < 0.9
    ]
    return sorted(found, key=lambda one: one.listing.resolved_at)[:count]


async def looks(line: Line, market_id: str) -> list[Any]:
    """Everything that the service says of one market."""
    path = {"market_id": market_id}
    one = (await line.said(MARKET, path=path))["market"]
    listed = (await line.said(MARKETS, ids=f"nowhere,{market_id}"))["markets"]
    past = await line.said(MARKET_HISTORY, path=path, hours=48)
    # A chart of the console is drawn of this one.
    tape = await Line(line.stage, OPERATOR).said(TAPE, path=path)
    assert tape["points"][-1]["price"] == past["points"][-1]["price_yes"]
    context = (await line.said(MARKET_CONTEXT, path=path))["market"]
    kept = ("status", "outcome", "resolves_at", "resolved_at", "question", "current_price")
    named = {
        name: one[name] for name in (*kept, "url", "import_source", "condition_id") if name in one
    }
    assert [{name: row.get(name) for name in named} for row in listed] == [named]
    return [named, past["points"][-1]["price_yes"], (context["status"], context["question"])]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [2, 400])
async def test_a_position_tells_when_its_market_was_to_end_also_after_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", kept)
    async with open_stage(tmp_path, ManualClock(), speed=1) as stage:
        line = line_to(stage)
        traded = soonest(stage, 4)
        for market in traded:
            order = {"market_id": market.market_id, "side": "yes", "amount": 20}
            await line.said(PLACE_TRADE, json=order)

        async def ends() -> dict[str, Any]:
            rows = (await line.said(POSITIONS, status="all"))["positions"]
            return {row["market_id"]: row["resolves_at"] for row in rows}

        before = await ends()
        assert None not in before.values()
        await pass_to(stage, max(one.listing.resolved_at for one in traded) + HOUR_S)
        assert await ends() == before


@pytest.mark.slow
async def test_a_market_that_was_traded_stays_when_memory_has_forgotten_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 2)
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=1) as stage:
        line = line_to(stage)
        traded, other = soonest(stage, 2)
        order = {"market_id": traded.market_id, "side": "yes", "amount": 20}
        await line.said(PLACE_TRADE, json=order)
        ends = max(traded.listing.resolved_at, other.listing.resolved_at)
        await pass_to(stage, traded.listing.resolved_at)
        before = await looks(line, traded.market_id)
        await pass_to(stage, ends + HOUR_S)
        assert not {traded.market_id, other.market_id} & stage.world.markets.keys()
        after = await looks(line, traded.market_id)
        assert after == before
        assert after[0]["status"] == "resolved"
        assert after[0]["outcome"] is traded.listing.outcome
        rows = (await line.said(TRADES))["trades"]
        assert {row["outcome"] for row in rows} == {traded.listing.outcome}
        assert {row["market_question"] for row in rows} == {traded.listing.question}
        assert all(row["resolved"] for row in rows)
        # Nobody ever had to do with the other one.
        await line.said(MARKET, 404, path={"market_id": other.market_id})
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        assert await looks(line_to(stage), traded.market_id) == after


async def over(stage: Stage, line: Line) -> list[Market]:
    """Markets that the agent traded and that ended; memory has forgotten all but two."""
    traded = soonest(stage, 6)
    for market in traded:
        order = {"market_id": market.market_id, "side": "yes", "amount": 5}
        await line.said(PLACE_TRADE, json=order)
    await pass_to(stage, max(one.listing.resolved_at for one in traded) + HOUR_S)
    assert sum(one.market_id in stage.world.markets for one in traded) <= 2
    return traded


@pytest.mark.parametrize("status", ["resolved", "all"])
async def test_the_list_of_resolved_markets_has_all_that_were_traded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 2)
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=1) as stage:
        line = line_to(stage)
        ids = {market.market_id for market in await over(stage, line)}
        asked = {"status": status, "limit": 500, "tradeable_only": False}
        said = await line.said(MARKETS, **asked)
        rows = {row["id"]: row for row in said["markets"]}
        assert ids <= rows.keys()
        assert (said["total"], said["total_count"], said["truncated"]) == (
            len(rows), len(rows), False,
        )  # fmt: skip
        assert {rows[one]["status"] for one in ids} == {"resolved"}
        # By pages it is the same list, and each page says whether there is more.
        turned: list[str] = []
        while len(turned) < len(rows):
            page = await line.said(MARKETS, **asked | {"limit": 25, "offset": len(turned)})
            turned += [row["id"] for row in page["markets"]]
            assert (page["total"], page["truncated"]) == (len(rows), len(turned) < len(rows))
        assert sorted(turned) == sorted(rows)
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        said = await line_to(stage).said(MARKETS, **asked)
        assert ids <= {row["id"] for row in said["markets"]}


async def test_a_search_finds_markets_that_ended_long_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 2)
    async with open_stage(tmp_path, ManualClock(), speed=1) as stage:
        line = line_to(stage)
        for market in await over(stage, line):
            word, tags = max(market.listing.question.split(), key=len), market.listing.tags
            asked = {"status": "resolved", "limit": 500, "sort": "created", "include": "sparkline"}
            for narrowed in ({"q": word}, {"tags": ",".join(tags)}):
                said = await line.said(MARKETS, **asked | narrowed)
                (row,) = (row for row in said["markets"] if row["id"] == market.market_id)
                # Its prices come from storage, as for one market alone.
                alone = await line.said(MARKET, path={"market_id": market.market_id})
                assert row["sparkline"] == alone["market"]["sparkline"]
            public = await line.said(BROWSE, status="resolved", q=word, limit=200)
            assert market.market_id in {row["id"] for row in public["markets"]}
            assert public["total"] == len(public["markets"])
