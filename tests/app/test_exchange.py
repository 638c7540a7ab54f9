"""The exchange version: where it is set, its default, and refused values."""

import random
from pathlib import Path

import pytest

from service_tui.app.first_state import first_state
from service_tui.app.live import embedded_parts
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.config import EXCHANGE_VARIABLE, read_environment
from service_tui.sdk.opening import opening_of
from service_tui.signing.book import ExchangeVersion, exchange_of
from service_tui.wire.endpoints.wallet import WALLET


@pytest.mark.slow
@pytest.mark.parametrize("wanted", list(ExchangeVersion))
async def test_desk_and_embedded_service_take_the_exchange_that_was_set(
    tmp_path: Path, wanted: ExchangeVersion
) -> None:
    said = read_environment({EXCHANGE_VARIABLE: wanted.value}).exchange
    options = Options(
        tmp_path, tmp_path / "config", tmp_path / "log", seed=7, speed=0, exchange=said
    )
    clock = ManualClock()
    async with embedded_parts(options, first_state(options), clock, random.Random(5)) as desk:
        assert desk.ports.policy.exchange is wanted
        served = await desk.ports.client.call(WALLET)
        assert served.answer.exchange_version == wanted.value


def test_a_client_takes_it_too_and_nothing_said_is_the_first() -> None:
    around = {"SERVICE_API_KEY": "k", "SERVICE_API_URL": "http://127.0.0.1:1"}
    assert opening_of(None, None, around).exchange is ExchangeVersion.V1
    second = opening_of(None, None, around | {EXCHANGE_VARIABLE: "V2"})
    assert second.exchange is ExchangeVersion.V2


@pytest.mark.parametrize("text", ["v3", "2", "v1,v2"])
def test_another_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="v1 or v2"):
        exchange_of(text)
