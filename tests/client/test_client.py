"""One call of the client: its request, its retries, its errors, and its answer."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.service.scripted import HastyClock
from service_tui import __version__
from service_tui.client.api_keys import ApiKey, ApiKeys, ForeignHostError
from service_tui.client.client import PACE_S, Client
from service_tui.client.errors import (
    MalformedError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitedError,
    ReadOnlyError,
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
)
from service_tui.client.reply import SAME_LEAST, SAME_MOST, Reply, SameAnswers, decode
from service_tui.clock import Clock, ManualClock, SystemClock
from service_tui.server.http.payments import offer_for
from service_tui.terms import Side, Venue
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.endpoints import desk as on_desk
from service_tui.wire.endpoints import public as on
from service_tui.wire.errors import ErrorBody
from service_tui.wire.markets import MarketsBody, MarketsQuery
from service_tui.wire.trades import TradeRequest

BASE = "http://service.embedded"
KEYS = ApiKeys(ApiKey("api-key-0815", BASE), ApiKey("operator-key-0816", BASE))
ORDER = TradeRequest(market_id="m-1", side=Side.YES, amount=25.0)
FILLED = {"success": True, "market_id": "m-1", "side": "yes", "cost": 25.0}
MARKET = {"id": "m-1", "question": "Will it rain?", "current_probability": 0.5}
NO_MARKETS = {"markets": [], "agent_id": "a-1"}
HEALTHY = {"status": "ok", "timestamp": "2027-01-15T08:00:00Z", "version": "1"}
ANSWERS = {
    ("GET", "/api/sdk/markets"): NO_MARKETS,
    ("POST", "/api/sdk/trade"): FILLED,
    ("GET", "/api/sdk/health"): HEALTHY,
}


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Said = tuple[int, object, dict[str, str]]


class App:
    """An ASGI app that answers from a list, then with what the path usually brings."""

    def __init__(self, *answers: Said) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Scope, bytes]] = []

    @property
    def sent(self) -> list[str]:
        return [scope["method"] for scope, _ in self.asked]

    def header(self, name: str, index: int = -1) -> str:
        return dict(self.asked[index][0]["headers"]).get(name.encode(), b"").decode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        self.asked.append((scope, body))
        usual = ANSWERS.get((scope["method"], scope["path"]), {})
        status, content, headers = self.answers.pop(0) if self.answers else (200, usual, {})
        if callable(content):
            content = await content()
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        lines = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": raw})


def client_of(
    app: App,
    *,
    base: str = BASE,
    api_keys: ApiKeys = KEYS,
    clock: Clock | None = None,
    read_only: bool = False,
) -> Client:
    return Client(
        httpx.ASGITransport(app),
        base,
        api_keys,
        clock=clock or HastyClock(),
        rng=random.Random(7),
        read_only=read_only,
    )


def no(status: int, **headers: str) -> Said:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"error": "not now"}, named


# -- what is sent ------------------------------------------------------------------------------


async def test_a_call_carries_the_key_in_one_header_and_asks_for_no_compression() -> None:
    app = App()
    await client_of(app).call(on.MARKETS)
    assert app.header("authorization") == "Bearer api-key-0815"
    assert app.header("user-agent") == f"service-tui/{__version__}"
    assert app.header("accept-encoding") == "identity"
    assert not app.header("x-api-key")


class Stream(httpx.AsyncByteStream):
    """A body that notes its closing."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.closes = raw, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.raw

    async def aclose(self) -> None:
        self.closes += 1


class Wire(httpx.AsyncBaseTransport):
    """Answers every request alike, and keeps it."""

    def __init__(self, raw: bytes, kind: str) -> None:
        self.stream, self.kind = Stream(raw), kind
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, stream=self.stream, headers={"content-type": self.kind})


