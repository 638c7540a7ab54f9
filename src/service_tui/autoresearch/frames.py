"""Lines of a client that are no messages: answered as JSON-RPC has it, instead of passed over.

Knows the messages of the `mcp` package. Must not know tools or sessions.
Used by protocol: the package itself leaves such a line without an answer, and its sender waiting.
"""

import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Protocol, Self, TypeGuard, TypeVar

import mcp_types as types
from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

log = logging.getLogger(__name__)

FIELD: Final = 2
"""Parts of the place of a field of a message: which kind of message, and which field."""

Item_co = TypeVar("Item_co", covariant=True)
Sent_contra = TypeVar("Sent_contra", contravariant=True)


class Heard(Protocol[Item_co]):
    """Where a transport puts what it hears."""

    async def receive(self) -> Item_co:
        """The next one; fails with EndOfStream after the last."""
        ...

    async def aclose(self) -> None:
        """Hear no more."""
        ...


class Said(Protocol[Sent_contra]):
    """What a transport takes to say it."""

    async def send(self, item: Sent_contra, /) -> None:
        """Say it."""
        ...


class Messages:
    """The messages of a client; whatever is none is answered on the way."""

    def __init__(
        self, heard: Heard[SessionMessage | Exception], said: Said[SessionMessage]
    ) -> None:
        self._heard = heard
        self._said = said

    async def receive(self) -> SessionMessage:
        """The next message; fails with EndOfStream after the last."""
        while True:
            item = await self._heard.receive()
            if isinstance(item, SessionMessage):
                return item
            refusal = refusal_of(item)
            if refusal is not None:
                log.info("a line is no message: %s", refusal.error.message)
                await self._said.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        """Hear no more."""
        await self._heard.aclose()

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


def refusal_of(wrong: Exception) -> types.JSONRPCError | None:
    """What a line that is no message is answered.

    Returns:
        The answer; None where the line is empty.

    Source: JSON-RPC 2.0, 5.1: -32700 what is no JSON, -32600 what is no request.
    """
    rows = wrong.errors(include_url=False) if isinstance(wrong, ValidationError) else []
    if not rows or rows[0]["type"] == "json_invalid":
        line: object = rows[0]["input"] if rows else ""
        if isinstance(line, str) and rows and not line.strip():
            return None
        return _error(None, types.PARSE_ERROR, "the line is no JSON")
    # What lacks something at its top is the whole line.
    whole = [row["input"] for row in rows if row["type"] == "missing" and len(row["loc"]) <= FIELD]
    number = _id_in(whole)
    return _error(number, types.INVALID_REQUEST, "the line is no JSON-RPC 2.0 message")


def _error(number: types.RequestId | None, code: int, said: str) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=said)
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def _id_in(inputs: Iterable[object]) -> types.RequestId | None:
    """The id of what was sent, as far as it has one: its sender waits under that."""
    for given in inputs:
        number = given.get("id") if _is_object(given) else None
        if isinstance(number, str) or (isinstance(number, int) and not isinstance(number, bool)):
            return number
    return None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
