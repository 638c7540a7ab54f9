"""Bodies of everything that needs the operator: alerts, signals, payouts and open breakers.

ours: an agent asks for its own by the endpoints of the spec; one person who supervises twenty asks
once. It stands under `/api/desk/` and wants the operator key.
"""

from enum import StrEnum

from service_tui.terms import Side
from service_tui.wire.base import Amount, AnyVenue, Line, Moment, WireModel


class NeedKind(StrEnum):
    """What a row is about."""

    ALERT = "alert"
    SIGNAL = "signal"
    REDEEMABLE = "redeemable"
    BREAKER = "breaker"


class AgentNeedBody(WireModel):
    """One thing. `amount` is what is at stake, `expires_at` until when, null where it has no end.

    An open breaker is about no market.
    """

    kind: NeedKind
    agent_id: Line
    agent_name: Line
    id: Line
    market_id: Line = ""
    question: Line = ""
    side: Side | None = None
    venue: AnyVenue | None = None
    amount: Amount = 0.0
    expires_at: Moment | None = None


class NeedsBody(WireModel):
    """All of them, agent by agent."""

    needs: tuple[AgentNeedBody, ...]
