"""Ways to look for markets besides the list. Source: wire reference, 2.1, 2.2 and 2.6."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.terms import LINE_MAX, SEARCH_MIN, MarketWindow, Side
from service_tui.units import AMOUNT_MAX
from service_tui.wire.base import (
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Money,
    Price,
    WireModel,
)
from service_tui.wire.markets import TAGS_MAX, MarketBody
from service_tui.wire.moments import MomentOrMs

OPPORTUNITIES_MAX: Final = 50
FAST_MAX: Final = 200
BROWSE_MAX: Final = 200
CANDLES_MAX: Final = 500
"""Rows of one answer. # ours: of candles and fast markets, where the reference names none."""

DIVERGENCE_DEFAULT: Final = 0.03

Search = Annotated[str, StringConstraints(min_length=SEARCH_MIN, max_length=LINE_MAX)]


class OpportunitiesQuery(WireModel):
    """Markets whose outside price differs by at least `min_divergence`, 0 to 1."""

    venue: AnyVenue | None = None
    limit: Annotated[int, Field(ge=1, le=OPPORTUNITIES_MAX)] = 10
    min_divergence: Price = DIVERGENCE_DEFAULT


class DivergentMarketBody(MarketBody):
    """A market that is priced differently outside: buy `recommended_side` here."""

    recommended_side: Side
    # ours: always the crowd, whose book is the only other price of the embedded service.
    signal_source: Literal["oracle", "crowd"] = "crowd"


class DivergentMarketsBody(LenientModel):
    """The largest divergence first."""

    # ours: the name; the reference shows no envelope.
    markets: tuple[DivergentMarketBody, ...] = ()
    count: Count = 0


class FastMarketsQuery(WireModel):
    """Markets that last a day at most."""

    asset: Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX)] | None = None
    window: MarketWindow | None = None
    venue: AnyVenue | None = None
    limit: Annotated[int, Field(ge=1, le=FAST_MAX)] = 50
    sort: Literal["volume", "opportunity", "resolves_at"] = "resolves_at"
    market_status: Literal["live", "upcoming"] = "live"


class FastMarketBody(MarketBody):
    """A market with the window that it lasts; one that is upcoming takes no orders yet."""

    # ours: both.
    window: MarketWindow | None = None
    asset: Line = ""


class FastMarketsBody(LenientModel):
    """Fast markets."""

    markets: tuple[FastMarketBody, ...] = ()
    count: Count = 0


class BrowseQuery(WireModel):
    """What anybody may look for."""

    q: Search | None = None
    limit: Annotated[int, Field(ge=1, le=BROWSE_MAX)] = 50
    status: Literal["active", "closed", "resolved", "all", "trending", "new", "ending"] = "active"
    tags: Annotated[str, StringConstraints(max_length=TAGS_MAX)] | None = None
    min_volume: Annotated[float, Field(ge=0, le=AMOUNT_MAX)] = 0.0


class BrowseBody(LenientModel):
    """A page of markets, for a caller without a key."""

    markets: tuple[MarketBody, ...] = ()
    total: Count = 0


Interval = Literal["1m", "5m", "15m", "1h", "4h", "1d"]


class CandlesQuery(WireModel):
    """Prices of YES of one market; `start` and `end` are ISO 8601 or Unix milliseconds."""

    # ours: the id of a market, whose price is the only one that the embedded service knows.
    symbol: Identifier
    interval: Interval = "1m"
    start: MomentOrMs | None = None
    end: MomentOrMs | None = None


class CandleBody(WireModel):
    """One step: its first and its last moment, prices of YES, volume in $SIM or null."""

    open_time: Moment
    close_time: Moment
    open: Price
    high: Price
    low: Price
    close: Price
    # ours: null where only the sum of the hour is known.
    volume: Money | None = None


class CandlesBody(WireModel):
    """Oldest first. Not `complete` where the answer was cut: go on from `served_through`."""

    symbol: Line
    candles: tuple[CandleBody, ...]
    complete: bool
    served_through: Moment
