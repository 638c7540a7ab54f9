"""The tape moves: what a stretch of time brings to a world, a second of it or a night.

Called by the server at every tick, and by it alone. The world applies events; here is decided which
events a moment brings: markets that resolve and open, the crowd, the watched wallets, resting
orders, redemptions, breaches.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service_tui.engine.alerting import fire_due
from service_tui.engine.amm.exchange import open_shares
from service_tui.engine.amm.market import Market
from service_tui.engine.books.resting import end_due, match_due
from service_tui.engine.books.venues import Times, Venues
from service_tui.engine.chain.block_production import produce_blocks
from service_tui.engine.chain.redemption import redeem_managed
from service_tui.engine.events import (
    CrowdTrade,
    Event,
    MarketListed,
    MarketResolved,
    Payout,
    Settlement,
    SpeedSet,
    Ticked,
)
from service_tui.engine.exit_values import book_prices, met_at
from service_tui.engine.exits import is_for_service, raised, watch
from service_tui.engine.listing import Listing
from service_tui.engine.position import Position
from service_tui.engine.reactor.apply_wallet_trades import missing_listings
from service_tui.engine.reactor.wallet_trades import WalletContext, trades_of_wallets
from service_tui.engine.risk.monitors import Ladder, MonitoredSide, Prices, prices_at
from service_tui.engine.tape.absence import absence_of
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.crowd import corrections, crowd_trade, crowd_trades
from service_tui.engine.world import World
from service_tui.terms import CLOSED_SPEED_MAX, MarketStatus, Side, Venue
from service_tui.units import Micros, Timestamp

_HAIR_S: Final = 0.001
"""Keeps the rounding of doubles on the far side of a time stop."""

CROWD_NAME: Final = "the crowd"

STEP_S: Final = 60.0
"""Source: decisions, "Closed at a breach"."""


Span = tuple[int, Timestamp, Timestamp]
"""Number of a move of the tape, and the tape's time before and after it."""


class Author(NamedTuple):
    """Who writes what a tape brings by itself.

    Attributes:
        belief: price of a question at a moment of a gap.
        crowd: trades of the crowd in one move.
        wallets: trades of the named wallets in one move, beside those of the crowd.
    """

    belief: Callable[[Listing, Timestamp], float] = belief
    crowd: Callable[[int, Mapping[str, Market], Span], Sequence[CrowdTrade]] = crowd_trades
    wallets: Callable[[WalletContext, Span, Iterable[CrowdTrade]], tuple[Settlement, ...]] = (
        trades_of_wallets
    )


_AUTHOR: Final = Author()


def next_stop(world: World, end: Times, author: Author = _AUTHOR) -> Times:
    """Where to halt on the way over a gap: at the next breach, else at its end.

    Args:
        world: as it is before the gap, or at the last halt.
        end: wall time and the tape's at the end of the gap.
        author: whose prices there are on the way; the tape's own by default.

    Returns:
        Both times of the halt.
    """
    risk = world.risk
    risk.settle()
    at, until = end
    span_s = until - world.world_at
    if not span_s > STEP_S:
        return end
    stop: Timestamp = until
    if any(is_for_service(world, alert) for alert in risk.alerts.pending.values()):
        # The market did not take the service's exit: it tries again a step later.
        stop = Timestamp(world.world_at + STEP_S)
    stop = min(stop, _first_time_stop(world, end))
    for (venue, market_id), ladder in risk.monitors.ladders.items():
        market = world.markets[market_id]
        if market.status(world.world_at) is MarketStatus.ACTIVE:
            path = _path(world, (venue, market), (world.world_at, stop), author)
            stop = _first_breach(world, venue, ladder, path) or stop
    if stop >= until:
        return end
    share = (stop - world.world_at) / span_s
    return Timestamp(world.at + (at - world.at) * share), stop


def _first_time_stop(world: World, end: Times) -> Timestamp:
    """The tape's time of the first time stop on the way to `end`, a hair late; `end` if none."""
    at, until = end
    pace = (until - world.world_at) / (at - world.at)
    due = (
        Timestamp(world.world_at + (one.exit_at - world.at) * pace + _HAIR_S)
        for one in world.risk.monitors.timed.values()
        if one.exit_at is not None and world.at < one.exit_at < at
    )
    return min(due, default=until)


def _is_breached(world: World, ladder: Ladder, prices: Prices, times: Times) -> bool:
    """Whether a monitor of a book is breached: a thin book meets no target at its best price."""
    for monitor in ladder.monitors.values():
        floor = monitor.floor()
        is_below = floor is not None and prices.mark_of(monitor.watched.side) <= floor[0]
        if is_below or met_at(world, monitor, times) is not None:
            return True
    return False


