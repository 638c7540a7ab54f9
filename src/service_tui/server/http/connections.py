"""Bounds on TCP connections: how many are open at one time, and how long a client may stay silent.

Each connection takes a file descriptor, and the database needs descriptors of the same process: a
client that only opens connections, or never completes a request, must not lock out the others. When
descriptors run out, asyncio logs an error for every waiting client and does nothing else (measured:
for ever).
"""

import asyncio
import resource
import socket
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from ssl import SSLContext
from typing import Any, ClassVar, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service_tui.listening import stop_listening

TICK_S: Final = 1.0
"""How often the date of the answers is set anew."""

CONNECTIONS_MAX: Final = 512
"""ours: open connections; twenty agents with twenty connections each, and every console."""

CONNECTIONS_MIN: Final = 16

QUIET_S: Final = 30.0
"""ours: how long a client may take to send a whole request, or to read more of its answer."""

HANDSHAKE_S: Final = 5.0
"""ours: how long a TLS handshake may take; asyncio itself would wait for a minute."""

BACKLOG_MIN: Final = 16

HEAD_MAX: Final = 65_536
"""ours: bytes of a request's line and headers; the parser itself has no bound."""

_BODY: Final = b'{"error":"the head of the request is too large","detail":"a request line and '
_BODY_END: Final = (
    b'headers have at most 65536 bytes together","fix":"send fewer or shorter headers"}'
)
TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s"
) % (len(_BODY + _BODY_END), _BODY + _BODY_END)

_MANY: Final = (
    b'{"error":"this process has as many callers as it may have; nothing was sent on","fix":'
    b'"try again in a second, keep fewer connections, or start it with a larger --callers-max",'
    b'"retryable":true}'
)
TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nretry-after: 1\r\nconnection: close\r\n\r\n%s"
) % (len(_MANY), _MANY)

REFUSED_S: Final = 1.0
"""ours: how long a refused caller has to read why."""


