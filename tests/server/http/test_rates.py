"""Rate limits by plan, machine and path."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.clock import leap
from kit.engine.topics import TOPICS
from kit.examples import examples
from kit.service.stage import ANSWER_S, OPERATOR, SEED, Stage, open_directory, open_stage
from service_tui.engine.limits import PLANS
from service_tui.server.embedded import BASE_URL, SimSettings, open_sim
from service_tui.server.http.loopback import listen
from service_tui.server.http.rates import MINUTE_S, WINDOWS_MAX, Rates, rate_of, rates_of
from service_tui.terms import Plan
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wire.endpoints.public import (
    AGENT,
    ALL,
    BRIEFING,
    HEALTH,
    MARKETS,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    REGISTER,
    SKILLS,
)

# Wire reference, section 7, with the paths that each line names.
TABLE: Final = {
    ("markets", "markets/{market_id}", "markets/check", "trade"): (60, 180, 600),
    ("markets/importable", "markets/import", "markets/import/kalshi"): (6, 18, 60),
    ("context", "context/{market_id}", "redeem", "redeem/report"): (20, 60, 200),
    ("trades/batch",): (2, 6, 20),
    ("trades", "settings", "agents/me", "orders/open", "risk-alerts"): (30, 90, 300),
    ("positions/monitors", "positions/{market_id}/monitor"): (30, 90, 300),
    ("positions",): (12, 36, 120),
    ("portfolio",): (6, 18, 60),
    ("briefing",): (10, 30, 100),
    ("skills",): (300, 300, 300),
    ("agents/register",): (10, 10, 10),
}


@pytest.mark.parametrize("paths", TABLE)
def test_every_plan_has_the_calls_a_minute_of_the_reference(paths: tuple[str, ...]) -> None:
    for path in paths:
        found = tuple(rate_of(f"/api/sdk/{path}", plan) for plan in Plan)
        assert found == TABLE[paths], path


def test_pro_has_three_times_and_elite_ten_times_the_rates_of_free() -> None:
    assert [PLANS[plan].rate_factor for plan in Plan] == [1, 3, 10]
    assert [PLANS[plan].imports_per_day for plan in Plan] == [10, 100, 250]
    assert [PLANS[plan].agents for plan in Plan] == [1, 10, 20]
    assert [PLANS[plan].trades_per_day for plan in Plan] == [50, 500, None]
    assert [PLANS[plan].trades_per_day_max for plan in Plan] == [1_000, 5_000, None]
    assert [PLANS[plan].sim_cooldown_s for plan in Plan] == [120, 0, 0]


gaps = st.lists(st.sampled_from((0.0, 0.001, 1.0, 7.0, 30.0, 59.999, 60.0, 100.0)), max_size=80)


@pytest.mark.slow
@given(gaps=gaps, limits=st.lists(st.integers(1, 12), min_size=80, max_size=80))
@examples(50)
def test_no_minute_ever_holds_more_than_the_limit_and_nobody_is_refused_below_it(
    gaps: list[float], limits: list[int]
) -> None:
    rates, now, passed = Rates(), 0.0, list[float]()
    for gap, limit in zip(gaps, limits, strict=False):
        now += gap
        recent = [at for at in passed if at + MINUTE_S > now]
        wait_s = rates.take("ada", "path", limit, now=now)
        assert (wait_s > 0) == (len(recent) >= limit)
        if wait_s > 0:
            # Whoever waits as long as was said may pass, and nobody who waits less.
            then = now + wait_s
            assert sum(at + MINUTE_S > then + 1e-6 for at in recent) < limit
            assert sum(at + MINUTE_S > then - 1e-6 for at in recent) >= limit
        else:
            passed.append(now)


@pytest.mark.slow
def test_callers_and_paths_are_counted_apart_and_memory_is_bounded() -> None:
    rates = Rates()
    for caller in ("ada", "bea"):
        for path in ("a", "b"):
            assert [rates.take(caller, path, 2, now=0.0) for _ in range(3)] == [0.0, 0.0, 60.0]
    for count in range(2 * WINDOWS_MAX):
        rates.take(f"caller {count}", "a", 2, now=0.0)
    for second in range(100_000):
        rates.take("ada", "a", 300, now=second / 100)


@asynccontextmanager
async def other_agent(
    path: Path, plan: Plan = Plan.PRO
) -> AsyncGenerator[tuple[Stage, httpx.AsyncClient]]:
    """A stage whose one agent is not the person's own."""
    async with open_stage(path, plan=plan, speed=0) as stage:
        stage.sim.service.operator_agent = None
        async with caller(stage) as client:
            yield stage, client


