"""Price alerts of an agent on the wire. Source: wire reference, 2.4."""

from typing import Annotated, Final

from pydantic import Field

from service_tui.terms import HISTORY_HOURS_MAX, AlertCondition, Side
from service_tui.wire.base import (
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Price,
    WireModel,
)
from service_tui.wire.webhooks import WebhookUrl

HOURS_DEFAULT: Final = 24


class PriceAlertRequest(WireModel):
    """A one-shot condition on the price of a side, 0 to 1."""

    market_id: Identifier
    side: Side
    condition: AlertCondition
    threshold: Annotated[float, Field(gt=0, lt=1)]
    webhook_url: WebhookUrl | None = None


class PriceAlertBody(LenientModel):
    """One alert; `triggered_at` is null while it waits."""

    id: Line
    market_id: Line
    side: Side
    condition: AlertCondition
    threshold: Price
    created_at: Moment
    market_question: Line = ""
    webhook_url: Line | None = None
    triggered_at: Moment | None = None
    # ours: everything below.
    triggered_price: Price | None = None
    current_price: Price | None = None


class PriceAlertSetBody(PriceAlertBody):
    """The alert that was set.

    ours: `webhook_secret` signs its delivery, shown once where its address was new.
    """

    webhook_secret: str | None = Field(default=None, repr=False)


class PriceAlertsBody(LenientModel):
    """Alerts of the calling agent."""

    alerts: tuple[PriceAlertBody, ...] = ()
    count: Count = 0


class TriggeredQuery(WireModel):
    """How far back."""

    hours: Annotated[int, Field(ge=1, le=HISTORY_HOURS_MAX)] = HOURS_DEFAULT


class RemovedBody(WireModel):
    """What was removed."""

    success: bool
    id: Line
    message: Line = ""
