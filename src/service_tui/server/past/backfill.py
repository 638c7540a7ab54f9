"""Adds the records of ended markets that older programs did not write, once.

Used when a data directory is opened: the markets come from the seeded tape, their outcomes from
what was paid out, and sides that were sold whole from the sales. Memory holds a page of them.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Fill, OrderFilled, OrderPlaced, Payout
from service_tui.engine.tape.ended_market import market_from_tape
from service_tui.engine.world import World
from service_tui.outcome import NO, YES, Outcome
from service_tui.server.past.agent_past import FILLS
from service_tui.server.past.history import (
    FILL,
    LOST,
    ORDER,
    PAYOUT,
    SETTLED,
    SOLD_OUT,
    Paid,
    Past,
    SettledSide,
    past_of,
)
from service_tui.server.past.markets import kept_of
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.ended_markets import EndedMarket, EndedMarkets
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.world_database import WorldDatabase
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

log = logging.getLogger(__name__)

PAGE: Final = 1_000
"""Rows of trades whose markets are filled in with one write."""

KINDS: Final = (*FILLS, PAYOUT, SETTLED, LOST, SOLD_OUT)
Place = tuple[str, Venue, Side]
"""Whose, where and which side of a market."""

Sources = dict[tuple[str, Venue], tuple[str, ...]]
"""Who bought in a market, by agent and venue, oldest first."""


@dataclass(slots=True)
class _Story:
    """The journal's rows of one market. `known_ends` are sides whose end is recorded."""

    realized: dict[Place, int] = field(default_factory=dict[Place, int])
    opened_at: dict[Place, Timestamp] = field(default_factory=dict[Place, Timestamp])
    sources: Sources = field(default_factory=Sources)
    known_ends: set[Place] = field(default_factory=set[Place])
    orders: dict[str, OrderPlaced] = field(default_factory=dict[str, OrderPlaced])
    outcome: Outcome | None = None
    at: Timestamp = Timestamp(0.0)

    def take(self, agent_id: str, event: Past) -> None:
        """Take in what happened next."""
        self.at = max(self.at, event.at)
        if isinstance(event, Paid | SettledSide):
            venue = event.venue if isinstance(event, SettledSide) else Venue.SIM
            self.known_ends.add((agent_id, venue, event.payout.side))
            self.outcome = event.outcome
        elif isinstance(event, Fill):
            place = (agent_id, Venue.SIM, event.side)
            self._trade(place, event.action, event, event.note.source)
        elif isinstance(event, OrderPlaced):
            self.orders[event.order_id] = event
            if event.shares:
                place = (agent_id, event.venue, event.side)
                self._trade(place, event.action, event, event.note.source)
        elif isinstance(event, OrderFilled) and (order := self.orders.get(event.order_id)):
            place = (agent_id, order.venue, order.side)
            self._trade(place, order.action, event, order.note.source)

    def _trade(
        self, place: Place, action: Action, event: Fill | OrderPlaced | OrderFilled, source: str
    ) -> None:
        account = place[:2]
        if action is Action.SELL:
            self.realized[place] = int(self.realized.get(place, 0) + event.realized)
            return
        self.opened_at.setdefault(place, event.at)
        known = self.sources.setdefault(account, ())
        if source and source not in known:
            self.sources[account] = (*known, source)

    def sold_whole(self) -> Iterable[tuple[Venue, Payout]]:
        """Sides that were bought and whose end no row records."""
        for place, opened_at in self.opened_at.items():
            if place in self.known_ends:
                continue
            agent_id, venue, side = place
            realized = Micros(self.realized.get(place, 0))
            nothing = Micros(0)
            yield (
                venue,
                Payout(
                    agent_id, side, nothing, nothing, nothing, realized, opened_at,
                    self.sources[place[:2]],
                ),
            )  # fmt: skip


class _Backfill:
    """One filling in; `seq` is the journal's last row."""

    def __init__(self, database: WorldDatabase, world: World, seq: int) -> None:
        self._journal = JournalStore(database)
        self._rows = AgentRows(database)
        self._stored = EndedMarkets(database)
        self._world = world
        self._done: set[str] = set()
        self.seq = seq
        self.count = 0

    async def page(self, after: int) -> int | None:
        """Fill in the markets of a page of trades after a row; the last row, None at the end."""
        trades, markets, rows = await asyncio.to_thread(self._made, after)
        if markets or rows:
            await self._journal.append(rows, ended=markets)
            self.count += len(markets)
        return trades[-1].seq if len(trades) == PAGE else None

    def _made(self, after: int) -> tuple[list[JournalRow], list[EndedMarket], list[JournalRow]]:
        trades = self._journal.rows_of_agents(after, (FILL, ORDER), limit=PAGE)
        seen: dict[str, JournalRow] = {}
        for row in trades:
            if row.market_id is not None and row.market_id not in self._done:
                seen.setdefault(row.market_id, row)
        known = self._stored.heads(seen)
        markets: list[EndedMarket] = []
        rows: list[JournalRow] = []
        for market_id, row in seen.items():
            listed = self._world.markets.get(market_id)
            if market_id in known or (listed is not None and listed.outcome is None):
                continue
            story = _Story()
            for row_of_market in self._rows.of_market(market_id, KINDS):
                story.take(
                    row_of_market.agent_id or "", past_of(row_of_market.kind, row_of_market.body)
                )
            market = listed or self._retold(market_id, row, story)
            if market is None:
                self._done.add(market_id)
            else:
                markets.append(kept_of(market))
            rows += self._sold(market_id, story, market)
        return trades, markets, rows

    def _retold(self, market_id: str, row: JournalRow, story: _Story) -> Market | None:
        """The market by the tape; None where this tape never had it."""
        trade = past_of(row.kind, row.body)
        if not isinstance(trade, Fill | OrderPlaced):
            return None
        listing = self._world.tape.find(market_id, trade.world_at)
        if listing is None:
            log.warning("the tape knows no market %s: it stays without its end", market_id)
            return None
        if story.outcome is not None:
            return market_from_tape(listing, outcome=story.outcome)
        if listing.outcome is None:
            return None
        return market_from_tape(listing, outcome=YES if listing.outcome else NO)

    def _sold(self, market_id: str, story: _Story, market: Market | None) -> list[JournalRow]:
        outcome = story.outcome if market is None else market.outcome
        if outcome is None:
            return []
        made: list[JournalRow] = []
        for venue, payout in story.sold_whole():
            self.seq += 1
            body = codec.dumps([market_id, story.at, outcome, venue.value, payout])
            owner = (payout.agent_id, market_id)
            made.append(JournalRow(self.seq, story.at, SOLD_OUT, *owner, body, venue.value))
        return made


async def backfill(database: WorldDatabase, world: World, seq: int) -> int:
    """Write down what older programs left out; nothing at any later start.

    Args:
        database: where it lies.
        world: the world as it was read.
        seq: the journal's last row.

    Returns:
        The journal's last row by now.

    Raises:
        StorageError: the disk refused; the next start goes on.
    """
    stored = EndedMarkets(database)
    if await asyncio.to_thread(stored.is_filled_in):
        return seq
    run = _Backfill(database, world, seq)
    after: int | None = 0
    while after is not None:
        after = await run.page(after)
    await stored.mark_filled_in(run.seq)
    if run.count:
        log.info("%d ended markets of an older program were filled in", run.count)
    return run.seq
