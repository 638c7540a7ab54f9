"""Markets on the wire. Source: spec, "Market"; wire reference, 2.2 and 3.10."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, field_validator

from service_tui.terms import (
    HISTORY_HOURS_MAX,
    LINE_MAX,
    MARKET_IDS_MAX,
    MARKETS_PAGE_MAX,
    SEARCH_MIN,
    MarketStatus,
)
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Money,
    Price,
    Prose,
    WireModel,
)

MARKETS_OFFSET_MAX: Final = 1_000_000
TAGS_MAX: Final = 400
IDS_LETTERS_MAX: Final = 8_000
INCLUDE_MAX: Final = 100
"""Letters of a list with commas."""

AHEAD_HOURS_MAX: Final = 100_000
STEP_MIN: Final = 5
STEP_MAX: Final = 1_440
"""Minutes between two points of a history."""

CENTS: Final = 100


class MarketBody(WireModel):
    """One market. Prices are of YES, 0 to 1; volume in the venue's money."""

    id: Identifier
    question: Line
    status: MarketStatus = MarketStatus.ACTIVE
    current_probability: Price
    current_price: Price | None = None
    price_24h_ago: Price | None = None
    volume_24h: Money | None = None
    resolves_at: Moment | None = None
    resolved_at: Moment | None = None
    outcome: bool | None = None
    opens_at: Moment | None = None
    tags: tuple[Line, ...] = ()
    resolution_criteria: Prose | None = None
    fee_rate_bps: Count = 0
    tick_size: Price = 0.01
    url: Line | None = None
    import_source: Line | None = None
    sim_tradeable: bool = True
    # Source of the quotes: the order book of `import_source`; without one they stay empty.
    external_price_yes: Price | None = None
    divergence: Annotated[float, Field(ge=-1, le=1)] | None = None
    best_bid: Price | None = None
    best_ask: Price | None = None
    best_bid_size: Amount | None = None
    best_ask_size: Amount | None = None
    spread: Price | None = None
    spread_cents: Annotated[float, Field(ge=0, le=CENTS)] | None = None
    quote_ts: float | None = None
    quote_age_seconds: Annotated[float, Field(ge=0)] | None = None
    liquidity_tier: Literal["tight", "moderate", "wide"] | None = None
    is_orderbook_open: bool = False
    polymarket_id: Line | None = None
    polymarket_token_id: Line | None = None
    polymarket_no_token_id: Line | None = None
    polymarket_neg_risk: bool = False
    # ours: the order book and its traders are simulated, its money is play.
    simulated: bool = False
    # ours: the market maker's b and outstanding shares, so that a client can quote what it types.
    liquidity: Money | None = None
    # ours: prices of the last day (or life), oldest first; only with include=sparkline.
    sparkline: tuple[Price, ...] = ()
    opportunity_score: Money | None = None
    event_id: Line | None = None
    event_name: Line | None = None
    outcome_name: Line | None = None
    is_sdk_only: bool = False
    is_paid: bool = False
    is_live_now: bool = True
    # ours: of a recorded market, where it was traded and its id there.
    recorded_at: Line | None = None
    recorded_id: Line | None = None
    # ours: what a share of YES pays once the market has ended, and whether it gave the money back:
    # `outcome` is null where neither side won whole.
    payout_per_yes: Price | None = None
    voided: bool = False


class MarketsQuery(WireModel):
    """Query of the market list."""

    status: Literal["active", "closed", "resolved", "all"] = "active"
    limit: Annotated[int, Field(ge=1, le=MARKETS_PAGE_MAX)] = 50
    offset: Annotated[int, Field(ge=0, le=MARKETS_OFFSET_MAX)] = 0
    venue: AnyVenue | None = None
    import_source: AnyVenue | None = None
    q: Annotated[str, StringConstraints(min_length=SEARCH_MIN, max_length=LINE_MAX)] | None = None
    tags: Annotated[str, StringConstraints(max_length=TAGS_MAX)] | None = None
    ids: Annotated[str, StringConstraints(max_length=IDS_LETTERS_MAX)] | None = None
    sort: Literal["volume", "created", "recent", "opportunity"] | None = None
    max_hours_to_resolution: Annotated[int, Field(ge=1, le=AHEAD_HOURS_MAX)] | None = None
    include: Annotated[str, StringConstraints(max_length=INCLUDE_MAX)] | None = None
    # ours: accepted; no market of the embedded service is for analytics only.
    include_analytics_only: bool | None = None
    tradeable_only: bool = True

    @field_validator("ids")
    @classmethod
    def _few(cls, value: str | None) -> str | None:
        if value is not None and value.count(",") >= MARKET_IDS_MAX:
            raise ValueError(f"at most {MARKET_IDS_MAX} ids")
        return value


class MarketsBody(LenientModel):
    """A page of markets, with a reason when it is empty."""

    markets: tuple[MarketBody, ...]
    agent_id: Line
    total: Count | None = None
    total_count: Count | None = None
    truncated: bool = False
    hint: Line | None = None
    empty_reason: Line | None = None
    matched_before_tradeable_filter: Count | None = None
    warning: Line | None = None


class OneMarketBody(WireModel):
    """One market and the caller."""

    market: MarketBody
    agent_id: Line


class HistoryQuery(WireModel):
    """Span and step of a price history."""

    hours: Annotated[int, Field(ge=1, le=HISTORY_HOURS_MAX)] = 24
    interval: Annotated[int, Field(ge=STEP_MIN, le=STEP_MAX)] = 15


class HistoryPoint(WireModel):
    """Prices of both sides at a moment; they sum to 1."""

    timestamp: Moment
    price_yes: Price
    price_no: Price


class HistoryBody(WireModel):
    """Oldest first, one point an interval."""

    market_id: Line
    points: tuple[HistoryPoint, ...]
    interval_minutes: Count
