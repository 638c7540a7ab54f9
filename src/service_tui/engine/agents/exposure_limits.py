"""The operator's limits on all agents' exposure: by category, event or agent, on one venue."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from service_tui.engine.errors import ExposureLimitReached
from service_tui.engine.events import ExposureLimitSet
from service_tui.terms import MONEY_OF, LimitGroup, Venue
from service_tui.units import Micros, decimal, sum_of

CheckExposure = Callable[[str, str, Venue, Micros], None]
"""Refuses a buy of an agent in a market, on a venue, for so much money, beyond a limit."""


def no_limit(agent_id: str, market_id: str, venue: Venue, size: Micros) -> None:
    """Nothing is refused."""


LimitKey = tuple[LimitGroup, str, Venue]


class CostPart(NamedTuple):
    """What one market costs one agent: its open shares, and its buys that rest on the book.

    `event_id` is empty for a question that stands alone.
    """

    agent_id: str
    market_id: str
    category: str
    event_id: str
    cost: Micros

    def key_in(self, group: LimitGroup) -> str:
        """The group that it belongs to; an event of one question is that question."""
        match group:
            case LimitGroup.CATEGORY:
                return self.category
            case LimitGroup.EVENT:
                return self.event_id or self.market_id
            case LimitGroup.AGENT:
                return self.agent_id


class ExposureLimits:
    """The limits, each of one venue and so of one kind of money."""

    __slots__ = ("_parts", "kept")

    def __init__(self, parts: Callable[[Venue], Iterable[CostPart]]) -> None:
        """Check limits on a venue's parts, which are computed only while there are limits."""
        self._parts = parts
        self.kept: dict[LimitKey, ExposureLimitSet] = {}

    def apply(self, event: ExposureLimitSet) -> None:
        """Keep a limit in place of the one before, or none any more."""
        key = (event.group, event.key, event.venue)
        if event.cost_max is None:
            self.kept.pop(key, None)
        else:
            self.kept[key] = event

    def used(self, limit: ExposureLimitSet) -> Micros:
        """What the limit's group costs now."""
        parts = self._parts(limit.venue)
        return sum_of(one.cost for one in parts if one.key_in(limit.group) == limit.key)

    def broken_by(self, buy: CostPart, venue: Venue) -> Iterator[ExposureLimitSet]:
        """The limits beyond which a buy would go, those that only warn among them."""
        for limit in self.kept.values():
            if limit.venue is venue and buy.key_in(limit.group) == limit.key:
                most = limit.cost_max
                if most is not None and self.used(limit) + buy.cost > most:
                    yield limit

    def check(self, buy: CostPart, venue: Venue) -> None:
        """Refuse a buy beyond a limit.

        Raises:
            ExposureLimitReached: beyond one that refuses.
        """
        for limit in self.broken_by(buy, venue):
            if limit.refuses:
                raise ExposureLimitReached(f"the buy goes {beyond(limit)}")


def beyond(limit: ExposureLimitSet) -> str:
    """The limit in words."""
    most = decimal(limit.cost_max or Micros(0))
    what = {
        LimitGroup.CATEGORY: f"in {limit.key}",
        LimitGroup.EVENT: "in this event",
        LimitGroup.AGENT: "for this agent",
    }[limit.group]
    return f"beyond the operator's limit of {most:,.2f} {MONEY_OF[limit.venue]} {what}"
