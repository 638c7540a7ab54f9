"""Who only opens lines, never ends a request, or reads nothing, shuts nobody out."""

import asyncio
import json
import logging
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
import uvicorn
from starlette.applications import Starlette

from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.engine.events import AgentChanged
from service_tui.server.events import stream
from service_tui.server.events.stream import streams_of
from service_tui.server.http import connections
from service_tui.server.http.connections import (
    CONNECTIONS_MAX,
    CONNECTIONS_MIN,
    allow_connections,
)
from service_tui.server.http.loopback import bind, listen
from service_tui.units import Timestamp
from service_tui.wire.endpoints.desk import EVENTS
from service_tui.wire.endpoints.public import HEALTH, TROUBLESHOOT

WAIT_S: Final = 60
HEALTHY: Final = f"GET {HEALTH.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
UNENDED: Final = (
    f"POST {TROUBLESHOOT.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n"
    "Content-Type: application/json\r\n\r\n{"
).encode()
HALF_A_HEAD: Final = b"GET /api/sdk/health HTTP/1.1\r\nHost: local"
NO_KEY: Final = UNENDED.replace(TROUBLESHOOT.path.encode(), b"/api/sdk/trade")
STREAM: Final = (
    f"GET {EVENTS.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OPERATOR}\r\n\r\n"
).encode()

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def opened(url: str, said: bytes = b"", limit: int = 2**16) -> Pair:
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=limit)
    writer.write(said)
    await writer.drain()
    return reader, writer


async def is_ended(pair: Pair) -> bool:
    """Whether the service lets go of the line, by whichever way."""
    with suppress(ConnectionError):
        async with asyncio.timeout(WAIT_S):
            while await pair[0].read(65_536):
                pass
    return True


async def healthy(url: str) -> bool:
    reader, writer = await opened(url, HEALTHY)
    async with asyncio.timeout(WAIT_S):
        said = await reader.readuntil(b"\r\n")
    writer.close()
    return b" 200 " in said


def test_lines_take_at_most_half_of_the_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, most, queue in (
        (-1, 512, 64),
        (20_000, 512, 64),
        (256, 128, 16),
        (300, 150, 18),
        (8, 16, 16),
    ):
        monkeypatch.setattr("resource.getrlimit", lambda _, soft=soft: (soft, soft))
        assert (connections.connections_max(), connections.backlog()) == (most, queue)


def test_the_longest_silent_is_closed_first_and_who_never_asked_before_all() -> None:
    never = [connections.closing_order(at, 0.0, has_asked=False) for at in (40.0, 50.0)]
    # A request that is not whole keeps its line no longer than silence does.
    amid = connections.closing_order(1.0, 30.0, has_asked=True)
    answered = connections.closing_order(60.0, 20.0, has_asked=True)
    assert sorted([answered, amid, *reversed(never)]) == [*never, amid, answered]


@pytest.mark.slow
async def test_idle_lines_make_room_for_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "connections_max", lambda: 16)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        # Of those who ask, nobody is put out.
        asking = await opened(url, STREAM)
        await asking[0].readuntil(b"ready")
        idle: list[Pair] = []
        for _ in range(5):
            # Several at once, so that several are let go in the same moment.
            async with asyncio.TaskGroup() as tasks:
                opening = [tasks.create_task(opened(url)) for _ in range(8)]
            idle += [task.result() for task in opening]
            assert await healthy(url)
        await ends_of(idle, 24)
        assert not asking[0].at_eof()
        stage.sim.service.world_store.events.beat()
        async with asyncio.timeout(WAIT_S):
            await asking[0].readuntil(b"beat")
        for _, writer in (asking, *idle):
            writer.close()


@pytest.mark.slow
@pytest.mark.parametrize("said", [UNENDED, HEALTHY, HALF_A_HEAD, NO_KEY])
async def test_whoever_holds_lines_open_keeps_nobody_from_asking(
    said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "connections_max", lambda: 16)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        held = [await opened(url, said) for _ in range(20)]
        for _ in range(3):
            assert await healthy(url)
        for _, writer in held:
            writer.close()


