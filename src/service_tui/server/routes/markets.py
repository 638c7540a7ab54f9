"""Markets: the list with its search, one market, its prices over time."""

from collections.abc import Callable
from typing import Final

from service_tui.engine.chart import prices
from service_tui.engine.market import Market
from service_tui.server.present import market_body
from service_tui.server.present_venues import with_book
from service_tui.server.service import Asked, Routes
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints import MARKET, MARKET_HISTORY, MARKETS
from service_tui.wire.markets import (
    HistoryBody,
    HistoryPoint,
    HistoryQuery,
    MarketsBody,
    MarketsQuery,
    OneMarketBody,
)

HOUR_S: Final = 3_600.0
IDS_MAX: Final = 50
Test = Callable[[Market], bool]


def _tests(query: MarketsQuery, world_at: Timestamp) -> list[Test]:
    """Every condition of the query as a test of a market."""
    tests: list[Test] = []
    if query.ids is not None:
        ids = frozenset(query.ids.split(",")[:IDS_MAX])
        tests.append(lambda market: market.market_id in ids)
    elif query.status != "all":
        wanted = MarketStatus(query.status)
        tests.append(lambda market: market.status(world_at) is wanted)
    if query.tags:
        tags = frozenset(tag.strip() for tag in query.tags.lower().split(","))
        tests.append(lambda market: tags.issubset(market.listing.tags))
    if query.q:
        tokens = query.q.lower().split()
        tests.append(lambda market: all(token in _searched(market) for token in tokens))
    if query.max_hours_to_resolution is not None:
        until = world_at + query.max_hours_to_resolution * HOUR_S
        tests.append(lambda market: market.listing.resolves_at <= until)
    return tests


def _searched(market: Market) -> str:
    """Where a search looks: question and tags."""
    return f"{market.listing.question} {' '.join(market.listing.tags)}".lower()


def _relevance(query: MarketsQuery) -> Callable[[Market], float]:
    """Smaller comes first: words in the question before words in the tags only."""
    tokens = (query.q or "").lower().split()

    def key(market: Market) -> float:
        question = market.listing.question.lower()
        return sum(question.find(token) if token in question else 1_000.0 for token in tokens)

    return key


def _order(query: MarketsQuery, world_at: Timestamp) -> Callable[[Market], float]:
    """The order that the query asks for. A keyword search orders by relevance whatever else."""
    if query.q is not None:
        return _relevance(query)
    if query.sort in {"created", "recent"}:
        return lambda market: -market.listing.opens_at
    if query.sort == "opportunity":
        # ours: the nearer to even odds, the more there is to find out.
        return lambda market: abs(market.price() - 0.5)
    return lambda market: -market.volume_24h(world_at)


async def list_markets(asked: Asked) -> MarketsBody:
    """A page of markets, with the reason when it is empty."""
    query = asked.query_as(MarketsQuery)
    world = asked.world
    world_at = world.world_at
    venue = query.import_source or query.venue or Venue.SIM
    tests = _tests(query, world_at)
    found = [
        market
        for market in world.markets.values()
        # Every question has its market maker; order books trade those that are at home there.
        if venue in {Venue.SIM, market.listing.home} and all(test(market) for test in tests)
    ]
    found.sort(key=_order(query, world_at))
    page = found[query.offset : query.offset + query.limit]
    include = (query.include or "").split(",")
    return MarketsBody(
        markets=tuple(
            with_book(
                world,
                market_body(
                    market,
                    world_at,
                    sparkline="sparkline" in include,
                    criteria="resolution_criteria" in include,
                ),
            )
            for market in page
        ),
        agent_id=asked.agent.agent_id,
        total=len(found),
        total_count=len(found),
        truncated=query.offset + len(page) < len(found),
        empty_reason=None if found else "no_matches",
        hint=None if found else "loosen the filter, or ask with status=all",
    )


async def one_market(asked: Asked) -> OneMarketBody:
    """One market with its resolution criteria."""
    market = asked.world.market(asked.path["market_id"])
    return OneMarketBody(
        market=with_book(
            asked.world,
            market_body(market, asked.world.world_at, sparkline=True, criteria=True),
        ),
        agent_id=asked.agent.agent_id,
    )


async def history(asked: Asked) -> HistoryBody:
    """Prices at even steps, oldest first; before its listing a market has none."""
    query = asked.query_as(HistoryQuery)
    world = asked.world
    market = world.market(asked.path["market_id"])
    since = Timestamp(world.world_at - query.hours * HOUR_S)
    first = max(market.listing.opens_at, since)
    last = min(world.world_at, market.listing.resolves_at)
    count = max(1, int((last - first) // (query.interval * 60)))
    return HistoryBody(
        market_id=market.market_id,
        points=tuple(
            HistoryPoint(
                timestamp=moment(at), price_yes=round(price, 6), price_no=round(1 - price, 6)
            )
            for at, price in prices(market, first, last, count)
        ),
        interval_minutes=query.interval,
    )


ROUTES: Final[Routes] = {MARKETS: list_markets, MARKET: one_market, MARKET_HISTORY: history}
