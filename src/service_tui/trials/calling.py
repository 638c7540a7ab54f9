"""Calls an app in this process without HTTP, and counts the orders it refuses."""

import hmac
import json
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeGuard

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_tui.server.http.entrance import IN_PROCESS
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER
from service_tui.wire.text import line

Header = tuple[str, str]

CODE_MAX: Final = 60


class CalledApp(NamedTuple):
    """An answer of the app."""

    status: int
    headers: list[Header]
    body: bytes


async def call_app(
    app: ASGIApp, call: tuple[str, str], headers: Sequence[Header], body: bytes
) -> CalledApp:
    """Call an app.

    Args:
        app: it.
        call: method and target.
        headers: names and values.
        body: whole.

    Returns:
        Its answer.
    """
    method, target = call
    path, _, query = target.partition("?")
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1", "replace"),
        "root_path": "",
        "query_string": query.encode("latin-1", "replace"),
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in headers
        ],
        "client": IN_PROCESS,
        "server": IN_PROCESS,
    }
    status, answer_headers, parts = 500, list[Header](), list[bytes]()
    is_sent = False

    async def receive() -> Message:
        nonlocal is_sent
        if is_sent:
            return {"type": "http.disconnect"}
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, answer_headers
        if message["type"] == "http.response.start":
            status = message["status"]
            answer_headers = [
                (a.decode("latin-1"), b.decode("latin-1")) for a, b in message["headers"]
            ]
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return CalledApp(status, answer_headers, b"".join(parts))


class TrialGate:
    """Stands before the app of a trial: one agent calls there, and its refusals are counted.

    Any other key is refused, and so is a new agent: with a second one, which has money of its own
    and no budget, a skill would move the prices that it is judged by; and whoever else found the
    port would see a world that is further on than its own.
    """

    def __init__(self, app: ASGIApp, api_key: str) -> None:
        self._app = app
        self._authorization = f"Bearer {api_key}".encode()
        self.counts: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, to the one agent."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(sent) != 1 or not hmac.compare_digest(sent[0], self._authorization):
            await _refuse(send, 401, "a trial answers the key of its own agent alone")
        elif scope["path"].rstrip("/") == REGISTER.path:
            self.counts["a trial has one agent"] += 1
            await _refuse(send, 403, "a trial has one agent")
        elif scope["path"] != PLACE_TRADE.path:
            await self._app(scope, receive, send)
        else:
            await self._count_refusals(scope, receive, send)

    async def _count_refusals(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
            await send(message)

        await self._app(scope, receive, heard)
        self._count(b"".join(parts))

    def _count(self, raw: bytes) -> None:
        try:
            answer: object = json.loads(raw)
        except ValueError:
            return
        if is_object(answer) and answer.get("success") is not True:
            code = answer.get("error_code") or answer.get("error") or _detail(answer.get("detail"))
            self.counts[line(str(code or "refused"), CODE_MAX)] += 1


async def _refuse(send: Send, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _detail(value: object) -> object:
    """What is wrong with an order's fields, by the first of them."""
    first = value[0] if is_list(value) and value else value
    return first.get("msg") if is_object(first) else first


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a value of JSON is a list."""
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a value of JSON is an object."""
    return isinstance(value, dict)
