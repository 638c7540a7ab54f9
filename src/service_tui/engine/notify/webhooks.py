"""Webhooks: addresses of agents' programs, and how their deliveries went."""

from dataclasses import dataclass

from service_tui.engine.errors import TooManyWebhooks, WebhookNotFound
from service_tui.engine.notify_events import WebhookDeleted, WebhookSet, WebhookTried
from service_tui.terms import WEBHOOK_FAILURES_MAX, WEBHOOKS_MAX, WebhookEvent
from service_tui.units import Timestamp


@dataclass(slots=True)
class Webhook:
    """One registered address. `seq` is the last journal row that was delivered or given up.

    `failures` counts the failed attempts since the last success; `detail` is the last failure.
    """

    placed: WebhookSet
    seq: int
    failures: int = 0
    last_delivery_at: Timestamp | None = None
    detail: str = ""

    @property
    def is_active(self) -> bool:
        """False after ten failed attempts in a row."""
        return self.failures < WEBHOOK_FAILURES_MAX

    def wants(self, event: WebhookEvent) -> bool:
        """True when the webhook subscribes to this kind of event."""
        return event in self.placed.events


class Webhooks:
    """All webhooks of a world, changed by `apply` alone."""

    def __init__(self) -> None:
        self.count = 0
        self.by_id: dict[str, Webhook] = {}

    def of(self, agent_id: str) -> list[Webhook]:
        """The agent's webhooks, oldest first."""
        return [one for one in self.by_id.values() if one.placed.agent_id == agent_id]

    def request(
        self,
        agent_id: str,
        url: str,
        events: tuple[WebhookEvent, ...],
        *,
        at: Timestamp,
        seq: int,
    ) -> WebhookSet:
        """The event of a new webhook, not yet applied.

        Raises:
            TooManyWebhooks: the agent has as many as it may.
        """
        if len(self.of(agent_id)) >= WEBHOOKS_MAX:
            raise TooManyWebhooks(f"the agent has {WEBHOOKS_MAX} webhooks already")
        return WebhookSet(f"wh{self.count + 1}", agent_id, at, url, events, seq)

    def find(self, agent_id: str, webhook_id: str) -> Webhook:
        """The agent's webhook with this id.

        Raises:
            WebhookNotFound: the agent has no such webhook.
        """
        webhook = self.by_id.get(webhook_id)
        if webhook is None or webhook.placed.agent_id != agent_id:
            raise WebhookNotFound(f"webhook not found: {webhook_id}")
        return webhook

    def delete(self, agent_id: str, webhook_id: str, at: Timestamp) -> WebhookDeleted:
        """The event that removes a webhook, not yet applied.

        Raises:
            WebhookNotFound: the agent has no such webhook.
        """
        self.find(agent_id, webhook_id)
        return WebhookDeleted(webhook_id, at)

    def apply(self, event: WebhookSet | WebhookDeleted | WebhookTried) -> None:
        """Change the webhooks by something that happened."""
        match event:
            case WebhookSet():
                self.count += 1
                self.by_id[event.webhook_id] = Webhook(event, event.seq)
            case WebhookDeleted():
                del self.by_id[event.webhook_id]
            case WebhookTried():
                webhook = self.by_id.get(event.webhook_id)
                if webhook is None:
                    # Removed while its delivery was on the way.
                    return
                webhook.detail = event.detail
                webhook.failures = webhook.failures + 1 if event.detail else 0
                if not event.detail:
                    webhook.last_delivery_at = event.at
                    webhook.seq = max(webhook.seq, event.seq)
