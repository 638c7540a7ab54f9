"""The rows of the exposure lists, for screens and scripts. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.slices.holdings import HoldingsView, LimitView
from service_tui.evaluation.calendar import DueSlot, calendar, place_of
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
from service_tui.terms import MONEY_OF, Side, Venue, counted
from service_tui.units import Micros, Timestamp

DUE, SLOT, HELD = "due", "slot", "held"
"""The lists beside that of the groups: markets and hours of the calendar, and what is held."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """What one group of holdings can come to, in one kind of money, and the limit that it has.

    `of` names the list it is in; empty for that of the groups. A market and an hour of the calendar
    have the `slot` in which it resolves, too. `resolves_at` is the soonest end of its markets,
    `orders` the number of open orders beside what is held.
    """

    grouping: Grouping
    exposure: Exposure
    limit: LimitView | None = None
    slot: DueSlot | None = None
    resolves_at: Timestamp | None = None
    of: str = ""
    orders: int = 0

    @property
    def key(self) -> str:
        """Identity of the row, over all lists."""
        place = f"{self.grouping.value} {self.exposure.key} {self.exposure.money}"
        return f"{self.of} {place}".lstrip()

    @property
    def market_id(self) -> str:
        """Its market; empty for a group of several."""
        is_market = self.grouping is Grouping.MARKET and self.of != SLOT
        return self.exposure.key if is_market else ""

    @property
    def question(self) -> str:
        """Its name, as every row of a list has one."""
        return self.exposure.name

    @property
    def agent_name(self) -> str:
        """The agent whose group it is; empty for another group."""
        return self.exposure.name if self.grouping is Grouping.AGENT else ""

    @property
    def what(self) -> str:
        """How many positions, and open orders."""
        held = counted(self.exposure.count, "position")
        return f"{held}, {counted(self.orders, 'order')}" if self.orders else held

    @property
    def cost(self) -> Micros:
        """What it has cost."""
        return self.exposure.cost

    @property
    def value(self) -> Micros | None:
        """What selling it now would bring."""
        return self.exposure.value

    @property
    def pnl(self) -> Micros | None:
        """What selling it now would make or lose."""
        return None if self.value is None else Micros(self.value - self.cost)


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A side that an agent holds, or an open order of it, with the stop below it.

    `others` are the names of those who hold the other side of the market on its venue.
    """

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
    others: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Identity of the row."""
        place = f"{self.agent_id} {self.market_id} {self.side.value} {self.venue.value}"
        return f"{place} {self.order_id}"

    @property
    def pnl(self) -> Micros | None:
        """What selling it now would make or lose; None for an order, which holds nothing."""
        return None if self.value is None else Micros(self.value - self.cost)

    @property
    def to_stop(self) -> float | None:
        """How far the price may fall before the stop sells; None without either."""
        return None if self.price is None or self.stop is None else self.price - self.stop


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


def group_rows(held: HoldingsView, *groupings: Grouping) -> tuple[GroupRow, ...]:
    """The groups of these groupings, else of every one; one grouping after the other."""
    limits = {(one.group.value, one.key, MONEY_OF[one.venue]): one for one in held.limits}
    return tuple(
        replace(row, limit=limits.get((grouping.value, row.exposure.key, row.exposure.money)))
        for grouping in groupings or Grouping
        for row in _groups(held, grouping)
    )


def group_count(held: HoldingsView, grouping: Grouping) -> int:
    """The number of groups of a grouping, without their figures."""
    return len({group_of(one, grouping) for one in held.holdings})


def _groups(held: HoldingsView, grouping: Grouping) -> Iterator[GroupRow]:
    ends = _soonest(held, grouping)
    for one in exposures(held.holdings, grouping):
        yield GroupRow(grouping, one, resolves_at=ends.get((one.key, one.money)))


def _soonest(held: HoldingsView, grouping: Grouping) -> dict[tuple[str, str], Timestamp]:
    """The soonest end in each group; none of a group whose markets have no known end."""
    ends: dict[tuple[str, str], Timestamp] = {}
    for one in held.holdings:
        if one.resolves_at is not None:
            place = group_of(one, grouping)
            ends[place] = min(ends.get(place, one.resolves_at), one.resolves_at)
    return ends


def slots_of(held: HoldingsView) -> tuple[DueSlot, ...]:
    """The hours and days in which something resolves."""
    return calendar(held.holdings, held.world_at)


def due_rows(held: HoldingsView) -> tuple[GroupRow, ...]:
    """The markets in the order in which they resolve; those without a known end come last."""
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    rows = [
        GroupRow(Grouping.MARKET, one, slot=slot, resolves_at=ends[one.key], of=DUE)
        for slot in slots_of(held)
        for one in slot.markets
    ]
    return tuple(sorted(rows, key=lambda row: row.resolves_at or math.inf))


def slot_rows(held: HoldingsView) -> tuple[GroupRow, ...]:
    """The hours of two days, then the days, in which something resolves, with their sums."""
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    return tuple(
        GroupRow(
            Grouping.MARKET,
            replace(one, key=f"{place}", name=counted(_markets_of(slot), "market")),
            slot=slot,
            resolves_at=min(filter(None, (ends[each.key] for each in slot.markets)), default=None),
            of=SLOT,
        )
        for place, slot in enumerate(slots_of(held))
        for one in slot.totals
    )


def slot_count(held: HoldingsView) -> int:
    """The number of rows of hours and days, without their figures."""
    return len({
        (place_of(one.resolves_at, held.world_at), MONEY_OF[one.venue]) for one in held.holdings
    })


def _markets_of(slot: DueSlot) -> int:
    return len({one.key for one in slot.markets})


HELD_BY: Final = (Grouping.AGENT, Grouping.MARKET, Grouping.EVENT)
"""By what everything held is grouped."""


def held_groups(held: HoldingsView, *groupings: Grouping) -> tuple[GroupRow, ...]:
    """Everything held by agent, market, event, or by each, with the number of open orders."""
    orders = Counter(
        (grouping, key, MONEY_OF[one.order.venue])
        for one in held.orders
        for grouping, key in (
            (Grouping.AGENT, one.agent_id),
            (Grouping.MARKET, one.order.market_id),
        )
    )
    return tuple(
        replace(
            row,
            of=HELD,
            orders=orders[row.grouping, row.exposure.key, row.exposure.money],
        )
        for grouping in groupings or HELD_BY
        for row in _groups(held, grouping)
    )


def held_rows(held: HoldingsView) -> tuple[HeldRow, ...]:
    """What all agents hold, then their open orders."""
    return (*_positions(held), *_orders(held))


def _positions(held: HoldingsView) -> Iterator[HeldRow]:
    both = {(one.market_id, one.venue): one for one in oppositions(held.holdings)}
    for one in held.holdings:
        opposed = both.get((one.market_id, one.venue))
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
            others=() if opposed is None else _owners_of(opposed, one.side.other),
        )


def _owners_of(opposed: Opposition, side: Side) -> tuple[str, ...]:
    owners = opposed.yes if side is Side.YES else opposed.no
    return tuple(name for name, _ in owners)


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
    # An order is shown with what its agent holds of the side.
    one = replace(row, order_id="") if isinstance(row, HeldRow) else row
    found = holdings_behind((one,), held)
    return tuple(sorted(found, key=lambda one: -one.cost))


def holdings_behind(rows: Iterable[ExposureRow], held: HoldingsView) -> tuple[AgentHolding, ...]:
    """The holdings behind several rows, each once."""
    positions: set[tuple[str, str, Side, Venue]] = set()
    groups: dict[Grouping, set[tuple[str, str]]] = {}
    for row in rows:
        if isinstance(row, HeldRow):
            if not row.order_id:
                positions.add(_position_of(row))
            continue
        keys = (row.exposure.key,)
        if row.of == SLOT and row.slot is not None:
            keys = tuple(one.key for one in row.slot.markets)
        groups.setdefault(row.grouping, set()).update((key, row.exposure.money) for key in keys)
    return tuple(
        one
        for one in held.holdings
        if (positions and _position_of(one) in positions)
        or any(group_of(one, by) in found for by, found in groups.items())
    )


def _position_of(one: AgentHolding | HeldRow) -> tuple[str, str, Side, Venue]:
    """Whose side of which market on which venue: an agent has it once."""
    return one.agent_id, one.market_id, one.side, one.venue


def opposed_rows(held: HoldingsView) -> tuple[HeldRow, ...]:
    """The positions of which somebody holds the other side on the same venue."""
    return tuple(row for row in _positions(held) if row.others)


def rows_inside(group: GroupRow, held: HoldingsView) -> tuple[HeldRow, ...]:
    """The positions of a group, and the open orders of its agent, or in its markets."""
    behind = holdings_behind((group,), held)
    places = set(map(_position_of, behind))
    markets = {one.market_id for one in behind}
    money = group.exposure.money

    def has(row: HeldRow) -> bool:
        if not row.order_id:
            return _position_of(row) in places
        if group.grouping is Grouping.AGENT:
            is_own = row.agent_id == group.exposure.key
        elif group.grouping is Grouping.SIDE:
            is_own = row.side == group.exposure.key
        else:
            is_own = row.market_id in markets
        return is_own and MONEY_OF[row.venue] == money

    return tuple(row for row in held_rows(held) if has(row))
