"""Results of an agent: its P&L over time, and what each of its skills came to."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from service_tui.server.agent_past import in_one_form
from service_tui.server.agent_results import SkillResult, pnl_curve, skill_results
from service_tui.server.history import Past
from service_tui.server.present import agent_pnl
from service_tui.server.routes import outcomes
from service_tui.server.service import Asked, Routes
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints_fleet import DESK_AGENT_RESULTS
from service_tui.wire.fleet import (
    AgentResultsBody,
    CalibrationBody,
    PnlPoint,
    SkillResultBody,
)


async def results(asked: Asked) -> AgentResultsBody:
    """An agent's P&L over time, and the figures of each skill, from all that it ever did."""
    world = asked.world
    agent = world.agent(asked.path["agent_id"])
    found = await outcomes.past_of(replace(asked, caller=agent))
    ended = {one.market_id: one.outcome for one in world.markets.values()}
    total = agent_pnl(world, agent)
    # In a thread: a long life is a matter of seconds.
    return await asyncio.to_thread(_results_body, agent.agent_id, found, ended, (asked.now, total))


def _results_body(
    agent_id: str,
    found: Sequence[Past],
    ended: Mapping[str, bool | None],
    last: tuple[Timestamp, Micros],
) -> AgentResultsBody:
    past = in_one_form(found)
    return AgentResultsBody(
        agent_id=agent_id,
        points=tuple(
            PnlPoint(at=moment(at), pnl=decimal(pnl)) for at, pnl in pnl_curve(past, *last)
        ),
        skills=tuple(_skill_body(one) for one in skill_results(past, ended.get)),
    )


def _skill_body(one: SkillResult) -> SkillResultBody:
    return SkillResultBody(
        skill_slug=one.skill,
        venue=one.venue,
        trades=one.trades,
        pnl=decimal(one.pnl),
        wins=one.wins,
        losses=one.losses,
        confidence=one.confidence,
        hit_rate=one.hit_rate,
        brier=one.brier,
        edge=one.edge,
        slippage=one.slippage,
        edge_kept=one.kept,
        calibration=tuple(
            CalibrationBody(
                low=each.low,
                high=each.high,
                count=each.count,
                confidence=each.confidence,
                hit_rate=each.hit_rate,
            )
            for each in one.buckets
        ),
    )


ROUTES: Final[Routes] = {DESK_AGENT_RESULTS: results}
