"""Webhooks of an agent on the wire. Source: wire reference, 2.4."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from service_tui.terms import URL_MAX, WebhookEvent
from service_tui.wire.base import Count, Identifier, LenientModel, Line, Moment, WireModel

SECRET_MIN: Final = 8
SECRET_MAX: Final = 200
"""Letters of the secret that signs deliveries. # ours: a shorter one can be guessed."""

SIGNATURE_HEADER: Final = "X-Service-Signature"
"""`sha256=` and the HMAC-SHA256 of the body, in hex."""

EVENT_HEADER: Final = "X-Service-Event"
DELIVERY_HEADER: Final = "X-Service-Delivery"
"""ours: the kind of event, and the delivery's id, which a repeated attempt keeps."""

WebhookUrl = Annotated[
    str,
    StringConstraints(min_length=1, max_length=URL_MAX, pattern=r"^[!-~]+$"),
    Field(description="an https address, or http to a loopback number"),
]
"""The address of a webhook: printable ASCII without blanks."""


Secret = Annotated[
    str, StringConstraints(min_length=SECRET_MIN, max_length=SECRET_MAX, pattern=r"^[ -~]+$")
]
"""What signs deliveries: printable ASCII."""


class WebhookRequest(WireModel):
    """An address and the events that it is to get."""

    url: WebhookUrl
    events: Annotated[
        tuple[WebhookEvent, ...],
        Field(strict=False, min_length=1, max_length=len(WebhookEvent)),
    ]
    secret: Secret | None = Field(default=None, repr=False)


class WebhookBody(LenientModel):
    """One webhook and how its deliveries go."""

    id: Line
    url: Line
    events: tuple[WebhookEvent, ...]
    active: bool
    created_at: Moment
    consecutive_failures: Count = 0
    last_delivery_at: Moment | None = None
    # ours: why the last attempt failed; empty after a success.
    last_error: Line = ""
    # ours: deliveries that wait for their next attempt.
    waiting: Count = 0


class WebhookSetBody(WebhookBody):
    """The webhook that was registered; `secret` is shown once, where the service made it."""

    secret: str | None = Field(default=None, repr=False)


class WebhooksBody(LenientModel):
    """Webhooks of the calling agent."""

    webhooks: tuple[WebhookBody, ...] = ()
    count: Count = 0


class WebhookTestRequest(WireModel):
    """Which webhook to test; all of the agent's where none is named."""

    webhook_id: Identifier | None = None


class WebhookTestResult(WireModel):
    """One attempt at one address."""

    id: Line
    url: Line
    success: bool
    error: Line = ""


class WebhookTestBody(WireModel):
    """How the test went; `success` when every address took it."""

    success: bool
    results: tuple[WebhookTestResult, ...] = ()
