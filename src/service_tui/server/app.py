"""The app: every endpoint of the table under its handler, refusals, the ticker."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import parse_qs

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from service_tui.engine.agents.agents import Agent
from service_tui.engine.errors import Refusal
from service_tui.engine.events import ClientSeen, OperatorActed
from service_tui.server.claim.page import HEADERS
from service_tui.server.document import document
from service_tui.server.events.listeners import BEAT_S
from service_tui.server.events.stream import (
    STATE,
    STREAMS_MAX,
    EventStream,
    OpenStreams,
    last_event_seen,
    streams_of,
)
from service_tui.server.http import idempotency
from service_tui.server.http.access import (
    BODY_MAX,
    Access,
    Caller,
    check_own,
)
from service_tui.server.http.direct import Answering, DirectRequest, Front, JsonText
from service_tui.server.http.entrance import (
    IN_PROCESS,
    Entrance,
    direct_peer_of,
    entrance_of,
    host_name,
    note_agent,
    peer_of,
)
from service_tui.server.http.idempotency import Promise
from service_tui.server.http.names import VENUES, Speech, speech_of
from service_tui.server.http.paid_calls import admitted, charged
from service_tui.server.http.people.roster import Person
from service_tui.server.http.refusals import (
    Denied,
    denied,
    from_refusal,
    invalid,
    invalid_items,
    wrong_path,
)
from service_tui.server.http.service import Handler, RequestContext, Service, StreamHandler
from service_tui.server.http.unchanged import OF_THE_WORLD, UNCHANGED, unless_unchanged
from service_tui.server.routes.claim import HtmlPage, enter, show
from service_tui.server.routes.table import ROUTES, STREAMS
from service_tui.storage.errors import StorageBusyError, StorageError, StorageFullError
from service_tui.terms import LINE_MAX, PROSE_MAX, PersonRole
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import DESK_CLAIM
from service_tui.wire.endpoints.public import CLAIM_PAGE, HEALTH
from service_tui.wire.world_seq import WORLD_SEQ

FORM: Final = "application/x-www-form-urlencoded"
FORM_MAX: Final = 1_024
"""Bytes of a form; an honest one has thirty."""

_FIELDS_MAX: Final = 4
_BEFORE_CODE: Final = CLAIM_PAGE.partition("{")[0]


def is_own_form(method: str, path: str) -> bool:
    """Whether this is the one call that a page of ours may make."""
    return method == "POST" and path.startswith(_BEFORE_CODE)


def claim_page(service: Service) -> Callable[[Request], Awaitable[Response]]:
    """Show the page, and take its form."""

    async def answer(request: Request) -> Response:
        code = str(request.path_params["claim_code"])
        if request.method == "POST":
            return _sent(await enter(service, code, await _typed(request)))
        return _sent(show(service, code))

    return answer


def _sent(page: HtmlPage) -> Response:
    return Response(page.content, page.status, HEADERS, media_type="text/html")


async def _typed(request: Request) -> str:
    """The text of the form's only field.

    Returns:
        The text, empty where there is none.

    Raises:
        Denied: 415 no form, 413 too large, 400 broken off or not a form inside.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise denied(415, "invalid form", "open the claim link in a browser")
    raw = bytearray()
    try:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > FORM_MAX:
                raise denied(413, "form too large", "send the code only")
        fields = parse_qs(raw.decode("ascii"), max_num_fields=_FIELDS_MAX)
    except ClientDisconnect as gone:
        raise denied(400, "the form ended early", "send it in full") from gone
    except ValueError as error:
        raise denied(400, "unreadable form", "send the code only") from error
    return fields.get("code", [""])[0]


log = logging.getLogger(__name__)

TICK_S: Final = 1.0
"""Wall seconds between two moves of the tape."""

DIGEST_S: Final = 20.0
"""# ours: so often what was traded is digested; a backtest catches up with the rest itself."""

DOCUMENT: Final = "/openapi.json"

_READING: Final = frozenset({"GET", "HEAD"})

