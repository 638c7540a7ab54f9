"""Forwards a call unread with another key, for proxies between a program and a service.

Sent once; what comes back is bounded.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import httpx

from service_tui.client.api_keys import ApiKey, origin

PASSED_S: Final = 30.0
"""Of a whole call. Source: decisions, "Deadlines"."""

BODY_MAX: Final = 2 * 1024 * 1024
"""ours: bytes of an answer; the largest honest page, 500 markets, has an eighth of it."""

CONNECT_S: Final = 5.0

LEAVING: Final = ("send_request_headers.started", "send_request_body.started")
"""The steps of the transport right before bytes leave."""


def no_objection() -> str:
    """Veto function that allows everything."""
    return ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A forwarded answer."""

    status: int
    body: bytes


class NotPassedError(Exception):
    """No whole answer arrived; `was_sent` if the call may have."""

    def __init__(self, text: str, *, was_sent: bool) -> None:
        super().__init__(text)
        self.was_sent = was_sent


async def pass_on(
    transport: httpx.AsyncBaseTransport,
    base: httpx.URL,
    key: ApiKey,
    call: tuple[str, str, bytes],
    *,
    last_word: Callable[[], str] = no_objection,
) -> Passed:
    """Send a call to the service that a transport reaches.

    Args:
        transport: carries it; stays open.
        base: the address of the service.
        key: in whose name; it goes nowhere but to that address.
        call: method, path with its query, and body.
        last_word: returns why the request must not be sent, checked until its bytes leave; empty if
        it may.

    Returns:
        The answer.

    Raises:
        NotPassedError: there is none.
    """
    method, target, body = call
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if body:
        headers["Content-Type"] = "application/json"
    url = _url_of(base, target)
    headers["Authorization"] = key.authorization(url)
    request = httpx.Request(method, url, content=body, headers=headers)
    request.extensions["timeout"] = httpx.Timeout(PASSED_S, connect=CONNECT_S).as_dict()

    async def watch(step: str, _: object) -> None:
        if step.endswith(LEAVING):
            _check_leaving(last_word)

    request.extensions["trace"] = watch
    _check_leaving(last_word)
    try:
        async with asyncio.timeout(PASSED_S):
            response = await transport.handle_async_request(request)
            async with aclosing(response):
                read = await _bounded(response)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise NotPassedError(f"no connection: {error}", was_sent=False) from None
    # Every error of httpx, also of a body that is not encoded as its header claims.
    except (httpx.HTTPError, TimeoutError) as error:
        raise NotPassedError(f"the line broke: {error}", was_sent=True) from None
    return Passed(response.status_code, read)


def _check_leaving(last_word: Callable[[], str]) -> None:
    """Raise if the call must not be sent any more.

    Raises:
        NotPassedError: the call must not leave.
    """
    if why := last_word():
        raise NotPassedError(why, was_sent=False)


def _url_of(base: httpx.URL, target: str) -> httpx.URL:
    """Address of a call, with its path exactly as checked.

    Returns:
        The whole address.

    Raises:
        NotPassedError: it would go elsewhere.
    """
    path = target.partition("?")[0]
    below = base.raw_path.decode().rstrip("/")
    try:
        url = httpx.URL(f"{str(base).rstrip('/')}{target}")
    except httpx.InvalidURL as error:
        raise NotPassedError(f"that is no address: {error}", was_sent=False) from None
    is_there = url.raw_path.decode().partition("?")[0] == f"{below}{path}"
    if not (path.startswith("/") and is_there and origin(url) == origin(base)):
        raise NotPassedError("its path does not stand for itself", was_sent=False)
    return url


async def _bounded(response: httpx.Response) -> bytes:
    """A whole body.

    Returns:
        Its bytes.

    Raises:
        NotPassedError: it is too long.
    """
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > BODY_MAX:
            raise NotPassedError("the answer is too long", was_sent=True)
    return bytes(read)
