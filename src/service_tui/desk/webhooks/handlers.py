"""Handlers of the webhook commands; each reads the list again after its change."""

from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.changes import Changed
from service_tui.desk.command import Command
from service_tui.desk.commands.webhooks import (
    ReadWebhooks,
    RemoveWebhook,
    SetWebhook,
    TestWebhook,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.registry import Handlers
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.webhooks import WebhooksView, WebhookView
from service_tui.units import Timestamp
from service_tui.wire.endpoints.notify import (
    DELETE_WEBHOOK,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    WEBHOOKS,
)
from service_tui.wire.webhooks import WebhookBody, WebhookRequest, WebhookTestRequest


async def read(_: ReadWebhooks, ports: Ports) -> None:
    """Read the list; an older one stays with the reason where the service does not answer."""
    try:
        reply = await ports.client.call(WEBHOOKS)
    except ServiceError as error:
        known = ports.state().webhooks or WebhooksView((), None)
        ports.emit(Changed(replace(known, problem=str(error))))
        return
    rows = tuple(_view(body) for body in reply.answer.webhooks)
    ports.emit(Changed(WebhooksView(rows, ports.now())))


def _view(body: WebhookBody) -> WebhookView:
    at = body.last_delivery_at
    return WebhookView(
        webhook_id=body.id,
        url=body.url,
        events=body.events,
        is_active=body.active,
        failures=body.consecutive_failures,
        error=body.last_error,
        waiting=body.waiting,
        last_delivery_at=None if at is None else Timestamp(at.timestamp()),
    )


def _is_refused(order: Command, ports: Ports) -> bool:
    """True, with a notice, on a desk that changes nothing."""
    if ports.state().service.read_only:
        ports.emit(Noticed("warn", f"{order.describe()}: {READ_ONLY}"))
    return ports.state().service.read_only


async def set_webhook(order: SetWebhook, ports: Ports) -> None:
    """Register an address, and reveal the secret that signs its deliveries."""
    if _is_refused(order, ports):
        return
    body = WebhookRequest.model_construct(url=order.url, events=order.events)
    try:
        reply = await ports.client.call(SET_WEBHOOK, body=body)
    except ServiceError as error:
        ports.emit(Noticed("bad", failed_text(order, error)))
        return
    ports.emit(Noticed("good", f"webhook added: {order.url}"))
    secret = reply.answer.secret
    if secret:
        ports.emit(Changed(RevealedView("", order.url, is_key=False, secret=secret)))
    await read(ReadWebhooks(), ports)


async def test_webhook(order: TestWebhook, ports: Ports) -> None:
    """Send a test delivery, and notify about its result."""
    if _is_refused(order, ports):
        return
    body = WebhookTestRequest(webhook_id=order.webhook_id)
    try:
        reply = await ports.client.call(TEST_WEBHOOKS, body=body)
    except ServiceError as error:
        ports.emit(Noticed("bad", failed_text(order, error)))
        return
    failed = next((result.error for result in reply.answer.results if not result.success), "")
    if failed:
        ports.emit(Noticed("bad", f"{order.describe()}: {failed}"))
    else:
        ports.emit(Noticed("good", f"{order.url} accepted the test delivery"))
    await read(ReadWebhooks(), ports)


async def remove_webhook(order: RemoveWebhook, ports: Ports) -> None:
    """Remove an address."""
    if _is_refused(order, ports):
        return
    try:
        await ports.client.call(DELETE_WEBHOOK, path={"webhook_id": order.webhook_id})
    except ServiceError as error:
        ports.emit(Noticed("bad", failed_text(order, error)))
        return
    ports.emit(Noticed("info", f"webhook removed: {order.url}"))
    await read(ReadWebhooks(), ports)


HANDLERS: Final[Handlers] = {
    ReadWebhooks: read,
    SetWebhook: set_webhook,
    TestWebhook: test_webhook,
    RemoveWebhook: remove_webhook,
}
