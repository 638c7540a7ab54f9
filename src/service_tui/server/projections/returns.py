"""An agent's returns in $SIM, computed from its equity marks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.marks import Mark
from service_tui.engine.limits import DAY_S
from service_tui.engine.world import World
from service_tui.evaluation.returns import (
    Gain,
    Period,
    Point,
    drawdown,
    gains,
    max_drawdown,
    sharpe,
    total_return,
)
from service_tui.server.projections.present import exit_pnl
from service_tui.terms import win_rate
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.fleet import GainBody, ReturnsBody, WorthPoint

POINTS_MAX: Final = 48
"""Points of an agent's curve beside those of all others. # ours: a row has room for a few cells."""

DAYS_SHOWN: Final = 31


@dataclass(frozen=True, slots=True)
class MoneyHistory:
    """What is known of an agent's money: values, which another thread may read.

    `first_cash` is what it began with, `peak` its highest equity, both in micros.
    """

    agent_id: str
    born_at: Timestamp
    first_cash: Micros
    peak: Micros
    marks: Sequence[Mark]
    now: Point
    wins: int
    losses: int


def history_of(world: World, agent: Agent, now: Timestamp) -> MoneyHistory:
    """What the world knows of an agent's money now."""
    equity = world.exit_equity(agent)
    return MoneyHistory(
        agent.agent_id,
        agent.created_at,
        Micros(equity - exit_pnl(world, agent)),
        agent.peak,
        agent.marks.all(),
        Point(now, equity),
        agent.win_count,
        agent.loss_count,
    )


def curve_of(history: MoneyHistory) -> list[Point]:
    """The equity over time: each mark, the close of each day UTC, and now.

    A mark is the worth before the first event of its minute, so that the first mark of a later day
    is the close of the day of the mark before it.
    """
    curve: list[Point] = []
    day = None
    for mark in history.marks:
        mark_day = int(mark.at // DAY_S)
        if day is not None and mark_day != day:
            close = Timestamp((day + 1) * DAY_S - 1.0)
            curve.append(Point(max(curve[-1].at, close), mark.exit_equity))
        day = mark_day
        curve.append(Point(mark.at, mark.exit_equity))
    now_day = int(history.now.at // DAY_S)
    if day is not None and now_day != day:
        # Nothing has happened since the last mark's minute: what is held now was held then.
        close = Timestamp((day + 1) * DAY_S - 1.0)
        curve.append(Point(max(curve[-1].at, close), history.now.equity))
    curve.append(history.now)
    return curve


def returns_body(history: MoneyHistory) -> ReturnsBody:
    """The figures of a history."""
    curve, now = curve_of(history), history.now
    whole = [Point(history.born_at, history.first_cash), now]
    fall = drawdown([Point(history.born_at, history.peak), now])
    deepest = max_drawdown(curve)
    return ReturnsBody(
        agent_id=history.agent_id,
        points=tuple(
            WorthPoint(at=moment(point.at), equity=decimal(point.equity))
            for point in thinned(curve)
        ),
        total_return=total_return(whole),
        drawdown=fall,
        max_drawdown=None if fall is None or deepest is None else max(fall, deepest),
        sharpe=sharpe(curve),
        hit_rate=win_rate(history.wins, history.losses),
        days=_bodies(gains(curve, Period.DAY)[-DAYS_SHOWN:]),
        weeks=_bodies(gains(curve, Period.WEEK)),
        months=_bodies(gains(curve, Period.MONTH)),
    )


def _bodies(found: Sequence[Gain]) -> tuple[GainBody, ...]:
    return tuple(
        GainBody(first_day=one.first_day, gained=decimal(one.gained)) for one in found if one.gained
    )


def thinned(curve: Sequence[Point]) -> Sequence[Point]:
    """Points at even times, the first and the last among them: the latest until each time."""
    if len(curve) <= POINTS_MAX:
        return curve
    start, end = curve[0].at, curve[-1].at
    step_s = (end - start) / (POINTS_MAX - 2)
    latest = {math.ceil((point.at - start) / step_s): point for point in curve}
    return list(latest.values())
