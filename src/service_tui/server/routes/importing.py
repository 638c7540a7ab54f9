"""Import: questions of the venues that could be listed here, and listing them.

An address is only compared with the addresses of the venues' questions; it is never opened.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Final

from service_tui.engine.agents.limits import imports_left
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import (
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
    venue_at,
)
from service_tui.engine.errors import DayImports, NotClaimed
from service_tui.engine.importing import import_listings
from service_tui.engine.limits import DAY_S, PLANS
from service_tui.engine.listing import Listing
from service_tui.engine.tape.recorded import MarketTape
from service_tui.folding import folded
from service_tui.pasted import bare, ticker, web_place
from service_tui.server.http.refusals import X402_PRICE, Denied, denied, invalid_items, not_claimed
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import announced, claim_url
from service_tui.terms import Venue
from service_tui.units import Timestamp
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
    EventOutcomeBody,
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
"""Outcomes of an event that one import lists when the request names none."""

UNKNOWN_FIX: Final = "take an address from GET /api/sdk/markets/importable: this service is offline"


def _importable(request: RequestContext) -> list[Listing]:
    """Questions of the venues that are not listed, neither by id nor by text."""
    world = request.world
    questions = {market.listing.question for market in world.markets.values()}
    return [
        listing
        for listing in importable_at(world.tape, world.world_at)
        if listing.market_id not in world.markets and listing.question not in questions
    ]


def _matches(listing: Listing, query: ImportableQuery) -> bool:
    """True for a question that matches the query."""
    text = folded(f"{listing.question} {' '.join(listing.tags)}")
    return (
        outside_volume(listing) >= max(VOLUME_FLOOR, query.min_volume)
        and (not query.category or query.category.strip().lower() in listing.tags)
        and query.venue in {None, listing.home}
        and all(token in text for token in folded(query.q or "").split())
    )


async def importable(request: RequestContext) -> ImportablesBody:
    """The questions that could be imported now, most traded first."""
    query = request.query_as(ImportableQuery)
    found = [listing for listing in _importable(request) if _matches(listing, query)]
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
        current_price=_venue_price(request, listing) or 0.0,
        volume_24h=outside_volume(listing),
        venue=listing.home,
        category=listing.category.value,
        resolves_at=moment(listing.resolves_at),
        ticker=ticker_of(listing),
        event_name=event.name if event else None,
        event_url=event_url(event, listing.home) if event else None,
    )


def _venue_price(request: RequestContext, listing: Listing) -> float | None:
    """Price of YES on the venue now."""
    return outside_price(request.world.seed, listing, request.world.world_at)


def venue_of(address: str) -> tuple[Venue, str] | None:
    """The venue whose address this is, and the last part of its path; None for any other text."""
    place = web_place(address)
    venue = None if place is None else venue_at(place.host)
    return None if place is None or venue is None else (venue, place.name)


def _by_address(
    request: RequestContext, address: str, *, home: Venue | None = None
) -> CatalogueMatch | None:
    """The question or event at an address; None without one, or if `home` is another venue."""
    found = venue_of(address)
    if found is None or (home is not None and found[0] is not home):
        return None
    return _by_name(request, found[1], found[0])


def _by_name(request: RequestContext, name: str, home: Venue) -> CatalogueMatch | None:
    """The question or event of a venue with this ticker, or this last part of an address."""
    match = named_by(request.world.tape, name, request.world.world_at)
    if match is None or not match.listings or match.listings[0].home is not home:
        return None
    return match


def _by_ticker(request: RequestContext, text: str) -> CatalogueMatch | None:
    """The question or event of the Solana venue with this ticker, or at this address."""
    if "/" in bare(text):
        return _by_address(request, text, home=Venue.SOL)
    return _by_name(request, ticker(text), Venue.SOL)


def _listed_markets(request: RequestContext, listings: Sequence[Listing]) -> list[Market]:
    """The markets of those questions that are listed already."""
    markets = request.world.markets
    return [markets[one.market_id] for one in listings if one.market_id in markets]


def _market_of_condition(request: RequestContext, condition_id: str) -> Market | None:
    condition = bare(condition_id).lower()
    markets = request.world.markets.values()
    return next((one for one in markets if condition_of(one.market_id) == condition), None)


async def check(request: RequestContext) -> CheckBody:
    """Whether a question is listed; costs no import."""
    query = request.query_as(CheckQuery)
    if query.condition_id is not None:
        return _checked(request, _market_of_condition(request, query.condition_id))
    match = (
        _by_address(request, query.url)
        if query.url is not None
        else _by_ticker(request, query.ticker or "")
    )
    if match is not None and _is_event(match):
        return _event_checked(request, match)
    return _checked(
        request, next(iter(_listed_markets(request, match.listings)), None) if match else None
    )


def _checked(request: RequestContext, market: Market | None) -> CheckBody:
    if market is None:
        return CheckBody(exists=False)
    return CheckBody(
        exists=True,
        market_id=market.market_id,
        question=market.listing.question,
        status=market.status(request.world.world_at).value,
    )


def _event_checked(request: RequestContext, match: CatalogueMatch) -> CheckBody:
    """No market, and the outcomes of the event, each with what names it alone."""
    event = match.event
    return CheckBody(
        exists=False,
        event_name=None if event is None else event.name,
        outcomes=tuple(_event_outcome(request, listing) for listing in match.listings),
        hint=f"an event with {len(match.listings)} outcomes is no market: name one of them",
    )


def _event_outcome(request: RequestContext, listing: Listing) -> EventOutcomeBody:
    market = request.world.markets.get(listing.market_id)
    return EventOutcomeBody(
        question=listing.question,
        outcome_name=listing.subject,
        url=url_of(listing) or "",
        condition_id=condition_of(listing.market_id),
        ticker=ticker_of(listing),
        exists=market is not None,
        market_id=None if market is None else market.market_id,
        status=None if market is None else market.status(request.world.world_at).value,
    )


async def import_market(request: RequestContext) -> ImportBody:
    """List a question of the EVM venue, or the outcomes of one of its events."""
    body = request.body_as(ImportRequest)
    if venue_of(body.polymarket_url) is None:
        message = "not an http(s) address of a venue"
        raise invalid_items([(("body", "polymarket_url"), message, "url_parsing")])
    # Events of either venue have an address; single questions of the other one have a ticker.
    match = _by_address(request, body.polymarket_url)
    if match is None:
        raise denied(404, "no venue has a market at this address", UNKNOWN_FIX)
    if body.market_ids is not None:
        match = CatalogueMatch(outcomes_with(match, body.market_ids), match.event)
    return await _import(request, match, whole_event=_is_event(match))


def _is_event(match: CatalogueMatch) -> bool:
    return match.event is not None and len(match.listings) > 1


def outcomes_with(match: CatalogueMatch, ids: Sequence[str]) -> tuple[Listing, ...]:
    """The outcomes of an event with these ids.

    Returns:
        Their listings.

    Raises:
        Denied: 422 for an id that is none of the outcomes.
    """
    known = {
        key: one for one in match.listings for key in (one.market_id, condition_of(one.market_id))
    }
    for position, wanted in enumerate(ids):
        if wanted not in known:
            message = "not an outcome at this address"
            raise invalid_items([(("body", "market_ids", position), message, "unknown_outcome")])
    wanted_ids = {known[one].market_id for one in ids}
    return tuple(one for one in match.listings if one.market_id in wanted_ids)


async def import_ticker(request: RequestContext) -> ImportBody:
    """List a question of the Solana venue."""
    text = request.body_as(ImportTickerRequest).kalshi_url
    if "/" in bare(text) and venue_of(text) is None:
        message = "neither an http(s) address of the venue nor a ticker"
        raise invalid_items([(("body", "kalshi_url"), message, "url_parsing")])
    match = _by_ticker(request, text)
    if match is None:
        raise denied(404, "no market of the venue has this address or ticker", UNKNOWN_FIX)
    if _is_event(match):
        raise _is_no_market(match)
    return await _import(request, match, whole_event=False)


def _is_no_market(match: CatalogueMatch) -> Denied:
    """Refuse an event where one question is wanted. Source: decisions, "Events"."""
    tickers = ", ".join(ticker_of(one) for one in match.listings)
    return denied(
        422,
        f"this names an event with {len(match.listings)} outcomes, not a market",
        f"import one of {tickers}, or the event by POST {IMPORT_TICKER_EVENT.path}",
    )


async def import_ticker_event(request: RequestContext) -> ImportBody:
    """List the outcomes of an event of the Solana venue, by its ticker or an outcome's."""
    match = _by_ticker(request, request.body_as(ImportEventRequest).event_ticker)
    event = None if match is None else match.event
    if event is not None:
        match = _by_name(request, event.slug, Venue.SOL)
    if match is None or event is None:
        raise denied(404, "no event of the venue has this ticker", UNKNOWN_FIX)
    return await _import(request, match, whole_event=True)


