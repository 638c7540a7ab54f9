"""Markets on the wire. Source: spec, "Market"; wire reference, 2.2 and 3.10."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from service_tui.terms import MarketStatus
from service_tui.wire.base import (
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
    # ours: the market maker's b and outstanding shares, so that a client can quote what it types.
    liquidity: Money | None = None
    # ours: prices of the last day (or life), oldest first; only with include=sparkline.
    sparkline: tuple[Price, ...] = ()


class MarketsQuery(WireModel):
    """Query of the market list."""

    status: Literal["active", "closed", "resolved", "all"] = "active"
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    venue: AnyVenue | None = None
    import_source: AnyVenue | None = None
    q: Annotated[str, StringConstraints(min_length=2, max_length=200)] | None = None
    tags: Annotated[str, StringConstraints(max_length=400)] | None = None
    ids: Annotated[str, StringConstraints(max_length=8_000)] | None = None
    sort: Literal["volume", "created", "recent", "opportunity"] | None = None
    max_hours_to_resolution: Annotated[int, Field(ge=1, le=100_000)] | None = None
    include: Annotated[str, StringConstraints(max_length=100)] | None = None
    tradeable_only: bool = True


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
    """One market and who asked."""

    market: MarketBody
    agent_id: Line


class HistoryQuery(WireModel):
    """Span and step of a price history."""

    hours: Annotated[int, Field(ge=1, le=168)] = 24
    interval: Annotated[int, Field(ge=5, le=1_440)] = 15


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
