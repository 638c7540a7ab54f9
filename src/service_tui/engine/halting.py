"""Halts and resumes the world: buys of every agent, and buys among the open orders."""

from service_tui.engine.books.resting import cancel_all
from service_tui.engine.events import Event, HaltSet
from service_tui.engine.world import World
from service_tui.terms import Action
from service_tui.units import Timestamp


def halt(world: World, at: Timestamp) -> list[Event]:
    """Refuse every entry from now on, and take the resting buys off their books; sales stay.

    Returns:
        What happened, already applied: nothing for the second time.
    """
    begun = [] if world.halt.since is not None else world.decide(HaltSet(at, halted=True))
    buys = [
        order
        for agent_id in world.agents
        for order in world.venues.orders(agent_id)
        if order.action is Action.BUY
    ]
    return [*begun, *cancel_all(world.venues, buys, (at, world.world_at))]


def resume(world: World, at: Timestamp) -> list[Event]:
    """Take entries again. What was cancelled stays so.

    Returns:
        What happened, already applied: nothing where nothing was halted.
    """
    return [] if world.halt.since is None else world.decide(HaltSet(at, halted=False))
