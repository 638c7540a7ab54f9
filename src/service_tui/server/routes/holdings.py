"""Route of all agents' positions, with their stops and open orders."""

from collections.abc import Iterator
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import event_of
from service_tui.engine.books.venues import REAL
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.world import World
from service_tui.server.ends import announced
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import side_body
from service_tui.server.projections.venues import order_body, venue_side_body
from service_tui.server.results.venues import question_of
from service_tui.server.routes.positions import UNSETTLED
from service_tui.terms import Side, Venue
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import DESK_HOLDINGS
from service_tui.wire.holdings import AgentOrderBody, HoldingBody, HoldingsBody
from service_tui.wire.positions import PositionSideBody


async def list_holdings(request: RequestContext) -> HoldingsBody:
    """Everything that is held, watched and ordered, of one moment."""
    world = request.world
    agents = tuple(world.agents.values())
    return HoldingsBody(
        holdings=tuple(
            _holding(world, agent, held) for agent in agents for held in _sides(world, agent)
        ),
        orders=tuple(row for agent in agents for row in _ordered(world, agent)),
        world_at=moment(world.world_at),
    )


def _sides(world: World, agent: Agent) -> Iterator[tuple[str, Venue, PositionSideBody]]:
    """Market, venue and figures of each side with shares, in the order of the first buys."""
    for position in agent.open_positions():
        market = world.markets[position.market_id]
        yield from (
            (position.market_id, Venue.SIM, side_body(position, market, side))
            for side in Side
            if position.shares(side)
        )
    for venue in REAL:
        for holding in world.venues.account(agent.agent_id, venue).holdings.values():
            position = holding.position
            if holding.state in UNSETTLED:
                yield from (
                    (position.market_id, venue, venue_side_body(world, agent, holding, side))
                    for side in Side
                    if position.shares(side)
                )


def _holding(world: World, agent: Agent, held: tuple[str, Venue, PositionSideBody]) -> HoldingBody:
    market_id, venue, side = held
    market = world.markets.get(market_id)
    listing = None if market is None else market.listing
    event = None if listing is None else event_of(listing)
    together = side.exit_together
    watched = MonitoredSide(agent.agent_id, venue, market_id, Side(side.side))
    floor, target = _bounds(world.risk.monitors.get(watched))
    # Not validated once more: each value was when the service took it, and there are thousands.
    return HoldingBody.model_construct(
        agent_id=agent.agent_id,
        agent_name=agent.settings.name,
        market_id=market_id,
        question=question_of(world, market_id),
        category="" if listing is None else listing.category.value,
        event_id="" if event is None else event.event_id,
        event="" if event is None else event.name,
        venue=venue,
        side=watched.side,
        shares=side.shares,
        cost_basis=side.cost_basis,
        mark_price=side.mark_price,
        mark_value=side.current_value,
        exit_value=side.exit_value if together is None else together,
        resolves_at=None if listing is None else announced(listing),
        stop_price=floor,
        target_price=target,
    )


def _bounds(monitor: Monitor | None) -> tuple[float | None, float | None]:
    """The price at or below which a side is sold, and the one at or above which it is."""
    if monitor is None:
        return None, None
    floors = (one for one in (monitor.stop_price(), monitor.trail_price()) if one is not None)
    return max(floors, default=None), monitor.target_price()


def _ordered(world: World, agent: Agent) -> Iterator[AgentOrderBody]:
    for order in world.venues.orders(agent.agent_id):
        yield AgentOrderBody.model_construct(
            **dict(order_body(world, order)),
            agent_id=agent.agent_id,
            agent_name=agent.settings.name,
        )


ROUTES: Final[Routes] = {DESK_HOLDINGS: list_holdings}
