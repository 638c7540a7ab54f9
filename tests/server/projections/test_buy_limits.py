"""An agent's buy limits as it is told them: the limit, what is used, and what still waits."""

from datetime import UTC, datetime

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.agents.agents import failed_key
from service_tui.engine.limits import DAY_S, day_of
from service_tui.engine.position import Position
from service_tui.server.projections.buy_limits import buy_limits_body, resets_at
from service_tui.terms import Plan, Side
from service_tui.units import Micros, Timestamp

TODAY = day_of(AT)


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def test_every_limit_is_told_with_what_is_used_of_it() -> None:
    world = bare_world(
        plan=Plan.PRO,
        max_trade=Micros(11_000_000),
        day_spend_max=Micros(22_000_000),
        max_position=Micros(33_000_000),
        trades_per_day=44,
        skill_day_max=Micros(55_000_000),
        operator_paused=True,
    )
    agent = world.agents["ada"]
    agent.buys_day, agent.day_buys, agent.day_resting = TODAY, 6, 7
    agent.imports_day, agent.day_imports = TODAY, 8
    agent.skills_day = TODAY
    agent.skills_spent = {"b": Micros(2_000_000), "c": Micros(9_000_000), "a": Micros(2_000_000)}
    world.venues.spent["ada"] = TODAY, Micros(5_000_000)
    assert buy_limits_body(world, agent, AT).model_dump() == {
        "max_trade": 11.0,
        "daily_limit": 22.0,
        "daily_spent": 5.0,
        "sim_trade_max": 500.0,
        "sim_market_max": 2_000.0,
        "max_position": 33.0,
        "trades_per_day": 44,
        "trades_per_day_max": 5_000,
        "trades_today": 6,
        "trades_resting": 7,
        "imports_per_day": 100,
        "imports_today": 8,
        "skill_daily_budget": 55.0,
        # Most first; of equals by name.
        "skills_today": (
            {"skill_slug": "c", "spent": 9.0},
            {"skill_slug": "a", "spent": 2.0},
            {"skill_slug": "b", "spent": 2.0},
        ),
        "sim_cooldown_s": 0.0,
        "failed_cooldown_s": 1_800.0,
        "cooldowns": (),
        "trading_paused": True,
        "resets_at": datetime(2027, 1, 16, tzinfo=UTC),
    }


def test_what_was_used_yesterday_is_not_counted_today() -> None:
    world = bare_world()
    agent = world.agents["ada"]
    agent.buys_day, agent.day_buys, agent.day_resting = TODAY - 1, 6, 7
    agent.imports_day, agent.day_imports = TODAY - 1, 8
    agent.skills_day, agent.skills_spent = TODAY - 1, {"a": Micros(1)}
    world.venues.spent["ada"] = TODAY - 1, Micros(5_000_000)
    body = buy_limits_body(world, agent, AT)
    assert (body.trades_today, body.trades_resting, body.imports_today) == (0, 0, 0)
    assert (body.daily_spent, body.skills_today) == (0.0, ())
    assert (body.max_position, body.skill_daily_budget, body.trading_paused) == (None, None, False)


@pytest.mark.parametrize(("seconds", "day"), [(0.0, 1), (DAY_S - 1.0, 1), (float(DAY_S), 2)])
def test_days_begin_anew_at_the_next_midnight(seconds: float, day: int) -> None:
    assert resets_at(Timestamp(TODAY * DAY_S + seconds)) == (TODAY + day) * DAY_S


def cooldowns(world_plan: Plan, since_s: float) -> list[dict[str, object]]:
    """What waits after a buy of NO in m1 and a failure on YES of m:2, both so long ago."""
    world = bare_world(plan=world_plan)
    agent = world.agents["ada"]
    position = agent.positions["m1"] = Position("ada", "m1")
    position.no.bought_at = Timestamp(AT - since_s)
    agent.failed[failed_key("m:2", Side.YES)] = Timestamp(AT - since_s)
    return [one.model_dump() for one in buy_limits_body(world, agent, AT).cooldowns]


def waits(market_id: str, side: str, until_s: float, after: str) -> dict[str, object]:
    return {"market_id": market_id, "side": side, "until": at(until_s), "after": after}


def test_the_free_plan_waits_after_a_buy_and_everybody_after_a_failure() -> None:
    assert cooldowns(Plan.FREE, 20) == [
        waits("m:2", "yes", 1_780, "an order that failed"),
        waits("m1", "no", 100, "the last buy on sim"),
    ]
    assert cooldowns(Plan.PRO, 20) == [waits("m:2", "yes", 1_780, "an order that failed")]


@pytest.mark.parametrize(("since_s", "count"), [(-1, 0), (0, 2), (119, 2), (120, 1), (1_800, 0)])
def test_a_pause_ends_with_its_time_and_none_lies_in_the_future(since_s: float, count: int) -> None:
    assert len(cooldowns(Plan.FREE, since_s)) == count


def test_at_most_fifty_pauses_and_skills_are_told_the_longest_and_dearest_first() -> None:
    world = bare_world()
    agent = world.agents["ada"]
    agent.skills_day = TODAY
    for number in range(60):
        agent.failed[failed_key(f"m{number}", Side.NO)] = Timestamp(AT - number)
        agent.skills_spent[f"s{number}"] = Micros(number + 1)
    body = buy_limits_body(world, agent, AT)
    assert [one.market_id for one in body.cooldowns] == [f"m{number}" for number in range(50)]
    assert [one.skill_slug for one in body.skills_today] == [f"s{59 - n}" for n in range(50)]
