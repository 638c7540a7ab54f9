"""Experiments, research states and backtests over HTTP, and after a restart."""

from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.topics import TOPICS
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.client.errors import PlanRequiredError
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.research import research_fields
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.limits import DAY_S
from service_tui.engine.research.research import SESSIONS_KEPT
from service_tui.server.world_store import restore
from service_tui.terms import Plan
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    DESK_RESEARCH,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.research import BacktestRequest

Json = dict[str, Any]
SKILL: Final = "weather-edge"
FIRST: Final = {
    "skill_slug": SKILL, "experiment_number": 1, "status": "keep", "metric_name": "pnl",
    "metric_value": 2.0, "metric_unit": "$", "best_direction": "higher",
    "secondary_metrics": {"trades": 40}, "description": "as it came", "commit_hash": "abc1234",
    "session": "edges", "client_ref": "r1",
}  # fmt: skip


async def post(line: Line, number: int, **other: object) -> Json:
    given = FIRST | {"experiment_number": number, "client_ref": f"r{number}"} | other
    return await line.said(POST_EXPERIMENT, json=given)


@pytest.mark.slow
async def test_posted_results_are_listed_newest_first(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await post(line, 1)
        await post(line, 2, metric_value=None, status="crash", commit_hash=None)
        answer = await line.said(EXPERIMENTS, skill_slug=SKILL)
        assert [one["experiment_number"] for one in answer["experiments"]] == [2, 1]
        assert answer["total_count"] == 2
        first = answer["experiments"][1]
        assert first == first | FIRST
        assert first["is_new_best"]
        assert answer["experiments"][0]["metric_value"] is None
        page = await line.said(EXPERIMENTS, limit=1, offset=1)
        assert [one["experiment_number"] for one in page["experiments"]] == [1]
        assert (await line.said(EXPERIMENTS, skill_slug="other"))["experiments"] == []


async def test_beginning_a_session_clears_the_pause_before_its_first_result(
    tmp_path: Path,
) -> None:
    begun = {"skill_slug": SKILL, "session": "again", "segment": 1, "metric_name": "edge",
             "metric_unit": "pt", "best_direction": "lower", "max_experiments": 7}  # fmt: skip
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await post(line, 1, status="crash", metric_value=None)
        assert (await line.said(RESEARCH_STATE))["state"] == "paused"
        answer = await line.said(BEGIN_SESSION, json=begun)
        expected = {
            "state": "running", "why": "", "current_segment": 1, "session": "again",
            "experiment_count": 0, "crashed_count": 0, "last_experiment_number": 1,
            "metric_name": "edge", "metric_unit": "pt", "best_direction": "lower",
            "max_experiments": 7, "baseline_metric": None,
        }  # fmt: skip
        assert answer == answer | expected
        # Sent again, or for an earlier segment, it changes nothing.
        await line.said(BEGIN_SESSION, json=begun | {"session": "other"})
        await line.said(BEGIN_SESSION, json=begun | {"segment": 0})
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert dumps(fields_of(found[0])) == dumps(fields_of(stage.world))
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, speed=0, key=key, agent_id=agent_id) as stage:
        line = line_to(stage)
        answer = await line.said(RESEARCH_STATE, skill_slug=SKILL)
        assert answer == answer | expected
        (session,) = (await Line(stage, OPERATOR).said(DESK_RESEARCH))["sessions"]
        assert session == session | expected
        await post(line, 2, segment=1, session="again", status="crash", metric_value=None)
        assert (await line.said(RESEARCH_STATE))["state"] == "paused"


@pytest.mark.parametrize("segment", [2, 1_000_000_000])
async def test_a_session_must_have_the_next_segment(tmp_path: Path, segment: int) -> None:
    begun = {"skill_slug": SKILL, "session": "again"}
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await post(line, 1)
        refused = await line.said(BEGIN_SESSION, 422, json=begun | {"segment": segment})
        assert "segment" in refused["fix"]
        assert "1 at most" in refused["fix"]
        # Results of the present session count, and the next segment begins one.
        await post(line, 2, metric_value=5.0)
        assert (await line.said(RESEARCH_STATE))["best_metric"] == 5.0
        await line.said(BEGIN_SESSION, json=begun | {"segment": 1})
        assert (await line.said(RESEARCH_STATE))["session"] == "again"


