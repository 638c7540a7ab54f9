"""What a service is set up with: the settings of this run, and what the world has kept."""

from pathlib import Path

import pytest

from kit.engine.topics import TOPICS
from service_tui.clock import ManualClock
from service_tui.engine.events import PlanSet
from service_tui.engine.world import World
from service_tui.server import startup
from service_tui.server.http.service import Service
from service_tui.server.startup import SimSettings, read_who_operates, service_on
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


@pytest.mark.parametrize(
    ("settings", "agent_id", "may"),
    [
        ({}, "own", True), ({}, "ada", False), ({"is_on_network": True}, "own", False),
        ({"loopback_webhooks": True}, "ada", True),
        ({"loopback_webhooks": True, "is_on_network": True}, "ada", True),
    ],
)  # fmt: skip
def test_webhooks_of_the_own_agent_alone_reach_this_machine(
    tmp_path: Path, settings: dict[str, bool], agent_id: str, *, may: bool
) -> None:
    made = service(tmp_path, **settings)
    made.operator_agent = "own"
    assert made.courier.allows_loopback(agent_id) is may


async def test_people_and_invitations_are_read_from_their_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = service(tmp_path)
    monkeypatch.setattr(startup, "read_people", lambda database: [f"people of {database}"])
    monkeypatch.setattr(startup, "Roster", lambda rows: ("roster", rows))
    monkeypatch.setattr(startup, "read_invitations", lambda database: [f"codes of {database}"])
    monkeypatch.setattr(startup, "InvitationBook", lambda rows: ("book", rows))
    await read_who_operates(made, "db")  # type: ignore[arg-type]
    assert made.people == ("roster", ["people of db"])
    assert made.invitations == ("book", ["codes of db"])


def test_a_service_is_set_up_as_its_settings_say(tmp_path: Path) -> None:
    made = service(
        tmp_path, limits=False, signal_ttl_s=9.0, is_scripted=True, needs_invitation=True,
        world_name="north",
    )  # fmt: skip
    assert (made.limits, made.signal_ttl_s, made.is_scripted) == (False, 9.0, True)
    assert (made.needs_invitation, made.world_name) == (True, "north")
    assert made.skill_folders[0].parent == tmp_path