@pytest.mark.slow
async def test_a_person_has_so_many_streams_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "STREAMS_MAX", 3)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        held = [await opened(url, STREAM) for _ in range(stream.STREAMS_MAX)]
        for reader, _ in held:
            await reader.readuntil(b"ready")
        more = await opened(url, STREAM)
        assert b" 429 " in await more[0].readuntil(b"\r\n")
        # Others are not held back by them, and one that ended makes room.
        assert await healthy(url)
        held[0][1].transport.abort()
        async with asyncio.timeout(WAIT_S):
            while len(streams_of(stage.sim.app)) == len(held):  # noqa: ASYNC110 - no event of its own
                await asyncio.sleep(0.01)
        again = await opened(url, STREAM)
        assert b" 200 " in await again[0].readuntil(b"\r\n")
        for _, writer in (*held, more, again):
            writer.close()


async def ends_of(pairs: list[Pair], wanted: int) -> None:
    """Wait until so many of the lines have ended."""
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        pending = {tasks.create_task(is_ended(pair)) for pair in pairs}
        while len(pairs) - len(pending) < wanted:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for reading in pending:
            reading.cancel()


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", HALF_A_HEAD, UNENDED])
async def test_a_request_that_never_ends_is_let_go(
    said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "QUIET_S", 0.2)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        pair = await opened(url, said)
        assert await is_ended(pair)
        assert await healthy(url)
        pair[1].close()


@pytest.mark.slow
async def test_who_reads_nothing_of_an_answer_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "QUIET_S", 0.2)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        reading, stuck = await opened(url, STREAM), await opened(url, STREAM, limit=1)
        for pair in (reading, stuck):
            await pair[0].readexactly(1)
        async with asyncio.TaskGroup() as tasks:
            heard = tasks.create_task(is_ended(reading))
            await asyncio.wait_for(told_too_much(stage), WAIT_S)
            # Whoever reads is not put out.
            assert not heard.done()
            for _, writer in (reading, stuck):
                writer.transport.abort()


async def told_too_much(stage: Stage) -> None:
    """Tell more than all buffers on the way hold, until only one of two streams is left."""
    assert len(streams_of(stage.sim.app)) == 2
    many = {f"{count}{'a' * 190}": count for count in range(20)}
    event = AgentChanged(stage.agent_id, Timestamp(1.0), many)
    for seq in range(10**6, 2 * 10**6):
        if len(streams_of(stage.sim.app)) == 1:
            return
        stage.sim.service.world_store.events.publish([(seq, event)])
        await asyncio.sleep(0.001)


@pytest.mark.slow
async def test_nonsense_on_the_wire_fills_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        for said in (
            b"\x16\x03\x01\r\n\r\n",
            STREAM.replace(b"Host", b"Upgrade: websocket\r\nHost"),
        ):
            pair = await opened(url, said)
            await pair[0].readuntil(b"\r\n")
            pair[1].transport.abort()
    assert not [one for one in caplog.records if one.name.startswith("uvicorn")]


HEADS = {
    "one header without an end": b"GET /api/sdk/health HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    "a line without an end": b"GET /api/sdk/health?q=",
    "headers without an end": b"GET /api/sdk/health HTTP/1.1\r\nHost: localhost\r\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HEADS)
async def test_a_head_without_an_end_is_refused(tmp_path: Path, name: str) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        reader, writer = await opened(url, HEADS[name])
        piece = b"X-More: of the same\r\n" * 200 if "headers" in name else b"a" * 4_000
        with suppress(ConnectionError):
            for _ in range(200):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionError):
                assert (await reader.read(65_536)).startswith(b"HTTP/1.1 431 ")
        assert await is_ended((reader, writer))
        assert await healthy(url)


