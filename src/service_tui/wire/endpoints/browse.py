"""Endpoints that look for markets. Source: wire reference, 2.1, 2.2 and 2.6."""

from typing import Final

from service_tui.wire import browse
from service_tui.wire.endpoint import SDK, Endpoint

# Before MARKET among the routes: its last word could be read as an id.
OPPORTUNITIES = Endpoint(
    "GET",
    f"{SDK}/markets/opportunities",
    browse.DivergentMarketsBody,
    query=browse.OpportunitiesQuery,
    summary="Markets that are priced differently outside",
)
FAST_MARKETS = Endpoint(
    "GET",
    f"{SDK}/fast-markets",
    browse.FastMarketsBody,
    query=browse.FastMarketsQuery,
    summary="Markets that last a day at most",
)
BROWSE = Endpoint(
    "GET",
    "/api/markets",
    browse.BrowseBody,
    query=browse.BrowseQuery,
    keyless=True,
    summary="Markets, without a key",
)
CANDLES = Endpoint(
    "GET",
    "/api/replay-data/candles",
    browse.CandlesBody,
    query=browse.CandlesQuery,
    summary="Prices of a market as candles",
)

ALL_BROWSE: Final = (OPPORTUNITIES, FAST_MARKETS, BROWSE, CANDLES)
"""Every endpoint that looks for markets."""
