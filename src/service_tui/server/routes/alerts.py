"""Price alerts of the calling agent: set, list, delete."""

from typing import Final

from service_tui.engine.notify.price_alerts import PriceAlert
from service_tui.engine.notify_events import PriceAlertSet
from service_tui.engine.world import World
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.routes.webhooks import checked_url, drop_unused, new_webhook
from service_tui.units import Timestamp
from service_tui.wire.alerts import (
    PriceAlertBody,
    PriceAlertRequest,
    PriceAlertsBody,
    PriceAlertSetBody,
    RemovedBody,
    TriggeredQuery,
)
from service_tui.wire.base import moment
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    TRIGGERED_ALERTS,
)

HOUR_S: Final = 3_600.0


def alert_body(world: World, alert: PriceAlert) -> PriceAlertBody:
    """A price alert with the price of its side now."""
    placed = alert.placed
    market = world.markets.get(placed.market_id)
    return PriceAlertBody(
        id=placed.alert_id,
        market_id=placed.market_id,
        side=placed.side,
        condition=placed.condition,
        threshold=placed.threshold,
        created_at=moment(placed.at),
        market_question=world.question_of(placed.market_id),
        webhook_url=placed.webhook_url or None,
        triggered_at=None if alert.triggered_at is None else moment(alert.triggered_at),
        triggered_price=alert.triggered_price,
        current_price=None if market is None else round(market.price_of(placed.side), 6),
    )


async def create(request: RequestContext) -> PriceAlertSetBody:
    """Notify the agent once, when the price of a side meets a condition.

    An address that is no webhook of the agent's becomes one, for this alert alone.
    """
    sent, world_store = request.body_as(PriceAlertRequest), request.service.world_store
    world, agent = request.world, request.agent
    market = world.market(sent.market_id)
    market.check_open(world.world_at)
    url = sent.webhook_url or ""
    if url:
        checked_url(request, url)

    def requested() -> PriceAlertSet:
        market.check_open(request.world.world_at)
        return request.world.price_alerts.request(
            agent,
            market,
            side=sent.side,
            condition=sent.condition,
            threshold=sent.threshold,
            webhook_url=url,
            at=request.now,
        )

    # Once to see that there is room, before an address is registered for it.
    requested()
    await request.service.world_store.commit(drop_unused(request))
    secret = None
    if url and all(one.placed.url != url for one in world.webhooks.of(agent.agent_id)):
        _, secret = await new_webhook(request, url, (), None)
    world_store.check_whole()
    event = requested()
    events = world.note(event)
    alert = world.price_alerts.waiting[event.alert_id]
    if not url:
        # ours: what is beyond its threshold triggers now, as a paused world has no tick. One with
        # an address of its own waits for the tick: its answer, with the secret, comes first.
        events += world.did(world.price_alerts.due(world.markets, request.now))
    await world_store.commit(events)
    body = alert_body(world, alert)
    return PriceAlertSetBody.model_construct(**dict(body), webhook_secret=secret)


async def waiting(request: RequestContext) -> PriceAlertsBody:
    """The agent's alerts that wait, oldest first."""
    found = request.world.price_alerts.of(request.agent.agent_id)
    rows = tuple(alert_body(request.world, alert) for alert in found)
    return PriceAlertsBody(alerts=rows, count=len(rows))


async def triggered(request: RequestContext) -> PriceAlertsBody:
    """The agent's alerts that triggered within the last hours, newest first."""
    since = Timestamp(request.now - request.query_as(TriggeredQuery).hours * HOUR_S)
    found = request.world.price_alerts.triggered_of(request.agent.agent_id, since)
    rows = tuple(alert_body(request.world, alert) for alert in found)
    return PriceAlertsBody(alerts=rows, count=len(rows))


async def delete(request: RequestContext) -> RemovedBody:
    """Remove an alert that waits."""
    world, world_store = request.world, request.service.world_store
    alert_id = request.path["alert_id"]
    event = world.price_alerts.delete(request.agent.agent_id, alert_id, request.now)
    world_store.check_whole()
    await world_store.commit(world.note(event))
    return RemovedBody(success=True, id=alert_id, message="the price alert is removed")


ROUTES: Final[Routes] = {
    PRICE_ALERTS: waiting,
    SET_PRICE_ALERT: create,
    TRIGGERED_ALERTS: triggered,
    DELETE_PRICE_ALERT: delete,
}
