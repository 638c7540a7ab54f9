"""One call: adds the key, sends, keeps deadline and bounds, decodes, or raises an error."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Final, Generic, Self

import httpx

from service_tui.client.api_keys import ApiKey, ApiKeys, RefusedApiKeys, service_address
from service_tui.client.errors import (
    Called,
    HeldBackError,
    RateLimitedError,
    ReadOnlyError,
    RefusalReason,
    ServiceError,
    UnauthenticatedError,
    UnreachableError,
    unanswered,
    unreadable,
)
from service_tui.client.http_request import Names, called_of, request_of
from service_tui.client.passing import BODY_MAX, LEAVING, Passed, no_objection, pass_on
from service_tui.client.refusals import RawAnswer, error_of
from service_tui.client.reply import Answer, NotProtocolError, Reply, SameAnswers, decode
from service_tui.client.retry import clamp_wait, retry_delay
from service_tui.client.stream import IDLE_S, MEDIA_TYPE, NOT_SENT, OPEN_S, frames_of, line_error
from service_tui.client.versions import KnownVersions
from service_tui.clock import Clock
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import HEALTH, HealthBody
from service_tui.wire.payment import PAYMENT_HEADER
from service_tui.wire.text import line, prose
from service_tui.wire.world_seq import LATEST, WORLD_SEQ, seq_of

PACE_S: Final = 0.2
"""Between two calls to a path that fails. Source: failures, T-12."""


@dataclass(slots=True)
class _Gate:
    """Moments of the monotonic clock: closed until `opens_at`, next call not before `next_at`."""

    opens_at: float = 0.0
    next_at: float = 0.0
    reason: RefusalReason = field(
        default_factory=lambda: RefusalReason("held back, it fails too often")
    )


class Gates:
    """The gates of one service. Only paths that fail have one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: dict[str, _Gate] = {}

    def close(self, path: str, wait_s: float, reason: RefusalReason) -> None:
        """Send nothing to `path` for `wait_s` seconds; the later of two closings holds."""
        gate = self._gates.setdefault(path, _Gate())
        gate.opens_at = max(gate.opens_at, self._clock.monotonic() + wait_s)
        gate.reason = reason

    def failed(self, path: str) -> None:
        """From now on calls to `path` keep their distance."""
        gate = self._gates.setdefault(path, _Gate())
        gate.next_at = max(gate.next_at, self._clock.monotonic() + PACE_S)

    def answered(self, path: str) -> None:
        """Let calls to `path` pass freely again, unless it was closed."""
        gate = self._gates.get(path)
        if gate is not None and gate.opens_at <= self._clock.monotonic():
            del self._gates[path]

    async def enter(self, path: str, called: Called, until: float) -> None:
        """Wait until a call to `path` may be sent.

        A read waits for a closed gate, a write does not: who orders wants to know at once.

        Args:
            path: the endpoint's path, with its names in braces.
            called: the call, for the error.
            until: the call's deadline on the monotonic clock.

        Raises:
            RateLimitedError: the wait would be longer than the deadline; nothing was sent.
        """
        while True:
            now = self._clock.monotonic()
            gate = self._gates.get(path)
            if gate is None:
                return
            due = max(gate.opens_at, gate.next_at)
            if due <= now:
                gate.next_at = now + PACE_S
                return
            if due >= until or (gate.opens_at > now and not called.reads):
                raise RateLimitedError(gate.reason, called, retry_after_s=clamp_wait(due - now))
            await self._clock.sleep(due - now)


log = logging.getLogger(__name__)
# Below this it writes the headers of answers, and a service may echo the key there.
logging.getLogger("httpcore").setLevel(logging.INFO)

READ_DEADLINE_S: Final = 15.0
WRITE_DEADLINE_S: Final = 30.0
"""Of a whole call, repeats and waits included. Source: decisions, "Deadlines"."""

CONNECT_MAX_S: Final = 5.0
LOGGED_MAX: Final = 2_000
"""Letters of a strange answer that go to the log. Source: failures, F-05."""

LastWord = Callable[[WireModel | None], str]
"""Returns why the call with this body must not be sent, right before it is; empty if it may."""

Again = Callable[[str], Awaitable[WireModel]]
"""Sends the same read once more with a payment beside it; raises as every call does."""

Troubled = Callable[[ServiceError], None]

Offered = Callable[[RateLimitedError, Again], None]

