"""The store of the world: acknowledged writes, failing disks, and restarts."""

import asyncio
import json
import random
import shutil
import sqlite3
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.desk.faults import broken_disk
from kit.engine.topics import TOPICS
from kit.service.stage import OPERATOR, Stage, open_directory, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.events import Note
from service_tui.engine.world import World
from service_tui.server import world_store as keeper_room
from service_tui.server.embedded import BASE_URL
from service_tui.server.world_store import begin, restore
from service_tui.storage.ended_markets import EndedMarkets
from service_tui.storage.errors import StorageError, StorageFullError
from service_tui.terms import Action, Plan, Side
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.endpoints.public import (
    AGENT,
    HEALTH,
    PATCH_AGENT,
    PLACE_TRADE,
    POSITIONS,
    REGISTER,
    TRADES,
)

LONG: Final = "why " * 900
"""A reasoning that does not fit on the pages that the database has already."""


def order_of(stage: Stage, dollars: int = 5, index: int = 0) -> Order:
    market = stage.open_markets()[index]
    return Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(dollars * ONE))


def text_of(world: World) -> str:
    # A tape that is paused lets wall time pass without a row.
    return dumps(fields_of(world) | {"at": 0.0})


@asynccontextmanager
async def caller(stage: Stage) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {stage.key}"}
    async with httpx.AsyncClient(
        transport=stage.sim.transport, base_url=BASE_URL, headers=headers
    ) as client:
        yield client


async def buy(stage: Stage, client: httpx.AsyncClient, index: int = 0) -> httpx.Response:
    market_id = stage.open_markets()[index].market_id
    body = {"market_id": market_id, "side": "yes", "amount": 5, "reasoning": LONG}
    return await client.post(PLACE_TRADE.path, json=body)


async def fill_the_disk(stage: Stage, spare: int = 0) -> None:
    """Let the database grow by no more than some pages, as on a disk without room."""

    def limit(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + spare}")

    await stage.database.write(limit)


async def make_room(stage: Stage) -> None:
    await stage.database.write(lambda one: one.execute("PRAGMA max_page_count=1000000").fetchone())


async def trade_until_full(stage: Stage, client: httpx.AsyncClient) -> tuple[list[str], Any]:
    """Buys that were acknowledged, and the answer to the first that was not."""
    done: list[str] = []
    for index in range(60):
        response = await buy(stage, client, index)
        if response.status_code != 200:
            return done, response
        done.append(response.json()["trade_id"])
    raise AssertionError("the disk was never full")


async def tick(stage: Stage, seconds: float = 1.0) -> None:
    await stage.clock.advance(seconds)
    await stage.sim.service.world_store.advance(stage.clock.now())


async def ticks(stage: Stage, count: int) -> None:
    for _ in range(count):
        await tick(stage)


@pytest.mark.slow
async def test_a_restart_finds_everything_that_was_acknowledged(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0) as stage:
        for index in range(5):
            await stage.sim.service.world_store.place(order_of(stage, index=index), clock.now())
        before, key, agent_id = text_of(stage.world), stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        assert text_of(stage.world) == before
        async with caller(stage) as client:
            assert (await client.get(TRADES.path)).json()["total_count"] == 5


@pytest.mark.slow
async def test_killed_at_any_moment_the_acknowledged_state_is_restored(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path / "data", clock) as stage:
        world_store = stage.sim.service.world_store
        for moment in range(4):
            await world_store.place(order_of(stage, index=moment), clock.now())
            await tick(stage, 1.0 if moment % 2 else 400.0)
            await world_store.commit(
                stage.world.change(stage.agent, {"name": f"n{moment}"}, clock.now())
            )
            # What a machine that stops here leaves behind: the files, without any goodbye.
            left = tmp_path / f"left{moment}"
            await asyncio.to_thread(shutil.copytree, tmp_path / "data", left)
            async with open_directory(left, clock) as database:
                found = await asyncio.to_thread(restore, database, TOPICS)
            assert found is not None
            assert text_of(found[0]) == text_of(stage.world)
            assert found[0].agents[stage.agent_id].settings.name == f"n{moment}"
            assert found[0].ledger.total() == 0


