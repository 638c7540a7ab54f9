"""Import: what the venues trade, whether it is listed here, and listing it.

An address is text: it is compared with what the venues' questions are called, and never opened.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from service_tui.engine.agents.limits import imports_left
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import (
    HOSTS,
    PUBLIC_HOSTS,
    CatalogueMatch,
    condition_of,
    event_of,
    event_url,
    importable_at,
    named_by,
    outside_price,
    outside_volume,
    ticker_of,
    url_of,
)
from service_tui.engine.errors import DayImports, NotClaimed
from service_tui.engine.importing import import_listings
from service_tui.engine.limits import DAY_S, PLANS
from service_tui.engine.listing import Listing
from service_tui.server.http.refusals import X402_PRICE, Denied, denied, invalid_items, not_claimed
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import claim_url
from service_tui.terms import Venue
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import (
    CHECK_MARKET,
    IMPORT_MARKET,
    IMPORT_TICKER,
    IMPORT_TICKER_EVENT,
    IMPORTABLE,
)
from service_tui.wire.errors import ErrorBody
from service_tui.wire.importing import (
    CheckBody,
    CheckQuery,
    ImportableBody,
    ImportableQuery,
    ImportablesBody,
    ImportBody,
    ImportEventRequest,
    ImportRequest,
    ImportTickerRequest,
    OutcomeBody,
)

VOLUME_FLOOR: Final = 1_000.0
EVENT_MAX: Final = 10
"""Outcomes of an event that one import lists when none are named."""

UNKNOWN_FIX: Final = "take an address from GET /api/sdk/markets/importable: this service is offline"


def _importable(request: RequestContext) -> list[Listing]:
    """Questions of the venues that are not listed, and read like none that is."""
    world = request.world
    questions = {market.listing.question for market in world.markets.values()}
    return [
        listing
        for listing in importable_at(world.tape, world.world_at)
        if listing.market_id not in world.markets and listing.question not in questions
    ]


def _wanted(listing: Listing, query: ImportableQuery) -> bool:
    """True for a question that matches the query."""
    text = f"{listing.question} {' '.join(listing.tags)}".lower()
    return (
        outside_volume(listing) >= max(VOLUME_FLOOR, query.min_volume)
        and (not query.category or query.category.strip().lower() in listing.tags)
        and query.venue in {None, listing.home}
        and all(token in text for token in (query.q or "").lower().split())
    )


async def importable(request: RequestContext) -> ImportablesBody:
    """What could be imported now, most traded first."""
    query = request.query_as(ImportableQuery)
    found = [listing for listing in _importable(request) if _wanted(listing, query)]
    found.sort(key=outside_volume, reverse=True)
    return ImportablesBody(
        markets=tuple(_importable_body(request, listing) for listing in found[: query.limit]),
        total=len(found),
    )


def _importable_body(request: RequestContext, listing: Listing) -> ImportableBody:
    event = event_of(listing)
    return ImportableBody(
        question=listing.question,
        url=url_of(listing) or "",
        condition_id=condition_of(listing.market_id),
        current_price=_outside(request, listing) or 0.0,
        volume_24h=outside_volume(listing),
        venue=listing.home,
        category=listing.category.value,
        resolves_at=moment(listing.resolves_at),
        ticker=ticker_of(listing),
        event_name=event.name if event else None,
        event_url=event_url(event, listing.home) if event else None,
    )


def _outside(request: RequestContext, listing: Listing) -> float | None:
    """Price of YES on the venue now."""
    return outside_price(request.world.seed, listing, request.world.world_at)


def venue_of(address: str) -> tuple[Venue, str] | None:
    """The venue whose address this is, and the last part of its path; None for any other text."""
    try:
        parts = urlsplit(address.strip())
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    known = PUBLIC_HOSTS | {name: venue for venue, name in HOSTS.items()}
    if parts.scheme not in {"http", "https"} or host not in known:
        return None
    return known[host], parts.path.rstrip("/").rpartition("/")[2]


def _named(
    request: RequestContext, address: str, *, home: Venue | None = None
) -> CatalogueMatch | None:
    """What an address points at; of another venue than `home`, nothing."""
    found = venue_of(address)
    if found is None or (home is not None and found[0] is not home):
        return None
    return _at_home(request, found[1], found[0])


def _at_home(request: RequestContext, name: str, home: Venue) -> CatalogueMatch | None:
    """What the last part of an address, or a ticker, means on a venue."""
    named = named_by(request.world.tape, name, request.world.world_at)
    if named is None or not named.listings or named.listings[0].home is not home:
        return None
    return named


def _listed(request: RequestContext, listings: Sequence[Listing]) -> list[Market]:
    """Those that the service lists already."""
    markets = request.world.markets
    return [markets[one.market_id] for one in listings if one.market_id in markets]


def _by_condition(request: RequestContext, condition_id: str) -> Market | None:
    condition = condition_id.strip().lower()
    markets = request.world.markets.values()
    return next((one for one in markets if condition_of(one.market_id) == condition), None)


async def check(request: RequestContext) -> CheckBody:
    """Whether a question is listed; costs no import."""
    query = request.query_as(CheckQuery)
    market = None
    if query.condition_id is not None:
        market = _by_condition(request, query.condition_id)
    elif query.url is not None or query.ticker is not None:
        named = (
            _named(request, query.url)
            if query.url is not None
            else _at_home(request, (query.ticker or "").strip(), Venue.SOL)
        )
        market = next(iter(_listed(request, named.listings)), None) if named else None
    if market is None:
        return CheckBody(exists=False)
    return CheckBody(
        exists=True,
        market_id=market.market_id,
        question=market.listing.question,
        status=market.status(request.world.world_at).value,
    )


async def import_market(request: RequestContext) -> ImportBody:
    """List a question of the EVM venue, or the outcomes of one of its events."""
    body = request.body_as(ImportRequest)
    if venue_of(body.polymarket_url) is None:
        message = "not an http(s) address of a venue"
        raise invalid_items([(("body", "polymarket_url"), message, "url_parsing")])
    # Events of either venue have an address; single questions of the other one have a ticker.
    named = _named(request, body.polymarket_url)
    if named is None:
        raise denied(404, "no venue has a market at this address", UNKNOWN_FIX)
    if body.market_ids is not None:
        named = CatalogueMatch(_chosen(named, body.market_ids), named.event)
    return await _import(request, named, whole_event=_is_event(named))


def _is_event(named: CatalogueMatch) -> bool:
    return named.event is not None and len(named.listings) > 1


def _chosen(named: CatalogueMatch, ids: Sequence[str]) -> tuple[Listing, ...]:
    """The outcomes that were named.

    Returns:
        Those listings.

    Raises:
        Denied: 422 for an id that is none of the outcomes.
    """
    known = {
        key: one for one in named.listings for key in (one.market_id, condition_of(one.market_id))
    }
    for position, wanted in enumerate(ids):
        if wanted not in known:
            message = "not an outcome at this address"
            raise invalid_items([(("body", "market_ids", position), message, "unknown_outcome")])
    wanted_ids = {known[one].market_id for one in ids}
    return tuple(one for one in named.listings if one.market_id in wanted_ids)


async def import_ticker(request: RequestContext) -> ImportBody:
    """List a question of the Solana venue."""
    text = request.body_as(ImportTickerRequest).kalshi_url.strip()
    if "/" in text and venue_of(text) is None:
        message = "neither an http(s) address of the venue nor a ticker"
        raise invalid_items([(("body", "kalshi_url"), message, "url_parsing")])
    named = (
        _named(request, text, home=Venue.SOL) if "/" in text else _at_home(request, text, Venue.SOL)
    )
    if named is None:
        raise denied(404, "no market of the venue has this address or ticker", UNKNOWN_FIX)
    return await _import(request, named, whole_event=_is_event(named))


async def import_ticker_event(request: RequestContext) -> ImportBody:
    """List the outcomes of an event of the Solana venue, named by its ticker or by an outcome's."""
    ticker = request.body_as(ImportEventRequest).event_ticker.strip()
    named = _at_home(request, ticker, Venue.SOL)
    event = None if named is None else named.event
    if event is not None:
        named = _at_home(request, event.slug, Venue.SOL)
    if named is None or event is None:
        raise denied(404, "no event of the venue has this ticker", UNKNOWN_FIX)
    return await _import(request, named, whole_event=True)


