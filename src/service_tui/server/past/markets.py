"""Markets by id, also ended ones that are no longer in memory."""

import asyncio
import json
import threading
from collections.abc import Callable, Collection

from service_tui.engine.amm.market import Market
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.world import World
from service_tui.outcome import NO
from service_tui.storage.ended_markets import EndedHead, EndedMarket, EndedMarkets
from service_tui.storage.world_database import WorldDatabase


class PastMarkets:
    """The markets of one data directory, open and ended; each reading is by index."""

    def __init__(self, database: WorldDatabase, world: Callable[[], World]) -> None:
        self._stored = EndedMarkets(database)
        self._world = world
        self._seen: World | None = None
        self._listing = threading.Lock()
        self._listed: dict[str, Market] = {}

    def just_ended(self) -> list[EndedMarket]:
        """Markets to keep: those that ended since the last time; at first all in memory."""
        world = self._world()
        ended, world.ended = world.ended, {}
        if self._seen is not world:
            # Of a start, or of a world read back: an older program may not have kept them.
            self._seen = world
            ended |= {key: one for key, one in world.markets.items() if one.outcome is not None}
        return [kept_of(market) for market in ended.values()]

    async def market(self, market_id: str) -> Market:
        """A market, from storage where memory has forgotten it; MarketNotFound without a trace."""
        found = await self.forgotten((market_id,))
        return found.get(market_id) or self._world().market(market_id)

    async def forgotten(self, market_ids: Collection[str]) -> dict[str, Market]:
        """Those of some markets that memory has forgotten, by id, whole."""
        markets = self._world().markets
        gone = [one for one in market_ids if one not in markets]
        bodies = await asyncio.to_thread(self._stored.bodies, gone) if gone else {}
        tape = self._world().tape
        return {key: snapshot.market_of(json.loads(body), tape) for key, body in bodies.items()}

    async def listed(self) -> list[Market]:
        """Every stored market that memory has forgotten, the last one to end first.

        They come without their prices and their trades.

        Nothing changes a market that has ended: each is read once, and kept as long as its listing
        and its volume take.
        """
        return await asyncio.to_thread(self._all_listed, frozenset(self._world().markets))

    def _all_listed(self, in_memory: frozenset[str]) -> list[Market]:
        # Whoever asks meanwhile waits, and finds it done.
        with self._listing:
            stored = self._stored.ids() - in_memory
            for key, body in self._stored.texts(stored - self._listed.keys()):
                fields = json.loads(body)
                self._listed[key] = snapshot.market_of(
                    {**fields, "tape": (), "samples": ()}, self._world().tape
                )
            found = [self._listed[key] for key in stored if key in self._listed]
        # In one order, so that pages of equal rows overlap nowhere.
        return sorted(found, key=lambda one: (-(one.resolved_at or 0.0), one.market_id))

    async def heads(self, market_ids: Collection[str]) -> dict[str, EndedHead]:
        """What lists show of those markets that ended, by id, from memory and from storage."""
        markets = self._world().markets
        gone = [one for one in market_ids if one not in markets]
        found = await asyncio.to_thread(self._stored.heads, gone) if gone else {}
        for key in market_ids:
            market = markets.get(key)
            if market is not None and market.outcome is not None:
                found[key] = _head_of(market)
        return found


def _head_of(market: Market) -> EndedHead:
    listing = market.listing
    return EndedHead(
        market.market_id,
        listing.question,
        listing.home.value,
        (NO if market.outcome is None else market.outcome).stored,
        listing.resolves_at,
        market.resolved_at or listing.resolved_at,
    )


def kept_of(market: Market) -> EndedMarket:
    """What is written down of a market that has ended."""
    # Nothing changes a market that has ended: its text may be made in the writer's thread.
    return EndedMarket(_head_of(market), lambda: codec.dumps(snapshot.market_fields(market)))
