"""Keeps the entries, a digest of the journal, in step with it: what each buy has brought so far.

Nothing waits for it: it reads what is on disk already.

Shares are taken from entries as the outcomes take them from books: a sale from those of the skill
that sells, then from the others, oldest first; a payout closes all.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.events import Fill, OrderPlaced
from service_tui.server.past.agent_past import ALL, AgentFill, AgentPayout, in_one_form
from service_tui.server.past.history import Past, past_of
from service_tui.storage.entries import EntryStore, StoredEntry
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import Action, Venue

CHUNK: Final = 1_000
"""Rows taken in at one time: some hundredths of a second of a thread."""

SignalData = dict[str, str | float | int]

Place = tuple[str, str]
"""An agent and a market."""


class Digest:
    """The entries of one data directory, brought up to date when they are read."""

    def __init__(self, database: WorldDatabase) -> None:
        self.entries = EntryStore(database)
        self._journal = JournalStore(database)
        self._turn = asyncio.Lock()

    async def catch_up(self) -> int:
        """Take in all that happened since the last time.

        Fails with `StorageError` where the disk refuses; what was taken in stays.

        Returns:
            How many rows of agents there were.
        """
        total = 0
        work = _Work(self.entries)
        async with self._turn:
            while True:
                chunk, seq = await asyncio.to_thread(self._next)
                if not chunk:
                    return total
                await asyncio.to_thread(self._take, work, chunk)
                await self.entries.take(work.new.values(), work.changed, seq)
                total += len(chunk)

    def _next(self) -> tuple[list[JournalRow], int]:
        rows = self._journal.rows_of_agents(self.entries.read_to(), ALL, limit=CHUNK)
        return rows, rows[-1].seq if rows else 0

    def _take(self, work: "_Work", chunk: list[JournalRow]) -> None:
        work.begin()
        for row in chunk:
            work.take(row, past_of(row.kind, row.body))


@dataclass(slots=True)
class _Work:
    """What is being taken in. `new` are the buys of the chunk, `moved` older ones that changed.

    `held` is what was looked up so far, and `bought` what came since, by agent and market.
    """

    entries: EntryStore
    new: dict[str, StoredEntry] = field(default_factory=dict[str, StoredEntry])
    moved: dict[int, StoredEntry] = field(default_factory=dict[int, StoredEntry])
    held: dict[Place, list[StoredEntry]] = field(default_factory=dict[Place, list[StoredEntry]])
    bought: dict[Place, list[StoredEntry]] = field(default_factory=dict[Place, list[StoredEntry]])

    def begin(self) -> None:
        """The next chunk; what is held stays looked up."""
        self.new, self.moved = {}, {}

    @property
    def changed(self) -> list[StoredEntry]:
        """Entries of earlier chunks that are not as they were."""
        fresh = {one.seq for one in self.new.values()}
        return [one for seq, one in self.moved.items() if seq not in fresh]

    def take(self, row: JournalRow, past: Past) -> None:
        """Take in one row; in the order in which they happened."""
        if row.agent_id is None:
            return
        if isinstance(past, OrderPlaced) and past.action is Action.BUY:
            self._begin(row, past.order_id, past)
        for one in in_one_form((past,)):
            match one:
                case AgentFill(action=Action.BUY):
                    self._buy(row, one, past)
                case AgentFill():
                    self._sell(row.agent_id, one)
                case AgentPayout():
                    self._pay(row.agent_id, one)

    def _begin(self, row: JournalRow, trade_id: str, order: OrderPlaced | Fill) -> StoredEntry:
        """An entry without shares yet: an order may wait for them."""
        note = order.note
        venue = order.venue if isinstance(order, OrderPlaced) else Venue.SIM
        made = StoredEntry(
            seq=row.seq,
            trade_id=trade_id,
            agent_id=order.agent_id,
            venue=venue.value,
            skill=note.skill_slug,
            market_id=order.market_id,
            side=order.side.value,
            at=row.at,
            shares=0,
            money=0,
            open_shares=0,
            signal=_figures(note.signal_data),
        )
        self.new[trade_id] = made
        self.bought.setdefault((made.agent_id, made.market_id), []).append(made)
        return made

    def _buy(self, row: JournalRow, fill: AgentFill, past: Past) -> None:
        entry = self.new.get(fill.trade_id)
        if entry is None and isinstance(past, Fill):
            entry = self._begin(row, fill.trade_id, past)
        if entry is None:
            entry = self._earlier(fill.trade_id)
        if entry is None:
            return
        entry.shares += int(fill.shares)
        entry.money += int(fill.money)
        entry.open_shares += int(fill.shares)
        self.moved[entry.seq] = entry

    def _earlier(self, trade_id: str) -> StoredEntry | None:
        """The entry of an order that was placed in an earlier chunk."""
        found = self.entries.of_trade(trade_id)
        if found is None:
            return None
        held = self._held_in(found.agent_id, found.market_id)
        same = next((one for one in held if one.seq == found.seq), None)
        if same is None:
            # Nothing of it is held: it still waits for its first shares, or sold them all.
            held.append(found)
            held.sort(key=lambda one: one.seq)
        return same or found

    def _sell(self, agent_id: str, fill: AgentFill) -> None:
        place = (fill.venue.value, fill.side.value)
        held = [
            one
            for one in self._held_in(agent_id, fill.market_id)
            if one.open_shares and (one.venue, one.side) == place
        ]
        left, proceeds = int(fill.shares), int(fill.money)
        # A stable order: the selling skill's own first, each the oldest first.
        for entry in sorted(held, key=lambda one: one.skill != fill.skill):
            sold = min(left, entry.open_shares)
            part = proceeds * sold // left
            entry.open_shares -= sold
            entry.back += part
            left, proceeds = left - sold, proceeds - part
            self.moved[entry.seq] = entry
            if not left:
                return

    def _pay(self, agent_id: str, paid: AgentPayout) -> None:
        for entry in self._held_in(agent_id, paid.market_id):
            if entry.open_shares and (entry.venue, entry.side) == (
                paid.venue.value,
                paid.side.value,
            ):
                entry.back += entry.open_shares if paid.won else 0
                entry.open_shares = 0
                self.moved[entry.seq] = entry

    def _held_in(self, agent_id: str, market_id: str) -> list[StoredEntry]:
        """Entries of a market that may hold shares, oldest first."""
        place = agent_id, market_id
        bought = self.bought.pop(place, [])
        if place not in self.held:
            fresh = {one.seq for one in bought}
            stored = self.entries.held(agent_id, market_id)
            self.held[place] = [one for one in stored if one.seq not in fresh]
        self.held[place] += bought
        return self.held[place]


def _figures(signal_data: SignalData | None) -> str | None:
    """The figures of a signal as JSON; words pass no threshold. None where it came without."""
    if not signal_data:
        return None
    figures = {
        key: one
        for key, one in signal_data.items()
        if isinstance(one, int | float) and not isinstance(one, bool)
    }
    return json.dumps(figures, separators=(",", ":"))
