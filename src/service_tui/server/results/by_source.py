"""Positions, P&L and trade counts by source on each venue, since the beginning.

What is over is added up once and kept in memory, so that an answer costs the rows since the last
one; a restart adds it up again.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.venues import REAL
from service_tui.engine.events import Fill, OrderEnded, OrderFilled, OrderPlaced, PositionRedeemed
from service_tui.engine.position import Position
from service_tui.engine.world import World
from service_tui.records import read
from service_tui.server.past.history import (
    FILL,
    LOST,
    ORDER,
    ORDER_END,
    ORDER_FILL,
    PAYOUT,
    REDEEMED,
    SETTLED,
    SOLD_OUT,
    Past,
    past_of,
)
from service_tui.server.results.positions import ended_of
from service_tui.server.world_store import WorldStore
from service_tui.storage.journal import JournalRow
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Probability, sum_of

CHUNK: Final = 1_000
"""Rows added up at one time: some hundredths of a second of a thread."""

KINDS: Final = (FILL, ORDER, ORDER_FILL, ORDER_END, PAYOUT, SETTLED, LOST, SOLD_OUT, REDEEMED)
Counted = tuple[int, Micros]
"""How many, and what they come to."""

Place = tuple[str, Venue, str]
"""An agent, a venue, and a market or a source."""


@dataclass(slots=True)
class SourceSums:
    """One source on one venue. `positions` are held now; P&L counts what is over as well."""

    positions: int = 0
    exposure: Micros = Micros(0)
    realized: Micros = Micros(0)
    unrealized: Micros = Micros(0)
    trades: int = 0


@dataclass(slots=True)
class PastSums:
    """What is over, by agent, venue and source, up to a row of the journal.

    `trades` are all of a source, also those before its first buy; `bought` are the sources that
    ever bought. `resting` are orders that have met nothing yet, with who would count their first
    fill. `redeemed` is how many positions an agent has redeemed on a venue, and what they brought.
    """

    seq: int = 0
    realized: dict[Place, Micros] = field(default_factory=dict[Place, Micros])
    trades: dict[Place, int] = field(default_factory=dict[Place, int])
    bought: set[Place] = field(default_factory=set[Place])
    open_tags: dict[Place, tuple[str, ...]] = field(default_factory=dict[Place, tuple[str, ...]])
    resting: dict[str, OrderPlaced] = field(default_factory=dict[str, OrderPlaced])
    redeemed: dict[tuple[str, Venue], Counted] = field(
        default_factory=dict[tuple[str, Venue], Counted]
    )
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def come_to(self, world_store: WorldStore, seq: int) -> None:
        """Add up everything until a row, once that row is on disk."""
        # Not where it is known to be: a full disk refuses even to wait for nothing.
        if self.seq < seq and world_store.written_seq < seq:
            await world_store.written()
        while self.seq < seq:
            rows = await world_store.rows_of_agents(self.seq, KINDS, limit=CHUNK)
            await asyncio.to_thread(self._take, [row for row in rows if row.seq <= seq])
            if len(rows) < CHUNK or rows[-1].seq >= seq:
                # Nothing of these kinds stands between the last of them and the row itself.
                self.seq = seq

    def _take(self, rows: list[JournalRow]) -> None:
        for row in rows:
            if row.kind == ORDER_END:
                self.resting.pop(read(OrderEnded, json.loads(row.body)).order_id, None)
            elif row.agent_id is not None and row.market_id is not None:
                self.add(row.agent_id, row.market_id, past_of(row.kind, row.body))
            self.seq = row.seq

    def add(self, agent_id: str, market_id: str, one: Past) -> None:
        """Add one thing that an agent's past in a market consists of."""
        match one:
            case Fill():
                self._count((agent_id, Venue.SIM, market_id), one.action, one.note.source)
            case OrderPlaced():
                if one.shares:
                    self._count((agent_id, one.venue, market_id), one.action, one.note.source)
                elif one.rests:
                    self.resting[one.order_id] = one
            case OrderFilled():
                order = self.resting.pop(one.order_id, None)
                if order is not None:
                    place = (agent_id, order.venue, market_id)
                    self._count(place, order.action, order.note.source)
            case PositionRedeemed():
                # A losing side may be burned as well, which brings nothing.
                count, amount = self.redeemed.get((agent_id, one.venue), (0, Micros(0)))
                added = count + bool(one.payout), Micros(amount + one.payout)
                self.redeemed[agent_id, one.venue] = added
            case _:
                self._end(agent_id, market_id, one)

    def _count(self, place: Place, action: Action, tag: str) -> None:
        """Count a trade for its source."""
        if not tag:
            return
        whose = (*place[:2], tag)
        self.trades[whose] = self.trades.get(whose, 0) + 1
        if action is not Action.BUY:
            return
        self.bought.add(whose)
        known = self.open_tags.get(place, ())
        if tag not in known:
            self.open_tags[place] = (*known, tag)

    def _end(self, agent_id: str, market_id: str, one: Past) -> None:
        """Add the result of a side of a market to each source that bought in it."""
        ended = ended_of(one)
        if ended is None:
            return
        venue, closed = ended
        place = (agent_id, venue, market_id)
        tags = closed.sources
        if tags is None:
            # Of an older program: the other side of the market may ask again.
            tags = self.open_tags.get(place, ())
        else:
            self.open_tags.pop(place, None)
        for tag in tags:
            total = self.realized.get((agent_id, venue, tag), 0) + closed.realized
            self.realized[agent_id, venue, tag] = Micros(total)


