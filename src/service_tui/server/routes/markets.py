"""Markets: the list with its search, one market, its prices over time."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import is_at
from service_tui.engine.tape.chart import prices
from service_tui.folding import folded
from service_tui.pasted import web_place
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import market_body
from service_tui.server.projections.venues import with_book
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import MARKET, MARKET_HISTORY, MARKETS
from service_tui.wire.markets import (
    HistoryBody,
    HistoryPoint,
    HistoryQuery,
    MarketsBody,
    MarketsQuery,
    OneMarketBody,
)

HOUR_S: Final = 3_600.0
UNKNOWN_MAX: Final = 5
"""Unknown parameters that a warning names."""

Test = Callable[[Market], bool]


def _tests(query: MarketsQuery, world_at: Timestamp) -> list[Test]:
    """Every condition of the query as a test of a market, but for `tradeable_only`."""
    tests: list[Test] = []
    home = query.import_source or query.venue
    if home is not None and home is not Venue.SIM:
        # The market maker trades every question; a real venue those that are its own.
        tests.append(lambda market: market.listing.home is home)
    if query.ids is not None:
        ids = frozenset(one.strip() for one in query.ids.split(","))
        tests.append(lambda market: market.market_id in ids)
    elif query.status != "all":
        status = MarketStatus(query.status)
        tests.append(lambda market: market.status(world_at) is status)
    if query.tags:
        tags = frozenset(tag for one in query.tags.lower().split(",") if (tag := one.strip()))
        tests.append(lambda market: tags.issubset(market.listing.tags))
    if query.q:
        tests.append(finder(query.q))
    if query.max_hours_to_resolution is not None:
        until = world_at + query.max_hours_to_resolution * HOUR_S
        tests.append(lambda market: market.listing.resolves_at <= until)
    return tests


def finder(typed: str) -> Test:
    """A test of a market: it has every word in its question or its tags, or this address."""
    place = web_place(typed)
    if place is not None:
        return lambda market: is_at(market.listing, place)
    tokens = folded(typed).split()
    return lambda market: all(token in _searched(market) for token in tokens)


def _searched(market: Market) -> str:
    """Where a search looks: question and tags."""
    return folded(f"{market.listing.question} {' '.join(market.listing.tags)}")


def _relevance(query: MarketsQuery) -> Callable[[Market], float]:
    """Smaller comes first: words in the question before words in the tags only."""
    tokens = folded(query.q or "").split()

    def key(market: Market) -> float:
        question = folded(market.listing.question)
        return sum(question.find(token) if token in question else 1_000.0 for token in tokens)

    return key


def _order(query: MarketsQuery, world_at: Timestamp) -> Callable[[Market], float]:
    """The order of the query. A keyword search orders by relevance whatever else."""
    if query.q is not None:
        return _relevance(query)
    if query.sort in {"created", "recent"}:
        return lambda market: -market.listing.opens_at
    if query.sort == "opportunity":
        # ours: the nearer to even odds, the more there is to find out.
        return lambda market: abs(market.price() - 0.5)
    return lambda market: -int(market.volume_24h(world_at))


def _tradeable(
    query: MarketsQuery, found: list[Market], world_at: Timestamp
) -> tuple[list[Market], int | None]:
    """What can be traded of what was found.

    Returns:
        The markets, and how many there were before where some of them went.
    """
    # ours: who names ids, or asks for markets that are over, wants to see just those.
    is_selected = query.ids is not None or query.status in {"closed", "resolved"}
    if is_selected or not query.tradeable_only:
        return found, None
    left = [market for market in found if market.status(world_at) is MarketStatus.ACTIVE]
    return left, len(found) if len(left) < len(found) else None


def found_in(
    query: MarketsQuery, known: Iterable[Market], world_at: Timestamp
) -> tuple[list[Market], int | None]:
    """The markets that a query means, in its order.

    Returns:
        The markets, and how many there were with those that take no orders where some went.
    """
    tests = _tests(query, world_at)
    matched = [market for market in known if all(test(market) for test in tests)]
    found, before = _tradeable(query, matched, world_at)
    return sorted(found, key=_order(query, world_at)), before


def _reason(page: list[Market], total: int, before: int | None) -> tuple[str | None, str | None]:
    """Why a page is empty, and what to do about it."""
    if page:
        return None, None
    if total:
        return None, f"there are {total}: lower the offset"
    if before:
        return "filtered_untradeable", "send tradeable_only=false to see what takes no orders"
    return "no_matches", "loosen the filter, ask with status=all, or look at /markets/importable"


def unknown_warning(unknown: Iterable[str], known: Iterable[str]) -> str | None:
    """A sentence about unread parameters; None where there are none."""
    names = tuple(known)
    ignored: list[str] = []
    for name in tuple(unknown)[:UNKNOWN_MAX]:
        near = get_close_matches(name[:50], names, n=1)
        ignored.append(f"{name[:50]} (did you mean {near[0]}?)" if near else name[:50])
    return f"ignored unknown parameters: {', '.join(ignored)}" if ignored else None


async def list_markets(request: RequestContext) -> MarketsBody:
    """A page of markets, with the reason when it is empty."""
    query = request.query_as(MarketsQuery)
    world = request.world
    world_at = world.world_at
    named = query.ids.split(",") if query.ids else ()
    past = request.service.world_store.past
    # Who names ids, or asks for what is over, gets markets that ended long ago as well.
    kept = list((await past.forgotten([one.strip() for one in named])).values()) if named else []
    if not named and query.status in {"resolved", "all"}:
        kept = await past.listed()
    found, before = found_in(query, (*world.markets.values(), *kept), world_at)
    page = await whole(request, found[query.offset : query.offset + query.limit])
    include = {part.strip() for part in (query.include or "").split(",")}
    reason, hint = _reason(page, len(found), before)
    return MarketsBody(
        markets=tuple(
            with_book(
                world,
                market,
                market_body(
                    market,
                    world_at,
                    sparkline="sparkline" in include,
                    criteria="resolution_criteria" in include,
                ),
            )
            for market in page
        ),
        agent_id=request.agent.agent_id,
        total=len(found),
        total_count=len(found),
        truncated=query.offset + len(page) < len(found),
        empty_reason=reason,
        hint=hint,
        matched_before_tradeable_filter=before,
        warning=unknown_warning(request.unknown, MarketsQuery.model_fields),
    )


async def whole(request: RequestContext, page: list[Market]) -> list[Market]:
    """The markets of a page, those that memory has forgotten with their prices from storage."""
    markets = request.world.markets
    gone = [market.market_id for market in page if market.market_id not in markets]
    stored = await request.service.world_store.past.forgotten(gone) if gone else {}
    return [stored.get(market.market_id, market) for market in page]


async def read_market(request: RequestContext) -> OneMarketBody:
    """One market with its resolution criteria."""
    market = await request.service.world_store.past.market(request.path["market_id"])
    return OneMarketBody(
        market=with_book(
            request.world,
            market,
            market_body(market, request.world.world_at, sparkline=True, criteria=True),
        ),
        agent_id=request.agent.agent_id,
    )


async def history(request: RequestContext) -> HistoryBody:
    """Prices at even steps, oldest first; before its listing a market has none."""
    query = request.query_as(HistoryQuery)
    market = await request.service.world_store.past.market(request.path["market_id"])
    world = request.world
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


ROUTES: Final[Routes] = {MARKETS: list_markets, MARKET: read_market, MARKET_HISTORY: history}