async def test_the_service_keeps_the_newest_sessions_of_an_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        other = Line(stage, (await line.said(REGISTER, json={"name": "other"}))["api_key"])
        await other.said(BEGIN_SESSION, json={"skill_slug": "theirs", "session": "one"})
        for number in range(SESSIONS_KEPT + 2):
            begun = {"skill_slug": f"skill-{number}", "session": "one", "segment": 1}
            await line.said(BEGIN_SESSION, json=begun)
            await stage.clock.advance(1)
        sessions = (await Line(stage, OPERATOR).said(DESK_RESEARCH))["sessions"]
        names = {one["skill_slug"] for one in sessions}
        assert len(sessions) == len(names) == SESSIONS_KEPT + 1
        assert {"theirs", "skill-2", f"skill-{SESSIONS_KEPT + 1}"} <= names
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        kept = (dumps(research_fields(world.research)) for world in (found[0], stage.world))
        assert next(kept) == next(kept)


@pytest.mark.slow
async def test_the_research_state_gives_the_best_result_the_baseline_and_the_pause(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        empty = await line.said(RESEARCH_STATE, skill_slug="__probe__")
        assert (empty["last_experiment_number"], empty["state"]) == (0, "running")
        await post(line, 1)
        await post(line, 2, metric_value=5.0)
        await post(line, 3, status="discard", metric_value=1.0)
        answer = await line.said(RESEARCH_STATE, skill_slug=SKILL)
        assert answer == answer | {
            "last_experiment_number": 3, "current_segment": 0, "best_metric": 5.0,
            "best_direction": "higher", "metric_name": "pnl", "metric_unit": "$",
            "skill_slug": SKILL, "session": "edges", "state": "running", "best_number": 2,
            "baseline_metric": 2.0, "experiment_count": 3,
        }  # fmt: skip
        for number in (4, 5, 6):
            await post(line, number, status="crash", metric_value=None)
        paused = await line.said(RESEARCH_STATE)
        assert (paused["state"], paused["consecutive_crashes"]) == ("paused", 3)
        assert "new name clears it" in paused["why"]
        await post(line, 7, segment=1, session="again")
        fresh = await line.said(RESEARCH_STATE)
        assert (fresh["state"], fresh["baseline_metric"]) == ("running", 2.0)
        assert (fresh["current_segment"], fresh["last_experiment_number"]) == (1, 7)


@pytest.mark.slow
async def test_a_restart_keeps_every_result(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await post(line_to(stage), 1)
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert dumps(fields_of(found[0])) == dumps(fields_of(stage.world))
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, key=key, agent_id=agent_id) as stage:
        again = await post(line_to(stage), 1)
        assert again["already_known"]


@pytest.mark.slow
async def test_research_calls_of_a_free_agent_return_403_and_name_the_plan(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        line = line_to(stage)
        for endpoint, json in (
            (POST_EXPERIMENT, FIRST),
            (EXPERIMENTS, None),
            (RESEARCH_STATE, None),
            (BEGIN_SESSION, {"skill_slug": SKILL, "session": "again"}),
            (BACKTEST, {"skill_slug": SKILL, "config": {}}),
        ):
            answer = await line.said(endpoint, 403, json=json)
            assert "pro" in answer["error"].lower()
            assert answer["fix"]
        with pytest.raises(PlanRequiredError):
            await stage.client.call(
                BACKTEST, body=BacktestRequest(skill_slug=SKILL, config={"min_edge": 0.1})
            )


@pytest.mark.slow
async def test_the_operator_sees_the_sessions_of_all_agents(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await post(line_to(stage), 1)
        answer = await Line(stage, OPERATOR).said(DESK_RESEARCH)
        assert [one["session"] for one in answer["sessions"]] == ["edges"]
        assert answer["experiments"][0]["agent_id"] == stage.agent_id
        assert answer["experiments"][0]["agent_name"] == "tester"
        await line_to(stage).said(DESK_RESEARCH, 401)


@pytest.mark.slow
async def test_a_posted_result_is_sent_on_the_event_stream(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        listening = stage.sim.service.subscribe()
        await post(line_to(stage), 1)
        kinds = [body.kind for body in await bodies(stage, listening)]
        assert "experiment" in kinds


async def bodies(stage: Stage, listening: Any) -> list[Any]:
    stage.sim.service.world_store.events.close()
    return [event async for event in listening]


# -- backtests -----------------------------------------------------------------------------


async def buy(line: Line, market_id: str, amount: float, side: str = "yes", **more: Any) -> Json:
    body = {"market_id": market_id, "side": side, "amount": amount, "skill_slug": SKILL} | more
    answer = await line.said(PLACE_TRADE, json=body)
    assert answer["success"], answer
    return answer


async def backtest(line: Line, config: Json, **more: Any) -> Json:
    return await line.said(BACKTEST, json={"skill_slug": SKILL, "config": config} | more)


def soonest(stage: Stage, count: int) -> list[str]:
    found = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
    return [one.market_id for one in found if 0.2 < one.price() < 0.8][:count]


@pytest.mark.slow
async def test_the_proceeds_of_a_sale_are_split_over_its_buys_by_shares(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = soonest(stage, 1)[0]
        first = await buy(line, market_id, 10, signal_data={"edge": 0.1})
        second = await buy(line, market_id, 10, signal_data={"edge": 0.3})
        # The sale covers all of the first buy and half of the second.
        shares = first["shares_bought"] + round(second["shares_bought"] / 2, 5)
        sold = await line.said(
            PLACE_TRADE,
            json={
                "market_id": market_id, "side": "yes", "action": "sell", "amount": 0,
                "shares": round(shares, 5), "skill_slug": SKILL,
            },
        )  # fmt: skip
        answer = await backtest(line, {"max_edge": 0.2})
        back = sold["cost"] * first["shares_bought"] / shares
        assert answer["simulated_pnl"] == pytest.approx(back - 10, abs=1e-3)
        assert answer["trades_open"] == 1
        whole = await backtest(line, {})
        price = stage.world.markets[market_id].price()
        left = second["shares_bought"] - (shares - first["shares_bought"])
        expected = sold["cost"] - 20 + left * price
        assert whole["original_pnl"] == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
async def test_a_backtest_counts_only_trades_of_its_days_venue_and_skill(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = soonest(stage, 1)[0]
        await buy(line, market_id, 5, signal_data={"edge": 0.2})
        assert (await backtest(line, {}))["trades_total"] == 1
        assert (await backtest(line, {}, venue="evm_venue"))["trades_total"] == 0
        assert (await backtest(line, {}, venue="sandbox"))["trades_total"] == 1
        other = await line.said(BACKTEST, json={"skill_slug": "other", "config": {}})
        assert other["trades_total"] == 0
        stage.clock.set(stage.clock.now() + 2 * DAY_S)
        assert (await backtest(line, {}, days=1))["trades_total"] == 0
        assert (await backtest(line, {}, days=3))["trades_total"] == 1


@pytest.mark.slow
async def test_the_fills_of_an_open_order_are_one_trade_with_the_orders_signal_data(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        line = line_to(stage)
        events = stage.world.change(
            stage.agent, {"claimed": True, "real_trading_enabled": True}, stage.clock.now()
        )
        await stage.sim.service.world_store.commit(events)
        market = next(
            one
            for one in stage.open_markets()
            if one.listing.home.value == "evm_venue" and 0.3 < one.price() < 0.7
        )
        answer = await line.said(
            PLACE_TRADE,
            json={
                "market_id": market.market_id, "side": "yes", "amount": 40, "venue": "evm_venue",
                "order_type": "GTC", "price": round(market.price(), 2), "skill_slug": SKILL,
                "signal_data": {"edge": 0.2},
            },
        )  # fmt: skip
        assert answer["success"], answer
        for _ in range(200):
            await line.wait(1.0)
            found = await backtest(line, {"min_edge": 0.1}, venue="evm_venue")
            if found["trades_total"]:
                break
        assert (found["trades_total"], found["trades_included"]) == (1, 1)
        stored = stage.sim.service.world_store.digest.entries.of_trade(answer["trade_id"])
        assert stored is not None
        assert stored.shares > 0
