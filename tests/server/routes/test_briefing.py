from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine.books.catalogue import importable_at, url_of
from service_tui.server.go_live import MILESTONES
from service_tui.terms import NEW_AGENT_CASH_SIM
from service_tui.units import ONE, Timestamp
from service_tui.wire.endpoints.public import (
    AGENT,
    BRIEFING,
    IMPORT_MARKET,
    MARKET,
    PLACE_TRADE,
    PORTFOLIO,
    REGISTER,
    TRADES,
)

pytestmark = pytest.mark.slow


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


async def buy(line: Line, market_id: str, amount: float = 5, **fields: object) -> dict[str, Any]:
    order = {"market_id": market_id, "side": "yes", "amount": amount} | fields
    said = await line.said(PLACE_TRADE, json=order)
    assert said["success"], said["error"]
    return said


async def fresh(line: Line, **params: object) -> list[str]:
    said = await line.said(BRIEFING, **params)
    return [one["market_id"] for one in said["opportunities"]["new_markets"]]


async def test_since_is_wall_time_for_what_was_listed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        line = line_to(stage)
        started = stage.clock.now()
        assert len(await fresh(line)) == 10
        await stage.clock.advance(30.5)
        # Half a minute at 60x is half an hour of the tape: its times would be ahead of every clock.
        await change(stage, claimed=True)
        later = stage.clock.now()
        listed = {key for key, one in stage.world.markets.items() if one.listed_at >= started + 1}
        assert listed
        assert set(await fresh(line, since=iso(started + 1))) <= listed
        assert await fresh(line, since=iso(later + 3_600)) == []
        found = importable_at(stage.world.tape, stage.world.world_at)
        url = {"polymarket_url": url_of(found[0])}
        assert (await line.said(IMPORT_MARKET, json=url))["status"] == "imported"
        assert await fresh(line, since=iso(later)) == [found[0].market_id]


