"""Bodies of the operator's halt: until it is resumed, every agent's buys are refused.

ours: the spec has no such endpoints; both stand under `/api/desk/` and want the operator key.
"""

from service_tui.wire.base import Amount, Line, Moment, WireModel


class CancelledBody(WireModel):
    """A resting buy that the halt took off its book, and the money that came back."""

    order_id: Line
    agent_id: Line
    agent_name: Line
    market_id: Line
    returned_usdc: Amount


class HaltBody(WireModel):
    """Whether entries are refused, since when, and which buys this call has cancelled."""

    halted: bool
    halted_at: Moment | None = None
    cancelled: tuple[CancelledBody, ...] = ()
