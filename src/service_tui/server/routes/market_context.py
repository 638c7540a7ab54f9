"""One answer for a decision on a market: prices, position, costs, edge and warnings."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from service_tui.engine.amm.market import Market, Quote
from service_tui.engine.books import orders
from service_tui.engine.books.orders import VenueOrder
from service_tui.engine.books.venues import REAL
from service_tui.engine.errors import Refusal
from service_tui.engine.world import World
from service_tui.server.ends import announced, ended_fields
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.past.agent_past import FILLS, AgentFill, in_one_form
from service_tui.server.projections.present import (
    left_of,
    market_body,
    position_body,
)
from service_tui.server.projections.venues import top_of, venue_positions, with_book
from service_tui.server.routes.positions import UNSETTLED
from service_tui.storage.journal import History
from service_tui.terms import Action, MarketStatus, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal
from service_tui.wire.base import moment, timestamp
from service_tui.wire.endpoints.public import MARKET_CONTEXT
from service_tui.wire.market_context import (
    ContextMarketBody,
    ContextPositionBody,
    ContextPositions,
    DisciplineBody,
    EdgeBody,
    EstimateBody,
    MarketContextBody,
    MarketContextQuery,
    RecentTradeBody,
    SlippageBody,
)
from service_tui.wire.positions import PositionBody

HOUR_S: Final = 3_600.0
DAY_S: Final = 86_400.0

AMOUNTS: Final = (10, 25, 50, 100, 250, 500)
# ours: sizes of the estimates; the last is the most that one buy on sim may cost.

BASE_THRESHOLD: Final = 0.05
TIME_FACTORS: Final = ((7 * DAY_S, 1.0), (30 * DAY_S, 1.5), (float("inf"), 2.0))
# ours: money that is bound for longer wants more edge; up to a week nothing is added.

SEVERE_FROM: Final = 3
# ours: changes of direction in a day: from the first a mild warning, from the third a severe one.


def market_part(world: World, market: Market) -> ContextMarketBody:
    """The market with its past prices and those of its own venue."""
    listing = market.listing
    world_at = world.world_at
    shown = with_book(world, market, market_body(market, world_at, sparkline=False, criteria=True))
    fee = f"takers pay {shown.fee_rate_bps} bps x p x (1 - p) a share on {listing.home.value}"
    return ContextMarketBody(
        id=shown.id,
        question=shown.question,
        current_price=shown.current_probability,
        current_probability=shown.current_probability,
        status=shown.status,
        price_1h_ago=round(market.price_ago(world_at, HOUR_S), 6),
        price_24h_ago=round(market.price_ago(world_at, DAY_S), 6),
        volume_24h=decimal(market.volume_24h(world_at)),
        resolves_at=announced(listing),
        resolved_at=shown.resolved_at,
        **ended_fields(market.outcome),
        time_to_resolution=left_of(listing, world_at),
        resolution_criteria=listing.criteria,
        external_price=shown.external_price_yes,
        external_price_yes=shown.external_price_yes,
        divergence=shown.divergence,
        import_source=listing.home.value,
        url=shown.url,
        event_id=shown.event_id,
        event_name=shown.event_name,
        tags=shown.tags,
        fee_rate_bps=shown.fee_rate_bps,
        fee_note=f"{fee}; none on sim" if shown.fee_rate_bps else "no fee",
        spread=shown.spread or 0.0,
        spread_cents=shown.spread_cents or 0.0,
    )


def position_part(held: PositionBody | None, now: Timestamp) -> ContextPositionBody | None:
    """What is held on one venue, the side that is worth more; None where nothing is held."""
    if held is None or not held.sides:
        return None
    side = max(held.sides, key=lambda one: one.current_value)
    pnl = side.current_value - side.cost_basis
    return ContextPositionBody(
        has_position=True,
        side=Side(side.side),
        shares=side.shares,
        avg_cost_basis=side.cost_basis / side.shares,
        current_value=side.current_value,
        unrealized_pnl=round(pnl, 6),
        pnl_pct=round(pnl / side.cost_basis, 6) if side.cost_basis else 0.0,
        position_age_hours=round(max(0.0, now - timestamp(side.opened_at)) / HOUR_S, 4),
    )


def rises(fill: AgentFill) -> bool:
    """Whether a trade bets on YES: a buy of YES or a sale of NO."""
    return (fill.action is Action.BUY) is (fill.side is Side.YES)


def discipline_part(fills: Sequence[AgentFill], now: Timestamp) -> DisciplineBody:
    """How often the agent turned round in the last day; fills are given newest first."""
    recent = [rises(fill) for fill in fills if fill.at > now - DAY_S]
    changes = sum(one != other for one, other in pairwise(recent))
    last = fills[0] if fills else None
    level = "severe" if changes >= SEVERE_FROM else "mild" if changes else "none"
    times = "once" if changes == 1 else f"{changes} times"
    return DisciplineBody(
        last_action=_action(last) if last else None,
        last_action_at=moment(last.at) if last else None,
        direction_changes_24h=changes,
        flip_flop_warning=f"changed direction {times} in 24 hours here" if changes else None,
        warning_level=level,
    )


def recent_part(fills: Sequence[AgentFill]) -> tuple[RecentTradeBody, ...]:
    """The agent's last trades here, newest first."""
    return tuple(
        RecentTradeBody(
            action=_action(fill),
            shares=decimal(fill.shares),
            price=fill.price,
            timestamp=moment(fill.at),
            reasoning=fill.reasoning or None,
        )
        for fill in fills
    )


