"""The offline world's clock."""

from kit.samples.desk import NOW
from service_tui.desk.slices.world import WorldView
from service_tui.units import Timestamp


def test_the_world_goes_on_by_its_speed_and_never_back() -> None:
    world = WorldView(now=Timestamp(5_000.0), wall_at=NOW, speed=60, seed=7)
    assert world.time_at(Timestamp(NOW + 2)) == 5_120.0
    assert world.time_at(Timestamp(NOW - 2)) == 5_000.0