async def test_an_answer_is_closed_and_a_line_is_waited_for_no_longer_than_its_opening() -> None:
    wire = Wire(json.dumps(HEALTHY).encode(), "application/json")
    client = Client(wire, BASE, KEYS, clock=HastyClock(), rng=random.Random(7), allow_insecure=True)
    assert (await client.call(on.HEALTH)).answer.status == "ok"
    assert wire.stream.closes == 1
    waits = wire.requests[0].extensions["timeout"]
    # Only what fails before the deadline surely was not sent.
    assert waits["pool"] == waits["connect"] <= waits["read"] / 2


@pytest.mark.parametrize(("after", "sent"), [(None, None), (0, "0"), (41, "41")])
async def test_a_stream_goes_on_behind_the_last_event(after: int | None, sent: str | None) -> None:
    wire = Wire(b"", "text/event-stream")
    client = Client(wire, BASE, KEYS, clock=HastyClock(), rng=random.Random(7), allow_insecure=True)
    assert [event async for event in client.listen(on_desk.EVENTS, after=after)] == []
    assert wire.requests[0].headers.get("last-event-id") == sent
    assert wire.requests[0].headers["authorization"] == "Bearer operator-key-0816"
    assert wire.stream.closes == 1


async def test_a_body_is_sent_without_what_is_not_known() -> None:
    app = App()
    await client_of(app).call(on.PLACE_TRADE, body=ORDER, idempotency_key="k-1")
    sent = json.loads(app.asked[0][1])
    assert sent["amount"] == 25.0
    assert "reasoning" not in sent
    assert app.header("content-type") == "application/json"
    assert app.header("idempotency-key") == "k-1"


async def test_a_query_speaks_plain_words() -> None:
    app = App()
    query = MarketsQuery(q="rain & wind", venue=Venue.EVM, tradeable_only=False)
    await client_of(app).call(on.MARKETS, query=query)
    pairs = dict(httpx.QueryParams(app.asked[0][0]["query_string"]))
    assert pairs == {
        "status": "active",
        "limit": "50",
        "offset": "0",
        "venue": "evm_venue",
        "q": "rain & wind",
        "tradeable_only": "false",
    }


async def test_a_moment_in_a_query_survives_the_way() -> None:
    app = App()
    since = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)
    with pytest.raises(MalformedError):
        await client_of(app).call(on.BRIEFING, query=BriefingQuery(since=since))
    pairs = httpx.QueryParams(app.asked[0][0]["query_string"])
    assert datetime.fromisoformat(pairs["since"]) == since


async def test_each_endpoint_meets_its_own_key() -> None:
    app = App()
    client = client_of(app)
    await client.health()
    assert not app.header("authorization")
    with pytest.raises(MalformedError):
        await client.call(on_desk.WORLD)
    assert app.header("authorization") == "Bearer operator-key-0816"


async def test_a_call_without_its_key_is_not_sent() -> None:
    app = App()
    with pytest.raises(UnauthenticatedError, match="no key"):
        await client_of(app, api_keys=ApiKeys()).call(on.MARKETS)
    assert app.asked == []


async def test_cookies_are_never_returned() -> None:
    app = App((200, NO_MARKETS, {"set-cookie": "track=1"}))
    client = client_of(app)
    await client.call(on.MARKETS)
    await client.call(on.MARKETS)
    assert not app.header("cookie")


@pytest.mark.slow
@given(st.from_regex(r"[A-Za-z0-9_:-][A-Za-z0-9_:.-]{0,127}", fullmatch=True))
def test_every_good_id_is_one_segment(market_id: str) -> None:
    app = App()

    async def go() -> None:
        with pytest.raises(MalformedError, match="another shape"):
            await client_of(app).call(on.MARKET, path={"market_id": market_id})

    asyncio.run(go())
    assert app.asked[0][0]["path"] == f"/api/sdk/markets/{market_id}"


async def test_a_client_for_reading_refuses_to_write() -> None:
    app = App()
    client = client_of(app, read_only=True)
    with pytest.raises(ReadOnlyError, match="nothing was sent"):
        await client.call(on.PLACE_TRADE, body=ORDER)
    await client.call(on.MARKETS)
    assert app.sent == ["GET"]


