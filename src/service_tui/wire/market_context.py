"""Bodies of a market's context before a trade. Source: wire reference, 3.5."""

from typing import Annotated, Literal

from pydantic import Field

from service_tui.terms import MarketStatus, Side
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Line,
    Moment,
    Money,
    Price,
    Prose,
    WireModel,
)

Signed = Annotated[float, Field(ge=-1, le=1)]


class MarketContextQuery(WireModel):
    """Of which venue, and what the asker believes: the chance of YES."""

    venue: AnyVenue | Literal["all"] = "all"
    my_probability: Price | None = None


class ContextMarketBody(WireModel):
    """The market itself. `spread` is 0 on the market maker, which quotes both ways at one price."""

    id: Line
    question: Line
    current_price: Price
    status: MarketStatus
    current_probability: Price
    price_1h_ago: Price
    price_24h_ago: Price
    volume_24h: Money
    resolves_at: Moment | None
    resolved_at: Moment | None = None
    outcome: bool | None = None
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False
    time_to_resolution: Line
    resolution_criteria: Prose
    ai_consensus: Price | None = None
    external_price: Price | None = None
    external_price_yes: Price | None = None
    divergence: Signed | None = None
    import_source: Line
    url: Line | None = None
    event_id: Line | None = None
    event_name: Line | None = None
    tags: tuple[Line, ...] = ()
    is_paid: bool = False
    fee_rate_bps: Count = 0
    fee_note: Line = ""
    spread: Price = 0.0
    spread_cents: Amount = 0.0


class ContextPositionBody(WireModel):
    """What the agent holds here; of two sides the one worth more. Zeros where nothing is held."""

    has_position: bool
    side: Side | None = None
    shares: Amount = 0.0
    avg_cost_basis: Amount = 0.0
    current_value: Amount = 0.0
    unrealized_pnl: Money = 0.0
    pnl_pct: Money = 0.0
    position_age_hours: Amount = 0.0


class ContextPositions(WireModel):
    """The same by venue; None where nothing is held."""

    sim: ContextPositionBody | None = None
    polymarket: ContextPositionBody | None = None
    kalshi: ContextPositionBody | None = None


class RecentTradeBody(WireModel):
    """One of the agent's own trades in the market. `action` is like `buy_yes`."""

    action: Line
    shares: Amount
    price: Price
    timestamp: Moment
    reasoning: Prose | None = None


class DisciplineBody(WireModel):
    """Whether the agent keeps changing its mind here."""

    last_action: Line | None = None
    last_action_at: Moment | None = None
    direction_changes_24h: Count = 0
    flip_flop_warning: Line | None = None
    warning_level: Literal["none", "mild", "severe"] = "none"


class EstimateBody(WireModel):
    """What a buy of an amount would get now. `slippage_pct` is a fraction of the price before."""

    amount_usd: Amount
    shares: Amount
    avg_price: Price
    slippage_pct: Money


class SlippageBody(WireModel):
    """Buys of several sizes, each on its own; sizes that the market refuses are left out."""

    venue: AnyVenue
    # ours: which side the estimates are of.
    side: Side
    spread_pct: Amount = 0.0
    estimates: tuple[EstimateBody, ...] = ()


class EdgeBody(WireModel):
    """Whether the asker's own chance of YES is worth a trade; what follows from it only with it."""

    suggested_threshold: Amount
    base_threshold: Amount = 0.05
    time_factor: Amount = 1.0
    user_probability: Price | None = None
    user_edge: Signed | None = None
    recommended_side: Side | None = None
    recommendation: Literal["TRADE", "HOLD", "SKIP"] | None = None


class MarketContextBody(WireModel):
    """Everything in one answer."""

    market: ContextMarketBody
    position: ContextPositionBody
    positions: ContextPositions
    discipline: DisciplineBody
    recent_trades: tuple[RecentTradeBody, ...] = ()
    slippage: SlippageBody | None = None
    edge: EdgeBody
    warnings: tuple[Line, ...] = ()
