"""Positions of ended markets, read from the journal when they are no longer in memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from service_tui.engine.agents.agents import Agent, ClosedPosition
from service_tui.engine.chain.chain import address_of_wallet
from service_tui.engine.events import Fill, OrderFilled, OrderPlaced
from service_tui.server.past.agent_past import FILLS
from service_tui.server.past.history import LOST, PAYOUT, SETTLED, SOLD_OUT, Paid, Past, SettledSide
from service_tui.server.world_store import WorldStore
from service_tui.storage.journal import History
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

PAGE: Final = 1_000
"""Rows read at one time, so that nobody else waits long."""

Place = tuple[str, Side]
"""A side of a market."""

Ended = tuple[Venue, ClosedPosition]
"""A side of a market that ended, and where it was held."""


async def ended_on(
    world_store: WorldStore, agent: Agent, venue: Venue, limit: int | None = None
) -> list[ClosedPosition]:
    """Sides of ended markets that are no longer in memory, newest first.

    On `sim` those that it does know come first; on a real venue they are positions still, if the
    wallet that holds them is linked now.

    Args:
        world_store: the world and its journal.
        agent: whose.
        venue: where.
        limit: at most so many; None is all.

    Returns:
        All of them, with the sources of their buys.
    """
    own = list(reversed(agent.closed)) if venue is Venue.SIM else []
    found = own if limit is None else own[:limit]
    known = _in_memory(world_store, agent, venue)
    wallet = world_store.world.venues.wallets.get(agent.agent_id)
    kinds = (SOLD_OUT, PAYOUT) if venue is Venue.SIM else (SOLD_OUT, SETTLED, LOST)
    before: int | None = None
    while limit is None or len(found) < limit:
        past = await world_store.ends_before((agent.agent_id, venue), kinds, before, limit=PAGE)
        found += _stored([one for _, one in past], venue, (known, wallet))
        if len(past) < PAGE:
            break
        before = past[-1][0]
    found = await with_sources(world_store, (agent.agent_id, venue), found[:limit])
    return await _with_heads(world_store, found)


async def _with_heads(
    world_store: WorldStore, found: Sequence[ClosedPosition]
) -> list[ClosedPosition]:
    """The same positions, with question and end of their markets; one sold keeps its own end."""
    heads = await world_store.past.heads({one.market_id for one in found if not one.question})
    return [
        one
        if (head := heads.get(one.market_id)) is None
        else replace(one, question=head.question, resolved_at=_end_of(one, head.resolved_at))
        for one in found
    ]


def _end_of(one: ClosedPosition, resolved_at: float) -> Timestamp:
    return Timestamp(resolved_at) if one.shares else one.resolved_at


def _in_memory(world_store: WorldStore, agent: Agent, venue: Venue) -> Collection[Place]:
    """Sides of markets that are still in memory."""
    if venue is Venue.SIM:
        return {(one.market_id, one.side) for one in agent.closed}
    holdings = world_store.world.venues.account(agent.agent_id, venue).holdings
    return {(market_id, side) for market_id in holdings for side in Side}


def _stored(
    past: Sequence[Past], venue: Venue, held: tuple[Collection[Place], str | None]
) -> list[ClosedPosition]:
    """Rows of sides that are not among those held, nor by the wallet that is linked now."""
    known, wallet = held
    return [
        closed
        for one in past
        if (ended := ended_of(one)) is not None
        for where, closed in (ended,)
        if where is venue
        and ((closed.market_id, closed.side) not in known or _is_of_other(one, wallet))
    ]


def _is_of_other(one: Past, wallet: str | None) -> bool:
    """Whether a row is of another wallet: of one from before any had changed none is known."""
    if not isinstance(one, SettledSide) or one.payout.wallet is None:
        return False
    return one.payout.wallet != wallet


def ended_of(one: Past) -> Ended | None:
    """A row of the journal as a closed position; None for a row of another kind."""
    if not isinstance(one, Paid | SettledSide):
        return None
    paid = one.payout
    closed = ClosedPosition(
        market_id=one.market_id,
        question="",
        category="",
        side=paid.side,
        shares=paid.shares,
        cost=paid.cost,
        payout=paid.payout,
        realized=Micros(paid.payout - paid.cost + paid.realized_before),
        outcome=one.outcome,
        opened_at=paid.opened_at,
        resolved_at=one.at,
        sources=paid.sources,
        wallet=address_of_wallet(paid.agent_id, paid.wallet),
    )
    return (one.venue if isinstance(one, SettledSide) else Venue.SIM), closed


async def with_sources(
    world_store: WorldStore, who: tuple[str, Venue], found: Sequence[ClosedPosition]
) -> list[ClosedPosition]:
    """The same positions; of those that an older program wrote, the sources come from the buys."""
    looked_up: dict[str, tuple[str, ...]] = {}
    whole: list[ClosedPosition] = []
    for one in found:
        if one.sources is not None:
            whole.append(one)
            continue
        if one.market_id not in looked_up:
            looked_up[one.market_id] = await sources_of(world_store, who, one.market_id)
        whole.append(replace(one, sources=looked_up[one.market_id]))
    return whole


async def sources_of(
    world_store: WorldStore, who: tuple[str, Venue], market_id: str
) -> tuple[str, ...]:
    """Sources of the buys in a market on a venue, from the journal, oldest first."""
    agent_id, venue = who
    criteria = History(agent_id, FILLS, market_id)
    past, _ = await world_store.history(criteria, limit=PAGE, offset=0)
    return tuple(dict.fromkeys(tag for one in reversed(past) if (tag := _source(one, venue))))


def _source(one: Past, venue: Venue) -> str:
    if not isinstance(one, Fill | OrderPlaced | OrderFilled) or one.action is not Action.BUY:
        return ""
    if (Venue.SIM if isinstance(one, Fill) else one.venue) is not venue or not one.shares:
        return ""
    return one.source if isinstance(one, OrderFilled) else one.note.source
