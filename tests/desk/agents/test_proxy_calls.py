"""What bytes are a call of a skill, and that all others are answered and end there."""

import asyncio
from typing import Any, Final, cast

import pytest

from service_tui.desk.agents.proxy_calls import BODY_MAX, BadCallError, SkillCall, SkillConnection

HEAD: Final = b"POST /api/sdk/trade HTTP/1.1\r\nHost: x\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BODY: Final = HEAD + b"Content-Length: 2\r\n\r\n{}"


class Answers:
    """The other half of a socket: what is written to it."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    async def drain(self) -> None:
        """Everything is taken at once."""


async def heard(raw: bytes, *, at_a_time: int = 1 << 20) -> tuple[SkillCall | BadCallError, bytes]:
    """What a caller makes of bytes after which the other end is silent, and the answer to them."""
    reader, answers = asyncio.StreamReader(), Answers()
    for start in range(0, len(raw), at_a_time):
        reader.feed_data(raw[start : start + at_a_time])
    reader.feed_eof()
    caller = SkillConnection(reader, cast("Any", answers))
    try:
        found: SkillCall | BadCallError = await caller.call()
    except BadCallError as error:
        found = error
    await caller.answer((200 if isinstance(found, SkillCall) else 400, b"{}"))
    return found, answers.written


CALLS: Final[dict[str, tuple[bytes, bytes]]] = {
    "without a body": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    "of an older version": (b"GET / HTTP/1.0\r\n\r\n", b""),
    "with a body": (BODY, b"{}"),
    "with lines that end plainly": (b"GET / HTTP/1.1\nHost: x\n\n", b""),
    "in one chunk": (CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", b"{}"),
    "in two chunks": (CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", b"{}"),
    "with more said of a chunk": (CHUNKED + b"2;a=b\r\n{}\r\n0\r\n\r\n", b"{}"),
    "with headers behind its chunks": (CHUNKED + b"2\r\n{}\r\n0\r\nX: y\r\n\r\n", b"{}"),
    "with the same length twice": (HEAD + b"Content-Length: 2, 2\r\n\r\n{}", b"{}"),
    "that would change its protocol": (
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"",
    ),
    "before another": (BODY + BODY, b"{}"),
    "before nonsense": (BODY + b"\0" * 100, b"{}"),
    "as long as may be": (
        HEAD + b"Content-Length: %d\r\n\r\n" % BODY_MAX + b"x" * BODY_MAX,
        b"x" * BODY_MAX,
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("at_a_time", [1, 1 << 20])
async def test_a_call_is_read_whole_and_answered_once(name: str, at_a_time: int) -> None:
    raw, body = CALLS[name]
    found, written = await heard(raw, at_a_time=max(at_a_time, len(raw) >> 10))
    assert isinstance(found, SkillCall)
    assert found.body == body
    assert written.startswith(b"HTTP/1.1 200 ")
    assert written.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in written.lower()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"HEAD /api/sdk/x HTTP/1.1\r\nHost: x\r\n\r\n", b"200"),
        (b"HEAD /api/sdk/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}", b"400"),
    ],
)
async def test_of_a_head_the_head_alone_is_answered(raw: bytes, status: bytes) -> None:
    _, written = await heard(raw)
    head, _, body = written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status)
    assert body == b""


NO_CALLS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "an empty line": b"\r\n",
    "many empty lines": b"\r\n" * 5_000,
    "zeros": b"\0" * 100,
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/3": b"GET / HTTP/3\r\nHost: x\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a tunnel": b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no path": b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    "a whole address": b"GET http://elsewhere.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method of bytes": b"G\xc3\x84T / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path of bytes": b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path with a zero": b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a header twice": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\nx: b\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost: x\r\nX\r\n\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
    "a space in a name": b"GET / HTTP/1.1\r\nHost: x\r\nX Y: a\r\n\r\n",
    "a zero in a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
    "a return in a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n",
    "a head that does not end": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "a head that is too long": b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    "half a body": HEAD + b"Content-Length: 9\r\n\r\n{}",
    "too long a body": HEAD + b"Content-Length: %d\r\n\r\n" % (BODY_MAX + 1),
    "a length of a thousand digits": HEAD + b"Content-Length: " + b"9" * 1_000 + b"\r\n\r\n",
    "a length that Python would not read": HEAD + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "a length with an underline": HEAD + b"Content-Length: 1_0\r\n\r\n0123456789",
    "a length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n",
    "a length in hex": HEAD + b"Content-Length: 0x2\r\n\r\n{}",
    "a length in other digits": HEAD + "Content-Length: ٢\r\n\r\n{}".encode(),
    "an empty length": HEAD + b"Content-Length: \r\n\r\n{}",
    "a space behind the name": HEAD + b"Content-Length : 2\r\n\r\n{}",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "two lengths in one": HEAD + b"Content-Length: 2, 3\r\n\r\n{}",
    "a length and chunks": HEAD
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another encoding": HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
    "two encodings": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "a chunk that is none": CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n",
    "a chunk of negative length": CHUNKED + b"-1\r\n{}\r\n0\r\n\r\n",
    "a chunk without its end": CHUNKED + b"2\r\n{}XX0\r\n\r\n",
    "a chunk as long as memory": CHUNKED + b"f" * 40 + b"\r\n{}",
    "chunks that do not end": CHUNKED + b"2\r\n{}\r\n",
    "chunks that are too long": CHUNKED + (b"ffff\r\n" + b"x" * 65_535 + b"\r\n") * 5,
}


@pytest.mark.parametrize("name", NO_CALLS)
async def test_bytes_that_are_no_call_are_refused_and_answered(name: str) -> None:
    raw = NO_CALLS[name]
    found, written = await heard(raw)
    assert isinstance(found, BadCallError)
    assert written.startswith(b"HTTP/1.1 400 ")
    assert written.count(b"HTTP/1.1 ") == 1


async def test_who_asks_before_the_body_is_told_to_go_on_once() -> None:
    reader, answers = asyncio.StreamReader(), Answers()
    asks = HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    caller = SkillConnection(reader, cast("Any", answers))
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(caller.call())
        reader.feed_data(asks)
        for _ in range(4):
            await asyncio.sleep(0)
        assert answers.written.startswith(b"HTTP/1.1 100 ")
        reader.feed_data(b"{}")
    assert call.result().body == b"{}"
    await caller.answer((200, b"{}"))
    assert answers.written.count(b"HTTP/1.1 100 ") == answers.written.count(b"HTTP/1.1 200 ") == 1
