"""What a service is set up with: the settings of this run, and what the world has kept."""

from pathlib import Path

import pytest

from kit.engine.topics import TOPICS
from service_tui.clock import ManualClock
from service_tui.engine.events import PlanSet
from service_tui.engine.world import World
from service_tui.server.http.service import Service
from service_tui.server.startup import SimSettings, service_on
from service_tui.server.world_store import WorldStore
from service_tui.storage.db.database import Database
from service_tui.terms import Plan


def service(folder: Path, kept: Plan | None = None, **settings: object) -> Service:
    clock = ManualClock()
    database = Database(folder / "none", port=None, with_wal=False, timeout_s=0.1)
    world = World(7, clock.now(), TOPICS)
    if kept is not None:
        world.decide(PlanSet(clock.now(), kept))
    chosen = SimSettings(seed=7, topics=TOPICS, **settings)  # type: ignore[arg-type]
    return service_on(WorldStore(database, world, 0), database, clock, chosen)


@pytest.mark.parametrize(
    ("asked", "kept", "plan"),
    [
        (None, None, Plan.PRO),
        (None, Plan.ELITE, Plan.ELITE),
        (Plan.FREE, None, Plan.FREE),
        (Plan.FREE, Plan.ELITE, Plan.FREE),
    ],
)
def test_the_plan_of_this_run_goes_before_the_one_that_was_chosen_last(
    tmp_path: Path, asked: Plan | None, kept: Plan | None, plan: Plan
) -> None:
    assert service(tmp_path, kept, plan=asked).plan is plan