def fresh_of(
    listings: Iterable[Listing], known: Container[str], tape: MarketTape, world_at: Timestamp
) -> list[Listing]:
    """The questions that can be listed: neither listed already nor over.

    A recorded one may be over long before its announced end: at its last price it would be a gift.
    """
    return [
        one
        for one in listings
        if one.market_id not in known
        and one.resolves_at > world_at
        and tape.resolution(one, world_at) is None
    ]


async def _import(
    request: RequestContext, match: CatalogueMatch, *, whole_event: bool
) -> ImportBody:
    """List those questions that are not listed yet; headers state the rest of the day's imports."""
    world, agent, service = request.world, request.agent, request.service
    if not agent.settings.claimed:
        refusal = NotClaimed("Agent must be claimed before importing markets")
        raise not_claimed(refusal, claim_url(service.address, agent))
    listings = match.listings[:EVENT_MAX]
    fresh = fresh_of(listings, world.markets, world.tape, world.world_at)
    if fresh:
        try:
            service.world_store.check_whole()
            listed = import_listings(world, agent, fresh, request.now, unlimited=not service.limits)
        except DayImports as refusal:
            raise _quota_used(request, refusal) from refusal
        await service.world_store.commit(listed)
    request.headers.update(_quota_headers(request))
    if whole_event:
        return _event_body(request, match, listings, fresh)
    return _single_body(request, listings[0], imported=bool(fresh))


