"""Leashes, waiting trades and what an agent did, from the wire as views."""

from service_tui.desk.slices.agents import (
    AgentNeedKind,
    AgentNeedView,
    CalibrationView,
    ReasonedTradeView,
    SkillResultView,
)
from service_tui.desk.slices.supervision import HeldView, LeashView
from service_tui.desk.translate import amount, trade_view
from service_tui.wire.base import timestamp
from service_tui.wire.fleet import HeldTradeBody, LeashBody, SkillResultBody
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


def held_view(body: HeldTradeBody) -> HeldView:
    """One trade that waits, or that was decided."""
    decided = body.decided_amount
    return HeldView(
        held_id=body.held_id,
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


def reasoned_trade_view(row: TradeRow) -> ReasonedTradeView:
    """View of one trade with its agent's reasoning."""
    return ReasonedTradeView(
        trade=trade_view(row),
        skill_slug=row.skill_slug or "",
        signal_data=row.signal_data or {},
        outcome=row.outcome,
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
