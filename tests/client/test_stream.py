"""Parsing of server-sent events, with bounds."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.service.scripted import said, scripted
from service_tui.client import stream
from service_tui.client.api_keys import MASK, ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import (
    MalformedError,
    ServiceFaultError,
    UnauthenticatedError,
    UnreachableError,
)
from service_tui.client.reply import NotProtocolError
from service_tui.client.stream import EVENT_MAX, LINE_MAX, Frames
from service_tui.clock import SystemClock
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wire.endpoints.public import HealthBody

EVENTS: Endpoint[HealthBody] = replace(WORLD, answers=HealthBody)  # any body does
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"connection: close\r\n\r\n"
)
KEY = "op_a_canary_that_sings"


def event(version: str, number: int = 1) -> bytes:
    body = {"status": "ok", "timestamp": "2027-01-15T08:00:00Z", "version": version}
    return f"id: {number}\nevent: fill\ndata: {json.dumps(body)}\n\n".encode()


async def heard(url: str, *, after: int | None = None) -> AsyncGenerator[str]:
    api_keys = ApiKeys(None, ApiKey(KEY, url))
    transport = httpx.AsyncHTTPTransport()
    async with (
        Client(transport, url, api_keys, clock=SystemClock(), rng=random.Random(1)) as client,
        aclosing(client.listen(EVENTS, after=after)) as events,
    ):
        async for body in events:
            yield body.version


# -- the format ---------------------------------------------------------------------------------


def test_comments_and_other_fields_are_passed_over() -> None:
    frames = Frames()
    assert frames.feed(b"retry: 1000\n\n: beat\n\nid: 7\nevent: x\ndata: {}\n\n") == [b"{}"]
    assert frames.feed(b"data:a\r\ndata: b\r\n\r\n") == [b"a\nb"]
    assert frames.feed(b"nonsense\n\n") == []


@given(st.lists(st.integers(1, 40), max_size=30))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    raw = b"".join(event(f"v{number}", number) for number in range(5))
    frames, found = Frames(), []
    for cut in cuts:
        found += frames.feed(raw[:cut])
        raw = raw[cut:]
    found += frames.feed(raw)
    assert [json.loads(data)["version"] for data in found] == [f"v{n}" for n in range(5)]


@pytest.mark.parametrize(
    "raw", [b"x" * (LINE_MAX + 1), (b"data: " + b"x" * 60_000 + b"\n") * (EVENT_MAX // 60_000 + 1)]
)
def test_what_does_not_end_is_given_up(raw: bytes) -> None:
    with pytest.raises(NotProtocolError):
        Frames().feed(raw)


def test_the_bound_is_that_of_one_event_and_not_of_the_stream() -> None:
    frames, whole = Frames(), b"data: " + b"x" * 60_000 + b"\n\n"
    for _ in range(2 * EVENT_MAX // 60_000):
        assert len(frames.feed(whole)) == 1


# -- the line -----------------------------------------------------------------------------------


async def test_events_are_heard_until_the_service_ends_the_stream() -> None:
    async with scripted(HEAD + b": hello\n\n" + event("one") + event("two")) as service:
        assert [version async for version in heard(service.url, after=41)] == ["one", "two"]
        (head,) = service.heads
        assert "last-event-id: 41" in head.lower()
        assert "accept: text/event-stream" in head.lower()
        assert f"authorization: bearer {KEY}" in head.lower()


async def test_an_event_that_is_none_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    odd = b'data: {"status": 7}\n\ndata: <html>\n\n'
    async with scripted(HEAD + event("one") + odd + event("two")) as service:
        assert [version async for version in heard(service.url)] == ["one", "two"]
    assert KEY not in caplog.text


async def test_an_event_that_repeats_the_key_is_masked() -> None:
    async with scripted(HEAD + event(f"1 {KEY}") + event(f"{KEY[:9]}\u200b{KEY[9:]}")) as service:
        versions = [version async for version in heard(service.url)]
    assert versions == [f"1 {MASK}", MASK]


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (said({"error": "no"}, 401), UnauthenticatedError),
        (said({"error": "no"}, 500), ServiceFaultError),
        (said("<html>", 200, content_type="text/html"), MalformedError),
        (said("", 204), MalformedError),
        (HEAD + b"data: " + b"x" * (LINE_MAX + 1), MalformedError),
        (b"", ServiceFaultError),
    ],
)
async def test_what_is_no_stream_is_an_error(step: bytes, kind: type[Exception]) -> None:
    async with scripted(step) as service:
        with pytest.raises(kind):
            async for _ in heard(service.url):
                pass


async def test_a_silent_line_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service_tui.client.client.IDLE_S", 0.05)

    async def fall_silent(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + event("one"))
        await asyncio.sleep(30)

    async with scripted(fall_silent) as service:
        events = heard(service.url)
        assert await anext(events) == "one"
        with pytest.raises(ServiceFaultError, match="no sign of life"):
            await anext(events)
    assert stream.IDLE_S == 30


async def test_nobody_there_is_an_error_of_its_own() -> None:
    async with scripted(b"") as service:
        url = service.url
    with pytest.raises(UnreachableError):
        async for _ in heard(url):
            pass


async def test_whoever_stops_listening_closes_the_line() -> None:
    gone = asyncio.Event()

    async def tell(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + event("one"))
        await writer.drain()
        try:
            while True:
                writer.write(b": beat\n\n")
                await writer.drain()
                await asyncio.sleep(0.01)
        except OSError:
            gone.set()

    async with scripted(tell) as service:
        events = heard(service.url)
        assert await anext(events) == "one"
        await events.aclose()
        async with asyncio.timeout(60):
            await gone.wait()
