"""Endpoints of price alerts and webhooks. Source: wire reference, 2.4."""

from typing import Final

from service_tui.wire import alerts, webhooks
from service_tui.wire.endpoint import SDK, Endpoint

PRICE_ALERTS = Endpoint(
    "GET", f"{SDK}/alerts", alerts.PriceAlertsBody, summary="Price alerts that wait"
)
SET_PRICE_ALERT = Endpoint(
    "POST",
    f"{SDK}/alerts",
    alerts.PriceAlertSetBody,
    request=alerts.PriceAlertRequest,
    summary="Be notified once when a price meets a condition",
)
TRIGGERED_ALERTS = Endpoint(
    "GET",
    f"{SDK}/alerts/triggered",
    alerts.PriceAlertsBody,
    query=alerts.TriggeredQuery,
    summary="Price alerts that triggered lately, newest first",
)
DELETE_PRICE_ALERT = Endpoint(
    "DELETE", f"{SDK}/alerts/{{alert_id}}", alerts.RemovedBody, summary="Remove a price alert"
)
WEBHOOKS = Endpoint("GET", f"{SDK}/webhooks", webhooks.WebhooksBody, summary="The agent's webhooks")
SET_WEBHOOK = Endpoint(
    "POST",
    f"{SDK}/webhooks",
    webhooks.WebhookSetBody,
    request=webhooks.WebhookRequest,
    summary="Register an address for events; deliveries are signed",
)
TEST_WEBHOOKS = Endpoint(
    "POST",
    f"{SDK}/webhooks/test",
    webhooks.WebhookTestBody,
    request=webhooks.WebhookTestRequest,
    bodyless=True,
    summary="Send a test delivery now",
)
DELETE_WEBHOOK = Endpoint(
    "DELETE", f"{SDK}/webhooks/{{webhook_id}}", alerts.RemovedBody, summary="Remove a webhook"
)

ALL_NOTIFY: Final = (
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    TRIGGERED_ALERTS,
    DELETE_PRICE_ALERT,
    WEBHOOKS,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    DELETE_WEBHOOK,
)
"""Every endpoint of alerts and webhooks."""
