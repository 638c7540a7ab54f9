"""What binds an agent, what is used of it and when that ends, told to agent and operator."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, open_stage
from service_tui.terms import Plan, Venue
from service_tui.units import ONE
from service_tui.wire.base import timestamp
from service_tui.wire.buy_limits import BuyLimitsBody
from service_tui.wire.endpoints.desk import DESK_AGENTS
from service_tui.wire.endpoints.public import (
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    PLACE_TRADE,
    USER_SETTINGS,
)

pytestmark = pytest.mark.slow

DAY_S: Final = 86_400
BAD: Final = ("nan", float("-1"), 0, 1e18, "100", True, 0.0000001, [5])


async def rails(line: Line) -> BuyLimitsBody:
    return BuyLimitsBody.model_validate_json(json.dumps((await line.said(USER_SETTINGS))["rails"]))


async def buy(line: Line, amount: float, **fields: object) -> dict[str, Any]:
    market = next(
        one
        for one in line.stage.open_markets()
        if fields.get("venue", "sim") in {Venue.SIM.value, one.listing.home.value}
    )
    order = {"market_id": market.market_id, "side": "yes", "amount": amount}
    return await line.said(PLACE_TRADE, json=order | fields)


async def test_every_rail_is_told_with_what_is_used_and_midnight_clears_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        line = line_to(stage)
        fresh = await rails(line)
        assert (fresh.max_trade, fresh.daily_limit, fresh.daily_spent) == (100, 500, 0)
        assert (fresh.sim_trade_max, fresh.sim_market_max, fresh.max_position) == (500, 2_000, None)
        assert (fresh.trades_per_day, fresh.trades_per_day_max, fresh.trades_today) == (
            500,
            5_000,
            0,
        )
        assert (fresh.skill_daily_budget, fresh.skills_today, fresh.cooldowns) == (None, (), ())
        midnight = timestamp(fresh.resets_at)
        assert midnight % DAY_S == 0
        assert 0 < midnight - stage.clock.now() <= DAY_S
        assert (await buy(line, 12, skill_slug="gull"))["success"]
        assert (await buy(line, 25, venue="evm_venue"))["success"]
        used = await rails(line)
        assert used.trades_today == 2
        assert 24.9 < used.daily_spent <= 25
        assert [(one.skill_slug, one.spent) for one in used.skills_today] == [("gull", 12)]
        await line.wait(midnight - stage.clock.now() - 1, step_s=600)
        assert (await rails(line)).trades_today == 2
        await line.wait(1)
        anew = await rails(line)
        assert (anew.trades_today, anew.daily_spent, anew.skills_today) == (0, 0, ())
        assert timestamp(anew.resets_at) == midnight + DAY_S


async def test_a_clock_that_is_set_back_over_midnight_empties_no_limit_of_the_day(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        line = line_to(stage)
        midnight = timestamp((await rails(line)).resets_at)

        async def buys() -> tuple[int, float, list[float]]:
            assert (await buy(line, 12, skill_slug="gull"))["success"]
            assert (await buy(line, 25, venue="evm_venue"))["success"]
            used = await rails(line)
            return used.trades_today, round(used.daily_spent), [o.spent for o in used.skills_today]

        await line.wait(midnight + 1 - stage.clock.now(), step_s=600)
        assert await buys() == (2, 25, [12])
        # A second too far: it was set right.
        await stage.clock.advance(-2)
        assert await buys() == (4, 50, [24])
        await stage.clock.advance(2)
        assert await buys() == (6, 75, [36])
        # A clock that was a week ahead until then locks nobody out.
        await stage.clock.advance(-7 * DAY_S)
        assert await buys() == (2, 25, [12])


async def test_the_operator_reads_the_rails_of_every_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await buy(line, 12, skill_slug="gull")
        await line.said(PATCH_USER_SETTINGS, json={"trading_paused": True})
        (row,) = (await Line(stage, OPERATOR).said(DESK_AGENTS))["agents"]
        own = await line.said(USER_SETTINGS)
        assert row["rails"] == own["rails"]
        assert row["rails"]["trading_paused"] is True


async def test_a_budget_of_each_skill_is_set_and_taken_away(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        for endpoint in (PATCH_USER_SETTINGS, PATCH_SETTINGS):
            said = await line.said(endpoint, json={"skill_daily_budget": 20})
            assert said["skill_daily_budget"] == 20
            assert stage.agent.settings.skill_day_max == 20 * ONE
        assert (await buy(line, 20, skill_slug="gull"))["success"]
        refused = await buy(line, 1, skill_slug="gull")
        assert (refused["success"], refused["error_code"]) == (False, "SKILL_BUDGET")
        assert refused["fix"]
        said = await line.said(PATCH_USER_SETTINGS, json={"skill_daily_budget": None})
        assert said["skill_daily_budget"] is None
        assert (await buy(line, 1, skill_slug="gull"))["success"]


@pytest.mark.parametrize("bad", BAD, ids=str)
async def test_a_budget_that_is_none_is_refused(tmp_path: Path, bad: object) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await line.said(PATCH_USER_SETTINGS, 422, json={"skill_daily_budget": bad})
        assert stage.agent.settings.skill_day_max is None


async def test_cooldowns_are_told_while_they_last(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.FREE) as stage:
        line = line_to(stage)
        await buy(line, 5)
        (one,) = (await rails(line)).cooldowns
        assert (one.side, timestamp(one.until)) == ("yes", stage.clock.now() + 120)
        assert (await buy(line, 5))["error_code"] == "COOLDOWN"
        await line.wait(119)
        assert (await rails(line)).cooldowns
        await line.wait(1)
        assert (await rails(line)).cooldowns == ()
        assert (await buy(line, 5))["success"]


async def test_pausing_holds_back_buys_on_every_venue_and_no_sale(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        line = line_to(stage)
        bought = await buy(line, 5)
        await line.said(PATCH_USER_SETTINGS, json={"trading_paused": True})
        for venue in ("sim", "evm_venue", "sol_venue"):
            assert (await buy(line, 5, venue=venue))["error_code"] == "TRADING_PAUSED"
        sale = {
            "market_id": bought["market_id"],
            "side": "yes",
            "action": "sell",
            "shares": bought["shares_bought"],
        }
        assert (await line.said(PLACE_TRADE, json=sale))["success"]