_SEQ: Final = WORLD_SEQ.lower().encode()

READ_TRIES: Final = 5
"""# ours: so often a reading begins again because the disk refused what it had seen."""

RETRY_S: Final = 4.0
"""The same while the disk refuses: each try reads the world back, which costs a tenth of a second.
"""

Pairs = list[tuple[str, str]]
"""Names and values, as a query holds them."""

_Who = tuple[Person | None, Agent | None]
"""Who makes a call: a person, an agent, or nobody who is known."""


def create_app(service: Service, access: Access) -> Starlette:
    """The app over one service; its lifespan runs the ticker, unless the service only follows."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(work(service)) for work in _works(service)]
            yield
            service.world_store.events.close()
            for task in running:
                task.cancel()

    app = Front(lifespan=lifespan)
    # A path with a slash too many is a wrong path: what was sent to it is not sent elsewhere.
    app.router.redirect_slashes = False
    setattr(app.state, STATE, OpenStreams())
    app.add_middleware(_Door)
    direct: dict[tuple[str, str], Answering] = {}
    for endpoint, handler in ROUTES.items():
        if endpoint in OF_THE_WORLD:
            handler = unless_unchanged(handler, service.clock.now())  # noqa: PLW2901 - the same, asked less
        answer = _answering(service, access, endpoint, handler)
        app.router.routes.append(_route(endpoint, _by_route(answer)))
        if "{" not in endpoint.path:
            direct[endpoint.method, endpoint.path] = answer
    fault = _fault_of(service)
    app.lead(direct, fault)
    for endpoint, opener in STREAMS.items():
        app.router.routes.append(_route(endpoint, _streaming(service, access, endpoint, opener)))
    app.add_route(CLAIM_PAGE, claim_page(service), ["GET", "POST"], include_in_schema=False)
    app.add_route(DOCUMENT, document, include_in_schema=False)
    app.add_exception_handler(Denied, _denied_response)
    app.add_exception_handler(HTTPException, _wrong_path_response)
    app.add_exception_handler(StorageError, _storage_response)
    app.add_exception_handler(Exception, fault)
    return app


class _Door:
    """Turns away foreign hosts and web pages before any path is looked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                is_form = is_own_form(scope["method"], scope["path"])
                entrance_of(scope).check(
                    Headers(scope=scope), direct_peer_of(scope), own_page=is_form
                )
            except Denied as denial:
                await _encoded(denial.status, denial.body)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _works(service: Service) -> tuple[Callable[[Service], Coroutine[object, object, None]], ...]:
    """What runs beside the calls."""
    if service.follows:
        return (_beat,)
    works = (_beat, _digest, _deliver)
    return works if service.is_scripted else (_tick, *works)


async def _deliver(service: Service) -> None:
    """Deliver to webhooks."""
    await service.courier.run()


async def _tick(service: Service) -> None:
    """Move the tape once a second; a failing disk stops trading, not the ticker."""
    while True:
        pause_s = TICK_S
        try:
            await service.world_store.advance(service.clock.now())
        except StorageError as error:
            log.error("the simulated tape has stopped: %s", error)  # noqa: TRY400  (a sentence, no trace)
            pause_s = RETRY_S
        await service.clock.sleep(pause_s)


async def _beat(service: Service) -> None:
    """Give listeners a sign of life, by which each side learns that the other is gone."""
    while True:
        await service.clock.sleep(BEAT_S)
        service.world_store.events.beat()


async def _digest(service: Service) -> None:
    """Keep the digest of the journal near its end, so that a backtest has little to catch up."""
    while True:
        await service.clock.sleep(DIGEST_S)
        try:
            await service.world_store.digest.catch_up()
        except StorageError as error:
            log.warning("backtests miss the newest trades: %s", error)


