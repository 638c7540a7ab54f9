"""The tape moves: what a stretch of time brings to a world, a second of it or a night.

Called by the server at every tick, and by it alone. The world applies events; here is decided which
events a moment brings: markets that resolve and open, the crowd, the watched wallets, resting
orders, redemptions, breaches.
"""

from typing import Final

from service_tui.engine.crossing import next_stop
from service_tui.engine.crowd import corrections, crowd_trades
from service_tui.engine.events import Event, MarketListed, SpeedSet, Ticked
from service_tui.engine.exits import watch
from service_tui.engine.meanwhile import meanwhile_of
from service_tui.engine.mining import mine
from service_tui.engine.redemption import redeem_managed
from service_tui.engine.resolution import resolution_of
from service_tui.engine.resting import end_due, match_due
from service_tui.engine.settling import missing_listings
from service_tui.engine.venues import Times
from service_tui.engine.wallet_trades import trades_of_wallets
from service_tui.engine.world import World
from service_tui.units import Timestamp

STEP_MAX_S: Final = 5.0
"""A longer silence of the ticker counts as "the desk was closed" and is crossed in one move."""

AWAY_MIN_S: Final = 60.0
"""A shorter gap is no absence, and nobody needs telling what happened meanwhile."""

CLOSED_SPEED_MAX: Final = 1
# ours: while nobody is there the tape runs at most at 1x, or a night at 60x would cost three weeks.


def change_speed(world: World, speed: int, at: Timestamp) -> list[Event]:
    """Move the tape to now at the old pace, then take the new one."""
    events = advance(world, at)
    return events + world.did([SpeedSet(at, world.world_at, speed)])


def advance(world: World, at: Timestamp) -> list[Event]:
    """Move the tape to a wall time: resolve, list, let the crowd trade.

    Bounded work whatever the gap: a long one is crossed in one move by random access.

    Returns:
        The events, already applied; none when the tape stands still.
    """
    gap_s = at - world.at
    if gap_s <= 0 and world.markets:
        return []
    crossed = gap_s > STEP_MAX_S or not world.markets
    pace = min(world.speed, CLOSED_SPEED_MAX) if crossed else world.speed
    if pace == 0 and world.markets:
        world.at = at
        ended = end_due(world.venues, (at, world.world_at))
        redeemed = redeem_due(world, at)
        watched = watch(world, (at, world.world_at))
        return [*ended, *world.holding.due(at), *redeemed, *watched]
    before, world_at = world.world_at, Timestamp(world.world_at + max(0.0, gap_s) * pace)
    is_away = gap_s > AWAY_MIN_S
    # Of every agent and all that it holds: not for an ordinary tick.
    equity = {key: world.equity(agent) for key, agent in world.agents.items()} if is_away else {}
    events: list[Event] = []
    until = (at, world_at)
    while True:
        times = next_stop(world, until) if crossed else until
        events += _move(world, times, crossed=crossed)
        if times is until:
            break
    if is_away:
        world.meanwhile = meanwhile_of(world.tape, (before, world_at), events, equity)
    return events


def redeem_due(world: World, at: Timestamp) -> list[Event]:
    """Redeem what the service holds for its agents, and let the chain come to a wall time."""
    times = (at, world.world_at)
    return [*redeem_managed(world.venues, times), *mine(world.chain, world.venues, times)]


def _move(world: World, times: Times, *, crossed: bool) -> list[Event]:
    """One move of the tape, and what it brings to orders and to what is watched."""
    at, world_at = times
    events: list[Event] = [*end_due(world.venues, times), *world.holding.due(at)]
    events += _resolve_due(world, times)
    events += _list_new(world, times)
    span = (world.tick_count, world.world_at, world_at)
    if crossed:
        trades = corrections(world.markets.values(), world_at)
    else:
        trades = crowd_trades(world.seed, world.markets, span)
    settled = () if crossed else trades_of_wallets(world.around, span, trades)
    events += world.did(missing_listings(world.around, settled, times))
    events += world.did([Ticked(at, world_at, tuple(trades), crossed, settled)])
    events += match_due(world.venues, times)
    events += redeem_due(world, at)
    return events + watch(world, times)


def _resolve_due(world: World, times: Times) -> list[Event]:
    at, world_at = times
    due = [
        market
        for market in world.markets.values()
        if market.resolved_at is None and market.listing.resolved_at <= world_at
    ]
    due.sort(key=lambda market: (market.listing.resolved_at, market.market_id))
    return world.did([resolution_of(market, world.venues, at) for market in due])


def _list_new(world: World, times: Times) -> list[Event]:
    """List what the tape has opened since; a market that nobody can trade any more is not."""
    at, world_at = times
    return world.did([
        MarketListed(at, world_at, listing)
        for listing in world.tape.listings_at(world_at)
        if listing.market_id not in world.markets and listing.resolves_at > world_at
    ])
