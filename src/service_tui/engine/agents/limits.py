"""Limits on an agent's buys: daily sums, real-venue caps, imports, cooldowns.

They bind entries alone: sales, exits and redemptions never ask.
"""

from service_tui.engine.agents.agents import Agent, failed_key
from service_tui.engine.errors import (
    Cooldown,
    DayImports,
    DaySpend,
    DayTrades,
    SkillSpend,
    TradeTooLarge,
)
from service_tui.engine.limits import FAILED_COOLDOWN_S, PLANS
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp, decimal

_SIM = Venue.SIM


def check_pace(agent: Agent, venue: Venue, market_id: str, side: Side, *, at: Timestamp) -> None:
    """Whether an agent may buy again already.

    Raises:
        DayTrades: the buys of the day are used up.
        Cooldown: too soon after the last buy on `sim`, or after a failure on a real venue.
    """
    allowed = agent.trades_per_day()
    # ours: an open buy keeps a place in the day until it fills or ends, as its money does.
    if allowed is not None and not agent.buys_today(at) + agent.resting_today(at) < allowed:
        raise DayTrades(f"daily trade limit reached: {allowed} buys")
    if venue is _SIM:
        pause_s = PLANS[agent.settings.plan].sim_cooldown_s
        if pause_s and (position := agent.positions.get(market_id)) is not None:
            _check_cooldown(position.on(side).bought_at, pause_s, at, "the last buy")
    elif agent.failed:
        # ours: on sim nothing fails after its checks, so this cooldown is for real venues alone.
        since = agent.failed.get(failed_key(market_id, side), Timestamp(0.0))
        _check_cooldown(since, FAILED_COOLDOWN_S, at, "an order that failed")


def _check_cooldown(since: Timestamp, pause_s: float, at: Timestamp, what: str) -> None:
    # A clock that was set back must not lock anybody out: hence the lower bound.
    if 0 <= at - since < pause_s:
        raise Cooldown(
            f"cooldown: {pause_s:.0f} s must pass after {what} here, on this side of this market",
            f"wait {since + pause_s - at:.0f} s, or trade another market",
        )


def check_real_spend(agent: Agent, spend: Micros, spent: Micros) -> None:
    """Whether a buy on a real venue keeps within the agent's own caps; `spent` is today's so far.

    Raises:
        TradeTooLarge: above `sdk_max_trade_amount`.
        DaySpend: with what was spent today, above `sdk_daily_limit`.
    """
    most, day = agent.settings.max_trade, agent.settings.day_spend_max
    if not 0 < spend <= most:
        raise TradeTooLarge(
            f"{decimal(spend):,.2f} is above the limit of {decimal(most):,.2f} USDC a trade",
            "lower the amount, or raise sdk_max_trade_amount with POST /api/sdk/settings",
        )
    if not spend + spent <= day:
        raise DaySpend(f"Daily limit reached: ${decimal(day):,.2f}, ${decimal(spent):,.2f} spent")


def check_skill(agent: Agent, slug: str, spend: Micros, at: Timestamp) -> None:
    """Whether a buy keeps within what each skill may spend a day, where the operator has set that.

    Raises:
        SkillSpend: with what the skill spent today, above the budget.
    """
    most = agent.settings.skill_day_max
    # ours: skills keep their own budgets (spec, "Limits"); the service does when it is told to.
    if most is None or not slug:
        return
    spent = agent.skills_today(at).get(slug, Micros(0))
    if not spend + spent <= most:
        raise SkillSpend(
            f"the skill's daily budget is reached: {decimal(most):,.2f}, "
            f"{decimal(spent):,.2f} spent by {slug}"
        )


def imports_left(agent: Agent, at: Timestamp) -> int:
    """Markets that an agent may import before midnight UTC."""
    return max(0, PLANS[agent.settings.plan].imports_per_day - agent.imports_today(at))


def check_import(agent: Agent, at: Timestamp) -> None:
    """Whether an agent may import another market today.

    Raises:
        DayImports: the imports of the day are used up.
    """
    if not imports_left(agent, at):
        allowed = PLANS[agent.settings.plan].imports_per_day
        raise DayImports(f"daily import limit reached: {allowed} markets")
