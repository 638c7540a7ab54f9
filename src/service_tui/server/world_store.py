"""Keeps the world and its journal in step: nothing is answered that is not on disk.

Events are applied in memory first, in one go, then written; the caller is answered after the
write. When a write fails memory is ahead of the disk: the keeper refuses everything until it has
read the world back.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NoReturn

from service_tui.engine import halting
from service_tui.engine.amm.exchange import Order
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.codec.errors import NewerJournalError
from service_tui.engine.events import (
    Event,
    Fill,
    MarketResolved,
    OperatorActed,
    OrderEnded,
    RiskEvent,
    Settlement,
    VenueEvent,
    kind_of,
)
from service_tui.engine.notify_events import AgentAlertFired, PriceAlertTriggered
from service_tui.engine.tape.topics import Topics
from service_tui.engine.tick import advance, play
from service_tui.engine.world import World
from service_tui.records import read as read_record
from service_tui.server.events.listeners import EventHub
from service_tui.server.past.digest import Digest
from service_tui.server.past.history import ORDER_END, REPEATED, Past, owned_rows, past_of
from service_tui.server.past.markets import PastMarkets
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.answers import Answer, Answers
from service_tui.storage.ended_markets import EndedMarkets
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import History, JournalRow, JournalStore, Snapshot
from service_tui.storage.world_database import WorldDatabase, WriteConnection
from service_tui.terms import Venue
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

_SENSELESS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading damaged JSON, or making something of it, may end in."""

SNAPSHOT_ROWS: Final = 2_000
"""Rows after which a snapshot is taken: a restart replays at most so many, well under a second."""

ENDS_PAGE: Final = 500
"""Ends of orders that are read at one time."""

Ends = dict[str, OrderEnded]


