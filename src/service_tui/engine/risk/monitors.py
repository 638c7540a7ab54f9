"""Monitors on positions, ordered so that a quiet tick checks only the nearest threshold.

Prices of a monitor are of its own side.

Each market of a venue has a ladder: per side one heap of stops, highest first, and one of targets,
lowest first. A monitor that changes or goes leaves its old rungs where they are; they are dropped
when they come to the top, and swept when most of a heap is old.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Final, NamedTuple

from service_tui.terms import THRESHOLDS, ExitReason, Side, Venue
from service_tui.units import Timestamp

BREACH_TEXTS: Final = {
    ExitReason.STOP_LOSS: ("stop-loss", "{} fell to {:.4f}", "below"),
    ExitReason.TAKE_PROFIT: ("take-profit", "{} sells for {:.4f} a share", "above"),
    ExitReason.TRAILING_STOP: ("trailing stop", "{} fell to {:.4f}", "below"),
}
"""A breach by price in plain English: name, what moved, on which side of the level."""

SWEEP_MIN: Final = 64
"""Rungs below which a heap is not worth sweeping."""

DROPPED: Final = -1


class MonitoredSide(NamedTuple):
    """One side of one market on one venue in one agent's hands: what a monitor is for."""

    agent_id: str
    venue: Venue
    market_id: str
    side: Side


@dataclass(slots=True)
class Monitor:
    """Thresholds of one held side. `entry` is its average cost when last put on the ladder.

    `reference` is the price that its stop is measured from (`SidePosition.reference`), `reach` the
    price at which its target may be met: where the ladder has it. `turn` counts how often it was
    put there: older rungs are void. A trailing stop is `trailing_stop_pct` of the `peak` below it,
    or `trailing_stop_points`; the peak is the highest mark seen since it was set. `exit_at` is the
    wall time of a time stop.
    """

    watched: MonitoredSide
    stop_loss_pct: float | None
    take_profit_pct: float | None
    automatic: bool
    set_at: Timestamp
    entry: float = 0.0
    reference: float = 0.0
    turn: int = 0
    reach: float | None = None
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    exit_at: Timestamp | None = None
    peak: float = 0.0

    def terms(self) -> dict[str, Any]:
        """Its thresholds by name; None is off."""
        return {kind.name: getattr(self, kind.name) for kind in THRESHOLDS}

    @property
    def trail_distance(self) -> float | None:
        """How far its trailing stop is below the peak, as it was set; None without one."""
        return (
            self.trailing_stop_points if self.trailing_stop_pct is None else self.trailing_stop_pct
        )

    def trail_price(self, peak: float | None = None) -> float | None:
        """The price at or below which its trailing stop closes; of `peak`, or of its own."""
        peak = self.peak if peak is None else peak
        if self.trailing_stop_pct is not None:
            return peak * (1.0 - self.trailing_stop_pct)
        return None if self.trailing_stop_points is None else peak - self.trailing_stop_points

    def floor(self, peak: float | None = None) -> tuple[float, ExitReason] | None:
        """The higher one of its stop and its trailing stop; None where it has neither."""
        stop, trail = self.stop_price(), self.trail_price(peak)
        if trail is not None and (stop is None or trail > stop):
            return trail, ExitReason.TRAILING_STOP
        return None if stop is None else (stop, ExitReason.STOP_LOSS)

    def distance(self, reason: ExitReason) -> float:
        """The threshold that a breach crossed, as it was set; 0 for a time."""
        crossed = {
            ExitReason.STOP_LOSS: self.stop_loss_pct,
            ExitReason.TAKE_PROFIT: self.take_profit_pct,
            ExitReason.TRAILING_STOP: self.trail_distance,
        }
        return crossed.get(reason) or 0.0

    def stop_price(self) -> float | None:
        """The price at or below which to close."""
        return None if self.stop_loss_pct is None else self.reference * (1.0 - self.stop_loss_pct)

    def target_price(self) -> float | None:
        """The exit value a share at or above which to close; above 1 where none reaches it."""
        return None if self.take_profit_pct is None else self.entry * (1.0 + self.take_profit_pct)


