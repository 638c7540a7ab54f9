"""Calls that are paid for: of what a forecast is made, and of which market."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.errors import MarketNotOpen
from service_tui.server.routes import paid
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.paid import ForecastRequest


@pytest.mark.parametrize(
    ("outside", "probability"), [(None, 0.4), (0.0, 0.2), (0.8, 0.6), (0.3333333, 0.366667)]
)
async def test_a_forecast_is_the_mean_of_the_prices_that_are_known(
    monkeypatch: pytest.MonkeyPatch, outside: float | None, probability: float
) -> None:
    world = bare_world()
    listed(world)
    priced = SimpleNamespace(current_probability=0.4, external_price_yes=outside, price_24h_ago=0.3)
    monkeypatch.setattr(paid, "with_book", lambda *_: priced)
    body: Any = ForecastRequest(market_id="m1")
    answer = await paid.forecast(request_to(bare_service(world), "ada", body=body))
    assert answer.model_dump() == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "probability": probability,
        "market_price": 0.4,
        "external_price": outside,
        "price_24h_ago": 0.3,
        "basis": "the middle of the market's price and its venue's",
        "forecast_at": moment(AT),
    }


async def test_a_market_that_is_closed_has_no_forecast() -> None:
    world = bare_world()
    listed(world, resolves_at=Timestamp(AT))
    request = request_to(bare_service(world), "ada", body=ForecastRequest(market_id="m1"))
    with pytest.raises(MarketNotOpen):
        await paid.forecast(request)
