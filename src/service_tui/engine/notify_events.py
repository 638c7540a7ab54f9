"""Journal events of price alerts, alerts on agents, and webhooks."""

from typing import Final, NamedTuple

from service_tui.terms import (
    AgentAlertAction,
    AgentAlertKind,
    AlertCondition,
    Side,
    WebhookEvent,
)
from service_tui.units import Micros, Timestamp


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


class AgentAlertSet(NamedTuple):
    """The operator set an alert on an agent.

    `limit` is a millionth of what the kind counts: minutes, a fraction of the peak, money, a
    fraction of a price, or errors. `minutes` is the window, 0 for a kind without one. `skill_slug`
    is the skill whose errors count, empty for all. `told` is the agent of the console that set it:
    its webhooks get the firings too.
    """

    alert_id: str
    agent_id: str
    at: Timestamp
    kind: AgentAlertKind
    limit: Micros
    minutes: int
    action: AgentAlertAction
    skill_slug: str = ""
    told: str = ""


class AgentAlertFired(NamedTuple):
    """What an alert watches reached its limit; `market_id` is the market that moved."""

    alert_id: str
    agent_id: str
    at: Timestamp
    value: Micros
    market_id: str = ""


class AgentAlertArmed(NamedTuple):
    """What an alert watches came back from its limit: from here it can fire again."""

    alert_id: str
    at: Timestamp


class AgentAlertDeleted(NamedTuple):
    """The operator removed an alert on an agent."""

    alert_id: str
    at: Timestamp


class AgentHeard(NamedTuple):
    """An agent whose silence is watched has called; once a minute at most."""

    agent_id: str
    at: Timestamp


class OrderErred(NamedTuple):
    """An order of an agent whose errors are watched was refused; `code` is the refusal's."""

    agent_id: str
    at: Timestamp
    skill_slug: str
    code: str


AgentAlertEvent = (
    AgentAlertSet | AgentAlertFired | AgentAlertArmed | AgentAlertDeleted | AgentHeard | OrderErred
)
"""What happens to alerts on agents, and what they count."""

NotifyEvent = (
    PriceAlertSet
    | PriceAlertArmed
    | PriceAlertTriggered
    | PriceAlertDeleted
    | WebhookSet
    | WebhookDeleted
    | WebhookTried
    | AgentAlertEvent
)
"""What happens to alerts and webhooks."""

NOTIFY_KINDS: Final[dict[str, type[NotifyEvent]]] = {
    "price_alert": PriceAlertSet,
    "price_alert_armed": PriceAlertArmed,
    "price_alert_met": PriceAlertTriggered,
    "price_alert_end": PriceAlertDeleted,
    "webhook": WebhookSet,
    "webhook_end": WebhookDeleted,
    "webhook_try": WebhookTried,
    "agent_alert": AgentAlertSet,
    "agent_alert_met": AgentAlertFired,
    "agent_alert_armed": AgentAlertArmed,
    "agent_alert_end": AgentAlertDeleted,
    "agent_heard": AgentHeard,
    "order_error": OrderErred,
}
"""Names of the kinds in the journal. They are on disk: never rename one."""
