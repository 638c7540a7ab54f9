"""The short way of a request: headers, body, and the answer's own headers."""

from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from service_tui.server.http.direct import DirectRequest, Front, JsonText, SentHeaders


def a_scope(**changes: Any) -> dict[str, Any]:
    headers = [(b"host", b"a"), (b"x-one", b"1"), (b"x-two", b"caf\xe9"), (b"x-one", b"2")]
    given = {"type": "http", "method": "GET", "path": "/api/x", "headers": headers}
    return {**given, **changes}


def request_of(*messages: dict[str, Any]) -> DirectRequest:
    waiting = list(messages)

    async def receive() -> Any:
        return waiting.pop(0)

    return DirectRequest(a_scope(), receive)


def part(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_headers_are_found_by_any_case_and_kept_in_their_order() -> None:
    headers = SentHeaders(a_scope())
    assert headers.getlist("X-One") == ["1", "2"]
    assert headers["X-ONE"] == "1"
    assert headers["x-two"] == "café"
    assert headers.get("x-none") is None
    assert headers.getlist("x-none") == []
    assert "X-Two" in headers
    assert "x-none" not in headers
    assert 3 not in headers
    assert headers.items() == [("host", "a"), ("x-one", "1"), ("x-two", "café"), ("x-one", "2")]


async def test_a_body_is_read_to_its_end_and_no_further_than_its_limit() -> None:
    request = request_of(part(b"abc", more=True), part(b"de", more=False))
    assert await request.body(5) == b"abcde"
    assert request.path == "/api/x"
    assert request.headers["host"] == "a"
    assert await request_of(part(b"abc", more=True), part(b"de", more=True)).body(4) is None
    assert await request_of(part(b"abc", more=True), part(b"", more=False)).body(3) == b"abc"
    assert await request_of({"type": "http.request"}).body(3) == b""
    # A part may be empty and others follow.
    parts = [part(b"", more=True), part(b"ab", more=True), part(b"", more=True)]
    assert await request_of(*parts, part(b"c", more=False)).body(3) == b"abc"


async def test_a_body_that_breaks_off_is_no_body() -> None:
    with pytest.raises(ClientDisconnect):
        await request_of(part(b"abc", more=True), {"type": "http.disconnect"}).body(9)


def test_an_answer_states_its_length_in_bytes_its_kind_and_its_own_headers() -> None:
    plain = JsonText('{"a":"é"}')
    assert plain.status_code == 200
    assert plain.body == b'{"a":"\xc3\xa9"}'
    json = (b"content-type", b"application/json")
    assert plain.raw_headers == [(b"content-length", b"10"), json]
    other = JsonText("{}", 404, {"Retry-After": "4", "X-Way": "é"})
    assert other.status_code == 404
    assert other.raw_headers == [
        (b"content-length", b"2"), json, (b"retry-after", b"4"), (b"x-way", b"\xe9")
    ]  # fmt: skip


async def called(front: Front, **changes: Any) -> list[Any]:
    said: list[Any] = []

    async def receive() -> Any:
        return part(b"", more=False)

    async def send(message: Any) -> None:
        said.append(message.get("status", message.get("body")))

    await front(a_scope(**changes), receive, send)
    return said


async def test_a_path_of_the_short_way_is_answered_there_and_others_by_the_routes() -> None:
    front, seen = Front(), list[str]()

    async def answer(request: DirectRequest) -> Response:
        seen.append(request.path)
        return JsonText('"short"', 201)

    async def fault(*_: object) -> Response:
        raise AssertionError("there is no fault")

    front.lead({("GET", "/api/x"): answer}, fault)
    assert await called(front) == [201, b'"short"']
    assert seen == ["/api/x"]
    assert (await called(front, path="/api/y"))[0] == 404
    assert (await called(front, method="POST"))[0] == 404
    assert len(seen) == 1


async def test_a_bug_on_the_short_way_is_answered_and_told_to_the_server() -> None:
    front, said = Front(), list[Any]()

    async def answer(_: DirectRequest) -> Response:
        raise ZeroDivisionError

    async def fault(request: Request, error: Exception) -> Response:
        return JsonText(f'"{request.url.path} {type(error).__name__}"', 500)

    async def send(message: Any) -> None:
        said.append(message.get("status", message.get("body")))

    front.lead({("GET", "/api/x"): answer}, fault)
    with pytest.raises(ZeroDivisionError):
        await front(a_scope(server=("a", 80)), None, send)  # pyright: ignore[reportArgumentType]
    assert said == [500, b'"/api/x ZeroDivisionError"']
