"""The leaderboard: every agent of this service by its P&L."""

import hashlib
from typing import Final

from service_tui.engine.agents.agents import Agent, status_of
from service_tui.engine.limits import PLANS
from service_tui.engine.reactor.recorded_wallets import known_wallets
from service_tui.server.http.refusals import denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import FIRST_CASH, exit_pnl
from service_tui.terms import VENUE_NAMES, Venue, win_rate
from service_tui.units import Micros, decimal, sum_of
from service_tui.wire.endpoints.public import FLEET_SUMMARY, LEADERS, SDK_LEADERS, VENUE_LEADERS
from service_tui.wire.leaderboard import (
    LEADERS_MAX,
    FleetSummaryBody,
    FleetTotals,
    LeaderboardBody,
    LeaderboardQuery,
    LeaderBody,
    SdkAgentsBody,
    SdkAgentsQuery,
    VenueLeaderBody,
    VenueLeadersBody,
    VenueLeadersQuery,
)

ID_LENGTH: Final = 16


def _shown_id(request: RequestContext, agent: Agent) -> str:
    """The caller's own id; for other agents a distinct text that leads nowhere."""
    if request.caller is not None and agent.agent_id == request.caller.agent_id:
        return agent.agent_id
    return hashlib.sha256(agent.agent_id.encode()).hexdigest()[:ID_LENGTH]


def _row(request: RequestContext, agent: Agent, rank: int, pnl: Micros) -> LeaderBody:
    return LeaderBody(
        id=_shown_id(request, agent),
        name=agent.settings.name,
        status=status_of(agent, request.world.cash(agent)),
        rank=rank,
        total_pnl=decimal(pnl),
        pnl_percent=round(pnl / FIRST_CASH * 100, 4),
        trades_count=agent.trades_count,
        win_count=agent.win_count,
        loss_count=agent.loss_count,
        win_rate=win_rate(agent.win_count, agent.loss_count),
    )


def _leaders(request: RequestContext, limit: int) -> tuple[LeaderBody, ...]:
    """The best agents; of equals who has been here longer comes first, and they share a rank."""
    world = request.world
    ranked = sorted(
        ((exit_pnl(world, agent), agent) for agent in world.agents.values()),
        key=lambda row: -row[0],
    )
    gains = [pnl for pnl, _ in ranked]
    return tuple(_row(request, agent, gains.index(pnl) + 1, pnl) for pnl, agent in ranked[:limit])


async def leaders(request: RequestContext) -> LeaderboardBody:
    """Every list there is."""
    return LeaderboardBody(sdk_agents=_leaders(request, request.query_as(LeaderboardQuery).limit))


async def sdk_agents(request: RequestContext) -> SdkAgentsBody:
    """The agents, best first."""
    rows = _leaders(request, request.query_as(SdkAgentsQuery).limit)
    return SdkAgentsBody(sdk_agents=rows, total=len(request.world.agents))


def _agents_on(request: RequestContext, venue: Venue) -> list[VenueLeaderBody]:
    """The agents' results on a venue."""
    world = request.world
    rows: list[VenueLeaderBody] = []
    for agent in world.agents.values():
        if venue is Venue.SIM:
            pnl, trades = exit_pnl(world, agent), agent.trades_count
            wins, losses = agent.win_count, agent.loss_count
        else:
            account = world.venues.account(agent.agent_id, venue)
            times = (request.now, world.world_at)
            pnl = Micros(account.realized + world.venues.unrealized(account, times))
            trades, wins, losses = account.trades_count, account.win_count, account.loss_count
        rows.append(
            VenueLeaderBody(
                trader_id=_shown_id(request, agent),
                total_pnl=decimal(pnl),
                name=agent.settings.name,
                trades_count=trades,
                win_count=wins,
                loss_count=losses,
                win_rate=win_rate(wins, losses),
            )
        )
    return rows


def _people_on(request: RequestContext, venue: Venue) -> list[VenueLeaderBody]:
    """The known wallets' results on a venue: what they realized."""
    world = request.world
    rows: list[VenueLeaderBody] = []
    for wallet in known_wallets(world.wallet_context, world.world_at):
        record = world.reactor.records.of(wallet.address)
        if wallet.venue is not venue or not record.trades_count:
            continue
        rows.append(
            VenueLeaderBody(
                trader_id=wallet.address,
                total_pnl=decimal(record.realized),
                name=wallet.label,
                trader_type="human",
                trades_count=record.trades_count,
                win_count=record.win_count,
                loss_count=record.loss_count,
                win_rate=win_rate(record.win_count, record.loss_count),
            )
        )
    return rows


_VENUES: Final = {venue.value: venue for venue in Venue}


async def of_venue(request: RequestContext) -> VenueLeadersBody:
    """The traders of one venue by P&L, best first.

    Returns:
        The rows.

    Raises:
        Denied: 404 for a venue that there is not.
    """
    name = request.path["venue"]
    venue = VENUE_NAMES.get(name)
    if venue is None:
        raise denied(404, f"there is no venue {name}", f"use one of {', '.join(_VENUES)}")
    query = request.query_as(VenueLeadersQuery)
    rows = [] if query.trader_type == "human" else _agents_on(request, venue)
    if query.trader_type != "agent":
        rows += _people_on(request, venue)
    rows.sort(key=lambda row: -row.total_pnl)
    currency = "$SIM" if venue is Venue.SIM else "USDC"
    return VenueLeadersBody(
        venue=venue, currency=currency, traders=tuple(rows[: query.limit]), total=len(rows)
    )


async def fleet_summary(request: RequestContext) -> FleetSummaryBody:
    """The agents of the account: the caller, the best of them, and sums on sim."""
    world, own = request.world, request.agent
    agents = list(world.agents.values())
    pnl_by_id = {agent.agent_id: exit_pnl(world, agent) for agent in agents}
    own_pnl = pnl_by_id[own.agent_id]
    rank = sum(pnl > own_pnl for pnl in pnl_by_id.values()) + 1
    return FleetSummaryBody(
        agent=_row(request, own, rank, own_pnl),
        agents=_leaders(request, LEADERS_MAX),
        totals=FleetTotals(
            agents=len(agents),
            balance=decimal(sum_of(world.cash(agent) for agent in agents)),
            pnl=decimal(sum_of(pnl_by_id.values())),
            trades_count=sum(agent.trades_count for agent in agents),
        ),
        plan=own.settings.plan.value,
        agents_max=PLANS[own.settings.plan].agents,
    )


ROUTES: Final[Routes] = {
    LEADERS: leaders,
    SDK_LEADERS: sdk_agents,
    VENUE_LEADERS: of_venue,
    FLEET_SUMMARY: fleet_summary,
}