@pytest.mark.slow
async def test_a_whole_head_that_is_too_large_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        body = b'{"name": "heron"}'
        head = (
            b"POST /api/sdk/agents/register HTTP/1.1\r\nHost: localhost\r\nX-Long: %s\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        )
        reader, writer = await opened(url, head % (b"a" * 66_000, len(body), body))
        async with asyncio.timeout(WAIT_S):
            said = await reader.read(65_536)
        assert said.startswith(b"HTTP/1.1 431 ")
        assert b'"fix"' in said
        assert len(stage.world.agents) == 1
        writer.close()
        reader, writer = await opened(url, head % (b"a" * 30_000, len(body), body))
        async with asyncio.timeout(WAIT_S):
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        writer.close()


@pytest.mark.slow
async def test_what_follows_a_body_is_bounded_too(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        head = (
            b"POST /api/sdk/troubleshoot HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        )
        pair = await opened(url, head + b"X-Trailer: ")
        with suppress(ConnectionError):
            for _ in range(200):
                pair[1].write(b"a" * 4_000)
                await pair[1].drain()
                await asyncio.sleep(0)
        assert await is_ended(pair)
        assert await healthy(url)


@pytest.mark.slow
async def test_a_port_that_nobody_uses_is_closed_without_a_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: object) -> None:
        raise AssertionError("uvicorn's own end waits a tenth of a second")

    monkeypatch.setattr(uvicorn.Server, "shutdown", slow)
    async with open_stage(tmp_path) as stage:
        async with listen(stage.sim.app) as url:
            pass
        with pytest.raises(ConnectionError):
            await opened(url)


@pytest.mark.parametrize("turns", range(4))
async def test_whoever_was_just_let_in_is_not_left_waiting_at_the_end(turns: int) -> None:
    app, listener = Starlette(), bind()
    setattr(app.state, stream.STATE, stream.OpenStreams())
    with suppress(ConnectionResetError):
        async with listen(app, listener=listener):
            caller = socket.create_connection(listener.getsockname())
            for _ in range(turns):
                await asyncio.sleep(0)
        with caller:
            caller.settimeout(5)
            assert caller.recv(1) == b""


@pytest.mark.slow
async def test_whoever_is_being_answered_at_the_end_gets_the_answer(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, asyncio.TaskGroup() as tasks:
        async with listen(stage.sim.app) as url:
            asking = tasks.create_task(healthy(url))
            for _ in range(20):
                await asyncio.sleep(0)
        assert await asking


class Wire(asyncio.Transport):
    """Keeps what is sent, one entry a send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_closed
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


async def test_head_and_body_of_an_answer_are_sent_together() -> None:
    wire = Wire()
    answer = connections.AnswerTransport(wire, asyncio.get_running_loop())
    answer.write(b"head ")
    assert wire.sent == []
    answer.write(b"body")
    answer.write(b" and more")
    await asyncio.sleep(0)
    assert wire.sent == [b"head body", b" and more"]


async def test_a_head_without_a_body_is_sent_at_the_end_of_the_turn_or_before_the_close() -> None:
    for closes in (False, True):
        wire = Wire()
        answer = connections.AnswerTransport(wire, asyncio.get_running_loop())
        answer.write(b"head")
        if closes:
            answer.close()
        await asyncio.sleep(0)
        assert (wire.sent, answer.is_closing()) == ([b"head"], closes)


@pytest.mark.slow
async def test_requests_sent_together_are_answered_whole_and_in_their_order(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        nowhere = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
        head = HEALTHY.replace(b"GET", b"HEAD")
        last = HEALTHY.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        reader, writer = await opened(url, HEALTHY + nowhere + head + HEALTHY + last)
        said = await asyncio.wait_for(reader.read(), WAIT_S)
        writer.close()
    statuses = re.findall(rb"HTTP/1\.1 (\d+)", said)
    assert statuses == [b"200", b"404", b"405", b"200", b"200"]


@pytest.mark.slow
async def test_a_caller_too_many_is_answered_in_a_sentence(tmp_path: Path) -> None:
    usual = CONNECTIONS_MAX
    allow_connections(CONNECTIONS_MIN)
    try:
        async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
            streams = [await opened(url, STREAM) for _ in range(CONNECTIONS_MIN)]
            for reader, _ in streams:
                assert b" 200 " in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT_S)
            refused = await opened(url, HEALTHY)
            said = await asyncio.wait_for(refused[0].read(), WAIT_S)
            head, _, body = said.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1" in head
            assert json.loads(body)["retryable"] is True
            # There is room again once one of them is gone; who still reads a refusal takes none.
            reading = [await opened(url) for _ in range(3)]
            for reader, _ in reading:
                assert b" 503 " in await asyncio.wait_for(reader.readuntil(b"\r\n"), WAIT_S)
            streams[0][1].transport.abort()
            await asyncio.sleep(0.1)
            served = await opened(url, HEALTHY)
            assert b" 200 " in await asyncio.wait_for(served[0].readuntil(b"\r\n"), WAIT_S)
            for _, writer in (*streams, *reading, refused, served):
                writer.transport.abort()
    finally:
        allow_connections(usual)