# -- where it is sent --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "base",
    [
        "https://service.example",
        "https://service.example/base/",
        "http://localhost:8000",
        "http://127.0.0.1",
        "http://[::1]:8000",
        "http://desk.localhost",
    ],
)
def test_an_address_that_hides_the_key_is_accepted(base: str) -> None:
    Client(httpx.AsyncHTTPTransport(verify=False), base, ApiKeys(), clock=HastyClock(), rng=None)


@pytest.mark.parametrize(
    "base",
    [
        "",
        "service.example",
        "ftp://service.example",
        "https://",
        "http://service.example",
        "http://localhost.example",
        "http://notlocalhost",
        "http://127.0.0.1@service.example",
        "http://service.embedded",
        "https://user:word@service.example",
        "https://service.example?x",
        "https://service.example#",
        "https://service.example:0",
        "https://service.example:99999",
        "https://service\n.example",
    ],
)
def test_any_other_address_is_refused(base: str) -> None:
    transport = httpx.AsyncHTTPTransport(verify=False)
    with pytest.raises(ValueError, match=r"address|https"):
        Client(transport, base, ApiKeys(), clock=HastyClock(), rng=None)


def test_unencrypted_http_is_accepted_by_a_person() -> None:
    transport = httpx.AsyncHTTPTransport(verify=False)
    base = "http://service.example"
    Client(transport, base, ApiKeys(), clock=HastyClock(), rng=None, allow_insecure=True)


@pytest.mark.parametrize(
    "other",
    ["https://service.embedded", "http://service.embedded:81", "http://other.embedded"],
)
def test_a_key_of_another_address_is_refused(other: str) -> None:
    foreign = ApiKeys(ApiKey("foreign-key-0817", other))
    with pytest.raises(ForeignHostError):
        client_of(App(), api_keys=foreign)
    with pytest.raises(ForeignHostError):
        client_of(App()).renew(foreign)


# -- what comes back ---------------------------------------------------------------------------


def page(*rows: object) -> str:
    return json.dumps({"markets": rows, "agent_id": "a-1", "total": len(rows)})


async def markets_of(text: str) -> Reply[MarketsBody]:
    app = App((200, text.encode("utf-8", "surrogatepass"), {}))
    return await client_of(app).call(on.MARKETS)


@pytest.mark.parametrize(
    "row",
    [
        "NaN",
        "null",
        "[]",
        "{}",
        '{"id": "m", "question": "q", "current_probability": NaN}',
        '{"id": "m", "question": "q", "current_probability": 1e999}',
        '{"id": "m", "question": "q", "current_probability": "0.5"}',
        '{"id": "m", "question": "q", "current_probability": true}',
        '{"id": "m", "question": "q", "current_probability": 0.5, "tags": [["x"]]}',
        '{"id": "m", "question": "q", "current_probability": 0.5, "sparkline": [0.5, Infinity]}',
    ],
)
async def test_what_is_no_number_in_range_costs_one_row(row: str) -> None:
    reply = await markets_of(page(MARKET, MARKET).replace('"agent_id"', '"x": 0, "agent_id"'))
    assert reply.dropped == 0
    reply = await markets_of(page(MARKET, "here", MARKET).replace('"here"', row))
    assert [market.id for market in reply.answer.markets] == ["m-1", "m-1"]
    assert reply.dropped == 1


async def test_a_null_where_none_may_be_says_nothing() -> None:
    reply = await markets_of(page(MARKET | {"tags": None, "tick_size": None, "status": None}))
    assert reply.dropped == 0
    assert (reply.answer.markets[0].tags, reply.answer.markets[0].tick_size) == ((), 0.01)
    reply = await markets_of(page(MARKET | {"tags": None}, MARKET | {"id": None, "tags": None}))
    assert (len(reply.answer.markets), reply.dropped) == (1, 1)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"shares": None, "shares_bought": None, "cost": None, "new_price": None},
        {"market_id": None, "side": None, "warnings": None, "position": {"sim_balance": None}},
        {"fill_status": "matched at last", "status": "FILLED"},
    ],
)
async def test_a_trade_answer_that_says_little_is_an_answer(said: dict[str, object]) -> None:
    app = App((200, {"success": True, **said}, {}))
    reply = await client_of(app).call(on.PLACE_TRADE, body=ORDER)
    assert reply.answer.success
    assert reply.answer.cost == 0.0
    assert not {"shares", "shares_bought", "cost"} & reply.answer.model_fields_set


