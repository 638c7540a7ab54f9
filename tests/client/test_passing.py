"""Calls that are passed on: they reach what they name, at the service that they are meant for."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from kit.service.scripted import said, scripted
from service_tui.client import passing
from service_tui.client.api_keys import ApiKey
from service_tui.client.passing import BODY_MAX, NotPassedError, Passed, pass_on

TOLD = "sk_test_0123456789"


async def passed(
    base: str, target: str, body: bytes = b"", last_word: Callable[[], str] = str
) -> int:
    call = ("POST" if body else "GET", target, body)
    async with httpx.AsyncHTTPTransport(retries=0) as transport:
        key = ApiKey(TOLD, base)
        return (await pass_on(transport, httpx.URL(base), key, call, last_word=last_word)).status


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


@pytest.mark.parametrize("ask", [1, 2, 3])
async def test_a_no_at_any_moment_keeps_the_call_here(ask: int) -> None:
    asked: list[str] = []

    def last_word() -> str:
        asked.append("halted" if len(asked) + 1 >= ask else "")
        return asked[-1]

    async with scripted(said({})) as service:
        with pytest.raises(NotPassedError, match="halted") as raised:
            await passed(service.url, "/api/sdk/trade", b"{}", last_word)
        assert not raised.value.was_sent
        assert len(asked) == ask
        # Neither before the head nor between head and body has it come there.
        assert service.requests == []
        assert await passed(service.url, "/api/sdk/trade", b"{}") == 200


async def test_an_answer_that_cannot_be_unpacked_may_have_been_acted_on() -> None:
    async with scripted(said({}, content_encoding="gzip")) as service:
        with pytest.raises(NotPassedError) as raised:
            await passed(service.url, "/api/sdk/trade", b"{}")
        assert raised.value.was_sent
        assert len(service.requests) == 1


async def answered(chunks: list[bytes], headers: dict[str, str] | None = None) -> Passed:
    """What a call brings whose answer comes in these pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(429, headers=headers, content=pieces())

    base = "http://127.0.0.1:9"
    transport = httpx.MockTransport(reply)
    return await pass_on(transport, httpx.URL(base), ApiKey(TOLD, base), ("GET", "/api", b""))


async def test_an_answer_is_bounded_in_all_its_pieces_together() -> None:
    half = b"x" * (BODY_MAX // 2)
    assert len((await answered([half, half])).body) == BODY_MAX
    with pytest.raises(NotPassedError, match="too long") as raised:
        await answered([half, half, b"x"])
    assert raised.value.was_sent


@pytest.mark.parametrize(
    ("error", "was_sent"),
    [
        (httpx.ConnectError, False),
        (httpx.ConnectTimeout, False),
        (httpx.ReadTimeout, True),
        (httpx.WriteTimeout, True),
        (httpx.ReadError, True),
        (httpx.RemoteProtocolError, True),
    ],
)
async def test_only_a_call_that_found_no_line_was_surely_not_sent(
    error: type[httpx.TransportError], *, was_sent: bool
) -> None:
    async def broken(request: httpx.Request) -> httpx.Response:
        raise error("broken", request=request)

    base = "http://127.0.0.1:9"
    with pytest.raises(NotPassedError) as raised:
        await pass_on(
            httpx.MockTransport(broken),
            httpx.URL(base),
            ApiKey(TOLD, base),
            ("POST", "/api", b"{}"),
        )
    assert raised.value.was_sent is was_sent


async def test_a_call_without_an_end_ends_with_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passing, "PASSED_S", 0.01)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.001)

    async def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=endless())

    base = "http://127.0.0.1:9"
    sending = pass_on(
        httpx.MockTransport(reply), httpx.URL(base), ApiKey(TOLD, base), ("GET", "/api", b"")
    )
    with pytest.raises(NotPassedError, match="the line broke") as raised:
        await asyncio.wait_for(sending, 2)
    assert raised.value.was_sent
