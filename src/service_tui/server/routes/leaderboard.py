"""The leaderboard: every agent of this service by its P&L."""

import hashlib
from typing import Final

from service_tui.engine.agents.agents import Agent, status_of
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import FIRST_CASH, agent_pnl
from service_tui.terms import win_rate
from service_tui.units import Micros, decimal
from service_tui.wire.endpoints.public import LEADERS, SDK_LEADERS
from service_tui.wire.leaderboard import (
    LeaderboardBody,
    LeaderboardQuery,
    LeaderBody,
    SdkAgentsBody,
    SdkAgentsQuery,
)

ID_LENGTH: Final = 16


def _shown_id(asked: RequestContext, agent: Agent) -> str:
    """The caller's own id; of anybody else what tells it apart and leads nowhere."""
    if agent.agent_id == asked.agent.agent_id:
        return agent.agent_id
    return hashlib.sha256(agent.agent_id.encode()).hexdigest()[:ID_LENGTH]


def _row(asked: RequestContext, agent: Agent, rank: int, pnl: Micros) -> LeaderBody:
    return LeaderBody(
        id=_shown_id(asked, agent),
        name=agent.settings.name,
        status=status_of(agent, asked.world.cash(agent)),
        rank=rank,
        total_pnl=decimal(pnl),
        pnl_percent=round(pnl / FIRST_CASH * 100, 4),
        trades_count=agent.trades_count,
        win_count=agent.win_count,
        loss_count=agent.loss_count,
        win_rate=win_rate(agent.win_count, agent.loss_count),
    )


def _leaders(asked: RequestContext, limit: int) -> tuple[LeaderBody, ...]:
    """The best agents; of equals who has been here longer comes first, and they share a rank."""
    world = asked.world
    ranked = sorted(
        ((agent_pnl(world, agent), agent) for agent in world.agents.values()),
        key=lambda row: -row[0],
    )
    gains = [pnl for pnl, _ in ranked]
    return tuple(_row(asked, agent, gains.index(pnl) + 1, pnl) for pnl, agent in ranked[:limit])


async def everybody(asked: RequestContext) -> LeaderboardBody:
    """Every list there is."""
    return LeaderboardBody(sdk_agents=_leaders(asked, asked.query_as(LeaderboardQuery).limit))


async def sdk_agents(asked: RequestContext) -> SdkAgentsBody:
    """The agents, best first."""
    rows = _leaders(asked, asked.query_as(SdkAgentsQuery).limit)
    return SdkAgentsBody(sdk_agents=rows, total=len(asked.world.agents))


ROUTES: Final[Routes] = {LEADERS: everybody, SDK_LEADERS: sdk_agents}
