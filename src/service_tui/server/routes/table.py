"""Which handler answers which endpoint."""

from typing import Final

from service_tui.server.http.service import Handler, StreamHandler
from service_tui.server.routes import (
    agent_results,
    agents,
    batch,
    briefing,
    chain,
    claim,
    desk,
    fleet,
    halt,
    importing,
    leaderboard,
    market_context,
    markets,
    monitors,
    needs,
    orders,
    outcomes,
    positions,
    reactor,
    redemption,
    research,
    settings,
    skills,
    trades,
    troubleshoot,
    wallet,
    world,
)
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

ROUTES: Final[dict[Endpoint[WireModel], Handler]] = {
    **agents.ROUTES,
    **settings.ROUTES,
    **importing.ROUTES,
    **markets.ROUTES,
    **market_context.ROUTES,
    **trades.ROUTES,
    **batch.ROUTES,
    **positions.ROUTES,
    **outcomes.ROUTES,
    **agent_results.ROUTES,
    **briefing.ROUTES,
    **world.ROUTES,
    **claim.ROUTES,
    **desk.ROUTES,
    **troubleshoot.ROUTES,
    **leaderboard.ROUTES,
    **skills.ROUTES,
    **orders.ROUTES,
    **halt.ROUTES,
    **monitors.ROUTES,
    **reactor.ROUTES,
    **wallet.ROUTES,
    **chain.ROUTES,
    **redemption.ROUTES,
    **research.ROUTES,
    **fleet.ROUTES,
    **needs.ROUTES,
}

STREAMS: Final[dict[Endpoint[WireModel], StreamHandler]] = {**desk.STREAMS}