@pytest.mark.slow
async def test_on_a_full_disk_nothing_is_traded_and_the_world_is_read_back(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        await fill_the_disk(stage)
        done, refused = await trade_until_full(stage, client)
        assert refused.status_code == 503
        body = refused.json()
        assert "nothing was traded" in body["error"]
        assert body["fix"] == "free disk space, then try again"

        # Until it is read back the world takes no change of any kind.
        assert (await buy(stage, client)).status_code == 503
        named = await client.patch(PATCH_AGENT.path, json={"name": "other"})
        joined = await client.post(REGISTER.path, json={"name": "second"})
        headers = {"Authorization": f"Bearer {OPERATOR}"}
        faster = await client.post(SET_SPEED.path, json={"speed": 60}, headers=headers)
        assert [one.status_code for one in (named, joined, faster)] == [503, 503, 503]

        await stage.clock.advance(1.0)
        await tick(stage)
        assert len(stage.world.agents) == 1
        assert (stage.agent.settings.name, stage.world.speed) == ("tester", 0)
        assert stage.world.cash(stage.agent) == (10_000 - 5 * len(done)) * ONE
        assert len(stage.agent.positions) == len(done)
        assert (await client.get(POSITIONS.path)).json()["agent_name"] == "tester"
        assert (await client.get(TRADES.path)).json()["total_count"] == len(done)
        assert stage.world.ledger.total() == 0

        await make_room(stage)
        again = await buy(stage, client, len(done))
        assert again.json()["success"] is True
        assert again.json()["trade_id"] == f"t{len(done) + 1}"
        assert stage.world.ledger.total() == 0
        before = text_of(stage.world)
        found = await asyncio.to_thread(restore, stage.at_rest, TOPICS)
        assert found is not None
        assert text_of(found[0]) == before


@pytest.mark.slow
async def test_of_trades_at_the_same_moment_those_that_fail_leave_no_trace(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        await fill_the_disk(stage)
        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(buy(stage, client, index)) for index in range(40)]
        answers = [call.result() for call in calls]
        done = [one.json()["trade_id"] for one in answers if one.status_code == 200]
        assert {one.status_code for one in answers} <= {200, 503}
        said = {one.json()["error"] for one in answers if one.status_code == 503}
        assert all("the disk is full" in one for one in said)
        assert len(done) < 40
        await tick(stage)
        assert stage.world.cash(stage.agent) == (10_000 - 5 * len(done)) * ONE
        rows = (await client.get(TRADES.path, params={"limit": 200})).json()["trades"]
        assert {row["id"] for row in rows} == set(done)


@pytest.mark.slow
async def test_the_tape_stands_still_on_a_full_disk_and_moves_on_after(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, caller(stage) as client:
        await fill_the_disk(stage)
        await trade_until_full(stage, client)
        at = (await asyncio.to_thread(restore, stage.at_rest, TOPICS) or [stage.world])[0].world_at
        with pytest.raises(StorageFullError, match="the disk is full"):
            await ticks(stage, 40)
        await make_room(stage)
        await tick(stage)
        assert stage.world.world_at > at
        assert stage.world.ledger.total() == 0
        assert (await buy(stage, client, 50)).json()["success"] is True


@pytest.mark.slow
async def test_what_was_refused_is_not_read_while_the_disk_stays_broken(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        world_store = stage.sim.service.world_store
        assert (await buy(stage, client)).json()["success"] is True
        with broken_disk():
            refused = await buy(stage, client, 1)
            assert refused.status_code == 503
            assert "outcome is not known" in refused.json()["error"]
            with pytest.raises(StorageError):
                await world_store.advance(stage.clock.now())
            assert len((await client.get(POSITIONS.path)).json()["positions"]) == 1
            assert (await buy(stage, client, 1)).status_code == 503
        await world_store.advance(stage.clock.now())
        again = await buy(stage, client, 1)
        assert (again.json()["success"], again.json()["trade_id"]) == (True, "t2")
        assert stage.world.cash(stage.agent) == 9_990 * ONE
        assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_a_snapshot_that_fails_takes_back_no_trade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_room, "SNAPSHOT_ROWS", 3)
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        # Room for some rows, not for a snapshot of what no compression makes small.
        stage.agent.description = random.Random(1).randbytes(1_000_000).hex()
        await fill_the_disk(stage, spare=60)
        answers: list[dict[str, Any]] = []
        for _ in range(4):
            order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 1}
            answers.append((await client.post(PLACE_TRADE.path, json=order)).json())
        assert [one["success"] for one in answers] == [True] * 4
        assert (await client.get(TRADES.path)).json()["total_count"] == 4


@pytest.mark.slow
async def test_a_restart_replays_no_more_than_what_came_after_the_last_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_room, "SNAPSHOT_ROWS", 20)
    clock = ManualClock()
    async with open_stage(tmp_path / "data", clock, speed=10, plan=Plan.ELITE) as stage:
        changes = {"auto_risk_monitor_enabled": False}
        await stage.sim.service.world_store.commit(
            stage.world.change(stage.agent, changes, clock.now())
        )
        for moment in range(60):
            await stage.sim.service.world_store.place(order_of(stage, 1, moment), clock.now())
            if moment % 4 == 0:
                await tick(stage)
        journal = keeper_room.JournalStore(stage.at_rest)
        newest, _ = journal.snapshots()
        # A tick that came while the snapshot was written is the one more.
        assert journal.last_seq() - newest.seq < 2 * 20
        found = await asyncio.to_thread(restore, stage.at_rest, TOPICS)
        assert found is not None
        assert text_of(found[0]) == text_of(stage.world)
        crowd = [row for row in journal.rows_after(0) if row.kind == "crowd"]
        # The crowd's rows before both snapshots are forgotten, everybody's trades are not.
        assert len(crowd) < 15
        assert sum(row.kind == "fill" for row in journal.rows_after(0)) == 60


