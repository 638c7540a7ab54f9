"""Which line is closed, and when, without a socket."""

import resource
from types import SimpleNamespace
from typing import Any, cast

import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service_tui.server.http import connections
from service_tui.server.http.connections import (
    BACKLOG_MIN,
    CONNECTIONS_MAX,
    CONNECTIONS_MIN,
    HEAD_MAX,
    QUIET_S,
    TOO_LARGE,
    BoundedConnection,
    EncryptedConnection,
    HeadTooLargeError,
    PortServer,
    sweep,
)


class Wire:
    """A transport that notes what becomes of it."""

    def __init__(self, *, is_closing: bool = False) -> None:
        self.closing = is_closing
        self.done: list[object] = []

    def is_closing(self) -> bool:
        return self.closing

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.closing = True
        self.done.append("closed")

    def abort(self) -> None:
        self.closing = True
        self.done.append("aborted")


def cycle(*, complete: bool = False, more_body: bool = False) -> Any:
    return SimpleNamespace(response_complete=complete, more_body=more_body, transport=None)


class BareConnection(BoundedConnection):
    """A connection without a server; what uvicorn would do is noted."""

    def __init__(self, *others: "BareConnection", now: float = 100.0, **given: Any) -> None:
        self.loop: Any = SimpleNamespace(time=lambda: now)
        self.connections: Any = {self, *others}
        self.transport: Any = Wire()
        self.cycle: Any = None
        self.flow: Any = SimpleNamespace(write_paused=False)
        self.url, self.headers = b"/a", []
        self.passed: list[object] = []
        for name, value in given.items():
            setattr(self, name, value)


@pytest.fixture(autouse=True)
def _without_uvicorn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "connection_made", "data_received", "on_headers_complete", "on_body", "on_message_complete",
        "on_response_complete", "send_400_response",
    ):  # fmt: skip

        def passed(self: BareConnection, *given: object, name: str = name) -> None:
            self.passed.append((name, *given))

        monkeypatch.setattr(HttpToolsProtocol, name, passed)


# -- how many -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("descriptors", "lines", "queue"),
    [
        (-1, CONNECTIONS_MAX, 64), (1_000_000, CONNECTIONS_MAX, 64), (256, 128, BACKLOG_MIN),
        (300, 150, 18), (8, CONNECTIONS_MIN, BACKLOG_MIN),
    ],
)  # fmt: skip
def test_lines_and_their_queue_are_bounded_by_the_descriptors(
    monkeypatch: pytest.MonkeyPatch, descriptors: int, lines: int, queue: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, -1))
    assert (connections.connections_max(), connections.backlog()) == (lines, queue)


def joined(monkeypatch: pytest.MonkeyPatch, *others: BareConnection, most: int) -> BareConnection:
    monkeypatch.setattr(connections, "connections_max", lambda: most)
    one = BareConnection(*others)
    one.connection_made(one.transport)
    assert (one.passed, one.quiet_since) == ([("connection_made", one.transport)], 100.0)
    return one


def ended(*lines: BareConnection) -> list[bool]:
    return [line.transport.done == ["closed"] for line in lines]


def test_one_too_many_has_the_longest_silent_closed_and_never_asked_before_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, older = BareConnection(quiet_since=50.0), BareConnection(quiet_since=40.0)
    served = BareConnection(quiet_since=1.0, cycle=cycle(complete=True))
    new = joined(monkeypatch, old, older, served, most=3)
    assert ended(new, old, older, served) == [False, False, True, False]
    assert ended(*(joined(monkeypatch, BareConnection(), most=2), old)) == [False, False]
    # A request that is not whole keeps its line no longer than silence does.
    amid = BareConnection(quiet_since=1.0, requested_at=30.0, cycle=cycle(more_body=True))
    kept = BareConnection(quiet_since=60.0, cycle=cycle(complete=True))
    answered = BareConnection(quiet_since=0.5, cycle=cycle())
    monkeypatch.setattr(connections, "connections_max", lambda: 3)
    new = BareConnection(amid, kept, answered)
    new.cycle = None
    new.connection_made(new.transport)
    assert ended(new, amid, kept, answered) == [False, True, False, False]


def test_the_new_line_is_closed_while_all_others_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = [BareConnection(cycle=cycle()) for _ in range(2)]
    new = joined(monkeypatch, *busy, most=2)
    assert ended(new, *busy) == [True, False, False]


def test_a_line_that_is_closing_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = BareConnection(transport=Wire(is_closing=True))
    new = joined(monkeypatch, gone, cast("Any", object()), most=1)
    assert ended(new, gone) == [False, False]


# -- how long -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cycle_now", "quiet", "waits"),
    [
        (None, True, True), (cycle(complete=True), True, True),
        (cycle(more_body=True), False, True), (cycle(), False, False),
    ],
)  # fmt: skip
def test_a_client_is_waited_for_while_it_has_something_to_send(
    cycle_now: Any, *, quiet: bool, waits: bool
) -> None:
    line = BareConnection(cycle=cycle_now)
    assert (line.is_quiet(), line.keeps_waiting()) == (quiet, waits)


def test_who_sends_nothing_is_overdue_after_a_while() -> None:
    line = BareConnection(quiet_since=10.0, stuck_since=3.0)
    assert not line.is_overdue(10.0 + QUIET_S)
    assert line.is_overdue(10.1 + QUIET_S)
    assert line.stuck_since is None


