"""Webhooks of the calling agent: register, list, test, delete."""

from typing import Final

from service_tui.engine.events import Event
from service_tui.engine.notify.webhooks import Webhook
from service_tui.server.http.refusals import invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.webhooks.address import AddressRefusedError, parsed
from service_tui.terms import WebhookEvent
from service_tui.wire.alerts import RemovedBody
from service_tui.wire.base import moment
from service_tui.wire.endpoints.notify import (
    DELETE_WEBHOOK,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    WEBHOOKS,
)
from service_tui.wire.webhooks import (
    WebhookBody,
    WebhookRequest,
    WebhooksBody,
    WebhookSetBody,
    WebhookTestBody,
    WebhookTestRequest,
    WebhookTestResult,
)


def checked_url(request: RequestContext, url: str, field: str = "webhook_url") -> None:
    """Refuse an address that no webhook of the caller may have.

    Raises:
        Denied: 422, with the reason.
    """
    allowed = request.service.courier.allows_loopback(request.agent.agent_id)
    try:
        parsed(url, allows_loopback=allowed)
    except AddressRefusedError as refused:
        raise invalid_items([(("body", field), str(refused), "url")]) from refused


async def new_webhook(
    request: RequestContext, url: str, events: tuple[WebhookEvent, ...], secret: str | None
) -> tuple[str, str]:
    """Register a webhook.

    Args:
        request: the caller.
        url: an address that was checked.
        events: what it is to get.
        secret: what signs its deliveries; one is made where it is None.

    Returns:
        The webhook's id, and its secret.
    """
    service = request.service
    store, courier = service.world_store, service.courier
    kept = secret or service.new_id() + service.new_id()
    async with courier.registering:
        store.check_whole()
        agent_id = request.agent.agent_id
        event = request.world.webhooks.request(agent_id, url, events, at=request.now, seq=store.seq)
        # First the secret: a webhook without one could deliver nothing.
        await courier.keep_secret(event.webhook_id, kept)
        store.check_whole()
        await store.commit(request.world.note(event._replace(seq=store.seq)))
    return event.webhook_id, kept


def drop_unused(request: RequestContext) -> list[Event]:
    """Remove addresses that were registered for alerts alone, of which none waits any more.

    Returns:
        The events, already applied.
    """
    world, courier = request.world, request.service.courier
    agent_id = request.agent.agent_id
    named = {alert.placed.webhook_url for alert in world.price_alerts.of(agent_id)}
    unused = [
        hook.placed.webhook_id
        for hook in world.webhooks.of(agent_id)
        if not hook.placed.events
        and hook.placed.url not in named
        and not courier.waiting_count(hook.placed.webhook_id)
    ]
    return [
        event
        for webhook_id in unused
        for event in world.note(world.webhooks.delete(agent_id, webhook_id, request.now))
    ]


def _body(request: RequestContext, webhook: Webhook) -> WebhookBody:
    placed = webhook.placed
    at = webhook.last_delivery_at
    return WebhookBody(
        id=placed.webhook_id,
        url=placed.url,
        events=placed.events,
        active=webhook.is_active,
        created_at=moment(placed.at),
        consecutive_failures=webhook.failures,
        last_delivery_at=None if at is None else moment(at),
        last_error=webhook.detail,
        waiting=request.service.courier.waiting_count(placed.webhook_id),
    )


async def create(request: RequestContext) -> WebhookSetBody:
    """Register an address for events; a secret that the service made is shown this once."""
    sent = request.body_as(WebhookRequest)
    checked_url(request, sent.url, "url")
    events = tuple(dict.fromkeys(sent.events))
    webhook_id, secret = await new_webhook(request, sent.url, events, sent.secret)
    webhook = request.world.webhooks.find(request.agent.agent_id, webhook_id)
    body = _body(request, webhook)
    shown = secret if sent.secret is None else None
    return WebhookSetBody.model_construct(**dict(body), secret=shown)


async def read(request: RequestContext) -> WebhooksBody:
    """The agent's webhooks, oldest first."""
    found = request.world.webhooks.of(request.agent.agent_id)
    rows = tuple(_body(request, webhook) for webhook in found)
    return WebhooksBody(webhooks=rows, count=len(rows))


async def delete(request: RequestContext) -> RemovedBody:
    """Remove a webhook with what waits for it."""
    world, world_store = request.world, request.service.world_store
    webhook_id = request.path["webhook_id"]
    event = world.webhooks.delete(request.agent.agent_id, webhook_id, request.now)
    world_store.check_whole()
    await world_store.commit(world.note(event))
    await request.service.courier.forget(webhook_id)
    return RemovedBody(success=True, id=webhook_id, message="the webhook is removed")


async def test(request: RequestContext) -> WebhookTestBody:
    """Send one test delivery to a webhook, or to each of the agent's; it counts for nothing."""
    sent, service = request.body_as(WebhookTestRequest), request.service
    webhooks, agent_id = request.world.webhooks, request.agent.agent_id
    found = webhooks.of(agent_id)
    if sent.webhook_id is not None:
        found = [webhooks.find(agent_id, sent.webhook_id)]
    results: list[WebhookTestResult] = []
    for webhook in found:
        placed = webhook.placed
        delivery_id = f"{placed.webhook_id}-test-{service.new_id()[:12]}"
        error = await service.courier.test(webhook, request.now, delivery_id)
        results.append(
            WebhookTestResult(id=placed.webhook_id, url=placed.url, success=not error, error=error)
        )
    return WebhookTestBody(success=all(one.success for one in results), results=tuple(results))


ROUTES: Final[Routes] = {
    WEBHOOKS: read,
    SET_WEBHOOK: create,
    TEST_WEBHOOKS: test,
    DELETE_WEBHOOK: delete,
}