async def _import(
    request: RequestContext, named: CatalogueMatch, *, whole_event: bool
) -> ImportBody:
    """List what is not listed; what is costs nothing. Says what is left of the day's imports."""
    world, agent, service = request.world, request.agent, request.service
    if not agent.settings.claimed:
        refusal = NotClaimed("Agent must be claimed before importing markets")
        raise not_claimed(refusal, claim_url(service.address, agent))
    listings = named.listings[:EVENT_MAX]
    fresh = [
        one
        for one in listings
        if one.market_id not in world.markets and one.resolves_at > world.world_at
    ]
    if fresh:
        try:
            service.world_store.check_whole()
            listed = import_listings(world, agent, fresh, request.now, unlimited=not service.limits)
        except DayImports as refusal:
            raise _used_up(request, refusal) from refusal
        await service.world_store.commit(listed)
    request.headers.update(_left(request))
    if whole_event:
        return _event_body(request, named, listings, fresh)
    return _single_body(request, listings[0], imported=bool(fresh))


def _left(request: RequestContext) -> dict[str, str]:
    """What is left of the day's imports. Source: wire reference, 2.2."""
    agent = request.agent
    return {
        "X-Imports-Remaining": str(imports_left(agent, request.now)),
        "X-Imports-Limit": str(PLANS[agent.settings.plan].imports_per_day),
    }


