"""Route of everything that needs the operator: alerts, signals, payouts and open breakers."""

from collections.abc import Iterator
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.venues import REAL
from service_tui.engine.reactor.reactor import When
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.wallet import redemptions_body
from service_tui.server.results.venues import question_of
from service_tui.units import decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.fleet import DESK_NEEDS
from service_tui.wire.needs import AgentNeedBody, NeedKind, NeedsBody


async def list_needs(request: RequestContext) -> NeedsBody:
    """Agent by agent; nothing of what an agent's own program does by itself is left out."""
    agents = request.world.agents.values()
    return NeedsBody(needs=tuple(row for agent in agents for row in _of_agent(request, agent)))


def _of_agent(request: RequestContext, agent: Agent) -> Iterator[AgentNeedBody]:
    yield from _alerts(request, agent)
    yield from _signals(request, agent)
    yield from _payouts(request, agent)
    found = request.world.reactor.breaker(agent.agent_id, request.now)
    if found.paused_at is not None:
        yield AgentNeedBody(
            kind=NeedKind.BREAKER,
            agent_id=agent.agent_id,
            agent_name=agent.settings.name,
            id=f"{agent.agent_id}:{found.paused_at:.0f}",
            expires_at=None if found.resets_at is None else moment(found.resets_at),
        )


def _alerts(request: RequestContext, agent: Agent) -> Iterator[AgentNeedBody]:
    """Breaches that wait for their exit; what they would bring at the price that set them off."""
    for alert in request.world.risk.alerts_of(agent.agent_id):
        breach = alert.breach
        if request.now < alert.expires_at:
            yield AgentNeedBody(
                kind=NeedKind.ALERT,
                agent_id=agent.agent_id,
                agent_name=agent.settings.name,
                id=breach.alert_id,
                market_id=breach.market_id,
                question=question_of(request.world, breach.market_id),
                side=breach.side,
                venue=breach.venue,
                amount=decimal(breach.shares) * breach.price,
                expires_at=moment(alert.expires_at),
            )


def _signals(request: RequestContext, agent: Agent) -> Iterator[AgentNeedBody]:
    when = When(request.now, request.world.world_at, request.service.signal_ttl_s)
    for signal in request.world.reactor.pending(agent, request.world.markets, when):
        yield AgentNeedBody(
            kind=NeedKind.SIGNAL,
            agent_id=agent.agent_id,
            agent_name=agent.settings.name,
            id=signal.signal_id,
            market_id=signal.settled.market_id,
            question=signal.listing.question,
            side=signal.settled.side,
            venue=signal.venue,
            amount=decimal(signal.amount),
            expires_at=moment(signal.expires_at),
        )


def _payouts(request: RequestContext, agent: Agent) -> Iterator[AgentNeedBody]:
    """What has won and is not paid yet; where an agent redeems automatically it needs nobody."""
    if agent.settings.auto_redeem_enabled:
        return
    if not any(request.world.venues.account(agent.agent_id, venue).holdings for venue in REAL):
        return
    for row in redemptions_body(request.world, agent, 0).redemptions:
        if row.redeemable:
            yield AgentNeedBody(
                kind=NeedKind.REDEEMABLE,
                agent_id=agent.agent_id,
                agent_name=agent.settings.name,
                id=f"{row.market_id}:{row.side.value}",
                market_id=row.market_id,
                question=row.question,
                side=row.side,
                venue=row.venue,
                amount=row.payout,
            )


ROUTES: Final[Routes] = {DESK_NEEDS: list_needs}
