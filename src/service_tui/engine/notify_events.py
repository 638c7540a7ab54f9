"""Events of price alerts and webhooks, as the journal holds them."""

from typing import Final, NamedTuple

from service_tui.terms import AlertCondition, Side, WebhookEvent
from service_tui.units import Timestamp


class PriceAlertSet(NamedTuple):
    """An agent set a price alert; `price` is that of the side at this moment.

    `webhook_url` is empty if the agent polls for the alert.
    """

    alert_id: str
    agent_id: str
    at: Timestamp
    market_id: str
    side: Side
    condition: AlertCondition
    threshold: float
    price: float
    webhook_url: str = ""


class PriceAlertArmed(NamedTuple):
    """The price came to the near side of the threshold: from here it can cross."""

    alert_id: str
    at: Timestamp


class PriceAlertTriggered(NamedTuple):
    """The price met the condition; the alert is used up."""

    alert_id: str
    agent_id: str
    at: Timestamp
    price: float


class PriceAlertDeleted(NamedTuple):
    """An agent removed its alert."""

    alert_id: str
    at: Timestamp


class WebhookSet(NamedTuple):
    """An agent registered an address for events; `seq` is the journal's last row before it."""

    webhook_id: str
    agent_id: str
    at: Timestamp
    url: str
    events: tuple[WebhookEvent, ...]
    seq: int


class WebhookDeleted(NamedTuple):
    """An agent removed a webhook."""

    webhook_id: str
    at: Timestamp


class WebhookTried(NamedTuple):
    """One attempt at one delivery. `seq` is the journal row it reports, 0 where it reports none.

    `detail` is empty after a success, else what went wrong in a few words.
    """

    webhook_id: str
    at: Timestamp
    delivery_id: str
    event: str
    seq: int
    detail: str


NotifyEvent = (
    PriceAlertSet
    | PriceAlertArmed
    | PriceAlertTriggered
    | PriceAlertDeleted
    | WebhookSet
    | WebhookDeleted
    | WebhookTried
)
"""What happens to price alerts and webhooks."""

NOTIFY_KINDS: Final[dict[str, type[NotifyEvent]]] = {
    "price_alert": PriceAlertSet,
    "price_alert_armed": PriceAlertArmed,
    "price_alert_met": PriceAlertTriggered,
    "price_alert_end": PriceAlertDeleted,
    "webhook": WebhookSet,
    "webhook_end": WebhookDeleted,
    "webhook_try": WebhookTried,
}
"""Names of the kinds in the journal. They are on disk: never rename one."""
