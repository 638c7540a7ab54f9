"""A copy of a world that another process leads: follows the journal, and answers reads."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, NoReturn

from service_tui.clock import Clock
from service_tui.engine.amm.exchange import Order
from service_tui.engine.events import Event, Fill, OperatorActed, Settlement
from service_tui.engine.tape.topics import Topics
from service_tui.server.app import create_app
from service_tui.server.http.access import Access
from service_tui.server.http.service import Service
from service_tui.server.startup import SimSettings, WarmWorld, read_who_operates, service_on
from service_tui.server.world_store import WorldStore, apply_row, world_in
from service_tui.storage.answers import Answer
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.shared.errors import NotLeadingError
from service_tui.storage.shared.feed import FEED_ROWS_MAX, JournalFeed
from service_tui.storage.world_database import WorldDatabase, WriteConnection
from service_tui.units import Timestamp

POLL_S: Final = 0.3
"""How often a follower looks for rows without being woken."""

GAP_S: Final = 0.005
"""ours: the pause between two readings of a busy journal; what comes meanwhile is read together."""

FRESH_S: Final = 1.4
"""A follower that has not seen the end of the journal for so long answers nothing by itself. The
same as for a leader that has not beaten: no answer of either is older."""

WAIT_S: Final = 0.05
"""How long a call waits for a row that it wants, before it is forwarded to the leader."""


class FollowingStore(WorldStore):
    """The world of another process: it changes by rows of the journal alone, and writes nothing."""

    def __init__(self, database: WorldDatabase, world: WarmWorld) -> None:
        super().__init__(database, *world, is_brief=True)
        self._is_over = False

    def take(self, rows: Sequence[JournalRow]) -> bool:
        """Let rows happen here that follow the last one, and notify those who listen.

        Returns:
            True if an operator changed something, perhaps what is in no row: people, invitations.

        Raises:
            DamagedRowsError: a row makes no sense; the copy is of no use any more.
            NewerJournalError: a newer program wrote it.
        """
        has_acted = False
        for row in rows:
            event = apply_row(self.world, row)
            has_acted |= isinstance(event, OperatorActed)
            self._seq = self._written_seq = row.seq
            if event is not None:
                self.events.publish([(row.seq, event)])
        # The leader keeps the markets that ended.
        self.world.ended.clear()
        return has_acted

    def hand_over(self) -> WarmWorld | None:
        """The world, for the process that leads now; reads under way here are refused.

        Returns:
            None for a world that is not to be trusted.
        """
        was_over, self._is_over = self._is_over, True
        return None if was_over else (self.world, self._seq)

    def check_following(self) -> None:
        """Refuse to go on with a world that a handler has changed.

        Raises:
            StorageError: one has; the copy is of no use any more.
        """
        if self._is_over:
            raise StorageError("a call changed the copy; it is made anew")

    async def on_disk(self) -> int:
        """Nothing to wait for: what is here was on disk before.

        Returns:
            0.

        Raises:
            StorageError: another keeper has the world by now.
        """
        if self._is_over:
            raise StorageError("this copy of the world is over; try again")
        return 0

    async def written(self) -> None:
        """Nothing to wait for."""

    def check_whole(self) -> NoReturn:
        """Refuse: the caller is about to change the world.

        Raises:
            NotLeadingError: always.
        """
        raise NotLeadingError("this process follows another one; it writes nothing")

    async def commit(
        self,
        events: Sequence[Event],
        *,
        answer: Answer | None = None,
        beside: Callable[[WriteConnection], None] | None = None,
    ) -> None:
        """Refuse, and trust this copy no longer: what is written down was applied before."""
        del answer, beside
        self._is_over |= bool(events)
        self.check_whole()

    def fill(self, order: Order, at: Timestamp) -> Fill:
        """Refuse."""
        del order, at
        self.check_whole()

    async def advance(self, at: Timestamp) -> None:
        """Refuse."""
        del at
        self.check_whole()

    async def play(
        self,
        times: tuple[Timestamp, Timestamp],
        prices: Mapping[str, float],
        settled: tuple[Settlement, ...] = (),
    ) -> list[Event]:
        """Refuse."""
        del times, prices, settled
        self.check_whole()


class FollowingCopy:
    """A copy that follows its leader, and the app that answers reads from it."""

    def __init__(
        self,
        store: FollowingStore,
        feed: JournalFeed,
        service: Service,
        access: Access,
        *,
        renew: Callable[[], Awaitable[None]],
    ) -> None:
        # `renew` reads anew who operates the world.
        self.app = create_app(service, access)
        self.access = access
        self.service = service
        self._renew = renew
        self.store = store
        self._feed = feed
        self._clock = service.clock
        self._fresh_at = float("-inf")
        self._moved = asyncio.Event()

    @property
    def lag_s(self) -> float:
        """Seconds since every row of the journal was known to be in this copy."""
        return self._clock.monotonic() - self._fresh_at

    @property
    def is_fresh(self) -> bool:
        """True if the copy may answer: it is not older than a leader's answer would be."""
        return self.lag_s <= FRESH_S

    async def follow(self) -> NoReturn:
        """Take in rows as they are committed.

        Raises:
            StorageError: the database does not answer, or the rows go on elsewhere: begin anew.
        """
        while True:
            began = self._clock.monotonic()
            rows = await asyncio.to_thread(self._feed.rows_after, self.store.seq)
            self.store.check_following()
            if self.store.take(rows):
                # Until then a person whose end is in these rows would still be let in.
                self._fresh_at = float("-inf")
                await self._renew()
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()
            if len(rows) == FEED_ROWS_MAX:
                # There are more. A part of what happened at one time is shown to no one.
                self._fresh_at = float("-inf")
                continue
            self._fresh_at = began
            if rows:
                await self._clock.sleep(GAP_S)
            await self._feed.changed(POLL_S)

    async def reaches(self, seq: int) -> bool:
        """True if the copy has a row, or gets it within a moment."""
        try:
            async with asyncio.timeout(WAIT_S):
                while self.store.seq < seq:
                    await self._moved.wait()
        except TimeoutError:
            return False
        return self.is_fresh


