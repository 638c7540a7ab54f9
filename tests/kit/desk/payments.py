"""Answers of a service that asks for a payment."""

import httpx

from kit.desk.faults import said
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.payments import offer_for
from service_tui.wire.endpoints.public import BRIEFING
from service_tui.wire.payment import PAYMENT_HEADER

URL = f"{BASE_URL}{BRIEFING.path}"


def limited(**changes: object) -> httpx.Response:
    offer = offer_for(URL).model_dump(mode="json", by_alias=True) | changes
    body = {"error": "Rate limit exceeded", "x402_url": URL, "accepts": [offer]}
    return said(body, 429, retry_after="60")


def unpaid(request: httpx.Request) -> bool:
    return request.url.path == BRIEFING.path and PAYMENT_HEADER not in request.headers
