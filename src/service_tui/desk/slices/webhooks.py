"""Webhooks of this desk's agent, as the operator sees them."""

from dataclasses import dataclass

from service_tui.terms import WebhookEvent
from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class WebhookView:
    """One address. `failures` counts failed attempts since the last success, `error` is the last.

    It gets nothing more once it is not active; `waiting` counts deliveries before their next
    attempt.
    """

    webhook_id: str
    url: str
    events: tuple[WebhookEvent, ...]
    is_active: bool
    failures: int
    error: str
    waiting: int
    last_delivery_at: Timestamp | None


@dataclass(frozen=True, slots=True)
class WebhooksView:
    """All webhooks, oldest first, as of `at`; `problem` of a newer reading that failed."""

    rows: tuple[WebhookView, ...]
    at: Timestamp | None
    problem: str = ""
