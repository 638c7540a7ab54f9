"""Translates the service's answer on all agents' positions into views."""

from service_tui.desk.slices.holdings import AgentOrderView, HoldingsView, LimitView
from service_tui.desk.trading.translate import open_order_view
from service_tui.desk.wire_values import amount
from service_tui.evaluation.exposure import AgentHolding
from service_tui.units import Probability, Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.holdings import HoldingBody, HoldingsBody
from service_tui.wire.limits import ExposureLimitsBody


def holdings_view(body: HoldingsBody, limits: ExposureLimitsBody, now: Timestamp) -> HoldingsView:
    """Everything that is held, as it was answered at this time."""
    return HoldingsView(
        holdings=tuple(holding(row) for row in body.holdings),
        orders=tuple(
            AgentOrderView(row.agent_id, row.agent_name, open_order_view(row))
            for row in body.orders
        ),
        world_at=timestamp(body.world_at),
        at=now,
        limits=tuple(
            LimitView(one.group, one.key, one.venue, amount(one.cost_max), one.refuses)
            for one in limits.limits
        ),
    )


def holding(body: HoldingBody) -> AgentHolding:
    """One side of one market, held by one agent."""
    return AgentHolding(
        agent_id=body.agent_id,
        agent_name=body.agent_name,
        market_id=body.market_id,
        question=body.question,
        category=body.category,
        event=body.event_id,
        venue=body.venue,
        side=body.side,
        shares=amount(body.shares),
        cost=amount(body.cost_basis),
        value=None if body.exit_value is None else amount(body.exit_value),
        price=None if body.mark_price is None else Probability(body.mark_price),
        resolves_at=None if body.resolves_at is None else timestamp(body.resolves_at),
        stop=body.stop_price,
        target=body.target_price,
    )
