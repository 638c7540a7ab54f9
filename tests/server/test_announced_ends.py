"""When a position's market may resolve: nobody is told an end that nobody announced."""

from pathlib import Path

from kit.engine.recorded import PARTS, WALL, write
from service_tui.app.histories import history_of, topics_for
from service_tui.engine.books.venues import VenuePosition
from service_tui.engine.position import Position
from service_tui.engine.tick import advance, step
from service_tui.engine.world import World
from service_tui.server.ends import announced_for
from service_tui.units import Timestamp


def test_a_position_of_a_history_has_the_end_that_was_announced_or_none(tmp_path: Path) -> None:
    recorded = write(tmp_path, 1, 2)
    world = World(7, WALL, topics_for(tmp_path), history=history_of(recorded))
    advance(world, Timestamp(WALL + 1))
    step(world, PARTS - world.world_at, Timestamp(WALL + 2))
    found = {
        announced_for(
            world,
            VenuePosition(
                Position("a", market.market_id), "?", "science", market.listing.resolves_at
            ),
        )
        is None: market.listing.announced_end() is None
        for market in world.markets.values()
    }
    assert found == {True: True, False: False}
    gone = VenuePosition(Position("a", "forgotten"), "?", "science", Timestamp(0.0))
    assert announced_for(world, gone) is None
