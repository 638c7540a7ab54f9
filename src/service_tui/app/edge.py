"""Answers calls at a shared desk's port: itself where it can, else forwarded to the leader.

The leader's app answers everything. A follower's copy answers reads that it has every row for. All
else is forwarded to the leader, call by call, so that a connection may carry both.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import httpx
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_tui.app.leader_line import LeaderLine
from service_tui.app.network import LeaderTls
from service_tui.client.stream import NOT_SENT
from service_tui.server.app import is_own_form
from service_tui.server.following import FRESH_S, FollowingCopy
from service_tui.server.http.access import BODY_MAX
from service_tui.server.http.direct import SentHeaders
from service_tui.server.http.entrance import direct_peer_of, entrance_of
from service_tui.server.http.names import sdk_version
from service_tui.server.http.refusals import Denied
from service_tui.server.routes.table import ROUTES, STREAMS
from service_tui.wire.endpoint import DESK
from service_tui.wire.endpoints.desk import DESK_ACCOUNT, DESK_AGENTS
from service_tui.wire.endpoints.notify import WEBHOOKS
from service_tui.wire.endpoints.people import DESK_ME, INVITATIONS, PEOPLE
from service_tui.wire.endpoints.public import HEALTH, OWN_SKILLS, SETTINGS, SKILLS
from service_tui.wire.endpoints.wallet import LINK_CHALLENGE
from service_tui.wire.errors import ErrorBody
from service_tui.wire.payment import PAYMENT_HEADER
from service_tui.wire.world_seq import WORLD_SEQ, seq_of

log = logging.getLogger(__name__)

FORWARDED: Final = "x-world-forwarded"
"""Marks a call that one process forwards to another, which forwards it no further."""

CONNECT_S: Final = 5.0
TAKING_S: Final = 5.0
"""How long a call waits for this process to open the world that it leads from now on."""

ANSWER_S: Final = 60.0
"""How long the leader may take for an answer; a stream of events ends by its own silence."""

UNAVAILABLE: Final = 503
"""Status of a call that a copy cannot answer."""

LEADERS_ALONE: Final = frozenset({
    # What the leader's memory holds beside the world, or its folder; and whether it answers at all.
    HEALTH,
    LINK_CHALLENGE,
    SETTINGS,
    WEBHOOKS,
    SKILLS,
    OWN_SKILLS,
    DESK_ACCOUNT,
    DESK_AGENTS,
    # Who is here, too.
    DESK_ME,
    PEOPLE,
    INVITATIONS,
})
"""Reads that no follower answers."""

_HOP: Final = frozenset({
    b"connection",
    b"date",
    # The body is here when the call is sent on.
    b"expect",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
})
"""Headers about one connection, and the date, which the port sets by itself."""


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))


_READS: Final = [
    endpoint
    for endpoint in (*ROUTES, *STREAMS)
    if endpoint.reads and not endpoint.price and endpoint not in LEADERS_ALONE
]
_BY_PATH: Final = frozenset(one.path for one in _READS if "{" not in one.path)
_BY_PATTERN: Final = [_pattern(one.path) for one in _READS if "{" in one.path]
_ELSEWHERE: Final = frozenset(
    endpoint.path for endpoint in ROUTES if endpoint.reads and endpoint.path not in _BY_PATH
)
_READING: Final = frozenset({"GET", "HEAD"})


def is_copied(path: str) -> bool:
    """True if a follower answers reads of this path."""
    if path in _BY_PATH:
        return True
    return path not in _ELSEWHERE and any(one.fullmatch(path) for one in _BY_PATTERN)


@dataclass(frozen=True, slots=True)
class Sentence:
    """An answer of the edge itself; one that `closes` is the last of its connection."""

    status: int
    error: str
    fix: str
    retryable: bool = False
    closes: bool = False

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer any call with it."""
        del scope, receive
        await self.give(send)

    async def give(self, send: Send) -> None:
        """Send it."""
        fields = {"error": self.error, "fix": self.fix, "retryable": self.retryable}
        body = json.dumps(fields).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            *([(b"retry-after", b"1")] if self.retryable else []),
            *([(b"connection", b"close")] if self.closes else []),
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