async def test_a_limit_that_is_null_is_no_limit_that_can_be_believed() -> None:
    body = {"sdk_real_trading_enabled": True, "sdk_max_trade_amount": None}
    with pytest.raises(MalformedError, match="sdk_max_trade_amount"):
        await client_of(App((200, body, {}))).call(on.SETTINGS)


async def test_trades_whose_words_are_not_ours_are_read_all_the_same() -> None:
    row = {
        "id": "t", "trade_id": None, "market_id": "m", "side": "yes", "action": "buy",
        "shares": None, "cost": None, "venue": None, "status": "Parked",
        "created_at": "2027-01-15T08:00:00Z",
    }  # fmt: skip
    reply = await client_of(App((200, {"trades": [row], "total_count": None}, {}))).call(on.TRADES)
    assert reply.dropped == 0
    assert reply.answer.trades[0].status == "Parked"


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff x", "\ud800"])
async def test_half_a_letter_costs_nothing(half: str) -> None:
    text = page(MARKET, MARKET | {"question": "here"}).replace("here", f"Rain {half}?")
    reply = await markets_of(text)
    assert reply.dropped == 0
    question = reply.answer.markets[1].question
    assert question.startswith("Rain")
    question.encode()


async def test_a_fault_outside_of_any_row_is_fatal() -> None:
    with pytest.raises(MalformedError, match="agent_id"):
        await markets_of('{"markets": [5], "agent_id": 5}')


async def test_a_reply_knows_its_way() -> None:
    clock = ManualClock()

    async def later() -> object:
        await clock.advance(0.25)
        return NO_MARKETS

    date = "Fri, 15 Jan 2027 08:00:10 GMT"
    reply = await client_of(App((200, later, {"date": date})), clock=clock).call(on.MARKETS)
    assert reply.latency_s == pytest.approx(0.25)
    assert reply.server_date == datetime(2027, 1, 15, 8, 0, 10, tzinfo=UTC).timestamp()
    assert reply.skew_s == pytest.approx(reply.at - reply.server_date)


@pytest.mark.parametrize(
    ("body", "error", "code", "fix"),
    [
        ({"error": "gone", "fix": "refresh", "detail": "x"}, "gone", "", "refresh"),
        ({"detail": "market closed"}, "market closed", "", None),
        ({"detail": {"error": "e", "code": "C", "fix": "f"}}, "e", "C", "f"),
        ({"detail": {"message": "m", "error_code": "C"}, "hint": "h"}, "m", "C", "h"),
        ({"error": "ORDER_REJECTED", "detail": "no balance"}, "no balance", "ORDER_REJECTED", None),
        ({"error": "KYC_REQUIRED"}, "KYC_REQUIRED", "KYC_REQUIRED", None),
        ({"message": "m"}, "m", "", None),
        ({"error": {"deep": 1}, "detail": [1], "fix": 5}, "not found", "", None),
        ({"error": "\x1b]52;c;YQ==\x07red\x1b[31m"}, "red", "", None),
        ([], "not found", "", None),
    ],
)
async def test_a_refusal_is_read_in_all_its_shapes(
    body: object, error: str, code: str, fix: str | None
) -> None:
    with pytest.raises(NotFoundError) as caught:
        await client_of(App((404, body, {}))).call(on.MARKETS)
    assert (caught.value.error, caught.value.code) == (error, code)
    assert caught.value.fix == fix or (fix is None and caught.value.fix)