@pytest.mark.slow
async def test_a_handler_sees_the_agent_of_the_world_that_was_read_back(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        old = stage.agent
        world_store = stage.sim.service.world_store
        world_store.distrust()
        body = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        raw = json.dumps(body).encode()

        async def slowly() -> AsyncGenerator[bytes]:
            # The key was looked at; before the body is whole the world is read back.
            yield raw[:10]
            await world_store.advance(Timestamp(stage.clock.now() + 1))
            yield raw[10:]

        async with caller(stage) as client:
            headers = {"Content-Type": "application/json"}
            answer = await client.post(PLACE_TRADE.path, content=slowly(), headers=headers)
        assert answer.json()["balance"] == 9_995
        assert stage.agent is not old
        assert len(stage.agent.positions) == 1
        assert old.positions == {}


@pytest.mark.slow
async def test_what_a_broken_handler_had_changed_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        await buy(stage, client)
        before = text_of(stage.world)

        def broken(*_: object) -> None:
            raise ZeroDivisionError

        with monkeypatch.context() as patched:
            patched.setattr("service_tui.server.routes.trades.trade_body", broken)
            assert (await buy(stage, client)).status_code == 500
        # The fill stands in memory and on no disk: nobody may trade upon it.
        assert text_of(stage.world) != before
        assert (await buy(stage, client)).status_code == 503
        await stage.sim.service.world_store.advance(stage.clock.now())
        assert text_of(stage.world) == before
        answer = (await buy(stage, client)).json()
        assert (answer["success"], answer["trade_id"]) == (True, "t2")
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert text_of(found[0]) == text_of(stage.world)


@pytest.mark.slow
async def test_a_reading_that_breaks_takes_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:

        def broken(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("service_tui.server.routes.positions.pnl_of", broken)
        assert (await client.get(POSITIONS.path)).status_code == 500
        assert (await buy(stage, client)).json()["success"] is True


@pytest.mark.slow
async def test_who_listens_looks_again_when_a_write_was_cut_off(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, stage.sim.service.subscribe() as events:
        world_store = stage.sim.service.world_store
        assert (await anext(events)).kind == "ready"
        async with asyncio.TaskGroup() as tasks:
            cut = tasks.create_task(world_store.place(order_of(stage), stage.clock.now()))
            await asyncio.sleep(0)
            cut.cancel()
        told = await anext(events)
        assert told.kind == "reset"
        # It was written all the same, and what comes next is told after it.
        await world_store.place(order_of(stage), stage.clock.now())
        after = await anext(events)
        assert after.kind == "fill"
        assert after.seq == told.seq + 1
        assert len(stage.agent.positions) == 1
        assert stage.agent.trades_count == 2


async def test_a_new_directory_has_nothing_of_an_older_program_to_fill_in(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_directory(tmp_path, clock) as database:
        await begin(database, World(7, clock.now(), TOPICS))
        assert EndedMarkets(database).is_filled_in()


async def told(client: httpx.AsyncClient) -> tuple[float, int, int]:
    """What is left, positions and trades, as three calls tell them."""
    balance = (await client.get(AGENT.path)).json()["balance"]
    positions = (await client.get(POSITIONS.path)).json()["positions"]
    trades = (await client.get(TRADES.path)).json()["total_count"]
    return balance, len(positions), trades


@pytest.mark.slow
async def test_what_was_refused_is_read_by_nobody(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, caller(stage) as client:
        await fill_the_disk(stage)
        done, _ = await trade_until_full(stage, client)
        # Nobody has tried anew since: what was refused is in memory, and not on disk.
        assert await told(client) == (10_000 - 5 * len(done), len(done), len(done))
        assert (await buy(stage, client)).status_code == 503
        assert await told(client) == (10_000 - 5 * len(done), len(done), len(done))
        await make_room(stage)
        await tick(stage)
        assert (await buy(stage, client, 50)).json()["success"] is True
        assert await told(client) == (9_995 - 5 * len(done), len(done) + 1, len(done) + 1)


@contextmanager
def slow_disk(stage: Stage) -> Generator[threading.Event]:
    """A disk that has not answered yet."""
    answers, begun = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        begun.set()
        answers.wait(60)

    stage.database.submit(hold)
    begun.wait(60)
    try:
        yield answers
    finally:
        answers.set()


async def turns(count: int = 50) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.slow
async def test_what_is_on_its_way_to_the_disk_is_waited_for(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        caller(stage) as client,
        asyncio.TaskGroup() as tasks,
    ):
        with slow_disk(stage) as answers:
            place = stage.sim.service.world_store.place(order_of(stage), stage.clock.now())
            tasks.create_task(place)
            await turns()
            assert stage.world.cash(stage.agent) == 9_995 * ONE
            asked = tasks.create_task(told(client))
            quote = {"market_id": stage.open_markets()[1].market_id, "side": "yes", "amount": 5}
            rehearsal = client.post(PLACE_TRADE.path, json=quote | {"dry_run": True})
            rehearsed = tasks.create_task(rehearsal)
            await turns()
            assert not asked.done()
            assert not rehearsed.done()
            assert (await client.get(HEALTH.path)).status_code == 200
            answers.set()
            assert await asked == (9_995, 1, 1)
            assert (await rehearsed).json()["balance"] == 9_990


@pytest.mark.slow
async def test_a_reading_on_the_way_of_which_something_is_refused_begins_again(
    tmp_path: Path,
) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        caller(stage) as client,
        asyncio.TaskGroup() as tasks,
    ):
        await fill_the_disk(stage)
        done, _ = await trade_until_full(stage, client)
        await make_room(stage)
        await tick(stage)
        await fill_the_disk(stage)
        with slow_disk(stage) as answers:
            order = order_of(stage, index=50)._replace(note=Note(reasoning=LONG * 9))

            async def place() -> None:
                with pytest.raises(StorageError):
                    await stage.sim.service.world_store.place(order, stage.clock.now())

            tasks.create_task(place())
            asked = tasks.create_task(told(client))
            await turns()
            answers.set()
            assert await asked == (10_000 - 5 * len(done), len(done), len(done))


@pytest.mark.slow
async def test_what_nobody_waited_for_and_was_refused_is_read_by_nobody(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        caller(stage) as client,
        asyncio.TaskGroup() as tasks,
    ):
        await fill_the_disk(stage)
        with slow_disk(stage) as answers:
            order = order_of(stage)._replace(note=Note(reasoning=LONG * 9))
            place = stage.sim.service.world_store.place(order, stage.clock.now())
            placed = tasks.create_task(place)
            await turns()
            placed.cancel()
            await turns()
            answers.set()
            assert await told(client) == (10_000, 0, 0)
