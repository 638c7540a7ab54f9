"""Ways to look for markets: opportunities, fast markets, the public list, candles."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.listing import Listing
from service_tui.engine.tape.candles import candles
from service_tui.folding import folded
from service_tui.server.http.refusals import invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import market_body
from service_tui.server.projections.venues import with_book
from service_tui.server.routes.markets import finder, whole
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.browse import (
    CANDLES_MAX,
    BrowseBody,
    BrowseQuery,
    CandleBody,
    CandlesBody,
    CandlesQuery,
    DivergentMarketBody,
    DivergentMarketsBody,
    FastMarketBody,
    FastMarketsBody,
    FastMarketsQuery,
    Interval,
    OpportunitiesQuery,
)
from service_tui.wire.endpoints.browse import BROWSE, CANDLES, FAST_MARKETS, OPPORTUNITIES
from service_tui.wire.markets import MarketBody

MS: Final = timedelta(milliseconds=1)
"""By so much a candle ends before the next one begins."""

STEPS_S: Final[dict[Interval, float]] = {
    "1m": 60.0,
    "5m": 300.0,
    "15m": 900.0,
    "1h": 3_600.0,
    "4h": 14_400.0,
    "1d": 86_400.0,
}

PRICE_DIGITS: Final = 6


def _body(request: RequestContext, market: Market) -> MarketBody:
    world = request.world
    return with_book(
        world, market, market_body(market, world.world_at, sparkline=False, criteria=False)
    )


def _active(request: RequestContext) -> list[Market]:
    world = request.world
    return [
        market
        for market in world.markets.values()
        if market.status(world.world_at) is MarketStatus.ACTIVE
    ]


async def opportunities(request: RequestContext) -> DivergentMarketsBody:
    """Open markets whose venue prices them differently, the largest difference first."""
    query = request.query_as(OpportunitiesQuery)
    found: list[tuple[float, MarketBody]] = []
    for market in _active(request):
        home = market.listing.home
        if home is Venue.SIM or query.venue not in {None, home, Venue.SIM}:
            continue
        body = _body(request, market)
        if body.divergence is not None and abs(body.divergence) >= query.min_divergence:
            found.append((body.divergence, body))
    found.sort(key=lambda row: (-abs(row[0]), row[1].id))
    rows = tuple(
        DivergentMarketBody.model_construct(
            **dict(body),
            recommended_side=Side.YES if divergence > 0 else Side.NO,
            signal_source="crowd",
        )
        for divergence, body in found[: query.limit]
    )
    return DivergentMarketsBody(markets=rows, count=len(rows))


def _upcoming(request: RequestContext) -> list[Market]:
    """Markets that the tape will list next; nothing can be traded on them yet."""
    world = request.world
    return [
        Market(replace(listing, news=()))
        for listing in world.tape.next_listings(world.world_at)
        if listing.market_id not in world.markets
    ]


def _is_about(listing: Listing, asset: str) -> bool:
    text = folded(f"{listing.subject} {' '.join(listing.tags)}")
    return folded(asset.strip()) in text


def _fast_body(request: RequestContext, market: Market, *, is_live: bool) -> FastMarketBody:
    world_at = request.world.world_at
    plain = market_body(market, world_at, sparkline=False, criteria=False)
    body = with_book(request.world, market, plain) if is_live else plain
    listing = market.listing
    fast = FastMarketBody.model_construct(
        **dict(body), window=listing.window(), asset=listing.subject
    )
    return fast.model_copy(update={"is_live_now": is_live, "sim_tradeable": is_live})


_ORDERS: Final[dict[str, Callable[[FastMarketBody], float]]] = {
    "volume": lambda body: -(body.volume_24h or 0.0),
    "opportunity": lambda body: -abs(body.divergence or 0.0),
    "resolves_at": lambda body: 0.0 if body.resolves_at is None else body.resolves_at.timestamp(),
}


async def fast_markets(request: RequestContext) -> FastMarketsBody:
    """Markets that last a day at most, in the requested order."""
    query = request.query_as(FastMarketsQuery)
    is_live = query.market_status == "live"
    rows: list[FastMarketBody] = []
    for market in _active(request) if is_live else _upcoming(request):
        listing = market.listing
        window = listing.window()
        if window is None or query.window not in {None, window}:
            continue
        if query.venue not in {None, listing.home, Venue.SIM}:
            continue
        if query.asset is not None and not _is_about(listing, query.asset):
            continue
        rows.append(_fast_body(request, market, is_live=is_live))
    rows.sort(key=lambda body: (_ORDERS[query.sort](body), body.id))
    return FastMarketsBody(markets=tuple(rows[: query.limit]), count=len(rows[: query.limit]))


def browsed(query: BrowseQuery, known: Iterable[Market], world_at: Timestamp) -> list[Market]:
    """The markets that anybody's query means, in the order of its status."""
    is_status = query.status in {status.value for status in MarketStatus}
    tags = {tag for part in (query.tags or "").lower().split(",") if (tag := part.strip())}
    is_meant = finder(query.q or "")
    found = [
        market
        for market in known
        if (not is_status or market.status(world_at) is MarketStatus(query.status))
        and (is_status or query.status == "all" or market.resolved_at is None)
        and tags.issubset(market.listing.tags)
        and is_meant(market)
        and decimal(market.volume_24h(world_at)) >= query.min_volume
    ]
    orders: dict[str, Callable[[Market], float]] = {
        "new": lambda market: -market.listing.opens_at,
        "ending": lambda market: market.listing.resolves_at,
    }
    usual = orders.get(query.status, lambda market: -int(market.volume_24h(world_at)))
    return sorted(found, key=usual)


