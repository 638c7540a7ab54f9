"""What the port of a follower answers, forwards and refuses, without a database or a leader."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from kit.engine.bare import AT, bare_world
from kit.engine.topics import TOPICS
from service_tui.app.edge import (
    ANSWER_S,
    CONNECT_S,
    FORWARDED,
    NO_LEADER,
    READ_BROKE,
    TAKING_S,
    TOO_LARGE,
    WRITE_BROKE,
    Edge,
    Sentence,
    is_copied,
)
from service_tui.app.network import LeaderTls
from service_tui.clock import ManualClock
from service_tui.engine.events import AgentRegistered, ClientSeen
from service_tui.server.following import FRESH_S, FollowingCopy, FollowingStore
from service_tui.server.http.access import BODY_MAX, Access, hash_of
from service_tui.server.startup import SimSettings, service_on
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError
from service_tui.storage.journal import JournalRow
from service_tui.storage.shared.feed import JournalFeed
from service_tui.terms import Plan
from service_tui.units import Micros
from service_tui.wire.endpoints.desk import DESK_AGENTS
from service_tui.wire.endpoints.people import DESK_ME, INVITATIONS, PEOPLE
from service_tui.wire.endpoints.public import AGENT, HEALTH, MARKET, MARKETS, PLACE_TRADE, SETTINGS
from service_tui.wire.payment import PAYMENT_HEADER
from service_tui.wire.world_seq import LATEST, WORLD_SEQ

LEADER = "http://leader.example:9"
Pairs = list[tuple[str, str]]


@dataclass
class Got:
    """What a caller got."""

    status: int = 0
    headers: Pairs = field(default_factory=list)
    body: bytes = b""
    ends: int = 0


async def called(
    app: Any,
    method: str,
    path: str,
    *,
    headers: Pairs = (),
    body: tuple[bytes | None, ...] = (b"",),
    gone: asyncio.Event | None = None,
) -> Got:
    """One call of an app, whose caller stays until it is answered or `gone`; a None hangs up."""
    got, parts = Got(), list(body)
    name, _, query = path.partition("?")
    sent = [("host", "127.0.0.1:8400"), *headers]
    scope = {
        "type": "http",
        "method": method,
        "path": name,
        "raw_path": name.encode(),
        "query_string": query.encode(),
        "headers": [(one.encode(), value.encode()) for one, value in sent],
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> dict[str, object]:
        if parts:
            part = parts.pop(0)
            if part is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": part, "more_body": bool(parts)}
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            got.status = message["status"]
            got.headers = [(one.decode(), value.decode()) for one, value in message["headers"]]
            return
        got.body += message["body"]
        got.ends += not message.get("more_body", False)

    await app(scope, receive, send)
    return got


def answering(text: str, status: int = 200, seen: Pairs | None = None) -> Any:
    """An app that answers every call with a text, and notes method and path."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        if seen is not None:
            seen.append((f"{scope['method']} {scope['path']}", message["body"].decode()))
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": text.encode()})

    return app


class Body(httpx.AsyncByteStream):
    """Chunks of an answer, of which one may be a failure."""

    def __init__(self, *parts: bytes | Exception) -> None:
        self.parts, self.is_closed = parts, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part

    async def aclose(self) -> None:
        self.is_closed = True


Answer = Callable[[httpx.Request], httpx.Response]


