"""Leashes, waiting trades and what an agent did, from the wire as views."""

from service_tui.desk.slices.agents import (
    EPOCH,
    AgentLimitsView,
    AgentNeedKind,
    AgentNeedView,
    AgentView,
    CalibrationView,
    FillView,
    FleetView,
    ReasonedTradeView,
    ReturnsView,
    SkillResultView,
    VenueMoneyView,
)
from service_tui.desk.slices.supervision import (
    AgentAlertView,
    LeashView,
    OtherSideView,
    PendingTradeView,
)
from service_tui.desk.trading.translate import trade_view
from service_tui.desk.wire_values import amount, moment_or_none
from service_tui.outcome import outcome_in
from service_tui.units import Micros
from service_tui.wire.base import timestamp
from service_tui.wire.buy_limits import BuyLimitsBody
from service_tui.wire.desk import DeskAgentBody, DeskAgentsBody
from service_tui.wire.events import EventBody, FillPart
from service_tui.wire.fleet import (
    AgentAlertBody,
    GainBody,
    HeldTradeBody,
    LeashBody,
    ReturnsBody,
    SkillResultBody,
)
from service_tui.wire.needs import AgentNeedBody
from service_tui.wire.trades import TradeRow


def leash_view(body: LeashBody) -> LeashView:
    """One leash."""
    return LeashView(
        agent_id=body.agent_id,
        skill_slug=body.skill_slug,
        mode=body.mode,
        threshold=amount(body.threshold),
        budget=None if body.daily_budget is None else amount(body.daily_budget),
        wait_s=body.wait_s,
        spent=amount(body.spent),
    )


def agent_alert_view(body: AgentAlertBody) -> AgentAlertView:
    """One alert on an agent."""
    return AgentAlertView(
        alert_id=body.id,
        agent_id=body.agent_id,
        agent_name=body.agent_name or body.agent_id,
        kind=body.kind,
        limit=amount(body.limit),
        minutes=body.minutes,
        action=body.action,
        skill_slug=body.skill_slug,
        is_beyond=body.is_beyond,
        fired_count=body.fired_count,
        fired_at=None if body.last_fired_at is None else timestamp(body.last_fired_at),
        last_value=None if body.last_value is None else amount(body.last_value),
        question=body.last_question,
    )


def pending_trade_view(body: HeldTradeBody) -> PendingTradeView:
    """One trade that waits, or that was decided."""
    decided = body.decided_amount
    return PendingTradeView(
        pending_id=body.held_id,
        agent_id=body.agent_id,
        agent_name=body.agent_name or body.agent_id,
        status=body.status,
        market_id=body.market_id,
        question=body.question or body.market_id,
        venue=body.venue,
        side=body.side,
        action=body.action,
        amount=amount(body.amount),
        shares=amount(body.shares),
        price_limit=body.price_limit,
        price=body.price,
        average=body.avg_price,
        reasoning=body.reasoning,
        source=body.source,
        skill_slug=body.skill_slug,
        signal_data=body.signal_data or {},
        created_at=timestamp(body.created_at),
        expires_at=timestamp(body.expires_at),
        decided_at=None if body.decided_at is None else timestamp(body.decided_at),
        decided_amount=None if decided is None else amount(decided),
        reason=body.reason,
        trade_id=body.trade_id,
        asked=body.price_asked,
        bound=body.decided_bound,
        other_side=tuple(
            OtherSideView(one.agent_id, one.agent_name or one.agent_id, amount(one.shares))
            for one in body.other_side
        ),
    )


def need_view(body: AgentNeedBody) -> AgentNeedView:
    """One thing that an agent waits for."""
    return AgentNeedView(
        kind=AgentNeedKind(body.kind.value),
        agent_id=body.agent_id,
        agent_name=body.agent_name or body.agent_id,
        need_id=body.id,
        question=body.question or body.market_id,
        side=body.side,
        amount=amount(body.amount),
        expires_at=None if body.expires_at is None else timestamp(body.expires_at),
    )


def returns_view(body: ReturnsBody) -> ReturnsView:
    """What one agent made of its money."""
    return ReturnsView(
        agent_id=body.agent_id,
        curve=tuple((timestamp(one.at), amount(one.equity)) for one in body.points),
        total_return=body.total_return,
        drawdown=body.drawdown,
        max_drawdown=body.max_drawdown,
        sharpe=body.sharpe,
        days=_gains(body.days),
        weeks=_gains(body.weeks),
        months=_gains(body.months),
    )