@asynccontextmanager
async def caller(stage: Stage, key: str | None = None) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {key or stage.key}"}
    async with httpx.AsyncClient(
        transport=stage.sim.transport, base_url=BASE_URL, headers=headers
    ) as client:
        yield client


async def until_refused(client: httpx.AsyncClient, path: str) -> tuple[int, httpx.Response]:
    for count in range(1_000):
        response = await client.get(path)
        if response.status_code != 200:
            return count, response
    raise AssertionError("nobody was ever refused")


@pytest.mark.slow
async def test_a_429_says_what_it_costs_to_go_on_and_when_it_is_free_again(tmp_path: Path) -> None:
    async with other_agent(tmp_path, Plan.FREE) as (stage, client):
        count, refused = await until_refused(client, PORTFOLIO.path)
        assert (count, refused.status_code) == (6, 429)
        assert refused.headers["retry-after"] == "60"
        body = refused.json()
        assert body["error"] == "Rate limit exceeded"
        assert body["limit"] == 6
        assert body["x402_url"] == f"{stage.sim.service.address}{PORTFOLIO.path}"
        assert body["x402_price"] == "$0.005"
        assert "wait 60 s" in body["fix"]
        await stage.clock.advance(59.5)
        assert (await client.get(PORTFOLIO.path)).headers["retry-after"] == "1"
        # Another path has its own count, and a minute later all begins anew.
        assert (await client.get(AGENT.path)).status_code == 200
        await stage.clock.advance(0.5)
        assert (await until_refused(client, PORTFOLIO.path))[0] == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "path", "grows"),
    [
        (Plan.PRO, BRIEFING.path, True),
        # The largest plan has no larger one beside it.
        (Plan.ELITE, BRIEFING.path, False),
    ],
)
async def test_a_429_speaks_of_a_larger_plan_only_where_one_has_more_calls(
    tmp_path: Path, plan: Plan, path: str, *, grows: bool
) -> None:
    async with other_agent(tmp_path, plan) as (_, client):
        count, refused = await until_refused(client, path)
        assert refused.status_code == 429
        body = refused.json()
        assert body["detail"].startswith(f"{count} calls a minute ")
        assert ("plan" in body["detail"] + body["fix"]) is grows
        assert "wait 60 s" in body["fix"]


@pytest.mark.slow
async def test_who_has_no_key_is_told_nothing_of_plans(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, plan=Plan.ELITE, speed=0) as stage,
        listen(stage.sim.app) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=ANSWER_S) as client,
    ):
        names = [{"name": f"number {count}"} for count in range(11)]
        joined = [await client.post(REGISTER.path, json=name) for name in names]
        _, read = await until_refused(client, SKILLS.path)
        for answer in (joined[-1], read):
            assert answer.status_code == 429
            assert "plan" not in answer.json()["detail"] + answer.json()["fix"]


@pytest.mark.slow
@pytest.mark.parametrize("plan", Plan)
async def test_each_plan_has_its_rates_and_me_shows_them(tmp_path: Path, plan: Plan) -> None:
    async with other_agent(tmp_path, plan) as (_, client):
        shown = (await client.get(AGENT.path)).json()["rate_limits"]
        assert shown["tier"] == plan
        assert shown["endpoints"] == {
            path: {"requests_per_minute": rate} for path, rate in rates_of(plan).items()
        }
        assert set(shown["endpoints"]) == {
            one.path for one in ALL if not (one.keyless or one.operator)
        }
        for endpoint in (POSITIONS, BRIEFING):
            count, _ = await until_refused(client, endpoint.path)
            assert count == shown["endpoints"][endpoint.path]["requests_per_minute"]


def order_of(stage: Stage, amount: float = 1, **other: object) -> dict[str, Any]:
    market_id = stage.open_markets()[0].market_id
    return {"market_id": market_id, "side": "yes", "amount": amount, **other}


