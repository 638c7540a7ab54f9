"""What each source of trades came to on sim: its positions, its P&L and its trades, for ever.

Knows the journal's rows and the world. Must not know routes or HTTP.
Used by the routes of the portfolio and of the briefing. What is over is added up once and kept in
memory, so that an answer costs the rows since the last one; a restart adds it up again.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.agents import Agent
from service_tui.engine.events import Fill
from service_tui.engine.world import World
from service_tui.server.history import FILL, PAYOUT, SOLD_OUT, past_of
from service_tui.server.keeper import Keeper
from service_tui.server.past_positions import ended_of
from service_tui.storage.journal import JournalRow
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros

CHUNK: Final = 1_000
"""Rows added up at one time: some hundredths of a second of a thread."""

KINDS: Final = (FILL, PAYOUT, SOLD_OUT)
Place = tuple[str, str]
"""An agent, and a market or a source."""


@dataclass(slots=True)
class SourceSums:
    """One source on sim, $SIM. `positions` are held now; P&L counts what is over as well."""

    positions: int = 0
    exposure: Micros = Micros(0)
    realized: Micros = Micros(0)
    unrealized: Micros = Micros(0)
    trades: int = 0


@dataclass(slots=True)
class Past:
    """What is over, by agent and source, up to a row of the journal."""

    seq: int = 0
    realized: dict[Place, Micros] = field(default_factory=dict[Place, Micros])
    trades: dict[Place, int] = field(default_factory=dict[Place, int])
    open_tags: dict[Place, tuple[str, ...]] = field(default_factory=dict[Place, tuple[str, ...]])
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def catch_up(self, keeper: Keeper) -> None:
        """Take in all that happened since the last time."""
        async with self.turn:
            while True:
                rows = await keeper.rows_of_agents(self.seq, KINDS, limit=CHUNK)
                await asyncio.to_thread(self._take, rows)
                if len(rows) < CHUNK:
                    return

    def _take(self, rows: list[JournalRow]) -> None:
        for row in rows:
            if row.agent_id is not None and row.market_id is not None:
                self._add(row.agent_id, row.market_id, row)
            self.seq = row.seq

    def _add(self, agent_id: str, market_id: str, row: JournalRow) -> None:
        one, place = past_of(row.kind, row.body), (agent_id, market_id)
        if isinstance(one, Fill):
            tag = one.note.source
            before = self.trades.get((agent_id, tag))
            # A source that never bought, such as a stop that sells, has no positions of its own.
            if not tag or (before is None and one.action is not Action.BUY):
                return
            self.trades[agent_id, tag] = (before or 0) + 1
            known = self.open_tags.get(place, ())
            if one.action is Action.BUY and tag not in known:
                self.open_tags[place] = (*known, tag)
            return
        ended = ended_of(one)
        if ended is None or ended[0] is not Venue.SIM:
            return
        closed = ended[1]
        tags = closed.sources
        if tags is None:
            # Of an older program: the other side of the market may ask again.
            tags = self.open_tags.get(place, ())
        else:
            self.open_tags.pop(place, None)
        for tag in tags:
            total = self.realized.get((agent_id, tag), 0) + closed.realized
            self.realized[agent_id, tag] = Micros(total)


async def by_source(keeper: Keeper, past: Past, agent_id: str) -> dict[str, SourceSums]:
    """The sums of every source of an agent on sim; a market with two sources counts for both."""
    await past.catch_up(keeper)
    sums: dict[str, SourceSums] = {}
    for (whose, tag), realized in past.realized.items():
        if whose == agent_id:
            sums.setdefault(tag, SourceSums()).realized = realized
    for (whose, tag), trades in past.trades.items():
        if whose == agent_id:
            sums.setdefault(tag, SourceSums()).trades = trades
    _add_open(keeper.world, keeper.world.agents[agent_id], sums)
    return sums


def _add_open(world: World, agent: Agent, sums: dict[str, SourceSums]) -> None:
    """Add the positions of markets that go on."""
    for market_id, position in agent.positions.items():
        price = world.markets[market_id].price()
        realized = sum(position.realized(side) for side in Side)
        for tag in agent.sources.get(market_id, ()):
            one = sums.setdefault(tag, SourceSums())
            one.positions += any(position.shares(side) for side in Side)
            one.exposure = Micros(one.exposure + position.mark_value(price))
            one.realized = Micros(one.realized + realized)
            one.unrealized = Micros(one.unrealized + position.unrealized(price))
