"""The buy limits of an agent: each maximum, how much of it is used, and when it resets.

ours: the spec names the limits, but no way to read their use. They are answered beside the risk
defaults, and with each agent under `/api/desk/`.
"""

from service_tui.wire.base import Amount, Count, Line, Moment, WireModel


class SkillSpendBody(WireModel):
    """Money of one skill's buys since midnight UTC, on every venue."""

    skill_slug: Line
    spent: Amount


class CooldownBody(WireModel):
    """A side of a market that takes no buy before `until`; `after` is what began the cooldown."""

    market_id: Line
    side: Line
    until: Moment
    after: Line


class BuyLimitsBody(WireModel):
    """Money in the venue's currency. What counts by the day starts anew at `resets_at`.

    `sim_trade_max` and `sim_market_max` bind `sim`, the first three the real venues, the rest all.
    """

    max_trade: Amount
    daily_limit: Amount
    daily_spent: Amount
    sim_trade_max: Amount
    sim_market_max: Amount
    max_position: Amount | None = None
    trades_per_day: Count | None = None
    trades_per_day_max: Count | None = None
    # Buys that got shares; beside them those that only rest, which keep their place in the limit.
    trades_today: Count = 0
    trades_resting: Count = 0
    imports_per_day: Count
    imports_today: Count = 0
    skill_daily_budget: Amount | None = None
    # At most 50, those that spent most first.
    skills_today: tuple[SkillSpendBody, ...] = ()
    sim_cooldown_s: Amount = 0.0
    failed_cooldown_s: Amount = 0.0
    # At most 50, those that end last first.
    cooldowns: tuple[CooldownBody, ...] = ()
    trading_paused: bool
    resets_at: Moment
