"""The order of memory and disk: what is told is written, and what was refused is taken back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from kit.desk.faults import broken_disk, refuse_writes
from kit.engine.bare import AT, bare_world, listed
from kit.engine.topics import TOPICS
from kit.service.heard import kinds
from kit.service.stage import open_stage
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.events import (
    Event,
    MarketResolved,
    MonitorDeleted,
    OperatorActed,
    OrderEnded,
    Payout,
    SpeedSet,
)
from service_tui.engine.notify_events import PriceAlertTriggered
from service_tui.engine.world import World
from service_tui.outcome import YES
from service_tui.server.world_store import (
    ENDS_PAGE,
    SNAPSHOT_ROWS,
    WorldStore,
    apply_row,
    begin,
    replay,
    restore,
    world_in,
)
from service_tui.storage.answers import Answer, Answers
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore, Snapshot
from service_tui.storage.opening import open_database
from service_tui.terms import Action, OrderEnd, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ANSWER: Final = Answer("ada", "k", "/p", "h", "{}", AT)


@dataclass
class Disk:
    """A new world, its store and its database; `told` is what those who follow have heard."""

    store: WorldStore
    database: Database
    told: list[tuple[int, Event]] = field(default_factory=list)

    @property
    def journal(self) -> JournalStore:
        return JournalStore(self.database)

    @property
    def rows(self) -> list[JournalRow]:
        return list(self.journal.rows_after(0))

    @property
    def snapshots(self) -> list[int]:
        return [one.seq for one in self.journal.snapshots()]

    async def refuse(self) -> None:
        await self.database.write(refuse_writes)


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Database]:
    lock = DataDirLock.acquire(path, pid=1, now=AT)
    database = open_database(path, now=AT, lock=lock)
    try:
        yield database
    finally:
        database.close(AT)
        lock.release()


def a_world() -> World:
    world = bare_world("ada")
    listed(world)
    return world


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[Disk]:
    async with opened(tmp_path / "data") as database:
        found = Disk(await begin(database, a_world()), database)
        found.store.events.followers.append(found.told.extend)
        yield found


def speed(number: int = 1) -> Event:
    return SpeedSet(AT, AT, number)


def order(world: World) -> Order:
    return Order(world.agents["ada"], "m1", Side.YES, Action.BUY, Micros(5 * ONE))


async def test_a_new_world_has_its_snapshot_before_anything_else(disk: Disk) -> None:
    (first,) = disk.journal.snapshots()
    whole = codec.dumps(snapshot.fields_of(disk.store.world)).encode()
    assert first == Snapshot(0, AT, whole)
    assert (disk.store.seq, disk.store.written_seq) == (0, 0)


async def test_what_happened_is_written_under_the_next_numbers_and_then_told(disk: Disk) -> None:
    await disk.store.commit([])
    assert disk.rows == []
    await disk.store.commit([speed(1), speed(10)], answer=ANSWER)
    assert [(row.seq, row.kind) for row in disk.rows] == [(1, "speed"), (2, "speed")]
    assert disk.told == [(1, speed(1)), (2, speed(10))]
    assert (disk.store.seq, disk.store.written_seq) == (2, 2)
    # An answer is kept without anything that happened, too.
    alone = Answer("ada", "other", "/p", "h", "{}", AT)
    await disk.store.commit([], answer=alone)
    answers = Answers(disk.database)
    assert [answers.find("ada", key, now=AT) for key in ("k", "other")] == [ANSWER, alone]
    assert disk.store.seq == 2


async def test_a_row_names_whose_and_which_market_it_is(disk: Disk) -> None:
    rest = len(PriceAlertTriggered._fields) - 3
    await disk.store.commit([
        speed(),
        MonitorDeleted("ada", AT, Venue.SOL, "m1", Side.NO),
        PriceAlertTriggered("p1", "ben", AT, *([0.5] * rest)),
    ])
    owners = [(row.agent_id, row.market_id, row.at) for row in disk.rows]
    assert owners == [(None, None, AT), ("ada", "m1", AT), ("ben", None, AT)]


async def test_an_outcome_has_a_row_of_its_own_for_each_who_was_paid(disk: Disk) -> None:
    def paid(agent_id: str) -> Payout:
        ten = Micros(10 * ONE)
        return Payout(agent_id, Side.YES, ten, ten, ten, Micros(0), AT, ())

    event = MarketResolved(
        "m1", AT, AT, outcome=YES, payouts=(paid("ada"), paid("ben")), crowd_payout=Micros(0),
        settled=((Venue.EVM, paid("cyd")),),
    )  # fmt: skip
    await disk.store.commit([event])
    assert [(row.seq, row.kind, row.agent_id, row.market_id) for row in disk.rows] == [
        (1, "resolved", None, "m1"),
        (2, "payout", "ada", "m1"),
        (3, "payout", "ben", "m1"),
        (4, "settled", "cyd", "m1"),
    ]
    # Each row is found by its owner and venue.
    for name, venue, kind, seq in (
        ("ada", Venue.SIM, "payout", 2),
        ("cyd", Venue.EVM, "settled", 4),
    ):
        (end,) = await disk.store.ends_before((name, venue), [kind], None, limit=4)
        assert end[0] == seq
        assert await disk.store.ends_before((name, venue), [kind], seq, limit=4) == []
    assert disk.told == [(1, event)]


async def test_an_order_is_on_disk_when_it_is_placed(disk: Disk) -> None:
    fill = await disk.store.place(order(disk.store.world), Timestamp(AT))
    assert [codec.decode(row.kind, row.body) for row in disk.rows] == [fill]
    assert (fill.agent_id, fill.money, fill.at) == ("ada", 5 * ONE, AT)


# -- refused -------------------------------------------------------------------------------


async def test_what_the_disk_refused_is_told_nobody_and_taken_back_before_anything_goes_on(
    disk: Disk,
) -> None:
    one, listener = disk.store, disk.store.events.subscribe(AT)
    before = one.world
    with broken_disk():
        with pytest.raises(StorageError) as refused:
            await one.place(order(one.world), AT)
        assert (disk.told, one.written_seq) == ([], 0)
        for again in (one.check_whole, lambda: one.fill(order(one.world), AT)):
            with pytest.raises(StorageError) as repeated:
                again()
            assert repeated.value is refused.value
        with pytest.raises(StorageError):
            await one.commit([speed()])
        # Who reads is shown the world of the disk already; the next tick opens it for writing.
        assert await one.on_disk() == 2
        assert (one.world.agents["ada"].positions, one.seq) == ({}, 0)
        with pytest.raises(StorageError):
            await one.advance(AT)
    assert await kinds(listener) == ["ready"]
    await one.advance(AT)
    assert one.world is not before
    one.check_whole()
    assert await kinds(listener) == ["reset"]
    await one.place(order(one.world), AT)
    assert [row.seq for row in disk.rows] == [1]


async def test_the_first_failure_is_the_one_that_everybody_hears_of(disk: Disk) -> None:
    disk.store.distrust()
    await disk.refuse()
    with pytest.raises(StorageError, match="a request was interrupted"):
        await disk.store.commit([speed()])


async def test_where_there_is_nothing_on_disk_the_failure_stays(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as database:
        one = WorldStore(database, a_world(), 0)
        one.distrust()
        for again in (one.on_disk(), one.play((AT, AT), {})):
            with pytest.raises(StorageError, match="interrupted"):
                await again


async def test_a_call_that_broke_off_and_was_written_is_kept(disk: Disk) -> None:
    one, listener = disk.store, disk.store.events.subscribe(AT)
    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(one.commit([speed(60)]))
        await asyncio.sleep(0)
        writing.cancel()
    assert await kinds(listener) == ["ready", "reset"]
    # Who reads waits for what is on its way.
    assert await one.on_disk() == 0
    assert (one.seq, one.written_seq) == (1, 1)
    assert [row.kind for row in disk.rows] == ["speed"]


# -- snapshots -----------------------------------------------------------------------------


async def test_a_snapshot_is_taken_after_so_many_rows(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as database:
        disk = Disk(await begin(database, a_world()), database)
        await disk.store.commit([speed()] * (SNAPSHOT_ROWS - 1))
        assert disk.snapshots == [0]
        await disk.store.commit([speed()])
        assert disk.snapshots == [SNAPSHOT_ROWS, 0]


@pytest.mark.parametrize("is_brief", [False, True])
async def test_a_start_that_stays_takes_a_snapshot_at_its_first_row(
    disk: Disk, *, is_brief: bool
) -> None:
    await disk.store.commit([speed()] * (SNAPSHOT_ROWS - 1))
    seq = disk.store.seq
    again = WorldStore(disk.database, a_world(), seq, is_brief=is_brief)
    await again.commit([speed()])
    assert disk.snapshots == ([0] if is_brief else [seq + 1, 0])


async def test_the_end_takes_a_snapshot_of_what_is_new_and_whole(disk: Disk) -> None:
    await disk.store.close(Timestamp(AT + 5))
    assert disk.snapshots == [0]
    await disk.store.commit([speed()])
    await disk.store.close(Timestamp(AT + 5))
    assert [(made.seq, made.at) for made in disk.journal.snapshots()] == [(1, AT + 5), (0, AT)]
    await disk.store.commit([speed()])
    disk.store.distrust()
    await disk.store.close(Timestamp(AT + 5))
    assert disk.snapshots == [1, 0]


async def test_a_snapshot_that_fails_costs_nothing_else(disk: Disk) -> None:
    await disk.store.commit([speed()])
    await disk.refuse()
    await disk.store.close(AT)
    disk.store.check_whole()
    assert disk.snapshots == [0]


# -- reading it back -----------------------------------------------------------------------


async def test_a_world_is_read_from_its_newest_snapshot_that_makes_sense(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as database:
        assert restore(database, TOPICS) is None
        disk = Disk(await begin(database, a_world()), database)
        await disk.store.commit([speed(number) for number in (1, 10, 60)])
        await disk.journal.add_snapshot(Snapshot(2, AT, b'{"no": NaN}'))
        found = restore(database, TOPICS)
        assert found is not None
        assert (found[0].speed, found[1]) == (60, 3)
        (beside,) = (tmp_path / "data").glob("*.corrupt-snapshot-2")
        assert beside.read_bytes() == b'{"no": NaN}'
        for until, last in ((None, 3), (2, 2), (0, 0)):
            world = a_world()
            assert replay(disk.journal, world, 0, until=until) == last
            assert world.speed == {3: 60, 2: 10, 0: a_world().speed}[last]
    async with opened(tmp_path / "other") as database:
        await JournalStore(database).add_snapshot(Snapshot(0, AT, b"{}"))
        with pytest.raises(DamagedRowsError):
            restore(database, TOPICS)
    assert world_in(Snapshot(1, AT, b"[]"), TOPICS) is None


def test_a_row_that_repeats_another_changes_nothing_and_one_without_sense_is_damage() -> None:
    world = bare_world("ada")
    assert apply_row(world, JournalRow(3, AT, "payout", "ada", "m1", "nonsense")) is None
    row = JournalRow(3, AT, "speed", None, None, codec.encode(speed(60)))
    assert apply_row(world, row) == speed(60)
    assert world.speed == 60
    with pytest.raises(DamagedRowsError, match="row 4 ") as found:
        apply_row(world, JournalRow(4, AT, "speed", None, None, "{}"))
    assert found.value.seq == 4


def ended(number: int) -> OrderEnded:
    none = Micros(0)
    return OrderEnded(f"o{number}", "ada", "m1", OrderEnd.FILLED, AT, AT, none, none, none, none)


async def test_the_ends_of_orders_are_looked_for_until_all_are_found(disk: Disk) -> None:
    await disk.store.commit([ended(number) for number in range(ENDS_PAGE + 3)])
    last = f"o{ENDS_PAGE + 2}"
    for wanted in ({"o1", "o3"}, {"o1", last}):
        found = await disk.store.ends("ada", wanted, AT)
        assert found == {name: ended(int(name[1:])) for name in wanted}
    assert set(await disk.store.ends("ada", {"o1", "nobodys"}, AT)) == {"o1"}
    assert await disk.store.ends("ada", set(), AT) == {}


async def test_what_people_changed_is_read_with_its_rows(disk: Disk) -> None:
    acts = [OperatorActed(who, AT, "speed", "s", "d") for who in ("ann", "ben", "ann")]
    await disk.store.commit([acts[0], speed(), *acts[1:]])
    assert await disk.store.acts(2) == [(4, acts[2]), (3, acts[1])]


@pytest.mark.slow
@pytest.mark.parametrize("has_price", [False, True])
async def test_a_scripted_move_is_written_down_and_told(tmp_path: Path, *, has_price: bool) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        store, world = stage.sim.service.world_store, stage.world
        journal = JournalStore(stage.at_rest)
        seq, then = store.seq, Timestamp(world.world_at + 60.0)
        market = stage.open_markets()[0]
        prices = {market.market_id: 0.5} if has_price else {}
        events = await store.play((Timestamp(world.at + 1.0), then), prices)
        assert world.world_at == then
        assert bool(events)
        assert store.seq == seq + len(events)
        assert journal.last_seq() == store.seq
