"""The event stream: what is told, when, in which order, and what becomes of slow listeners."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.engine.topics import TOPICS
from kit.service.heard import heard, kinds
from kit.service.stage import ANSWER_S, OPERATOR, SEED, Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.amm.exchange import Order
from service_tui.engine.events import SpeedSet
from service_tui.engine.world import World
from service_tui.server.embedded import BASE_URL
from service_tui.server.events.listeners import KEPT_MAX, LISTENERS_MAX, LOST, WAITING_MAX, EventHub
from service_tui.server.events.stream import frame, streams_of
from service_tui.server.http.loopback import listen
from service_tui.storage.errors import StorageError
from service_tui.storage.journal import JournalStore
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.desk import EVENTS, SET_SPEED
from service_tui.wire.endpoints.public import PATCH_AGENT, PLACE_TRADE, REGISTER
from service_tui.wire.events import EventBody

WAIT_S: Final = 10.0
AT: Final = Timestamp(1_800_000_000.0)
KEY: Final = {"Authorization": f"Bearer {OPERATOR}"}


async def buy(stage: Stage, dollars: int = 5, index: int = 0) -> str:
    market = stage.open_markets()[index]
    order = Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(dollars * ONE))
    fill = await stage.sim.service.world_store.place(order, stage.clock.now())
    return fill.trade_id


@pytest.mark.slow
async def test_a_listener_in_process_hears_of_each_thing_in_order(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        service = stage.sim.service
        async with service.subscribe() as events:
            ready = await anext(events)
            assert (ready.kind, ready.seq) == ("ready", service.world_store.seq)
            headers = {"Authorization": f"Bearer {stage.key}"}
            async with httpx.AsyncClient(
                transport=stage.sim.transport, base_url=BASE_URL, headers=headers
            ) as client:
                order = {
                    "market_id": stage.open_markets()[0].market_id,
                    "side": "no",
                    "amount": 12.5,
                    "source": "sdk:rain",
                    "skill_slug": "rain-maker",
                }
                bought = (await client.post(PLACE_TRADE.path, json=order)).json()
                joined = (await client.post(REGISTER.path, json={"name": "second"})).json()
                await client.patch(PATCH_AGENT.path, json={"name": "Ada"})
                await client.post(SET_SPEED.path, json={"speed": 10}, headers=KEY)
            fill, registered, changed, speed = [await anext(events) for _ in range(4)]
        assert fill.fill is not None
        assert fill.kind == "fill"
        assert fill.fill.trade_id == bought["trade_id"]
        assert (fill.fill.agent_id, fill.fill.agent_name) == (stage.agent_id, "tester")
        assert (fill.fill.side, fill.fill.action, fill.fill.money) == ("no", "buy", 12.5)
        assert fill.fill.shares == bought["shares_bought"]
        assert fill.fill.price == pytest.approx(bought["avg_price"])
        assert fill.fill.price_after == bought["new_price"]
        assert fill.fill.question == stage.open_markets()[0].listing.question
        assert (fill.fill.source, fill.fill.skill_slug) == ("sdk:rain", "rain-maker")
        assert registered.agent is not None
        assert registered.agent.agent_id == joined["agent_id"]
        assert registered.agent.status == "unclaimed"
        assert changed.agent is not None
        assert (changed.agent.name, changed.agent.changed) == ("Ada", ("name",))
        assert (speed.kind, speed.speed) == ("speed", 10)
        numbers = [ready.seq, fill.seq, registered.seq, changed.seq, speed.seq]
        assert numbers == sorted(set(numbers))


@pytest.mark.slow
async def test_nothing_is_told_before_it_is_on_disk(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        world_store = stage.sim.service.world_store
        events = stage.sim.service.subscribe()
        fill = stage.world.place(
            Order(
                stage.agent,
                stage.open_markets()[0].market_id,
                Side.YES,
                Action.BUY,
                Micros(5 * ONE),
            ),
            stage.clock.now(),
        )
        assert await kinds(events) == ["ready"]
        await world_store.commit((fill,))
        (said,) = await heard(events)
        assert (said.kind, said.seq) == ("fill", JournalStore(stage.at_rest).last_seq())


@pytest.mark.slow
async def test_what_was_refused_is_not_told_and_the_reading_back_is(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        world_store = stage.sim.service.world_store
        events = stage.sim.service.subscribe()
        world_store.distrust()
        with pytest.raises(StorageError):
            await buy(stage)
        assert await kinds(events) == ["ready"]
        await world_store.advance(Timestamp(stage.clock.now() + 1))
        assert await kinds(events) == ["reset"]
        await buy(stage)
        assert await kinds(events) == ["fill"]


@pytest.mark.slow
async def test_a_listener_who_was_away_too_long_starts_over(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        service = stage.sim.service
        await buy(stage)
        last = service.world_store.seq
        # Of before this start, of the future, and what is no number.
        for later in (-1 - last, 1, 10**17):
            events = service.subscribe(last + later)
            (said,) = await heard(events)
            assert (said.kind, said.seq) == ("reset", last)
            await buy(stage)
            assert await kinds(events) == ["fill"]
            last = service.world_store.seq


def hub() -> EventHub:
    world = World(SEED, AT, TOPICS)
    return EventHub(lambda: world, 100)


def speeds(first: int, count: int) -> list[tuple[int, SpeedSet]]:
    return [(seq, SpeedSet(AT, AT, 1)) for seq in range(first, first + count)]


async def test_only_the_last_events_are_kept() -> None:
    one = hub()
    one.publish(speeds(101, KEPT_MAX))
    events = one.subscribe(AT, 100)
    assert len(await heard(events)) == KEPT_MAX + 1 == WAITING_MAX
    one.publish(speeds(101 + KEPT_MAX, 1))
    assert await kinds(one.subscribe(AT, 100)) == ["reset"]
    assert len(await heard(one.subscribe(AT, 101))) == KEPT_MAX + 1


async def test_a_listener_of_a_new_world_hears_its_first_row() -> None:
    one = hub()
    one.start_over(0, AT)
    one.publish(speeds(1, 2))
    assert await kinds(one.subscribe(AT, 0)) == ["ready", "speed", "speed"]
    assert await kinds(one.subscribe(AT)) == ["ready"]
    # A row that is still to come is not one of this world.
    assert await kinds(one.subscribe(AT, 3)) == ["reset"]


async def test_a_slow_listener_is_told_so_and_let_go_while_others_hear_on() -> None:
    one = hub()
    slow, quick = one.subscribe(AT), one.subscribe(AT)
    for seq in range(101, 101 + WAITING_MAX + 5):
        one.publish(speeds(seq, 1))
        await heard(quick)
    (said,) = await heard(slow)
    # Right after what it never heard of: from there it goes on when it returns.
    assert (said.kind, said.speed, said.seq) == ("reset", None, 100 + WAITING_MAX)
    assert [body.kind async for body in slow] == []
    assert await kinds(one.subscribe(AT, said.seq)) == ["ready", *["speed"] * 5]
    one.publish(speeds(9_000, 1))
    assert await kinds(quick) == ["speed"]


async def test_of_too_many_listeners_the_oldest_starts_over() -> None:
    one = hub()
    many = [one.subscribe(AT) for _ in range(LISTENERS_MAX + 1)]
    assert [body.kind async for body in many[0]] == ["ready", "reset"]
    one.publish(speeds(101, 1))
    assert [await kinds(listener) for listener in many[1:]] == [["ready", "speed"]] * LISTENERS_MAX


async def test_what_waits_is_handed_over_together_within_a_bound() -> None:
    one = hub()
    events = one.subscribe(AT)
    one.publish(speeds(101, 5))
    assert [body.seq for body in await events.next(4)] == [100, 101, 102, 103]
    assert [body.seq for body in await events.next(4)] == [104, 105]


# -- over the line -------------------------------------------------------------------------


class Line:
    """A stream as a client reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def block(self) -> dict[str, str]:
        """The fields up to the next empty line; a comment under the empty name."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(WAIT_S):
            async for line in self._lines:
                if not line:
                    return fields
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        raise EOFError

    async def event(self) -> EventBody:
        fields = await self.block()
        while "data" not in fields:
            fields = await self.block()
        body = EventBody.model_validate_json(fields["data"])
        assert (fields["id"], fields["event"]) == (str(body.seq), body.kind)
        return body


@asynccontextmanager
async def line_to(url: str, **headers: str) -> AsyncGenerator[Line]:
    async with (
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=WAIT_S) as client,
        client.stream("GET", EVENTS.path, headers=KEY | headers) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-accel-buffering"] == "no"
        yield Line(response)


@pytest.mark.slow
async def test_two_consoles_hear_of_the_same_trade(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        listen(stage.sim.app) as url,
        line_to(url) as first,
        line_to(url) as second,
    ):
        assert await first.block() == {"retry": "1000"}
        assert [(await line.event()).kind for line in (first, second)] == ["ready", "ready"]
        trade_id = await buy(stage)
        heard = [await line.event() for line in (first, second)]
        assert heard[0] == heard[1]
        assert heard[0].fill is not None
        assert heard[0].fill.trade_id == trade_id


@pytest.mark.slow
async def test_only_the_operator_listens(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path) as stage,
        listen(stage.sim.app) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=ANSWER_S) as client,
    ):
        for headers in ({}, {"Authorization": f"Bearer {stage.key}"}):
            answer = await client.get(EVENTS.path, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["fix"]
        answer = await client.get(EVENTS.path, headers={**KEY, "Origin": url})
        assert answer.status_code == 403
        assert len(streams_of(stage.sim.app)) == 0


@pytest.mark.slow
async def test_who_hangs_up_is_forgotten(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, listen(stage.sim.app) as url:
        streams = streams_of(stage.sim.app)
        async with line_to(url) as line:
            await line.event()
            assert len(streams) == 1
        async with asyncio.timeout(WAIT_S):
            while len(streams):  # noqa: ASYNC110  (the server's side of a line has no event)
                await asyncio.sleep(0.01)


async def follow(url: str, started: asyncio.Event) -> list[str]:
    """Every kind that is heard until the other side ends the stream."""
    heard: list[str] = []
    async with line_to(url) as line:
        with suppress(EOFError):
            while True:
                heard.append((await line.event()).kind)
                started.set()
    return heard


@pytest.mark.slow
async def test_the_end_of_the_line_ends_its_streams_at_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, asyncio.TaskGroup() as tasks:
        inside, started = stage.sim.service.subscribe(), asyncio.Event()
        async with listen(stage.sim.app) as url:
            following = tasks.create_task(follow(url, started))
            await started.wait()
            await buy(stage)
            assert not following.done()
        assert await following == ["ready", "fill"]
        # Who listens in process hears on: only the line has ended.
        await buy(stage)
        assert await kinds(inside) == ["ready", "fill", "fill"]


def test_what_marks_missed_events_leaves_no_part_of_any_behind() -> None:
    assert set(LOST) | {"seq", "at"} == set(EventBody.model_fields)


def test_a_frame_has_one_line_of_data_whatever_the_names_are() -> None:
    body: dict[str, Any] = {
        "kind": "agent_changed",
        "seq": 3,
        "at": "2026-01-01T00:00:00Z",
        "agent": {
            "agent_id": "a",
            "name": "x\u2028\u2029\u0085 y",
            "status": "active",
            "plan": "pro",
            "claimed": True,
            "trading_paused": False,
            "suspended": False,
        },
    }
    text = frame(EventBody.model_validate_json(json.dumps(body)))
    assert text.startswith("id: 3\nevent: agent_changed\ndata: {")
    assert len(text.splitlines()) == 4
    assert text.endswith("}\n\n")


@pytest.mark.slow
async def test_a_trade_is_told_within_the_second(tmp_path: Path) -> None:
    clock = ManualClock()
    async with (
        open_stage(tmp_path, clock, speed=0) as stage,
        listen(stage.sim.app) as url,
        line_to(url) as line,
    ):
        await line.event()
        # No clock has to move: what is committed is on its way.
        before = clock.monotonic()
        await buy(stage)
        assert (await line.event()).kind == "fill"
        assert clock.monotonic() == before
