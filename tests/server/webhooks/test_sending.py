"""How a webhook is sent: to which number, under which name, and what its answer means."""

import asyncio
import socket
import threading
from types import SimpleNamespace
from typing import Any, Self

import httpx
import pytest

from service_tui.server.webhooks import address as looking
from service_tui.server.webhooks import post as room
from service_tui.server.webhooks.address import AddressRefusedError, system_lookup
from service_tui.server.webhooks.post import (
    DELIVERY_HEADER,
    EVENT_HEADER,
    SIGNATURE_HEADER,
    TIMEOUT_S,
    Parcel,
    signature,
)


class AtOnce:
    """A thread that does its work as it is started."""

    def __init__(self, *, target: Any, name: str, daemon: bool) -> None:
        assert (name, daemon) == ("webhook-lookup", True)
        self.target = target

    def start(self) -> None:
        self.target()


@pytest.mark.parametrize(
    "found",
    [["93.184.216.34", "::1"], OSError("no such name"), UnicodeError("label too long")],
)
async def test_a_name_is_looked_up_in_a_thread_that_nobody_waits_for_at_the_end(
    monkeypatch: pytest.MonkeyPatch, found: Any
) -> None:
    def getaddrinfo(host: str, port: int, *, type: int) -> Any:  # noqa: A002  (socket's own name)
        assert (host, port, type) == ("hook.example", 443, socket.SOCK_STREAM)
        if isinstance(found, Exception):
            raise found
        return [(0, 0, 0, "", (number, 443)) for number in found]

    monkeypatch.setattr(threading, "Thread", AtOnce)
    monkeypatch.setattr(looking.socket, "getaddrinfo", getaddrinfo)
    if isinstance(found, Exception):
        with pytest.raises(OSError, match=str(found)):
            await system_lookup("hook.example", 443)
    else:
        assert await system_lookup("hook.example", 443) == found


async def test_a_name_that_is_found_too_late_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(threading, "Thread", lambda **given: started.append(given) or AtOnceLater())
    monkeypatch.setattr(looking.socket, "getaddrinfo", lambda *_, **__: [])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await system_lookup("hook.example", 443)
    started[0]["target"]()
    await asyncio.sleep(0)


class AtOnceLater:
    """A thread that is never begun."""

    def start(self) -> None:
        """Begin nothing."""


class Line:
    """The line of a request: what is sent on it, and what comes back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, status: int = 204) -> None:
        self.status, self.fault = status, None
        self.sent: list[httpx.Request] = []
        self.closed = 0
        self.made: list[dict[str, Any]] = []
        monkeypatch.setattr(httpx, "AsyncHTTPTransport", self.transport)
        monkeypatch.setattr(httpx, "create_ssl_context", lambda **given: ("certificates", given))

    def transport(self, **given: Any) -> "Line":
        self.made.append(given)
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1

    async def handle_async_request(self, request: httpx.Request) -> Any:
        self.sent.append(request)
        if self.fault is not None:
            raise self.fault

        async def aclose() -> None:
            self.closed += 1

        return SimpleNamespace(status_code=self.status, aclose=aclose)


PARCEL = Parcel(event="fill", delivery_id="d-1", body=b'{"a":1}')


def post_of(*numbers: str) -> Any:
    async def lookup(host: str, port: int) -> list[str]:
        assert (host, port) == ("hook.example", 8443)
        return list(numbers)

    return room.HttpPost(lookup)


async def sent(post: Any, url: str = "https://hook.example:8443/in?x=1") -> str:
    return await post(url, PARCEL, "whsec", allows_loopback=False)


@pytest.mark.parametrize(
    ("number", "host"),
    [("93.184.216.34", "93.184.216.34"), ("2606:2800:220:1::1", "[2606:2800:220:1::1]")],
)
async def test_a_parcel_goes_to_the_number_under_the_name_signed(
    monkeypatch: pytest.MonkeyPatch, number: str, host: str
) -> None:
    line, post = Line(monkeypatch), post_of(number)
    assert await sent(post) == ""
    assert await sent(post) == ""
    request = line.sent[0]
    assert (request.method, str(request.url)) == ("POST", f"https://{host}:8443/in?x=1")
    assert request.content == PARCEL.body
    assert request.headers["Host"] == "hook.example:8443"
    assert (request.headers[EVENT_HEADER], request.headers[DELIVERY_HEADER]) == ("fill", "d-1")
    assert request.headers[SIGNATURE_HEADER] == signature("whsec", PARCEL.body)
    assert request.extensions["sni_hostname"] == "hook.example"
    assert request.extensions["timeout"]["read"] == TIMEOUT_S
    # Nothing of the environment steers it, and certificates are read once.
    verify = ("certificates", {"trust_env": False})
    assert line.made == [{"verify": verify, "retries": 0, "trust_env": False}] * 2
    assert line.closed == 4


@pytest.mark.parametrize(
    ("status", "said"),
    [(200, ""), (299, ""), (199, "responded with status 199"), (302, "responded with status 302"),
     (500, "responded with status 500")],
)  # fmt: skip
async def test_only_an_answer_of_success_is_a_delivery(
    monkeypatch: pytest.MonkeyPatch, status: int, said: str
) -> None:
    Line(monkeypatch, status)
    assert await sent(post_of("93.184.216.34")) == said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (TimeoutError(), f"no response within {TIMEOUT_S:.0f} s"),
        (httpx.ConnectError("refused"), "no connection (ConnectError)"),
        (OSError("reset"), "no connection (OSError)"),
        (ValueError("odd"), "no connection (ValueError)"),
        (httpx.InvalidURL("bad"), "no connection (InvalidURL)"),
        (AddressRefusedError("not public"), "not public"),
    ],
)
async def test_a_failure_is_a_few_words_without_the_address(
    monkeypatch: pytest.MonkeyPatch, fault: Any, said: str
) -> None:
    line = Line(monkeypatch)
    line.fault = fault
    assert await sent(post_of("93.184.216.34")) == said


async def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = Line(monkeypatch)
    for numbers in (("127.0.0.1",), ("93.184.216.34", "10.0.0.1"), ()):
        assert await sent(post_of(*numbers))
    assert line.sent == []