class Prices(NamedTuple):
    """What a tick compares: the mark of YES with stops, the best price of each side with targets.

    No share of a side is sold above its best price, so a target above it is not met.
    """

    mark: float
    yes: float
    no: float

    def mark_of(self, side: Side) -> float:
        """The mark of a side."""
        return self.mark if side is Side.YES else 1.0 - self.mark


def prices_at(mark: float) -> Prices:
    """Prices of a market where every share meets the mark first, as on sim."""
    return Prices(mark, mark, 1.0 - mark)


class Crossed(NamedTuple):
    """A monitor whose threshold may be crossed; `level` is the price it made.

    A stop is crossed by the mark, `price`, a time stop by the clock. A target is crossed when the
    exit value says so.
    """

    monitor: Monitor
    reason: ExitReason
    level: float
    price: float


Rung = tuple[float, int, int, Monitor]
"""Level (of stops the negative one), number, turn, monitor: the number is unlike every other."""


Nearest = tuple[float, float, float, float]
"""Stop and target of YES, stop and target of NO: what a tick is compared with."""


class Ladder:
    """All levels of one market on one venue."""

    __slots__ = ("_nearest", "_numbers", "_stops", "_targets", "followers", "monitors")

    def __init__(self) -> None:
        # Those with a trailing stop, whose peak is looked at in each tick.
        self.followers: dict[MonitoredSide, Monitor] = {}
        self.monitors: dict[MonitoredSide, Monitor] = {}
        self._stops: dict[Side, list[Rung]] = {Side.YES: [], Side.NO: []}
        self._targets: dict[Side, list[Rung]] = {Side.YES: [], Side.NO: []}
        self._numbers = count()
        self._nearest: Nearest | None = None

    def put(
        self,
        monitor: Monitor,
        entry: float,
        reach: float | None,
        *,
        reference: float | None = None,
    ) -> None:
        """Put a monitor on its rungs; those from before are void.

        Args:
            monitor: the monitor.
            entry: average cost of what it watches.
            reach: price of its side at which its target may be met; None without a target.
            reference: the price that its stop is measured from; the entry where none is given.
        """
        self._nearest = None
        monitor.entry = entry
        monitor.reference = entry if reference is None else reference
        monitor.reach = reach
        monitor.turn += 1
        side = monitor.watched.side
        floor = monitor.floor()
        if floor is not None:
            self._add(self._stops[side], -floor[0], monitor)
        if reach is not None:
            self._add(self._targets[side], reach, monitor)

    def drop(self, monitor: Monitor) -> None:
        """Forget a monitor."""
        self._nearest = None
        self.monitors.pop(monitor.watched, None)
        self.followers.pop(monitor.watched, None)
        monitor.turn = DROPPED

    def is_reached(self, prices: Prices) -> bool:
        """Whether prices have reached any level; costs the same however many there are."""
        nearest = self._nearest
        if nearest is None:
            nearest = self._nearest = self._nearest_levels()
        stop, target, no_stop, no_target = nearest
        mark, yes, no = prices
        return mark <= stop or yes >= target or 1.0 - mark <= no_stop or no >= no_target

    def _nearest_levels(self) -> Nearest:
        """The level of each kind that a price would reach first; one beyond all where none is."""
        yes, no = Side.YES, Side.NO
        return (
            -_top(self._stops[yes]),
            _top(self._targets[yes]),
            -_top(self._stops[no]),
            _top(self._targets[no]),
        )

    def reached(self, prices: Prices) -> list[Crossed]:
        """The monitors whose levels prices have reached, each once.

        Returns:
            What was reached. It is off its rungs: the caller drops it, or adds it again.
        """
        self._nearest = None
        found: dict[MonitoredSide, Crossed] = {}
        for side, mark, best in (
            (Side.YES, prices.mark, prices.yes),
            (Side.NO, 1.0 - prices.mark, prices.no),
        ):
            stops, targets = _cleared(self._stops[side]), _cleared(self._targets[side])
            while stops and mark <= -stops[0][0]:
                level, _, _, monitor = heappop(stops)
                floor = monitor.floor()
                reason = ExitReason.STOP_LOSS if floor is None else floor[1]
                crossed = Crossed(monitor, reason, -level, mark)
                found[monitor.watched] = crossed
                _cleared(stops)
            while targets and best >= targets[0][0]:
                _, _, _, monitor = heappop(targets)
                level = monitor.target_price() or 0.0
                crossed = Crossed(monitor, ExitReason.TAKE_PROFIT, level, best)
                found.setdefault(monitor.watched, crossed)
                _cleared(targets)
        return list(found.values())

    def _add(self, heap: list[Rung], level: float, monitor: Monitor) -> None:
        heappush(heap, (level, next(self._numbers), monitor.turn, monitor))
        if len(heap) > SWEEP_MIN and len(heap) > 2 * len(self.monitors):
            heap[:] = [rung for rung in heap if rung[2] == rung[3].turn]
            heapify(heap)


