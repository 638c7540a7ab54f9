"""Summary of what happened while the desk was closed."""

from collections.abc import Iterable
from dataclasses import dataclass

from service_tui.engine.amm.market import HOUR_S, VOLUME_HOURS, Market
from service_tui.engine.events import Event, MarketListed, MarketResolved
from service_tui.engine.tape.crowd import turnover
from service_tui.engine.tape.recorded import MarketTape
from service_tui.units import ONE, Micros, Timestamp


@dataclass(frozen=True, slots=True)
class Absence:
    """What happened while the desk was closed; times of the tape."""

    closed_at: Timestamp
    opened_at: Timestamp
    resolved: tuple[MarketResolved, ...]
    resolved_count: int
    listed_count: int
    equity_before: dict[str, Micros]


def absence_of(
    tape: MarketTape,
    span: tuple[Timestamp, Timestamp],
    events: Iterable[Event],
    equity: dict[str, Micros],
) -> Absence:
    """Summary of a gap, shown when the desk opens; `span` are times of the tape."""
    happened = tuple(events)
    resolved = tuple(event for event in happened if isinstance(event, MarketResolved))
    return Absence(
        closed_at=span[0],
        opened_at=span[1],
        resolved=resolved,
        resolved_count=max(tape.resolved_count(*span), len(resolved)),
        listed_count=sum(isinstance(event, MarketListed) for event in happened),
        equity_before=equity,
    )


def count_unseen(markets: Iterable[Market], world_at: Timestamp) -> None:
    """Count the volume of hours in which the crowd traded unseen, as it is on average."""
    for market in markets:
        listing = market.listing
        last = min(world_at, listing.resolves_at)
        first = max(listing.opens_at, market.last_sample_at, world_at - VOLUME_HOURS * HOUR_S)
        a_second = turnover(listing) if first < last else 0.0
        for hour in range(int(first // HOUR_S), int(last // HOUR_S) + 1):
            seconds = min(last, (hour + 1) * HOUR_S) - max(first, hour * HOUR_S)
            if seconds > 0:
                traded = Micros(round(a_second * seconds * ONE))
                market.count_volume(Timestamp(hour * HOUR_S), traded)