def _quota_headers(request: RequestContext) -> dict[str, str]:
    """Headers with the rest of the day's imports. Source: wire reference, 2.2."""
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
        # A question that has ended cannot be listed: the request failed.
        success=status != "resolved",
        status=status,
        market_id=market.market_id if market else None,
        question=listing.question,
        current_probability=round(market.price(), 6) if market else None,
        external_price_yes=_venue_price(request, listing) if is_open else None,
        resolves_at=announced(listing),
        kalshi_ticker=ticker_of(listing) if listing.home is Venue.SOL else None,
        import_source=listing.home,
    )


def _event_body(
    request: RequestContext,
    match: CatalogueMatch,
    listings: Sequence[Listing],
    fresh: Sequence[Listing],
) -> ImportBody:
    listed = _listed_markets(request, listings)
    event = match.event
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


def _quota_used(request: RequestContext, refusal: DayImports) -> Denied:
    """A 429 in the usual form, to be retried after midnight UTC."""
    body = ErrorBody(
        error="Rate limit exceeded",
        detail=refusal.error,
        fix=refusal.fix,
        limit=PLANS[request.agent.settings.plan].imports_per_day,
        x402_url=f"{request.service.address}{IMPORT_MARKET.path}",
        x402_price=X402_PRICE,
    )
    wait_s = int(DAY_S - request.now % DAY_S) + 1
    return Denied(429, body, {"Retry-After": str(wait_s), **_quota_headers(request)})


ROUTES: Final[Routes] = {
    IMPORTABLE: importable,
    CHECK_MARKET: check,
    IMPORT_MARKET: import_market,
    IMPORT_TICKER: import_ticker,
    IMPORT_TICKER_EVENT: import_ticker_event,
}