"""What the transport reports right before its first bytes leave, and again before the body. Between
the hand-over and these moments a connection may take seconds to open."""

_NO_KEY: Final = RefusalReason(
    "there is no key for this", "give the desk a key, or register an agent"
)


@dataclass(frozen=True, slots=True)
class _PendingCall(Generic[Answer]):
    """One call on its way."""

    endpoint: Endpoint[Answer]
    called: Called
    request: httpx.Request
    until: float
    body: WireModel | None = None


class Client:
    """The service, as seen from here.

    A read is repeated while its deadline allows. A write is sent exactly once, and whatever is
    doubtful after that is an OutcomeUnknownError. A key that was refused is not sent again until
    `renew`. Redirects, cookies, proxies and netrc do not exist here: the transport is driven
    directly, which also keeps httpx from logging query strings.
    """

    def __init__(  # noqa: PLR0913  (each is handed in once, by app)
        self,
        transport: httpx.AsyncBaseTransport,
        base_url: str,
        api_keys: ApiKeys,
        *,
        clock: Clock,
        rng: random.Random,
        allow_insecure: bool = False,
        read_only: bool = False,
        names: Names = "neutral",
    ) -> None:
        """Bind keys to an address.

        Args:
            transport: carries requests; closed by `aclose`.
            base_url: https, or http to loopback or to an app in this process.
            api_keys: all of them must belong to `base_url`.
            clock: waits and times.
            rng: jitter of repeats.
            allow_insecure: a person accepted http to any host.
            read_only: refuse every write before it is sent.
            names: how venues are called towards the service.

        Raises ValueError if the address is not acceptable, or a key belongs to another.
        """
        in_process = isinstance(transport, httpx.ASGITransport)
        self._base = service_address(base_url, may_be_plain=allow_insecure or in_process)
        self._transport = transport
        self._clock = clock
        self._rng = rng
        self._read_only = read_only
        self._names: Names = names
        self._gates = Gates(clock)
        self._refused = RefusedApiKeys()
        self._same = SameAnswers()
        self._versions = KnownVersions()
        # What reads must include: the greatest row of our own writes, or what cannot be known.
        self._wanted_seq = ""
        self.skew_s: float | None = None
        """Least lead of our clock over the service's, by the last answer with a date; seconds."""

        self.last_word: LastWord | None = None
        """Veto checked before every write, whatever sends it."""

        self.offered: Offered | None = None
        """Called at every 429 that offers a read for money; its payment is sent once."""

        self.troubled: Troubled | None = None
        """Called at every failed try of a read that is retried: the wait may be long."""

        self.renew(api_keys)

    @property
    def base_url(self) -> str:
        """Address of the service."""
        return str(self._base).rstrip("/")

    async def __aenter__(self) -> Self:
        """The client itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the transport."""
        await self.aclose()

    @property
    def host(self) -> str:
        """The service's host; what is signed for another one is refused."""
        return self._base.host

    async def aclose(self) -> None:
        """Close the transport and its connections."""
        await self._transport.aclose()

    async def pass_on(
        self,
        key: ApiKey,
        call: tuple[str, str, bytes],
        *,
        last_word: Callable[[], str] = no_objection,
    ) -> Passed:
        """Forward a call (method, target, body) once, with the given key.

        `last_word` is called until the bytes leave, for a reason why they must not.

        Returns:
            The answer, unread.

        Raises:
            NotPassedError: there is none.
        """
        return await pass_on(self._transport, self._base, key, call, last_word=last_word)

    def renew(self, api_keys: ApiKeys) -> None:
        """Use these keys from now on; one that was refused before is tried again.

        Raises ForeignHostError if a key belongs to another address.
        """
        for key in (api_keys.api, api_keys.operator):
            if key is not None:
                key.authorization(self._base)
        self._api_keys = api_keys
        self._refused.clear()

    def try_refused(self) -> None:
        """Try a refused key once more, with the next call."""
        self._refused.try_again()

    async def health(self) -> Reply[HealthBody]:
        """True if the service answers; needs no key."""
        return await self.call(HEALTH)

    async def call(
        self,
        endpoint: Endpoint[Answer],
        *,
        body: WireModel | None = None,
        query: WireModel | None = None,
        path: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Reply[Answer]:
        """Call the service; a read is retried within its deadline, at most three times.

        Args:
            endpoint: endpoint to call.
            body: of the type that the endpoint takes.
            query: of the endpoint's type for the part behind the question mark.
            path: the ids named in the endpoint's path.
            idempotency_key: a service that honours it carries the write out once.
            deadline_s: of everything together, seconds; by default 15 for reads, 30 for writes.

        Returns:
            The answer and what is known of its way here.

        Raises:
            ReadOnlyError: a write, and this client only reads; as every ServiceError of the tree
                in `errors`, it says by its kind whether something was sent.
        """
        called = called_of(endpoint, path or {})
        if self._read_only and not called.reads:
            raise ReadOnlyError("this desk only reads; nothing was sent", called)
        self._key_of(endpoint, called, sends=False)
        request = request_of(
            self._base,
            endpoint,
            called,
            body=body,
            query=query,
            idempotency_key=idempotency_key,
            names=self._names,
        )
        usual_s = READ_DEADLINE_S if called.reads else WRITE_DEADLINE_S
        until = self._clock.monotonic() + (usual_s if deadline_s is None else deadline_s)
        pending = _PendingCall(endpoint, called, request, until, body)
        tries = 0
        while True:
            await self._gates.enter(endpoint.path, called, until)
            outcome = await self._try(pending)
            if isinstance(outcome, Reply):
                self._gates.answered(endpoint.path)
                self.skew_s = self.skew_s if outcome.skew_s is None else outcome.skew_s
                return outcome
            self._gates.failed(endpoint.path)
            tries += 1
            delay_s = retry_delay(outcome, tries, self._rng)
            if delay_s is None or self._clock.monotonic() + delay_s >= until:
                # Raised here and not where it was caught: frames of httpx hold the key's header.
                raise outcome
            if self.troubled is not None:
                self.troubled(outcome)
            await self._clock.sleep(delay_s)

    async def listen(
        self, endpoint: Endpoint[Answer], *, after: int | None = None
    ) -> AsyncGenerator[Answer]:
        """Events of the service, until it ends the stream in order.

        Args:
            endpoint: one whose answers come as server-sent events.
            after: number of the last event that was received.

        Yields:
            Each event; one that is not of the protocol is passed over, and logged.

        Raises:
            ServiceError: it cannot be opened, or fell silent for longer than half a minute.
        """
        called = called_of(endpoint, {})
        key = self._key_of(endpoint, called)
        request = request_of(self._base, endpoint, called)
        request.headers["Accept"] = MEDIA_TYPE
        if after is not None:
            request.headers["Last-Event-ID"] = str(after)
        if key is not None:
            request.headers["Authorization"] = key.authorization(request.url)
        timeout = httpx.Timeout(IDLE_S, connect=OPEN_S, pool=OPEN_S)
        request.extensions["timeout"] = timeout.as_dict()
        try:
            response = await self._transport.handle_async_request(request)
        except httpx.TransportError as error:
            raise line_error(error, called) from None
        async with aclosing(response), aclosing(frames_of(response, called)) as frames:
            await self._check_opened(response, called, key)
            async for data in frames:
                event = _event_of(endpoint, self._api_keys.masked(data))
                if event is not None:
                    yield event

    async def _check_opened(
        self, response: httpx.Response, called: Called, key: ApiKey | None
    ) -> None:
        """Raise what the status of a stream's answer means, if it is no stream."""
        if response.status_code == HTTPStatus.OK:
            return
        answer = RawAnswer(
            status=response.status_code,
            headers=response.headers,
            raw=self._api_keys.masked(await _bounded(response)),
            at=self._clock.now(),
            latency_s=0.0,
        )
        error = error_of(answer, called)
        if isinstance(error, UnauthenticatedError) and key is not None:
            self._refused.refuse(key, called.path, error.reason, self._clock.monotonic())
        raise error or unreadable(f"status {answer.status} is no stream of events", called)

    def _key_of(
        self, endpoint: Endpoint[Answer], called: Called, *, sends: bool = True
    ) -> ApiKey | None:
        """Key for an endpoint.

        Returns:
            The key, or None for an endpoint that needs none.

        Raises:
            UnauthenticatedError: there is none, or it was refused; nothing was sent.
        """
        if endpoint.keyless:
            return None
        key = self._api_keys.operator if endpoint.operator else self._api_keys.api
        if key is None:
            raise UnauthenticatedError(_NO_KEY, called, is_revoked=True)
        now = self._clock.monotonic()
        refusal = self._refused.why(key, endpoint.path, now, sends=sends)
        if refusal is not None:
            reason, is_revoked = refusal
            raise UnauthenticatedError(reason, called, is_revoked=is_revoked)
        return key

    async def _try(self, pending: _PendingCall[Answer]) -> Reply[Answer] | ServiceError:
        """Send once; the reply or the error."""
        # Looked up again at each send: another call may have met a 401 meanwhile.
        key = self._key_of(pending.endpoint, pending.called)
        if key is not None:
            pending.request.headers["Authorization"] = key.authorization(pending.request.url)
        answer = await self._sent_in_order(pending, key)
        if isinstance(answer, ServiceError):
            return answer
        log.debug("%s %s: %d", pending.called.method, pending.called.path, answer.status)
        error = error_of(answer, pending.called)
        if answer.retry_after_s is not None:
            why = f": {error.error}" if isinstance(error, RateLimitedError) else ""
            reason = RefusalReason(
                f"the service asked us to wait{why}", "wait until the countdown ends"
            )
            self._gates.close(pending.endpoint.path, answer.retry_after_s, reason)
        if isinstance(error, UnauthenticatedError) and key is not None:
            path = pending.endpoint.path
            self._refused.refuse(key, path, error.reason, self._clock.monotonic())
            error.is_revoked = self._refused.is_revoked(key)
        elif key is not None and error is None:
            self._refused.answered(key, pending.endpoint.path)
        is_offer = isinstance(error, RateLimitedError) and error.accepts and pending.called.reads
        if self.offered is not None and isinstance(error, RateLimitedError) and is_offer:
            self.offered(error, partial(self._paid, pending))
        return error or _reply_of(pending, answer, self._same)

    async def _sent_in_order(
        self, pending: _PendingCall[Answer], key: ApiKey | None
    ) -> RawAnswer | ServiceError:
        """Raw answer; that of a read includes our own writes, whichever process answers."""
        if not pending.called.reads:
            answer = await self._send(pending)
            self._note_write(answer)
            return answer
        if self._wanted_seq:
            pending.request.headers[WORLD_SEQ] = self._wanted_seq
        asked = (str(pending.request.url), key)
        last = self._versions.ask(pending.request, asked)
        answer = await self._send(pending)
        if isinstance(answer, ServiceError):
            return answer
        self._note_restored(pending.request, answer)
        return self._versions.whole(asked, answer, last)

    def _note_restored(self, asked: httpx.Request, answer: RawAnswer) -> None:
        """Wait for no row that the service has lost: an older copy of its world was restored."""
        has, wanted = (seq_of(one.headers.get(WORLD_SEQ, "")) for one in (answer, asked))
        is_newest = asked.headers.get(WORLD_SEQ) == self._wanted_seq
        if has is not None and wanted is not None and has < wanted and is_newest:
            log.warning("the service is behind what it answered before: an older copy of its world")
            self._wanted_seq = str(has)

    def _note_write(self, answer: RawAnswer | ServiceError) -> None:
        """Have reads include this write, whichever process of a shared desk answers them."""
        if isinstance(answer, HeldBackError | UnreachableError):
            return
        seq = (
            None if isinstance(answer, ServiceError) else seq_of(answer.headers.get(WORLD_SEQ, ""))
        )
        if seq is not None:
            self._wanted_seq = str(max(seq, seq_of(self._wanted_seq) or 0))
        elif isinstance(answer, ServiceError) or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # It may be carried out still: only who leads knows. The next answered write ends this.
            self._wanted_seq = LATEST

    async def _paid(self, pending: _PendingCall[Answer], payment: str) -> Answer:
        """The same read with a payment, sent once and never again.

        Returns:
            The answer.

        Raises:
            ServiceError: it was not taken, or nothing came; then the payment may have been used.
        """
        request = httpx.Request(
            pending.request.method, pending.request.url, headers=pending.request.headers
        )
        request.headers[PAYMENT_HEADER] = payment
        until = self._clock.monotonic() + READ_DEADLINE_S
        outcome = await self._try(replace(pending, request=request, until=until))
        if isinstance(outcome, Reply):
            return outcome.answer
        raise outcome

    async def _send(self, pending: _PendingCall[Answer]) -> RawAnswer | ServiceError:
        """Raw answer within the deadline and the size bound."""
        started = self._clock.monotonic()
        left_s = pending.until - started
        # A connection that fails before the deadline proves that nothing was sent.
        early_s = min(CONNECT_MAX_S, left_s / 2)
        timeout = httpx.Timeout(left_s, connect=early_s, pool=early_s)
        pending.request.extensions["timeout"] = timeout.as_dict()
        if self.last_word is not None and not pending.called.reads:
            pending.request.extensions["trace"] = self._watching(pending)
        try:
            self._check_leaving(pending)
            # Around everything: httpx bounds each read only, and an app in process not at all.
            async with asyncio.timeout(left_s):
                response = await self._transport.handle_async_request(pending.request)
                try:
                    raw = await _bounded(response, pending.endpoint.room * BODY_MAX)
                finally:
                    await response.aclose()
        except HeldBackError as error:
            return error
        except NOT_SENT as error:
            why = self._why(error)
            return UnreachableError(f"{self._base.host} cannot be reached: {why}", pending.called)
        except (TimeoutError, httpx.TimeoutException):
            return unanswered(f"no whole answer within {left_s:.3g} s", pending.called)
        except httpx.TransportError as error:
            why = self._why(error)
            return unanswered(f"the line broke before the answer was whole: {why}", pending.called)
        return RawAnswer(
            status=response.status_code,
            headers=httpx.Headers([
                (name, self._api_keys.masked(value)) for name, value in response.headers.raw
            ]),
            raw=self._api_keys.masked(raw),
            at=self._clock.now(),
            latency_s=self._clock.monotonic() - started,
        )

    def _watching(self, pending: _PendingCall[Answer]) -> Callable[[str, object], Awaitable[None]]:
        """Transport hook that checks for a veto before bytes leave."""

        async def watch(step: str, _: object) -> None:
            if step.endswith(LEAVING):
                self._check_leaving(pending)

        return watch

    def _check_leaving(self, pending: _PendingCall[Answer]) -> None:
        """Raise if the request must not be sent any more.

        Raises:
            HeldBackError: the call must not leave.
        """
        if self.last_word is None or pending.called.reads:
            return
        why = self.last_word(pending.body)
        if why:
            raise HeldBackError(why, pending.called)

    def _why(self, error: httpx.TransportError) -> str:
        """Text of a transport error, with keys masked."""
        masked = self._api_keys.masked(str(error).encode("utf-8", "replace"))
        return line(masked.decode("utf-8", "replace")) or type(error).__name__


async def _bounded(response: httpx.Response, size_max: int = BODY_MAX) -> bytes:
    """Body as received; reading stops soon after so many bytes."""
    raw = bytearray()
    async for chunk in response.aiter_raw():
        raw += chunk
        if len(raw) > size_max:
            break
    return bytes(raw)


def _event_of(endpoint: Endpoint[Answer], data: bytes) -> Answer | None:
    """The decoded event; one that cannot be believed costs only itself."""
    try:
        return decode(endpoint.answers, data)[0]
    except NotProtocolError as error:
        log.warning("an event is passed over: %s", error)
        return None


def _reply_of(
    pending: _PendingCall[Answer], raw_answer: RawAnswer, same: SameAnswers
) -> Reply[Answer] | ServiceError:
    """The decoded answer, or the error of one that cannot be believed."""
    coding = raw_answer.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        return unreadable(f"the answer is packed as '{line(coding, 20)}', unasked", pending.called)
    room = pending.endpoint.room
    if len(raw_answer.raw) > room * BODY_MAX:
        return unreadable(f"the answer is larger than {room * BODY_MAX:,} bytes", pending.called)
    try:
        # Only reads are repeated; a write's answer may hold a key.
        decoded = same.decode if pending.called.reads else decode
        answer, dropped = decoded(pending.endpoint.answers, raw_answer.raw, room=room)
    except NotProtocolError as error:
        why = str(error)
    else:
        return Reply(answer, dropped, raw_answer.latency_s, raw_answer.at, raw_answer.server_date)
    kind = line(raw_answer.headers.get("content-type", "").partition(";")[0], 40) or "no type"
    if pending.called.reads:
        # Answers to writes are never logged: the one to a registration holds a key.
        text = prose(raw_answer.raw[: 4 * LOGGED_MAX].decode("utf-8", "replace"), LOGGED_MAX)
        log.warning(
            "%s %s is not of the protocol: %s", pending.called.method, pending.called.path, text
        )
    return unreadable(f"{why} (status {raw_answer.status}, {kind})", pending.called)
