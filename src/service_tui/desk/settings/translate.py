"""Views of the wire's settings: limits and risk defaults."""

from service_tui.desk.slices.buy_limits import (
    BuyLimitsView,
    CooldownView,
    RiskDefaults,
    SkillDaySpend,
)
from service_tui.desk.wire_values import amount
from service_tui.terms import SIM_MARKET_MAX, SIM_TRADE_MAX, Side
from service_tui.units import Micros, Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.buy_limits import BuyLimitsBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody


def buy_limits_view(
    settings: SettingsBody,
    user: UserSettingsBody,
    *,
    at: Timestamp,
    midnight: Timestamp,
    own_spent: Micros | None,
) -> BuyLimitsView:
    """View of the limits that bind buys.

    Args:
        settings: the spec's object; both documents may pause.
        user: risk defaults, with the limits if the service reports them.
        at: our time just before both were requested.
        midnight: the next midnight UTC, for a service that does not report it.
        own_spent: what this desk has spent today; None where that is not known.

    Returns:
        The view.
    """
    limits = user.rails
    return BuyLimitsView(
        at=at,
        resets_at=midnight if limits is None else timestamp(limits.resets_at),
        paused=settings.trading_paused or user.trading_paused,
        max_trade=amount(settings.sdk_max_trade_amount),
        day_spend_max=amount(settings.sdk_daily_limit),
        day_spent=amount(settings.sdk_daily_spent),
        sim_trade_max=amount(SIM_TRADE_MAX if limits is None else limits.sim_trade_max),
        sim_market_max=amount(SIM_MARKET_MAX if limits is None else limits.sim_market_max),
        position_max=_amount(user.max_position_usd),
        day_buys_max=user.max_trades_per_day,
        day_buys=user.trades_today if limits is None else limits.trades_today,
        day_resting=0 if limits is None else limits.trades_resting,
        defaults=defaults_of(user),
        day_buys_ceiling=None if limits is None else limits.trades_per_day_max,
        skill_day_max=_amount(user.skill_daily_budget),
        skills=() if limits is None else _skills(limits),
        cooldowns=() if limits is None else cooldowns_of(limits),
        imports_today=0 if limits is None else limits.imports_today,
        sim_cooldown_s=0.0 if limits is None else limits.sim_cooldown_s,
        failed_cooldown_s=0.0 if limits is None else limits.failed_cooldown_s,
        real_trading=settings.sdk_real_trading_enabled,
        own_spent=own_spent,
    )


def defaults_of(user: UserSettingsBody) -> RiskDefaults:
    """Risk defaults; 0 and null are both "off". Source: decisions, "Time"."""
    return RiskDefaults(
        stop_loss_pct=user.default_stop_loss_pct or None,
        take_profit_pct=user.default_take_profit_pct or None,
        auto_monitor=user.auto_risk_monitor_enabled,
    )


def _amount(value: float | None) -> Micros | None:
    return None if value is None else amount(value)


def _skills(limits: BuyLimitsBody) -> tuple[SkillDaySpend, ...]:
    return tuple(SkillDaySpend(one.skill_slug, amount(one.spent)) for one in limits.skills_today)


def cooldowns_of(limits: BuyLimitsBody) -> tuple[CooldownView, ...]:
    """Where the agent may not buy for a while, by market and side."""
    sides = {side.value for side in Side}
    return tuple(
        CooldownView(one.market_id, Side(one.side), timestamp(one.until), one.after)
        for one in limits.cooldowns
        if one.side in sides
    )