def _first_breach(
    world: World, venue: Venue, ladder: Ladder, path: Iterable[tuple[Timestamp, Prices]]
) -> Timestamp | None:
    """The first step of a path at which a price reaches a level; None if none does."""
    peaks = {watched: one.peak for watched, one in ladder.followers.items()}
    for then, prices in path:
        times = (world.at, then)
        if _trails(ladder, prices, peaks):
            return then
        if ladder.is_reached(prices) and (
            venue is Venue.SIM or _is_breached(world, ladder, prices, times)
        ):
            return then
    return None


def _path(
    world: World,
    where: tuple[Venue, Market],
    span: tuple[Timestamp, Timestamp],
    author: Author,
) -> Iterator[tuple[Timestamp, Prices]]:
    """The prices of a market at each step between the ends of a gap."""
    (venue, market), (start, end) = where, span
    steps = 1
    while (then := Timestamp(start + steps * STEP_S)) < min(end, market.listing.resolves_at):
        # What a crossed gap makes of prices on sim is the belief; see World.
        prices = (
            prices_at(author.belief(market.listing, then))
            if venue is Venue.SIM
            else book_prices(world, market.market_id, (world.at, then))
        )
        yield then, prices
        steps += 1


def _trails(ladder: Ladder, prices: Prices, peaks: dict[MonitoredSide, float]) -> bool:
    """Raise the peaks to these prices; True if one is at a trailing stop below its peak."""
    for watched, monitor in ladder.followers.items():
        mark = prices.mark_of(watched.side)
        peaks[watched] = max(peaks[watched], mark)
        level = monitor.trail_price(peaks[watched])
        if level is not None and mark <= level:
            return True
    return False


def _peaks_on_the_way(world: World, end: Times, author: Author) -> list[Event]:
    """The peaks of trailing stops inside a gap that ends at `end`."""
    events: list[Event] = []
    for (venue, market_id), ladder in world.risk.monitors.ladders.items():
        market = world.markets[market_id]
        if not ladder.followers or market.status(world.world_at) is not MarketStatus.ACTIVE:
            continue
        span = (world.world_at, end[1])
        marks = [prices.mark for _, prices in _path(world, (venue, market), span, author)]
        if marks:
            highest = {Side.YES: max(marks), Side.NO: 1.0 - min(marks)}
            events += raised(ladder, highest, end[0])
    for event in events:
        world.apply(event)
    return events


def resolution_of(market: Market, venues: Venues, at: Timestamp) -> MarketResolved:
    """The resolution of a market, not yet applied; every side that was ever bought is in it."""
    outcome, market_id = market.listing.outcome, market.market_id
    winner = Side.YES if outcome else Side.NO
    payouts = [
        payout
        for agent in venues.agents.values()
        if (position := agent.positions.get(market_id)) is not None
        for payout in _payouts(position, winner, agent.sources.get(market_id, ()))
    ]
    settled = [
        (account.venue, payout._replace(wallet=wallet))
        for account, holdings, wallet in venues.pools()
        if (holding := holdings.get(market_id)) is not None
        for payout in _payouts(holding.position, winner, holding.sources)
    ]
    watched = open_shares(venues.agents, market_id, winner)
    return MarketResolved(
        market_id,
        at,
        market.listing.resolved_at,
        outcome,
        tuple(payouts),
        Micros(market.sold(winner) - watched),
        tuple(settled),
    )


def _payouts(position: Position, winner: Side, sources: tuple[str, ...]) -> Iterator[Payout]:
    """What each side of a position that was ever bought is worth."""
    for side in Side:
        watched = position.on(side)
        if watched.shares or watched.opened_at:
            worth = watched.shares if side is winner else Micros(0)
            yield Payout(
                position.agent_id,
                side,
                watched.shares,
                watched.cost,
                worth,
                watched.realized,
                watched.opened_at,
                sources,
            )


STEP_MAX_S: Final = 5.0
"""A longer silence of the ticker counts as "the desk was closed" and is crossed in one move."""

AWAY_MIN_S: Final = 60.0
"""A shorter gap is no absence, and nobody needs telling what happened meanwhile."""


def change_speed(world: World, speed: int, at: Timestamp) -> list[Event]:
    """Move the tape to now at the old pace, then take the new one."""
    events = advance(world, at)
    return events + world.did([SpeedSet(at, world.world_at, speed)])