@pytest.mark.slow
async def test_trades_are_counted_by_the_minute_and_dry_runs_are_not(tmp_path: Path) -> None:
    async with other_agent(tmp_path) as (stage, client):
        for _ in range(200):
            dry = await client.post(PLACE_TRADE.path, json=order_of(stage, dry_run=True))
            assert dry.status_code == 200
        # A business refusal is a call like any other; one that is no order at all is none.
        assert (await client.post(PLACE_TRADE.path, json={"side": "yes"})).status_code == 422
        statuses = [
            (await client.post(PLACE_TRADE.path, json=order_of(stage, 501 if index % 2 else 1)))
            for index in range(181)
        ]
        assert [one.status_code for one in statuses] == [200] * 180 + [429]
        assert stage.agent.trades_count == 90
        dry = await client.post(PLACE_TRADE.path, json=order_of(stage, dry_run=True))
        assert dry.json()["success"] is True


@pytest.mark.slow
async def test_one_agent_does_not_use_up_the_calls_of_another(tmp_path: Path) -> None:
    async with other_agent(tmp_path) as (stage, client):
        joined = (await client.post(REGISTER.path, json={"name": "second"})).json()
        assert (await until_refused(client, BRIEFING.path))[0] == 30
        async with caller(stage, joined["api_key"]) as second:
            assert (await until_refused(second, BRIEFING.path))[0] == 30


@pytest.mark.slow
async def test_a_larger_plan_counts_at_once(tmp_path: Path) -> None:
    async with other_agent(tmp_path, Plan.FREE) as (stage, client):
        assert (await until_refused(client, PORTFOLIO.path))[0] == 6
        world_store = stage.sim.service.world_store
        now = stage.clock.now()
        await world_store.commit(stage.world.change(stage.agent, {"plan": Plan.PRO}, now))
        assert (await until_refused(client, PORTFOLIO.path))[0] == 12
        await world_store.commit(stage.world.change(stage.agent, {"plan": Plan.FREE}, now))
        assert (await client.get(PORTFOLIO.path)).json()["limit"] == 6


@pytest.mark.slow
async def test_unknown_keys_the_operator_and_health_are_not_counted(tmp_path: Path) -> None:
    async with other_agent(tmp_path) as (stage, client):
        async with caller(stage, "sk_live_nobody") as nobody:
            for _ in range(100):
                assert (await nobody.get(PORTFOLIO.path)).status_code == 401
        async with caller(stage, OPERATOR) as operator:
            for _ in range(400):
                assert (await operator.get(WORLD.path)).status_code == 200
        for _ in range(400):
            assert (await client.get(HEALTH.path)).status_code == 200


@pytest.mark.slow
async def test_the_persons_own_console_is_never_held_back(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage, caller(stage) as client:
        for _ in range(100):
            assert (await client.get(PORTFOLIO.path)).status_code == 200
        body = order_of(stage, 501)
        for _ in range(100):
            assert (await client.post(PLACE_TRADE.path, json=body)).status_code == 200


@pytest.mark.slow
async def test_over_the_line_the_own_agent_reads_freely_and_its_orders_count(
    tmp_path: Path,
) -> None:
    async with (
        open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage,
        listen(stage.sim.app) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=ANSWER_S) as client,
    ):
        client.headers["Authorization"] = f"Bearer {stage.key}"
        for _ in range(40):
            assert (await client.get(PORTFOLIO.path)).status_code == 200
        # No header makes a stranger of the line a part of this process.
        client.headers["X-Forwarded-For"] = "embedded.localhost"
        client.headers["Host"] = "embedded.localhost"
        body = order_of(stage, 501)
        statuses = [(await client.post(PLACE_TRADE.path, json=body)).status_code for _ in range(61)]
        assert statuses == [200] * 60 + [429]
        joined = [
            (await client.post(REGISTER.path, json={"name": f"n{count}"})) for count in range(11)
        ]
        # The desk's own agent does not count: one more is what the plan allows.
        assert [one.status_code for one in joined] == [200] + [403] * 9 + [429]
        assert joined[-1].json()["limit"] == 10