def test_who_reads_nothing_of_an_answer_is_overdue_after_a_while() -> None:
    line = BareConnection(quiet_since=0.0, cycle=cycle())
    assert not line.is_overdue(500.0), "an answer may take its time"
    line.flow.write_paused = True
    assert not line.is_overdue(500.0)
    assert not line.is_overdue(500.0 + QUIET_S)
    assert line.is_overdue(500.1 + QUIET_S)
    # It reads on: the time begins anew.
    line.flow.write_paused = False
    assert not line.is_overdue(900.0)
    line.flow.write_paused = True
    assert not line.is_overdue(901.0)


def test_those_who_are_overdue_are_cut_off_and_the_others_left() -> None:
    late, early = BareConnection(quiet_since=1.0), BareConnection(quiet_since=99.0)
    closing = BareConnection(quiet_since=1.0, transport=Wire(is_closing=True))
    sweep([late, early, closing, object()], 100.0)
    assert [one.transport.done for one in (late, early, closing)] == [["aborted"], [], []]


# -- how much -----------------------------------------------------------------------------------


def test_a_head_that_does_not_end_is_refused_at_its_bound() -> None:
    line = BareConnection()
    line.data_received(b"x" * HEAD_MAX)
    assert line.transport.done == []
    line.data_received(b"x")
    assert line.transport.done == [TOO_LARGE, "closed"]
    line.data_received(b"x")
    assert line.transport.done == [TOO_LARGE, "closed"]
    assert [name for name, _ in line.passed] == ["data_received"] * 3


@pytest.mark.parametrize("too_much", [0, 1])
def test_a_whole_head_is_counted_with_its_names_and_values(too_much: int) -> None:
    line = BareConnection(url=b"/abc", headers=[(b"name", b"v" * 92)], unread=7)
    line.headers.append((b"n", b"v" * (HEAD_MAX - 101 + too_much)))
    if too_much:
        with pytest.raises(HeadTooLargeError):
            line.on_headers_complete()
        line.send_400_response("bad")
        assert (line.transport.done, line.passed) == ([TOO_LARGE, "closed"], [])
        return
    line.cycle = cycle()
    line.on_headers_complete()
    assert (line.requested_at, line.unread, line.passed) == (100.0, 0, [("on_headers_complete",)])
    assert line.cycle.transport._transport is line.transport
    line.send_400_response("bad")
    assert line.passed[-1] == ("send_400_response", "bad")


def test_what_was_understood_counts_no_more() -> None:
    line = BareConnection(unread=9)
    line.on_body(b"x")
    assert (line.unread, line.passed) == (0, [("on_body", b"x")])
    line.unread = 9
    line.on_message_complete()
    assert (line.unread, line.passed[-1]) == (0, ("on_message_complete",))
    line.on_response_complete()
    assert (line.quiet_since, line.passed[-1]) == (100.0, ("on_response_complete",))


# -- handshakes ---------------------------------------------------------------------------------


def handshake(handshaking: dict[Any, None], *, is_done: bool = False) -> Any:
    """A TLS layer without TLS; its wire is there from the beginning."""
    layer = EncryptedConnection.__new__(EncryptedConnection)
    layer._connection = cast("Any", SimpleNamespace(quiet_since=float(is_done)))
    layer._handshaking, layer._below = handshaking, None
    return layer


def test_of_too_many_handshakes_the_oldest_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr(connections, "backlog", lambda: 2)
    ssl = connections.SSLProtocol
    monkeypatch.setattr(ssl, "connection_made", lambda self, wire: begun.append((self, wire)))
    monkeypatch.setattr(ssl, "connection_lost", lambda self, why: begun.append((self, why)))
    monkeypatch.setattr(connections.asyncio, "Transport", Wire)
    waiting: dict[Any, None] = {}
    layers = [handshake(waiting) for _ in range(4)]
    wires = [Wire() for _ in layers]
    for layer, wire in zip(layers[:2], wires, strict=False):
        layer.connection_made(wire)
    assert begun == [*zip(layers[:2], wires, strict=False)]
    assert [*waiting] == layers[:2]
    layers[2].connection_made(wires[2])
    assert ([*waiting], wires[0].done, wires[1].done) == (layers[1:3], ["aborted"], [])
    # One whose handshake is done is waited for no more, and counted above.
    layers[1]._connection.quiet_since = 5.0
    layers[3].connection_made(wires[3])
    assert ([*waiting], wires[1].done) == (layers[2:], [])
    layers[3].connection_lost(None)
    layers[3].connection_lost(None)
    assert ([*waiting], begun[-1]) == ([layers[2]], (layers[3], None))


# -- the end ------------------------------------------------------------------------------------


async def test_a_server_that_is_told_to_end_accepts_nobody_and_closes_its_port() -> None:
    server = PortServer.__new__(PortServer)
    closed: list[str] = []
    server.servers = [cast("Any", SimpleNamespace(close=lambda: closed.append("server")))]
    server.server_state = cast("Any", SimpleNamespace(connections=set(), tasks=set()))
    port = SimpleNamespace(close=lambda: closed.append("port"))
    await server.shutdown([cast("Any", port)])
    await server.shutdown()
    assert closed == ["server", "port", "server"]
