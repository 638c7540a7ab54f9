"""What agents and their operator do with the reactor, in the past tense.

Knows units. `events` lists these with all others, and takes them in for everybody.
Used by events.
"""

from typing import NamedTuple

from service_tui.units import Timestamp


class ReactorChanged(NamedTuple):
    """An agent's reactor took new values. `changes` are names of ReactorConfig fields."""

    agent_id: str
    at: Timestamp
    changes: dict[str, object]


class SignalDismissed(NamedTuple):
    """An agent took a signal out, mirrored or not."""

    agent_id: str
    at: Timestamp
    signal_id: str


class Reacted(NamedTuple):
    """An agent said what became of a signal; `said` are the other fields of the wire's reaction."""

    agent_id: str
    at: Timestamp
    tx_hash: str
    decision: str
    said: dict[str, str | float]


class BreakerReset(NamedTuple):
    """The operator closed an agent's circuit breaker by hand."""

    agent_id: str
    at: Timestamp


ReactorEvent = ReactorChanged | SignalDismissed | Reacted | BreakerReset
"""What agents and their operator do with the reactor."""