def _cleared(heap: list[Rung]) -> list[Rung]:
    """A heap whose top is no void rung."""
    while heap and heap[0][2] != heap[0][3].turn:
        heappop(heap)
    return heap


def _top(heap: list[Rung]) -> float:
    """The level on top of a heap; infinity where there is none."""
    return heap[0][0] if _cleared(heap) else math.inf


class Monitors:
    """Every monitor, by its owner and by its market."""

    __slots__ = ("_by_agent", "ladders", "timed")

    def __init__(self) -> None:
        self._by_agent: dict[str, dict[MonitoredSide, Monitor]] = {}
        self.ladders: dict[tuple[Venue, str], Ladder] = {}
        self.timed: dict[MonitoredSide, Monitor] = {}

    def __iter__(self) -> Iterator[Monitor]:
        """All of them, agent by agent."""
        return (one for own in self._by_agent.values() for one in own.values())

    def get(self, watched: MonitoredSide) -> Monitor | None:
        """The monitor of a side, if there is one."""
        return self._by_agent.get(watched.agent_id, {}).get(watched)

    def of(self, agent_id: str) -> list[Monitor]:
        """An agent's monitors, in the order in which they were set."""
        own = self._by_agent.get(agent_id, {}).values()
        return sorted(own, key=lambda one: (one.set_at, one.watched))

    def add(self, monitor: Monitor) -> None:
        """Take a monitor in; an earlier one of the side is replaced. It is on no rung yet."""
        watched = monitor.watched
        self.drop(watched)
        self._by_agent.setdefault(watched.agent_id, {})[watched] = monitor
        where = watched.venue, watched.market_id
        ladder = self.ladders.get(where)
        if ladder is None:
            ladder = self.ladders[where] = Ladder()
        ladder.monitors[watched] = monitor
        if monitor.trail_distance is not None:
            ladder.followers[watched] = monitor
        if monitor.exit_at is not None:
            self.timed[watched] = monitor

    def ladder_of(self, watched: MonitoredSide) -> Ladder:
        """The ladder on which a monitor of this side stands."""
        return self.ladders[watched.venue, watched.market_id]

    def drop(self, watched: MonitoredSide) -> Monitor | None:
        """Watch no longer; the monitor that was there."""
        own = self._by_agent.get(watched.agent_id)
        monitor = None if own is None else own.pop(watched, None)
        if monitor is not None:
            where = watched.venue, watched.market_id
            self.timed.pop(watched, None)
            self.ladders[where].drop(monitor)
            if not self.ladders[where].monitors:
                del self.ladders[where]
        return monitor

    def drop_market(self, market_id: str) -> None:
        """Watch nothing of a market any longer, on whatever venue."""
        for venue in Venue:
            ladder = self.ladders.get((venue, market_id))
            for watched in list(ladder.monitors) if ladder is not None else ():
                self.drop(watched)