async def test_payment_links_are_text_and_nothing_more() -> None:
    said = {"error": "Rate limit exceeded", "x402_url": "https://pay.example/\x1b[2J", "limit": 60}
    app = App((429, said | {"x402_price": "$0.005"}, {"retry-after": "60"}))
    with pytest.raises(RateLimitedError) as caught:
        await client_of(app).call(on.MARKETS)
    assert caught.value.x402_url == "https://pay.example/"
    assert caught.value.x402_price == "$0.005"
    assert len(app.asked) == 1


async def test_of_what_is_refused_only_a_read_may_be_paid_for() -> None:
    offer = offer_for(f"{BASE}{on.MARKETS.path}").model_dump(mode="json", by_alias=True)
    refused = (429, {"error": "Rate limit exceeded", "accepts": [offer]}, {"retry-after": "60"})
    client, offered = client_of(App(refused, refused)), list[str]()
    client.offered = lambda error, _: offered.append(error.called.path)
    for call in (client.call(on.PLACE_TRADE, body=ORDER), client.call(on.MARKETS)):
        with pytest.raises(RateLimitedError):
            await call
    assert offered == [on.MARKETS.path]


# -- again, later, never -----------------------------------------------------------------------


async def test_a_read_is_asked_again_until_it_is_answered() -> None:
    app = App(no(500), no(502))
    reply = await client_of(app).call(on.MARKETS)
    assert isinstance(reply, Reply)
    assert app.sent == ["GET"] * 3


async def test_repeats_stay_within_the_deadline() -> None:
    app = App(*[no(500)] * 3)
    with pytest.raises(ServiceFaultError):
        await client_of(app).call(on.MARKETS, deadline_s=0.1)
    assert len(app.asked) == 1


async def test_an_app_that_hangs_ends_at_the_deadline() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    app = App((200, never, {}), (200, never, {}))
    client = client_of(app, clock=SystemClock())
    with pytest.raises(ServiceFaultError, match="within"):
        await client.call(on.MARKETS, deadline_s=0.05)
    with pytest.raises(OutcomeUnknownError, match="within"):
        await client.call(on.PLACE_TRADE, body=ORDER, deadline_s=0.05)


async def test_who_stops_waiting_is_let_go() -> None:
    started = asyncio.Event()

    async def never() -> None:
        started.set()
        await asyncio.Event().wait()

    client = client_of(App((200, never, {})))
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(client.call(on.PLACE_TRADE, body=ORDER))
        await started.wait()
        waiting.cancel()
    assert waiting.cancelled()


async def test_a_refused_key_is_not_sent_again_until_it_is_renewed() -> None:
    app = App(no(401))
    clock = HastyClock()
    client = client_of(app, clock=clock)
    for _ in range(3):
        with pytest.raises(UnauthenticatedError, match="not now") as caught:
            await client.call(on.AGENT)
        assert "check the key" in caught.value.fix
        assert caught.value.is_revoked
    with pytest.raises(UnauthenticatedError):
        await client.call(on.MARKETS)
    with pytest.raises(UnauthenticatedError):
        await client.call(on.PLACE_TRADE, body=ORDER)
    assert len(app.asked) == 1
    assert clock.slept == []
    await client.health()
    client.renew(KEYS)
    await client.call(on.MARKETS)
    assert len(app.asked) == 3


async def test_a_refused_key_is_tried_once_a_minute_by_who_says_who_we_are() -> None:
    app = App(no(401), no(401))
    clock = ManualClock()
    client = client_of(app, clock=clock)
    with pytest.raises(UnauthenticatedError) as caught:
        await client.call(on.MARKETS)
    assert not caught.value.is_revoked, "another path may take the key"
    with pytest.raises(UnauthenticatedError):
        await client.call(on.AGENT)
    await clock.advance(59.0)
    for endpoint in (on.AGENT, on.MARKETS, on.POSITIONS):
        with pytest.raises(UnauthenticatedError):
            await client.call(endpoint)
    await clock.advance(1.0)
    with pytest.raises(UnauthenticatedError):
        await client.call(on.POSITIONS)
    assert len(app.asked) == 2
    with suppress(MalformedError):
        await client.call(on.AGENT)
    assert len(app.asked) == 3


