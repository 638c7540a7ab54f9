"""Whatever comes back: a write is sent once, every failure has its name, no key is shown."""

import asyncio
import gzip
import json
import logging
import random
import socket
import struct
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from kit.service.scripted import HastyClock, Step, said, scripted
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import BODY_MAX, Client
from service_tui.client.errors import (
    Called,
    InvalidError,
    MalformedError,
    NotFoundError,
    OutcomeUnknownError,
    PlanRequiredError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
    UnreachableError,
    unanswered,
)
from service_tui.client.retry import TRIES
from service_tui.clock import Clock, SystemClock
from service_tui.terms import Side, Venue
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import OF_ALL_AGENTS, Endpoint
from service_tui.wire.endpoints.fleet import DESK_HOLDINGS, DESK_OUTCOMES
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, REGISTER, SETTINGS
from service_tui.wire.markets import MarketsQuery
from service_tui.wire.outcomes import ConfidenceBody, VenueOutcomesBody
from service_tui.wire.trades import TradeRequest

Scope = MutableMapping[str, Any]
CANARY = "canary-key-4711"
PRIVATE_NOTE = "canary-reasoning-4712"
ORDER = TradeRequest(market_id="m-1", side=Side.YES, amount=25.0, reasoning=PRIVATE_NOTE)


def open_client(
    url: str, *, transport: httpx.AsyncBaseTransport | None = None, clock: Clock | None = None
) -> Client:
    return Client(
        transport or httpx.AsyncHTTPTransport(verify=False),
        url,
        ApiKeys(ApiKey(CANARY, url), ApiKey("canary-operator-4713", url)),
        clock=clock or HastyClock(),
        rng=random.Random(7),
    )


