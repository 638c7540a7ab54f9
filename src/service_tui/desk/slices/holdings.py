"""Everything that all agents hold, with its stops and the open orders, as of one moment."""

from dataclasses import dataclass

from service_tui.desk.slices.orders import OpenOrderView
from service_tui.evaluation.exposure import AgentHolding
from service_tui.terms import LimitGroup, Venue
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class AgentOrderView:
    """An open order, and whose it is."""

    agent_id: str
    agent_name: str
    order: OpenOrderView


@dataclass(frozen=True, slots=True)
class LimitView:
    """A limit on what a group may cost; one that does not refuse warns."""

    group: LimitGroup
    key: str
    venue: Venue
    cost_max: Micros
    refuses: bool


@dataclass(frozen=True, slots=True)
class HoldingsView:
    """All of it. `world_at` is the clock by which markets resolve, `at` when it was read."""

    holdings: tuple[AgentHolding, ...]
    orders: tuple[AgentOrderView, ...]
    world_at: Timestamp
    at: Timestamp
    limits: tuple[LimitView, ...] = ()