async def test_a_fault_of_the_service_does_not_clear_a_refused_key() -> None:
    app = App(no(401), no(500))
    clock = ManualClock()
    client = client_of(app, clock=clock)
    with pytest.raises(UnauthenticatedError):
        await client.call(on.AGENT)
    await clock.advance(60.0)
    with pytest.raises(ServiceFaultError):
        await client.call(on.AGENT, deadline_s=0.1)
    with pytest.raises(UnauthenticatedError):
        await client.call(on.MARKETS)
    assert len(app.asked) == 2


async def test_a_key_that_a_stream_refused_rests() -> None:
    client = client_of(app := App(no(401)))
    for _ in range(2):
        with pytest.raises(UnauthenticatedError):
            await anext(client.listen(on.MARKETS))
    assert len(app.asked) == 1


async def test_callers_that_wait_stop_when_another_meets_a_401() -> None:
    async def when_all_are_there() -> object:
        await asyncio.sleep(0)
        return {"error": "no"}

    app = App(no(404), (401, when_all_are_there, {}))
    clock = ManualClock()
    client = client_of(app, clock=clock)
    failed: list[type[ServiceError]] = []

    async def ask() -> None:
        try:
            await client.call(on.MARKETS)
        except ServiceError as error:
            failed.append(type(error))

    await ask()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(ask())
        for _ in range(6):
            await clock.advance(PACE_S)
    assert failed == [NotFoundError] + [UnauthenticatedError] * 5
    assert len(app.asked) == 2


@pytest.mark.parametrize("status", [429, 503])
async def test_a_read_waits_as_long_as_the_service_asks(status: int) -> None:
    app = App(no(status, retry_after="7"))
    clock = HastyClock()
    await client_of(app, clock=clock).call(on.MARKETS)
    assert clock.monotonic() >= 7.0
    assert app.sent == ["GET"] * 2


@pytest.mark.parametrize("status", [429, 503])
async def test_a_closed_path_is_closed_for_all_callers_and_for_no_other_path(status: int) -> None:
    app = App(no(status, retry_after="40"))
    clock = HastyClock()
    client = client_of(app, clock=clock)
    with pytest.raises(ServiceError):
        await client.call(on.PLACE_TRADE, body=ORDER)
    for _ in range(3):
        with pytest.raises(RateLimitedError) as caught:
            await client.call(on.PLACE_TRADE, body=ORDER)
        assert caught.value.retry_after_s == pytest.approx(40.0)
    assert len(app.asked) == 1
    await client.call(on.MARKETS)
    await clock.sleep(40.0)
    await client.call(on.PLACE_TRADE, body=ORDER)
    assert app.sent == ["POST", "GET", "POST"]


async def test_a_write_does_not_wait_for_a_closed_path_even_for_a_moment() -> None:
    app = App(no(429, retry_after="1"))
    client = client_of(app)
    with pytest.raises(RateLimitedError):
        await client.call(on.PLACE_TRADE, body=ORDER)
    with pytest.raises(RateLimitedError, match="wait"):
        await client.call(on.PLACE_TRADE, body=ORDER)
    assert len(app.asked) == 1


async def test_a_path_that_fails_is_asked_at_most_five_times_a_second() -> None:
    clock = HastyClock()
    moments: list[float] = []

    async def fail() -> object:
        moments.append(clock.monotonic())
        return {}

    app = App(*[(404, fail, {})] * 40)
    client = client_of(app, clock=clock)
    for _ in range(40):
        with pytest.raises(NotFoundError):
            await client.call(on.MARKETS)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert len(gaps) == 39
    assert min(gaps) >= PACE_S - 1e-9


async def test_a_path_that_answers_is_not_slowed() -> None:
    clock = HastyClock()
    client = client_of(App(no(500)), clock=clock)
    await client.call(on.MARKETS)
    slept = len(clock.slept)
    for _ in range(50):
        await client.call(on.MARKETS)
    assert len(clock.slept) == slept