NO_LEADER: Final = Sentence(
    503,
    "no process leads this world at the moment; nothing was sent",
    "try again in a second",
    retryable=True,
)
ENDS: Final = Sentence(
    503,
    "this process ends; nothing was sent",
    "try again in a second",
    retryable=True,
    closes=True,
)
READ_BROKE: Final = Sentence(
    503,
    "the connection to the leader broke; nothing was changed",
    "try again in a second",
    retryable=True,
)
WRITE_BROKE: Final = Sentence(
    502,
    "the connection to the leader broke; the call may have been carried out",
    "repeat it with the same Idempotency-Key: it is carried out once. Without a key look it up "
    "before you repeat it",
)
NO_TEXT: Final = Sentence(
    400,
    "a header has bytes that are no text",
    "encode texts in UTF-8; nothing was sent",
)
NO_PATH: Final = Sentence(
    400,
    "the target of the call is no path",
    "begin it with /; nothing was sent",
)
TOO_LARGE: Final = Sentence(413, "the body is too large", f"send at most {BODY_MAX} bytes")


class Edge:
    """The app at the port."""

    def __init__(
        self,
        find: Callable[[], str | None],
        tls: LeaderTls | None = None,
        line: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Answer nothing by itself, until a copy is set or this process leads.

        Args:
            find: gives the leader's address, None while there is none.
            tls: how the leader is trusted.
            line: the way to the leader; connections of its own by default.
        """
        self._forwarder = Forwarder(find, tls, line)
        self._leading: ASGIApp | None = None
        self._seq: Callable[[], int] = lambda: 0
        self._last: Callable[[], Awaitable[int]] = _none_written
        self._is_settled = asyncio.Event()
        self._is_settled.set()
        self._is_ending = False
        self._looking = asyncio.Lock()
        self.copy: FollowingCopy | None = None
        """Of this process while it follows."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or have it answered."""
        if not self._is_settled.is_set():
            # This process takes the lead: a moment later it answers by itself.
            with suppress(TimeoutError):
                async with asyncio.timeout(TAKING_S):
                    await self._is_settled.wait()
        headers = SentHeaders(scope)
        if self._leading is None and self._is_ending:
            await ENDS.give(send)
            return
        if self._leading is not None:
            is_over = await self._has_successor(headers)
            app = NO_LEADER.app if is_over or self._leading is None else self._leading
            await app(scope, receive, send)
            return
        copy = self.copy
        may = copy is not None and _is_read(scope, headers) and not self._forwarder.is_in_doubt
        call, least = (scope["path"], headers), self._forwarder.written_seq
        if may and copy is not None and await _has(copy, call, least):
            if await _answered(copy, scope, receive, send):
                return
            # It was to write something down, or the copy is over: the leader may answer.
            receive = _without_body(receive)
        if FORWARDED in headers:
            # Whoever forwarded it knows an older leader: no call goes round in a circle.
            await NO_LEADER.give(send)
        elif (refusal := _refusal(scope, headers)) is not None:
            await refusal.give(send)
        else:
            await self._forwarder.forward(scope, receive, send)

    def take_lead(self) -> None:
        """Keep callers waiting for the app of this process, which leads from now on."""
        self._is_settled.clear()
        self.leader_changed()

    def lead(
        self,
        app: ASGIApp | None,
        seq: Callable[[], int] = lambda: 0,
        last: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        """Answer by the app of this process; None: it leads no longer, or could not begin.

        Args:
            app: the app.
            seq: the last row of its world.
            last: reads the last row of the database, whoever wrote it.
        """
        self._leading, self._seq, self._last = app, seq, last or _none_written
        self._is_settled.set()

    async def _has_successor(self, headers: SentHeaders) -> bool:
        """True if a caller has seen a row that another leader has written, or may have.

        A row that the database does not have is of a past that a restored copy lacks: who asks for
        it gets what there is.
        """
        if _wanted(headers) <= self._seq():
            return False
        # One at a time: whoever sends any number he likes keeps nobody else from the database.
        async with self._looking:
            try:
                return await self._last() > self._seq()
            except Exception as error:  # noqa: BLE001 - who cannot look may have been replaced
                log.warning("nobody knows who leads: %s", type(error).__name__)
                return True

    def end(self) -> None:
        """Carry nothing out any more; whoever still calls is told, and hung up on."""
        self._is_ending = True

    def leader_changed(self) -> None:
        """Wait for no answer of the former leader any more."""
        self._forwarder.drop()

    async def aclose(self) -> None:
        """Close the connections to the leader."""
        self.leader_changed()
        await self._forwarder.aclose()


async def _none_written() -> int:
    return 0


async def _answered(copy: FollowingCopy, scope: Scope, receive: Receive, send: Send) -> bool:
    """Answer from a copy; False, with nothing sent, where it cannot."""
    cannot = False

    async def passed(message: Message) -> None:
        nonlocal cannot
        if message["type"] == "http.response.start":
            cannot = message["status"] == UNAVAILABLE
        if not cannot:
            await send(message)

    await copy.app(scope, receive, passed)
    return not cannot


def _without_body(receive: Receive) -> Receive:
    """What is still to come of a read whose body, an empty one, was taken before."""
    is_taken = False

    async def received() -> Message:
        nonlocal is_taken
        if is_taken:
            return await receive()
        is_taken = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return received


def _refusal(scope: Scope, headers: SentHeaders) -> Sentence | None:
    """Refuse a call that must not be forwarded: the leader would take it for another caller's."""
    is_form = is_own_form(scope["method"], scope["path"])
    if not _is_text(scope):
        return NO_TEXT
    # Behind the leader's address, anything else would name another host.
    if not scope["raw_path"].startswith(b"/"):
        return NO_PATH
    try:
        entrance_of(scope).check(headers, direct_peer_of(scope), own_page=is_form)
    except Denied as no:
        fields = no.body if isinstance(no.body, ErrorBody) else None
        error, fix = ("refused", "") if fields is None else (fields.error, fields.fix or "")
        return Sentence(no.status, error, fix)
    return None


def _is_text(scope: Scope) -> bool:
    """True if the headers can be sent on to the letter."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    try:
        for _, value in headers:
            value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _wanted(headers: SentHeaders) -> int:
    """The row that a caller wants to be included; 0 for none that is a number."""
    return max((seq_of(text) or 0 for text in headers.getlist(WORLD_SEQ)), default=0)


def _is_read(scope: Scope, headers: SentHeaders) -> bool:
    """True for a read of the world that needs nothing of the leader's memory."""
    return scope["method"] == "GET" and is_copied(scope["path"]) and PAYMENT_HEADER not in headers


async def _has(copy: FollowingCopy, call: tuple[str, SentHeaders], least: int) -> bool:
    """True if a copy has what a call wants to be included, and nothing is to be noted of it."""
    path, headers = call
    if not copy.is_fresh:
        return False
    is_desk = path.startswith(DESK)
    agent = None if is_desk else copy.access.known(copy.service, headers)
    known = copy.access.operator(copy.service, headers) if is_desk else agent
    if known is None and _has_key(headers):
        # Who was taken in a moment ago, elsewhere, is not refused for it.
        return False
    version = sdk_version(headers.get("user-agent", ""))
    if agent is not None and version not in {None, agent.sdk_version}:
        # The leader writes down which version of the published client an agent uses.
        return False
    wanted = [*headers.getlist(WORLD_SEQ), *headers.getlist("last-event-id")]
    rows = [row for text in wanted if (row := seq_of(text)) is not None]
    # What is no number, the latest row for one, is the leader's to answer.
    return len(rows) == len(wanted) and await copy.reaches(max([least, *rows]))


def _has_key(headers: SentHeaders) -> bool:
    return "authorization" in headers or "x-api-key" in headers


class Forwarder:
    """Carries calls to the leader, each sent once."""

    def __init__(
        self,
        find: Callable[[], str | None],
        tls: LeaderTls | None,
        line: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._find = find
        self._name = None if tls is None else tls.name
        self._transport = line or LeaderLine(None if tls is None else tls.context)
        self._waiting: set[asyncio.Timeout] = set()
        self._doubt_ends = 0.0
        self.written_seq = 0
        """Of the writes that were carried here. Callers who send no row of their own, and use this
        process for both, read what they wrote as well."""

    @property
    def is_in_doubt(self) -> bool:
        """True for a moment after a write without an answer: a copy may not have it yet."""
        return asyncio.get_running_loop().time() < self._doubt_ends

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a call to the leader, and its answer back."""
        address = self._find()
        if address is None:
            await NO_LEADER.give(send)
            return
        try:
            body = await _body_of(receive)
        except ClientDisconnect:
            return
        if len(body) > BODY_MAX:
            await TOO_LARGE.give(send)
            return
        request = _request_of(scope, address, body)
        if self._name is not None:
            request.extensions["sni_hostname"] = self._name
        answer = await self._sent(request)
        if isinstance(answer, Sentence):
            await answer.give(send)
            return
        try:
            await self._pass_back(answer, receive, send)
        except* (httpx.TransportError, TimeoutError):
            # Half an answer went out: the caller sees its connection end.
            pass
        finally:
            await answer.aclose()

    async def _sent(self, request: httpx.Request) -> "httpx.Response | Sentence":
        """The status and headers of the leader's answer, or the sentence that replaces it."""
        reads = request.method in _READING
        try:
            response = await self._answer(request)
        except NOT_SENT:
            return NO_LEADER
        except (httpx.TransportError, TimeoutError):
            if reads:
                return READ_BROKE
            self._doubt_ends = asyncio.get_running_loop().time() + FRESH_S
            return WRITE_BROKE
        if not reads:
            seq = seq_of(response.headers.get(WORLD_SEQ, ""))
            self.written_seq = max(self.written_seq, seq or 0)
        return response

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        """The head of the leader's answer, unless there is another leader before it comes."""
        async with self._until_dropped():
            return await self._transport.handle_async_request(request)

    async def _pass_back(self, response: httpx.Response, receive: Receive, send: Send) -> None:
        headers = [(name.lower(), value) for name, value in response.headers.raw]
        await send({
            "type": "http.response.start",
            "status": response.status_code,
            "headers": [(name, value) for name, value in headers if name not in _HOP],
        })
        async with self._until_dropped() as droppable, asyncio.TaskGroup() as tasks:
            # A stream of events has no end of its own: it ends with its listener.
            listening = tasks.create_task(_until_gone(receive, droppable))
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            listening.cancel()
        await send({"type": "http.response.body", "body": b""})

    @asynccontextmanager
    async def _until_dropped(self) -> AsyncGenerator[asyncio.Timeout]:
        async with asyncio.timeout(None) as droppable:
            self._waiting.add(droppable)
            try:
                yield droppable
            finally:
                self._waiting.discard(droppable)

    def drop(self) -> None:
        """End what is under way: who answers it leads no longer."""
        for one in tuple(self._waiting):
            _end(one)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


def _end(droppable: asyncio.Timeout) -> None:
    if not droppable.expired():
        droppable.reschedule(asyncio.get_running_loop().time())


async def _until_gone(receive: Receive, droppable: asyncio.Timeout) -> None:
    """End a pass when its caller hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    _end(droppable)


async def _body_of(receive: Receive) -> bytes:
    """The whole body, or the beginning of one that is larger than any that the leader takes.

    It is sent only when it is here: what breaks off on its way to us was never sent on.

    Raises:
        ClientDisconnect: it broke off.
    """
    body = bytearray()
    is_more = True
    while is_more and len(body) <= BODY_MAX:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
    return bytes(body)


@lru_cache(maxsize=1)
def _url(address: str) -> httpx.URL:
    """The leader's address, parsed once: parsing it takes half as long as sending a call."""
    return httpx.URL(address)


def _request_of(scope: Scope, address: str, body: bytes) -> httpx.Request:
    """The same call to another address, with its path and query to the letter."""
    query = scope["query_string"]
    target: bytes = scope["raw_path"] + (b"?" + query if query else b"")
    headers: list[tuple[bytes, bytes]] = [
        (name, value) for name, value in scope["headers"] if name not in _HOP
    ]
    timeout = httpx.Timeout(ANSWER_S, connect=CONNECT_S, pool=CONNECT_S)
    return httpx.Request(
        scope["method"],
        _url(address),
        headers=[*headers, (FORWARDED.encode(), b"1")],
        content=body,
        extensions={"target": target, "timeout": timeout.as_dict()},
    )
