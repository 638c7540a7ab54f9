"""Lifecycles of the spec as data: (state, trigger) to the next state.

An unlisted pair is no transition: it raises.
"""

from enum import StrEnum
from typing import Final


class PositionState(StrEnum):
    """State of a position on a real venue. Source: spec, "Position lifecycle"."""

    ACTIVE = "active"
    AWAITING = "awaiting_settlement"
    READY = "ready_to_redeem"
    REDEEMED = "redeemed"


class PositionTrigger(StrEnum):
    """What moves a position."""

    WINDOW_ENDED = "market window ended"
    ORACLE_SETTLED = "oracle has settled"
    REDEEMED_WINNER = "redeem, winning side"
    REDEEMED_LOSER = "redeem attempt, losing side"
    BALANCE_ZERO = "redeem attempt, on-chain balance already 0"


POSITION: Final = {
    (PositionState.ACTIVE, PositionTrigger.WINDOW_ENDED): PositionState.AWAITING,
    (PositionState.AWAITING, PositionTrigger.ORACLE_SETTLED): PositionState.READY,
    (PositionState.READY, PositionTrigger.REDEEMED_WINNER): PositionState.REDEEMED,
    (PositionState.READY, PositionTrigger.REDEEMED_LOSER): PositionState.READY,
    (PositionState.READY, PositionTrigger.BALANCE_ZERO): PositionState.REDEEMED,
}
"""Source: spec, "Position lifecycle (real-money venues)", row by row."""


class NoTransitionError(ValueError):
    """A trigger that the state does not know: a fault of ours."""


def moved(state: PositionState, trigger: PositionTrigger) -> PositionState:
    """The state after a trigger.

    Returns:
        The next state, which may be the same.

    Raises:
        NoTransitionError: the table has no such row.
    """
    after = POSITION.get((state, trigger))
    if after is None:
        raise NoTransitionError(f"{state.value}: {trigger.value}")
    return after