def _gains(bodies: tuple[GainBody, ...]) -> tuple[tuple[int, Micros], ...]:
    """What each period brought, by the number of its first day since 1970."""
    return tuple(((one.first_day - EPOCH).days, amount(one.gained)) for one in bodies)


def reasoned_trade_view(row: TradeRow) -> ReasonedTradeView:
    """View of one trade with its agent's reasoning."""
    return ReasonedTradeView(
        trade=trade_view(row),
        skill_slug=row.skill_slug or "",
        signal_data=row.signal_data or {},
        outcome=outcome_in(row),
    )


def result_view(body: SkillResultBody) -> SkillResultView:
    """View of one skill's trading results."""
    return SkillResultView(
        skill_slug=body.skill_slug,
        trades_count=body.trades,
        pnl=amount(body.pnl),
        wins=body.wins,
        losses=body.losses,
        confidence=body.confidence,
        hit_rate=body.hit_rate,
        edge=body.edge,
        slippage=body.slippage,
        edge_kept=body.edge_kept,
        brier=body.brier,
        calibration=tuple(
            CalibrationView(one.low, one.high, one.count, one.confidence, one.hit_rate)
            for one in body.calibration
        ),
        venue=body.venue,
    )


def _limits_view(body: BuyLimitsBody) -> AgentLimitsView:
    return AgentLimitsView(
        sim_trade_max=amount(body.sim_trade_max),
        sim_market_max=amount(body.sim_market_max),
        trade_max=amount(body.max_trade),
        day_spend_max=amount(body.daily_limit),
        day_spent=amount(body.daily_spent),
        position_max=None if body.max_position is None else amount(body.max_position),
        buys_today=body.trades_today,
        buys_resting=body.trades_resting,
        buys_max=body.trades_per_day,
        skill_budget=None if body.skill_daily_budget is None else amount(body.skill_daily_budget),
        skills=tuple((one.skill_slug, amount(one.spent)) for one in body.skills_today),
        cooldowns_count=len(body.cooldowns),
    )


def _agent_view(body: DeskAgentBody) -> AgentView:
    marked = amount(body.equity)
    sold = marked if body.exit_equity is None else amount(body.exit_equity)
    return AgentView(
        agent_id=body.agent_id,
        name=body.name,
        description=body.description,
        status=body.status,
        plan=body.plan,
        claimed=body.claimed,
        claim_url=body.claim_url,
        paused=body.trading_paused,
        suspended=body.suspended,
        cash=amount(body.cash),
        equity=sold,
        total_pnl=Micros(amount(body.pnl_total) - marked + sold),
        day_pnl=amount(body.pnl_today),
        positions_count=body.positions_count,
        trades_count=body.trades_count,
        last_trade_at=moment_or_none(body.last_trade_at),
        created_at=timestamp(body.created_at),
        is_own=body.is_own,
        retired=body.retired,
        mark_equity=marked,
        venues=tuple(
            VenueMoneyView(
                venue=row.venue,
                cash=amount(row.cash),
                reserved=amount(row.reserved),
                equity=amount(row.equity),
                total_pnl=amount(row.pnl),
                positions_count=row.positions_count,
                orders_count=row.orders_count,
                to_redeem=amount(row.to_redeem),
            )
            for row in body.venues
        ),
        wins=body.wins,
        losses=body.losses,
        spent_today=amount(body.spent_today),
        limits=None if body.rails is None else _limits_view(body.rails),
    )


def fleet_view(body: DeskAgentsBody) -> FleetView:
    """View of all agents of the embedded service."""
    return FleetView(
        tuple(_agent_view(row) for row in body.agents),
        body.account.plan,
        body.account.agents_max,
    )


def fill_view(body: EventBody, fill: FillPart) -> FillView:
    """View of a streamed trade of any agent."""
    return FillView(
        seq=body.seq,
        at=timestamp(body.at),
        agent_id=fill.agent_id,
        agent_name=fill.agent_name,
        market_id=fill.market_id,
        question=fill.question,
        venue=fill.venue,
        side=fill.side,
        action=fill.action,
        shares=amount(fill.shares),
        price=fill.price,
        price_after=fill.price_after,
        money=amount(fill.money),
        realized=amount(fill.realized_pnl),
        source=fill.source,
        skill=fill.skill_slug,
        trade_id=fill.trade_id,
        fee=None if fill.fee is None else amount(fill.fee),
    )
