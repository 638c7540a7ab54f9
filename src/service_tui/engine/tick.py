"""Advances the world's tape over a stretch of time, from a second to a night.

Called by the server at every tick, and by it alone. The world applies events; here is decided which
events a moment brings: markets that resolve and open, the crowd, the watched wallets, resting
orders, redemptions, breaches.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from service_tui.engine.alerting import fire_due
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
from service_tui.engine.reactor.recorded_wallets import settlements_in
from service_tui.engine.reactor.wallet_trades import WalletContext
from service_tui.engine.risk.monitors import Ladder, MonitoredSide, Prices, prices_at
from service_tui.engine.tape.absence import absence_of
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.crowd import corrections, crowd_trade, crowd_trades
from service_tui.engine.tape.feed import Resolution
from service_tui.engine.world import World
from service_tui.outcome import NO, YES, Outcome
from service_tui.terms import CLOSED_SPEED_MAX, MarketStatus, Side, Venue
from service_tui.units import Micros, Timestamp, sum_of

_HAIR_S: Final = 0.001
"""Keeps the rounding of doubles on the far side of a time stop."""

CROWD_NAME: Final = "the crowd"

STEP_S: Final = 60.0
"""Source: decisions, "Closed at a breach"."""


Span = tuple[int, Timestamp, Timestamp]
"""Number of a move of the tape, and the tape's time before and after it."""


class Author(NamedTuple):
    """The source of a tape's prices and trades.

    Attributes:
        belief: price of a question at a moment of a gap.
        crowd: trades of the crowd in one move.
        wallets: trades of the named wallets in one move, beside those of the crowd.
    """

    belief: Callable[[Listing, Timestamp], float] = belief
    crowd: Callable[[int, Mapping[str, Market], Span], Sequence[CrowdTrade]] = crowd_trades
    wallets: Callable[[WalletContext, Span, Iterable[CrowdTrade]], tuple[Settlement, ...]] = (
        settlements_in
    )


_AUTHOR: Final = Author()


def next_stop(world: World, end: Times, author: Author = _AUTHOR) -> Times:
    """Where to halt on the way over a gap: at the next breach, else at its end.

    Args:
        world: as it is before the gap, or at the last halt.
        end: wall time and the tape's at the end of the gap.
        author: the source of the prices on the way; the tape's own by default.

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
    if at <= world.at:
        return until
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


def resolution_of(
    market: Market, venues: Venues, at: Timestamp, resolution: Resolution | None = None
) -> MarketResolved:
    """The resolution of a market, not yet applied; every side that was ever bought is in it.

    Without a `resolution` it ends as its listing says.
    """
    resolution = resolution or Resolution(
        market.listing.resolved_at, YES if market.listing.outcome else NO
    )
    outcome, market_id = resolution.outcome, market.market_id
    payouts = [
        payout
        for agent in venues.agents.values()
        if (position := agent.positions.get(market_id)) is not None
        for payout in _payouts(position, outcome, agent.sources.get(market_id, ()))
    ]
    settled = [
        (account.venue, payout._replace(wallet=wallet))
        for account, holdings, wallet in venues.pools()
        if (holding := holdings.get(market_id)) is not None
        for payout in _payouts(holding.position, outcome, holding.sources)
    ]
    return MarketResolved(
        market_id,
        at,
        resolution.at,
        outcome,
        tuple(payouts),
        _crowd_payout(market, venues, outcome, sum_of(one.payout for one in payouts)),
        tuple(settled),
    )


def _crowd_payout(market: Market, venues: Venues, outcome: Outcome, paid: Micros) -> Micros:
    """The payout of the crowd's shares, after the agents were `paid`."""
    if outcome.is_void:
        # ours: nobody knows what the crowd's shares cost, so that it gets what is left of all that
        # was ever paid in. Nothing may be: agents who sold higher have taken it already.
        return Micros(max(0, venues.ledger.balance(market.account) - paid))
    total = sum_of(outcome.paid(side, market.sold(side), Micros(0)) for side in Side)
    return Micros(total - paid)


def _payouts(position: Position, outcome: Outcome, sources: tuple[str, ...]) -> Iterator[Payout]:
    """What each side of a position that was ever bought is worth."""
    for side in Side:
        watched = position.on(side)
        if watched.shares or watched.opened_at:
            worth = outcome.paid(side, watched.shares, watched.cost)
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
    if world.tape.is_over(world.world_at):
        # The recording ends here: the world stands still, as if it were paused.
        pace = 0
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
    before = world.world_at
    world_at = world.tape.reached(Timestamp(before + max(0.0, gap_s) * pace))
    is_away = gap_s > AWAY_MIN_S
    # Of every agent and all that it holds: not for an ordinary tick.
    equity = (
        {key: world.exit_equity(agent) for key, agent in world.agents.items()} if is_away else {}
    )
    events = _moves(world, (at, world_at), author, crossed=crossed)
    if is_away:
        world.meanwhile = absence_of(world.tape, (before, world_at), events, equity)
    return events


def _moves(world: World, until: Times, author: Author, *, crossed: bool) -> list[Event]:
    """Move the tape to its time, with a halt at each breach on the way where that is far."""
    events: list[Event] = []
    halts = crossed or until[1] - world.world_at > STEP_S
    while True:
        times = next_stop(world, until, author) if halts else until
        if halts:
            events += _peaks_on_the_way(world, times, author)
        events += _move(world, times, author, crossed=crossed)
        if times is until:
            return events


def step(world: World, seconds: float, at: Timestamp, author: Author = _AUTHOR) -> list[Event]:
    """Move the tape on by so many of its seconds, in no time of the wall.

    Args:
        world: it.
        seconds: of the tape, above 0; a recording that ends before ends the step.
        at: wall time, now.
        author: who writes the tape; the world's own seed by default.

    Returns:
        The events, already applied.
    """
    events = advance(world, at, author)
    until = world.tape.reached(Timestamp(world.world_at + seconds))
    if until <= world.world_at:
        return events
    return events + _moves(world, (world.at, until), author, crossed=False)


def go_along(world: World, at: Timestamp, author: Author = _AUTHOR) -> list[Event]:
    """Move a world whose tape goes with the wall clock, as a desk that is open sees it.

    Args:
        world: it.
        at: wall time, now; it may be far on, and nothing counts as missed.
        author: who writes the tape; the world's own seed by default.

    Returns:
        The events, already applied.
    """
    world_at = world.tape.reached(Timestamp(world.world_at + (at - world.at)))
    return _moves(world, (at, world_at), author, crossed=False)


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
        (resolution.at, market.market_id, market, resolution)
        for market in world.markets.values()
        if market.resolved_at is None
        and (resolution := world.tape.resolution(market.listing, world_at)) is not None
    ]
    due.sort(key=itemgetter(0, 1))
    return world.did([
        resolution_of(market, world.venues, at, resolution) for *_, market, resolution in due
    ])


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
