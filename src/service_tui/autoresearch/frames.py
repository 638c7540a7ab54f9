"""Answers malformed lines of an MCP client with JSON-RPC errors, where the package skips them.

A request whose id is none would be a notification to the package: it is answered before.
"""

import fcntl
import json
import logging
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from types import TracebackType
from typing import Final, Protocol, Self, TypeGuard, TypeVar

import mcp_types as types
from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

log = logging.getLogger(__name__)

FIELD: Final = 2
"""Parts of the place of a field of a message: which kind of message, and which field."""

NO_ID: Final = '{"id": []}'
"""Stands for a message whose id is none: the package too treats it as no message."""

STANDARD: Final = 3
"""So many descriptors are standard streams."""

NOTICES: Final = "notifications/"
"""Prefix of methods without an answer. Source: Model Context Protocol."""

Item_co = TypeVar("Item_co", covariant=True)
Sent_contra = TypeVar("Sent_contra", contravariant=True)


class FrameReceiver(Protocol[Item_co]):
    """Receiving end of a transport."""

    async def receive(self) -> Item_co:
        """The next one; fails with EndOfStream after the last."""
        ...

    async def aclose(self) -> None:
        """Receive no more."""
        ...


class FrameSender(Protocol[Sent_contra]):
    """Sending end of a transport."""

    async def send(self, item: Sent_contra, /) -> None:
        """Send one message."""
        ...


class Lines(TextIOWrapper):
    """The lines of a client; a request whose id is none becomes a line that is answered."""

    def readline(self, size: int = -1, /) -> str:
        """The next line; empty after the last."""
        line = super().readline(size)
        return NO_ID if waits_in_vain(line) else line


def lines_of_client() -> Lines:
    """Standard input, for the protocol alone.

    Returns:
        Its lines; none where it is closed. From now on whoever else reads the standard input, also
        a child, finds nothing there.
    """
    # Not closed with the file: a thread may wait in it until the process ends.
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    if sys.stdin is None:
        return Lines(os.fdopen(nothing, "rb", closefd=False), encoding="utf-8")
    wire = fcntl.fcntl(sys.stdin.fileno(), fcntl.F_DUPFD_CLOEXEC, STANDARD)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    file = os.fdopen(wire, "rb", closefd=False)
    return Lines(file, encoding="utf-8", errors="replace")


class Messages:
    """The messages of a client; whatever is none is answered on the way."""

    def __init__(
        self, received: FrameReceiver[SessionMessage | Exception], sent: FrameSender[SessionMessage]
    ) -> None:
        self._received = received
        self._sent = sent

    async def receive(self) -> SessionMessage:
        """The next message; fails with EndOfStream after the last."""
        while True:
            item = await self._received.receive()
            if isinstance(item, SessionMessage):
                return item
            refusal = refusal_of(item)
            if refusal is not None:
                log.info("invalid message line: %s", refusal.error.message)
                await self._sent.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        """Receive no more."""
        await self._received.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        del exc_type, exc_val, exc_tb
        await self.aclose()


def waits_in_vain(line: str) -> bool:
    """True if a line is a request with an invalid id.

    Returns:
        Never for a notification: null beside a method that expects no answer is as good as no id.

    Source: JSON-RPC 2.0, 4: an id is a text, a whole number or, better not, null; a notification
    has none. Model Context Protocol: it is not null.
    """
    try:
        given: object = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not _is_object(given) or "method" not in given or not _has_wrong_id(given):
        return False
    return given["id"] is not None or not str(given["method"]).startswith(NOTICES)


def refusal_of(wrong: Exception) -> types.JSONRPCError | None:
    """JSON-RPC error for a line that is no message.

    Returns:
        The answer; None where the line is empty.

    Source: JSON-RPC 2.0, 5.1: -32700 what is no JSON, -32600 what is no request.
    """
    rows = wrong.errors(include_url=False) if isinstance(wrong, ValidationError) else []
    if not rows or rows[0]["type"] == "json_invalid":
        line: object = rows[0]["input"] if rows else ""
        if isinstance(line, str) and rows and not line.strip():
            return None
        return _error(None, types.PARSE_ERROR, "invalid JSON")
    # What lacks something at its top is the whole line.
    whole = [row["input"] for row in rows if row["type"] == "missing" and len(row["loc"]) <= FIELD]
    problem = "not a JSON-RPC 2.0 message"
    if any(_is_object(given) and _has_wrong_id(given) for given in whole):
        problem += ": its id is neither a text nor a whole number"
    return _error(_id_in(whole), types.INVALID_REQUEST, problem)


def _error(number: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def _id_in(inputs: Iterable[object]) -> types.RequestId | None:
    """The id of what was sent, as far as it has one: its sender waits under that."""
    numbers = (given.get("id") for given in inputs if _is_object(given))
    return next((number for number in numbers if _is_id(number)), None)


def _has_wrong_id(given: dict[str, object]) -> bool:
    return "id" in given and not _is_id(given["id"])


def _is_id(number: object) -> TypeGuard[types.RequestId]:
    return isinstance(number, str) or (isinstance(number, int) and not isinstance(number, bool))


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