async def by_source(
    world_store: WorldStore, past: PastSums, agent_id: str, venue: Venue = Venue.SIM
) -> dict[str, SourceSums]:
    """The sums of every source of an agent on a venue, all of one moment.

    Args:
        world_store: the world and its journal.
        past: what was added up before; changed here.
        agent_id: whose.
        venue: where, so that no sum has two monies in it.

    Returns:
        The sums by source; a market with two sources counts for both.

    Raises:
        StorageError: the disk refused what this moment is made of.
    """
    async with past.turn:
        sums: dict[str, SourceSums] = {}
        # What memory holds, and the rows up to this very moment: nothing is told twice, nor not at
        # all while a commit is on its way to the disk.
        seq = world_store.seq
        _add_open(world_store.world, world_store.world.agents[agent_id], venue, sums)
        await past.come_to(world_store, seq)
        _add_past(past, (agent_id, venue), sums)
    return sums


async def redeemed_of(
    world_store: WorldStore, past: PastSums, agent_id: str
) -> dict[Venue, Counted]:
    """What an agent has ever redeemed, by venue.

    Returns:
        How many positions, and what they brought.

    Raises:
        StorageError: the disk refused what this moment is made of.
    """
    async with past.turn:
        await past.come_to(world_store, world_store.seq)
        return {venue: past.redeemed.get((agent_id, venue), (0, Micros(0))) for venue in REAL}


def _add_past(past: PastSums, account: tuple[str, Venue], sums: dict[str, SourceSums]) -> None:
    for (whose, where, tag), realized in past.realized.items():
        if (whose, where) == account:
            one = sums.setdefault(tag, SourceSums())
            one.realized = Micros(one.realized + realized)
    # A source that never bought, such as a stop that sells, has no positions of its own.
    for whose, where, tag in past.bought:
        if (whose, where) == account:
            trades = past.trades[whose, where, tag]
            sums.setdefault(tag, SourceSums()).trades = trades


def _add_open(world: World, agent: Agent, venue: Venue, sums: dict[str, SourceSums]) -> None:
    """Add the positions of markets that go on."""
    if venue is Venue.SIM:
        for market_id, position in agent.positions.items():
            price = world.markets[market_id].price()
            _add(position, price, agent.sources.get(market_id, ()), sums)
        return
    times = (world.at, world.world_at)
    for holding in world.venues.account(agent.agent_id, venue).holdings.values():
        if holding.outcome is None:
            price = Probability(world.venues.price(holding, times))
            _add(holding.position, price, holding.sources, sums)
    for _, holding in world.venues.left_behind(agent.agent_id) if venue is Venue.EVM else ():
        if holding.outcome is None:
            # What another wallet holds is not held now; what it has sold was sold by the agent.
            realized = sum_of(holding.position.realized(side) for side in Side)
            for tag in holding.sources:
                one = sums.setdefault(tag, SourceSums())
                one.realized = Micros(one.realized + realized)


def _add(
    position: Position, price: Probability, sources: tuple[str, ...], sums: dict[str, SourceSums]
) -> None:
    realized = sum_of(position.realized(side) for side in Side)
    for tag in sources:
        one = sums.setdefault(tag, SourceSums())
        one.positions += any(position.shares(side) for side in Side)
        one.exposure = Micros(one.exposure + position.mark_value(price))
        one.realized = Micros(one.realized + realized)
        one.unrealized = Micros(one.unrealized + position.unrealized(price))
