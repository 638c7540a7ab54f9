"""Events: the listed markets that are outcomes of one question, and markets related to one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from service_tui.desk.slices.markets import MarketView
from service_tui.evaluation.events import EventSums, OutcomePrice, event_sums

OUTCOMES_MIN: Final = 2
RELATED_MAX: Final = 8
# ours: as many related markets as a page of 24 lines has room for.


@dataclass(frozen=True, slots=True)
class EventView:
    """One event with its open outcomes, the most likely first.

    The service lists outcomes as it knows them: there may be more on the venue.
    """

    event_id: str
    name: str
    outcomes: tuple[MarketView, ...]

    def sums(self) -> EventSums:
        """The sums over the outcomes listed."""
        return event_sums([
            OutcomePrice(one.price, one.liquidity, one.bid, one.ask) for one in self.outcomes
        ])


def events_of(markets: Iterable[MarketView]) -> tuple[EventView, ...]:
    """Every event with several open outcomes, by its name."""
    by_event: defaultdict[str, list[MarketView]] = defaultdict(list)
    for market in markets:
        if market.event_id and market.is_open:
            by_event[market.event_id].append(market)
    events = (
        _event(event_id, outcomes)
        for event_id, outcomes in by_event.items()
        if len(outcomes) >= OUTCOMES_MIN
    )
    return tuple(sorted(events, key=lambda event: (event.name, event.event_id)))


def event_of(market: MarketView, markets: Iterable[MarketView]) -> EventView | None:
    """The event of a market with the outcomes listed, also a single one; None without an event."""
    if not market.event_id:
        return None
    same = [one for one in markets if one.event_id == market.event_id and one.is_open]
    return _event(market.event_id, same or [market])


def _event(event_id: str, outcomes: list[MarketView]) -> EventView:
    ranked = sorted(outcomes, key=lambda one: (-one.price, one.market_id))
    return EventView(event_id, ranked[0].event_name or event_id, tuple(ranked))


def related_to(market: MarketView, markets: Iterable[MarketView]) -> tuple[MarketView, ...]:
    """Open markets of the same topic and no other outcome of it, the nearest end first."""
    # ours: the tag behind the category says the topic; a question without it is related to none.
    topic = market.tags[1:2]
    related = [
        one
        for one in markets
        if one.is_open
        and one.market_id != market.market_id
        and topic
        and one.tags[1:2] == topic
        and not (market.event_id and one.event_id == market.event_id)
    ]
    related.sort(key=lambda one: (one.resolves_at is None, one.resolves_at or 0.0, one.market_id))
    return tuple(related[:RELATED_MAX])
