"""A world that begins: on invented questions, or, where the run says so, on a history."""

from kit.engine.many import recorded_world
from kit.engine.topics import TOPICS
from service_tui.app.histories import history_of
from service_tui.engine.world import World
from service_tui.units import Timestamp


def world_of(seed: int, at: Timestamp) -> World:
    """A new world, on what the run is on."""
    recorded = recorded_world()
    return World(seed, at, TOPICS, history=None if recorded is None else history_of(recorded))
