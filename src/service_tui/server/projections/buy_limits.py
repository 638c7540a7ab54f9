"""An agent's buy limits for the wire: the limit, the used part, and the reset time."""

from collections.abc import Iterator
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.halt import is_stopped
from service_tui.engine.limits import (
    DAY_S,
    FAILED_COOLDOWN_S,
    MARKET_MAX,
    PLANS,
    TRADE_MAX,
    day_of,
)
from service_tui.engine.world import World
from service_tui.terms import AFTER_FAILURE, AFTER_SIM_BUY, Side, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.buy_limits import BuyLimitsBody, CooldownBody, SkillSpendBody

LISTED_MAX: Final = 50


def resets_at(at: Timestamp) -> Timestamp:
    """The next midnight UTC, when the daily counts reset."""
    return Timestamp((day_of(at) + 1) * DAY_S)


def buy_limits_body(world: World, agent: Agent, at: Timestamp) -> BuyLimitsBody:
    """Every buy limit of an agent, by the rules that check its orders."""
    settings, plan = agent.settings, PLANS[agent.settings.plan]
    return BuyLimitsBody(
        max_trade=decimal(settings.max_trade),
        daily_limit=decimal(settings.day_spend_max),
        daily_spent=decimal(world.venues.spent_today(agent.agent_id, at)),
        sim_trade_max=decimal(TRADE_MAX[Venue.SIM]),
        sim_market_max=decimal(MARKET_MAX[Venue.SIM]),
        max_position=_decimal(settings.max_position),
        trades_per_day=agent.trades_per_day(),
        trades_per_day_max=plan.trades_per_day_max,
        trades_today=agent.buys_today(at),
        trades_resting=agent.resting_today(at),
        imports_per_day=plan.imports_per_day,
        imports_today=agent.imports_today(at),
        skill_daily_budget=_decimal(settings.skill_day_max),
        skills_today=_skills(agent, at),
        sim_cooldown_s=plan.sim_cooldown_s,
        failed_cooldown_s=FAILED_COOLDOWN_S,
        cooldowns=_cooldowns(agent, at),
        trading_paused=is_stopped(settings, world.halt),
        resets_at=moment(resets_at(at)),
    )


def _decimal(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def _skills(agent: Agent, at: Timestamp) -> tuple[SkillSpendBody, ...]:
    spent = sorted(agent.skills_today(at).items(), key=lambda one: (-one[1], one[0]))
    return tuple(
        SkillSpendBody(skill_slug=slug, spent=decimal(money)) for slug, money in spent[:LISTED_MAX]
    )


def _cooldowns(agent: Agent, at: Timestamp) -> tuple[CooldownBody, ...]:
    # A time in the future means that the clock was set back: it is ignored.
    found = [one for one in _begun(agent) if one[0] - one[1] <= at < one[0]]
    return tuple(
        CooldownBody(market_id=market_id, side=side.value, until=moment(until), after=after)
        for until, _, market_id, side, after in sorted(found, reverse=True)[:LISTED_MAX]
    )


def _begun(agent: Agent) -> Iterator[tuple[Timestamp, float, str, Side, str]]:
    """Every pause that may still bind: its end, its length, and what it is about."""
    pause_s = PLANS[agent.settings.plan].sim_cooldown_s
    for market_id, position in agent.positions.items() if pause_s else ():
        for side in Side:
            bought_at = position.on(side).bought_at
            yield Timestamp(bought_at + pause_s), pause_s, market_id, side, AFTER_SIM_BUY
    for key, failed_at in agent.failed.items():
        market_id, _, side = key.rpartition(":")
        until = Timestamp(failed_at + FAILED_COOLDOWN_S)
        yield until, FAILED_COOLDOWN_S, market_id, Side(side), AFTER_FAILURE
