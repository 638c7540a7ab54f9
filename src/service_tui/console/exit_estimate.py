"""Proceeds of an exit at another price: an estimate, never exact."""

import math
from dataclasses import dataclass

from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import MonitorState, MonitorView
from service_tui.desk.state import DeskState
from service_tui.evaluation.events import cost_of
from service_tui.terms import MarketStatus, Venue
from service_tui.units import ONE, Micros, decimal


@dataclass(frozen=True, slots=True)
class Estimate:
    """An exit at one price: its proceeds, and its P&L."""

    price: float
    brings: Micros
    pnl: Micros


def unguarded(position: PositionView) -> MonitorView:
    """A position as a monitor without thresholds, for an empty form."""
    is_open = position.status is MarketStatus.ACTIVE
    return MonitorView(
        market_id=position.market_id,
        question=position.question,
        side=position.side,
        venue=position.venue,
        shares=position.shares,
        cost=position.cost,
        entry=position.average,
        mark=position.mark_price,
        exit_value=position.exit_value,
        stop_loss_pct=None,
        take_profit_pct=None,
        state=MonitorState.WATCHING if is_open else MonitorState.CLOSED,
    )


def guarded(state: DeskState, holding: str) -> MonitorView | None:
    """The monitor of a position, or an empty one; None if there is no position."""
    monitor = state.risk.monitor(holding)
    if monitor is not None:
        return monitor
    position = state.position(holding)
    return None if position is None else unguarded(position)


def exit_now(monitor: MonitorView) -> Estimate | None:
    """Proceeds of an exit now, by the service's exit value."""
    if monitor.exit_value is None or monitor.mark is None or monitor.exit_pnl is None:
        return None
    return Estimate(monitor.mark, monitor.exit_value, monitor.exit_pnl)


def exit_at(
    monitor: MonitorView, price: float | None, market: MarketView | None
) -> Estimate | None:
    """Proceeds of an exit at a price, in a market as deep as now.

    Args:
        monitor: the monitored position.
        price: of the side, before the sale.
        market: its market, whose depth counts on `sim`.

    Returns:
        None without a price or without the figures for an estimate.
    """
    if price is None or not 0 <= price < 1 or monitor.shares <= 0:
        return None
    sold = decimal(monitor.shares)
    depth = None if market is None or market.liquidity is None else decimal(market.liquidity)
    if monitor.venue is Venue.SIM and depth is not None and depth > 0:
        brought = -cost_of(price, depth, -sold)
    else:
        brought = sold * price * _kept(monitor)
    brings = Micros(max(0, math.floor(brought * ONE)))
    return Estimate(price, brings, Micros(brings - monitor.cost))


def _kept(monitor: MonitorView) -> float:
    """Exit value as a part of the mark: the estimate on an order book."""
    if monitor.exit_value is None or monitor.mark is None:
        return 1.0
    worth = monitor.shares * monitor.mark
    return min(1.0, monitor.exit_value / worth) if worth > 0 else 1.0