def _streaming(
    service: Service, access: Access, endpoint: Endpoint[WireModel], opener: StreamHandler
) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a call that is answered with events until either side ends it."""

    async def answer(request: Request) -> Response:
        person, streams = access.person(service, endpoint, request.headers), streams_of(request.app)
        if not streams.has_room(person.name):
            why = f"{person.name} has {STREAMS_MAX} streams of events already"
            raise denied(429, why, "end one that is open")
        context = RequestContext(service=service, caller=None, now=service.clock.now())
        subscription = opener(context, last_event_seen(request.headers))

        def may_listen() -> bool:
            """Whether the listener's key opens this still: people end, and roles change."""
            try:
                access.person(service, endpoint, request.headers)
            except Denied:
                return False
            return True

        return EventStream(subscription, streams, may_listen, person.name)

    return answer


def _by_route(answer: Answering) -> Callable[[Request], Awaitable[Response]]:
    """The same answer for what a route has found."""

    async def routed(request: Request) -> Response:
        return await answer(DirectRequest(request.scope, request.receive))

    return routed


def _answering(
    service: Service, access: Access, endpoint: Endpoint[WireModel], handler: Handler
) -> Answering:
    """The whole way of one call: access, rates, decoding, handler, encoding."""
    may_rehearse = endpoint.request is not None and "dry_run" in endpoint.request.model_fields
    # A body that cannot be read is refused before it is counted, or paid for.
    reads_first = may_rehearse or bool(endpoint.price)
    who = partial(_who_calls, service, access, endpoint)

    async def answer(call: DirectRequest) -> Response:
        speech = speech_of(call.headers.get("user-agent", ""))
        # A refusal was made from this, or from more.
        seq = service.world_store.written_seq
        try:
            entrance = _entered(call)
            person, agent = who(call)
            caller = _caller_of(call, entrance, agent)
            paid: dict[str, str] = {}
            if not reads_first:
                paid = await admitted(service, access, (endpoint, caller), call.headers)
            body = await _body_of(call, endpoint, speech)
            rehearses: bool = getattr(body, "is_quote", False)
            if reads_first and not rehearses:
                paid = await admitted(service, access, (endpoint, caller), call.headers)
            person, agent = _after(body, (person, agent), partial(who, call))
            pairs = _pairs_of(call)
            context = RequestContext(
                service=service,
                caller=agent,
                now=service.clock.now(),
                body=body,
                query=_query_of(pairs, endpoint, speech),
                path=call.scope.get("path_params", {}),
                unknown=_unknown_of(pairs, endpoint),
                headers=paid,
                # The name by which this service was called, which the door has let in.
                host=host_name(call.headers.get("host", "").lower()),
                person=person,
                in_process=caller.in_process,
                known=call.headers.get("if-none-match", ""),
            )
            context.act = _act_of(endpoint, context)
            speech.note_venues(context.path.items())
            await _note_client(context, speech)
            # Of a rehearsal too the key must be one, though nothing is kept of it.
            key = idempotency.key_of(call.headers) if endpoint.once else None
            if key is not None and not rehearses:
                promise = Promise(
                    context.agent.agent_id, key, call.path, idempotency.hash_of(body), context.now
                )
                return await _answer_once(context, promise, handler, speech)
            # The health check answers even while the disk does not.
            only_reads = rehearses or (endpoint.method in _READING and endpoint is not HEALTH)
            reply, seq = await (_read if only_reads else _write)(context, handler)
            context.headers.update(await charged(service, (endpoint, caller), call.headers))
            context.headers[WORLD_SEQ] = str(seq)
            return _given(speech, reply, context.headers)
        except Refusal as refusal:
            return _refused(speech, from_refusal(refusal), seq)
        except Denied as denial:
            return _refused(speech, denial, seq)
        except StorageError as error:
            return _of_storage(error)

    return answer


async def _write(request: RequestContext, handler: Handler) -> tuple[WireModel, int]:
    """The answer of a call that may change the world, and a row that is not before its own."""
    reply = await handler(request)
    return reply, request.service.world_store.written_seq


