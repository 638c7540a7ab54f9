"""Effects of a price tick on monitors: breaches, the service's exits, expiring alerts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.book import is_bid
from service_tui.engine.books.orders import ORDER_MIN, VenueOrder, place
from service_tui.engine.books.resting import cancel_all
from service_tui.engine.books.venues import Times
from service_tui.engine.errors import MarketNotOpen, Refusal
from service_tui.engine.events import AlertEnded, Breached, Event, Note, PeakRaised
from service_tui.engine.exit_values import met_at, prices_of
from service_tui.engine.risk.alerts import SOURCES, RiskAlert
from service_tui.engine.risk.monitors import BREACH_TEXTS, Crossed, Ladder, MonitoredSide
from service_tui.engine.risk.risk import is_of_service
from service_tui.engine.world import World
from service_tui.terms import (
    Action,
    AlertStatus,
    ExitReason,
    OrderType,
    Side,
    Venue,
)
from service_tui.units import Micros, Timestamp

_POINTS: Final = 100
"""Points of a price of 1."""


def watch(world: World, times: Times) -> list[Event]:
    """Everything that the prices and the hour of now do to monitors and alerts.

    Each monitor is breached at most once. Of a managed wallet the service sells at once; what the
    market does not take now it tries again at the next tick, as long as the alert lives.

    Returns:
        The events, already applied.
    """
    risk = world.risk
    risk.settle()
    events: list[Event] = []
    # The hour first: who comes at its end does not come in time.
    events += _expire(world, times)
    events += _raise_peaks(world, times)
    for crossed in sorted(_crossed(world, times), key=lambda one: one.monitor.watched):
        shares = unalerted(world, crossed.monitor.watched)
        if not shares:
            # Its exit is on its way: the monitor stays for what is bought beside it.
            risk.put_back(crossed.monitor)
            continue
        breach = _breach(world, crossed, shares, times)
        risk.apply(breach)
        events.append(breach)
    if risk.alerts.pending:
        for alert in list(risk.alerts.pending.values()):
            if is_remainder(world, alert.watched):
                # What is left after a part was sold is too little for any order: that was the exit.
                status = AlertStatus.EXECUTED if alert.sold else AlertStatus.REMAINDER
                events.append(_end(world, alert, status, times))
            elif is_for_service(world, alert):
                events += _exit(world, alert, times)
        risk.settle()
    return events


def is_for_service(world: World, alert: RiskAlert) -> bool:
    """Whether the service itself sells: on sim always, elsewhere where it holds the wallet."""
    breach = alert.breach
    return is_of_service(breach.venue, world.agents[breach.agent_id].settings.wallet)


def is_remainder(world: World, watched: MonitoredSide) -> bool:
    """True if the shares are below the venue's smallest order, so that no order sells them."""
    shares = world.risk.position_of(watched).shares
    if watched.venue is Venue.SIM:
        market = world.markets.get(watched.market_id)
        return bool(shares) and market is not None and not market.exit_value(watched.side, shares)
    return 0 < shares < ORDER_MIN[watched.venue]


def unalerted(world: World, watched: MonitoredSide) -> Micros:
    """Shares of a side that no pending alert is about.

    Returns:
        What is held beside them; 0 also where an alert is pending and no order sells the rest.
    """
    held = world.risk.position_of(watched).shares
    pending = world.risk.alerts.left_of(watched)
    free = Micros(max(0, held - pending))
    is_rest = pending > 0 and free < ORDER_MIN.get(watched.venue, Micros(0))
    return Micros(0) if is_rest else free


def _raise_peaks(world: World, times: Times) -> list[Event]:
    """The highest marks of trailing stops, where the marks of now are higher."""
    found: list[PeakRaised] = []
    for (venue, market_id), ladder in world.risk.monitors.ladders.items():
        if ladder.followers and (prices := prices_of(world, venue, market_id, times)) is not None:
            marks = {side: prices.mark_of(side) for side in Side}
            found += raised(ladder, marks, times[0])
    for event in found:
        world.risk.apply(event)
    return [*found]


def raised(ladder: Ladder, marks: Mapping[Side, float], at: Timestamp) -> Iterator[PeakRaised]:
    """The trailing stops of a ladder whose peak is below the marks, each with its new peak."""
    for watched, monitor in ladder.followers.items():
        mark = marks[watched.side]
        if mark > monitor.peak:
            yield PeakRaised(
                watched.agent_id, at, watched.venue, watched.market_id, watched.side, mark
            )


def _crossed(world: World, times: Times) -> Iterator[Crossed]:
    """Each monitor whose threshold is crossed, once: by a price, else by the clock."""
    by_price = {one.monitor.watched: one for one in _crossed_by_price(world, times)}
    yield from by_price.values()
    for watched, monitor in world.risk.monitors.timed.items():
        if watched in by_price or monitor.exit_at is None or times[0] < monitor.exit_at:
            continue
        prices = prices_of(world, watched.venue, watched.market_id, times)
        if prices is not None:
            mark = prices.mark_of(watched.side)
            yield Crossed(monitor, ExitReason.TIME_STOP, mark, mark)