def backlog() -> int:
    """Length of the queue of connections that the system has accepted and the program has not."""
    return max(BACKLOG_MIN, connections_max() // 8)


def connections_max() -> int:
    """Most connections that may be open: at most half of the descriptors of the process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = BoundedConnection.most
    return most if soft < 0 else max(CONNECTIONS_MIN, min(most, soft // 2))


def allow_connections(most: int) -> int:
    """Let each port of this process have so many, as far as the system has descriptors for them.

    Returns:
        How many it may have.
    """
    BoundedConnection.most = most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * most if hard < 0 else min(2 * most, hard)
    if 0 <= soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return connections_max()


class HeadTooLargeError(Exception):
    """A request's line and headers are larger than any honest caller's."""


class AnswerTransport:
    """Sends the head of an answer together with its body: a send costs as much as a trade.

    A head whose body is long in coming goes by itself, at the end of the loop's turn.
    """

    __slots__ = ("_head", "_is_begun", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self._is_begun = False

    def write(self, data: bytes) -> None:
        """Keep the head, which uvicorn writes first; send whatever follows at once."""
        if not self._is_begun:
            self._is_begun, self._head = True, data
            self._loop.call_soon(self._send_head)
            return
        head, self._head = self._head, b""
        self._transport.write(head + data)

    def close(self) -> None:
        """Close the connection once everything is sent."""
        self._send_head()
        self._transport.close()

    def is_closing(self) -> bool:
        """True if the connection is closed, or about to be."""
        return self._transport.is_closing()

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's HTTP connection with bounds on its number, its silence and the size of a head.

    `quiet_since` is the end of its last answer, else its beginning; `requested_at` the time at
    which the head of its last request was complete. `stuck_since` is the time since which the
    client reads nothing of an answer. `unread` counts the bytes that the parser has received and
    not reported yet: an incomplete head, or the trailers of a body.
    """

    most: ClassVar[int] = CONNECTIONS_MAX
    quiet_since: float = 0.0
    is_refused: bool = False
    requested_at: float = 0.0
    stuck_since: float | None = None
    unread: int = 0
    is_too_large: bool = False

    # The parameter's name and type are those of uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Accept the connection; if there are too many, close the one with the longest silence.

        The new one is refused only while all others are being answered: a client that keeps
        connections open, idle or amid a request, must not keep others from sending one.
        """
        super().connection_made(transport)
        self.quiet_since = self.loop.time()
        there = _bounded(self.connections)
        # Who only reads a refusal takes nobody's place.
        others = [one for one in there if not one.is_refused]
        if len(others) > connections_max():
            waiting = [one for one in others if one is not self and one.keeps_waiting()]
            # Connections that never sent a request are closed before those that may send another.
            closed = min(waiting, key=BoundedConnection.closing_order, default=None)
            if closed is None:
                self._refuse_caller(len(there))
            else:
                closed.transport.close()

    def _refuse_caller(self, count: int) -> None:
        """Answer that there are too many, whatever the caller sends; nothing of it is read.

        It stays open for a moment, as a caller that is still sending would lose the answer; more
        than a few of such are closed at once.
        """
        self.is_refused = True
        self.transport.write(TOO_MANY)
        if count > connections_max() + backlog():
            self.transport.close()
        else:
            self.loop.call_later(REFUSED_S, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Parse the bytes; refuse a head that exceeds its bound."""
        if self.is_refused:
            self.transport.close()
            return
        self.unread += len(data)
        super().data_received(data)
        if self.unread > HEAD_MAX and not self.transport.is_closing():
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Note the time of a complete head; one that is too large stops the parser."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEAD_MAX:
            self.is_too_large = True
            raise HeadTooLargeError
        self.unread = 0
        self.requested_at = self.loop.time()
        super().on_headers_complete()
        # All that uvicorn does with it: write, close, and ask whether it is closing.
        self.cycle.transport = AnswerTransport(self.transport, self.loop)  # pyright: ignore[reportAttributeAccessIssue]

    def on_body(self, body: bytes) -> None:
        """Pass on a part of a body, whose size is bounded where it is read."""
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Pass on the end of a request."""
        self.unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that the parser refused: 431 for a head too large, else 400."""
        if self.is_too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _refuse_head(self) -> None:
        self.transport.write(TOO_LARGE)
        self.transport.close()

    def on_response_complete(self) -> None:
        """Note when the answer ended."""
        self.quiet_since = self.loop.time()
        super().on_response_complete()

    def is_quiet(self) -> bool:
        """True while no request is being received or answered."""
        return not self.cycle or self.cycle.response_complete

    def keeps_waiting(self) -> bool:
        """True while the client has to send something: a request, or the rest of one."""
        return self.is_quiet() or self.cycle.more_body

    def closing_order(self) -> tuple[bool, float]:
        """Sort key of the connections to close: the smallest is closed first."""
        return closing_order(self.quiet_since, self.requested_at, has_asked=bool(self.cycle))

    def is_overdue(self, now: float) -> bool:
        """True if the client was silent for too long; checked once a second."""
        if not self.keeps_waiting():
            # An answer is being sent: the client only has to read it.
            if not self.flow.write_paused:
                self.stuck_since = None
                return False
            self.stuck_since = now if self.stuck_since is None else self.stuck_since
            return now - self.stuck_since > QUIET_S
        self.stuck_since = None
        return now - self.quiet_since > QUIET_S


def closing_order(
    quiet_since: float, requested_at: float, *, has_asked: bool
) -> tuple[bool, float]:
    """Which connection is closed before which: the smallest first.

    Those that never sent a request come before those that did, then the longest silence.
    """
    return has_asked, max(quiet_since, requested_at)


class EncryptedConnection(SSLProtocol):
    """The TLS layer below a connection.

    uvicorn does not count a connection before its handshake is done, so that a client which never
    begins the handshake would escape the bound: of too many such connections the oldest is closed.

    Args:
        connection: the connection above this layer.
        context: certificate and settings of TLS.
        handshaking: all connections whose handshake is not done, oldest first.
    """

    def __init__(
        self,
        connection: BoundedConnection,
        context: SSLContext,
        handshaking: dict["EncryptedConnection", None],
    ) -> None:
        # As asyncio's own servers call it: without a waiter, and with a timeout in float seconds.
        super().__init__(
            connection.loop,
            connection,
            context,
            None,  # pyright: ignore[reportArgumentType] - see above
            server_side=True,
            ssl_handshake_timeout=HANDSHAKE_S,  # pyright: ignore[reportArgumentType] - see above
        )
        self._connection = connection
        self._handshaking = handshaking
        self._below: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake; close the oldest of too many connections in theirs."""
        self._below = transport
        for other in [other for other in self._handshaking if other.is_encrypted]:
            del self._handshaking[other]
        self._handshaking[self] = None
        super().connection_made(transport)
        if len(self._handshaking) > backlog():
            next(iter(self._handshaking)).abandon()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the connection."""
        self._handshaking.pop(self, None)
        super().connection_lost(exc)

    @property
    def is_encrypted(self) -> bool:
        """True once the handshake is done: from then on the connection above is counted."""
        return self._connection.quiet_since > 0.0

    def abandon(self) -> None:
        """Abort a connection whose handshake is not done."""
        self._handshaking.pop(self, None)
        if isinstance(self._below, asyncio.Transport):
            self._below.abort()


def encrypted_connections(context: SSLContext) -> Callable[..., EncryptedConnection]:
    """A factory of TLS connections with the parameters of uvicorn's own connection class."""
    handshaking: dict[EncryptedConnection, None] = {}

    def encrypted(**given: Any) -> EncryptedConnection:  # noqa: ANN401 - uvicorn's own
        return EncryptedConnection(BoundedConnection(**given), context, handshaking)

    return encrypted


def sweep(connections: Iterable[object], now: float) -> None:
    """Abort the connections whose client was silent for too long."""
    for connection in _bounded(connections):
        if connection.is_overdue(now):
            connection.transport.abort()


def _bounded(connections: Iterable[object]) -> list[BoundedConnection]:
    """The connections that are not being closed already: closing takes a moment."""
    return [
        connection
        for connection in connections
        if isinstance(connection, BoundedConnection) and not connection.transport.is_closing()
    ]


class PortServer(uvicorn.Server):
    """A server that installs no signal handlers: the process keeps its own."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Accept no more connections, and end."""
        self.should_exit = True
        self._ending.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield

    async def main_loop(self) -> None:
        """Work until the end: as uvicorn's own, but idle in between, and at an end at once."""
        loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            sweep(self.server_state.connections, loop.time())
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the port, and wait for those who are connected."""
        for server in self.servers:
            await stop_listening(server)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        # uvicorn's own end takes a tenth of a second, even without a connection.
        for one in sockets or ():
            one.close()
