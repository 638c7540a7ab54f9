"""The rows of the three lists, made of what all agents hold. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from service_tui.desk.slices.holdings import AgentMonitorView, AgentOrderView, HoldingsView
from service_tui.desk.state import DeskState
from service_tui.evaluation.calendar import DueSlot, calendar
from service_tui.evaluation.exposure import AgentHolding, Exposure, Grouping, exposures
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

GROUPINGS: Final = tuple(Grouping)
"""In the order in which a key goes through them."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """What one group of holdings can come to."""

    grouping: Grouping
    exposure: Exposure
    market_id: str = ""

    @property
    def key(self) -> str:
        """Identity of the row."""
        return f"{self.grouping.value} {self.exposure.key} {self.exposure.money}"

    @property
    def question(self) -> str:
        """Its name, as every row of a list has one."""
        return self.exposure.name


@dataclass(frozen=True, slots=True)
class DueRow:
    """A market that resolves, with all that is held of it in one kind of money."""

    slot: DueSlot
    exposure: Exposure
    resolves_at: Timestamp | None

    @property
    def key(self) -> str:
        """Identity of the row."""
        return f"{self.exposure.key} {self.exposure.money}"

    @property
    def market_id(self) -> str:
        """Its market."""
        return self.exposure.key

    @property
    def question(self) -> str:
        """Its market's question."""
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


ExposureRow = GroupRow | DueRow | HeldRow


Made = TypeVar("Made", GroupRow, DueRow, HeldRow)


class Last(Generic[Made]):
    """Rows made of the newest holdings; made once for each."""

    def __init__(self, make: Callable[[HoldingsView], tuple[Made, ...]]) -> None:
        self._make = make
        self._of: HoldingsView | None = None
        self._rows: tuple[Made, ...] = ()

    def __call__(self, state: DeskState) -> tuple[Made, ...]:
        """The rows of a state; none until what is held is known."""
        if state.holdings is None:
            return ()
        if state.holdings is not self._of:
            self._of, self._rows = state.holdings, self._make(state.holdings)
        return self._rows


def group_rows(held: HoldingsView) -> tuple[GroupRow, ...]:
    """The groups of every grouping, one grouping after the other."""
    return tuple(
        GroupRow(grouping, one, one.key if grouping is Grouping.MARKET else "")
        for grouping in GROUPINGS
        for one in exposures(held.holdings, grouping)
    )


def due_rows(held: HoldingsView) -> tuple[DueRow, ...]:
    """The markets in the order in which they resolve."""
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    rows = [
        DueRow(slot, one, ends.get(one.key))
        for slot in calendar(held.holdings, held.world_at)
        for one in slot.markets
    ]
    return tuple(sorted(rows, key=lambda row: row.resolves_at or float("inf")))


def held_rows(held: HoldingsView) -> tuple[HeldRow, ...]:
    """What each agent holds, then its open orders, agent by agent."""
    stops = {_place(one): one for one in held.monitors}
    return tuple(
        sorted(
            (*_positions(held, stops), *_orders(held)),
            key=lambda row: (row.agent_name, row.what, row.question),
        )
    )


Place = tuple[str, str, Side, Venue]


def _place(one: AgentMonitorView) -> Place:
    return one.agent_id, one.monitor.market_id, one.monitor.side, one.monitor.venue


def _positions(held: HoldingsView, stops: dict[Place, AgentMonitorView]) -> Iterator[HeldRow]:
    for one in held.holdings:
        stop = stops.get((one.agent_id, one.market_id, one.side, one.venue))
        monitor = None if stop is None else stop.monitor
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
            stop=None if monitor is None else monitor.floor_price,
            target=None if monitor is None else monitor.target_price,
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
        groups = exposures([one], row.grouping)
        return (groups[0].key, groups[0].money) == (row.exposure.key, row.exposure.money)
    if isinstance(row, DueRow):
        return one.market_id == row.market_id
    place = (row.agent_id, row.market_id, row.side, row.venue)
    return (one.agent_id, one.market_id, one.side, one.venue) == place


def orders_of(row: HeldRow, held: HoldingsView) -> tuple[AgentOrderView, ...]:
    """The open orders of the row's agent in its market."""
    return tuple(
        one
        for one in held.orders
        if (one.agent_id, one.order.market_id) == (row.agent_id, row.market_id)
    )