def _single_body(request: RequestContext, listing: Listing, *, imported: bool) -> ImportBody:
    world = request.world
    market = world.markets.get(listing.market_id)
    is_open = market is not None and market.resolved_at is None
    status = "imported" if imported else "already_exists" if is_open else "resolved"
    return ImportBody(
        # A question that is over is listed no more: what was requested did not happen.
        success=status != "resolved",
        status=status,
        market_id=market.market_id if market else None,
        question=listing.question,
        current_probability=round(market.price(), 6) if market else None,
        external_price_yes=_outside(request, listing) if is_open else None,
        resolves_at=moment(listing.resolves_at),
        kalshi_ticker=ticker_of(listing) if listing.home is Venue.SOL else None,
        import_source=listing.home,
    )


def _event_body(
    request: RequestContext,
    named: CatalogueMatch,
    listings: Sequence[Listing],
    fresh: Sequence[Listing],
) -> ImportBody:
    listed = _listed(request, listings)
    event = named.event
    status = "imported" if fresh else "already_exists" if listed else "resolved"
    return ImportBody(
        success=status != "resolved",
        status=status,
        event_id=event.event_id if event else None,
        event_name=event.name if event else None,
        markets=tuple(
            OutcomeBody(
                market_id=market.market_id,
                question=market.listing.question,
                outcome_name=market.listing.subject,
                current_probability=round(market.price(), 6),
            )
            for market in listed
        ),
        markets_imported=len(fresh),
        markets_skipped=len(listings) - len(fresh),
        import_source=listings[0].home,
    )


def _used_up(request: RequestContext, refusal: DayImports) -> Denied:
    """A 429 in the usual shape; the wait is what is left of the UTC day."""
    body = ErrorBody(
        error="Rate limit exceeded",
        detail=refusal.error,
        fix=refusal.fix,
        limit=PLANS[request.agent.settings.plan].imports_per_day,
        x402_url=f"{request.service.address}{IMPORT_MARKET.path}",
        x402_price=X402_PRICE,
    )
    wait_s = int(DAY_S - request.now % DAY_S) + 1
    return Denied(429, body, {"Retry-After": str(wait_s), **_left(request)})


ROUTES: Final[Routes] = {
    IMPORTABLE: importable,
    CHECK_MARKET: check,
    IMPORT_MARKET: import_market,
    IMPORT_TICKER: import_ticker,
    IMPORT_TICKER_EVENT: import_ticker_event,
}
