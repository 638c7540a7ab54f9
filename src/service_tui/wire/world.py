"""The embedded service's own world, for the operator's console only.

ours: the spec has no such endpoints; all are under `/api/desk/` and need the operator key.
"""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from service_tui.terms import HISTORY_STEP_MAX_S, SPEEDS
from service_tui.wire.base import (
    Amount,
    Count,
    Line,
    Moment,
    Money,
    OperatorModel,
    Price,
    Prose,
    WireModel,
)


def _known(speed: int) -> int:
    if speed not in SPEEDS:
        raise ValueError(f"the speed is {', '.join(map(str, SPEEDS[:-1]))} or {SPEEDS[-1]}")
    return speed


Speed = Annotated[
    int, Field(ge=0, le=SPEEDS[-1], json_schema_extra={"enum": [*SPEEDS]}), AfterValidator(_known)
]
"""World seconds in a second of wall time; 0 pauses the tape."""


class NewsBody(WireModel):
    """A headline, and the price of YES before and after it."""

    at: Moment
    market_id: Line
    headline: Line
    price_before: Price
    price_after: Price


class ResolvedBody(WireModel):
    """A market that resolved, and what it paid the operator's agent."""

    at: Moment
    market_id: Line
    question: Line
    outcome: bool | None = None
    payout: Amount = 0.0
    pnl: Money = 0.0
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False


class AbsenceBody(WireModel):
    """What happened while the desk was closed. Times of the world, durations in seconds."""

    closed_at: Moment
    opened_at: Moment
    world_elapsed_s: float
    resolved_count: Count
    listed_count: Count
    resolved: tuple[ResolvedBody, ...] = ()
    news: tuple[NewsBody, ...] = ()
    equity_before: Money | None = None
    equity_after: Money | None = None


class WorldHistoryBody(WireModel):
    """The history on which a world runs. Once it `is_over`, the world stands still.

    When that is stands nowhere here: it lies in the future.
    """

    name: Line
    began_at: Moment
    is_over: bool = False


class WorldBody(WireModel):
    """The offline world: its clock, its pace, and its last news."""

    now: Moment
    wall_at: Moment
    speed: Speed
    seed: int
    open_count: Count
    news: tuple[NewsBody, ...] = ()
    meanwhile: AbsenceBody | None = None
    # Since when the operator's halt blocks the entries of every agent.
    halted_at: Moment | None = None
    # None: the world is invented.
    history: WorldHistoryBody | None = None


class SpeedRequest(OperatorModel):
    """The new speed of the world."""

    speed: Speed


class StepRequest(OperatorModel):
    """How far a history moves on at once, seconds of its world."""

    seconds: Annotated[int, Field(ge=1, le=HISTORY_STEP_MAX_S)]


SPAN_MAX_S: Final = 10_000_000
POINTS_MIN: Final = 2
POINTS_MAX: Final = 500


class TapeQuery(WireModel):
    """Span of the chart, world seconds; 0 is the market's whole life."""

    span_s: Annotated[int, Field(ge=0, le=SPAN_MAX_S)] = 0
    points: Annotated[int, Field(ge=POINTS_MIN, le=POINTS_MAX)] = 200


class TapePoint(WireModel):
    """Price of YES at a moment of the world."""

    at: Moment
    price: Price


class TapeTrade(WireModel):
    """A recent trade by any trader. Agents appear by name, as on any public tape."""

    at: Moment
    trader: Line
    side: Line
    action: Line
    shares: Amount
    price: Price


class BookLevel(WireModel):
    """A price of YES on an order book, with all shares at it."""

    price: Price
    shares: Amount


class TapeBody(WireModel):
    """One market in full; points oldest first, news and trades newest first.

    `bids` and `asks` are the best prices of the order book of its venue, best first; empty without
    a book.
    """

    market_id: Line
    resolution_criteria: Prose
    points: tuple[TapePoint, ...]
    news: tuple[NewsBody, ...]
    trades: tuple[TapeTrade, ...]
    # ours: trades of agents that the tape has moved past, newest first.
    filled: tuple[TapeTrade, ...] = ()
    bids: tuple[BookLevel, ...] = ()
    asks: tuple[BookLevel, ...] = ()