def advance(world: World, at: Timestamp, author: Author = _AUTHOR) -> list[Event]:
    """Move the tape to a wall time: resolve, list, let the crowd trade.

    Bounded work whatever the gap: a long one is crossed in one move by random access.

    Args:
        world: it.
        at: wall time, now.
        author: who writes the tape; the world's own seed by default.

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
        if crossed:
            world.agent_alerts.cross(Timestamp(at - gap_s), at)
        return [
            *ended,
            *world.pending_trades.due(at),
            *_lapsed(world, (at, world.world_at)),
            *redeemed,
            *watched,
            *fire_due(world, at),
        ]
    before, world_at = world.world_at, Timestamp(world.world_at + max(0.0, gap_s) * pace)
    is_away = gap_s > AWAY_MIN_S
    # Of every agent and all that it holds: not for an ordinary tick.
    equity = (
        {key: world.exit_equity(agent) for key, agent in world.agents.items()} if is_away else {}
    )
    events: list[Event] = []
    until = (at, world_at)
    while True:
        times = next_stop(world, until, author) if crossed else until
        if crossed:
            events += _peaks_on_the_way(world, times, author)
        events += _move(world, times, author, crossed=crossed)
        if times is until:
            break
    if is_away:
        world.meanwhile = absence_of(world.tape, (before, world_at), events, equity)
    return events


def redeem_due(world: World, at: Timestamp) -> list[Event]:
    """Redeem what the service holds for its agents, and let the chain come to a wall time."""
    times = (at, world.world_at)
    return [*redeem_managed(world.venues, times), *produce_blocks(world.chain, world.venues, times)]


def _move(world: World, times: Times, author: Author, *, crossed: bool) -> list[Event]:
    """One move of the tape, and what it brings to orders and to what is watched."""
    at, world_at = times
    events: list[Event] = [*end_due(world.venues, times), *world.pending_trades.due(at)]
    events += _resolve_due(world, times)
    events += _lapsed(world, times)
    events += _list_new(world, times)
    span = (world.tick_count, world.world_at, world_at)
    if crossed:
        trades = corrections(world.markets.values(), world_at)
    else:
        trades = author.crowd(world.seed, world.markets, span)
    settled = () if crossed else author.wallets(world.wallet_context, span, trades)
    events += world.did(missing_listings(world.wallet_context, settled, times))
    return events + _ticked(world, Ticked(at, world_at, tuple(trades), crossed, settled))


def _ticked(world: World, tick: Ticked) -> list[Event]:
    """Apply a move's trades, and what they bring to orders and to what is watched."""
    times = (tick.at, tick.world_at)
    events = world.did([tick])
    events += match_due(world.venues, times)
    events += redeem_due(world, tick.at)
    events += world.did(world.price_alerts.due(world.markets, tick.at))
    events += watch(world, times)
    return events + fire_due(world, tick.at)


def play(
    world: World,
    times: Times,
    prices: Mapping[str, float],
    settled: tuple[Settlement, ...] = (),
) -> list[Event]:
    """One move of a world whose tape somebody else writes: nothing is listed, no crowd of its own.

    Args:
        world: it.
        times: wall time and the tape's at its end.
        prices: by market, the price of YES to which the crowd buys.
        settled: trades of wallets.

    Returns:
        The events, already applied.
    """
    at, world_at = times
    events: list[Event] = [*end_due(world.venues, times), *world.pending_trades.due(at)]
    events += _resolve_due(world, times)
    events += _lapsed(world, times)
    trades = [
        trade
        for market_id, price in prices.items()
        if (market := world.markets[market_id]).status(world_at) is MarketStatus.ACTIVE
        for trade in crowd_trade(market, price, CROWD_NAME)
    ]
    return events + _ticked(world, Ticked(at, world_at, tuple(trades), settled=settled))


def _resolve_due(world: World, times: Times) -> list[Event]:
    at, world_at = times
    due = [
        market
        for market in world.markets.values()
        if market.resolved_at is None and market.listing.resolved_at <= world_at
    ]
    due.sort(key=lambda market: (market.listing.resolved_at, market.market_id))
    return world.did([resolution_of(market, world.venues, at) for market in due])


def _lapsed(world: World, times: Times) -> list[Event]:
    """End the requests whose market takes no more orders at a moment of the tape."""
    at, world_at = times

    def is_open(market_id: str) -> bool:
        market = world.markets.get(market_id)
        return market is not None and market.status(world_at) is MarketStatus.ACTIVE

    return [*world.pending_trades.lapse(at, is_open)]


def _list_new(world: World, times: Times) -> list[Event]:
    """List what the tape has opened since, without markets that are closed already."""
    at, world_at = times
    return world.did([
        MarketListed(at, world_at, listing)
        for listing in world.tape.listings_at(world_at)
        if listing.market_id not in world.markets and listing.resolves_at > world_at
    ])