# -- answers that come again -------------------------------------------------------------------


def page_of(words: str) -> bytes:
    """A page of markets that is as long as its words."""
    return json.dumps({"agent_id": "a-1", "markets": [], "error": words}).encode()


def test_the_same_bytes_are_decoded_once_and_other_bytes_or_types_anew() -> None:
    same, raw = SameAnswers(), page_of("?" * SAME_LEAST)
    first = same.decode(MarketsBody, raw)
    assert first == decode(MarketsBody, raw)
    assert same.decode(MarketsBody, bytes(bytearray(raw)))[0] is first[0]
    assert same.decode(MarketsBody, raw + b" ")[0] is not first[0]
    assert same.decode(ErrorBody, raw)[0] is not first[0]


LARGE = {"agent_id": "a-1", "markets": [], "hint": "?" * SAME_LEAST}


async def test_an_answer_that_has_not_changed_is_the_last_one() -> None:
    app = App((200, LARGE, {"ETag": '"1"'}), (304, b"", {"ETag": '"1"'}), (200, NO_MARKETS, {}))
    async with client_of(app) as client:
        first = await client.call(on.MARKETS)
        assert app.header("if-none-match") == ""
        again = await client.call(on.MARKETS)
        assert app.header("if-none-match") == '"1"'
        assert again.answer is first.answer
        # What has changed is another answer, which has no version here.
        assert (await client.call(on.MARKETS)).answer is not first.answer
        await client.call(on.MARKETS)
        assert app.header("if-none-match") == ""


@pytest.mark.parametrize("tag", ["", '"', 'W/"1"', '"a b"', '"\xff"', f'"{"x" * 300}"'])
async def test_only_a_plain_version_of_a_large_answer_is_asked_for_again(tag: str) -> None:
    app = App((200, LARGE, {"ETag": tag}), (200, NO_MARKETS, {"ETag": '"2"'}))
    async with client_of(app) as client:
        for _ in range(3):
            await client.call(on.MARKETS)
            assert app.header("if-none-match") == ""


async def test_another_question_another_key_and_a_write_name_no_version() -> None:
    app = App((200, LARGE, {"ETag": '"1"'}))
    async with client_of(app) as client:
        await client.call(on.MARKETS)
        await client.call(on.MARKETS, query=MarketsQuery(limit=7))
        assert app.header("if-none-match") == ""
        client.renew(ApiKeys(ApiKey("api-key-0817", BASE)))
        await client.call(on.MARKETS)
        assert app.header("if-none-match") == ""
        await client.call(on.PLACE_TRADE, body=ORDER)
        assert app.header("if-none-match") == ""


async def test_nothing_has_changed_is_no_answer_to_who_knows_none() -> None:
    async with client_of(App((304, b"", {}), (304, b"", {}))) as client:
        with pytest.raises(MalformedError, match="which it was not asked"):
            await client.call(on.MARKETS)


async def test_the_version_of_a_refusal_is_none_of_the_answer() -> None:
    app = App((404, LARGE, {"ETag": '"1"'}), (304, b"", {"ETag": '"1"'}))
    async with client_of(app) as client:
        with pytest.raises(NotFoundError):
            await client.call(on.MARKETS)
        with pytest.raises(MalformedError):
            await client.call(on.MARKETS)
        assert app.header("if-none-match") == ""


async def test_what_was_asked_about_is_known_until_the_answer_comes() -> None:
    async def many_others() -> bytes:
        for limit in range(1, SAME_MOST + 2):
            await client.call(on.MARKETS, query=MarketsQuery(limit=limit))
        return b""

    others = [(200, LARGE, {"ETag": '"1"'})] * (SAME_MOST + 1)
    app = App((200, LARGE, {"ETag": '"1"'}), (304, many_others, {}), *others)
    async with client_of(app) as client:
        first = await client.call(on.MARKETS)
        assert (await client.call(on.MARKETS)).answer == first.answer
        await client.call(on.MARKETS)
        assert app.header("if-none-match") == ""


