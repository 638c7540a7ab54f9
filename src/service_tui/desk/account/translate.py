"""The desk's own agent and its limits as views of the desk."""

from service_tui.desk.slices.account import AccountView, LimitsView, summed
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.wire_values import amount
from service_tui.terms import (
    SIM_TRADE_MAX,
    AgentStatus,
    Plan,
    win_rate,
)
from service_tui.units import Micros
from service_tui.wire.agents import AgentBody
from service_tui.wire.positions import PortfolioBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody


def account_view(
    agent: AgentBody, portfolio: PortfolioBody, holdings: tuple[PositionView, ...]
) -> AccountView:
    """View of the own agent; equity is cash plus the positions' mark value."""
    sim = portfolio.sim
    cash = amount(sim.balance if sim and sim.balance is not None else agent.balance)
    # The service's own equity, of the same moment as its P&L: their difference never moves.
    equity = cash + amount(sim.total_exposure if sim else portfolio.total_exposure)
    total = portfolio.pnl_total if portfolio.pnl_total is not None else agent.total_pnl
    sold, day = portfolio.exit_equity, portfolio.pnl_today
    none = Micros(0)
    rate = win_rate(agent.win_count, agent.loss_count)
    account = AccountView(
        agent_id=agent.agent_id,
        name=agent.name,
        status=AgentStatus(agent.status),
        plan=agent.rate_limits.tier if agent.rate_limits else Plan.FREE,
        claimed=agent.claimed,
        cash=cash,
        start=Micros(equity - amount(total)),
        # "Today" begins at midnight UTC: the published `pnl_24h` is another figure.
        day_open=None if day is None or sold is None else Micros(amount(sold) - amount(day)),
        equity=Micros(equity),
        day_pnl=none,
        total_pnl=none,
        realized=none,
        unrealized=none,
        trades_count=agent.trades_count,
        win_rate=agent.win_rate if rate is None else rate,
        wins=agent.win_count,
        losses=agent.loss_count,
    )
    return summed(account, holdings)


def limits_view(settings: SettingsBody, user: UserSettingsBody, *, sim: bool) -> LimitsView:
    """View of the limits. Either document may pause; a cap of the simulated venue is fixed."""
    return LimitsView(
        paused=settings.trading_paused or user.trading_paused,
        max_trade=amount(SIM_TRADE_MAX if sim else settings.sdk_max_trade_amount),
        day_spend_max=amount(settings.sdk_daily_limit),
        day_spent=amount(settings.sdk_daily_spent),
        day_trades_max=user.max_trades_per_day,
        day_trades=user.trades_today,
        day_resting=0 if user.rails is None else user.rails.trades_resting,
    )
