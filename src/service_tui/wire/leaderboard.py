"""The agents of this service by P&L. Source: wire reference, 2.1 and 3.11."""

from typing import Annotated, Final

from pydantic import Field

from service_tui.terms import AgentStatus
from service_tui.wire.base import Count, Line, Money, Price, WireModel

LEADERS_MAX: Final = 50
Limit = Annotated[int, Field(ge=1, le=LEADERS_MAX)]


class LeaderboardQuery(WireModel):
    """How many rows of each list."""

    limit: Limit = 20


class SdkAgentsQuery(WireModel):
    """How many agents."""

    limit: Limit = 50


class LeaderBody(WireModel):
    """One agent among all; `pnl_percent` of what it began with, 5.0 for five percent."""

    # ours: a digest of the agent's id; only the caller meets its own id here.
    id: Line
    name: Line
    status: AgentStatus
    rank: Count
    total_pnl: Money
    pnl_percent: Money
    trades_count: Count
    win_count: Count
    loss_count: Count
    win_rate: Price | None = None


class TraderBody(WireModel):
    """A trader of a real venue."""

    trader_id: Line
    total_pnl: Money


class LeaderboardBody(WireModel):
    """Every list; those of the real venues are empty on a service that has none."""

    sdk_agents: tuple[LeaderBody, ...]
    native_agents: tuple[LeaderBody, ...] = ()
    polymarket: tuple[TraderBody, ...] = ()
    kalshi: tuple[TraderBody, ...] = ()


class SdkAgentsBody(WireModel):
    """The agents, best first."""

    sdk_agents: tuple[LeaderBody, ...]
    total: Count
