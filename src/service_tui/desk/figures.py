"""Figures that several screens show, each derived once, here. Pure."""

from dataclasses import replace
from typing import Final

from service_tui.desk.slices.account import AccountView
from service_tui.desk.slices.agents import AgentDetailView, AgentLimitsView, AgentView
from service_tui.desk.slices.briefing import BriefingView, NewMarketView
from service_tui.desk.slices.buy_limits import SkillDaySpend
from service_tui.desk.slices.markets import DetailView, MarketView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

_PERCENT: Final = 100.0


def agreed(before: DeskState, after: DeskState) -> DeskState:
    """The state in which the own agent has the same figures in the account, fleet and briefing.

    Args:
        before: the state before the last fact; their difference shows what was read last.
        after: the state with that fact.

    Returns:
        The state; the same object where nothing was to be changed.
    """
    account = after.account
    if account is None or (
        after.account is before.account
        and after.fleet is before.fleet
        and after.briefing is before.briefing
        and after.positions is before.positions
        and after.limits is before.limits
        and after.buy_limits is before.buy_limits
    ):
        return after
    own = own_agent(after)
    if own is not None and after.fleet is not before.fleet:
        account = _counted(account, own)
        after = _with_day_of(after, own)
    return _with_briefing(_with_own_row(replace(after, account=account)))


def own_agent(state: DeskState) -> AgentView | None:
    """The row of the agent by which the person trades; None where the fleet is not known."""
    if state.fleet is None or state.account is None:
        return None
    wanted = state.account.agent_id
    return next((one for one in state.fleet.agents if one.agent_id == wanted), None)


def _counted(account: AccountView, own: AgentView) -> AccountView:
    """The account with the counts of its row, which was read later."""
    return replace(
        account,
        trades_count=own.trades_count,
        wins=own.wins,
        losses=own.losses,
        win_rate=own.win_rate,
    )


def _with_day_of(state: DeskState, own: AgentView) -> DeskState:
    """The limits with the day's use that the row of the own agent names, which was read later."""
    used, limits, buy_limits = own.limits, state.limits, state.buy_limits
    if used is None:
        return state
    if limits is not None and limits.day_trades is not None:
        limits = replace(
            limits,
            day_trades=used.buys_today,
            day_resting=used.buys_resting,
            day_spent=used.day_spent,
        )
    if buy_limits is not None and buy_limits.day_buys is not None:
        skills = tuple(SkillDaySpend(slug, spent) for slug, spent in used.skills)
        buy_limits = replace(
            buy_limits,
            day_buys=used.buys_today,
            day_resting=used.buys_resting,
            day_spent=used.day_spent,
            skills=skills,
        )
    return replace(state, limits=limits, buy_limits=buy_limits)


def _row_limits(state: DeskState, own: AgentView) -> AgentLimitsView | None:
    """Limits of the own agent's row, with the day's use from `buy_limits`."""
    buy_limits = state.buy_limits
    if own.limits is None or buy_limits is None or buy_limits.day_buys is None:
        return own.limits
    return replace(
        own.limits,
        buys_today=buy_limits.day_buys,
        buys_resting=buy_limits.day_resting,
        day_spent=buy_limits.day_spent,
        skills=tuple((one.slug, one.spent) for one in buy_limits.skills),
    )


def _with_own_row(state: DeskState) -> DeskState:
    """The fleet with the account's figures in the row of the own agent."""
    fleet, account, own = state.fleet, state.account, own_agent(state)
    if fleet is None or account is None or own is None:
        return state
    row = replace(
        own,
        # Without an equity of that moment its cash would be of another one than the row's.
        cash=own.cash if account.equity is None else account.cash,
        equity=own.equity if account.equity is None else account.equity,
        mark_equity=own.mark_equity if account.mark_equity is None else account.mark_equity,
        total_pnl=own.total_pnl if account.total_pnl is None else account.total_pnl,
        day_pnl=own.day_pnl if account.day_pnl is None else account.day_pnl,
        positions_count=len(state.positions) if state.positions_read else own.positions_count,
        trades_count=account.trades_count,
        wins=account.wins,
        losses=account.losses,
        limits=_row_limits(state, own),
    )
    if row == own:
        return state
    agents = tuple(row if one is own else one for one in fleet.agents)
    return replace(state, fleet=replace(fleet, agents=agents))


