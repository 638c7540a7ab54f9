"""The offline world's clock."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from service_tui.desk.slices.world import WorldView
from service_tui.units import Timestamp


def test_the_world_goes_on_by_its_speed_and_never_back() -> None:
    world = WorldView(now=Timestamp(5_000.0), wall_at=NOW, speed=60, seed=7)
    assert world.time_at(Timestamp(NOW + 2)) == 5_120.0
    assert world.time_at(Timestamp(NOW - 2)) == 5_000.0


@pytest.mark.parametrize(("speed", "is_over"), [(0, False), (60, True)])
def test_a_world_that_stands_still_stays_the_same_view(speed: int, is_over: bool) -> None:  # noqa: FBT001
    world = WorldView(Timestamp(5_000.0), NOW, speed, seed=7, is_over=is_over)
    later = replace(world, wall_at=Timestamp(NOW + 2))
    assert world.seen_again(later) is world
    assert world.seen_again(replace(later, open_count=3)).open_count == 3
    assert world.seen_again(replace(later, speed=10, is_over=False)).wall_at == NOW + 2


def test_a_world_that_runs_is_seen_as_of_its_last_answer() -> None:
    world = WorldView(Timestamp(5_000.0), NOW, speed=1, seed=7)
    later = replace(world, now=Timestamp(5_002.0), wall_at=Timestamp(NOW + 2))
    assert world.seen_again(later) is later