class WorldStore:  # noqa: PLR0904  (the one way to the world and to what became of it)
    """The world of one data directory, and the only way to change it.

    `is_halt_due`: an operator halted it, and that is not known to be on disk. While the disk
    refuses nothing is traded; as soon as it takes something again, that is the halt.
    """

    def __init__(
        self, database: WorldDatabase, world: World, seq: int, *, is_brief: bool = False
    ) -> None:
        self.world = world
        self.events = EventHub(lambda: self.world, seq)
        self._database = database
        self._journal = JournalStore(database)
        self._agent_rows = AgentRows(database)
        self._answers = Answers(database)
        self.past = PastMarkets(database, lambda: self.world)
        self.digest = Digest(database)
        self._seq = seq
        # Not known, so taken to be long ago: the first commit of a run may take a snapshot. Who is
        # here for a moment leaves that to the next one that stays.
        self._snapshot_seq = seq if is_brief else 0
        self._failed: StorageError | None = None
        # Up to which row memory is known to be on disk, and whether it may hold what was refused.
        self._written_seq = seq
        self._is_ahead = self._is_unsure = False
        self._refusals = 0
        self.writes_refused = 0
        """How often no change was taken, since the disk or the database took one last."""
        self.is_halt_due = False
        self._reading_back = asyncio.Lock()

    async def commit(
        self,
        events: Sequence[Event],
        *,
        answer: Answer | None = None,
        beside: Callable[[WriteConnection], None] | None = None,
    ) -> None:
        """Write down what has just been applied, and the answer to it under an idempotency key.

        Args:
            events: what happened, applied already.
            answer: kept under its key.
            beside: what else is written in the same transaction; with at least one event.

        Raises:
            StorageError: the disk refused; the world will be read back before anything else.
        """
        if not events and answer is None:
            return
        try:
            self.check_whole()
        except StorageError as error:
            # Memory has what was not written, and will not be.
            self.writes_refused += 1
            self._distrust(error)
            raise
        rows = [row for event in events for row in self._rows(event)]
        try:
            await self._journal.append(
                rows, answer=answer, ended=self.past.just_ended(), beside=beside
            )
        except asyncio.CancelledError:
            # It is written all the same, or refused: listeners and readers have to look again.
            self._is_unsure = True
            self.events.start_over(self._seq, self.world.at)
            raise
        except StorageError as error:
            # Who came later met only the gap that the first failure left: all are notified of that
            # one.
            self._distrust(error)
            self.check_whole()
        if rows:
            self.writes_refused = 0
            # Of what is written at the same moment the first to be told may not be the first row.
            self._written_seq = max(self._written_seq, rows[-1].seq)
        heads = [row.seq for row in rows if row.kind not in REPEATED]
        self.events.publish(list(zip(heads, events, strict=True)))
        if self._seq - self._snapshot_seq >= SNAPSHOT_ROWS:
            await self._take_snapshot(self.world.at)

    def fill(self, order: Order, at: Timestamp) -> Fill:
        """Carry out an order in memory; the caller must commit it before anything else happens.

        Returns:
            The fill, not yet on disk.

        Raises:
            Refusal: the venue refused; nothing changed.
            StorageError: the disk refused earlier, and the world is not read back yet.
        """
        self.check_whole()
        return self.world.place(order, at)

    async def place(self, order: Order, at: Timestamp) -> Fill:
        """Carry out an order; it is on disk when this returns.

        Returns:
            The fill.

        Raises:
            Refusal: the venue refused; nothing changed.
            StorageError: the disk refused; nothing was traded.
        """
        fill = self.fill(order, at)
        await self.commit((fill,))
        return fill

    async def advance(self, at: Timestamp) -> None:
        """Move the tape to a wall time, after reading the world back if that is due.

        Raises:
            StorageError: the disk refuses still.
        """
        await self._made_whole(at)
        await self.commit(advance(self.world, at))

    async def _made_whole(self, at: Timestamp) -> None:
        """Read the world back if that is due, and halt it first of all if that was refused."""
        if self._failed is not None:
            await self._read_back()
        if self.is_halt_due:
            # Nothing is traded between the two: there is no wait before the halt is in memory.
            await self.commit(halting.halt(self.world, at))
            self.is_halt_due = False

    async def play(
        self,
        times: tuple[Timestamp, Timestamp],
        prices: Mapping[str, float],
        settled: tuple[Settlement, ...] = (),
    ) -> list[Event]:
        """Move a scripted world, after reading it back if that is due; see `tick.play`.

        Returns:
            What it brought, on disk.

        Raises:
            StorageError: the disk refuses still.
        """
        await self._made_whole(times[0])
        events = play(self.world, times, prices, settled)
        await self.commit(events)
        return events

    def distrust(self) -> None:
        """Let nothing build upon memory before it is read back: a call broke off half-way."""
        self._distrust(StorageError("a request was interrupted"))

    def _distrust(self, error: StorageError) -> None:
        self._failed = self._failed or error
        self._is_ahead = True
        self._refusals += 1

    def check_whole(self) -> None:
        """Refuse while memory is ahead of the disk, or another process may change the world.

        Raises:
            StorageError: a write failed, and the world is not read back yet.
        """
        self._database.check()
        if self._failed is not None:
            self.writes_refused += 1
            # Raised again and again: without this each time would hang on to another call.
            raise self._failed.with_traceback(None)

    async def history(
        self, criteria: History, *, limit: int, offset: int
    ) -> tuple[list[Past], int]:
        """An agent's fills, orders and payouts, newest first, and how many there are."""

        def read() -> tuple[list[Past], int]:
            rows, total = self._journal.rows_of(criteria, limit=limit, offset=offset)
            return [past_of(row.kind, row.body) for row in rows], total

        return await asyncio.to_thread(read)

    @property
    def seq(self) -> int:
        """The row of what happened last, which may be on its way to the disk still."""
        return self._seq

    @property
    def written_seq(self) -> int:
        """The last row that is known to be on disk."""
        return self._written_seq

    async def on_disk(self) -> int:
        """Wait until memory holds nothing that is not on disk; what was refused is taken back.

        Whoever reads waits before and after: what a reading is made of stood on disk if both answer
        the same.

        Returns:
            How often something has been refused so far.

        Raises:
            StorageError: what is on disk cannot be read, or another process may change it.
        """
        self._database.check()
        if self._written_seq < self._seq and not self._is_ahead:
            seq = self._seq
            with suppress(StorageError):
                await self.written()
                await self._fetch_after(seq)
                self._written_seq = max(self._written_seq, seq)
        if self._is_ahead:
            async with self._reading_back:
                if self._failed is not None and self._is_ahead:
                    await self._take_from_disk(self._failed)
        return self._refusals

    async def _fetch_after(self, seq: int) -> None:
        """Distrust memory where a row is not on disk whose writer did not wait for its end."""
        if self._is_unsure and await asyncio.to_thread(self._journal.last_seq) < seq:
            self._distrust(StorageError("the disk refused a background write"))
        self._is_unsure = False

    async def written(self) -> None:
        """Wait until what has happened by now is on disk.

        Raises:
            StorageError: the disk refused.
        """
        # One writer takes what it is given in order: after this come only later things.
        await self._database.write(lambda _: None)
        self.check_whole()

    async def rows_of_agents(
        self, after: int, kinds: Sequence[str], *, limit: int
    ) -> list[JournalRow]:
        """Rows of these kinds, of all agents, after a row and oldest first."""
        return await asyncio.to_thread(self._journal.rows_of_agents, after, kinds, limit=limit)

    async def history_of_all(
        self, kinds: Sequence[str], before: int | None, *, limit: int
    ) -> list[JournalRow]:
        """The newest rows of all agents before a row, newest first."""
        return await asyncio.to_thread(self._agent_rows.before, before, kinds, limit=limit)

    def pasts_since(self, at: Timestamp, kinds: Sequence[str]) -> Iterator[tuple[str, list[Past]]]:
        """The whole past of each agent that has a row since a time, oldest first; blocks."""
        for rows in self._agent_rows.since(at, kinds):
            yield rows[0].agent_id or "", [past_of(row.kind, row.body) for row in rows]

    async def acts(self, limit: int) -> list[tuple[int, OperatorActed]]:
        """What people changed, newest first, with the rows of the journal."""
        rows = await asyncio.to_thread(self._agent_rows.of_people, limit)
        return [(row.seq, read_record(OperatorActed, json.loads(row.body))) for row in rows]

    async def ends_before(
        self, who: tuple[str, Venue], kinds: Sequence[str], before: int | None, *, limit: int
    ) -> list[tuple[int, Past]]:
        """How an agent's positions on a venue ended, before a row and newest first, with rows."""

        def read() -> list[tuple[int, Past]]:
            agent_id, venue = who
            account = (agent_id, venue.value)
            rows = self._agent_rows.ends_before(account, kinds, before, limit=limit)
            return [(row.seq, past_of(row.kind, row.body)) for row in rows]

        return await asyncio.to_thread(read)

    async def ends(self, agent_id: str, order_ids: Collection[str], since: Timestamp) -> Ends:
        """How orders that no longer rest have ended, by their ids.

        Args:
            agent_id: whose orders.
            order_ids: those wanted.
            since: when the oldest of them was placed.

        Returns:
            Their ends, as far as they have one.
        """
        found: Ends = {}
        criteria = History(agent_id, (ORDER_END,), None, since, None)
        offset = 0
        while len(found) < len(order_ids):
            rows, _ = await asyncio.to_thread(
                self._journal.rows_of, criteria, limit=ENDS_PAGE, offset=offset
            )
            ends = [read_record(OrderEnded, json.loads(row.body)) for row in rows]
            found |= {end.order_id: end for end in ends if end.order_id in order_ids}
            offset += len(rows)
            if len(rows) < ENDS_PAGE:
                break
        return found

    async def ends_after(self, row: int, order_ids: Collection[str]) -> Ends:
        """How orders of any agents that no longer rest have ended, by their ids.

        Args:
            row: none of them was placed before it.
            order_ids: those wanted.

        Returns:
            Their ends, as far as they have one.
        """
        found: Ends = {}
        while len(found) < len(order_ids):
            # Oldest first: most orders end soon after they were placed.
            rows = await self.rows_of_agents(row, (ORDER_END,), limit=ENDS_PAGE)
            ends = [read_record(OrderEnded, json.loads(one.body)) for one in rows]
            found |= {end.order_id: end for end in ends if end.order_id in order_ids}
            if len(rows) < ENDS_PAGE:
                break
            row = rows[-1].seq
        return found

    async def close(self, at: Timestamp) -> None:
        """Take a last snapshot, so that the next start replays nothing."""
        if self._failed is None and self._seq > self._snapshot_seq:
            await self._take_snapshot(at)

    def _rows(self, event: Event) -> list[JournalRow]:
        """The event's row, and one more for each agent that it paid."""
        owned = isinstance(event, Fill | VenueEvent | RiskEvent)
        agent_id = event.agent_id if owned else None
        market_id = event.market_id if owned or isinstance(event, MarketResolved) else None
        if isinstance(event, PriceAlertTriggered | AgentAlertFired | WalletLinked):
            agent_id = event.agent_id
        rows = [self._row(event.at, kind_of(event), (agent_id, market_id), codec.encode(event))]
        if isinstance(event, MarketResolved):
            for kind, venue, paid, fields in owned_rows(event):
                owner = (paid.agent_id, event.market_id)
                row = self._row(event.at, kind, owner, codec.dumps(fields))
                rows.append(replace(row, venue=venue.value))
        return rows

    def _row(
        self, at: float, kind: str, owner: tuple[str | None, str | None], body: str
    ) -> JournalRow:
        self._seq += 1
        return JournalRow(self._seq, at, kind, *owner, body)

    async def _take_snapshot(self, at: Timestamp) -> None:
        """Shorten the next replay. A failure costs only that: the events are on disk already."""
        seq, self._snapshot_seq = self._seq, self._seq
        body = codec.dumps(snapshot.fields_of(self.world)).encode()
        try:
            await self._journal.add_snapshot(Snapshot(seq, at, body))
            await self._journal.prune_tape(seq)
            await self._answers.forget_old(at)
        except StorageError as error:
            log.warning("no snapshot at row %d: %s", seq, error)

    async def _read_back(self) -> None:
        """Take the world from disk again after a failed write."""
        async with self._reading_back:
            if self._failed is None:
                return
            try:
                await self._database.reopen()
            finally:
                # Also when nothing can be written yet: a refused change must not be read.
                await self._take_from_disk(self._failed)
            self._failed = None
            # Of what failed some may be on disk after all, and no caller was notified of it.
            self.events.start_over(self._seq, self.world.at)
            log.info("world restored at row %d", self._seq)

    async def _take_from_disk(self, failure: StorageError) -> None:
        with suppress(StorageError):
            # What was given to the writer before may still arrive.
            await self._database.write(lambda _: None)
        found = await asyncio.to_thread(restore, self._database, self.world.topics)
        if found is None:
            raise failure
        self.world, self._seq = found
        self._snapshot_seq = self._written_seq = self._seq
        self._is_ahead = False


