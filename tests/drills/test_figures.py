"""The figure that a scenario measures: cash or equity, on its venue, of one or of all."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import bare_world
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.drills import courses
from service_tui.drills.kinds import YOU
from service_tui.drills.stage import Actor, DrillStage
from service_tui.engine.books.venues import VenueAccount
from service_tui.engine.world import World
from service_tui.terms import MONEY_OF, Plan, Venue
from service_tui.units import ONE, Micros


class Score:
    """What a scenario says of its score."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def text(self, name: str) -> str:
        return self.texts[name]


def stage(world: World, **texts: str) -> DrillStage:
    scenario: Any = SimpleNamespace(score=Score(**texts), seed=7)
    sim: Any = SimpleNamespace(service=SimpleNamespace(world=world))
    none: Any = None
    actors = {YOU: Actor("ada", none), "ben": Actor("ben", none)}
    return DrillStage(scenario, sim, none, none, actors, world.world_at)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two agents with 10 000 each in cash; on the venue 20 and 30, worth 5 more with positions."""
    world = bare_world("ada", "ben")
    cash = {"ada": Micros(20 * ONE), "ben": Micros(30 * ONE)}
    of = type(world.venues)

    def equity(_: object, account: VenueAccount, times: object) -> Micros:
        assert times == (world.at, world.world_at)
        return Micros(cash[account.agent_id] + 5 * ONE)

    monkeypatch.setattr(of, "cash", lambda _, agent_id, venue: cash[agent_id] if venue else 0)
    monkeypatch.setattr(of, "equity", equity)
    monkeypatch.setattr(type(world), "exit_equity", lambda *_: Micros(10_001 * ONE))
    return world


@pytest.mark.parametrize(
    ("texts", "dollars"),
    [
        (("sim", "cash", YOU), 10_000),
        (("sim", "cash", "all"), 20_000),
        (("sim", "equity", YOU), 10_001),
        (("polymarket", "cash", YOU), 20),
        (("polymarket", "cash", "all"), 50),
        (("polymarket", "equity", YOU), 25),
        (("polymarket", "equity", "all"), 60),
    ],
)
def test_a_figure_is_that_of_its_venue_and_its_accounts(
    world: World, texts: tuple[str, str, str], dollars: int
) -> None:
    venue, figure, who = texts

    found = courses.figure_of(stage(world, venue=venue, figure=figure, of=who))

    assert found == dollars * ONE


@pytest.mark.parametrize(("venue", "known"), [("sim", Venue.SIM), ("polymarket", Venue.EVM)])
def test_a_figure_has_the_money_of_its_venue(venue: str, known: Venue) -> None:
    scenario: Any = SimpleNamespace(score=Score(venue=venue), seed=7)

    assert courses.currency_of(scenario) == MONEY_OF[known]
    assert courses.rng_of(scenario).random() == random.Random(7).random()


def test_a_drill_has_its_own_data_no_other_service_and_no_key(tmp_path: Any) -> None:
    options = courses.options_of(tmp_path)

    assert (options.data_dir, options.config_dir, options.log_path.parent) == (tmp_path,) * 3
    assert (options.plan, options.scripted, options.url, options.api_key) == (
        Plan.ELITE, True, None, None,
    )  # fmt: skip


async def test_a_world_is_written_before_it_is_opened_and_closed_after_its_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps: list[Any] = []

    @asynccontextmanager
    async def open_data(folder: Path, _: object) -> AsyncGenerator[Any]:
        steps.append(("data", folder))
        yield SimpleNamespace(database="database")
        steps.append("data closed")

    @asynccontextmanager
    async def open_embedded(options: Options, database: str, _: object) -> AsyncGenerator[Any]:
        steps.append(("service", options, database))
        yield "sim", "keys"
        steps.append("service closed")

    async def write_world(*given: object) -> None:
        steps.append(("written", *given))

    async def set_up(*given: object) -> str:
        steps.append(("set up", *given[:3]))
        return "stage"

    for step in (open_data, open_embedded, write_world, set_up):
        monkeypatch.setattr(courses, step.__name__, step)
    scenario: Any = "scenario"
    async with courses.open_world(scenario, tmp_path, ManualClock(5.0)) as world:
        assert world == ("stage", "database", "keys")
    assert steps == [
        ("data", tmp_path), ("written", "database", "scenario", 5.0),
        ("service", courses.options_of(tmp_path), "database"),
        ("set up", "scenario", "sim", "keys"), "service closed", "data closed",
    ]  # fmt: skip


async def test_a_course_is_played_with_the_events_of_its_scenario_by_their_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    leaps: list[Any] = []
    clock: list[ManualClock] = []

    @asynccontextmanager
    async def open_world(_: object, folder: Path, given: ManualClock) -> AsyncGenerator[Any]:
        assert folder == tmp_path
        clock.append(given)
        yield SimpleNamespace(stage="stage", sim=SimpleNamespace(transport="line"))

    class Director:
        """Leaps from one second to the next."""

        def __init__(self, _: str, __: object, rows: tuple[Any, ...]) -> None:
            self.rows = rows
            self.lines = [SimpleNamespace(text=text) for text in ("buy (at 40c)", "other")]
            self.undone = [(rows[-1], "no money"), (rows[0], "of the scenario")]

        def busy_seconds(self) -> list[int]:
            return [0, 7, 9]

        async def leap_to(self, second: int) -> None:
            leaps.append((second, clock[0].now() - courses.START))

    monkeypatch.setattr(courses, "open_world", open_world)
    monkeypatch.setattr(courses, "BrokenLine", lambda *_: "broken line")
    monkeypatch.setattr(courses, "Director", Director)
    monkeypatch.setattr(courses, "figure_of", lambda stage: {"stage": 41}[stage])
    event: Any = SimpleNamespace(describe=lambda: "news")
    row: Any = SimpleNamespace(describe=lambda: "buy (twice)")
    scenario: Any = SimpleNamespace(events=(event,))
    found = await courses.play_course(scenario, [row], tmp_path)
    assert leaps == [(0, 0.0), (7, 7.0), (9, 9.0)]
    assert (found.figure, [one.text for one in found.lines]) == (41, ["buy (at 40c)"])
    assert found.undone == ((row, "no money"),)