def _with_briefing(state: DeskState) -> DeskState:
    """The briefing with the account's win rate and P&L, where the briefing names them at all."""
    known, account = state.briefing, state.account
    if known is None or account is None:
        return state
    standing = known.standing
    if standing.win_rate is not None and account.win_rate is not None:
        standing = replace(standing, win_rate=account.win_rate)
    if standing.pnl_percent is not None and account.total_pnl is not None and account.start > 0:
        standing = replace(standing, pnl_percent=_PERCENT * account.total_pnl / account.start)
    if standing == known.standing:
        return state
    return replace(state, briefing=replace(known, standing=standing))


# -- what is guarded, and what a fill has not reached yet ----------------------------------------


def guard_counts(state: DeskState) -> tuple[int, int]:
    """Number of open positions that a monitor watches, and number of open positions.

    A monitor with shares is a position as well where the positions were read before its buy: the
    count is never less than the list below it.

    Returns:
        Guarded, then open.
    """
    watched = {one.key for one in state.risk.monitors if one.shares > 0 and not one.is_spent}
    real = (one for one in state.on_venues if not one.is_closed and one.shares > 0)
    held = {one.key for one in (*state.positions, *real)}
    return len(watched), len(held | watched)


def is_counting(state: DeskState, market_id: str) -> bool:
    """True if an order in a market ended and the positions were not read since."""
    read_at = state.seen.get(Topic.POSITIONS)
    return any(
        one.market_id == market_id
        and one.state is TicketState.DONE
        and one.settled_at is not None
        and (read_at is None or one.settled_at > read_at)
        for one in state.tickets
    )


# -- lines that end in the figure beside them ----------------------------------------------------


def price_points(
    market: MarketView, detail: DetailView, now: Timestamp
) -> tuple[tuple[Timestamp, float], ...]:
    """The prices of YES over time, ended by the price of now; `now` is the time of the market."""
    if not detail.points or not market.is_open:
        return detail.points
    return (*detail.points, (max(now, detail.points[-1][0]), float(market.price)))


def equity_points(state: DeskState, now: Timestamp) -> tuple[tuple[Timestamp, Micros], ...]:
    """The equity of the own agent over time, ended by the account's of now, if that is known."""
    points = tuple((point.at, point.equity) for point in state.equity)
    equity = None if state.account is None else state.account.equity
    if equity is None or state.from_cache:
        return points
    return (*points, (now, equity))


def pnl_points(
    agent: AgentView, detail: AgentDetailView | None, now: Timestamp
) -> tuple[tuple[Timestamp, Micros], ...]:
    """An agent's P&L over time, ended by the P&L of its row; empty before it is read."""
    if detail is None or detail.agent_id != agent.agent_id or not detail.points:
        return ()
    return (*detail.points, (max(now, detail.points[-1][0]), agent.total_pnl))


def open_news(
    briefing: BriefingView, state: DeskState, now: Timestamp
) -> tuple[tuple[NewMarketView, float | None], ...]:
    """The briefing's new markets that still trade, each with the seconds that it has left.

    Args:
        briefing: the last one; its own word for what is left was true when it was written.
        state: the newest markets.
        now: the time of the markets.

    Returns:
        Markets that are open as far as is known; None for the time left where that is not known.
    """
    found: list[tuple[NewMarketView, float | None]] = []
    for one in briefing.new_markets:
        known = state.markets.get(one.market_id)
        ends = None if known is None else known.resolves_at
        is_over = (ends is not None and ends <= now) or (known is not None and not known.is_open)
        if not is_over:
            found.append((one, None if ends is None else ends - now))
    return tuple(found)