async def hang(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{")
    for _ in range(1_000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_head(writer: asyncio.StreamWriter) -> None:
    for letter in b"HTTP/1.1 200 OK\r\n" * 100:
        writer.write(bytes([letter]))
        await writer.drain()
        await asyncio.sleep(0.02)


async def reset(writer: asyncio.StreamWriter) -> None:
    # Closing without lingering sends RST, which is another error than the end of the line.
    line = writer.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def reset_in_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n{")
    await writer.drain()
    await reset(writer)


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()


HALF_BODY = b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n{"
HALF_HEAD = b"HTTP/1.1 200 OK\r\ncontent-le"
BOMB = gzip.compress(b" " * 50_000_000, 1)
SILENT = {
    "hang": hang,
    "drip": drip,
    "drip in the head": drip_head,
    "closed at once": b"",
    "reset": reset,
    "reset in the body": reset_in_the_body,
    "half body": HALF_BODY,
    "half head": HALF_HEAD,
    "another protocol": b"220 mail ready\r\n",
    "500": said({"error": "oops"}, 500),
    "502 page": said("<html>bad gateway</html>", 502, content_type="text/html"),
    "503 with a wait": said({}, 503, retry_after="1"),
    "599": said({}, 599),
}
STRANGE = {
    "page": said("<html>log in to the network</html>", content_type="text/html"),
    "nothing": said(b""),
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "array": said([1, 2]),
    "null": said("null"),
    "wrong shape": said({"ok": True}),
    "text for a number": said({"success": True, "market_id": "m", "side": "yes", "cost": "1"}),
    "NaN": said('{"success": true, "market_id": "m", "side": "yes", "cost": NaN}'),
    "1e999": said('{"success": true, "market_id": "m", "side": "yes", "cost": 1e999}'),
    "brackets": said("[" * 100_000),
    "brackets inside": said('{"success": ' + "[" * 100_000),
    "long number": said('{"success": ' + "9" * 5_000 + "}"),
    "too large": said(b" " * (BODY_MAX + 1)),
    "endless": endless,
    "too many values": said(b'{"markets": [' + b",".join([b"{}"] * 400_000) + b"]}"),
    "packed": said(BOMB, content_encoding="gzip"),
    "moved 301": said("", 301, location="https://evil.example/trade"),
    "moved 302": said("", 302, location="/elsewhere"),
    "moved 303": said("", 303, location="//evil.example"),
    "moved 307": said("", 307, location="https://evil.example/trade"),
    "moved 308": said("", 308, location="http://[::bad"),
    "status 299 page": said("<html>", 299),
    "status 700": said({}, 700),
}
REFUSED = {
    "400": (said({"detail": "market is closed"}, 400), RefusedError),
    "401": (said({"error": "no"}, 401), UnauthenticatedError),
    "403": (said({"detail": "Agent must be claimed"}, 403), PlanRequiredError),
    "404": (said("<html>gone</html>", 404), NotFoundError),
    "405": (said({}, 405), NotFoundError),
    "409": (said({"detail": {"error": "other body", "code": "IDEMPOTENCY"}}, 409), RefusedError),
    "422": (said({"detail": [{"loc": ["body"], "msg": "no", "type": "t"}]}, 422), InvalidError),
    "429": (said({"error": "Rate limit exceeded"}, 429), RateLimitedError),
    "451": (said(b"\xff\xfe", 451), RefusedError),
}


async def failure_of(
    step: Step, endpoint: Endpoint[WireModel], **parts: Any
) -> tuple[ServiceError, int]:
    """The error of one call to a service that answers with `step`, and how often it was asked."""
    slow = step in {hang, drip, drip_head}
    clock = SystemClock() if slow else HastyClock()
    async with scripted(step) as service, open_client(service.url, clock=clock) as client:
        with pytest.raises(ServiceError) as caught:
            await client.call(endpoint, deadline_s=0.6 if slow else 5.0, **parts)
        return caught.value, len(service.requests)


@pytest.mark.parametrize("step", [*SILENT.values(), *STRANGE.values()], ids=[*SILENT, *STRANGE])
async def test_a_write_that_may_have_arrived_is_sent_once_and_stays_unknown(step: Step) -> None:
    error, sent = await failure_of(step, PLACE_TRADE, body=ORDER, idempotency_key="k-1")
    assert type(error) is OutcomeUnknownError
    assert sent == 1


@pytest.mark.parametrize(("step", "kind"), REFUSED.values(), ids=list(REFUSED))
async def test_a_refused_write_is_sent_once(step: Step, kind: type[RefusedError]) -> None:
    error, sent = await failure_of(step, PLACE_TRADE, body=ORDER)
    assert type(error) is kind
    assert sent == 1
    assert error.error
    assert error.status == int(next(name for name, row in REFUSED.items() if row[0] is step))


async def test_a_408_leaves_the_outcome_of_a_write_open() -> None:
    error, sent = await failure_of(said({}, 408), PLACE_TRADE, body=ORDER)
    assert type(error) is OutcomeUnknownError
    assert sent == 1


@pytest.mark.parametrize("step", SILENT.values(), ids=list(SILENT))
async def test_a_read_without_an_answer_is_a_fault_that_may_be_asked_again(step: Step) -> None:
    error, sent = await failure_of(step, MARKETS)
    assert type(error) is ServiceFaultError
    assert sent == (1 if step in {hang, drip, drip_head} else TRIES)


@pytest.mark.parametrize("step", STRANGE.values(), ids=list(STRANGE))
async def test_a_strange_answer_to_a_read_is_malformed_and_not_asked_for_again(step: Step) -> None:
    error, sent = await failure_of(step, MARKETS)
    assert type(error) is MalformedError
    assert sent == 1


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (STRANGE["too many values"], "too many values"),
        (STRANGE["too large"], "larger than"),
        (STRANGE["packed"], "packed as 'gzip'"),
        (said({"markets": [], "agent_id": "a"}, content_encoding="br"), "packed as 'br'"),
        (STRANGE["page"], "not a JSON object (status 200, text/html)"),
    ],
)
async def test_a_strange_answer_is_named(step: Step, why: str) -> None:
    error, _ = await failure_of(step, MARKETS)
    assert why in str(error)
    assert "GET /api/sdk/markets" in str(error)


HOLDING = {
    "agent_id": "a", "agent_name": "a", "market_id": "m", "question": "Q" * 300, "category": "c",
    "venue": "sim", "side": "yes", "shares": 1.5, "cost_basis": 1.0, "mark_price": 0.5,
    "mark_value": 0.75, "exit_value": 0.7, "resolves_at": None,
}  # fmt: skip


@pytest.mark.slow
async def test_a_list_of_all_agents_of_one_moment_may_be_many_megabytes() -> None:
    text = json.dumps({
        "holdings": [HOLDING] * 12_000, "orders": [], "world_at": "2026-01-01T00:00:00Z"
    })  # fmt: skip
    assert len(text) > 3 * BODY_MAX
    async with scripted(said(text)) as service, open_client(service.url) as client:
        reply = await client.call(DESK_HOLDINGS)
    assert len(reply.answer.holdings) == 12_000


@pytest.mark.slow
async def test_what_thousands_of_agents_came_to_on_every_venue_is_one_answer() -> None:
    sums = VenueOutcomesBody(
        trades=1, pnl=0.5, wins=1, losses=0, settled_pnl=0.5, resolved_markets=1, settled_wins=1,
        settled_losses=0, confidence_breakdown=ConfidenceBody(),
    )  # fmt: skip
    by_venue = {venue.value: sums.model_dump() for venue in Venue}
    agents = [{"agent_id": f"agent-{number}", "by_venue": by_venue} for number in range(4_000)]
    async with scripted(said({"agents": agents})) as service, open_client(service.url) as client:
        reply = await client.call(DESK_OUTCOMES)
    assert len(reply.answer.agents) == 4_000


@pytest.mark.slow
async def test_a_list_of_all_agents_without_an_end_is_refused() -> None:
    error, _ = await failure_of(said(b" " * (OF_ALL_AGENTS * BODY_MAX + 1)), DESK_HOLDINGS)
    assert f"larger than {OF_ALL_AGENTS * BODY_MAX:,} bytes" in str(error)


def test_only_a_read_without_an_answer_is_harmless_and_says_when_to_come_back() -> None:
    error = unanswered("no answer", Called("GET", "/api/x"), status=503, retry_after_s=7.0)
    assert isinstance(error, ServiceFaultError)
    assert (error.status, error.retry_after_s) == (503, 7.0)
    open_end = unanswered("no answer", Called("POST", "/api/x"), status=503, retry_after_s=7.0)
    assert type(open_end) is OutcomeUnknownError


async def test_nobody_listening_is_unreachable_and_nothing_was_sent() -> None:
    async with scripted(hang) as service:
        url = service.url
    for endpoint, parts in ((MARKETS, {}), (PLACE_TRADE, {"body": ORDER})):
        async with open_client(url) as client:
            with pytest.raises(UnreachableError, match=r"127\.0\.0\.1 cannot be reached"):
                await client.call(endpoint, **parts)


async def test_a_service_without_tls_is_unreachable_under_https() -> None:
    async with scripted(hang) as service:
        url = service.url.replace("http:", "https:")
        async with open_client(url) as client:
            with pytest.raises(UnreachableError):
                await client.call(PLACE_TRADE, body=ORDER, deadline_s=1.0)
        assert service.requests == []


async def test_a_redirect_names_its_host_and_is_not_followed() -> None:
    async with scripted(hang) as target:
        step = said("", 307, location=f"{target.url}/api/sdk/markets")
        error, _ = await failure_of(step, MARKETS)
        assert "127.0.0.1" in str(error)
        assert target.requests == []


async def test_an_endless_answer_is_given_up_at_the_bound() -> None:
    async with scripted(endless) as service, open_client(service.url) as client:
        with pytest.raises(MalformedError, match="larger than"):
            await client.call(SETTINGS, deadline_s=5.0)


@pytest.mark.slow
@examples(37)
@given(
    status=st.integers(200, 599),
    body=st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from([
                        "error",
                        "detail",
                        "fix",
                        "code",
                        "message",
                        "hint",
                        "markets",
                    ])
                    | st.text(max_size=5),
                    inner,
                    max_size=5,
                )
            ),
        ).map(lambda tree: json.dumps(tree).encode()),
    ),
    wait=st.one_of(st.none(), st.text(max_size=12), st.integers().map(str)),
)
def test_any_answer_at_all_ends_in_a_reply_or_a_service_error(
    status: int, body: bytes, wait: str | None
) -> None:
    sent: list[str] = []

    async def app(
        scope: Scope, _: Callable[[], Awaitable[Scope]], send: Callable[[Scope], Awaitable[None]]
    ) -> None:
        sent.append(scope["method"])
        headers = [] if wait is None else [(b"retry-after", wait.encode("utf-8", "replace"))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def go() -> None:
        transport = httpx.ASGITransport(app)
        async with open_client("http://service.embedded", transport=transport) as client:
            with pytest.raises(ServiceError) as read:
                await client.call(SETTINGS)
            assert not isinstance(read.value, OutcomeUnknownError)
            tries = len(sent)
            with pytest.raises(ServiceError):
                await client.call(PLACE_TRADE, body=ORDER)
        assert 1 <= tries <= TRIES
        assert sent.count("POST") == (0 if status == 401 else 1)

    asyncio.run(go())


ECHOES = {
    "page": said(f"<html>you sent Bearer {CANARY}</html>", content_type="text/html"),
    "refusal": said({"error": f"unknown key {CANARY}", "fix": f"renew {CANARY}"}, 401),
    "fields": said({"detail": [{"loc": [CANARY], "msg": CANARY, "type": "t"}]}, 422),
    "name of a field": said({"markets": [], "agent_id": {CANARY: CANARY}}),
    "redirect": said("", 302, location=f"https://{CANARY}.example/{CANARY}"),
    "fault": said({"error": CANARY}, 500),
    "half body": HALF_BODY,
    "closed": b"",
    "slow": hang,
}


def everything_about(error: ServiceError, caplog: pytest.LogCaptureFixture) -> str:
    """All texts of an error, with the locals of every frame that is not the test's own."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    inner = [repr(frame.f_locals) for frame in frames if frame.f_code.co_filename != __file__]
    assert inner
    told = traceback.format_exception(error)
    seen = [str(error), repr(error), repr(vars(error)), caplog.text, *told, *inner]
    return "\n".join(seen)


@pytest.mark.parametrize("step", ECHOES.values(), ids=list(ECHOES))
@pytest.mark.parametrize(
    ("endpoint", "parts"),
    [(MARKETS, {"query": MarketsQuery(q="canary-query-4714")}), (PLACE_TRADE, {"body": ORDER})],
    ids=["read", "write"],
)
async def test_no_key_body_or_query_is_shown_by_an_error_its_trace_or_the_log(
    step: Step,
    endpoint: Endpoint[WireModel],
    parts: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted(step) as service:
        client = open_client(service.url)
        with pytest.raises(ServiceError) as caught:
            await client.call(endpoint, deadline_s=0.6, **parts)
        await client.aclose()
        assert CANARY.encode() in service.requests[0]
        assert CANARY not in everything_about(caught.value, caplog) + repr(client)
        assert "canary-query" not in caplog.text + str(caught.value)
        assert PRIVATE_NOTE not in caplog.text + str(caught.value)
        # No chain: the frames of httpx hold the header with the key.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


async def test_a_key_in_a_malformed_registration_is_shown_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    step = said({"agent_id": "a-1", "api_key": "canary-fresh-4715", "status": 5})
    error, _ = await failure_of(step, REGISTER, body=RegisterRequest(name="desk"))
    assert isinstance(error, OutcomeUnknownError)
    assert "canary-fresh" not in everything_about(error, caplog)


def test_keys_do_not_show_themselves() -> None:
    api_keys = ApiKeys(ApiKey(CANARY, "https://a.example"))
    assert CANARY not in f"{api_keys!r} {api_keys} {api_keys.api!r} {api_keys.api}"
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the text is what is looked at)
        ApiKey(CANARY + "\n", "https://a.example")
    assert CANARY not in "".join(traceback.format_exception(caught.value))


async def test_a_strange_page_is_logged_cut_and_harmless(caplog: pytest.LogCaptureFixture) -> None:
    page = said("<html>\x1b]0;owned\x07" + "x" * 9_000, content_type="text/html")
    await failure_of(page, MARKETS)
    records = [r.getMessage() for r in caplog.records if r.name.startswith("service_tui")]
    assert len(records) == 1
    assert "\x1b" not in records[0]
    assert "owned" not in records[0]
    assert len(records[0]) < 2_200
