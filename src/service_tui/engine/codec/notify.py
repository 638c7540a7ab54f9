"""Price alerts and webhooks as JSON-able values and back: their rows, and their snapshot."""

from collections.abc import Callable
from typing import Any, Final

from service_tui.engine.notify.price_alerts import PriceAlert, PriceAlertBook
from service_tui.engine.notify.webhooks import Webhook, Webhooks
from service_tui.engine.notify_events import (
    NotifyEvent,
    PriceAlertArmed,
    PriceAlertDeleted,
    PriceAlertSet,
    PriceAlertTriggered,
    WebhookDeleted,
    WebhookSet,
    WebhookTried,
)
from service_tui.terms import AlertCondition, Side, WebhookEvent

Fields = list[Any]
Named = dict[str, Any]


def _alert_of(fields: Fields) -> PriceAlertSet:
    condition = AlertCondition(fields[5])
    known: Fields = [*fields[:4], Side(fields[4]), condition, *fields[6:]]
    return PriceAlertSet(*known)


def _webhook_of(fields: Fields) -> WebhookSet:
    events = tuple(WebhookEvent(name) for name in fields[4])
    known: Fields = [*fields[:4], events, *fields[5:]]
    return WebhookSet(*known)


NOTIFY_DECODERS: Final[dict[str, Callable[[Fields], NotifyEvent]]] = {
    "price_alert": _alert_of,
    "price_alert_armed": lambda fields: PriceAlertArmed(*fields),
    "price_alert_met": lambda fields: PriceAlertTriggered(*fields),
    "price_alert_end": lambda fields: PriceAlertDeleted(*fields),
    "webhook": _webhook_of,
    "webhook_end": lambda fields: WebhookDeleted(*fields),
    "webhook_try": lambda fields: WebhookTried(*fields),
}


def notify_fields(alerts: PriceAlertBook, webhooks: Webhooks) -> Named:
    """Everything about alerts and webhooks; empty for a world that never had one."""
    if not alerts.count and not webhooks.count:
        return {}
    return {
        "notify": {
            "alerts_count": alerts.count,
            "alerts": [_alert_fields(one) for one in alerts.waiting.values()],
            "triggered": [_alert_fields(one) for one in alerts.triggered],
            "webhooks_count": webhooks.count,
            "webhooks": [
                [list(one.placed), one.seq, one.failures, one.last_delivery_at, one.detail]
                for one in webhooks.by_id.values()
            ],
        }
    }


def _alert_fields(alert: PriceAlert) -> Fields:
    return [list(alert.placed), alert.is_armed, alert.triggered_at, alert.triggered_price]


def restore_notify(alerts: PriceAlertBook, webhooks: Webhooks, fields: Named | None) -> None:
    """Take alerts and webhooks from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    alerts.count, webhooks.count = fields["alerts_count"], fields["webhooks_count"]
    for row in fields["alerts"]:
        alert = PriceAlert(_alert_of(row[0]), *row[1:])
        alerts.waiting[alert.placed.alert_id] = alert
    alerts.triggered.extend(PriceAlert(_alert_of(row[0]), *row[1:]) for row in fields["triggered"])
    for row in fields["webhooks"]:
        webhook = Webhook(_webhook_of(row[0]), *row[1:])
        webhooks.by_id[webhook.placed.webhook_id] = webhook
