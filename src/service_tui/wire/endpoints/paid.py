"""Endpoints that charge for every call. Source: wire reference, 7."""

from typing import Final

from service_tui.wire import briefing, paid
from service_tui.wire.endpoint import Endpoint

FORECAST = Endpoint(
    "POST",
    "/x402/forecast",
    paid.ForecastBody,
    request=paid.ForecastRequest,
    price=paid.FORECAST_PRICE,
    summary="A probability for a market, paid for with each call",
)
PAID_BRIEFING = Endpoint(
    "POST",
    "/x402/briefing",
    briefing.BriefingBody,
    request=paid.PaidBriefingRequest,
    bodyless=True,
    price=paid.PAID_BRIEFING_PRICE,
    summary="The heartbeat, paid for with each call",
)

ALL_PAID: Final = (FORECAST, PAID_BRIEFING)
"""Every endpoint that is always paid for."""
