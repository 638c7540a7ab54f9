"""Answers that cost money each time. Source: wire reference, 7."""

from typing import Final

from service_tui.wire.base import Identifier, LenientModel, Line, Moment, Price, WireModel
from service_tui.wire.moments import RequestedMoment

FORECAST_PRICE: Final = 10_000
PAID_BRIEFING_PRICE: Final = 50_000
"""Micros of USDC: 0.01 and 0.05. Source: wire reference, 7."""


class ForecastRequest(WireModel):
    """Which market."""

    market_id: Identifier


class ForecastBody(LenientModel):
    """A probability of YES, and what it is made of. ours: the reference shows no body."""

    market_id: Line
    question: Line
    probability: Price
    market_price: Price
    external_price: Price | None = None
    price_24h_ago: Price | None = None
    basis: Line
    forecast_at: Moment


class PaidBriefingRequest(WireModel):
    """From when on."""

    since: RequestedMoment | None = None