async def browse(request: RequestContext) -> BrowseBody:
    """Markets for anybody; nothing in it is of an agent."""
    query = request.query_as(BrowseQuery)
    world = request.world
    is_wide = query.status in {"resolved", "all"}
    kept = await request.service.world_store.past.listed() if is_wide else []
    found = browsed(query, (*world.markets.values(), *kept), world.world_at)
    page = await whole(request, found[: query.limit])
    rows = tuple(_body(request, market) for market in page)
    return BrowseBody(markets=rows, total=len(found))


def span_of(
    query: CandlesQuery, listing: Listing, world_at: Timestamp
) -> tuple[float, float, float]:
    """The requested span of a market's life.

    Returns:
        The start of the first candle, the end of this page, and the end of all that there is.

    Raises:
        Denied: 422 for a span that ends before it begins.
    """
    step_s = STEPS_S[query.interval]
    asked = None if query.end is None else query.end.timestamp()
    end = world_at if asked is None else min(world_at, asked)
    end = min(end, listing.resolves_at)
    # ours: `served_through` of one answer, the last moment of a candle, is the start of the next.
    since = None if query.start is None else (query.start + MS).timestamp()
    first = listing.opens_at if since is None else max(listing.opens_at, since)
    if query.start is not None and query.end is not None and query.start >= query.end:
        raise invalid_items([(("query", "end"), "the end comes after the start", "value")])
    first = first // step_s * step_s
    return first, min(end, first + CANDLES_MAX * step_s), end


async def read_candles(request: RequestContext) -> CandlesBody:
    """Candles of a market from its own prices, in the world's time, oldest first."""
    query, world = request.query_as(CandlesQuery), request.world
    market = await request.service.world_store.past.market(query.symbol)
    step_s = STEPS_S[query.interval]
    first, cut, end = span_of(query, market.listing, world.world_at)
    rows = tuple(
        CandleBody(
            open_time=moment(one.opens_at),
            close_time=moment(Timestamp(one.opens_at + step_s)) - MS,
            open=round(one.open, PRICE_DIGITS),
            high=round(one.high, PRICE_DIGITS),
            low=round(one.low, PRICE_DIGITS),
            close=round(one.close, PRICE_DIGITS),
            volume=None if one.volume is None else decimal(one.volume),
        )
        for one in candles(market, Timestamp(first), Timestamp(cut), step_s)
    )
    return CandlesBody(
        symbol=market.market_id,
        candles=rows,
        complete=cut >= end,
        served_through=rows[-1].close_time if rows else moment(Timestamp(max(0.0, first))),
    )


ROUTES: Final[Routes] = {
    OPPORTUNITIES: opportunities,
    FAST_MARKETS: fast_markets,
    BROWSE: browse,
    CANDLES: read_candles,
}