class Wire(httpx.AsyncBaseTransport):
    """The leader behind the wire."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer, self.sent, self.is_closed = answer, list[httpx.Request](), False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(request)

    async def aclose(self) -> None:
        self.is_closed = True


def ok(text: bytes = b"from the leader", *, headers: Pairs = (), status: int = 200) -> Answer:
    return lambda _: httpx.Response(status, headers=list(headers), stream=Body(text))


def edge(
    answer: Answer | Exception | None = None,
    tls: LeaderTls | None = None,
    at: str | None = LEADER,
) -> tuple[Edge, Wire]:
    wire = Wire(answer or ok())
    return Edge(lambda: at, tls, wire), wire


class QuietError(Exception):
    """All rows are read."""


class Feed:
    """A journal without further rows."""

    def rows_after(self, _: int) -> list[JournalRow]:
        return []

    async def changed(self, _: float) -> None:
        raise QuietError


@asynccontextmanager
async def copied(*, seq: int = 10) -> AsyncGenerator[tuple[FollowingCopy, ManualClock]]:
    """A copy of a world as of a row, which knows the keys of one agent and of its operator."""
    world, clock = bare_world(), ManualClock(AT)
    born = AgentRegistered("a1", AT, "a1", "", hash_of("agent"), "c", Plan.ELITE, Micros(1))
    world.register(born)
    world.apply(ClientSeen("a1", AT, "1.2"))
    database = Database(Path("none/none"), port=None, with_wal=False, timeout_s=0.1)
    store = FollowingStore(database, (world, seq))
    service = service_on(store, database, clock, SimSettings(seed=7, topics=TOPICS, limits=False))
    service.follows = True
    access = Access(hash_of("operator"))

    async def renew() -> None:
        """Nobody else operates it."""

    copy = FollowingCopy(store, cast("JournalFeed", Feed()), service, access, renew=renew)
    async with copy.app.router.lifespan_context(copy.app):
        with suppress(QuietError):
            await copy.follow()
        yield copy, clock


def is_copys(got: Got) -> bool:
    return got.body != b"from the leader"


def sentence(got: Got, expected: Sentence) -> bool:
    fields = {"error": expected.error, "fix": expected.fix, "retryable": expected.retryable}
    return (got.status, json.loads(got.body)) == (expected.status, fields)


# -- who answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("sentence_of", [NO_LEADER, READ_BROKE, WRITE_BROKE, TOO_LARGE])
async def test_an_answer_of_the_port_says_what_is_wrong_and_what_to_do(
    sentence_of: Sentence,
) -> None:
    got = await called(sentence_of.app, "GET", "/")
    assert sentence(got, sentence_of)
    again = [("retry-after", "1")] if sentence_of.retryable else []
    assert got.headers == [
        ("content-type", "application/json"),
        ("content-length", str(len(got.body))),
        *again,
    ]
    assert got.ends == 1


async def test_the_leader_answers_everything_by_itself() -> None:
    made, wire = edge()
    async with copied() as (made.copy, _):
        made.lead(answering("own"), lambda: 7)
        for method in ("GET", "POST"):
            assert (await called(made, method, MARKETS.path)).body == b"own"
    assert wire.sent == []


@pytest.mark.parametrize(
    ("wanted", "is_own"), [((), True), (("7",), True), (("8",), False), (("3", "8"), False)]
)
async def test_a_leader_of_before_answers_nobody_who_has_seen_its_successor(
    wanted: tuple[str, ...], *, is_own: bool
) -> None:
    async def read() -> int:
        return 8

    made, _ = edge()
    made.lead(answering("own"), lambda: 7, read)
    got = await called(
        made, "GET", MARKETS.path, headers=[(WORLD_SEQ.lower(), one) for one in wanted]
    )
    assert got.body == b"own" if is_own else sentence(got, NO_LEADER)


@pytest.mark.parametrize(("last", "is_own"), [(7, True), (8, False), (None, False)])
async def test_a_row_that_a_restored_database_lacks_keeps_nobody_from_its_leader(
    last: int | None, *, is_own: bool
) -> None:
    async def read() -> int:
        if last is None:
            raise StorageError("the database does not answer")
        return last

    made, _ = edge()
    made.lead(answering("own"), lambda: 7, read)
    got = await called(made, "GET", MARKETS.path, headers=[(WORLD_SEQ.lower(), "99")])
    assert got.body == b"own" if is_own else sentence(got, NO_LEADER)


async def test_a_row_that_is_no_number_asks_nothing_of_the_leader() -> None:
    made, _ = edge()
    made.lead(answering("own"), lambda: 0)
    got = await called(made, "GET", MARKETS.path, headers=[(WORLD_SEQ.lower(), LATEST)])
    assert got.body == b"own"


async def test_one_that_ends_answers_whoever_still_calls_and_hangs_up() -> None:
    made, wire = edge()
    made.lead(answering("own"))
    made.end()
    # What it still leads is still answered.
    assert (await called(made, "POST", PLACE_TRADE.path)).body == b"own"
    made.lead(None)
    got = await called(made, "POST", PLACE_TRADE.path)
    assert (got.status, b"nothing was sent" in got.body) == (503, True)
    assert (b"connection", b"close") in [(a.encode(), b.encode()) for a, b in got.headers]
    assert wire.sent == []


async def test_one_that_leads_no_longer_forwards_again() -> None:
    made, wire = edge()
    made.lead(answering("own"))
    made.lead(None)
    assert (await called(made, "GET", MARKETS.path)).body == b"from the leader"
    assert len(wire.sent) == 1


async def test_a_caller_waits_for_the_app_of_one_that_takes_the_lead() -> None:
    made, wire = edge()
    made.take_lead()
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(called(made, "GET", MARKETS.path))
        await asyncio.sleep(0)
        assert not call.done()
        made.lead(answering("own"))
    assert call.result().body == b"own"
    assert wire.sent == []
    assert TAKING_S > 0


# -- what a copy answers ------------------------------------------------------------------------


def test_a_copy_answers_reads_of_the_world_and_not_of_the_leaders_memory() -> None:
    copied = {MARKETS.path, AGENT.path, MARKET.path.replace("{market_id}", "m-1")}
    alone = {one.path for one in (HEALTH, SETTINGS, DESK_AGENTS, DESK_ME, PEOPLE, INVITATIONS)}
    assert {path for path in copied | alone if is_copied(path)} == copied
    for path in (PLACE_TRADE.path, "/", f"{MARKETS.path}/a/b/c/d", f"x{MARKETS.path}"):
        assert not is_copied(path), path


AGENT_KEY = ("authorization", "Bearer agent")


@pytest.mark.parametrize(
    ("method", "path", "headers", "answers"),
    [
        ("GET", MARKETS.path, [], True),
        ("GET", AGENT.path, [AGENT_KEY], True),
        ("GET", AGENT.path, [AGENT_KEY, ("user-agent", "plain")], True),
        ("GET", AGENT.path, [AGENT_KEY, ("user-agent", "service-sdk/1.2")], True),
        ("GET", AGENT.path, [AGENT_KEY, ("user-agent", "service-sdk/1.3")], False),
        ("GET", AGENT.path, [("authorization", "Bearer unknown")], False),
        ("GET", AGENT.path, [("x-api-key", "unknown")], False),
        ("GET", "/api/desk/world", [("authorization", "Bearer operator")], True),
        ("GET", "/api/desk/world", [AGENT_KEY], False),
        ("GET", AGENT.path, [("authorization", "Bearer operator")], False),
        ("GET", MARKETS.path, [(PAYMENT_HEADER.lower(), "x")], False),
        ("GET", MARKETS.path, [(WORLD_SEQ.lower(), "10")], True),
        ("GET", MARKETS.path, [(WORLD_SEQ.lower(), "11")], False),
        ("GET", MARKETS.path, [("last-event-id", "11")], False),
        ("GET", MARKETS.path, [(WORLD_SEQ.lower(), "3"), ("last-event-id", "11")], False),
        ("GET", MARKETS.path, [(WORLD_SEQ.lower(), LATEST)], False),
        ("HEAD", MARKETS.path, [], False),
        ("POST", PLACE_TRADE.path, [AGENT_KEY], False),
        ("GET", HEALTH.path, [], False),
    ],
)
async def test_a_copy_answers_what_it_has_every_row_for(
    method: str, path: str, headers: Pairs, *, answers: bool
) -> None:
    made, wire = edge()
    async with copied() as (made.copy, _):
        got = await called(made, method, path, headers=headers)
    assert is_copys(got) is answers
    assert len(wire.sent) == (not answers)


async def test_a_copy_that_is_old_answers_nothing() -> None:
    made, _ = edge()
    async with copied() as (made.copy, clock):
        clock.set(clock.now() + FRESH_S + 0.1)
        assert not is_copys(await called(made, "GET", MARKETS.path))


async def test_what_a_copy_cannot_answer_goes_to_the_leader_and_nothing_of_it_is_seen() -> None:
    made, wire = edge()
    async with copied() as (copy, _):
        made.copy = copy
        got = await called(made, "GET", f"{MARKETS.path}?limit=x", headers=[AGENT_KEY])
        assert (got.status, wire.sent) == (422, [])
        copy.store.hand_over()
        got = await called(made, "GET", MARKETS.path, headers=[AGENT_KEY])
        assert (got.status, got.body, got.ends) == (200, b"from the leader", 1)
    assert len(wire.sent) == 1


async def test_who_wrote_through_this_port_reads_what_it_wrote() -> None:
    made, wire = edge(ok(headers=[(WORLD_SEQ, "12")]))
    await called(made, "POST", PLACE_TRADE.path)
    # A later write of a row before it, or of none that is named, takes nothing back.
    for headers in ([(WORLD_SEQ, "5")], []):
        wire.answer = ok(headers=headers)
        await called(made, "POST", PLACE_TRADE.path)
    # And a read has written nothing.
    wire.answer = ok(headers=[(WORLD_SEQ, "99")])
    await called(made, "GET", HEALTH.path)
    wire.answer = ok()
    for seq in (11, 12):
        async with copied(seq=seq) as (made.copy, _):
            for older in ([], [(WORLD_SEQ.lower(), "5")]):
                got = await called(made, "GET", MARKETS.path, headers=older)
                assert is_copys(got) is (seq == 12)


# -- what is forwarded --------------------------------------------------------------------------


async def test_a_call_is_forwarded_to_the_letter_and_marked() -> None:
    made, wire = edge(ok(status=201, headers=[("x-own", "a"), ("connection", "close")]))
    got = await called(
        made,
        "POST",
        "/api/sdk/trade?a=%2Fb",
        headers=[("x-api-key", "k"), ("te", "trailers"), ("connection", "close")],
        body=(b'{"a":', b"1}"),
    )
    (sent,) = wire.sent
    assert (sent.method, sent.url.host, sent.content) == ("POST", "leader.example", b'{"a":1}')
    assert sent.extensions["target"] == b"/api/sdk/trade?a=%2Fb"
    assert sent.extensions["timeout"] == {
        "connect": CONNECT_S,
        "read": ANSWER_S,
        "write": ANSWER_S,
        "pool": CONNECT_S,
    }
    assert "sni_hostname" not in sent.extensions
    names = dict(sent.headers)
    assert (names["host"], names["x-api-key"], names[FORWARDED]) == ("127.0.0.1:8400", "k", "1")
    assert not {"te", "connection", "transfer-encoding"} & set(names)
    assert (got.status, got.body, got.headers) == (201, b"from the leader", [("x-own", "a")])


async def test_a_call_without_a_query_has_none_at_the_leader() -> None:
    made, wire = edge()
    await called(made, "GET", "/api/sdk/agents/me")
    assert wire.sent[0].extensions["target"] == b"/api/sdk/agents/me"


async def test_the_leader_is_known_by_the_name_of_its_certificate() -> None:
    made, wire = edge(tls=LeaderTls(ssl.create_default_context(), "desk.example"))
    await called(made, "GET", HEALTH.path)
    assert wire.sent[0].extensions["sni_hostname"] == "desk.example"


async def test_without_a_leader_nothing_is_sent() -> None:
    made, wire = edge(at=None)
    assert sentence(await called(made, "POST", PLACE_TRADE.path), NO_LEADER)
    assert wire.sent == []


async def test_a_call_that_was_forwarded_here_goes_no_further() -> None:
    made, wire = edge()
    got = await called(made, "GET", HEALTH.path, headers=[(FORWARDED, "1")])
    assert sentence(got, NO_LEADER)
    assert wire.sent == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [([("origin", "http://evil.example")], 403), ([("host", "again")], 400)],
)
async def test_a_call_that_this_port_refuses_is_not_sent_on(headers: Pairs, status: int) -> None:
    made, wire = edge()
    got = await called(made, "POST", PLACE_TRADE.path, headers=headers)
    fields = json.loads(got.body)
    assert (got.status, fields["retryable"]) == (status, False)
    assert fields["error"]
    assert fields["fix"]
    assert fields["error"] != fields["fix"]
    assert wire.sent == []


@pytest.mark.parametrize(("size", "is_sent"), [(BODY_MAX, True), (BODY_MAX + 1, False)])
async def test_a_body_is_forwarded_as_large_as_the_leader_takes_it(
    size: int, *, is_sent: bool
) -> None:
    made, wire = edge()
    parts = (b"x" * (size - 9), b"y" * 9)
    got = await called(made, "POST", PLACE_TRADE.path, body=parts)
    assert sentence(got, TOO_LARGE) if not is_sent else got.status == 200
    assert [len(one.content) for one in wire.sent] == ([size] if is_sent else [])


@pytest.mark.parametrize(
    ("error", "read", "write"),
    [
        (httpx.ConnectError("no"), NO_LEADER, NO_LEADER),
        (httpx.PoolTimeout("no"), NO_LEADER, NO_LEADER),
        (httpx.ReadError("no"), READ_BROKE, WRITE_BROKE),
        (httpx.ReadTimeout("no"), READ_BROKE, WRITE_BROKE),
        (TimeoutError(), READ_BROKE, WRITE_BROKE),
    ],
)
async def test_a_leader_without_an_answer_leaves_a_doubt_about_a_write_alone(
    error: Exception, read: Sentence, write: Sentence
) -> None:
    made, _ = edge(error)
    for method in ("GET", "HEAD"):
        assert sentence(await called(made, method, HEALTH.path), read)
    assert sentence(await called(made, "POST", PLACE_TRADE.path), write)
    # While that is in doubt a copy may not have the write yet.
    async with copied() as (made.copy, _):
        got = await called(made, "GET", MARKETS.path)
        assert (got.status == 401) is (write is not WRITE_BROKE)


async def test_half_an_answer_is_no_whole_one() -> None:
    stream = Body(b"half", httpx.ReadError("broke"))
    made, _ = edge(lambda _: httpx.Response(200, stream=stream))
    got = await called(made, "GET", HEALTH.path)
    assert (got.status, got.body, got.ends) == (200, b"half", 0)
    assert stream.is_closed


async def test_another_leader_ends_what_the_former_one_was_to_answer() -> None:
    made, wire = edge()
    is_asked, never = asyncio.Event(), asyncio.Event()

    async def silent(_: httpx.Request) -> httpx.Response:
        is_asked.set()
        await never.wait()
        raise AssertionError

    wire.handle_async_request = silent  # type: ignore[method-assign]
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(called(made, "POST", PLACE_TRADE.path))
        await is_asked.wait()
        made.leader_changed()
    assert sentence(call.result(), WRITE_BROKE)


async def test_what_breaks_off_on_its_way_here_is_never_sent_on() -> None:
    made, wire = edge()
    got = await called(made, "POST", PLACE_TRADE.path, body=(b"half", None))
    assert (wire.sent, got.ends) == ([], 0)


async def test_a_stream_ends_with_its_listener() -> None:
    gone = asyncio.Event()

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"one"
            gone.set()
            await asyncio.Event().wait()

    made, _ = edge(lambda _: httpx.Response(200, stream=Endless()))
    got = await asyncio.wait_for(called(made, "GET", HEALTH.path, gone=gone), 60)
    assert (got.body, got.ends) == (b"one", 0)


async def test_the_connections_end_with_the_port() -> None:
    made, wire = edge()
    await made.aclose()
    assert wire.is_closed