async def _read(request: RequestContext, handler: Handler) -> tuple[WireModel, int]:
    """What stands on disk: memory is ahead of it while a commit is under way, or was refused.

    Returns:
        The answer, and the row up to which everything is in it.

    Raises:
        StorageError: what is on disk cannot be read, or the disk refuses again and again.
    """
    world_store = request.service.world_store
    for _ in range(READ_TRIES):
        refusals = await world_store.on_disk()
        # Before the work: what happens during it may be in one half of the answer only.
        seq = world_store.seq
        reply = await handler(request)
        if refusals == await world_store.on_disk():
            return reply, seq
    raise StorageError("the disk is full or read-only")


def _entered(call: DirectRequest) -> Entrance:
    """The way by which a call came, if it may; else Denied."""
    entrance = entrance_of(call.scope)
    entrance.check(call.headers, direct_peer_of(call.scope))
    return entrance


def _after(body: WireModel | None, before: _Who, who: Callable[[], _Who]) -> _Who:
    """The caller, checked again after waiting for a body; raises Denied as before.

    It may have been long in coming: people end meanwhile, roles change, and keys are renewed.
    """
    return before if body is None else who()


def _who_calls(
    service: Service, access: Access, endpoint: Endpoint[WireModel], call: DirectRequest
) -> _Who:
    """The person or the agent who calls and may; Denied as of the two below."""
    person = _person_of(service, access, endpoint, call)
    agent = _agent_of(service, access, endpoint, call.headers)
    if agent is not None:
        note_agent(call.scope, agent.agent_id)
    return person, agent


def _agent_of(
    service: Service, access: Access, endpoint: Endpoint[WireModel], headers: Headers
) -> Agent | None:
    """The calling agent; None where the endpoint needs no agent's key."""
    if endpoint.operator:
        return None
    if endpoint.key_helps:
        return access.known(service, headers)
    return None if endpoint.keyless else access.agent(service, headers, endpoint)


def _person_of(
    service: Service, access: Access, endpoint: Endpoint[WireModel], call: DirectRequest
) -> Person | None:
    """The calling operator, who may make this call; None where it is not the operators'."""
    if not endpoint.operator:
        return None
    person = access.person(service, endpoint, call.headers)
    if endpoint.role is PersonRole.TRADER:
        ids: Mapping[str, str] = call.scope.get("path_params", {})
        pending_id = ids.get("held_id")
        trades = service.world.pending_trades
        agent_id = ids["agent_id"] if pending_id is None else trades.agent_of(pending_id)
        check_own(person, service.owner_of(agent_id), may_take=endpoint is DESK_CLAIM)
    return person


def _act_of(endpoint: Endpoint[WireModel], request: RequestContext) -> OperatorActed | None:
    """The row that names the person of a change; None for an agent's call, and for a reading."""
    if request.person is None or endpoint.reads:
        return None
    body = request.body
    sent = "" if body is None else body.model_dump_json(by_alias=True, exclude_unset=True)
    return OperatorActed(
        request.person.name,
        request.now,
        f"{endpoint.method} {endpoint.path}",
        " ".join(request.path.values())[:LINE_MAX],
        sent[:PROSE_MAX],
    )


def _caller_of(call: DirectRequest, entrance: Entrance, agent: Agent | None) -> Caller:
    """The caller and its address."""
    peer = "" if entrance.is_local else peer_of(call.scope, call.headers)
    return Caller(agent, call.path, _is_inside(call), peer)


def _is_inside(call: DirectRequest) -> bool:
    """True for a call from the console of this process."""
    peer: Sequence[object] | None = call.scope.get("client")
    return peer is not None and tuple(peer) == IN_PROCESS


