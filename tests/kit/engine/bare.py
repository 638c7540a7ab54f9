"""A world without the tape's markets: only what a test puts in, so that it is made at once."""

from typing import Any, Final

from kit.engine.topics import TOPICS
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.events import AgentRegistered
from service_tui.engine.listing import Listing
from service_tui.engine.world import World
from service_tui.terms import Category, Plan, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
HOUR: Final = 3_600.0


def bare_world(*names: str, **changes: object) -> World:
    """A world of some agents, each with 10 000 $SIM."""
    world = World(7, AT, TOPICS)
    for name in names or ("ada",):
        joined(world, name, **changes)
    return world


def joined(world: World, name: str, **changes: object) -> Agent:
    cash = Micros(10_000 * ONE)
    world.register(AgentRegistered(name, AT, name, "", f"h {name}", f"c-{name}", Plan.ELITE, cash))
    agent = world.agents[name]
    agent.change(dict(changes))
    return agent


def listed(world: World, market_id: str = "m1", **changes: Any) -> Market:
    """A market that opened two hours ago and ends in one, at 40 cents."""
    fields: dict[str, Any] = {
        "market_id": market_id, "slot": 4, "number": 11, "category": Category.POLITICS,
        "question": f"Does {market_id} end well?", "criteria": "YES if it ends well.",
        "tags": ("politics", "strike"), "b": Micros(2_000 * ONE),
        "start_price": Probability(0.4), "opens_at": Timestamp(AT - 2 * HOUR),
        "resolves_at": Timestamp(AT + HOUR), "resolved_at": Timestamp(AT + 2 * HOUR),
        "outcome": True, "strength": 0.0, "news": (), "home": Venue.SIM, "subject": "Lunmouth",
    }  # fmt: skip
    market = Market(Listing(**(fields | changes)))
    world.markets[market_id] = market
    return market
