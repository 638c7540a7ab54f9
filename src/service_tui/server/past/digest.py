"""Keeps the entries up to date: one trade lot for each buy, with its proceeds so far.

Entries are computed from rows of the journal that are on disk already; nothing waits for them.

A sale takes shares from the lots of the skill that sells, then from those of others, oldest first,
all of the wallet that sells; a payout closes all lots of its side.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import Fill, OrderPlaced
from service_tui.server.past.agent_past import ALL, AgentFill, AgentPayout, in_one_form
from service_tui.server.past.history import WALLET, Past, past_of
from service_tui.storage.entries import EntryStore, StoredEntry
from service_tui.storage.journal import History, JournalRow, JournalStore
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import Action, Venue
from service_tui.units import Micros

CHUNK: Final = 1_000
"""Journal rows applied at one time: some hundredths of a second of a thread."""

SignalData = dict[str, str | float | int]

Place = tuple[str, str]
"""An agent and a market."""

WalletTimes = list[tuple[int, str]]
"""Rows from which on a wallet was linked, oldest first."""


class Digest:
    """The entries of one data directory, brought up to date when they are read."""

    def __init__(self, database: WorldDatabase) -> None:
        self.entries = EntryStore(database)
        self._journal = JournalStore(database)
        self._lock = asyncio.Lock()

    async def catch_up(self) -> int:
        """Apply all journal rows since the last call.

        Fails with `StorageError` if the disk fails; earlier chunks stay applied.

        Returns:
            The number of applied rows.
        """
        total = 0
        batch = _Batch(self.entries, self._journal)
        async with self._lock:
            while True:
                chunk, seq = await asyncio.to_thread(self._next)
                if not chunk:
                    return total
                await asyncio.to_thread(self._apply, batch, chunk)
                await self.entries.take(batch.new.values(), batch.changed, seq)
                total += len(chunk)

    def _next(self) -> tuple[list[JournalRow], int]:
        rows = self._journal.rows_of_agents(self.entries.read_to(), ALL, limit=CHUNK)
        return rows, rows[-1].seq if rows else 0

    def _apply(self, batch: "_Batch", chunk: list[JournalRow]) -> None:
        batch.next_chunk()
        for row in chunk:
            batch.apply(row, past_of(row.kind, row.body))


@dataclass(slots=True)
class _Batch:
    """The entries that change while rows are applied, chunk by chunk.

    `new` are the entries of the chunk by trade, `moved` those with changed figures by row. `held`
    are the entries read from the store so far, and `bought` those added since, by agent and market.
    `wallets` are the changes of an agent's wallet, by row.
    """

    entries: EntryStore
    journal: JournalStore
    new: dict[str, StoredEntry] = field(default_factory=dict[str, StoredEntry])
    moved: dict[int, StoredEntry] = field(default_factory=dict[int, StoredEntry])
    held: dict[Place, list[StoredEntry]] = field(default_factory=dict[Place, list[StoredEntry]])
    bought: dict[Place, list[StoredEntry]] = field(default_factory=dict[Place, list[StoredEntry]])
    wallets: dict[str, WalletTimes] = field(default_factory=dict[str, WalletTimes])

    def next_chunk(self) -> None:
        """Begin a chunk; `held` stays read."""
        self.new, self.moved = {}, {}

    @property
    def changed(self) -> list[StoredEntry]:
        """Changed entries of earlier chunks."""
        fresh = {one.seq for one in self.new.values()}
        return [one for seq, one in self.moved.items() if seq not in fresh]

    def apply(self, row: JournalRow, past: Past) -> None:
        """Apply one row; rows come in the order of the journal."""
        if row.agent_id is None:
            return
        if isinstance(past, OrderPlaced) and past.action is Action.BUY:
            self._add_entry(row, past.order_id, past)
        for one in in_one_form((past,)):
            match one:
                case AgentFill(action=Action.BUY):
                    self._buy(row, one, past)
                case AgentFill():
                    self._sell(row, row.agent_id, one)
                case AgentPayout():
                    self._pay(row.agent_id, one)

    def _add_entry(self, row: JournalRow, trade_id: str, order: OrderPlaced | Fill) -> StoredEntry:
        """Add an entry without shares: an order may get them later."""
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
            entry = self._add_entry(row, fill.trade_id, past)
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
        held = self._entries_in(found.agent_id, found.market_id)
        same = next((one for one in held if one.seq == found.seq), None)
        if same is None:
            # It has no open shares: none were filled yet, or all were sold.
            held.append(found)
            held.sort(key=lambda one: one.seq)
        return same or found

    def _sell(self, row: JournalRow, agent_id: str, fill: AgentFill) -> None:
        place = (fill.venue.value, fill.side.value)
        held = [
            one
            for one in self._entries_in(agent_id, fill.market_id)
            if one.open_shares and (one.venue, one.side) == place
        ]
        if held and fill.venue is Venue.EVM:
            changes = self._wallets_of(agent_id)
            own = _wallet_at(changes, row.seq)
            held = [one for one in held if _wallet_at(changes, one.seq) == own]
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

    def _wallets_of(self, agent_id: str) -> WalletTimes:
        """Which wallet an agent had from which row on."""
        if agent_id not in self.wallets:
            rows = self.journal.rows_of(History(agent_id, (WALLET,)), limit=CHUNK, offset=0)[0]
            changes = [(row.seq, past_of(row.kind, row.body)) for row in reversed(rows)]
            linked = [(seq, one) for seq, one in changes if isinstance(one, WalletLinked)]
            # Money followed until the first one was left with what it had.
            known = next((at for at, (_, one) in enumerate(linked) if one.left is not None), None)
            times = [] if known is None else linked[known:]
            first = [(0, one.left or "") for _, one in times[:1]]
            self.wallets[agent_id] = first + [(seq, one.address.lower()) for seq, one in times]
        return self.wallets[agent_id]

    def _pay(self, agent_id: str, paid: AgentPayout) -> None:
        for entry in self._entries_in(agent_id, paid.market_id):
            if entry.open_shares and (entry.venue, entry.side) == (
                paid.venue.value,
                paid.side.value,
            ):
                cost = entry.money * entry.open_shares // entry.shares
                entry.back += int(
                    paid.outcome.paid(paid.side, Micros(entry.open_shares), Micros(cost))
                )
                entry.open_shares = 0
                self.moved[entry.seq] = entry

    def _entries_in(self, agent_id: str, market_id: str) -> list[StoredEntry]:
        """Entries of a market that may have open shares, oldest first."""
        place = agent_id, market_id
        bought = self.bought.pop(place, [])
        if place not in self.held:
            fresh = {one.seq for one in bought}
            stored = self.entries.held(agent_id, market_id)
            self.held[place] = [one for one in stored if one.seq not in fresh]
        self.held[place] += bought
        return self.held[place]


def _wallet_at(changes: WalletTimes, seq: int) -> str:
    """The wallet that was linked when a row was written."""
    return next((wallet for since, wallet in reversed(changes) if since <= seq), "")


def _figures(signal_data: SignalData | None) -> str | None:
    """The numbers of a signal as JSON, without its texts; None without a signal."""
    if not signal_data:
        return None
    figures = {
        key: one
        for key, one in signal_data.items()
        if isinstance(one, int | float) and not isinstance(one, bool)
    }
    return json.dumps(figures, separators=(",", ":"))
