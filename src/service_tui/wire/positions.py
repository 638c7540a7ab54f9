"""Positions and portfolio on the wire. Source: wire reference, 3.2 and 3.6."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.terms import HISTORY_HOURS_MAX, LINE_MAX, OFFSET_MAX, Venue
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    LenientModel,
    Line,
    Moment,
    Money,
    Price,
    WireModel,
)

POSITIONS_PAGE_MAX: Final = 100_000


class PositionsQuery(WireModel):
    """Which positions."""

    venue: AnyVenue | Literal["all"] | None = None
    source: Annotated[str, StringConstraints(max_length=LINE_MAX)] | None = None
    status: Literal["active", "resolved", "closed", "settled", "all"] = "active"
    # ours: a page, as other lists have them. Open and redeemable positions come first, then
    # ended ones, newest first. Without a limit all are sent.
    limit: Annotated[int, Field(ge=0, le=POSITIONS_PAGE_MAX)] | None = None
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0


class PositionSideBody(WireModel):
    """ours: one side of a position in full; the published row mixes both sides.

    `unrealized_pnl` is None if a service does not report it.
    """

    side: Line
    shares: Amount
    cost_basis: Amount
    avg_cost: Price | None
    mark_price: Price
    current_value: Amount
    exit_value: Amount
    realized_pnl: Money
    opened_at: Moment
    unrealized_pnl: Money | None = None
    # Its part of what selling both sides of the market together brings: no own price impact is
    # counted twice. None where a service does not report it.
    exit_together: Amount | None = None


class PositionBody(WireModel):
    """Position of one agent in one market. Money in units, prices of YES."""

    market_id: Line
    question: Line = ""
    shares_yes: Amount = 0.0
    shares_no: Amount = 0.0
    # None where a service left it out: no price is made up for it.
    current_price: Price | None = None
    current_value: Amount = 0.0
    cost_basis: Amount = 0.0
    avg_cost: Price | None = None
    pnl: Money = 0.0
    realized_pnl: Money = 0.0
    venue: AnyVenue = Venue.SIM
    currency: Line = "$SIM"
    status: Line = "active"
    outcome: bool | None = None
    resolves_at: Moment | None = None
    resolved_at: Moment | None = None
    sources: tuple[Line, ...] = ()
    sim_balance: Money | None = None
    redeemable: bool = False
    redeemable_side: Line | None = None
    url: Line | None = None
    condition_id: Line | None = None
    token_id_yes: Line | None = None
    token_id_no: Line | None = None
    best_bid: Price | None = None
    best_ask: Price | None = None
    best_bid_size: Amount | None = None
    best_ask_size: Amount | None = None
    spread: Price | None = None
    quote_ts: float | None = None
    # ours: the spec's state of the lifecycle, and that the venue is simulated.
    lifecycle: Line | None = None
    simulated: bool = False
    sides: tuple[PositionSideBody, ...] = ()
    # ours: which contract redeems it: the negative-risk adapter, or the standard one.
    neg_risk: bool = False
    # ours: so that realized and unrealized P&L add up to `pnl`, also where nothing is held now.
    unrealized_pnl: Money = 0.0
    # ours: the wallet that holds it on the EVM venue, for an agent that has had several.
    wallet: Line | None = None
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False


class PnlBody(WireModel):
    """P&L of one venue, units of its money."""

    realized: Money = 0.0
    unrealized: Money = 0.0
    total: Money = 0.0
    # ours: when the figure was taken; on the real venues it is refreshed every 15 minutes.
    as_of: Moment | None = None


class PnlSummary(WireModel):
    """P&L by venue."""

    sim: PnlBody = PnlBody()
    polymarket: PnlBody = PnlBody()
    kalshi: PnlBody = PnlBody()
    combined: PnlBody = PnlBody()


class PositionsBody(LenientModel):
    """All positions of the caller that match the query."""

    agent_id: Line
    agent_name: Line = ""
    positions: tuple[PositionBody, ...]
    # ours: cash of the same moment, so that cash and positions can be shown as one.
    sim_balance: Money | None = None
    total_value: Money = 0.0
    total_pnl: Money = 0.0
    sim_pnl: Money = 0.0
    polymarket_pnl: Money = 0.0
    kalshi_pnl: Money = 0.0
    pnl_summary: PnlSummary = PnlSummary()


class PortfolioQuery(WireModel):
    """Which venue."""

    venue: AnyVenue | Literal["all"] = "all"


class PortfolioVenue(WireModel):
    """Cash, P&L and exposure on one venue."""

    balance: Money | None = None
    pnl: Money | None = None
    positions_count: Count = 0
    total_exposure: Amount = 0.0
    # ours: money in open orders, when `pnl` was taken, orders that traded, and that the venue is
    # simulated.
    reserved: Amount = 0.0
    pnl_as_of: Moment | None = None
    trades_count: Count = 0
    simulated: bool = False


class PortfolioTotal(WireModel):
    """Sums over venues."""

    positions_count: Count = 0
    total_exposure: Amount = 0.0


class Concentration(WireModel):
    """Share of exposure, 0 to 1, in the largest market and in the three largest."""

    top_market_pct: Price = 0.0
    top_3_markets_pct: Price = 0.0


class SourceBody(WireModel):
    """Positions and P&L of one source tag."""

    positions: Count = 0
    exposure: Amount = 0.0
    realized_pnl: Money = 0.0
    unrealized_pnl: Money = 0.0
    trade_count: Count = 0


class PortfolioBody(WireModel):
    """Answer of `GET /api/sdk/portfolio`.

    `pnl_24h` is the change of the mark equity on sim in the last 24 hours, null where an older
    program noted no worth so long ago, and `pnl_total` that since the agent began; `pnl_today` is
    the change of `exit_equity`, by what selling would bring.
    """

    sim: PortfolioVenue | None = None
    polymarket: PortfolioVenue | None = None
    kalshi: PortfolioVenue | None = None
    total: PortfolioTotal = PortfolioTotal()
    balance_usdc: Money | None = None
    sim_balance: Money | None = None
    sim_pnl: Money | None = None
    total_exposure: Amount = 0.0
    positions_count: Count = 0
    redeemable_count: Count = 0
    pnl_24h: Money | None = None
    pnl_total: Money | None = None
    concentration: Concentration = Concentration()
    by_source: dict[str, SourceBody] = Field(default_factory=dict[str, SourceBody])
    warnings: tuple[Line, ...] = ()
    # ours: what selling all on sim would leave, and its change since midnight UTC.
    exit_equity: Money | None = None
    pnl_today: Money | None = None


class ExpiringQuery(WireModel):
    """How far ahead to look, in hours of the tape."""

    hours: Annotated[int, Field(ge=1, le=HISTORY_HOURS_MAX)] = 24


class ExpiringBody(PositionBody):
    """A position with a countdown; 0 hours where the market has closed and awaits its outcome."""

    hours_to_resolution: Annotated[float, Field(ge=0)]
    time_to_resolution: Line


class ExpiringsBody(WireModel):
    """Soonest first."""

    agent_id: Line
    positions: tuple[ExpiringBody, ...]
    count: Count
    hours: Count