@pytest.mark.slow
async def test_without_limits_nobody_waits_and_amounts_keep_their_bounds(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        key, agent_id = stage.key, stage.agent_id
    how = SimSettings(seed=SEED, topics=TOPICS, plan=Plan.FREE, operator_key=OPERATOR, limits=False)
    async with (
        open_directory(tmp_path, stage.clock) as database,
        open_sim(database, stage.clock, how) as sim,
    ):
        free = replace(stage, sim=sim, database=database, key=key, agent_id=agent_id)
        async with caller(free) as client:
            for _ in range(100):
                assert (await client.get(PORTFOLIO.path)).status_code == 200
                bought = (await client.post(PLACE_TRADE.path, json=order_of(free))).json()
                assert bought["success"] is True
            refused = (await client.post(PLACE_TRADE.path, json=order_of(free, 501))).json()
            assert refused["error_code"] == "TRADE_TOO_LARGE"
        assert free.agent.buys_today(stage.clock.now()) == 100


@pytest.mark.slow
async def test_calls_at_the_same_moment_are_counted_one_by_one(tmp_path: Path) -> None:
    async with other_agent(tmp_path) as (_, client):
        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(client.get(MARKETS.path)) for _ in range(200)]
        statuses = [call.result().status_code for call in calls]
        assert (statuses.count(200), statuses.count(429)) == (180, 20)


@pytest.mark.slow
async def test_the_cooldown_of_the_free_plan_is_a_refusal_that_says_how_long(
    tmp_path: Path,
) -> None:
    async with other_agent(tmp_path, Plan.FREE) as (stage, client):
        assert (await client.post(PLACE_TRADE.path, json=order_of(stage))).json()["success"]
        again = await client.post(PLACE_TRADE.path, json=order_of(stage))
        body = again.json()
        assert (again.status_code, body["success"], body["retryable"]) == (200, False, True)
        assert (body["error_code"], "wait 120 s" in body["fix"]) == ("COOLDOWN", True)
        dry = await client.post(PLACE_TRADE.path, json=order_of(stage, dry_run=True))
        assert dry.json()["success"] is True
        await leap(stage.clock, 120)
        assert (await client.post(PLACE_TRADE.path, json=order_of(stage))).json()["success"]
        assert json.loads(again.content)["balance"] == 9_999


@pytest.mark.parametrize(
    ("path", "free"),
    [
        ("/api/sdk/markets", 60),
        ("/api/sdk/markets/{market_id}", 60),
        ("/api/sdk/markets/importable", 6),
        ("/api/sdk/marketsx", 30),
        ("/api/sdk/positions/monitors", 30),
        ("/api/sdk/positions/expiring", 12),
        ("/api/sdk/copytrading/execute", 2),
        ("/elsewhere", 30),
    ],
)
def test_the_longest_beginning_of_a_path_counts(path: str, free: int) -> None:
    assert [rate_of(path, plan) for plan in Plan] == [free, 3 * free, 10 * free]


def test_the_list_of_rates_names_every_path_that_an_agents_key_opens() -> None:
    shown = rates_of(Plan.PRO)
    assert set(shown) == {one.path for one in ALL if not one.keyless and not one.operator}
    assert shown == {path: rate_of(path, Plan.PRO) for path in shown}


def test_a_window_slides_by_the_second_and_a_refused_call_does_not_count() -> None:
    rates = Rates()

    def take(now: float, limit: int = 2) -> float:
        return rates.take("a", "/x", limit, now=now)

    assert [take(0.0), take(10.0)] == [0.0, 0.0]
    assert [take(20.0), take(59.0)] == [40.0, 1.0]
    assert take(60.0) == 0.0
    assert take(61.0) == 9.0
    # A smaller plan: not before all but the last of what is counted is over.
    assert take(61.0, limit=1) == 59.0
    assert rates.take("a", "/x", 2, now=61.5, span_s=1.0) == 0.0


def test_the_oldest_window_makes_room_for_a_new_one() -> None:
    rates = Rates()
    for number in range(WINDOWS_MAX):
        rates.take(str(number), "/x", 1, now=0.0)
    assert rates.take("0", "/x", 1, now=1.0) == 59.0
    assert rates.take("new", "/x", 1, now=1.0) == 0.0
    assert rates.take("1", "/x", 1, now=1.0) == 59.0
    assert rates.take("0", "/x", 1, now=1.0) == 0.0
