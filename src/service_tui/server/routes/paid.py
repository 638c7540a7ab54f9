"""Endpoints that are paid per call; the payment was checked before they run."""

from dataclasses import replace
from typing import Final

from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import market_body
from service_tui.server.projections.venues import with_book
from service_tui.server.routes import briefing
from service_tui.wire.base import moment
from service_tui.wire.briefing import BriefingBody, BriefingQuery
from service_tui.wire.endpoints.paid import FORECAST, PAID_BRIEFING
from service_tui.wire.paid import ForecastBody, ForecastRequest, PaidBriefingRequest

DIGITS: Final = 6


async def forecast(request: RequestContext) -> ForecastBody:
    """A forecast of YES: the mean of the public prices."""
    world = request.world
    market = world.market(request.body_as(ForecastRequest).market_id)
    market.check_open(world.world_at)
    plain = market_body(market, world.world_at, sparkline=False, criteria=False)
    body = with_book(world, market, plain)
    prices = [body.current_probability]
    if body.external_price_yes is not None:
        prices.append(body.external_price_yes)
    return ForecastBody(
        market_id=market.market_id,
        question=market.listing.question,
        probability=round(sum(prices) / len(prices), DIGITS),
        market_price=body.current_probability,
        external_price=body.external_price_yes,
        price_24h_ago=body.price_24h_ago,
        # ours: an oracle of its own would give the tape's secrets away.
        basis="the middle of the market's price and its venue's",
        forecast_at=moment(request.now),
    )


async def paid_briefing(request: RequestContext) -> BriefingBody:
    """The briefing, the same as the free one."""
    query = BriefingQuery(since=request.body_as(PaidBriefingRequest).since)
    return await briefing.briefing(replace(request, body=None, query=query))


ROUTES: Final[Routes] = {FORECAST: forecast, PAID_BRIEFING: paid_briefing}
