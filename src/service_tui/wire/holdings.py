"""Bodies of all agents' positions: sides of markets, stops, and open orders.

ours: an agent asks for its own by the endpoints of the spec; one person who supervises twenty asks
once. It stands under `/api/desk/` and wants the operator key.
"""

from service_tui.terms import Side
from service_tui.wire.base import Amount, AnyVenue, Line, Moment, Price, WireModel
from service_tui.wire.orders import OrderBody


class HoldingBody(WireModel):
    """One side of one market without an outcome, held by one agent on one venue.

    `exit_value` is its part of what the agent would get for both sides of the market together now;
    null where nobody says. `stop_price` is the higher one of its stop and its trailing stop, null
    without both. `event_id` is that of a question with several outcomes, else empty.
    """

    agent_id: Line
    agent_name: Line
    market_id: Line
    question: Line
    category: Line
    event_id: Line = ""
    event: Line = ""
    venue: AnyVenue
    side: Side
    shares: Amount
    cost_basis: Amount
    mark_price: Price | None
    mark_value: Amount
    exit_value: Amount | None
    resolves_at: Moment | None
    stop_price: float | None = None
    target_price: float | None = None


class AgentOrderBody(OrderBody):
    """An open order of an agent."""

    agent_id: Line
    agent_name: Line


class HoldingsBody(WireModel):
    """All of it at one moment, agent by agent. `world_at` is the clock by which markets resolve."""

    holdings: tuple[HoldingBody, ...]
    orders: tuple[AgentOrderBody, ...]
    world_at: Moment
