"""One line of the log for each call, with an id that leads through follower and leader.

Where the log is written as JSON its parts are fields, with the agent's id where the key was known.
A line names the endpoint, not the path: paths contain ids, and codes of claim links.
"""

import logging
import re
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_tui.server.http.entrance import with_place_for_agent
from service_tui.wire.endpoints.public import ALL

log = logging.getLogger("service_tui.access")

HEADER: Final = b"x-request-id"
OTHER: Final = "other"
"""Stands for what is no endpoint, so that a caller cannot make up names."""

PATH_MAX: Final = 1_024
"""ours: letters of a path that may be an endpoint's; ids have at most 128."""

_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PATHS: Final = frozenset(one.path for one in ALL)
_PATTERNS: Final = tuple(
    (path, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))) for path in sorted(_PATHS)
    if "{" in path
)  # fmt: skip


def logged(app: ASGIApp, monotonic: Callable[[], float], new_id: Callable[[], str]) -> ASGIApp:
    """The app with a line in the log for each call, and an id in each answer.

    A short and plain `X-Request-Id` of the caller is kept, else one is made. A call that is
    forwarded takes its id along. `monotonic` tells seconds, `new_id` makes an id that is short and
    plain.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, status = monotonic(), 0
        request_id = _sent_id(scope) or new_id().encode()
        own = (HEADER, request_id)
        headers = [one for one in scope["headers"] if one[0] != HEADER]
        scope, agent = with_place_for_agent(scope)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = [one for one in message.get("headers", ()) if one[0].lower() != HEADER]
                message = {**message, "headers": [*kept, own]}
            await send(message)

        try:
            await app({**scope, "headers": [*headers, own]}, receive, noted)
        finally:
            took_ms = 1_000 * (monotonic() - began)
            told = request_id.decode(), method_of(scope), route_of(scope), status or None
            fields = dict(zip(("id", "method", "endpoint", "status"), told, strict=True))
            fields |= {"ms": round(took_ms, 1), "agent": agent[0] if agent else None}
            what = " ".join(str(one or "-") for one in told)
            log.info("%s %.1f ms", what, took_ms, extra={"fields": fields})

    return answer


def random_id() -> str:
    """An id that no other call has."""
    return secrets.token_hex(8)


def _sent_id(scope: Scope) -> bytes:
    """The id that the caller sent, if it is short and plain; else empty."""
    sent: list[bytes] = [value for name, value in scope["headers"] if name == HEADER]
    if len(sent) == 1 and _ID.fullmatch(sent[0]):
        return sent[0]
    return b""


def method_of(scope: Scope) -> str:
    """The method of a call; `other` for one that HTTP does not have."""
    method = str(scope.get("method", ""))
    return method if method in _METHODS else OTHER


def route_of(scope: Scope) -> str:
    """The endpoint of a call as the documentation writes it; `other` for what is none."""
    path = str(scope.get("path", ""))
    return _route(path) if len(path) <= PATH_MAX else OTHER


@lru_cache(maxsize=1_024)
def _route(path: str) -> str:
    if path in _PATHS:
        return path
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(path)), OTHER)
