"""API keys never appear in errors, logs or status lines."""

import json
import logging
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.service.scripted import HastyClock, scripted
from service_tui.client.api_keys import MASK, ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.terms import Side
from service_tui.wire.endpoints.public import AGENT, MARKETS, PLACE_TRADE
from service_tui.wire.text import letters, line, prose
from service_tui.wire.trades import TradeRequest

SECRET = "sk_live_attackattack1234"  # noqa: S105  (of nothing)
BASE = "https://service.example"
KEYS = ApiKeys(ApiKey(SECRET, BASE))
HALF = len(SECRET) // 2
ORDER = TradeRequest(market_id="m-1", side=Side.YES, amount=25.0)


def split_by(between: str) -> str:
    return SECRET[:HALF] + between + SECRET[HALF:]


TEXTS = {
    "as it is": SECRET,
    "zero width": split_by("\u200b"),
    "soft hyphens": "\u00ad".join(SECRET),
    "a control": split_by("\x07"),
    "a delete": split_by("\x7f"),
    "a command": split_by("\x1b]0;title\x07"),
    "a C1 command": split_by("\x9d0;title\x9c"),
    "a colour": split_by("\x1b[31m"),
    "half a letter": split_by("\ud800"),
    "a foreign letter": split_by("é"),
    "a selector": split_by("\ufe0f"),
    "beside much": "x" * 150 + split_by("\u200b") + "\u001b]",
}


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def raw_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def escaped_json(text: str) -> str:
    return f'"{escaped(text)}"'


WRITTEN: dict[str, Callable[[str], str]] = {
    "raw": raw_json,
    "escaped": json.dumps,
    "all escaped": escaped_json,
}


def market(question: str) -> bytes:
    body = '{"markets": [{"id": "m", "question": %s, "current_probability": 0.5}], "agent_id": "a"}'
    return (body % question).encode("utf-8", "surrogatepass")


class Says(httpx.AsyncBaseTransport):
    """Answers every request in the same way."""

    def __init__(self, body: bytes, status: int = 200, headers: Any = None) -> None:
        self.answer = (status, headers or {"content-type": "application/json"}, body)

    async def handle_async_request(self, _: httpx.Request) -> httpx.Response:
        status, headers, body = self.answer
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))


def client_of(body: bytes, status: int = 200, headers: Any = None) -> Client:

    transport = Says(body, status, headers)
    return Client(transport, BASE, KEYS, clock=HastyClock(), rng=random.Random(1))


def shown(text: str) -> str:
    """What stays of a text, however it is cleaned."""
    return f"{text} {line(text)} {prose(text)} {letters(text)}"


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("name", TEXTS)
async def test_a_key_that_is_repeated_never_becomes_text(name: str, way: str) -> None:
    reply = await client_of(market(WRITTEN[way](TEXTS[name]))).call(MARKETS)
    question = reply.answer.markets[0].question
    assert MASK in question
    assert SECRET not in shown(question)
    assert reply.answer.markets[0].id == "m"


@pytest.mark.parametrize("name", TEXTS)
async def test_a_refusal_does_not_repeat_the_key(name: str) -> None:
    for place in ("detail", "error", "fix", "x402_url"):
        body = f'{{"{place}": {escaped_json(TEXTS[name])}}}'
        with pytest.raises(ServiceError) as caught:
            await client_of(body.encode("utf-8", "surrogatepass"), 402).call(MARKETS)
        assert SECRET not in shown(f"{caught.value} {vars(caught.value)}")


@pytest.mark.parametrize("name", TEXTS)
async def test_the_log_does_not_repeat_the_key(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    text = TEXTS[name]
    bodies = [
        f"<html>{text}</html>".encode("utf-8", "surrogatepass"),
        f'{{"name": {escaped_json(text)}}}'.encode("utf-8", "surrogatepass"),
        f'{{"name": "{SECRET[:HALF]}\x9d", "next": "\x9c{SECRET[HALF:]}"}}'.encode(),
        text.encode("utf-16-le", "surrogatepass"),
    ]
    for body in bodies:
        with pytest.raises(ServiceError) as caught:
            await client_of(body).call(AGENT)
        assert SECRET not in shown(str(caught.value))
    assert "not of the protocol" in caplog.text
    assert SECRET not in shown(caplog.text)


async def test_headers_do_not_repeat_the_key() -> None:
    hidden = split_by("\xad").encode("latin-1")
    for headers, status in (
        ([(b"content-type", hidden)], 200),
        ([(b"content-encoding", hidden)], 200),
        ([(b"location", b"https://" + hidden + b".example/")], 302),
    ):
        with pytest.raises(ServiceError) as caught:
            await client_of(b"<html>", status, headers).call(MARKETS)
        assert SECRET not in shown(str(caught.value))


async def test_a_status_line_does_not_repeat_the_key() -> None:

    async with scripted(f"HTTP/1.1 {SECRET}\r\n\r\n".encode()) as service:
        api_keys = ApiKeys(ApiKey(SECRET, service.url))
        transport = httpx.AsyncHTTPTransport()
        client = Client(transport, service.url, api_keys, clock=HastyClock(), rng=random.Random(1))
        async with client:
            with pytest.raises(ServiceError) as caught:
                await client.call(PLACE_TRADE, body=ORDER)
    assert SECRET not in shown(str(caught.value))


@given(st.text(max_size=60), st.booleans())
def test_what_holds_no_key_stays_as_it_is(text: str, as_json: bool) -> None:  # noqa: FBT001
    raw = (json.dumps({"a": [text, 1.5, None]}) if as_json else text).encode("utf-8", "replace")
    assert KEYS.masked(raw) == raw


@pytest.mark.slow
@given(st.lists(st.sampled_from(["\u200b", "\x1b[1m", "\x9b", "\x07", "\u0301", "\ud800", ""])))
def test_no_mixture_of_invisible_letters_hides_a_key(between: list[str]) -> None:
    spread = [*between, *[""] * len(SECRET)]
    text = "".join(letter + mark for letter, mark in zip(SECRET, spread, strict=False))
    for way in WRITTEN.values():
        raw = f'{{"a": {way(text)}}}'.encode("utf-8", "surrogatepass")
        decoded = json.loads(KEYS.masked(raw).decode("utf-8", "replace"))["a"]
        assert SECRET not in f"{decoded} {line(decoded)} {prose(decoded)}"
