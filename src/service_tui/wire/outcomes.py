"""Bodies of the results of an agent's or a skill's trades. Source: wire reference, 2.6."""

from typing import Annotated

from pydantic import Field, StringConstraints

from service_tui.terms import Venue
from service_tui.wire.base import AnyVenue, Count, Line, Moment, Money, WireModel
from service_tui.wire.moments import RequestedMoment


class OutcomesQuery(WireModel):
    """Of which skill, and what was closed since when; wall time."""

    skill: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_\-]{1,128}$")] | None = None
    since: RequestedMoment | None = None
    # ours: of which venue; each has a currency of its own, so that none is the sum of all.
    venue: AnyVenue = Venue.SIM


class ConfidenceBody(WireModel):
    """On what the closings rest: a confirmed outcome, a sale here, or a price from elsewhere."""

    settlement: Count = 0
    native: Count = 0
    # ours: always 0, the embedded service closes nothing at the price of another.
    mirror: Count = 0


class VenueOutcomesBody(WireModel):
    """Sums of one venue: `trades` to `losses` are those of API v1, the others were added in v2.

    `wins` and `losses` count sales and settlements, the `settled_` figures settlements alone. Money
    is in units of the venue's currency, fees taken off.
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


class OutcomesBody(VenueOutcomesBody):
    """The figures of the venue that was requested, and those of every venue beside them."""

    # ours: what was requested, so that an answer can be distinguished from another.
    skill: Line | None = None
    since: Moment | None = None
    venue: AnyVenue = Venue.SIM
    # ours: venues of which anything was closed, and the figures of all.
    pnl_by_venue: dict[str, Money] = Field(default_factory=dict[str, Money])
    by_venue: dict[str, VenueOutcomesBody] = Field(default_factory=dict[str, VenueOutcomesBody])
