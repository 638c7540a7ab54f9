"""Positions and portfolio of the calling agent."""

from typing import Final

from service_tui.engine.agents import Agent
from service_tui.engine.world import World
from service_tui.server.present import agent_pnl, closed_body, position_body, time_left, unrealized
from service_tui.server.service import Asked, Routes
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints import EXPIRING, PORTFOLIO, POSITIONS
from service_tui.wire.positions import (
    Concentration,
    ExpiringBody,
    ExpiringQuery,
    ExpiringsBody,
    PnlBody,
    PnlSummary,
    PortfolioBody,
    PortfolioQuery,
    PortfolioTotal,
    PortfolioVenue,
    PositionBody,
    PositionsBody,
    PositionsQuery,
    SourceBody,
)

HOUR_S: Final = 3_600.0

CLOSED_MAX: Final = 500
"""Resolved positions that one answer lists, newest first."""


def _open(world: World, agent: Agent) -> list[PositionBody]:
    """Positions with shares, largest value first."""
    held = [position_body(world, agent, position.market_id) for position in agent.held()]
    return sorted(held, key=lambda body: -body.current_value)


def _select(asked: Asked, query: PositionsQuery) -> list[PositionBody]:
    """Positions of the wanted status."""
    world, agent = asked.world, asked.agent
    found: list[PositionBody] = []
    if query.venue not in {None, "all", Venue.SIM}:
        return found
    if query.status in {"active", "all"}:
        found += _open(world, agent)
    if query.status in {"resolved", "closed", "settled", "all"}:
        found += [closed_body(closed) for closed in reversed(agent.closed[-CLOSED_MAX:])]
    if query.source:
        found = [body for body in found if any(query.source in tag for tag in body.sources)]
    return found


def pnl_of(world: World, agent: Agent) -> PnlBody:
    """P&L of the agent on sim."""
    floating = unrealized(world, agent)
    return PnlBody(
        realized=decimal(agent.realized),
        unrealized=decimal(floating),
        total=decimal(Micros(agent.realized + floating)),
    )


async def positions(asked: Asked) -> PositionsBody:
    """What the agent holds."""
    world, agent = asked.world, asked.agent
    found = _select(asked, asked.query_as(PositionsQuery))
    pnl = pnl_of(world, agent)
    return PositionsBody(
        agent_id=agent.agent_id,
        agent_name=agent.settings.name,
        sim_balance=decimal(world.cash(agent)),
        positions=tuple(found),
        total_value=sum(body.current_value for body in found if body.outcome is None),
        total_pnl=pnl.total,
        sim_pnl=pnl.total,
        pnl_summary=PnlSummary(sim=pnl, combined=pnl),
    )


def _by_source(world: World, agent: Agent) -> dict[str, SourceBody]:
    """Exposure by the source tags of the buys; a market with two tags counts for both."""
    sums: dict[str, list[Micros]] = {}
    for market_id, position in agent.positions.items():
        value = position.mark_value(world.markets[market_id].price())
        for tag in agent.sources.get(market_id, ()):
            sums.setdefault(tag, []).append(value)
    return {
        tag: SourceBody(positions=len(values), exposure=decimal(Micros(sum(values))))
        for tag, values in sums.items()
    }


async def portfolio(asked: Asked) -> PortfolioBody:
    """Cash, exposure and P&L, by venue and in sum."""
    world, agent = asked.world, asked.agent
    held = _open(world, agent) if asked.query_as(PortfolioQuery).venue in {"all", "sim"} else []
    values = sorted((body.current_value for body in held), reverse=True)
    exposure = sum(values)
    total = decimal(agent_pnl(world, agent))
    cash = decimal(world.cash(agent))
    return PortfolioBody(
        sim=PortfolioVenue(
            balance=cash, pnl=total, positions_count=len(held), total_exposure=exposure
        ),
        total=PortfolioTotal(positions_count=len(held), total_exposure=exposure),
        sim_balance=cash,
        sim_pnl=total,
        total_exposure=exposure,
        # The flat count means positions on the EVM venue. Source: wire reference, 3.6.
        positions_count=0,
        pnl_24h=decimal(Micros(world.equity(agent) - agent.day_equity)),
        pnl_total=total,
        concentration=Concentration(
            top_market_pct=values[0] / exposure if exposure else 0.0,
            top_3_markets_pct=min(1.0, sum(values[:3]) / exposure) if exposure else 0.0,
        ),
        by_source=_by_source(world, agent),
        warnings=tuple(
            f"{body.question} is closed and awaits its outcome"
            for body in held
            if body.status == MarketStatus.CLOSED.value
        ),
    )


async def expiring(asked: Asked) -> ExpiringsBody:
    """Positions whose markets resolve within so many hours of the tape, soonest first."""
    hours = asked.query_as(ExpiringQuery).hours
    now = moment(asked.world.world_at)
    rows: list[ExpiringBody] = []
    for body in _select(asked, PositionsQuery()):
        left_s = (body.resolves_at - now).total_seconds() if body.resolves_at else None
        if left_s is not None and left_s <= hours * HOUR_S:
            left_s = max(0.0, left_s)
            # Not `model_dump`: it would take the parts of a row apart as well.
            row = ExpiringBody.model_construct(
                **dict(body),
                hours_to_resolution=round(left_s / HOUR_S, 4),
                time_to_resolution=time_left(left_s),
            )
            rows.append(row)
    rows.sort(key=lambda row: row.hours_to_resolution)
    return ExpiringsBody(
        agent_id=asked.agent.agent_id, positions=tuple(rows), count=len(rows), hours=hours
    )


ROUTES: Final[Routes] = {POSITIONS: positions, PORTFOLIO: portfolio, EXPIRING: expiring}