def restore(database: WorldDatabase, topics: Topics) -> tuple[World, int] | None:
    """Read the world on disk, whose markets are about these topics; blocks.

    Returns:
        The world and the number of its last row, None where there is none.

    Raises:
        DamagedRowsError: rows are missing or make no sense, from whichever snapshot one begins.
        NewerJournalError: a newer program wrote it.
    """
    journal = JournalStore(database)
    snapshots = journal.snapshots()
    for found in snapshots:
        world = world_in(found, topics)
        if world is not None:
            return world, replay(journal, world, found.seq)
        journal.keep_aside(found.seq, found.body)
    if snapshots:
        raise DamagedRowsError("no readable snapshot of the sim")
    return None


def world_in(found: Snapshot, topics: Topics) -> World | None:
    """The world of a snapshot, None where it makes no sense."""
    try:
        fields = json.loads(found.body, parse_constant=_refuse_constant)
        return snapshot.world_of(fields, topics)
    except NewerJournalError:
        raise
    except _SENSELESS as error:
        log.warning("snapshot at row %d skipped (%s)", found.seq, type(error).__name__)
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of ours")


def replay(journal: JournalStore, world: World, seq: int, *, until: int | None = None) -> int:
    """Let everything after row `seq` happen again, up to row `until` or the last.

    Returns:
        The number of the last row.

    Raises:
        DamagedRowsError: a row makes no sense.
        NewerJournalError: a newer program wrote it.
    """
    for row in journal.rows_after(seq):
        if until is not None and row.seq > until:
            break
        seq = row.seq
        apply_row(world, row)
    return seq


def apply_row(world: World, row: JournalRow) -> Event | None:
    """Let what a row of the journal records happen again.

    Returns:
        The event, None for a row that only repeats one for somebody.

    Raises:
        DamagedRowsError: the row makes no sense.
        NewerJournalError: a newer program wrote it.
    """
    if row.kind in REPEATED:
        return None
    try:
        event = codec.decode(row.kind, row.body)
        world.apply(event)
    except NewerJournalError:
        raise
    except _SENSELESS as error:
        odd = f"row {row.seq} of the journal is invalid: {error}"
        raise DamagedRowsError(odd, seq=row.seq) from error
    return event


async def begin(database: WorldDatabase, world: World) -> WorldStore:
    """A keeper of a new world; its first snapshot is on disk before anything else is."""
    world_store = WorldStore(database, world, 0)
    body = codec.dumps(snapshot.fields_of(world)).encode()
    await JournalStore(database).add_snapshot(Snapshot(0, world.at, body))
    # No older program ever wrote here: its first restart need not look for what one left out.
    await EndedMarkets(database).mark_filled_in(0)
    return world_store
