"""A calendar of resolutions: positions by hour for two days, then by day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from service_tui.evaluation.exposure import AgentHolding, Exposure, Grouping, exposures, totals
from service_tui.units import Timestamp

HOURLY_S: Final = 2 * 86_400.0
"""How far ahead each hour has a place of its own."""


@dataclass(frozen=True, slots=True)
class DueSlot:
    """What resolves in one hour or day. `begins_at` is None for what is overdue, or has no end.

    `markets` has a row for each market and kind of money, the most at risk first; `totals` one for
    each kind of money.
    """

    begins_at: Timestamp | None
    is_hour: bool
    is_overdue: bool
    markets: tuple[Exposure, ...]
    totals: tuple[Exposure, ...]


def calendar(
    holdings: Iterable[AgentHolding], now: Timestamp, zone: tzinfo | None = None
) -> tuple[DueSlot, ...]:
    """The slots in which something resolves: what is overdue, hours, days, then what has no end.

    Args:
        holdings: what is held.
        now: of the world in which the markets resolve.
        zone: whose hours and days; None for those of this machine.
    """
    slots: dict[tuple[int, float], list[AgentHolding]] = {}
    for one in holdings:
        slots.setdefault(place_of(one.resolves_at, now, zone), []).append(one)
    return tuple(
        DueSlot(
            begins_at=Timestamp(begins_at) if kind in {_HOUR, _DAY} else None,
            is_hour=kind == _HOUR,
            is_overdue=kind == _OVERDUE,
            markets=exposures(own, Grouping.MARKET),
            totals=totals(own),
        )
        for (kind, begins_at), own in sorted(slots.items())
    )


_OVERDUE, _HOUR, _DAY, _NEVER = range(4)


def place_of(at: Timestamp | None, now: Timestamp, zone: tzinfo | None = None) -> tuple[int, float]:
    """The kind of a moment's slot, and when the slot begins: slots are listed in this order."""
    if at is None:
        return _NEVER, 0.0
    if at <= now:
        return _OVERDUE, 0.0
    moment = datetime.fromtimestamp(at, zone).astimezone(zone)
    hour = moment - timedelta(
        minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond
    )
    if at <= now + HOURLY_S:
        return _HOUR, hour.timestamp()
    return _DAY, moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
