"""The parts that every call passes: who calls, what it sends, and what it is answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

from kit.engine.bare import AT
from kit.service.bare import ANN, bare_service, request_to
from service_tui.engine.errors import NotFound
from service_tui.engine.events import ClientSeen, OperatorActed
from service_tui.server import app
from service_tui.server.claim.page import HEADERS
from service_tui.server.events.listeners import BEAT_S
from service_tui.server.http import idempotency
from service_tui.server.http.access import BODY_MAX
from service_tui.server.http.direct import DirectRequest
from service_tui.server.http.entrance import IN_PROCESS
from service_tui.server.http.idempotency import Promise
from service_tui.server.http.names import Speech, speech_of
from service_tui.server.http.refusals import Denied, denied
from service_tui.server.http.unchanged import UNCHANGED
from service_tui.server.routes.claim import HtmlPage
from service_tui.storage.errors import StorageBusyError, StorageError, StorageFullError
from service_tui.terms import LINE_MAX, PROSE_MAX, Venue
from service_tui.wire.chain import UnsignedTxBody
from service_tui.wire.endpoints.desk import DESK_CLAIM, DESK_PATCH_AGENT, EVENTS
from service_tui.wire.endpoints.fleet import DESK_APPROVE
from service_tui.wire.endpoints.public import CLAIM_PAGE, HEALTH, MARKETS, PLACE_TRADE
from service_tui.wire.errors import ErrorBody
from service_tui.wire.markets import MarketsQuery
from service_tui.wire.trades import TradeRequest

PLAIN = Speech(None, public=False)


def call(
    body: bytes = b"", kind: str | None = "application/json", query: bytes = b"", **scope: Any
) -> DirectRequest:
    headers = [] if kind is None else [(b"content-type", kind.encode())]
    given = {
        "type": "http", "method": "POST", "path": "/api/x", "query_string": query,
        "headers": headers, "client": ("127.0.0.1", 9), **scope,
    }  # fmt: skip
    parts = [body[at : at + 40_000] for at in range(0, len(body), 40_000)] or [b""]

    async def receive() -> Any:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    return DirectRequest(given, receive)


def status(refused: pytest.ExceptionInfo[Denied]) -> int:
    return refused.value.status


# -- the body -----------------------------------------------------------------------------------


TRADE = b'{"market_id":"m1","side":"no","amount":5}'


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
async def test_a_body_is_decoded_as_its_endpoint_wants_it(kind: str) -> None:
    body = await app._body_of(call(TRADE, kind), PLACE_TRADE, PLAIN)
    assert isinstance(body, TradeRequest)
    assert (body.market_id, body.amount) == ("m1", 5.0)
    assert await app._body_of(call(b"nonsense"), HEALTH, PLAIN) is None


@pytest.mark.parametrize(
    ("sent", "kind", "code"),
    [
        (TRADE, "text/plain", 415), (TRADE, None, 415), (b"{", "application/json", 422),
        (b"[]", "application/json", 422), (b"\xff", "application/json", 422),
        (b'{"market_id":"m1","side":"maybe"}', "application/json", 422),
        (TRADE[:-1] + b',"amount":6}', "application/json", 422),
        (b" " * (BODY_MAX + 1), "application/json", 413),
    ],
)  # fmt: skip
async def test_a_body_that_cannot_be_taken_is_refused(
    sent: bytes, kind: str | None, code: int
) -> None:
    with pytest.raises(Denied) as refused:
        await app._body_of(call(sent, kind), PLACE_TRADE, PLAIN)
    assert status(refused) == code


async def test_a_body_that_ends_early_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*_: object) -> bytes:
        raise ClientDisconnect

    monkeypatch.setattr(DirectRequest, "body", gone)
    with pytest.raises(Denied) as refused:
        await app._body_of(call(TRADE), PLACE_TRADE, PLAIN)
    assert status(refused) == 400


@pytest.mark.parametrize(("venue", "public"), [("polymarket", True), ("sim", False)])
async def test_who_names_a_venue_as_the_public_does_is_answered_so(
    venue: str, *, public: bool
) -> None:
    speech = Speech(None, public=False)
    body = TRADE[:-1] + f',"venue":"{venue}"}}'.encode()
    await app._body_of(call(body), PLACE_TRADE, speech)
    assert speech.public is public
    speech = Speech(None, public=False)
    app._query_of([("venue", venue)], MARKETS, speech)
    assert speech.public is public


# -- the query ----------------------------------------------------------------------------------


def test_a_query_is_read_from_text_and_names_what_is_unknown() -> None:
    pairs = app._pairs_of(call(query=b"limit=7&tradeable_only=false&colour=red&colour=blue&a="))
    assert pairs == [
        ("limit", "7"), ("tradeable_only", "false"), ("colour", "red"), ("colour", "blue"),
        ("a", ""),
    ]  # fmt: skip
    assert app._unknown_of(pairs, MARKETS) == ("colour", "a")
    assert app._unknown_of(pairs[:2], MARKETS) == ()
    assert app._unknown_of(pairs[:1], HEALTH) == ("limit",)
    query = app._query_of(pairs[:2], MARKETS, PLAIN)
    assert isinstance(query, MarketsQuery)
    assert (query.limit, query.tradeable_only) == (7, False)
    assert app._query_of(pairs, HEALTH, PLAIN) is None
    assert app._pairs_of(call()) == []


@pytest.mark.parametrize(
    "pairs", [[("limit", "1"), ("limit", "2")], [("limit", "x")], [("limit", "0")]]
)
def test_a_query_that_cannot_be_meant_is_refused(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(Denied) as refused:
        app._query_of(pairs, MARKETS, PLAIN)
    assert status(refused) == 422


# -- the form -----------------------------------------------------------------------------------


def form(body: bytes, kind: str = app.FORM, *, ends_early: bool = False) -> Request:
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}

    async def receive() -> Any:
        if ends_early:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(scope, receive)


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"code=AB12", "AB12"), (b"code=A%2DB&code=C", "A-B"), (b"", ""), (b"other=1", "")],
)
async def test_a_form_holds_a_code(body: bytes, code: str) -> None:
    assert await app._typed(form(body)) == code
    assert await app._typed(form(body, "Application/X-WWW-form-urlencoded; charset=x")) == code


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"code=A", "application/json", 415), (b"code=" + b"A" * app.FORM_MAX, app.FORM, 413),
        (b"code=\xff", app.FORM, 400), (b"a=1&" * 5 + b"code=A", app.FORM, 400),
    ],
)  # fmt: skip
async def test_a_form_that_is_none_is_refused(body: bytes, kind: str, code: int) -> None:
    with pytest.raises(Denied) as refused:
        await app._typed(form(body, kind))
    assert status(refused) == code


async def test_a_form_that_is_broken_off_is_refused() -> None:
    with pytest.raises(Denied) as refused:
        await app._typed(form(b"", ends_early=True))
    assert status(refused) == 400


@pytest.mark.parametrize(
    ("method", "path", "is_ours"),
    [
        ("POST", CLAIM_PAGE.replace("{claim_code}", "c"), True),
        ("GET", CLAIM_PAGE.replace("{claim_code}", "c"), False), ("POST", "/api/sdk/trade", False),
    ],
)  # fmt: skip
def test_one_form_is_our_own(method: str, path: str, *, is_ours: bool) -> None:
    assert app.is_own_form(method, path) is is_ours


async def test_the_page_is_shown_and_its_form_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    async def enter(service: str, code: str, typed: str) -> HtmlPage:
        return HtmlPage(403, f"{service} {code} {typed}".encode())

    monkeypatch.setattr(app, "enter", enter)
    monkeypatch.setattr(
        app, "show", lambda service, code: HtmlPage(200, f"{service} {code}".encode())
    )
    answer = app.claim_page("service")  # type: ignore[arg-type]
    request = form(b"code=AB")
    request.scope["path_params"] = {"claim_code": "c1"}
    sent = await answer(request)
    assert (sent.status_code, sent.body) == (403, b"service c1 AB")
    request.scope["method"] = "GET"
    shown = await answer(request)
    assert (shown.status_code, shown.body) == (200, b"service c1")
    assert shown.headers["content-type"].startswith("text/html")
    for name, value in HEADERS.items():
        assert shown.headers[name] == value


# -- who calls ----------------------------------------------------------------------------------


ACCESS: Any = SimpleNamespace(
    agent=lambda *_: "agent", known=lambda *_: "known", person=lambda *_: ANN
)


@pytest.mark.parametrize(
    ("endpoint", "agent"),
    [
        (SimpleNamespace(operator=True, key_helps=True, keyless=False), None),
        (SimpleNamespace(operator=False, key_helps=True, keyless=True), "known"),
        (SimpleNamespace(operator=False, key_helps=False, keyless=True), None),
        (SimpleNamespace(operator=False, key_helps=False, keyless=False), "agent"),
    ],
)
def test_an_agent_calls_by_its_key_where_one_is_asked_for(endpoint: Any, agent: Any) -> None:
    assert app._agent_of(bare_service(), ACCESS, endpoint, call().headers) == agent


@pytest.mark.parametrize(
    ("endpoint", "ids", "checked"),
    [
        (DESK_PATCH_AGENT, {"agent_id": "ada"}, [("ada's", False)]),
        (DESK_CLAIM, {"agent_id": "ada"}, [("ada's", True)]),
        (DESK_APPROVE, {"held_id": "h1"}, [("ben's", False)]),
    ],
)
def test_a_trader_calls_for_own_agents_alone(
    monkeypatch: pytest.MonkeyPatch, endpoint: Any, ids: dict[str, str], checked: list[Any]
) -> None:
    seen: list[Any] = []

    def check_own(person: object, owner: str, *, may_take: bool) -> None:
        assert person is ANN
        seen.append((owner, may_take))

    monkeypatch.setattr(app, "check_own", check_own)
    service: Any = SimpleNamespace(
        owner_of=lambda agent_id: f"{agent_id}'s",
        world=SimpleNamespace(pending_trades=SimpleNamespace(agent_of={"h1": "ben"}.get)),
    )
    assert app._person_of(service, ACCESS, endpoint, call(path_params=ids)) is ANN
    assert seen == checked
    assert app._person_of(service, ACCESS, PLACE_TRADE, call()) is None


def test_what_an_operator_changes_is_noted_with_what_was_sent() -> None:
    one = bare_service()
    body = DESK_PATCH_AGENT.request.model_validate({"name": "x" * 40})
    request = request_to(one, body=body, path={"agent_id": "ada", "other": "y" * LINE_MAX})
    act = app._act_of(DESK_PATCH_AGENT, request)
    assert act == OperatorActed(
        "ann", AT, f"{DESK_PATCH_AGENT.method} {DESK_PATCH_AGENT.path}",
        f"ada {'y' * LINE_MAX}"[:LINE_MAX], f'{{"name":"{"x" * 40}"}}'[:PROSE_MAX],
    )  # fmt: skip
    assert app._act_of(DESK_PATCH_AGENT, request_to(one)) == OperatorActed(
        "ann", AT, f"{DESK_PATCH_AGENT.method} {DESK_PATCH_AGENT.path}", "", ""
    )
    reads: Any = SimpleNamespace(reads=True)
    assert app._act_of(reads, request) is None
    assert app._act_of(DESK_PATCH_AGENT, request_to(one, "ada", body=body)) is None


@pytest.mark.parametrize(
    ("client", "inside"), [(IN_PROCESS, True), (("127.0.0.1", 9), False), (None, False)]
)
@pytest.mark.parametrize("local", [True, False])
def test_a_caller_is_told_by_where_it_calls_from(
    monkeypatch: pytest.MonkeyPatch, client: Any, *, inside: bool, local: bool
) -> None:
    monkeypatch.setattr(app, "peer_of", lambda *_: "10.0.0.7")
    entrance: Any = SimpleNamespace(is_local=local)
    agent: Any = "agent"
    caller = app._caller_of(call(client=client), entrance, agent)
    assert (caller.agent, caller.path, caller.in_process) == ("agent", "/api/x", inside)
    assert caller.peer == ("" if local else "10.0.0.7")


async def test_the_version_of_the_published_client_is_noted_once() -> None:
    one = bare_service()
    speech = speech_of("any-sdk/1.4.2")
    assert (speech.version, speech.public) == ("1.4.2", True)
    request = request_to(one, "ada")
    await app._note_client(request, speech)
    assert one.world_store.written == [ClientSeen("ada", AT, "1.4.2")]
    assert one.sdk_seen_at == {"ada": AT}
    await app._note_client(request, speech)
    assert len(one.world_store.written) == 1
    one.world_store.refuses = StorageFullError("full")
    await app._note_client(request, Speech("1.5.0", public=True))
    assert len(one.world_store.written) == 1
    await app._note_client(request, PLAIN)
    await app._note_client(request_to(one), speech)
    assert one.sdk_seen_at == {"ada": AT}


# -- the answer ---------------------------------------------------------------------------------


def test_an_answer_is_in_the_names_of_the_caller_and_says_how_new_it_is() -> None:
    body = ErrorBody(error="no", fix=f"use {Venue.EVM.value}", limit=None)
    refused = app._refused(PLAIN, Denied(403, body, {"Retry-After": "9"}), 12)
    assert (refused.status_code, refused.headers["Retry-After"]) == (403, "9")
    assert refused.headers[app.WORLD_SEQ] == "12"
    assert b'"limit"' not in refused.body
    # Under the name that the wire gives a field, in a refusal and in an answer.
    unsigned = UnsignedTxBody.model_validate({"from": "0x1"})
    for named in (
        app._encoded(400, unsigned),
        app._refused(PLAIN, Denied(403, unsigned), 12),
        app._given(PLAIN, unsigned, {}),
    ):
        assert b'"from":"0x1"' in named.body
    given = app._given(PLAIN, body, {"A": "b"})
    assert (given.status_code, given.headers["A"]) == (200, "b")
    assert b'"limit":null' in given.body
    unchanged = app._given(PLAIN, UNCHANGED, {"A": "b"})
    assert (unchanged.status_code, unchanged.headers["A"], unchanged.body) == (304, "b", b"")


@pytest.mark.parametrize(
    ("error", "is_certain"),
    [
        (StorageFullError("full"), True),
        (StorageBusyError("busy"), True),
        (StorageError("x"), False),
    ],
)
async def test_a_disk_that_refuses_says_whether_anything_may_have_been_traded(
    error: StorageError, *, is_certain: bool
) -> None:
    response = await app._storage_response(form(b""), error)
    assert response.status_code == 503
    assert (b"nothing was traded" in response.body) is is_certain
    assert (b"the outcome is not known" in response.body) is not is_certain
    assert b"before you retry" in response.body or is_certain


async def test_a_refusal_of_a_form_is_answered_and_another_error_is_not_taken_for_one() -> None:
    response = await app._denied_response(form(b""), denied(403, "no", "do"))
    assert (response.status_code, b'"fix":"do"' in response.body) == (403, True)
    with pytest.raises(KeyError):
        await app._denied_response(form(b""), KeyError("x"))
    with pytest.raises(KeyError):
        await app._wrong_path_response(form(b""), KeyError("x"))


@pytest.mark.parametrize(("method", "distrusts"), [("GET", 0), ("HEAD", 0), ("POST", 1)])
async def test_a_bug_says_nothing_of_itself_and_a_half_done_change_is_read_back(
    method: str, distrusts: int
) -> None:
    told: list[str] = []
    service: Any = SimpleNamespace(
        world_store=SimpleNamespace(distrust=lambda: told.append("distrust"))
    )
    request = form(b"")
    request.scope["method"] = method
    response = await app._fault_of(service)(request, ValueError("sk_live_secret"))
    assert (response.status_code, len(told)) == (500, distrusts)
    assert b"secret" not in response.body


def test_a_route_serves_its_own_method_alone() -> None:
    async def answer(_: Request) -> Any:
        return None

    route = app._route(HEALTH, answer)
    assert isinstance(route, Route)
    assert (route.path, route.methods) == (HEALTH.path, {"GET"})


# -- beside the calls ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ["_tick", "_beat", "_digest", "_deliver"]),
        ({"is_scripted": True}, ["_beat", "_digest", "_deliver"]),
        ({"follows": True}, ["_beat"]),
    ],
)
def test_who_follows_only_beats_and_a_script_moves_its_own_tape(
    changes: dict[str, bool], names: list[str]
) -> None:
    service: Any = SimpleNamespace(**{"follows": False, "is_scripted": False, **changes})
    assert [work.__name__ for work in app._works(service)] == names


class Beside:
    """A service whose clock notes each pause, and stops after so many."""

    def __init__(self, pauses: int, fault: StorageError | None = None) -> None:
        self.left, self.fault = pauses, fault
        self.done: list[object] = []
        self.clock = SimpleNamespace(now=lambda: AT, sleep=self.sleep)
        self.world_store = SimpleNamespace(
            advance=self.advance, events=SimpleNamespace(beat=lambda: self.done.append("beat")),
            digest=SimpleNamespace(catch_up=self.catch_up),
        )  # fmt: skip
        self.courier = SimpleNamespace(run=self.deliver)

    async def sleep(self, pause_s: float) -> None:
        self.done.append(pause_s)
        self.left -= 1
        if self.left < 0:
            raise asyncio.CancelledError

    async def advance(self, at: float) -> None:
        self.done.append(("advance", at))
        if self.fault is not None:
            raise self.fault

    async def catch_up(self) -> None:
        self.done.append("digest")
        if self.fault is not None:
            raise self.fault

    async def deliver(self) -> None:
        self.done.append("delivered")


@pytest.mark.parametrize(
    ("work", "fault", "done"),
    [
        (app._tick, None, [("advance", AT), app.TICK_S] * 2),
        (app._tick, StorageError("x"), [("advance", AT), app.RETRY_S] * 2),
        (app._beat, None, [BEAT_S, "beat", BEAT_S]),
        (app._digest, None, [app.DIGEST_S, "digest", app.DIGEST_S]),
        (app._digest, StorageError("x"), [app.DIGEST_S, "digest", app.DIGEST_S]),
    ],
)
async def test_what_goes_on_beside_the_calls_goes_on_after_a_fault_of_the_disk(
    work: Any, fault: StorageError | None, done: list[object]
) -> None:
    service: Any = Beside(1, fault)
    with pytest.raises(asyncio.CancelledError):
        await work(service)
    assert service.done == done


async def test_the_courier_runs() -> None:
    service: Any = Beside(0)
    await app._deliver(service)
    assert service.done == ["delivered"]


# -- what stands on disk ------------------------------------------------------------------------


class Store:
    """A store that has refused so many commits by the time of each look."""

    def __init__(self, *looks: int) -> None:
        self.looks, self.seq, self.written_seq = list(looks), 40, 33

    async def on_disk(self) -> int:
        return self.looks.pop(0)


async def handled(request: Any) -> Any:
    request.service.world_store.seq += 1
    return ErrorBody(error=str(request.service.world_store.seq), fix="")


async def test_a_reading_begins_again_where_the_disk_refused_what_it_had_seen() -> None:
    request: Any = SimpleNamespace(service=SimpleNamespace(world_store=Store(0, 1, 1, 1)))
    reply, seq = await app._read(request, handled)
    assert (reply.error, seq) == ("42", 41)
    assert await app._write(request, handled) == (ErrorBody(error="43", fix=""), 33)
    changing = Store(*range(2 * app.READ_TRIES))
    request.service.world_store = changing
    with pytest.raises(StorageError):
        await app._read(request, handled)
    assert changing.looks == []


# -- once ---------------------------------------------------------------------------------------


class Repeats:
    """Remembers the one answer that a test gives it, and whose turn it was."""

    def __init__(self, earlier: str | None) -> None:
        self.earlier = earlier
        self.turns: list[object] = []

    @asynccontextmanager
    async def turn(self, promise: object) -> AsyncIterator[Any]:
        self.turns.append(promise)
        yield None if self.earlier is None else SimpleNamespace(answer=self.earlier)
        self.turns.append("over")


@pytest.mark.parametrize("writes", [True, False])
async def test_an_answer_is_promised_with_what_was_written_or_by_itself(*, writes: bool) -> None:
    one = bare_service(repeats=Repeats(None))
    one.world_store.written_seq = 7
    promise = Promise("ada", "key", "/p", "hash", AT)
    request = request_to(one, "ada")
    reply = ErrorBody(error="done", fix="")

    async def handler(asked: Any) -> Any:
        assert asked.promise is promise
        return await asked.commit(["event"], reply) if writes else reply

    answered = await app._answer_once(request, promise, handler, PLAIN)
    assert (answered.status_code, answered.headers[app.WORLD_SEQ]) == (200, "7")
    assert b'"error":"done"' in answered.body
    assert one.world_store.written == (["event"] if writes else [])
    assert len(one.world_store.answers) == 1
    assert one.world_store.answers[0] is not None
    assert one.repeats.turns == [promise, "over"]


async def test_a_repeated_call_gets_its_first_answer_and_nothing_is_done() -> None:
    one = bare_service(repeats=Repeats('{"first":1}'))
    one.world_store.written_seq = 7
    request = request_to(one, "ada", headers={"A": "b"})

    async def never(_: object) -> Any:
        raise AssertionError

    promise = Promise("ada", "key", "/p", "hash", AT)
    answered = await app._answer_once(request, promise, never, PLAIN)
    assert (answered.body, answered.headers["A"]) == (b'{"first":1}', "b")
    assert answered.headers[idempotency.REPLAYED] == "true"
    assert answered.headers[app.WORLD_SEQ] == "7"
    assert one.world_store.answers == []


# -- streams ------------------------------------------------------------------------------------


async def test_a_stream_is_opened_from_the_last_event_while_its_key_opens_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rights, opened = [True], list[Any]()

    def person(*_: object) -> Any:
        if not rights[0]:
            raise denied(403, "no", "do")
        return ANN

    access: Any = SimpleNamespace(person=person)
    streams = SimpleNamespace(has_room=lambda name: name == "ann" and len(opened) < 1)
    monkeypatch.setattr(app, "streams_of", lambda _: streams)
    monkeypatch.setattr(app, "last_event_seen", lambda _: 41)
    monkeypatch.setattr(app, "EventStream", lambda *given: given)

    def opener(context: Any, after: int | None) -> str:
        opened.append((context.caller, context.now, after))
        return "events"

    answer = app._streaming(bare_service(), access, EVENTS, opener)
    request = form(b"")
    request.scope["app"] = "app"
    subscription, given, may_listen, name = await answer(request)  # type: ignore[misc]
    assert (subscription, given, name, opened) == ("events", streams, "ann", [(None, AT, 41)])
    assert may_listen()
    rights[0] = False
    assert not may_listen()
    rights[0] = True
    with pytest.raises(Denied, match="429"):
        await answer(request)


# -- the door -----------------------------------------------------------------------------------


@pytest.mark.parametrize("may", [True, False])
@pytest.mark.parametrize("kind", ["http", "lifespan"])
async def test_the_door_asks_calls_alone_and_turns_away_before_any_path(
    monkeypatch: pytest.MonkeyPatch, kind: str, *, may: bool
) -> None:
    passed: list[object] = []
    sent: list[Any] = []

    def check(headers: Any, peer: str, *, own_page: bool) -> None:
        passed.append((headers["host"], peer, own_page))
        if not may:
            raise denied(403, "not here", "go")

    monkeypatch.setattr(app, "entrance_of", lambda _: SimpleNamespace(check=check))

    async def inner(scope: Any, *_: object) -> None:
        passed.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message)

    path = CLAIM_PAGE.replace("{claim_code}", "c")
    scope = {
        "type": kind, "method": "POST", "path": path, "headers": [(b"host", b"here")],
        "client": ("10.0.0.7", 1),
    }  # fmt: skip
    door = app._Door(inner)
    await door(scope, None, send)  # type: ignore[arg-type]
    if kind == "lifespan":
        assert passed == ["lifespan"]
    else:
        assert passed[0] == ("here", "10.0.0.7", True)
        assert passed[1:] == (["http"] if may else [])
    assert [one["status"] for one in sent if "status" in one] == (
        [403] if kind == "http" and not may else []
    )


def test_who_calls_is_asked_again_only_after_a_body() -> None:
    before, after = (None, None), (ANN, None)
    assert app._after(None, before, lambda: after) is before
    assert app._after(ErrorBody(error="x", fix=""), before, lambda: after) is after


# -- the whole way of a call --------------------------------------------------------------------


class Way:
    """The way of one call, with every step of it noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.contexts: list[Any] = []
        self.promises: list[Promise] = []
        self.fault: Exception | None = None
        self.service = bare_service()
        self.service.world_store.written_seq = 41
        self.agent: Any = self.service.world.agents["ada"]
        self.who: tuple[Any, Any] = (None, self.agent)
        entrance = SimpleNamespace(is_local=True)
        monkeypatch.setattr(app, "_entered", lambda _: entrance)
        monkeypatch.setattr(app, "_who_calls", lambda *_: self.who)
        for name, answer in (
            ("admitted", {"X-Rate": "9"}), ("charged", {"X-Paid": "1"}), ("_note_client", None),
            ("_read", (ErrorBody(error="read"), 77)), ("_write", (ErrorBody(error="wrote"), 78)),
        ):  # fmt: skip
            monkeypatch.setattr(app, name, self._step(name, answer))
        monkeypatch.setattr(app, "_answer_once", self._once)

    def _step(self, name: str, answer: Any) -> Any:
        async def step(first: Any, *rest: Any) -> Any:
            self.steps.append(name)
            if name in {"_read", "_write"}:
                self.contexts.append(first)
                if self.fault is not None:
                    raise self.fault
            if name in {"admitted", "charged"}:
                caller = rest[-2][1]
                assert (caller.agent, caller.path) == (self.who[1], "/api/x")
            return answer

        return step

    async def _once(self, context: Any, promise: Promise, *_: Any) -> str:
        self.steps.append("once")
        self.contexts.append(context)
        self.promises.append(promise)
        return "answered once"

    async def go(self, endpoint: Any, body: bytes = b"", query: bytes = b"", **sent: str) -> Any:
        self.steps.clear()
        given = {"content-type": "application/json", "host": "Desk.example:80"} | {
            name.replace("_", "-"): value for name, value in sent.items()
        }
        headers = [(name.encode(), value.encode()) for name, value in given.items()]
        answer = app._answering(self.service, ACCESS, endpoint, handled)
        return await answer(call(body, query=query, headers=headers, path_params={"a": "b"}))


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> Way:
    return Way(monkeypatch)


