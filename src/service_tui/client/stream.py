"""Server-sent events: reads whole events from an open connection, within bounds."""

from collections.abc import AsyncGenerator
from typing import Final

import httpx

from service_tui.client.errors import Called, ServiceError, UnreachableError, unanswered, unreadable
from service_tui.client.reply import NotProtocolError
from service_tui.wire.text import line

MEDIA_TYPE: Final = "text/event-stream"
IDLE_S: Final = 30.0
"""How long a stream may be silent; a service that lives sends a beat now and then."""

OPEN_S: Final = 5.0
LINE_MAX: Final = 65_536
EVENT_MAX: Final = 262_144
"""ours: bytes of a line and of an event; the largest honest event has some kilobytes."""

NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


class Frames:
    """Splits received bytes into the data of whole events."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Data of the events that these bytes complete.

        Returns:
            The data of each event that it completes; comments and other fields are passed over.

        Raises:
            NotProtocolError: a line or an event without end.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LINE_MAX:
            raise NotProtocolError("a line of the stream does not end")
        return [
            data for text in lines if (data := self._take(text.removesuffix(b"\r"))) is not None
        ]

    def _take(self, text: bytes) -> bytes | None:
        if not text:
            whole, self._data, self._size = b"\n".join(self._data), [], 0
            return whole or None
        name, _, value = text.partition(b":")
        if name == b"data":
            self._size += len(value)
            if self._size > EVENT_MAX:
                raise NotProtocolError("an event of the stream does not end")
            self._data.append(value.removeprefix(b" "))
        return None


async def frames_of(response: httpx.Response, called: Called) -> AsyncGenerator[bytes]:
    """The data of each event, until the service ends the stream in order.

    Yields:
        Bytes, within `EVENT_MAX`.

    Raises:
        ServiceError: the line broke or fell silent, or what comes is no stream of events.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != MEDIA_TYPE:
        raise unreadable(f"the answer is no stream of events ({line(kind, 40)})", called)
    frames = Frames()
    try:
        async for chunk in response.aiter_raw():
            for data in frames.feed(chunk):
                yield data
    except NotProtocolError as error:
        raise unreadable(str(error), called) from None
    except httpx.TransportError as error:
        raise line_error(error, called) from None


def line_error(error: httpx.TransportError, called: Called) -> ServiceError:
    """Error for a connection that failed under a stream; nothing was changed by it."""
    why = line(str(error)) or type(error).__name__
    if isinstance(error, NOT_SENT):
        return UnreachableError(f"the service cannot be reached: {why}", called)
    if isinstance(error, httpx.TimeoutException):
        return unanswered(f"no sign of life within {IDLE_S:.3g} s", called)
    return unanswered(f"the line broke: {why}", called)