async def test_an_older_answer_that_comes_late_is_not_what_has_not_changed() -> None:
    older, newer = LARGE | {"total": 1}, LARGE | {"total": 2}
    is_asked, is_late = asyncio.Event(), asyncio.Event()

    async def slow() -> object:
        await is_asked.wait()
        return older

    async def nothing_new() -> bytes:
        is_asked.set()
        await is_late.wait()
        return b""

    app = App((200, slow, {"ETag": '"1"'}), (200, newer, {"ETag": '"2"'}), (304, nothing_new, {}))
    async with client_of(app) as client, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(client.call(on.MARKETS))
        await asyncio.sleep(0)
        assert (await client.call(on.MARKETS)).answer.total == 2
        last = tasks.create_task(client.call(on.MARKETS))
        assert (await first).answer.total == 1
        is_late.set()
        assert (await last).answer.total == 2
        assert app.header("if-none-match") == '"2"'


def test_small_answers_and_more_than_a_few_are_not_kept() -> None:
    same, small = SameAnswers(), page_of("")
    assert same.decode(MarketsBody, small)[0] is not same.decode(MarketsBody, small)[0]
    raws = [page_of(f"{number}" * SAME_LEAST) for number in range(SAME_MOST + 1)]
    first = [same.decode(MarketsBody, raw)[0] for raw in raws]
    assert same.decode(MarketsBody, raws[-1])[0] is first[-1]
    assert same.decode(MarketsBody, raws[0])[0] is not first[0]


# -- read your writes -----------------------------------------------------------------------------


async def test_reads_ask_for_no_row_that_the_service_has_lost() -> None:
    sent: list[str | None] = []
    answers = iter([(FILLED, "90"), (NO_MARKETS, "12"), (NO_MARKETS, "13"), (NO_MARKETS, "")])

    def answer(request: httpx.Request) -> httpx.Response:
        body, seq = next(answers)
        sent.append(request.headers.get("X-World-Seq"))
        headers = {"X-World-Seq": seq} if seq else {}
        stream = httpx.ByteStream(json.dumps(body).encode())
        return httpx.Response(200, headers=headers, stream=stream)

    async with Client(
        httpx.MockTransport(answer), "http://127.0.0.1:1",
        ApiKeys(ApiKey("k-12345678", "http://127.0.0.1:1")),
        clock=HastyClock(), rng=random.Random(1),
    ) as client:  # fmt: skip
        await client.call(on.PLACE_TRADE, body=ORDER)
        for _ in range(3):
            await client.call(on.MARKETS)
    assert sent == [None, "90", "12", "12"]


async def test_reads_ask_for_the_row_of_the_last_write_or_for_the_latest_after_a_doubt() -> None:
    sent: list[str | None] = []
    answers = iter([
        (200, NO_MARKETS, "90"), (200, FILLED, "12"), (200, NO_MARKETS, "99"), (200, FILLED, "11"),
        (200, NO_MARKETS, "99"), (502, {"error": "broke"}, ""), (200, NO_MARKETS, "99"),
        (200, FILLED, "14"), (200, NO_MARKETS, "99"), (200, FILLED, "x" * 30),
        (200, NO_MARKETS, "99"),
    ])  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        status, body, seq = next(answers)
        if request.method == "GET":
            sent.append(request.headers.get("X-World-Seq"))
        return httpx.Response(
            status,
            headers={"X-World-Seq": seq} if seq else {},
            stream=httpx.ByteStream(json.dumps(body).encode()),
        )

    transport = httpx.MockTransport(answer)
    async with Client(
        transport, "http://127.0.0.1:1", ApiKeys(ApiKey("k-12345678", "http://127.0.0.1:1")),
        clock=HastyClock(), rng=random.Random(1),
    ) as client:  # fmt: skip
        for number in range(11):
            if number % 2 == 0:
                await client.call(on.MARKETS)
                continue
            with suppress(OutcomeUnknownError):
                await client.call(on.PLACE_TRADE, body=ORDER)
    assert sent == [None, "12", "12", "latest", "14", "14"]