async def test_a_trade_is_counted_carried_out_and_answered_with_its_row(way: Way) -> None:
    answer = await way.go(PLACE_TRADE, TRADE, b"colour=red", if_none_match="e7")
    assert way.steps == ["admitted", "_note_client", "_write", "charged"]
    assert (answer.status_code, answer.headers[app.WORLD_SEQ]) == (200, "78")
    assert (answer.headers["X-Rate"], answer.headers["X-Paid"]) == ("9", "1")
    (context,) = way.contexts
    assert (context.caller, context.person, context.act, context.now) == (way.agent, None, None, AT)
    assert (context.body.market_id, context.path, context.host) == (
        "m1", {"a": "b"}, "desk.example"
    )  # fmt: skip
    assert (context.unknown, context.known) == (("colour",), "e7")
    assert not context.in_process


async def test_a_rehearsal_is_not_counted_and_nothing_of_it_is_kept(way: Way) -> None:
    quote = TRADE[:-1] + b',"dry_run":true}'
    for headers in ({}, {"idempotency_key": "k-1"}):
        answer = await way.go(PLACE_TRADE, quote, **headers)
        assert way.steps == ["_note_client", "_read", "charged"]
        assert answer.headers[app.WORLD_SEQ] == "77"
    # A key that is none is refused all the same.
    assert (await way.go(PLACE_TRADE, quote, idempotency_key="k" * 999)).status_code == 422
    assert way.steps == ["_note_client"]


