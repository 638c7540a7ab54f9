"""The stream over HTTP: its letters, its bounds, and its end."""

from collections.abc import Callable
from typing import Final

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import Message

from service_tui.server.events.listeners import Subscription
from service_tui.server.events.stream import (
    STATE,
    STREAMS_MAX,
    EventStream,
    OpenStreams,
    frame,
    last_event_seen,
    streams_of,
)
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.events import EventBody

AT: Final = Timestamp(1_800_000_000.0)


def subscription() -> Subscription:
    return Subscription(lambda _: None)


def body(seq: int) -> EventBody:
    return EventBody(kind="speed", seq=seq, at=moment(AT), speed=10)


def test_a_frame_has_the_number_the_kind_and_what_is_there() -> None:
    assert frame(body(7)) == (
        "id: 7\nevent: speed\n"
        'data: {"kind":"speed","seq":7,"at":"2027-01-15T08:00:00Z","speed":10}\n\n'
    )


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        (None, None),
        ("0", 0),
        ("42", 42),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, -1),
        ("", -1),
        ("-4", -1),
        ("4.0", -1),
        ("\u0664", -1),
        ("x", -1),
    ],
)
def test_the_number_of_the_last_event_heard_is_digits_or_nobodys(
    sent: str | None, known: int | None
) -> None:
    raw = [] if sent is None else [(b"last-event-id", sent.encode())]
    assert last_event_seen(Headers(raw=raw)) == known


def test_the_number_stands_in_the_header_of_the_format() -> None:
    assert last_event_seen(Headers({"Last-Event-ID": "12"})) == 12
    assert last_event_seen(Headers({"Last-Event": "12"})) is None


def test_a_person_may_have_so_many_streams_and_no_more() -> None:
    streams = OpenStreams()
    mine = [subscription() for _ in range(STREAMS_MAX)]
    for one in mine[:-1]:
        streams.add(one, "ann")
    streams.add(subscription(), "ben")
    assert streams.has_room("ann")
    streams.add(mine[-1], "ann")
    assert not streams.has_room("ann")
    assert streams.has_room("ben")
    assert streams.has_room("nobody")
    assert len(streams) == STREAMS_MAX + 1
    streams.remove(mine[3])
    assert streams.has_room("ann")
    assert len(streams) == STREAMS_MAX


async def test_a_stream_that_is_over_is_listened_to_no_more() -> None:
    left: list[Subscription] = []
    streams, one = OpenStreams(), Subscription(left.append)
    streams.add(one)
    streams.remove(one)
    streams.remove(one)
    assert left == [one, one]
    assert len(streams) == 0


async def test_the_end_of_the_server_ends_its_streams_and_lets_them_say_the_rest() -> None:
    streams, some = OpenStreams(), [subscription() for _ in range(3)]
    for one in some:
        one.put(body(7))
        streams.add(one)
    streams.end()
    assert [[said.seq async for said in one] for one in some] == [[7]] * 3


def test_an_app_without_streams_is_no_app_of_ours() -> None:
    app, streams = Starlette(), OpenStreams()
    with pytest.raises(TypeError):
        streams_of(app)
    setattr(app.state, STATE, streams)
    assert streams_of(app) is streams
    assert STATE == "streams"


async def sent(one: Subscription, may_listen: Callable[[], bool] = lambda: True) -> list[str]:
    """What goes over the line until the stream ends."""
    streams, parts = OpenStreams(), list[str]()
    answer = EventStream(one, streams, may_listen, "ann")

    async def receive() -> Message:
        raise AssertionError("nothing is read of who listens")

    async def send(message: Message) -> None:
        assert len(streams) == 1
        if message["type"] == "http.response.start":
            headers = Headers(raw=message["headers"])
            assert headers["content-type"].startswith("text/event-stream")
            assert headers["cache-control"] == "no-store"
            assert headers["x-accel-buffering"] == "no"
        else:
            parts.append(message["body"].decode())

    scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}}
    await answer(scope, receive, send)
    assert len(streams) == 0
    return [part for part in parts if part]


async def test_a_stream_says_when_to_come_back_and_then_what_happened() -> None:
    one = subscription()
    one.put(body(7))
    one.put(body(8))
    one.end()
    assert await sent(one) == ["retry: 1000\n\n", frame(body(7)) + frame(body(8))]


async def test_a_quiet_stream_sends_a_comment_as_its_sign_of_life() -> None:
    one = subscription()
    one.beat()
    one.end()
    assert await sent(one) == ["retry: 1000\n\n", ": beat\n\n"]


async def test_who_may_not_listen_any_more_is_told_nothing_more() -> None:
    one = subscription()
    one.put(body(7))
    assert await sent(one, lambda: False) == ["retry: 1000\n\n"]