def _action(fill: AgentFill) -> str:
    return f"{fill.action.value}_{fill.side.value}"


def slippage_part(world: World, market: Market, order: VenueOrder, now: Timestamp) -> SlippageBody:
    """What buys of several sizes would get now, each like `order` but for its size."""
    is_open = market.status(world.world_at) is MarketStatus.ACTIVE
    found = [_estimate(world, order, amount, now) for amount in AMOUNTS] if is_open else []
    spread = 0.0
    if is_open and order.venue is not Venue.SIM and order.venue is market.listing.home:
        top = top_of(world.venues.book(order.market_id), (now, world.world_at))
        spread = top.spread or 0.0
    return SlippageBody(
        venue=order.venue,
        side=order.side,
        spread_pct=round(spread, 6),
        estimates=tuple(one for one in found if one is not None),
    )


def _estimate(world: World, order: VenueOrder, amount: int, now: Timestamp) -> EstimateBody | None:
    """What one buy would get; None where the venue refuses it, or cannot fill it whole."""
    try:
        got = _quoted(world, order._replace(size=Micros(amount * ONE)), now)
    except Refusal:
        return None
    average = min(1.0, got.money / got.shares)
    return EstimateBody(
        amount_usd=float(amount),
        shares=decimal(got.shares),
        avg_price=average,
        slippage_pct=round(average / got.price_before - 1.0, 6),
    )


def _quoted(world: World, order: VenueOrder, now: Timestamp) -> Quote:
    """The quote of either kind of venue in one form."""
    if order.venue is Venue.SIM:
        return world.market(order.market_id).quote_buy(order.side, order.size)
    order = order._replace(order_type=OrderType.FOK)
    quoted = orders.quote(world.venues, order, (now, world.world_at))
    walked = quoted.walked
    return Quote(walked.shares, walked.money, quoted.price_before, quoted.price_after)