async def test_a_trade_with_a_key_is_promised_to_its_agent_alone(way: Way) -> None:
    assert await way.go(PLACE_TRADE, TRADE, idempotency_key="k-1") == "answered once"
    assert way.steps == ["admitted", "_note_client", "once"]
    hashed = idempotency.hash_of(TradeRequest.model_validate_json(TRADE))
    (promise,) = way.promises
    assert (promise.agent_id, promise.key, promise.path) == ("ada", "k-1", "/api/x")
    assert (promise.body_hash, promise.at) == (hashed, AT)
    # Where nothing moves money a key means nothing.
    await way.go(MARKETS, idempotency_key="k-1")
    assert way.steps[-2:] == ["_read", "charged"]


async def test_a_reading_is_counted_before_it_is_looked_at_and_health_needs_no_disk(
    way: Way,
) -> None:
    assert (await way.go(MARKETS, query=b"limit=0")).status_code == 422
    assert way.steps == ["admitted"]
    await way.go(MARKETS, query=b"limit=7")
    assert way.steps == ["admitted", "_note_client", "_read", "charged"]
    assert way.contexts[-1].query == MarketsQuery(limit=7)
    await way.go(HEALTH)
    assert way.steps == ["admitted", "_note_client", "_write", "charged"]


async def test_a_persons_change_is_noted_with_the_call(way: Way) -> None:
    way.who = (ANN, None)
    await way.go(DESK_PATCH_AGENT, b'{"name":"fox"}')
    (context,) = way.contexts
    assert (context.person, context.caller) == (ANN, None)
    assert context.act == app._act_of(DESK_PATCH_AGENT, context)
    assert context.act.person == "ann"


@pytest.mark.parametrize(
    ("fault", "code", "seq"),
    [
        (NotFound("gone"), 404, "41"),
        (denied(403, "no", "ask"), 403, "41"),
        (StorageFullError("full"), 503, None),
    ],
)
async def test_a_refusal_on_the_way_is_answered_with_the_row_that_it_was_made_from(
    way: Way, fault: Exception, code: int, seq: str | None
) -> None:
    way.fault = fault
    answer = await way.go(MARKETS)
    assert (answer.status_code, answer.headers.get(app.WORLD_SEQ)) == (code, seq)
    assert way.steps == ["admitted", "_note_client", "_read"]


async def test_streams_end_and_what_runs_beside_is_cancelled_with_the_app(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    async def work(_: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            done.append("cancelled")

    monkeypatch.setattr(app, "_works", lambda _: (work, work))
    one = bare_service()
    one.world_store.events = SimpleNamespace(close=lambda: done.append("streams"))
    made = app.create_app(one, ACCESS)
    async with made.router.lifespan_context(made):
        await asyncio.sleep(0)
        assert done == []
    assert done == ["streams", "cancelled", "cancelled"]
