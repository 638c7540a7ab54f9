"""One listener, and the hub that hands on what happened."""

import asyncio
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from kit.service.heard import heard
from service_tui.engine.events import Event, SpeedSet, Ticked
from service_tui.engine.world import World
from service_tui.server.events.listeners import EventHub, Subscription
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.events import EventBody

AT: Final = Timestamp(1_800_000_000.0)


def body(seq: int) -> EventBody:
    return EventBody(kind="speed", seq=seq, at=moment(AT), speed=1)


def hub() -> EventHub:
    world = World(7, AT, TOPICS)
    return EventHub(lambda: world, 100)


def speeds(*numbers: int) -> list[tuple[int, Event]]:
    return [(seq, SpeedSet(AT, AT, 1)) for seq in numbers]


async def told(listener: Subscription) -> list[tuple[str, int]]:
    return [(one.kind, one.seq) for one in await heard(listener)]


async def test_a_listener_waits_until_something_happens() -> None:
    one = Subscription(lambda _: None)
    async with asyncio.TaskGroup() as tasks:
        waits = tasks.create_task(one.next())
        await asyncio.sleep(0)
        assert not waits.done()
        one.put(body(5))
        assert await waits == [body(5)]
        waits = tasks.create_task(one.next())
        await asyncio.sleep(0)
        one.beat()
        assert await waits == []


async def test_a_listener_who_waits_is_woken_by_the_end() -> None:
    left: list[Subscription] = []
    one = Subscription(left.append)

    async def listen() -> None:
        with pytest.raises(StopAsyncIteration):
            await one.next()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(listen())
        await asyncio.sleep(0)
        one.end()
    assert left == [one]


async def test_what_waits_at_the_end_is_still_heard_and_then_nothing() -> None:
    one = Subscription(lambda _: None)
    one.put(body(5))
    one.end()
    assert [said.seq async for said in one] == [5]
    with pytest.raises(StopAsyncIteration):
        await one.next()


async def test_who_leaves_the_block_listens_no_more() -> None:
    one = hub()
    async with one.subscribe(AT) as listener:
        one.publish(speeds(101))
        assert await told(listener) == [("ready", 100), ("speed", 101)]
    one.publish(speeds(102))
    assert await told(listener) == []


async def test_a_new_listener_begins_at_the_last_number() -> None:
    one = hub()
    one.publish([*speeds(101), (102, Ticked(AT, AT, ()))])
    (ready,) = await heard(one.subscribe(AT))
    assert (ready.kind, ready.seq, ready.at) == ("ready", 102, moment(AT))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (99, [("reset", 103)]),
        (100, [("ready", 100), ("speed", 101), ("speed", 103)]),
        (101, [("ready", 101), ("speed", 103)]),
        (102, [("ready", 102), ("speed", 103)]),
        (103, [("ready", 103)]),
        (104, [("reset", 103)]),
        (-1, [("reset", 103)]),
    ],
)
async def test_who_comes_back_hears_what_came_after_the_number_it_knew(
    after: int, expected: list[tuple[str, int]]
) -> None:
    one = hub()
    one.publish([*speeds(101), (102, Ticked(AT, AT, ())), *speeds(103)])
    assert await told(one.subscribe(AT, after)) == expected


async def test_followers_get_all_that_happened_also_what_no_listener_is_told() -> None:
    one = hub()
    followed: list[object] = []
    one.followers.append(followed.append)
    batch = [*speeds(101), (102, Ticked(AT, AT, ()))]
    listener = one.subscribe(AT)
    one.publish(batch)
    assert followed == [batch]
    assert await told(listener) == [("ready", 100), ("speed", 101)]


async def test_after_a_reading_back_nothing_from_before_is_handed_out() -> None:
    one = hub()
    listener = one.subscribe(AT)
    one.publish(speeds(101, 102))
    one.start_over(90, AT)
    assert (await told(listener))[-1] == ("reset", 90)
    assert await told(one.subscribe(AT, 89)) == [("reset", 90)]
    assert await told(one.subscribe(AT, 90)) == [("ready", 90)]
    assert await told(one.subscribe(AT, 101)) == [("reset", 90)]
    one.publish(speeds(91))
    assert await told(listener) == [("speed", 91)]
    assert await told(one.subscribe(AT, 90)) == [("ready", 90), ("speed", 91)]


async def test_the_close_ends_every_subscription() -> None:
    one = hub()
    listeners = [one.subscribe(AT) for _ in range(3)]
    one.close()
    one.publish(speeds(101))
    assert [[said.kind async for said in listener] for listener in listeners] == [["ready"]] * 3
