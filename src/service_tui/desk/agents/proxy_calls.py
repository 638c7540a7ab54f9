"""One HTTP call of a skill, read from a socket with h11, and the desk's own answers to it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import h11

from service_tui.client.reply import is_object
from service_tui.desk.agents.proxy_answers import raw_of
from service_tui.wire.errors import ErrorBody

BODY_MAX: Final = 262_144
HEAD_MAX: Final = 32_768

_LENGTHS: Final = {"content-length", "transfer-encoding"}

Answered = tuple[int, bytes]
"""Status and JSON."""


class BadCallError(Exception):
    """The bytes are no valid HTTP call; the text is one plain sentence."""


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One call of a skill. `headers` are keyed by lower-case name; none occurs twice."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class SkillConnection:
    """A skill at the other end of a socket: one call, one answer, then the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, HEAD_MAX)
        self._is_head = False

    async def call(self) -> SkillCall:
        """Wait for the whole call, its body of a known length or in chunks.

        Returns:
            The call.

        Raises:
            BadCallError: not HTTP, two lengths or two of a header, a body too long or not whole.
        """
        try:
            request = await self._request()
            headers = _headers_of(request)
            body = await self._body()
        except h11.RemoteProtocolError as error:
            raise BadCallError("malformed HTTP request") from error
        return SkillCall(request.method.decode(), request.target.decode(), headers, body)

    async def answer(self, answered: Answered) -> None:
        """Send an answer with `Connection: close`."""
        status, body = answered
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        # A call that could not be read may have ended the exchange; this answer begins a new one.
        is_over = self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}
        http = h11.Connection(h11.SERVER) if is_over else self._http
        self._writer.write(http.send(h11.Response(status_code=status, headers=headers)) or b"")
        # Of a HEAD only the head is answered; h11 refuses to send more.
        if not self._is_head:
            self._writer.write(http.send(h11.Data(data=body)) or b"")
        await self._writer.drain()

    async def _request(self) -> h11.Request:
        event = await self._event()
        if not isinstance(event, h11.Request):
            raise BadCallError("malformed HTTP request")
        self._is_head = event.method == b"HEAD"
        return event

    async def _body(self) -> bytes:
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            if len(body) > BODY_MAX:
                raise BadCallError("request body too long")
        return bytes(body)

    async def _event(self) -> object:
        """The next HTTP event; answers `Expect: 100-continue` on the way."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                self._writer.write(self._http.send(go_on) or b"")
            self._http.receive_data(await self._reader.read(HEAD_MAX))
        return event


def _headers_of(request: h11.Request) -> Mapping[str, str]:
    """Headers of a call, checked before its body is read.

    Returns:
        Values by the names in small letters.

    Raises:
        BadCallError: one that came twice, two lengths, one above the bound, or no path.
    """
    headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
    if len(headers) != len(list(request.headers)) or headers.keys() >= _LENGTHS:
        raise BadCallError("duplicate header, or two body lengths")
    if int(headers.get("content-length", "0")) > BODY_MAX:
        raise BadCallError("request body too long")
    if not request.target.startswith(b"/"):
        raise BadCallError("the path must start with /")
    return headers


def is_plain(target: str) -> bool:
    """True if a path has one meaning only, however proxies normalise it."""
    path = target.partition("?")[0]
    steps = {"", ".", ".."}.intersection(path[1:].split("/"))
    return not steps and not any(mark in path for mark in "%\\") and "#" not in target


def refusal(status: int, error: str, fix: str) -> Answered:
    """A refusal by the desk, as status and JSON."""
    return status, raw_of(ErrorBody(error=error, fix=fix))


def fields_of(answer: bytes) -> Mapping[str, object]:
    """Fields of a JSON answer; empty if it is no object."""
    try:
        body: object = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return body if is_object(body) else {}
