"""The last word: whoever has it is asked right before a write leaves, wherever it waited before."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from kit.service.scripted import HastyClock, said, scripted
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import Called, HeldBackError
from service_tui.terms import Side
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints.desk import DESK_HALT
from service_tui.wire.endpoints.fleet import DESK_APPROVE
from service_tui.wire.endpoints.public import HEALTH, PLACE_TRADE
from service_tui.wire.trades import TradeRequest

ORDER = TradeRequest(market_id="m", side=Side.YES, amount=25.0)
FILLED = said({"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0})
HEALTHY = said({"status": "ok", "timestamp": "2027-01-15T08:00:00Z", "version": "1"})


def client_to(url: str, last_word: Callable[[WireModel | None], str]) -> Client:
    client = Client(
        httpx.AsyncHTTPTransport(retries=0),
        url,
        ApiKeys(ApiKey("sk_test_0123456789", url)),
        clock=HastyClock(),
        rng=random.Random(7),
    )
    client.last_word = last_word
    return client


def no_from(ask: int, asked: list[WireModel | None]) -> Callable[[WireModel | None], str]:
    """Yes until it is asked for the time with this number."""

    def last_word(body: WireModel | None) -> str:
        asked.append(body)
        return "halted" if len(asked) >= ask else ""

    return last_word


@pytest.mark.parametrize("ask", [1, 2, 3])
async def test_a_no_at_any_moment_keeps_the_order_here(ask: int) -> None:
    asked: list[WireModel | None] = []
    async with scripted(FILLED) as service, client_to(service.url, no_from(ask, asked)) as client:
        with pytest.raises(HeldBackError, match="halted"):
            await client.call(PLACE_TRADE, body=ORDER)
        assert asked == [ORDER] * ask
        # Neither before the head nor between head and body has an order come there.
        assert service.requests == []


async def test_a_yes_lets_it_pass_and_is_asked_before_head_and_body() -> None:
    asked: list[WireModel | None] = []
    async with scripted(FILLED) as service, client_to(service.url, no_from(9, asked)) as client:
        assert (await client.call(PLACE_TRADE, body=ORDER)).answer.success
        assert len(asked) == 3
        assert len(service.requests) == 1


async def test_a_line_that_was_held_back_is_good_for_the_next_call() -> None:
    asked: list[WireModel | None] = []
    async with scripted(HEALTHY) as service, client_to(service.url, no_from(2, asked)) as client:
        with pytest.raises(HeldBackError):
            await client.call(PLACE_TRADE, body=ORDER)
        assert (await client.call(HEALTH)).answer.status == "ok"


async def test_readings_are_not_asked_about() -> None:
    asked: list[WireModel | None] = []
    async with scripted(HEALTHY) as service, client_to(service.url, no_from(1, asked)) as client:
        assert (await client.call(HEALTH)).answer.status == "ok"
        assert asked == []


@pytest.mark.parametrize(
    ("endpoint", "is_asked"),
    [(PLACE_TRADE, True), (DESK_APPROVE, True), (DESK_HALT, True), (HEALTH, False)],
    ids=lambda one: getattr(one, "path", ""),
)
def test_every_write_needs_the_last_word_whose_ever_key_it_bears(
    endpoint: Any, *, is_asked: bool
) -> None:
    asked: list[WireModel | None] = []
    client = client_to("http://127.0.0.1:1", no_from(1, asked))
    called = Called(endpoint.method, endpoint.path)
    pending: Any = SimpleNamespace(endpoint=endpoint, called=called, body=ORDER)
    if not is_asked:
        client._check_leaving(pending)
        assert asked == []
        return
    with pytest.raises(HeldBackError, match="halted"):
        client._check_leaving(pending)
    assert asked == [ORDER]
    client.last_word = lambda _: ""
    client._check_leaving(pending)
    client.last_word = None
    client._check_leaving(pending)
