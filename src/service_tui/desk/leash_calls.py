"""One call of a skill as it comes over a socket, and the plain answers that need no service.

Knows streams and JSON. Must not know leashes, keys, nor the network beyond.
Used by leash_line.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

from service_tui.client.reply import is_object
from service_tui.desk.leash_answers import raw_of
from service_tui.wire.errors import ErrorBody

BODY_MAX: Final = 262_144

_WRITES: Final = (
    ("POST", "/api/sdk/positions/"),
    ("DELETE", "/api/sdk/orders"),
    ("DELETE", "/api/sdk/positions/"),
    ("DELETE", "/api/sdk/risk-alerts/"),
)
"""What may be written beside trades: what takes risk away."""

Answered = tuple[int, bytes]
"""Status and JSON."""


class BadCallError(Exception):
    """A call that is none; one plain sentence."""


async def read_call(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    """One call: method, target, headers by small letters, and body."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = head.split("\r\n")
        method, target, _ = first.split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in rest if line)
        }
        length = int(headers.get("content-length", "0"))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
        raise BadCallError("that is no call") from error
    if "transfer-encoding" in headers or not 0 <= length <= BODY_MAX or not target.startswith("/"):
        raise BadCallError("its body has no length, or is too long")
    try:
        return method, target, headers, await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise BadCallError("its body is not whole") from error


def lowers_risk(method: str, path: str) -> bool:
    """Whether a call beside trades is one that a skill may make: it takes risk away."""
    return any(method == verb and path.startswith(start) for verb, start in _WRITES)


def is_plain(target: str) -> bool:
    """Whether a path names one place only, however it is read on its way."""
    path = target.partition("?")[0]
    steps = {"", ".", ".."}.intersection(path[1:].split("/"))
    return not steps and not any(mark in path for mark in "%\\") and "#" not in target


def no_answer(status: int, words: str, fix: str) -> Answered:
    """A no of the desk's own."""
    return status, raw_of(ErrorBody(error=words, fix=fix))


def said_by(answer: bytes) -> Mapping[str, object]:
    """What an answer holds; nothing where it is no object."""
    try:
        said: object = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return said if is_object(said) else {}


def written(answered: Answered) -> bytes:
    """An answer as it leaves."""
    status, body = answered
    head = (
        f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
