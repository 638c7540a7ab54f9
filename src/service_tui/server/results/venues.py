"""The agent's past on the real venues: one row for each order, with its later results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import Fill, OrderEnded, OrderPlaced, PositionRedeemed
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.server.ends import ended_fields
from service_tui.server.past.history import Paid, Past, SettledSide, trade_row
from service_tui.server.world_store import WorldStore
from service_tui.storage.ended_markets import EndedHead
from service_tui.storage.journal import History
from service_tui.terms import Action, OrderEnd, TradeStatus, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.trades import TradeRow

PAGE: Final = 500
"""Rows read at one time while looking for those of one venue."""


VenuePast = OrderPlaced | PositionRedeemed | SettledSide
"""What makes up an agent's history on a real venue."""


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What an order got so far, or in all, and its state."""

    status: TradeStatus
    shares: Micros
    money: Micros
    realized: Micros


async def venue_past(world_store: WorldStore, criteria: History, venue: Venue) -> list[VenuePast]:
    """Orders, redemptions and lost sides of an agent on one venue, newest first."""
    found: list[VenuePast] = []
    offset = 0
    past: Sequence[Past]
    while True:
        # ours: the journal knows no venues; an agent's own rows are few enough to look through.
        past, total = await world_store.history(criteria, limit=PAGE, offset=offset)
        found += [one for one in past if isinstance(one, VenuePast) and one.venue is venue]
        offset += len(past)
        if offset >= total or not past:
            return found


async def rows_of(
    world_store: WorldStore, whose: Agent | int, past: Sequence[Past]
) -> tuple[TradeRow, ...]:
    """Rows of a history, with the fate of each order.

    Args:
        world_store: the world.
        whose: the agent; of all agents the first row of the journal from which the history is.
        past: the history.

    Returns:
        The rows in its order.
    """
    orders = world_store.world.venues.orders(None if isinstance(whose, int) else whose.agent_id)
    resting = {order.order_id: order for order in orders}
    gone = {
        one.order_id: one.at
        for one in past
        if isinstance(one, OrderPlaced) and one.rests and one.order_id not in resting
    }
    ends = await _ends_of(world_store, whose, gone)
    over = await world_store.past.heads({
        one.market_id for one in past if not isinstance(one, WalletLinked)
    })
    # The journal has been read: the world may be another by now.
    world = world_store.world
    rows: list[TradeRow] = []
    for one in past:
        if isinstance(one, OrderPlaced):
            order = resting.get(one.order_id)
            if order is not None:
                status = TradeStatus.PARTIALLY_FILLED if order.shares else TradeStatus.SUBMITTED
                result = OrderResult(status, order.shares, order.money, order.realized)
            else:
                result = _ended(one, ends.get(one.order_id))
            rows.append(_order_row(one, result, world, over.get(one.market_id)))
        elif isinstance(one, PositionRedeemed):
            rows.append(_redeemed_row(one, world, over.get(one.market_id)))
        elif isinstance(one, SettledSide):
            rows.append(_lost_row(one, world, over.get(one.market_id)))
        elif isinstance(one, Fill | Paid):
            rows.append(trade_row(one, world, over))
    return tuple(rows)


async def _ends_of(
    world_store: WorldStore, whose: Agent | int, gone: Mapping[str, Timestamp]
) -> Mapping[str, OrderEnded]:
    """The ends of orders that no longer rest, given the times at which they were placed."""
    if not gone:
        return {}
    if isinstance(whose, int):
        return await world_store.ends_after(whose, gone.keys())
    return await world_store.ends(whose.agent_id, gone.keys(), min(gone.values()))


def _ended(placed: OrderPlaced, end: OrderEnded | None) -> OrderResult:
    """The fate of an order of which nothing rests."""
    if end is None:
        return OrderResult(TradeStatus.FILLED, placed.shares, placed.money, placed.realized)
    if end.reason is OrderEnd.FILLED:
        status = TradeStatus.FILLED
    else:
        status = TradeStatus.PARTIALLY_FILLED if end.shares else TradeStatus.CANCELLED
    return OrderResult(status, end.shares, end.money, end.realized)


def _order_row(
    placed: OrderPlaced, result: OrderResult, world: World, over: EndedHead | None
) -> TradeRow:
    sold = placed.action is Action.SELL and result.shares > 0
    return TradeRow(
        id=placed.order_id,
        trade_id=placed.order_id,
        market_id=placed.market_id,
        market_question=over.question if over else question_of(world, placed.market_id),
        side=placed.side,
        action=placed.action.value,
        shares=decimal(result.shares),
        cost=decimal(result.money),
        price_before=placed.price_before,
        price_after=placed.price_after,
        avg_price=min(1.0, result.money / result.shares) if result.shares else None,
        venue=placed.venue,
        status=result.status,
        source=placed.note.source or None,
        skill_slug=placed.note.skill_slug or None,
        reasoning=placed.note.reasoning or None,
        signal_data=placed.note.signal_data,
        created_at=moment(placed.at),
        pnl=decimal(result.realized) if sold else None,
        **ended_fields(Outcome.of(over.outcome) if over else _outcome_of(world, placed.market_id)),
        resolved=over is not None,
        market_source=placed.venue,
        fee=decimal(placed.fee),
        simulated=True,
    )


def _redeemed_row(redeemed: PositionRedeemed, world: World, over: EndedHead | None) -> TradeRow:
    trade_id = f"{redeemed.market_id}-{redeemed.side.value}{_of(redeemed.wallet)}-redeemed"
    return TradeRow(
        id=trade_id,
        trade_id=trade_id,
        market_id=redeemed.market_id,
        market_question=over.question if over else question_of(world, redeemed.market_id),
        side=redeemed.side,
        action="redeem",
        shares=decimal(redeemed.shares),
        cost=decimal(redeemed.payout),
        avg_price=min(1.0, redeemed.payout / redeemed.shares) if redeemed.payout else 1.0,
        venue=redeemed.venue,
        created_at=moment(redeemed.at),
        # A side that pays nothing was lost when the outcome was confirmed, in a row of its own.
        pnl=decimal(Micros(redeemed.payout - redeemed.cost)) if redeemed.payout else 0.0,
        **ended_fields(
            Outcome.of(over.outcome) if over else _outcome_of(world, redeemed.market_id)
        ),
        resolved=True,
        market_source=redeemed.venue,
        simulated=True,
    )


def _of(wallet: str | None) -> str:
    """What distinguishes rows of one side that several wallets of an agent had."""
    return f"-{wallet}" if wallet else ""


def _lost_row(lost: SettledSide, world: World, over: EndedHead | None) -> TradeRow:
    """A side that pays nothing and needs no redemption."""
    side, payout = lost.payout.side, lost.payout
    trade_id = f"{lost.market_id}-{side.value}-{lost.venue.value}{_of(payout.wallet)}-lost"
    return TradeRow(
        id=trade_id,
        trade_id=trade_id,
        market_id=lost.market_id,
        market_question=over.question if over else question_of(world, lost.market_id),
        side=side,
        action="redeem",
        shares=decimal(payout.shares),
        cost=0.0,
        avg_price=0.0,
        venue=lost.venue,
        created_at=moment(lost.at),
        pnl=decimal(Micros(-payout.cost)),
        **ended_fields(lost.outcome),
        resolved=True,
        market_source=lost.venue,
        simulated=True,
    )


def question_of(world: World, market_id: str) -> str:
    """The question of a market, also where only a position on a venue has it."""
    return world.question_of(market_id) or next(
        (holding.question for holding in world.venues.holdings_in(market_id)),
        "",
    )


def _outcome_of(world: World, market_id: str) -> Outcome | None:
    market = world.markets.get(market_id)
    if market is not None:
        return market.outcome
    return next((holding.outcome for holding in world.venues.holdings_in(market_id)), None)