async def test_new_markets_carry_the_score_of_the_list(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        said = await line.said(BRIEFING)
        for row in said["opportunities"]["new_markets"]:
            one = (await line.said(MARKET, path={"market_id": row["market_id"]}))["market"]
            assert row["opportunity_score"] == one["opportunity_score"]
            assert row["question"] == one["question"]
            assert row["time_to_resolution"]


def far_market(stage: Stage) -> str:
    """A market that resolves in more than 48 hours."""
    return max(stage.open_markets(), key=lambda one: one.listing.resolves_at).market_id


async def test_a_position_wants_attention_when_it_moved_or_ends_soon(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        far = far_market(stage)
        soon = min(stage.open_markets(), key=lambda one: one.listing.resolves_at).market_id
        await buy(line, far, 1)
        await buy(line, soon, 1)
        rows = (await line.said(BRIEFING))["venues"]["sim"]["positions_needing_attention"]
        assert [row["market_id"] for row in rows] == [soon]
        # A large buy of the other side pushes the first position down.
        for _ in range(3):
            await buy(line, far, 500, side="no")
        rows = (await line.said(BRIEFING))["venues"]["sim"]["positions_needing_attention"]
        moved = {row["side"]: row["move_pct"] for row in rows if row["market_id"] == far}
        held = stage.agent.positions[far]
        market = stage.world.markets[far]
        for side in (held.yes, held.no):
            name = "yes" if side is held.yes else "no"
            price = market.price() if name == "yes" else 1 - market.price()
            move = side.shares * price / side.cost - 1
            assert (name in moved) is (abs(move) > 0.15)
            if name in moved:
                assert moved[name] == pytest.approx(move, abs=1e-3)
        assert moved
        # Each side at its own price.
        for row in rows:
            own = stage.world.markets[row["market_id"]].price()
            own = own if row["side"] == "yes" else 1 - own
            assert row["current_price"] == pytest.approx(own)


async def test_the_rank_counts_the_agents_of_the_service(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        other = Line(stage, (await line.said(REGISTER, json={"name": "other"}))["api_key"])
        await buy(line, far_market(stage), 400)
        first, second = [(await one.said(BRIEFING))["performance"] for one in (line, other)]
        assert first["total_agents"] == second["total_agents"] == 2
        # By the mark its own price impact is a gain; sold, it would bring a hair less. All figures
        # of a standing are by what selling would bring.
        assert (await line.said(AGENT))["total_pnl"] > 0
        left = (await line.said(PORTFOLIO))["exit_equity"]
        assert first["total_pnl"] == pytest.approx(left - NEW_AGENT_CASH_SIM, abs=1e-7)
        assert first["total_pnl"] < 0 == second["total_pnl"]
        percent = first["total_pnl"] / NEW_AGENT_CASH_SIM * 100
        assert first["pnl_percent"] == pytest.approx(percent, abs=1e-4)
        assert (first["rank"], second["rank"]) == (2, 1)


async def test_positions_are_summed_by_source_tag(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        ids = [one.market_id for one in stage.open_markets()[:3]]
        await buy(line, ids[0], source="sdk:weather")
        await buy(line, ids[1], source="sdk:weather")
        await buy(line, ids[2])
        block = (await line.said(BRIEFING))["venues"]["sim"]["by_skill"]
        assert list(block) == ["sdk:weather"]
        assert block["sdk:weather"]["positions"] == 2
        pnl = sum(
            stage.agent.positions[key].unrealized(stage.world.markets[key].price())
            for key in ids[:2]
        )
        assert block["sdk:weather"]["total_pnl"] == pytest.approx(pnl / ONE)


VERSIONS: Final = {
    "{}": 200,
    '{"weather-trader":"1.2.0","dip_2":"0.1.0-rc.1+x"}': 200,
    "[]": 422,
    '{"a":1}': 422,
    '{"a":{"b":"1"}}': 422,
    "secret": 422,
}


@pytest.mark.parametrize("text", VERSIONS)
async def test_skill_versions_are_one_flat_object(tmp_path: Path, text: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        response = await line_to(stage).ask(BRIEFING, skill_versions=text)
        assert response.status_code == VERSIONS[text]
        assert "secret" not in response.text


async def test_a_nudge_comes_at_each_milestone_of_trades_on_sim(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = far_market(stage)
        nudged: list[int] = []
        for count in range(1, 12):
            said = await buy(line, market_id, 0.5)
            if said["go_live"]:
                nudged.append(count)
                nudge = said["go_live"]
        assert nudged == [10]
        assert nudge["sim_trades"] == 10
        assert [step["actor"] for step in nudge["steps"]] == ["owner", "owner", "agent", "agent"]
        assert stage.agent.claim_code in nudge["steps"][0]["url"]
        assert nudge["steps"][2]["body"] == {"sdk_real_trading_enabled": True}
        assert frozenset({10, 50, 100, 250}) == MILESTONES
        stage.agent.trades_count = 48
        quote = await buy(line, market_id, 0.5, dry_run=True)
        assert quote["go_live"] is None
        await change(stage, claimed=True)
        assert (await buy(line, market_id, 0.5))["go_live"] is None
        claimed = (await buy(line, market_id, 0.5))["go_live"]
        assert (claimed["sim_trades"], len(claimed["steps"])) == (50, 3)
        await change(stage, real_trading_enabled=True)
        stage.agent.trades_count = 99
        assert (await buy(line, market_id, 0.5))["go_live"] is None


async def test_the_history_is_asked_by_the_keys_own_agent_only(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        other = await line.said(REGISTER, json={"name": "other"})
        await buy(line, far_market(stage))
        own = await line.said(TRADES, agent_id=stage.agent_id, include_failed="true")
        assert own["total_count"] == 1
        refused = await line.said(TRADES, 404, agent_id=other["agent_id"])
        assert refused["fix"]


async def test_no_row_of_the_history_has_a_number_missing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        # Or what loses would be sold before the end.
        await change(stage, auto_risk_monitor_enabled=False)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        bought = await buy(line, market.market_id, 20)
        sale = {"market_id": market.market_id, "side": "yes", "action": "sell"}
        shares = round(bought["shares"] / 3, 5)
        assert (await line.said(PLACE_TRADE, json=sale | {"shares": shares}))["success"]
        await line.wait(Timestamp(market.listing.resolved_at - stage.world.world_at + 1))
        rows = (await line.said(TRADES))["trades"]
        assert [row["action"] for row in rows] == ["redeem", "sell", "buy"]
        for row in rows:
            for name in ("shares", "cost", "price_before", "price_after", "avg_price"):
                assert isinstance(row[name], float), (row["action"], name)
            assert row["id"] == row["trade_id"]
            assert row["resolved"] is True
            assert row["outcome"] is market.listing.outcome


async def test_installed_skills_are_recommended_and_newer_ones_are_told(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        folder = tmp_path / "packages"
        stage.sim.service.skill_folders = (folder,)
        for count, version in enumerate(("1.2.0", "0.9.10", "2.0.0", "1.0.0")):
            package = folder / f"skill-{count}"
            package.mkdir(parents=True)
            best = '\n  best_when: "it rains"' if count == 3 else ""
            (package / "SKILL.md").write_text(
                f"---\nname: skill-{count}\ndescription: one\nmetadata:\n"
                f'  version: "{version}"{best}\n---\n'
            )
        said = await line.said(BRIEFING)
        assert said["skill_updates"] is None
        advised = said["opportunities"]["recommended_skills"]
        assert [one["id"] for one in advised] == ["skill-3", "skill-0", "skill-1"]
        assert advised[0]["best_when"] == "it rains"
        asked = '{"skill-0":"1.2.0","skill-1":"0.9.9","skill-2":"2.1","unknown":"1"}'
        told = await line.said(BRIEFING, skill_versions=asked)
        assert told["skill_updates"] == [
            {"slug": "skill-1", "current": "0.9.9", "latest": "0.9.10"}
        ]
        assert [one["id"] for one in told["opportunities"]["recommended_skills"]] == ["skill-3"]