@asynccontextmanager
async def open_copy(
    database: WorldDatabase, feed: JournalFeed, clock: Clock, settings: SimSettings
) -> AsyncGenerator[FollowingCopy]:
    """A copy of a world, as its newest snapshot has it; `follow` brings the rest.

    Args:
        database: for reading.
        feed: open, and closed by whoever opened it.
        clock: time.
        settings: as those of the leader; they hold the hash of the operator's key.

    Yields:
        The copy.

    Raises:
        StorageError: the world has not begun, or cannot be read.
    """
    world = await asyncio.to_thread(_newest, database, settings.topics)
    store = FollowingStore(database, world)
    # ours: each follower counts the reads that it answers by itself. To ask the leader for each of
    # them would cost what followers are there to save; writes are counted by the leader alone.
    service = service_on(store, database, clock, settings)
    service.follows = True

    async def renew() -> None:
        await read_who_operates(service, database)

    await renew()
    access = Access(settings.operator_hash)
    copy = FollowingCopy(store, feed, service, access, renew=renew)
    async with copy.app.router.lifespan_context(copy.app):
        yield copy


def _newest(database: WorldDatabase, topics: Topics) -> WarmWorld:
    for found in JournalStore(database).readable():
        world = world_in(found, topics)
        if world is not None:
            return world, found.seq
    raise StorageError("the world has not begun yet")


async def caught_up(database: WorldDatabase, warm: WarmWorld) -> WarmWorld | None:
    """A copy with every row of the database, for the process that leads from now on.

    Args:
        database: of the new leader, so that no other process writes to it.
        warm: the copy; it is changed.

    Returns:
        The copy, None where it cannot be shown that it is whole: then read the world anew.
    """
    world, seq = warm
    journal = JournalStore(database)

    def read() -> tuple[list[JournalRow], int]:
        return list(journal.rows_after(seq)), journal.last_seq()

    try:
        rows, last = await asyncio.to_thread(read)
        for row in rows:
            seq += 1
            if row.seq != seq:
                return None
            # Here, not in the thread: what was read from this world a moment ago may read on.
            apply_row(world, row)
    except DamagedRowsError:
        return None
    world.ended.clear()
    return (world, seq) if seq == last else None