async def _note_client(request: RequestContext, speech: Speech) -> None:
    """Keep that an agent has called, and by which published client: a row only when it changes."""
    if request.caller is None:
        return
    agent, world_store = request.agent, request.service.world_store
    request.world.agent_alerts.hear(agent.agent_id, request.now)
    if speech.own is not None and agent.sdk_version is None:
        # ours: with its name before it, as its numbers are no versions of the published client;
        # and in memory alone, as a console beside a program would write a row at each turn.
        request.service.own_clients[agent.agent_id] = speech.own
        request.service.sdk_seen_at[agent.agent_id] = request.now
    if speech.version is None:
        return
    request.service.sdk_seen_at[agent.agent_id] = request.now
    if agent.sdk_version == speech.version:
        return
    try:
        world_store.check_whole()
        seen = ClientSeen(agent.agent_id, request.now, speech.version)
        await world_store.commit(request.world.note(seen))
    except StorageError as error:
        # What was requested may be a mere reading, which needs no disk.
        log.warning("client version not stored: %s", error)


async def _answer_once(
    request: RequestContext, promise: Promise, handler: Handler, speech: Speech
) -> Response:
    """Carry a write out, or give the answer that it got before under the same key."""
    async with request.service.repeats.turn(promise) as earlier:
        world_store = request.service.world_store
        if earlier is not None:
            extra = {idempotency.REPLAYED: "true", WORLD_SEQ: str(world_store.written_seq)}
            return _answered(speech, earlier.answer, request.headers | extra)
        request.promise = promise
        reply = await handler(request)
        if promise.kept is None:
            # The handler wrote nothing: its answer is all that there is to remember.
            await request.commit((), reply)
    request.headers[WORLD_SEQ] = str(world_store.written_seq)
    return _answered(speech, promise.kept or "", request.headers)


def _refused(speech: Speech, denial: Denied, seq: int) -> Response:
    text = speech.renamed(denial.body.model_dump_json(by_alias=True, exclude_none=True))
    response = JsonText(text, denial.status, denial.headers)
    response.raw_headers.append((_SEQ, b"%d" % seq))
    return response


def _given(speech: Speech, reply: WireModel, headers: dict[str, str]) -> Response:
    if reply is UNCHANGED:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return _answered(speech, reply.model_dump_json(by_alias=True), headers)


def _answered(speech: Speech, text: str, headers: dict[str, str] | None = None) -> Response:
    return JsonText(speech.renamed(text), 200, headers)


def _encoded(status: int, body: WireModel, headers: dict[str, str] | None = None) -> Response:
    return JsonText(body.model_dump_json(by_alias=True, exclude_none=True), status, headers)


async def _body_of(
    call: DirectRequest, endpoint: Endpoint[WireModel], speech: Speech
) -> WireModel | None:
    """The decoded body.

    Returns:
        The body, or None where the endpoint asks for none.

    Raises:
        Denied: 413 too large, 415 not JSON, 422 not of the endpoint's shape.
    """
    if endpoint.request is None:
        return None
    raw = await _raw_of(call)
    if endpoint.bodyless and not raw.strip():
        # Source: decisions, "Payload none".
        raw = b"{}"
    elif not _is_json(call):
        raise denied(415, "the body is not JSON", "send Content-Type: application/json")
    try:
        body = endpoint.request.model_validate_json(raw)
        # As many colons as known fields: none can stand there twice, or below another.
        known = body.model_fields_set
        if raw.count(b":") != len(known) or not VENUES.isdisjoint(known):
            speech.note_venues(_ONCE.decode(raw.decode()).items())
    except ValidationError as error:
        _note_refused(raw, speech)
        raise invalid(error, "body") from error
    except ValueError as error:
        raise invalid_items([(("body",), str(error), "json_invalid")]) from error
    return body


def _note_refused(raw: bytes, speech: Speech) -> None:
    """Note the venues of a body that is refused: the refusal answers in its names too."""
    # Too deep, no JSON, no object: then it names none.
    with suppress(ValueError, RecursionError):
        sent: object = json.loads(raw)
        if isinstance(sent, dict):
            speech.note_venues(cast("dict[str, object]", sent).items())


