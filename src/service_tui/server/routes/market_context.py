"""The context of one market: one answer with what to know before a trade."""

from typing import Final

from service_tui.engine.market import Market
from service_tui.engine.orders import VenueOrder
from service_tui.engine.venues import REAL
from service_tui.server.agent_past import FILLS, AgentFill, in_one_form
from service_tui.server.market_context import (
    discipline_part,
    edge_part,
    market_part,
    position_part,
    recent_part,
    slippage_part,
)
from service_tui.server.present import position_body
from service_tui.server.present_venues import venue_positions
from service_tui.server.routes.positions import UNSETTLED
from service_tui.server.service import Asked, Routes
from service_tui.storage.journal import History
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import Micros
from service_tui.wire.endpoints import MARKET_CONTEXT
from service_tui.wire.market_context import (
    ContextPositionBody,
    ContextPositions,
    DisciplineBody,
    MarketContextBody,
    MarketContextQuery,
)

RECENT: Final = 10
LOOKED_AT: Final = 200
"""Trades shown, and trades in which changes of direction are looked for."""

SOON_S: Final = 3_600.0
EDGE_PRICE: Final = 0.03
"""Prices nearer to 0 or 1 than this are worth a warning."""

NOTHING: Final = ContextPositionBody(has_position=False)


async def market_context(asked: Asked) -> MarketContextBody:
    """One market as the calling agent should see it."""
    query = asked.query_as(MarketContextQuery)
    keeper = asked.service.keeper
    market = await keeper.past.market(asked.path["market_id"])
    wanted = History(asked.agent.agent_id, FILLS, market.market_id)
    past, _ = await keeper.history(wanted, limit=LOOKED_AT, offset=0)
    # The world may have moved while the journal was read: everything else is of one moment.
    world, agent = asked.world, asked.agent
    market = world.markets.get(market.market_id, market)
    fills = [one for one in in_one_form(past[::-1]) if isinstance(one, AgentFill)][::-1]
    held = _held(asked, market)
    wanted_venue = query.venue if query.venue != "all" else None
    chosen = [wanted_venue] if wanted_venue else list(Venue)
    shown = next((part for venue in chosen if (part := held[venue]) is not None), None)
    discipline = discipline_part(fills, asked.now)
    edge = edge_part(market, world.world_at, probability=query.my_probability, held=shown)
    order = VenueOrder(
        agent=agent,
        market_id=market.market_id,
        side=edge.recommended_side or (shown.side if shown else None) or Side.YES,
        action=Action.BUY,
        size=Micros(0),
        venue=wanted_venue or Venue.SIM,
    )
    return MarketContextBody(
        market=market_part(world, market),
        position=shown or NOTHING,
        positions=ContextPositions(
            sim=held[Venue.SIM] if Venue.SIM in chosen else None,
            polymarket=held[Venue.EVM] if Venue.EVM in chosen else None,
            kalshi=held[Venue.SOL] if Venue.SOL in chosen else None,
        ),
        discipline=discipline,
        recent_trades=recent_part(fills[:RECENT]),
        slippage=slippage_part(world, market, order, asked.now),
        edge=edge,
        warnings=_warnings(asked, market, discipline),
    )


def _held(asked: Asked, market: Market) -> dict[Venue, ContextPositionBody | None]:
    """What the agent holds in the market, by venue."""
    world, agent = asked.world, asked.agent
    market_id = market.market_id
    on_sim = position_body(world, agent, market_id) if market_id in agent.positions else None
    found: dict[Venue, ContextPositionBody | None] = {Venue.SIM: position_part(on_sim, asked.now)}
    for venue in REAL:
        rows = venue_positions(world, agent, venue, UNSETTLED)
        row = next((one for one in rows if one.market_id == market_id), None)
        found[venue] = position_part(row, asked.now)
    return found


def _warnings(asked: Asked, market: Market, discipline: DisciplineBody) -> tuple[str, ...]:
    """What speaks against a trade now."""
    world_at = asked.world.world_at
    status = market.status(world_at)
    left_s = market.listing.resolves_at - world_at
    price = market.price()
    said = {
        "the market is closed and awaits its outcome": status is MarketStatus.CLOSED,
        "the market is resolved": status is MarketStatus.RESOLVED,
        "the market resolves within the hour": status is MarketStatus.ACTIVE and left_s < SOON_S,
        "the price is almost certain": not EDGE_PRICE <= price <= 1 - EDGE_PRICE,
        "trading is halted by the operator: entries are blocked": (
            asked.world.halt.since is not None
        ),
        "trading is paused: entries are blocked": asked.agent.settings.is_paused,
        discipline.flip_flop_warning or "": discipline.flip_flop_warning is not None,
    }
    return tuple(text for text, applies in said.items() if applies)


ROUTES: Final[Routes] = {MARKET_CONTEXT: market_context}
