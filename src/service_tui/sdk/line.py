"""A skill's connection to the world of its trial: one socket, frames in turn, no HTTP.

The skill's side always speaks first and waits for one frame. A frame is a head in JSON and a body.
"""

import json
import socket
import struct
import threading
from collections.abc import Mapping
from typing import Final, cast

import httpx

from service_tui.clock import Clock
from service_tui.units import Timestamp

SIZES: Final = struct.Struct(">II")
FRAME_HEAD_MAX: Final = 65_536
FRAME_BODY_MAX: Final = 64 * 1024 * 1024

Head = Mapping[str, object]


class LineClosedError(ConnectionError):
    """The trial has ended, and with it the line."""


def packed(head: Head, body: bytes = b"") -> bytes:
    """A frame."""
    text = json.dumps(head, allow_nan=False).encode()
    return SIZES.pack(len(text), len(body)) + text + body


class Line:
    """The skill's end. Threads take turns: each waits for the answer to its own frame."""

    def __init__(self, own: socket.socket) -> None:
        self._socket = own
        self._turn = threading.Lock()
        self.now = Timestamp(0.0)

    def ask(self, head: Head, body: bytes = b"") -> tuple[Head, bytes]:
        """Send a frame and wait for its answer.

        Returns:
            The answer's head and body.

        Raises:
            LineClosedError: the trial is over.
        """
        with self._turn:
            try:
                self._socket.sendall(packed(head, body))
                head_size, body_size = SIZES.unpack(self._read(SIZES.size))
                answer: dict[str, object] = json.loads(self._read(head_size))
                found = self._read(body_size)
            except OSError as error:
                raise LineClosedError("the trial has ended") from error
        now = answer.get("now")
        if isinstance(now, float):
            self.now = Timestamp(now)
        return answer, found

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = self._socket.recv(min(size, 1 << 20))
            if not part:
                raise LineClosedError("the trial has ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class LineTransport(httpx.AsyncBaseTransport):
    """Carries a client's calls over the line. It blocks its loop: nothing else runs there."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a call as the service does.

        Returns:
            The answer.

        Raises:
            httpx.ReadError: the trial is over.
        """
        headers = [[name, value] for name, value in request.headers.items()]
        head = {"call": [request.method, request.url.raw_path.decode("ascii")], "headers": headers}
        try:
            answer, body = self._line.ask(head, await request.aread())
        except LineClosedError as error:
            raise httpx.ReadError(str(error), request=request) from error
        return httpx.Response(
            cast("int", answer["status"]),
            headers=[(name, value) for name, value in cast("list[list[str]]", answer["headers"])],
            # A stream: its reader bounds how much it reads.
            stream=httpx.ByteStream(body),
        )


class LineClock(Clock):
    """The time of the trial's world. To wait lets the world go on."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def now(self) -> Timestamp:
        """The time of the world."""
        return self._line.now

    def monotonic(self) -> float:
        """The same: it never runs back."""
        return float(self._line.now)

    async def sleep(self, delay_s: float) -> None:
        """Let the world go on for so long."""
        if delay_s > 0:
            self._line.ask({"wait": float(delay_s)})
