"""How a long gap is crossed: in one move, but for the moments at which a monitor is breached.

Knows belief, and the monitors of a world handed in. Must not know who was away, or why.
Used by world. Markets that nobody watches are crossed by random access as ever; those that somebody
watches are walked along, in steps of at most a minute of the tape.
"""

from typing import Final

from service_tui.engine.belief import belief
from service_tui.engine.exit_values import book_prices, met_at
from service_tui.engine.exits import is_for_service
from service_tui.engine.market import Market
from service_tui.engine.monitors import Ladder, Prices, prices_at
from service_tui.engine.venues import Times
from service_tui.engine.world import World
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp

STEP_S: Final = 60.0
"""Source: decisions, "Closed at a breach"."""


def next_stop(world: World, end: Times) -> Times:
    """Where to halt on the way over a gap: at the next breach, else at its end.

    Args:
        world: as it stands before the gap, or at the last halt.
        end: wall time and the tape's at the end of the gap.

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
    for (venue, market_id), ladder in risk.monitors.ladders.items():
        market = world.markets[market_id]
        if market.status(world.world_at) is MarketStatus.ACTIVE:
            stop = _first_breach(world, (venue, market), ladder, (world.world_at, stop))
    if stop >= until:
        return end
    share = (stop - world.world_at) / span_s
    return Timestamp(world.at + (at - world.at) * share), stop


def _is_breached(world: World, ladder: Ladder, prices: Prices, times: Times) -> bool:
    """Whether a monitor of a book is breached: a thin book meets no target at its best price."""
    for monitor in ladder.monitors.values():
        mark = prices.mark if monitor.held.side is Side.YES else 1.0 - prices.mark
        stop = monitor.stop_price()
        if (stop is not None and mark <= stop) or met_at(world, monitor, times) is not None:
            return True
    return False


def _first_breach(
    world: World,
    where: tuple[Venue, Market],
    ladder: Ladder,
    span: tuple[Timestamp, Timestamp],
) -> Timestamp:
    """The first step at which a market's price reaches a level; the end of the span if none."""
    (venue, market), (start, end) = where, span
    steps = 1
    while (then := Timestamp(start + steps * STEP_S)) < min(end, market.listing.resolves_at):
        times = (world.at, then)
        # What a crossed gap makes of prices on sim is the belief; see World.
        prices = (
            prices_at(belief(market.listing, then))
            if venue is Venue.SIM
            else book_prices(world, market.market_id, times)
        )
        if ladder.is_reached(prices) and (
            venue is Venue.SIM or _is_breached(world, ladder, prices, times)
        ):
            return then
        steps += 1
    return end
