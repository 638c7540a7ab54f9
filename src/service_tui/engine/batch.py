"""Several orders at once: all of them, or none."""

import copy
from collections.abc import Sequence
from typing import TypeVar

from service_tui.engine.amm.exchange import Exchange, Order
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.errors import Refusal, SlippageBeyond
from service_tui.engine.events import Fill
from service_tui.engine.world import World
from service_tui.units import Timestamp

Copied = TypeVar("Copied")


class LegRefused(Exception):
    """One order of a batch cannot be carried out, so that none is; `leg` counts from 0."""

    def __init__(self, leg: int, refusal: Refusal) -> None:
        super().__init__(refusal.error)
        self.leg = leg
        self.refusal = refusal


def slippage_of(fill: Fill, price_first: float) -> float:
    """Average price of a fill less the price before the batch, probability points."""
    return fill.money / fill.shares - price_first


def check_slippage(slipped: float, slippage_max: float | None) -> None:
    """Refuse a fill that slips further than the request allows; None allows any.

    Raises:
        SlippageBeyond: it would; the text has the excess.
    """
    if slippage_max is not None and not slipped <= slippage_max:
        raise SlippageBeyond(f"the fill would slip {slipped:.4f}, above {slippage_max}")


def place_all(
    world: World, orders: Sequence[Order], at: Timestamp, *, slippage_max: float | None
) -> list[Fill]:
    """Carry out every order of one agent, or none.

    Args:
        world: where they trade; on `sim` only.
        orders: in the order in which they are carried out; each meets what the ones before left.
        at: wall time.
        slippage_max: how far each fill may lie above the price before the batch; None is as far
            as it may.

    Returns:
        The fills, already applied.

    Raises:
        LegRefused: the first order that is refused or slips too far; nothing changed.
    """
    fills = _rehearsed(world, orders, at, slippage_max)
    for fill in fills:
        world.apply(fill)
    return fills


def _rehearsed(
    world: World, orders: Sequence[Order], at: Timestamp, slippage_max: float | None
) -> list[Fill]:
    """The fills that the orders would be, tried on a copy of what they touch."""
    stage = _copied(world, orders)
    fills: list[Fill] = []
    for leg, order in enumerate(orders):
        own = order._replace(agent=stage.agents[order.agent.agent_id])
        try:
            fill = stage.check(own, f"t{world.trade_count + leg + 1}", (at, world.world_at))
            slipped = slippage_of(fill, world.markets[order.market_id].price_of(order.side))
            check_slippage(slipped, slippage_max)
        except Refusal as refusal:
            raise LegRefused(leg, refusal) from refusal
        stage.apply(fill)
        fills.append(fill)
    return fills


def _copied(world: World, orders: Sequence[Order]) -> Exchange:
    """An exchange of its own with the markets and agents of the orders, and their money."""
    stage = copy.copy(world.exchange)
    stage.markets = {
        market_id: _but(market, market.listing, market.samples, market.recent, *market.tape)
        for market_id in {order.market_id for order in orders}
        if (market := world.markets.get(market_id)) is not None
    }
    agents = {order.agent.agent_id: order.agent for order in orders}
    stage.agents = {
        agent_id: _but(agent, agent.closed, agent.settings) for agent_id, agent in agents.items()
    }
    stage.ledger = Ledger(world.ledger.balances())
    return stage


def _but(whole: Copied, *shared: object) -> Copied:
    """A deep copy that shares what is large and what no fill changes."""
    return copy.deepcopy(whole, {id(part): part for part in shared})
