"""What an agent should know of a market before it trades: figures, worked out from engine values.

Knows markets, positions and fills. Must not know where fills are kept, or HTTP.
Used by the route of contexts.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from service_tui.engine.catalogue import event_of, outside_price, url_of
from service_tui.engine.errors import Refusal
from service_tui.engine.events import Fill
from service_tui.engine.market import Market
from service_tui.engine.position import Position
from service_tui.server.present import time_left
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.market_context import (
    ContextMarketBody,
    ContextPositionBody,
    DisciplineBody,
    EdgeBody,
    EstimateBody,
    RecentTradeBody,
    SlippageBody,
)

HOUR_S: Final = 3_600.0
DAY_S: Final = 86_400.0

AMOUNTS: Final = (10, 25, 50, 100, 250, 500)
# ours: sizes of the estimates; the last is the most that one buy on sim may cost.

BASE_THRESHOLD: Final = 0.05
TIME_FACTORS: Final = ((7 * DAY_S, 1.0), (30 * DAY_S, 1.5), (float("inf"), 2.0))
# ours: money that is bound for longer wants more edge; up to a week nothing is added.

SEVERE_FROM: Final = 3
# ours: changes of direction in a day: from the first a mild warning, from the third a severe one.


def market_part(market: Market, world_at: Timestamp) -> ContextMarketBody:
    """The market with its past prices and what its own venue says."""
    listing = market.listing
    price = round(market.price(), 6)
    outside = outside_price(listing, world_at) if market.resolved_at is None else None
    event = event_of(listing)
    return ContextMarketBody(
        id=market.market_id,
        question=listing.question,
        current_price=price,
        current_probability=price,
        status=market.status(world_at),
        price_1h_ago=round(market.price_ago(world_at, HOUR_S), 6),
        price_24h_ago=round(market.price_ago(world_at, DAY_S), 6),
        volume_24h=decimal(market.volume_24h(world_at)),
        resolves_at=moment(listing.resolves_at),
        resolved_at=moment(market.resolved_at) if market.resolved_at is not None else None,
        outcome=market.outcome,
        time_to_resolution=time_left(listing.resolves_at - world_at),
        resolution_criteria=listing.criteria,
        external_price=outside,
        external_price_yes=outside,
        divergence=None if outside is None else round(outside - price, 6),
        import_source=listing.home.value,
        url=url_of(listing),
        event_id=event.event_id if event else None,
        event_name=event.name if event else None,
        tags=listing.tags,
        fee_note="no fee on sim",
    )


def position_part(
    position: Position | None, market: Market, now: Timestamp
) -> ContextPositionBody | None:
    """What is held on sim, the side that is worth more; None where nothing is held."""
    if position is None:
        return None
    sides = [side for side in Side if position.shares(side)]
    if not sides:
        return None

    def worth(side: Side) -> Micros:
        return position.on(side).mark_value(market.price_of(side))

    side = max(sides, key=worth)
    held = position.on(side)
    pnl = worth(side) - held.cost
    return ContextPositionBody(
        has_position=True,
        side=side,
        shares=decimal(held.shares),
        avg_cost_basis=held.cost / held.shares,
        current_value=decimal(worth(side)),
        unrealized_pnl=decimal(Micros(pnl)),
        pnl_pct=round(pnl / held.cost, 6) if held.cost else 0.0,
        position_age_hours=round(max(0.0, now - held.opened_at) / HOUR_S, 4),
    )


def rises(fill: Fill) -> bool:
    """Whether a trade bets on YES: a buy of YES or a sale of NO."""
    return (fill.action is Action.BUY) is (fill.side is Side.YES)


def discipline_part(fills: Sequence[Fill], now: Timestamp) -> DisciplineBody:
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


def recent_part(fills: Sequence[Fill]) -> tuple[RecentTradeBody, ...]:
    """The agent's last trades here, newest first."""
    return tuple(
        RecentTradeBody(
            action=_action(fill),
            shares=decimal(fill.shares),
            price=min(1.0, fill.money / fill.shares),
            timestamp=moment(fill.at),
            reasoning=fill.note.reasoning or None,
        )
        for fill in fills
    )


def _action(fill: Fill) -> str:
    return f"{fill.action.value}_{fill.side.value}"


def slippage_part(market: Market, side: Side, world_at: Timestamp) -> SlippageBody:
    """What buys of several sizes would get from the market maker now."""
    estimates: list[EstimateBody] = []
    for amount in AMOUNTS if market.status(world_at) is MarketStatus.ACTIVE else ():
        try:
            quote = market.quote_buy(side, Micros(amount * ONE))
        except Refusal:
            break
        average = min(1.0, quote.money / quote.shares)
        estimates.append(
            EstimateBody(
                amount_usd=float(amount),
                shares=decimal(quote.shares),
                avg_price=average,
                slippage_pct=round(average / quote.price_before - 1.0, 6),
            )
        )
    return SlippageBody(venue=Venue.SIM, side=side, estimates=tuple(estimates))


def edge_part(
    market: Market,
    world_at: Timestamp,
    *,
    probability: float | None,
    held: ContextPositionBody | None,
) -> EdgeBody:
    """What the asker's own chance of YES says against the price."""
    left_s = market.listing.resolves_at - world_at
    factor = next(factor for until, factor in TIME_FACTORS if left_s <= until)
    threshold = round(BASE_THRESHOLD * factor, 6)
    if probability is None:
        return EdgeBody(suggested_threshold=threshold, time_factor=factor)
    edge = probability - market.price()
    side = Side.YES if edge > 0 else Side.NO
    is_open = market.status(world_at) is MarketStatus.ACTIVE
    if is_open and abs(edge) >= threshold:
        said = "TRADE"
    else:
        # ours: with too little edge, who holds the side keeps it, and everybody else passes.
        said = "HOLD" if held is not None and held.side is side else "SKIP"
    return EdgeBody(
        suggested_threshold=threshold,
        base_threshold=BASE_THRESHOLD,
        time_factor=factor,
        user_probability=probability,
        user_edge=round(edge, 6),
        recommended_side=side,
        recommendation=said,
    )