async def _raw_of(call: DirectRequest) -> bytes:
    """The bytes of the body; Denied where they are too many, or end early."""
    try:
        raw = await call.body(BODY_MAX)
    except ClientDisconnect as gone:
        raise denied(400, "the body ended early", "send it in full") from gone
    if raw is None:
        raise denied(413, "the body is too large", f"send at most {BODY_MAX} bytes")
    return raw


def _is_json(call: DirectRequest) -> bool:
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that names a field twice: neither value is surely meant.

    Returns:
        The object.

    Raises:
        ValueError: a name comes twice.
    """
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate field")
    return made


_ONCE: Final = json.JSONDecoder(object_pairs_hook=_once)


def _pairs_of(call: DirectRequest) -> Pairs:
    """The parameters of a call in the order of their coming."""
    sent = call.scope["query_string"]
    return QueryParams(sent).multi_items() if sent else []


def _query_of(pairs: Pairs, endpoint: Endpoint[WireModel], speech: Speech) -> WireModel | None:
    """The decoded query; numbers and booleans come as text, so this is not strict.

    Returns:
        The query, or None where the endpoint has none.

    Raises:
        Denied: 422 for a value out of its range, or a name given twice.
    """
    if endpoint.query is None:
        return None
    values = dict(pairs)
    speech.note_venues(values.items())
    if len(values) != len(pairs):
        raise invalid_items([(("query",), "duplicate parameter", "duplicate")])
    try:
        return endpoint.query.model_validate_strings(values, strict=False)
    except ValidationError as error:
        raise invalid(error, "query") from error


def _unknown_of(pairs: Pairs, endpoint: Endpoint[WireModel]) -> tuple[str, ...]:
    """Parameters that were sent and that the endpoint does not know."""
    if not pairs:
        return ()
    known = endpoint.query.model_fields if endpoint.query is not None else {}
    return tuple(name for name in dict(pairs) if name not in known)


def _route(
    endpoint: Endpoint[WireModel], answer: Callable[[Request], Awaitable[Response]]
) -> Route:
    """The route of an endpoint, for its own method alone."""
    route = Route(endpoint.path, answer, methods=[endpoint.method])
    # starlette adds HEAD to a GET by itself; the table names what is served.
    route.methods = {endpoint.method}
    return route


async def _denied_response(_: Request, error: Exception) -> Response:
    if not isinstance(error, Denied):
        raise error
    return _encoded(error.status, error.body, error.headers)


async def _wrong_path_response(request: Request, error: Exception) -> Response:
    """404 and 405 of the router."""
    if not isinstance(error, HTTPException):
        raise error
    path = request.url.path
    near = [
        route
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is Match.PARTIAL
    ]
    # What stands there in full is meant, and no id that happens to be called so.
    exact = [route for route in near if route.path == path] or near
    allowed = {method for route in exact for method in route.methods or ()}
    known = {route.path for route in request.app.routes if isinstance(route, Route)}
    denial = wrong_path((request.method, path), sorted(allowed), known)
    return _encoded(denial.status, denial.body, denial.headers)


async def _storage_response(_: Request, error: Exception) -> Response:
    return _of_storage(error)


def _of_storage(error: Exception) -> Response:
    """The disk refused. Only a transaction that was rolled back surely traded nothing."""
    if isinstance(error, (StorageFullError, StorageBusyError)):
        denial = denied(503, f"{error}; nothing was traded", "free disk space, then try again")
    else:
        fix = "check /api/sdk/trades before you retry: it may have executed"
        denial = denied(503, f"{error}; the outcome is not known", fix)
    return _encoded(denial.status, denial.body)


def _fault_of(service: Service) -> Callable[[Request, Exception], Awaitable[Response]]:
    """What a bug of ours is answered with: a plain sentence outside, the trace in the log."""

    async def respond(request: Request, error: Exception) -> Response:
        log.error("unhandled %s", type(error).__name__, exc_info=error)
        if request.method not in _READING:
            # What it had changed already is on no disk, and must not be built upon.
            service.world_store.distrust()
        denial = denied(500, "internal error", "retry; the log has the details")
        return _encoded(denial.status, denial.body)

    return respond