def edge_part(
    market: Market,
    world_at: Timestamp,
    *,
    probability: float | None,
    held: ContextPositionBody | None,
) -> EdgeBody:
    """The edge of the caller's own probability of YES over the price."""
    left_s = market.listing.resolves_at - world_at
    factor = next(factor for until, factor in TIME_FACTORS if left_s <= until)
    threshold = round(BASE_THRESHOLD * factor, 6)
    if probability is None:
        return EdgeBody(suggested_threshold=threshold, time_factor=factor)
    edge = probability - market.price()
    side = Side.YES if edge > 0 else Side.NO
    is_open = market.status(world_at) is MarketStatus.ACTIVE
    if is_open and abs(edge) >= threshold:
        recommendation = "TRADE"
    else:
        # ours: with too little edge, who holds the side keeps it, and everybody else passes.
        recommendation = "HOLD" if held is not None and held.side is side else "SKIP"
    return EdgeBody(
        suggested_threshold=threshold,
        base_threshold=BASE_THRESHOLD,
        time_factor=factor,
        user_probability=probability,
        user_edge=round(edge, 6),
        recommended_side=side,
        recommendation=recommendation,
    )


RECENT: Final = 10
LOOKED_AT: Final = 200
"""Trades shown, and trades in which changes of direction are looked for."""

SOON_S: Final = 3_600.0
EDGE_PRICE: Final = 0.03
"""Prices nearer to 0 or 1 than this are worth a warning."""

NOTHING: Final = ContextPositionBody(has_position=False)


async def market_context(request: RequestContext) -> MarketContextBody:
    """One market as the calling agent should see it."""
    query = request.query_as(MarketContextQuery)
    world_store = request.service.world_store
    market = await world_store.past.market(request.path["market_id"])
    trades = History(request.agent.agent_id, FILLS, market.market_id)
    past, _ = await world_store.history(trades, limit=LOOKED_AT, offset=0)
    # The world may have moved while the journal was read: everything else is of one moment.
    world, agent = request.world, request.agent
    market = world.markets.get(market.market_id, market)
    fills = [one for one in in_one_form(past[::-1]) if isinstance(one, AgentFill)][::-1]
    held = _held(request, market)
    venue = query.venue if query.venue != "all" else None
    chosen = [venue] if venue else list(Venue)
    shown = next((part for venue in chosen if (part := held[venue]) is not None), None)
    discipline = discipline_part(fills, request.now)
    edge = edge_part(market, world.world_at, probability=query.my_probability, held=shown)
    order = VenueOrder(
        agent=agent,
        market_id=market.market_id,
        side=edge.recommended_side or (shown.side if shown else None) or Side.YES,
        action=Action.BUY,
        size=Micros(0),
        venue=venue or Venue.SIM,
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
        slippage=slippage_part(world, market, order, request.now),
        edge=edge,
        warnings=warnings_of(request, market, discipline),
    )


def _held(request: RequestContext, market: Market) -> dict[Venue, ContextPositionBody | None]:
    """What the agent holds in the market, by venue."""
    world, agent = request.world, request.agent
    market_id = market.market_id
    on_sim = position_body(world, agent, market_id) if market_id in agent.positions else None
    found: dict[Venue, ContextPositionBody | None] = {Venue.SIM: position_part(on_sim, request.now)}
    for venue in REAL:
        rows = venue_positions(world, agent, venue, UNSETTLED)
        row = next((one for one in rows if one.market_id == market_id), None)
        found[venue] = position_part(row, request.now)
    return found


def warnings_of(
    request: RequestContext, market: Market, discipline: DisciplineBody
) -> tuple[str, ...]:
    """What speaks against a trade now."""
    world_at = request.world.world_at
    status = market.status(world_at)
    left_s = market.listing.resolves_at - world_at
    price = market.price()
    warnings = {
        "the market is closed and awaits its outcome": status is MarketStatus.CLOSED,
        "the market is resolved": status is MarketStatus.RESOLVED,
        "the market resolves within the hour": status is MarketStatus.ACTIVE and left_s < SOON_S,
        "the price is almost certain": not EDGE_PRICE <= price <= 1 - EDGE_PRICE,
        "trading is halted by the operator: entries are blocked": (
            request.world.halt.since is not None
        ),
        "trading is paused: entries are blocked": request.agent.settings.is_paused,
        discipline.flip_flop_warning or "": discipline.flip_flop_warning is not None,
    }
    return tuple(text for text, applies in warnings.items() if applies)


ROUTES: Final[Routes] = {MARKET_CONTEXT: market_context}
