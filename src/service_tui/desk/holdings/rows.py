"""The rows of the exposure lists, for screens and scripts. Pure."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from service_tui.desk.slices.holdings import HoldingsView, LimitView
from service_tui.evaluation.calendar import DueSlot, calendar
from service_tui.evaluation.exposure import (
    AgentHolding,
    Exposure,
    Grouping,
    Opposition,
    exposures,
    group_of,
    oppositions,
    totals,
)
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class GroupRow:
    """What one group of holdings can come to, in one kind of money, and the limit that it has.

    A market of the calendar has the `slot` in which it resolves, too.
    """

    grouping: Grouping
    exposure: Exposure
    limit: LimitView | None = None
    slot: DueSlot | None = None
    resolves_at: Timestamp | None = None

    @property
    def key(self) -> str:
        """Identity of the row, over all lists: the calendar has markets that are groups, too."""
        due = "due " if self.slot is not None else ""
        return f"{due}{self.grouping.value} {self.exposure.key} {self.exposure.money}"

    @property
    def market_id(self) -> str:
        """Its market; empty for a group of several."""
        return self.exposure.key if self.grouping is Grouping.MARKET else ""

    @property
    def question(self) -> str:
        """Its name, as every row of a list has one."""
        return self.exposure.name


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A side that an agent holds, or an open order of it, with the stop below it."""

    agent_id: str
    agent_name: str
    market_id: str
    question: str
    venue: Venue
    side: Side
    what: str
    shares: Micros
    cost: Micros
    value: Micros | None
    price: float | None
    stop: float | None
    target: float | None
    resolves_at: Timestamp | None
    order_id: str = ""

    @property
    def key(self) -> str:
        """Identity of the row."""
        place = f"{self.agent_id} {self.market_id} {self.side.value} {self.venue.value}"
        return f"{place} {self.order_id}"

    @property
    def pnl(self) -> Micros | None:
        """What selling it now would make or lose; None for an order, which holds nothing."""
        return None if self.value is None else Micros(self.value - self.cost)


ExposureRow = GroupRow | HeldRow


@dataclass(frozen=True, slots=True)
class Summary:
    """All that is held: a row for each kind of money, of it what resolves soon, and both sides."""

    all: tuple[Exposure, ...] = ()
    soon: tuple[Exposure, ...] = ()
    both: tuple[Opposition, ...] = ()


def summary_of(held: HoldingsView) -> Summary:
    """The figures above and below the lists."""
    soon = [one for one in held.holdings if one.is_soon(held.world_at)]
    return Summary(totals(held.holdings), totals(soon), oppositions(held.holdings))


def group_rows(held: HoldingsView) -> tuple[GroupRow, ...]:
    """The groups of every grouping, one grouping after the other."""
    limits = {(one.group.value, one.key, MONEY_OF[one.venue]): one for one in held.limits}
    return tuple(
        GroupRow(grouping, one, limits.get((grouping.value, one.key, one.money)))
        for grouping in Grouping
        for one in exposures(held.holdings, grouping)
    )


def due_rows(held: HoldingsView) -> tuple[GroupRow, ...]:
    """The markets in the order in which they resolve; those without a known end come last."""
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    rows = [
        GroupRow(Grouping.MARKET, one, slot=slot, resolves_at=ends[one.key])
        for slot in calendar(held.holdings, held.world_at)
        for one in slot.markets
    ]
    return tuple(sorted(rows, key=lambda row: row.resolves_at or math.inf))


def held_rows(held: HoldingsView) -> tuple[HeldRow, ...]:
    """What all agents hold, then their open orders."""
    return (*_positions(held), *_orders(held))


def _positions(held: HoldingsView) -> Iterator[HeldRow]:
    for one in held.holdings:
        yield HeldRow(
            agent_id=one.agent_id,
            agent_name=one.agent_name,
            market_id=one.market_id,
            question=one.question,
            venue=one.venue,
            side=one.side,
            what="position",
            shares=one.shares,
            cost=one.cost,
            value=one.value,
            price=one.price,
            stop=one.stop,
            target=one.target,
            resolves_at=one.resolves_at,
        )


def _orders(held: HoldingsView) -> Iterator[HeldRow]:
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    for row in held.orders:
        order = row.order
        yield HeldRow(
            agent_id=row.agent_id,
            agent_name=row.agent_name,
            market_id=order.market_id,
            question=order.question,
            venue=order.venue,
            side=order.side,
            what=f"open {order.action.value}",
            shares=order.shares,
            cost=order.money,
            value=None,
            price=order.price,
            stop=None,
            target=None,
            resolves_at=ends.get(order.market_id),
            order_id=order.order_id,
        )


def holdings_of(row: ExposureRow, held: HoldingsView) -> tuple[AgentHolding, ...]:
    """The holdings behind a row, the costliest first."""
    found = [one for one in held.holdings if _is_behind(row, one)]
    return tuple(sorted(found, key=lambda one: -one.cost))


def _is_behind(row: ExposureRow, one: AgentHolding) -> bool:
    if isinstance(row, GroupRow):
        return group_of(one, row.grouping) == (row.exposure.key, row.exposure.money)
    place = (row.agent_id, row.market_id, row.side, row.venue)
    return (one.agent_id, one.market_id, one.side, one.venue) == place
