"""What the trades of an agent or a skill came to. Source: wire reference, 2.6."""

from typing import Annotated

from pydantic import StringConstraints

from service_tui.wire.base import Count, Line, Moment, Money, WireModel


class OutcomesQuery(WireModel):
    """Of which skill, and what was closed since when; wall time."""

    skill: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\-]{1,128}$")] | None = None
    since: Moment | None = None


class ConfidenceBody(WireModel):
    """On what the closings rest: a confirmed outcome, a sale here, or a price from elsewhere."""

    settlement: Count = 0
    native: Count = 0
    # ours: always 0, the embedded service closes nothing at the price of another.
    mirror: Count = 0


class OutcomesBody(WireModel):
    """Sums of the second generation beside those of the first; money in units of $SIM.

    `wins` and `losses` count sales and settlements, the `settled_` figures settlements alone.
    """

    trades: Count
    pnl: Money
    wins: Count
    losses: Count
    settled_pnl: Money
    resolved_markets: Count
    settled_wins: Count
    settled_losses: Count
    confidence_breakdown: ConfidenceBody
    # ours: what was asked, so that an answer can be told from another.
    skill: Line | None = None
    since: Moment | None = None
