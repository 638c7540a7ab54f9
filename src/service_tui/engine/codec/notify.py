"""Price alerts and webhooks as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.notify.agent_alerts import AgentAlert, AgentAlertBook
from service_tui.engine.notify.price_alerts import PriceAlert, PriceAlertBook
from service_tui.engine.notify.webhooks import Webhook, Webhooks
from service_tui.engine.notify_events import AgentAlertSet, OrderErred, PriceAlertSet, WebhookSet
from service_tui.records import Fields, Named, read


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
                [one.placed, one.seq, one.failures, one.last_delivery_at, one.detail]
                for one in webhooks.by_id.values()
            ],
        }
    }


def _alert_fields(alert: PriceAlert) -> Fields:
    return [alert.placed, alert.is_armed, alert.triggered_at, alert.triggered_price]


def restore_notify(alerts: PriceAlertBook, webhooks: Webhooks, fields: Named | None) -> None:
    """Take alerts and webhooks from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    alerts.count, webhooks.count = fields["alerts_count"], fields["webhooks_count"]
    for placed, *rest in fields["alerts"]:
        alert = PriceAlert(read(PriceAlertSet, placed), *rest)
        alerts.waiting[alert.placed.alert_id] = alert
    alerts.triggered.extend(
        PriceAlert(read(PriceAlertSet, placed), *rest) for placed, *rest in fields["triggered"]
    )
    for placed, *rest in fields["webhooks"]:
        webhook = Webhook(read(WebhookSet, placed), *rest)
        webhooks.by_id[webhook.placed.webhook_id] = webhook


def agent_alert_fields(book: AgentAlertBook) -> Named:
    """Everything about alerts on agents; empty for a world that never had one."""
    if not book.count:
        return {}
    return {
        "agent_alerts": {
            "count": book.count,
            "alerts": [
                [one.placed, one.is_beyond, one.fired_count, one.fired_at, one.value, one.market_id]
                for one in book.by_id.values()
            ],
            "heard": book.heard,
            "here_since": book.here_since,
            "errors": list(book.errors),
        }
    }


def restore_agent_alerts(book: AgentAlertBook, fields: Named | None) -> None:
    """Take alerts on agents from a snapshot; one from before there were any has none."""
    if fields is None:
        return
    book.count, book.heard = fields["count"], fields["heard"]
    book.here_since = fields["here_since"]
    for placed, *rest in fields["alerts"]:
        alert = AgentAlert(read(AgentAlertSet, placed), *rest)
        book.by_id[alert.placed.alert_id] = alert
    book.errors.extend(read(OrderErred, one) for one in fields["errors"])
