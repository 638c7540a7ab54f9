"""What binds an agent's buys by the day and by the minute, at each bound."""

from contextlib import nullcontext
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.agents.agents import Agent, failed_key
from service_tui.engine.agents.limits import (
    check_import,
    check_pace,
    check_real_spend,
    check_skill,
    imports_left,
)
from service_tui.engine.errors import (
    Cooldown,
    DayImports,
    DaySpend,
    DayTrades,
    Refusal,
    SkillSpend,
    TradeTooLarge,
)
from service_tui.engine.limits import day_of
from service_tui.engine.position import Position
from service_tui.terms import Plan, Side, Venue
from service_tui.units import Micros, Timestamp

SIM, EVM = Venue.SIM, Venue.EVM
YES, NO = Side.YES, Side.NO
TODAY = day_of(AT)


def agent_of(**changes: object) -> Agent:
    return bare_world(**changes).agents["ada"]


def may(kind: type[Refusal], *, allowed: bool) -> Any:
    return nullcontext() if allowed else pytest.raises(kind)


@pytest.mark.parametrize(
    ("bought", "resting", "day", "allowed"),
    [(4, 0, TODAY, True), (5, 0, TODAY, False), (3, 2, TODAY, False), (9, 9, TODAY - 1, True)],
)
@pytest.mark.parametrize("venue", [SIM, EVM])
def test_a_day_has_so_many_buys_open_ones_included(
    *, venue: Venue, bought: int, resting: int, day: int, allowed: bool
) -> None:
    agent = agent_of(trades_per_day=5)
    agent.buys_day, agent.day_buys, agent.day_resting = day, bought, resting
    with may(DayTrades, allowed=allowed):
        check_pace(agent, venue, "m1", YES, at=AT)


@pytest.mark.parametrize(
    ("plan", "own", "allowed"),
    [
        (Plan.FREE, None, 50),
        (Plan.FREE, 7, 7),
        (Plan.FREE, 9_999, 1_000),
        (Plan.PRO, None, 500),
        (Plan.PRO, 9_999, 5_000),
        (Plan.ELITE, None, None),
        (Plan.ELITE, 9_999, 9_999),
    ],
)
def test_a_plan_bounds_the_buys_that_one_may_ask_for(
    plan: Plan, own: int | None, allowed: int | None
) -> None:
    assert agent_of(plan=plan, trades_per_day=own).trades_per_day() == allowed


@pytest.mark.parametrize(
    ("since_s", "side", "venue", "plan", "allowed"),
    [
        (0, NO, SIM, Plan.FREE, False),
        (119.9, NO, SIM, Plan.FREE, False),
        (120, NO, SIM, Plan.FREE, True),
        (-1, NO, SIM, Plan.FREE, True),
        (10, YES, SIM, Plan.FREE, True),
        (10, NO, EVM, Plan.FREE, True),
        (10, NO, SIM, Plan.PRO, True),
    ],
)
def test_on_the_free_plan_a_side_waits_after_its_buy_on_sim(
    *, since_s: float, side: Side, venue: Venue, plan: Plan, allowed: bool
) -> None:
    agent = agent_of(plan=plan)
    position = agent.positions["m1"] = Position("ada", "m1")
    position.no.bought_at = Timestamp(AT - since_s)
    with may(Cooldown, allowed=allowed):
        check_pace(agent, venue, "m1", side, at=AT)
    check_pace(agent, venue, "m2", side, at=AT)


@pytest.mark.parametrize(
    ("since_s", "side", "market_id", "venue", "allowed"),
    [
        (0, NO, "m1", EVM, False),
        (1_799.9, NO, "m1", EVM, False),
        (1_800, NO, "m1", EVM, True),
        (-1, NO, "m1", EVM, True),
        (5, YES, "m1", EVM, True),
        (5, NO, "m2", EVM, True),
        (5, NO, "m1", SIM, True),
    ],
)
def test_a_side_waits_after_a_failure_on_a_real_venue(
    *, since_s: float, side: Side, market_id: str, venue: Venue, allowed: bool
) -> None:
    agent = agent_of()
    agent.failed[failed_key("m1", NO)] = Timestamp(AT - since_s)
    with may(Cooldown, allowed=allowed):
        check_pace(agent, venue, market_id, side, at=AT)


def test_a_pause_says_how_long_it_lasts() -> None:
    agent = agent_of()
    agent.failed[failed_key("m1", NO)] = Timestamp(AT - 300)
    with pytest.raises(Cooldown) as refused:
        check_pace(agent, EVM, "m1", NO, at=AT)
    assert refused.value.error == (
        "cooldown: 1800 s must pass after an order that failed here, on this side of this market"
    )
    assert refused.value.fix == "wait 1500 s, or trade another market"


@pytest.mark.parametrize(
    ("spend", "spent", "kind"),
    [
        (10, 40, None),
        (11, 0, TradeTooLarge),
        (0, 0, TradeTooLarge),
        (1, 49, None),
        (1, 50, DaySpend),
    ],
)
def test_a_buy_keeps_within_its_caps(spend: int, spent: int, kind: type[Refusal] | None) -> None:
    agent = agent_of(max_trade=Micros(10), day_spend_max=Micros(50))
    with may(kind or Refusal, allowed=kind is None):
        check_real_spend(agent, Micros(spend), Micros(spent))


@pytest.mark.parametrize(
    ("slug", "spend", "most", "allowed"),
    [
        ("dips", 6, 10, True),
        ("dips", 7, 10, False),
        ("other", 10, 10, True),
        ("other", 11, 10, False),
        ("", 99, 10, True),
        ("dips", 99, None, True),
    ],
)
def test_a_skill_keeps_within_its_day(
    *, slug: str, spend: int, most: int | None, allowed: bool
) -> None:
    agent = agent_of(skill_day_max=None if most is None else Micros(most))
    agent.skills_day, agent.skills_spent = TODAY, {"dips": Micros(4)}
    with may(SkillSpend, allowed=allowed):
        check_skill(agent, slug, Micros(spend), AT)


def test_a_skills_day_begins_anew() -> None:
    agent = agent_of(skill_day_max=Micros(10))
    agent.skills_day, agent.skills_spent = TODAY - 1, {"dips": Micros(9)}
    check_skill(agent, "dips", Micros(10), AT)


@pytest.mark.parametrize(
    ("count", "day", "left"), [(0, TODAY, 10), (9, TODAY, 1), (10, TODAY, 0), (12, TODAY, 0),
                               (12, TODAY - 1, 10)]
)  # fmt: skip
def test_a_plan_has_so_many_imports_a_day(count: int, day: int, left: int) -> None:
    agent = agent_of(plan=Plan.FREE)
    agent.day_imports, agent.imports_day = count, day
    assert imports_left(agent, AT) == left
    with may(DayImports, allowed=left > 0):
        check_import(agent, AT)
