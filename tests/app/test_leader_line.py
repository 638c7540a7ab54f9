"""What a follower sends to its leader: each call once, to the letter, at a flat cost."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from kit.ports import until_closed
from kit.service.followed import at_port
from service_tui.app.edge import Edge
from service_tui.server.http.loopback import address_of

WAIT_S = 60
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
MARK = b"x-world-forwarded: 1\r\n"
HOST = b"host: 127.0.0.1\r\n"


@dataclass
class Leader:
    """A port that answers each call by what `say` makes of it; an empty answer hangs up."""

    say: Callable[[bytes], bytes]
    takes_s: float = 0.0
    asked: list[bytes] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while answer := await self._answer(reader):
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        self.asked.append(head + await reader.readexactly(int(size or 0)))
        await asyncio.sleep(self.takes_s)
        return self.say(self.asked[-1])


@asynccontextmanager
async def following(say: Callable[[bytes], bytes]) -> AsyncGenerator[tuple[Leader, str]]:
    """A leader, and the address of a process that follows it."""
    leader = Leader(say)
    server = await asyncio.start_server(leader.serve, "127.0.0.1", 0)
    edge = Edge(lambda: address_of(server.sockets[0]))
    async with until_closed(server), at_port(edge) as address, aclosing(edge):
        yield leader, address


class Caller:
    """One connection of a caller."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return int(head.split()[1]), await self.reader.readexactly(int(size))


@asynccontextmanager
async def caller(address: str) -> AsyncGenerator[Caller]:
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    async with asyncio.timeout(WAIT_S):
        yield Caller(reader, writer)
    writer.close()


async def test_a_call_reaches_the_leader_to_the_letter() -> None:
    answer = b"HTTP/1.1 201 Created\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nraw"
    sent = HOST + b"x-own: \xc3\xa4\r\nx-own: b\r\ncookie: a=1\r\n"
    async with following(lambda _: answer) as (leader, address), caller(address) as one:
        for line, body, size in (
            (b"POST /api/a%2Fb/../c?x=%2f&y=+ HTTP/1.1\r\n", b"{}", b"content-length: 2\r\n"),
            (b"GET /api/sdk/health HTTP/1.1\r\n", b"", b""),
            (b"DELETE /api/sdk/orders HTTP/1.1\r\n", b"{}", b"content-length: 2\r\n"),
        ):
            assert await one.ask(line + sent + size + b"\r\n" + body) == (201, b"raw")
            assert leader.asked.pop() == line + sent + size + MARK + b"\r\n" + body


async def test_a_call_that_the_leader_may_have_taken_is_never_sent_again() -> None:
    def say(call: bytes) -> bytes:
        return b"" if b"/orders" in call else OK

    async with following(say) as (leader, address), caller(address) as one:
        for method in (b"POST", b"DELETE", b"PUT", b"PATCH"):
            # The connection is kept, and breaks at the call that counts.
            assert (await one.ask(b"GET /api/sdk/health HTTP/1.1\r\n" + HOST + b"\r\n"))[0] == 200
            leader.asked.clear()
            line = method + b" /api/sdk/orders HTTP/1.1\r\n"
            status, body = await one.ask(line + HOST + b"content-length: 2\r\n\r\n{}")
            assert (status, b"may have been carried out" in body) == (502, True)
            assert len(leader.asked) == 1


async def test_a_body_that_waits_to_be_asked_for_goes_on_without_a_question() -> None:
    async with following(lambda _: OK) as (leader, address), caller(address) as one:
        one.writer.write(
            b"POST /api/sdk/trade HTTP/1.1\r\n"
            + HOST
            + b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n"
        )
        assert b" 100 " in await one.reader.readuntil(b"\r\n\r\n")
        assert (await one.ask(b"{}"))[0] == 200
        assert b"expect" not in leader.asked[0]


async def test_a_header_whose_bytes_are_no_text_is_refused_and_not_changed() -> None:
    async with following(lambda _: OK) as (leader, address), caller(address) as one:
        key = b"idempotency-key: \xe4\r\ncontent-length: 0\r\n\r\n"
        status, body = await one.ask(b"POST /api/sdk/trade HTTP/1.1\r\n" + HOST + key)
        assert (status, b"no text" in body, leader.asked) == (400, True, [])


@pytest.mark.parametrize("line", [b"GET *@127.0.0.1:%d/x", b"OPTIONS *"])
async def test_a_target_that_is_no_path_is_refused(line: bytes) -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)
        writer.close()

    other = await asyncio.start_server(hear, "127.0.0.1", 0)
    line = line % other.sockets[0].getsockname()[1] if b"%d" in line else line
    async with (
        until_closed(other),
        following(lambda _: OK) as (leader, address),
        caller(address) as one,
    ):
        status, _ = await one.ask(line + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (status, heard, leader.asked) == (400, [], [])


async def test_a_stream_passes_piece_by_piece_and_its_end_reaches_the_leader() -> None:
    begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n"
    async with following(lambda _: begun) as (leader, address):
        async with caller(address) as one:
            one.writer.write(b"GET /api/sdk/health HTTP/1.1\r\n" + HOST + b"\r\n")
            assert b" 200 " in await one.reader.readuntil(b"\r\n\r\n")
            assert await one.reader.readuntil(b"one\r\n") == b"3\r\none\r\n"
        await asyncio.wait_for(leader.gone.wait(), WAIT_S)


@pytest.mark.slow
async def test_a_call_among_many_costs_what_one_alone_costs() -> None:
    request = b"POST /api/sdk/trade HTTP/1.1\r\n" + HOST + b"content-length: 2\r\n\r\n{}"

    async def ask(address: str, times: int) -> None:
        async with caller(address) as one:
            for _ in range(times):
                assert (await one.ask(request))[0] == 200

    async def cost_of(address: str, callers: int, times: int) -> float:
        began = time.process_time()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(callers):
                tasks.create_task(ask(address, times))
        return time.process_time() - began

    async with following(lambda _: OK) as (leader, address):
        await cost_of(address, 1, 10)
        alone = await cost_of(address, 1, 1_000)
        # As a leader does that writes to a disk before it answers: the calls are open together.
        leader.takes_s = 0.02
        among = await cost_of(address, 200, 5)
        assert among < 2 * alone