def _crossed_by_price(world: World, times: Times) -> Iterator[Crossed]:
    for (venue, market_id), ladder in list(world.risk.monitors.ladders.items()):
        prices = prices_of(world, venue, market_id, times)
        if prices is None or not ladder.is_reached(prices):
            continue
        for crossed in ladder.reached(prices):
            if crossed.reason is not ExitReason.TAKE_PROFIT:
                yield crossed
                continue
            price = met_at(world, crossed.monitor, times)
            if price is None:
                world.risk.put_back(crossed.monitor)
            else:
                yield crossed._replace(price=price)


def _breach(world: World, crossed: Crossed, shares: Micros, times: Times) -> Breached:
    monitor, watched = crossed.monitor, crossed.monitor.watched
    return Breached(
        f"a{world.risk.alert_count + 1}",
        watched.agent_id,
        *times,
        watched.venue,
        watched.market_id,
        watched.side,
        crossed.reason,
        monitor.distance(crossed.reason),
        crossed.level,
        monitor.entry,
        crossed.price,
        shares,
        in_points=crossed.reason is ExitReason.TRAILING_STOP and monitor.trailing_stop_pct is None,
    )


def reason_of(breach: Breached) -> str:
    """The reason of an exit in plain English, stored as the reasoning of its trade."""
    side = breach.side.value.upper()
    if breach.reason is ExitReason.TIME_STOP:
        return f"time stop: {side} at {breach.price:.4f} (entry {breach.entry:.4f})"
    name, moved, beyond = BREACH_TEXTS[breach.reason]
    points = f"{_POINTS * breach.threshold_pct:.4g} pt"
    distance = points if breach.in_points else f"{breach.threshold_pct:.1%}"
    return (
        f"{name} {distance}: "
        f"{moved.format(side, breach.price)}, "
        f"at or {beyond} {breach.level:.4f} (entry {breach.entry:.4f})"
    )


def exit_order(world: World, alert: RiskAlert) -> Order:
    """The sale on sim for an alert: never more than the position."""
    breach = alert.breach
    size = Micros(min(alert.left(), world.risk.position_of(alert.watched).shares))
    note = Note(reasoning=reason_of(breach), source=SOURCES[breach.reason])
    agent = world.agents[breach.agent_id]
    # Whatever holds up the agent's own orders, suspended or not claimed any more, guards nobody.
    settings = replace(agent.settings, suspended=False, claimed=True, real_trading_enabled=True)
    agent = replace(agent, settings=settings)
    return Order(agent, breach.market_id, breach.side, Action.SELL, size, note=note)


def _exit(world: World, alert: RiskAlert, times: Times) -> list[Event]:
    """Sell for an alert; nothing happens where the market does not take it now."""
    events: list[Event] = []
    order = exit_order(world, alert)
    try:
        if alert.breach.venue is Venue.SIM:
            events.append(world.place(order, times[0]))
        else:
            events += _clear_the_way(world, alert, times)
            events += place(world.venues, on_venue(alert.breach.venue, order), times)
    except MarketNotOpen:
        events.append(_end(world, alert, AlertStatus.RESOLVED, times))
    except Refusal:
        pass
    return events


def on_venue(venue: Venue, order: Order) -> VenueOrder:
    """The same order on a real venue: what there is now, at whatever price; nothing rests."""
    return VenueOrder(
        agent=order.agent,
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        size=order.size,
        venue=venue,
        order_type=OrderType.FAK,
        note=order.note,
        unlimited=order.unlimited,
    )


def _clear_the_way(world: World, alert: RiskAlert, times: Times) -> list[Event]:
    """Cancel the agent's own orders that hold the shares, buy them back, or are in the way."""
    # ours: an exit that leaves a resting buy of the same side would be undone by it.
    breach = alert.breach
    meets_bids = not is_bid(breach.side, Action.SELL)
    in_the_way = [
        order
        for order in world.venues.book(breach.market_id).orders.values()
        if order.agent_id == breach.agent_id
        and (order.side is breach.side or order.bids() is meets_bids)
    ]
    return [*cancel_all(world.venues, in_the_way, times)]


def _expire(world: World, times: Times) -> list[Event]:
    at = times[0]
    dead = [one for one in world.risk.alerts.pending.values() if at >= one.expires_at]
    return [_end(world, alert, AlertStatus.EXPIRED, times) for alert in dead]


def _end(world: World, alert: RiskAlert, status: AlertStatus, times: Times) -> AlertEnded:
    breach = alert.breach
    ended = AlertEnded(breach.alert_id, breach.agent_id, times[0], breach.market_id, status)
    world.risk.apply(ended)
    return ended
