"""Calls that are passed on: they reach what they name, at the service that they are meant for."""

import httpx
import pytest

from scripted_service import said, scripted
from service_tui.client.keys import Key
from service_tui.client.passing import NotPassedError, pass_on

TOLD = "sk_test_0123456789"


async def passed(base: str, target: str) -> int:
    async with httpx.AsyncHTTPTransport(retries=0) as transport:
        key = Key(TOLD, base)
        return (await pass_on(transport, httpx.URL(base), key, ("GET", target, b""))).status


@pytest.mark.parametrize(
    "target",
    [
        "/api/sdk/positions/../trade",
        "/api/sdk/./trade",
        "/api/sdk/trade#positions",
        "/api/sdk/tr\u00e4de",
        "/api/sdk/tr\x00ade",
        "//elsewhere.example/api/../x",
        "@elsewhere.example/api",
    ],
)
async def test_a_call_that_would_arrive_as_another_one_does_not_leave(target: str) -> None:
    async with scripted(said({})) as service:
        with pytest.raises(NotPassedError) as raised:
            await passed(service.url, target)
        assert not raised.value.was_sent
        assert service.requests == []


async def test_a_service_below_a_path_of_its_own_is_reached_there() -> None:
    async with scripted(said({})) as service:
        assert await passed(f"{service.url}/below", "/api/sdk/markets?q=a%20b&limit=1") == 200
        assert service.heads[0].startswith("GET /below/api/sdk/markets?q=a%20b&limit=1 ")
