"""The agents of this service by P&L. Source: wire reference, 2.1 and 3.11."""

from typing import Annotated, Final, Literal

from pydantic import Field

from service_tui.terms import AgentStatus
from service_tui.wire.base import AnyVenue, Count, Line, Money, Price, WireModel

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


class VenueLeadersQuery(WireModel):
    """Which traders, and how many."""

    trader_type: Literal["human", "agent", "all"] = "all"
    limit: Limit = 20


class VenueLeaderBody(TraderBody):
    """A trader of one venue."""

    # ours: everything below; the reference requires the first two fields alone.
    name: Line = ""
    trader_type: Literal["human", "agent"] = "agent"
    trades_count: Count = 0
    win_count: Count = 0
    loss_count: Count = 0
    win_rate: Price | None = None


class VenueLeadersBody(WireModel):
    """The traders of one venue, best first; money in the venue's currency."""

    venue: AnyVenue
    currency: Line
    traders: tuple[VenueLeaderBody, ...] = ()
    total: Count = 0


class FleetTotals(WireModel):
    """Sums over all agents of the account, of sim alone: two currencies make no sum."""

    agents: Count = 0
    balance: Money = 0.0
    pnl: Money = 0.0
    trades_count: Count = 0


class FleetSummaryBody(WireModel):
    """The account's agents. ours: the shape; the reference publishes none.

    Of the others an agent sees what the leaderboard shows, and never a balance.
    """

    agent: LeaderBody
    agents: tuple[LeaderBody, ...] = ()
    totals: FleetTotals
    plan: Line
    agents_max: Count
