"""Experiments, states and backtests over the wire, and what a restart keeps of them."""

from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.topics import TOPICS
from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.client.errors import PlanRequiredError
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.research import research_fields
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.limits import DAY_S
from service_tui.engine.research.research import SESSIONS_KEPT
from service_tui.server.routes.research import passing, thresholds_in, worth_of
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
async def test_results_come_back_newest_first_as_they_were_posted(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await post(line, 1)
        await post(line, 2, metric_value=None, status="crash", commit_hash=None)
        said = await line.said(EXPERIMENTS, skill_slug=SKILL)
        assert [one["experiment_number"] for one in said["experiments"]] == [2, 1]
        assert said["total_count"] == 2
        first = said["experiments"][1]
        assert first == first | FIRST
        assert first["is_new_best"]
        assert said["experiments"][0]["metric_value"] is None
        page = await line.said(EXPERIMENTS, limit=1, offset=1)
        assert [one["experiment_number"] for one in page["experiments"]] == [1]
        assert (await line.said(EXPERIMENTS, skill_slug="other"))["experiments"] == []


@pytest.mark.slow
async def test_a_result_that_is_sent_again_is_kept_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        first = await post(line, 1)
        again = await post(line, 1)
        assert (first["already_known"], again["already_known"]) == (False, True)
        assert again["id"] == first["id"]
        assert (await line.said(EXPERIMENTS))["total_count"] == 1


@pytest.mark.slow
async def test_the_answer_says_whether_it_is_a_new_best(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        first = await post(line, 1)
        assert (first["is_new_best"], first["prior_best_value"]) == (True, None)
        assert not first["status_mismatch"]
        better = await post(line, 2, metric_value=3.0)
        assert (better["is_new_best"], better["prior_best_value"]) == (True, 2.0)
        kept_worse = await post(line, 3, metric_value=1.0)
        assert (kept_worse["is_new_best"], kept_worse["status_mismatch"]) == (False, True)
        dropped_better = await post(line, 4, metric_value=9.0, status="discard")
        assert dropped_better["status_mismatch"]
        assert not dropped_better["is_new_best"]
        nothing = await post(line, 5, metric_value=0.0)
        assert nothing["zero_metric_keep"]


async def test_a_session_that_begins_clears_the_pause_before_its_first_result(
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
        # Sent again, or for a series of before, it changes nothing.
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
async def test_a_session_follows_the_one_before_it(tmp_path: Path, segment: int) -> None:
    begun = {"skill_slug": SKILL, "session": "again"}
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await post(line, 1)
        refused = await line.said(BEGIN_SESSION, 422, json=begun | {"segment": segment})
        assert "segment" in refused["fix"]
        assert "1 at most" in refused["fix"]
        # Results of the session that stands count, and so does the next session.
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
async def test_a_new_process_learns_where_the_session_stands(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        empty = await line.said(RESEARCH_STATE, skill_slug="__probe__")
        assert (empty["last_experiment_number"], empty["state"]) == (0, "running")
        await post(line, 1)
        await post(line, 2, metric_value=5.0)
        await post(line, 3, status="discard", metric_value=1.0)
        said = await line.said(RESEARCH_STATE, skill_slug=SKILL)
        assert said == said | {
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
async def test_a_free_agent_is_told_to_take_another_plan(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        line = line_to(stage)
        for endpoint, json in (
            (POST_EXPERIMENT, FIRST),
            (EXPERIMENTS, None),
            (RESEARCH_STATE, None),
            (BEGIN_SESSION, {"skill_slug": SKILL, "session": "again"}),
            (BACKTEST, {"skill_slug": SKILL, "config": {}}),
        ):
            said = await line.said(endpoint, 403, json=json)
            assert "pro" in said["error"].lower()
            assert said["fix"]
        with pytest.raises(PlanRequiredError):
            await stage.client.call(
                BACKTEST, body=BacktestRequest(skill_slug=SKILL, config={"min_edge": 0.1})
            )


@pytest.mark.slow
async def test_the_operator_sees_the_sessions_of_all_agents(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await post(line_to(stage), 1)
        said = await Line(stage, OPERATOR).said(DESK_RESEARCH)
        assert [one["session"] for one in said["sessions"]] == ["edges"]
        assert said["experiments"][0]["agent_id"] == stage.agent_id
        assert said["experiments"][0]["agent_name"] == "tester"
        await line_to(stage).said(DESK_RESEARCH, 401)


@pytest.mark.slow
async def test_a_result_is_told_on_the_stream(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        listening = stage.sim.service.subscribe()
        await post(line_to(stage), 1)
        heard = [body.kind for body in await bodies(stage, listening)]
        assert "experiment" in heard


async def bodies(stage: Stage, listening: Any) -> list[Any]:
    stage.sim.service.world_store.events.close()
    return [event async for event in listening]


# -- backtests -----------------------------------------------------------------------------


async def buy(line: Line, market_id: str, amount: float, side: str = "yes", **more: Any) -> Json:
    body = {"market_id": market_id, "side": side, "amount": amount, "skill_slug": SKILL} | more
    said = await line.said(PLACE_TRADE, json=body)
    assert said["success"], said
    return said


async def backtest(line: Line, config: Json, **more: Any) -> Json:
    return await line.said(BACKTEST, json={"skill_slug": SKILL, "config": config} | more)


async def decided(stage: Stage, market_id: str) -> bool:
    """Let a market resolve; whether YES won."""
    until = stage.world.markets[market_id].listing.resolved_at
    await stage.sim.service.world_store.advance(
        type(stage.clock.now())(stage.world.at + until - stage.world.world_at + 1)
    )
    outcome = stage.world.markets[market_id].outcome
    assert outcome is not None
    return outcome


def soonest(stage: Stage, count: int) -> list[str]:
    found = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
    return [one.market_id for one in found if 0.2 < one.price() < 0.8][:count]


@pytest.mark.slow
async def test_a_decided_trade_counts_with_what_it_brought(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = line_to(stage)
        await change(stage, auto_risk_monitor_enabled=False)
        (market_id,) = soonest(stage, 1)
        weak = await buy(line, market_id, 10, signal_data={"edge": 0.02})
        strong = await buy(line, market_id, 10, "no", signal_data={"edge": 0.2})
        won = await decided(stage, market_id)
        gain_weak = (weak["shares_bought"] if won else 0) - 10
        gain_strong = (0 if won else strong["shares_bought"]) - 10
        said = await backtest(line, {"min_edge": 0.1})
        assert said["trades_total"] == 2
        assert (said["trades_included"], said["trades_excluded"]) == (1, 1)
        assert said["simulated_pnl"] == pytest.approx(gain_strong, abs=1e-4)
        assert said["original_pnl"] == pytest.approx(gain_weak + gain_strong, abs=1e-4)
        assert said["win_rate"] == (0.0 if won else 1.0)
        wanted = (gain_strong - gain_weak - gain_strong) / abs(gain_weak + gain_strong) * 100
        assert said["improvement_pct"] == pytest.approx(wanted, rel=1e-4)
        assert said["message"] == ""
        at_most = await backtest(line, {"max_edge": 0.02})
        assert at_most["simulated_pnl"] == pytest.approx(gain_weak, abs=1e-4)
        assert (await backtest(line, {"edge": 0.2}))["trades_included"] == 1


@pytest.mark.slow
async def test_a_sale_is_what_its_buys_brought(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = soonest(stage, 1)[0]
        first = await buy(line, market_id, 10, signal_data={"edge": 0.1})
        second = await buy(line, market_id, 10, signal_data={"edge": 0.3})
        # The first is sold whole, of the second a half.
        shares = first["shares_bought"] + round(second["shares_bought"] / 2, 5)
        sold = await line.said(
            PLACE_TRADE,
            json={
                "market_id": market_id, "side": "yes", "action": "sell", "amount": 0,
                "shares": round(shares, 5), "skill_slug": SKILL,
            },
        )  # fmt: skip
        said = await backtest(line, {"max_edge": 0.2})
        back = sold["cost"] * first["shares_bought"] / shares
        assert said["simulated_pnl"] == pytest.approx(back - 10, abs=1e-3)
        assert said["trades_open"] == 1
        whole = await backtest(line, {})
        price = stage.world.markets[market_id].price()
        left = second["shares_bought"] - (shares - first["shares_bought"])
        wanted = sold["cost"] - 20 + left * price
        assert whole["original_pnl"] == pytest.approx(wanted, abs=1e-3)


@pytest.mark.slow
async def test_what_makes_no_sense_of_a_backtest_is_said(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        none = await backtest(line, {"min_edge": 0.1})
        assert "no trade" in none["message"]
        market_id = soonest(stage, 1)[0]
        await buy(line, market_id, 5)
        silent = await backtest(line, {"min_edge": 0.1})
        assert "carries signal_data" in silent["message"]
        assert (silent["trades_total"], silent["trades_without_signal"]) == (0, 1)
        await buy(line, market_id, 5, signal_data={"edge": 0.2, "note": "words", "client_ref": "x"})
        unknown = await backtest(line, {"min_edg": 0.1})
        assert unknown["unknown_keys"] == ["edg"]
        assert "named edg" in unknown["message"]
        assert "known: edge" in unknown["message"]
        assert unknown["keys"] == ["edge"]
        assert (unknown["trades_included"], unknown["improvement_pct"]) == (
            0,
            pytest.approx(100, abs=300),
        )
        words = await backtest(line, {"min_note": 0.1})
        assert words["unknown_keys"] == ["note"]


@pytest.mark.slow
async def test_days_venue_and_skill_bound_a_backtest(tmp_path: Path) -> None:
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
async def test_a_sweep_tries_every_combination_beside_the_config(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = soonest(stage, 1)[0]
        for edge in (0.1, 0.2, 0.3):
            signals = {"edge": edge, "probability": 1 - edge}
            await buy(line, market_id, 5, signal_data=signals)
        grid = {"min_edge": [0, 0.15, 0.3], "max_probability": [0.75, 1]}
        said = await backtest(line, {"min_edge": 0.2}, sweep=grid)
        assert said["trades_included"] == 2
        found = [
            (one["config"]["min_edge"], one["config"]["max_probability"], one["trades_included"])
            for one in said["points"]
        ]
        assert found == [
            (0, 0.75, 1), (0, 1, 3), (0.15, 0.75, 1), (0.15, 1, 2), (0.3, 0.75, 1), (0.3, 1, 1)
        ]  # fmt: skip
        for one in said["points"]:
            alone = await backtest(line, one["config"])
            for name in ("simulated_pnl", "trades_excluded", "improvement_pct"):
                assert one[name] == pytest.approx(alone[name], abs=2e-3)
        assert said["best"] == max(said["points"], key=lambda one: one["simulated_pnl"])


@pytest.mark.slow
async def test_a_resting_order_is_one_trade_with_the_signal_that_it_was_placed_with(
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
        said = await line.said(
            PLACE_TRADE,
            json={
                "market_id": market.market_id, "side": "yes", "amount": 40, "venue": "evm_venue",
                "order_type": "GTC", "price": round(market.price(), 2), "skill_slug": SKILL,
                "signal_data": {"edge": 0.2},
            },
        )  # fmt: skip
        assert said["success"], said
        for _ in range(200):
            await line.wait(1.0)
            found = await backtest(line, {"min_edge": 0.1}, venue="evm_venue")
            if found["trades_total"]:
                break
        assert (found["trades_total"], found["trades_included"]) == (1, 1)
        stored = stage.sim.service.world_store.digest.entries.of_trade(said["trade_id"])
        assert stored is not None
        assert stored.shares > 0


@pytest.mark.parametrize(
    ("market_id", "side", "worth"),
    [
        (None, None, 0.0), ("free", "yes", 0.0), ("free", "no", 1.0), ("m1", "yes", 0.25),
        ("m1", "no", 0.75), ("gone", "yes", None),
    ],
)  # fmt: skip
def test_a_share_that_is_worth_nothing_is_known_to_be(
    market_id: str | None, side: str | None, worth: float | None
) -> None:
    assert worth_of(market_id, side, {"free": 0.0, "m1": 0.25}) == worth


def test_a_figure_that_a_trade_does_not_carry_is_not_zero() -> None:
    request = BacktestRequest(skill_slug="dip", config={}, sweep={"min_edge": (0.1,)})
    rows: Any = [
        (5, 0, None, None, '{"edge": 0}'), (6, 0, None, None, "{}"), (7, 4, "gone", "yes", "{}"),
        (8, 4, "m1", "no", '{"edge": 0.2}'),
    ]  # fmt: skip
    found = passing(rows, thresholds_in(request), {"m1": 0.25})
    assert [(one.pnl, one.is_open, one.signals) for one in found] == [
        (5, False, (0,)), (6, False, (None,)), (11, True, (0.2,)),
    ]  # fmt: skip
