"""Translates the offline world's clock and the summary of an absence into views."""

from service_tui.desk.markets.translate import news_view
from service_tui.desk.slices.world import AbsenceView, ResolvedView, WorldView
from service_tui.desk.wire_values import amount, amount_or_none, moment_or_none
from service_tui.outcome import Outcome, outcome_in
from service_tui.wire.base import timestamp
from service_tui.wire.world import (
    AbsenceBody,
    ResolvedBody,
    WorldBody,
)


def _resolved_view(body: ResolvedBody, outcome: Outcome) -> ResolvedView:
    return ResolvedView(
        at=timestamp(body.at),
        market_id=body.market_id,
        question=body.question,
        outcome=outcome,
        payout=amount(body.payout),
        pnl=amount(body.pnl),
    )


def _absence_view(body: AbsenceBody | None) -> AbsenceView | None:
    if body is None:
        return None
    return AbsenceView(
        closed_at=timestamp(body.closed_at),
        opened_at=timestamp(body.opened_at),
        world_elapsed_s=body.world_elapsed_s,
        resolved_count=body.resolved_count,
        listed_count=body.listed_count,
        resolved=tuple(
            _resolved_view(row, outcome)
            for row in body.resolved
            if (outcome := outcome_in(row)) is not None
        ),
        news=tuple(news_view(row) for row in body.news),
        equity_before=amount_or_none(body.equity_before),
        equity_after=amount_or_none(body.equity_after),
    )


def world_view(body: WorldBody) -> WorldView:
    """The offline world's clock and pace."""
    return WorldView(
        now=timestamp(body.now),
        wall_at=timestamp(body.wall_at),
        speed=body.speed,
        seed=body.seed,
        open_count=body.open_count,
        meanwhile=_absence_view(body.meanwhile),
        halted_at=moment_or_none(body.halted_at),
        history="" if body.history is None else body.history.name,
        is_over=body.history is not None and body.history.is_over,
    )
