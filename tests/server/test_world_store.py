"""The order of memory and disk: what is told is written, and what was refused is taken back."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.engine.topics import TOPICS
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
from service_tui.server import world_store
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
from service_tui.storage.answers import Answer
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import History, JournalRow, JournalStore, Snapshot
from service_tui.terms import Action, OrderEnd, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ANSWER: Final = Answer("ada", "k", "/p", "h", "{}", AT)


class Disk:  # noqa: PLR0904  (all tables of one database)
    """A database, its journal and its other tables, as one that may refuse."""

    def __init__(self) -> None:
        self.rows: list[JournalRow] = []
        self.snapshots_: list[Snapshot] = []
        self.calls: list[Any] = []
        self.refuses: Exception | None = None
        self.away: Exception | None = None
        self.seq = 0

    def check(self) -> None:
        if self.away is not None:
            raise self.away

    async def write(self, _: object) -> None:
        self.calls.append("settled")

    async def reopen(self) -> None:
        self.calls.append("reopened")
        self.refuses = None

    async def append(self, rows: Any, **named: Any) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.rows += rows
        self.calls.append(named)

    async def add_snapshot(self, taken: Snapshot) -> None:
        self.snapshots_.append(taken)

    async def prune_tape(self, seq: int) -> None:
        self.calls.append(("prune", seq))

    async def forget_old(self, at: float) -> None:
        self.calls.append(("forget", at))

    async def mark_filled_in(self, seq: int) -> None:
        self.calls.append(("filled in", seq))

    def snapshots(self) -> list[Snapshot]:
        return self.snapshots_

    def keep_aside(self, seq: int, body: bytes) -> None:
        self.calls.append(("aside", seq, body))

    def rows_after(self, seq: int) -> list[JournalRow]:
        return [row for row in self.rows if row.seq > seq]

    def last_seq(self) -> int:
        return self.seq

    def rows_of(
        self, criteria: History, *, limit: int, offset: int
    ) -> tuple[list[JournalRow], int]:
        self.calls.append((criteria, limit, offset))
        found = [row for row in self.rows if row.kind in criteria.kinds]
        return found[offset:][:limit], len(found)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    past = SimpleNamespace(just_ended=lambda: ["ended"])
    for name in ("JournalStore", "AgentRows", "Answers", "EndedMarkets"):
        monkeypatch.setattr(world_store, name, lambda _: made)
    monkeypatch.setattr(world_store, "PastMarkets", lambda *_: past)
    monkeypatch.setattr(world_store, "Digest", lambda _: "digest")
    return made


def store(disk: Any, seq: int = 10, *, is_brief: bool = True) -> WorldStore:
    world = bare_world("ada")
    listed(world)
    made = WorldStore(disk, world, seq, is_brief=is_brief)
    made.told = []  # pyright: ignore[reportAttributeAccessIssue]
    made.events.followers.append(lambda happened: told(made).extend(happened))
    return made


def told(one: Any) -> list[Any]:
    return one.told


def speed(number: int = 1) -> Event:
    return SpeedSet(AT, AT, number)


def taken(one: WorldStore, seq: int) -> Snapshot:
    return Snapshot(seq, AT, codec.dumps(snapshot.fields_of(one.world)).encode())


async def test_what_happened_is_written_under_the_next_numbers_and_then_told(disk: Disk) -> None:
    one = store(disk)
    assert (one.seq, one.written_seq) == (10, 10)
    await one.commit([speed(1), speed(10)], answer=ANSWER, beside=None)
    assert [(row.seq, row.kind) for row in disk.rows] == [(11, "speed"), (12, "speed")]
    assert disk.calls == [{"answer": ANSWER, "ended": ["ended"], "beside": None}]
    assert told(one) == [(11, speed(1)), (12, speed(10))]
    assert (one.seq, one.written_seq) == (12, 12)


async def test_an_answer_is_written_without_anything_that_happened_and_nothing_is_not(
    disk: Disk,
) -> None:
    one = store(disk)
    await one.commit([])
    assert disk.calls == []
    await one.commit([], answer=ANSWER)
    assert [call["answer"] for call in disk.calls] == [ANSWER]
    assert one.written_seq == 10


async def test_a_row_names_whose_and_which_market_it_is(disk: Disk) -> None:
    one = store(disk)
    await one.commit([
        speed(),
        MonitorDeleted("ada", AT, Venue.SOL, "m1", Side.NO),
        PriceAlertTriggered(
            *["p1", "ben", AT][: len(PriceAlertTriggered._fields)],
            *([0.5] * (len(PriceAlertTriggered._fields) - 3)),
        ),
    ])
    owners = [(row.agent_id, row.market_id, row.at) for row in disk.rows]
    assert owners == [(None, None, AT), ("ada", "m1", AT), ("ben", None, AT)]


async def test_an_outcome_has_a_row_of_its_own_for_each_who_was_paid(disk: Disk) -> None:
    one = store(disk)

    def paid(agent_id: str) -> Payout:
        ten = Micros(10 * ONE)
        return Payout(agent_id, Side.YES, ten, ten, ten, Micros(0), AT, ())

    event = MarketResolved(
        "m1", AT, AT, outcome=True, payouts=(paid("ada"), paid("ben")), crowd_payout=Micros(0),
        settled=((Venue.EVM, paid("cyd")),),
    )  # fmt: skip
    await one.commit([event])
    assert [(row.seq, row.kind, row.agent_id, row.market_id, row.venue) for row in disk.rows] == [
        (11, "resolved", None, "m1", None),
        (12, "payout", "ada", "m1", "sim"),
        (13, "payout", "ben", "m1", "sim"),
        (14, "settled", "cyd", "m1", "evm_venue"),
    ]
    assert told(one) == [(11, event)]


async def test_what_the_disk_refused_is_told_nobody_and_nothing_goes_on(disk: Disk) -> None:
    one = store(disk)
    disk.refuses = refusal = StorageError("no room")
    with pytest.raises(StorageError) as refused:
        await one.commit([speed()])
    assert refused.value is refusal
    assert (told(one), one.written_seq) == ([], 10)
    disk.refuses = None
    for again in (one.check_whole, lambda: one.fill(order(), AT)):
        with pytest.raises(StorageError, match="no room"):
            again()
    with pytest.raises(StorageError, match="no room"):
        await one.commit([speed()])
    assert disk.rows == []


async def test_the_first_failure_is_the_one_that_everybody_hears_of(disk: Disk) -> None:
    one = store(disk)
    one.distrust()
    disk.refuses = StorageError("later")
    with pytest.raises(StorageError, match="a request was interrupted"):
        await one.commit([speed()])


async def test_a_call_that_broke_off_leaves_the_row_in_doubt(disk: Disk) -> None:
    one = store(disk)
    disk.snapshots_ = [taken(one, 9)]
    disk.refuses = asyncio.CancelledError()
    listener = one.events.subscribe(AT)
    with pytest.raises(asyncio.CancelledError):
        await one.commit([speed()])
    assert [body.kind for body in listener._waiting if body] == ["ready", "reset"]
    disk.refuses = None
    one.check_whole()
    # The row never came to the disk: what memory holds of it is taken back.
    assert await one.on_disk() == 1
    assert (one.seq, one.written_seq) == (9, 9)


async def test_a_call_that_broke_off_and_was_written_is_kept(disk: Disk) -> None:
    one = store(disk)
    disk.refuses, disk.seq = asyncio.CancelledError(), 11
    with pytest.raises(asyncio.CancelledError):
        await one.commit([speed()])
    assert await one.on_disk() == 0
    assert (one.seq, one.written_seq) == (11, 11)


async def test_who_reads_waits_for_what_is_on_its_way(disk: Disk) -> None:
    one = store(disk)
    assert await one.on_disk() == 0
    assert disk.calls == []
    one._seq = 12
    assert await one.on_disk() == 0
    assert disk.calls == ["settled"]
    assert one.written_seq == 12
    disk.away = StorageError("another process has it")
    with pytest.raises(StorageError):
        await one.on_disk()


async def test_after_a_failed_write_the_world_of_the_disk_is_taken_up_again(disk: Disk) -> None:
    one = store(disk)
    disk.snapshots_ = [taken(one, 9)]
    disk.rows = [JournalRow(10, AT, "speed", None, None, codec.encode(speed(60)))]
    before, listener = one.world, one.events.subscribe(AT)
    disk.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await one.commit([speed()])
    assert one.seq == 11
    disk.calls.clear()
    await one.advance(AT)
    assert disk.calls[:2] == ["reopened", "settled"]
    assert one.world is not before
    assert one.world.speed == 60
    assert [body.kind for body in listener._waiting if body][:2] == ["ready", "reset"]
    one.check_whole()
    assert one.seq >= 10
    assert one.written_seq == one.seq


async def test_where_there_is_nothing_on_disk_the_failure_stays(disk: Disk) -> None:
    one = store(disk)
    one.distrust()
    with pytest.raises(StorageError, match="interrupted"):
        await one.on_disk()
    with pytest.raises(StorageError, match="interrupted"):
        await one.play((AT, AT), {})


def order() -> Order:
    return Order(bare_world("ada").agents["ada"], "m1", Side.YES, Action.BUY, Micros(5 * ONE))


async def test_an_order_is_on_disk_when_it_is_placed(disk: Disk) -> None:
    one = store(disk)
    mine = Order(one.world.agents["ada"], "m1", Side.YES, Action.BUY, Micros(5 * ONE))
    fill = await one.place(mine, Timestamp(AT))
    assert [codec.decode(row.kind, row.body) for row in disk.rows] == [fill]
    assert (fill.agent_id, fill.money, fill.at) == ("ada", 5 * ONE, AT)


@pytest.mark.parametrize(("rows", "taken_at"), [(SNAPSHOT_ROWS - 1, []), (SNAPSHOT_ROWS, [2_010])])
async def test_a_snapshot_is_taken_after_so_many_rows(
    disk: Disk, rows: int, taken_at: list[int]
) -> None:
    one = store(disk)
    one._seq = 10 + rows - 1
    await one.commit([speed()])
    assert [one.seq for one in disk.snapshots_] == taken_at
    last = disk.calls[1:]
    assert last == [("prune", 2_010), ("forget", AT)] * len(taken_at)


async def test_a_start_that_stays_takes_a_snapshot_at_its_first_row(disk: Disk) -> None:
    one = store(disk, seq=SNAPSHOT_ROWS, is_brief=False)
    await one.commit([speed()])
    (made,) = disk.snapshots_
    assert made == taken(one, SNAPSHOT_ROWS + 1)


async def test_the_end_takes_a_snapshot_of_what_is_new_and_whole(disk: Disk) -> None:
    one = store(disk)
    await one.close(Timestamp(AT + 5))
    assert disk.snapshots_ == []
    await one.commit([speed()])
    await one.close(Timestamp(AT + 5))
    assert [(made.seq, made.at) for made in disk.snapshots_] == [(11, AT + 5)]
    await one.commit([speed()])
    one.distrust()
    await one.close(Timestamp(AT + 5))
    assert len(disk.snapshots_) == 1


async def test_a_snapshot_that_fails_costs_nothing_else(disk: Disk) -> None:
    one = store(disk)

    async def fail(_: object) -> None:
        raise StorageError("no room")

    disk.add_snapshot = fail  # pyright: ignore[reportAttributeAccessIssue]
    await one.commit([speed()])
    await one.close(AT)
    one.check_whole()


def test_a_world_is_read_from_its_newest_snapshot_that_makes_sense(disk: Any) -> None:
    one = store(disk)
    good = taken(one, 9)
    disk.snapshots_ = [Snapshot(11, AT, b'{"no": NaN}'), good]
    disk.rows = [
        JournalRow(seq, AT, "speed", None, None, codec.encode(speed(seq))) for seq in (9, 10, 11)
    ]
    found = restore(disk, TOPICS)
    assert found is not None
    assert (found[0].speed, found[1]) == (11, 11)
    assert disk.calls == [("aside", 11, b'{"no": NaN}')]
    assert world_in(Snapshot(1, AT, b"[]"), TOPICS) is None
    disk.snapshots_ = [Snapshot(11, AT, b"{}")]
    with pytest.raises(DamagedRowsError):
        restore(disk, TOPICS)
    disk.snapshots_ = []
    assert restore(disk, TOPICS) is None


def test_a_replay_ends_with_the_row_that_was_asked_for(disk: Any) -> None:
    disk.rows = [
        JournalRow(seq, AT, "speed", None, None, codec.encode(speed(seq))) for seq in (9, 10, 11)
    ]
    for until, last in ((None, 11), (10, 10), (8, 7)):
        world = bare_world("ada")
        assert replay(disk, world, 7, until=until) == last
        assert world.speed == (last if last > 7 else bare_world().speed)


def test_a_row_that_repeats_another_changes_nothing_and_one_without_sense_is_damage() -> None:
    world = bare_world("ada")
    assert apply_row(world, JournalRow(3, AT, "payout", "ada", "m1", "nonsense")) is None
    row = JournalRow(3, AT, "speed", None, None, codec.encode(speed(60)))
    assert apply_row(world, row) == speed(60)
    assert world.speed == 60
    with pytest.raises(DamagedRowsError, match="row 4 ") as found:
        apply_row(world, JournalRow(4, AT, "speed", None, None, "{}"))
    assert found.value.seq == 4


async def test_a_new_world_has_its_snapshot_before_anything_else(disk: Any) -> None:
    world = bare_world("ada")
    one = await begin(disk, world)
    assert one.world is world
    assert disk.snapshots_ == [taken(one, 0)]
    assert disk.calls == [("filled in", 0)]
    assert (one.seq, one.written_seq) == (0, 0)


def ended(number: int) -> OrderEnded:
    none = Micros(0)
    return OrderEnded(f"o{number}", "ada", "m1", OrderEnd.FILLED, AT, AT, none, none, none, none)


async def test_the_ends_of_orders_are_looked_for_until_all_are_found(disk: Disk) -> None:
    one = store(disk)
    disk.rows = [
        JournalRow(n, AT, "order_end", "ada", "m1", codec.encode(ended(n)))
        for n in range(ENDS_PAGE + 3)
    ]
    wanted = History("ada", ("order_end",), None, AT, None)
    assert await one.ends("ada", {"o1", "o3"}, AT) == {"o1": ended(1), "o3": ended(3)}
    assert disk.calls == [(wanted, ENDS_PAGE, 0)]
    disk.calls.clear()
    last = f"o{ENDS_PAGE + 2}"
    assert set(await one.ends("ada", {"o1", last, "nobodys"}, AT)) == {"o1", last}
    assert [call[2] for call in disk.calls] == [0, ENDS_PAGE]
    assert await one.ends("ada", set(), AT) == {}


async def test_what_people_changed_is_read_with_its_rows(disk: Disk) -> None:
    one, act = store(disk), OperatorActed("ann", AT, "speed", "s", "d")
    row = JournalRow(7, AT, "acted", None, None, codec.encode(act))
    disk.of_people = lambda limit: [row][:limit]  # pyright: ignore[reportAttributeAccessIssue]
    assert await one.acts(5) == [(7, act)]
    assert json.loads(row.body)


async def test_the_ends_of_a_venue_are_read_before_a_row_and_up_to_a_number(disk: Any) -> None:
    one, asked = store(disk), list[Any]()
    fill = one.world.place(order(), AT)
    row = JournalRow(7, AT, "fill", "ada", None, codec.encode(fill))

    def ends_before(*which: Any, limit: int) -> list[JournalRow]:
        asked.append((*which, limit))
        return [row]

    disk.ends_before = ends_before
    found = await one.ends_before(("ada", Venue.EVM), ["paid"], 90, limit=4)
    assert found == [(7, fill)]
    assert asked == [(("ada", Venue.EVM.value), ["paid"], 90, 4)]


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
