"""What a copy makes of the rows that it takes in, and what it answers meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.datastructures import Headers

from kit.engine.bare import bare_world, listed
from kit.engine.topics import TOPICS
from service_tui.clock import ManualClock
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Event, HaltSet, OperatorActed, kind_of
from service_tui.engine.world import World
from service_tui.server.following import (
    FRESH_S,
    GAP_S,
    POLL_S,
    FollowingCopy,
    FollowingStore,
    caught_up,
    open_copy,
)
from service_tui.server.http.access import Access, hash_of
from service_tui.server.http.people.roster import THE_OWNER
from service_tui.server.past.history import REPEATED
from service_tui.server.startup import SimSettings, service_on
from service_tui.server.world_store import begin
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import open_database
from service_tui.storage.people import PersonRecord, keep_person
from service_tui.storage.shared.errors import NotLeadingError
from service_tui.storage.shared.feed import FEED_ROWS_MAX, JournalFeed
from service_tui.units import Timestamp

AT = Timestamp(1_800_000_000.0)
ACTED = OperatorActed("ada", AT, "POST /api/desk/people/end", "eve")
HALTED = HaltSet(AT, halted=True)


def following(folder: Path, seq: int = 0) -> FollowingStore:
    database = Database(folder / "none", port=None, with_wal=False, timeout_s=0.1)
    return FollowingStore(database, (World(7, AT, TOPICS), seq))


def rows_of(*events: Event, after: int = 0) -> list[JournalRow]:
    return [
        JournalRow(seq, AT, kind_of(event), None, None, codec.encode(event))
        for seq, event in enumerate(events, start=after + 1)
    ]


@pytest.mark.parametrize(
    ("events", "has_acted"),
    [
        ((), False),
        ((HALTED,), False),
        ((ACTED,), True),
        ((HALTED, ACTED), True),
        ((ACTED, HALTED), True),
        ((HALTED, ACTED, HALTED), True),
    ],
)
def test_an_act_of_an_operator_is_reported_wherever_it_stands_among_the_rows(
    tmp_path: Path, events: tuple[Event, ...], *, has_acted: bool
) -> None:
    assert following(tmp_path).take(rows_of(*events)) is has_acted


def test_a_copy_is_at_the_last_row_that_it_took(tmp_path: Path) -> None:
    store = following(tmp_path, seq=4)
    store.take(rows_of(HALTED, ACTED, after=4))
    assert (store.seq, store.written_seq, store.world.halt.since) == (6, 6, AT)
    store.take(())
    assert (store.seq, store.written_seq) == (6, 6)


def test_rows_before_one_without_sense_have_happened_and_it_has_not(tmp_path: Path) -> None:
    store = following(tmp_path)
    good, bad = rows_of(HALTED, ACTED)
    with pytest.raises(DamagedRowsError):
        store.take([good, JournalRow(bad.seq, AT, bad.kind, None, None, "[]")])
    assert (store.seq, store.world.halt.since) == (1, AT)


def test_rows_are_told_by_their_numbers_and_a_repeated_one_to_nobody(tmp_path: Path) -> None:
    store = following(tmp_path, seq=4)
    told: list[Any] = []
    store.events.followers.append(told.extend)
    again = JournalRow(6, AT, min(REPEATED), "ada", "m1", "{}")
    store.take([*rows_of(HALTED, after=4), again, *rows_of(ACTED, after=6)])
    assert told == [(5, HALTED), (7, ACTED)]


def test_a_copy_keeps_no_market_that_ended(tmp_path: Path) -> None:
    store = following(tmp_path)
    store.world.ended["m1"] = listed(bare_world(), "m1")
    store.take(())
    assert store.world.ended == {}


async def test_a_copy_is_handed_over_once_and_answers_nothing_afterwards(tmp_path: Path) -> None:
    store = following(tmp_path, seq=9)
    assert await store.on_disk() == 0
    store.check_following()
    assert store.hand_over() == (store.world, 9)
    assert store.hand_over() is None
    with pytest.raises(StorageError, match="over"):
        await store.on_disk()
    with pytest.raises(StorageError, match="made anew"):
        store.check_following()


@pytest.mark.parametrize("change", ["commit", "fill", "advance", "play", "check_whole"])
async def test_a_copy_writes_nothing(tmp_path: Path, change: str) -> None:
    store = following(tmp_path, seq=3)
    changes: dict[str, Callable[[], Any]] = {
        "commit": lambda: store.commit([]),
        "fill": lambda: store.fill(cast("Any", None), AT),
        "advance": lambda: store.advance(AT),
        "play": lambda: store.play((AT, AT), {}),
        "check_whole": store.check_whole,
    }
    with pytest.raises(NotLeadingError, match="writes nothing"):
        await cast("Awaitable[None]", changes[change]())
    # Nothing was applied before, so that the copy is as good as it was.
    assert store.hand_over() == (store.world, 3)


async def test_a_copy_that_a_call_has_changed_is_handed_to_nobody(tmp_path: Path) -> None:
    store = following(tmp_path)
    for events in ([HALTED], []):
        with pytest.raises(NotLeadingError):
            await store.commit(events)
    with pytest.raises(StorageError, match="made anew"):
        store.check_following()
    assert store.hand_over() is None


class QuietError(Exception):
    """Nothing more comes."""


@dataclass
class Feed:
    """A journal of which a test says what each reading finds; then it is quiet."""

    readings: list[list[JournalRow]]
    asked: list[int] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)

    def rows_after(self, seq: int) -> list[JournalRow]:
        self.asked.append(seq)
        return self.readings.pop(0)

    async def changed(self, seconds: float) -> None:
        self.waited.append(seconds)
        if not self.readings:
            raise QuietError


@dataclass
class Clock(ManualClock):
    """Time that a pause moves by itself."""

    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(0.0)

    async def sleep(self, delay_s: float) -> None:
        self.pauses.append(delay_s)


def copy_of(store: FollowingStore, feed: Feed, renewed: Callable[[], None]) -> FollowingCopy:
    database = Database(Path("none/none"), port=None, with_wal=False, timeout_s=0.1)
    service = service_on(store, database, Clock(), SimSettings(seed=7, topics=TOPICS))

    async def renew() -> None:
        renewed()

    access = Access("")
    copy = FollowingCopy(store, cast("JournalFeed", feed), service, access, renew=renew)
    assert (copy.store, copy.service, copy.access) == (store, service, access)
    return copy


async def followed(copy: FollowingCopy) -> None:
    """Follow until the journal is quiet."""
    with pytest.raises(QuietError):
        await copy.follow()


async def test_a_copy_reads_on_where_it_stands_and_rests_after_each_reading(
    tmp_path: Path,
) -> None:
    feed = Feed([rows_of(HALTED, after=4), [], rows_of(HALTED, HALTED, after=5), []])
    copy = copy_of(following(tmp_path, seq=4), feed, lambda: None)
    await followed(copy)
    clock = cast("Clock", copy.service.clock)
    assert (feed.asked, copy.store.seq) == ([4, 5, 5, 7], 7)
    assert (feed.waited, clock.pauses) == ([POLL_S] * 4, [GAP_S] * 2)


async def test_who_operates_is_read_anew_after_an_act_before_the_copy_answers(
    tmp_path: Path,
) -> None:
    fresh: list[bool] = []
    feed = Feed([[], rows_of(HALTED), rows_of(ACTED, after=1)])
    copy = copy_of(following(tmp_path), feed, lambda: fresh.append(copy.is_fresh))
    assert not copy.is_fresh
    await followed(copy)
    assert fresh == [False]
    assert copy.is_fresh


async def test_of_a_long_journal_nothing_is_shown_before_its_end(tmp_path: Path) -> None:
    fresh: list[bool] = []
    many = rows_of(*[HALTED] * FEED_ROWS_MAX)
    feed = Feed([[], many, rows_of(ACTED, after=FEED_ROWS_MAX)])
    copy = copy_of(following(tmp_path), feed, lambda: None)
    asked = feed.rows_after

    def rows_after(seq: int) -> list[JournalRow]:
        fresh.append(copy.is_fresh)
        return asked(seq)

    feed.rows_after = rows_after  # type: ignore[method-assign]
    await followed(copy)
    assert fresh == [False, True, False]
    # After a full reading it does not wait: there is more.
    assert len(feed.waited) == 2


async def test_a_copy_answers_until_its_last_look_is_too_long_ago(tmp_path: Path) -> None:
    copy = copy_of(following(tmp_path), Feed([rows_of(HALTED)]), lambda: None)
    clock = cast("Clock", copy.service.clock)
    await clock.advance(FRESH_S)
    await followed(copy)
    assert (copy.lag_s, await copy.reaches(1)) == (0.0, True)
    await clock.advance(FRESH_S)
    assert (copy.lag_s, copy.is_fresh) == (FRESH_S, True)
    await clock.advance(0.01)
    assert (copy.is_fresh, await copy.reaches(1)) == (False, False)


async def test_who_waits_for_a_row_goes_on_as_soon_as_it_is_taken(tmp_path: Path) -> None:
    feed = Feed([rows_of(HALTED)])
    copy = copy_of(following(tmp_path), feed, lambda: None)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(copy.reaches(1))
        beyond = group.create_task(copy.reaches(2))
        await followed(copy)
    assert (waiting.result(), beyond.result()) == (True, False)


async def test_a_copy_that_was_changed_takes_no_more_rows(tmp_path: Path) -> None:
    feed = Feed([rows_of(HALTED)])
    copy = copy_of(following(tmp_path), feed, lambda: None)
    copy.store.hand_over()
    with pytest.raises(StorageError, match="made anew"):
        await copy.follow()
    assert copy.store.seq == 0


@pytest.mark.parametrize(
    ("rows", "ends"),
    [
        ([], (4, 4)),
        (rows_of(HALTED, ACTED, after=4), (6, 6)),
        (rows_of(HALTED, after=4), (6, None)),
        (rows_of(HALTED, after=5), (5, None)),
        ([JournalRow(5, AT, kind_of(ACTED), None, None, "[]")], (5, None)),
    ],
)
async def test_who_leads_next_takes_a_copy_that_is_whole_and_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[JournalRow],
    ends: tuple[int, int | None],
) -> None:
    last, seq = ends
    asked: list[int] = []
    monkeypatch.setattr(
        JournalStore, "rows_after", lambda _, after: asked.append(after) or iter(rows)
    )
    monkeypatch.setattr(JournalStore, "last_seq", lambda _: last)
    world = World(7, AT, TOPICS)
    world.ended["m1"] = listed(bare_world(), "m1")
    database = Database(tmp_path / "none", port=None, with_wal=False, timeout_s=0.1)
    found = await caught_up(database, (world, 4))
    assert asked == [4]
    assert found == (None if seq is None else (world, seq))
    if seq is not None:
        assert (world.ended, world.halt.since) == ({}, AT if rows else None)


async def test_a_copy_begins_with_the_newest_snapshot_and_with_who_operates(
    tmp_path: Path,
) -> None:
    lock = DataDirLock.acquire(tmp_path / "data", pid=1, now=AT)
    database = open_database(tmp_path / "data", now=AT, lock=lock)
    settings = SimSettings(seed=7, topics=TOPICS, operator_hash=hash_of("sk_ops"))
    feed = cast("JournalFeed", Feed([]))
    with pytest.raises(StorageError, match="not begun"):
        async with open_copy(database, feed, Clock(), settings):
            pass
    world = World(7, AT, TOPICS)
    world.apply(HALTED)
    await begin(database, world)
    eve = PersonRecord("eve", "trader", "s", "h", AT, "owner")
    await database.write(lambda connection: keep_person(connection, eve))
    async with open_copy(database, feed, Clock(), settings) as copy:
        assert (copy.store.seq, copy.store.world.halt.since) == (0, AT)
        operator = Headers({"authorization": "Bearer sk_ops"})
        assert copy.access.operator(copy.service, operator) is THE_OWNER
        assert copy.service.people.records == (eve,)
        assert copy.service.follows
    database.close(AT)
    lock.release()
