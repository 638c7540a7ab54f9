"""How many lines callers may hold at one time, and how long one may leave us waiting.

Each line takes a descriptor, and the database lives on those of the same process: who merely opens
lines, or never ends what it began, must shut nobody out. Out of descriptors, asyncio says so in the
log for every caller who waits, and does nothing else (measured: for ever).
"""

import asyncio
import resource
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterable
from ssl import SSLContext
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LINES_MAX: Final = 512
"""ours: lines at one time; twenty agents of twenty connections each, and every console."""

LINES_MIN: Final = 16

QUIET_S: Final = 30.0
"""ours: how long a line may take to bring a whole request, and to take in more of its answer."""

HANDSHAKE_S: Final = 5.0
"""ours: how long a line may take until it is encrypted; asyncio itself would wait for a minute."""

BACKLOG_MIN: Final = 16

HEAD_MAX: Final = 65_536
"""ours: bytes of a request's line and headers; the parser itself would keep them without end."""

_BODY: Final = b'{"error":"the head of the request is too large","detail":"a request line and '
_BODY_END: Final = (
    b'headers have at most 65536 bytes together","fix":"send fewer or shorter headers"}'
)
TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s"
) % (len(_BODY + _BODY_END), _BODY + _BODY_END)


def backlog() -> int:
    """Callers who are taken in at one go, before any of them is heard or let go."""
    return max(BACKLOG_MIN, lines_max() // 8)


def lines_max() -> int:
    """Lines that may be open now: at most half of the descriptors that the process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return LINES_MAX if soft < 0 else max(LINES_MIN, min(LINES_MAX, soft // 2))


class HeadTooLargeError(Exception):
    """A request's line and headers are larger than any honest caller's."""


class BoundedLine(HttpToolsProtocol):
    """One caller's line. `quiet_since` is the end of its last answer, or its beginning.

    `requested_at` is when the head of its last request was there.
    `unread` counts what came since a body or a request was last read: a head, or what follows a
    body, of which the parser makes nothing before its end.
    """

    quiet_since: float = 0.0
    requested_at: float = 0.0
    stuck_since: float | None = None
    unread: int = 0
    is_too_large: bool = False

    # The parameter's name and type are those of uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Take the line in; when there are too many, the one that keeps us waiting longest goes.

        It is the new one only where all others are being answered: who holds lines open, idle or in
        the midst of a request, must not keep others from asking.
        """
        super().connection_made(transport)
        self.quiet_since = self.loop.time()
        lines = _bounded(self.connections)
        if len(lines) > lines_max():
            waiting = [line for line in lines if line is not self and line.keeps_waiting()]
            # Whoever has never asked anything goes before who may ask again.
            min(waiting, key=BoundedLine.patience, default=self).transport.close()

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is the head of a request and has no end."""
        self.unread += len(data)
        super().data_received(data)
        if self.unread > HEAD_MAX and not self.transport.is_closing():
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """A whole head has come; one that is too large stops the parser."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEAD_MAX:
            self.is_too_large = True
            raise HeadTooLargeError
        self.unread = 0
        self.requested_at = self.loop.time()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body: bounded where it is taken in."""
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The end of a request."""
        self.unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What could not be read; the parser has stopped."""
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
        """True while no request is open on it."""
        return not self.cycle or self.cycle.response_complete

    def keeps_waiting(self) -> bool:
        """True while the next move is the other side's: a request, or the rest of one."""
        return self.is_quiet() or self.cycle.more_body

    def patience(self) -> tuple[bool, float]:
        """By which lines are let go, the least one first."""
        return bool(self.cycle), max(self.quiet_since, self.requested_at)

    def is_overdue(self, now: float) -> bool:
        """Whether the other side has left us waiting for too long; asked once a second."""
        if not self.keeps_waiting():
            # We are answering: the other side only has to read.
            if not self.flow.write_paused:
                self.stuck_since = None
                return False
            self.stuck_since = now if self.stuck_since is None else self.stuck_since
            return now - self.stuck_since > QUIET_S
        self.stuck_since = None
        return now - self.quiet_since > QUIET_S


class EncryptedLine(SSLProtocol):
    """A line below its encryption.

    Until that stands nobody else counts it, and whoever never begins would hold it for free: of too
    many such lines the oldest one goes.

    Args:
        line: what is encrypted.
        context: how.
        beginning: the lines that are not encrypted yet, the oldest first.
    """

    def __init__(
        self, line: BoundedLine, context: SSLContext, beginning: dict["EncryptedLine", None]
    ) -> None:
        # As asyncio's own servers call it: nobody waits, and parts of seconds count.
        super().__init__(
            line.loop,
            line,
            context,
            None,  # pyright: ignore[reportArgumentType] - as said
            server_side=True,
            ssl_handshake_timeout=HANDSHAKE_S,  # pyright: ignore[reportArgumentType] - as said
        )
        self._line = line
        self._beginning = beginning
        self._below: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to encrypt."""
        self._below = transport
        for one in [one for one in self._beginning if one.is_encrypted]:
            del self._beginning[one]
        self._beginning[self] = None
        super().connection_made(transport)
        if len(self._beginning) > backlog():
            next(iter(self._beginning)).abandon()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Note the end of it."""
        self._beginning.pop(self, None)
        super().connection_lost(exc)

    @property
    def is_encrypted(self) -> bool:
        """True once the line above counts by itself."""
        return self._line.quiet_since > 0.0

    def abandon(self) -> None:
        """Let go of a line that has not come so far."""
        self._beginning.pop(self, None)
        if isinstance(self._below, asyncio.Transport):
            self._below.abort()


def encrypted_lines(context: SSLContext) -> Callable[..., EncryptedLine]:
    """Makes lines that are encrypted, with the parameters of uvicorn's own ones."""
    beginning: dict[EncryptedLine, None] = {}

    def encrypted(**given: Any) -> EncryptedLine:  # noqa: ANN401 - uvicorn's own
        return EncryptedLine(BoundedLine(**given), context, beginning)

    return encrypted


def sweep(connections: Iterable[object], now: float) -> None:
    """Let go of the lines that have left us waiting for too long."""
    for line in _bounded(connections):
        if line.is_overdue(now):
            line.transport.abort()


def _bounded(connections: Iterable[object]) -> list[BoundedLine]:
    """The lines that are not let go already: those end a moment later only."""
    return [
        line
        for line in connections
        if isinstance(line, BoundedLine) and not line.transport.is_closing()
    ]
