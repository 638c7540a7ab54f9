"""Computes the result of a course of action by playing the world again without a person."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.app.closed import only_reason
from service_tui.app.data import open_data
from service_tui.app.options import Options
from service_tui.app.ownership import open_embedded
from service_tui.clock import Clock, ManualClock
from service_tui.credentials.api_keys import DeskKeys
from service_tui.desk.slices.drill import DrillLine
from service_tui.drills.director import Director
from service_tui.drills.line import BrokenLine
from service_tui.drills.scenario import Row, Scenario, ScenarioError
from service_tui.drills.stage import VENUES, DrillStage, agents_measured, set_up, write_world
from service_tui.server.embedded import Sim
from service_tui.storage.db.database import Database
from service_tui.terms import MONEY_OF, Plan, Venue
from service_tui.units import Micros, sum_of

START: Final = 1_800_014_400.0
"""When a course is played, by a clock of its own; noon, UTC."""


class OpenWorld(NamedTuple):
    """A scenario's world with everything in it, before its first second."""

    stage: DrillStage
    database: Database
    api_keys: DeskKeys

    @property
    def sim(self) -> Sim:
        """Its service."""
        return self.stage.sim


def options_of(folder: Path) -> Options:
    """The options of a drill's service: its own data, no other service, no key."""
    return Options(folder, folder, folder / "service-tui.log", plan=Plan.ELITE, scripted=True)


@asynccontextmanager
async def open_world(scenario: Scenario, folder: Path, clock: Clock) -> AsyncGenerator[OpenWorld]:
    """The world of a scenario in a new data directory.

    Yields:
        The world.

    Raises:
        ScenarioError: it does not take what the scenario begins with.
    """
    options = options_of(folder)
    try:
        async with open_data(folder, clock) as data:
            await write_world(data.database, scenario, clock.now())
            async with open_embedded(options, data.database, clock) as (sim, api_keys):
                yield OpenWorld(
                    await set_up(scenario, sim, api_keys, clock), data.database, api_keys
                )
    except ExceptionGroup as group:
        # What runs the service wraps what passes through it.
        reason = only_reason(group)
        if isinstance(reason, ScenarioError):
            raise reason from group
        raise


class Course(NamedTuple):
    """What a course came to, what was done in it, and which rows had no effect, with the reason."""

    figure: Micros
    lines: tuple[DrillLine, ...]
    undone: tuple[tuple[Row, str], ...] = ()


async def play_course(scenario: Scenario, rows: Sequence[Row], folder: Path) -> Course:
    """Play the scenario's events and the rows of a course, as fast as they can be.

    Returns:
        The figure at the end.

    Raises:
        ScenarioError: the world does not take what the scenario begins with.
    """
    clock = ManualClock(START)
    async with open_world(scenario, folder, clock) as world:
        line = BrokenLine(world.sim.transport, clock)
        director = Director(world.stage, line, (*scenario.events, *rows))
        for second in director.busy_seconds():
            await clock.advance(START + second - clock.now())
            await director.leap_to(second)
        done = {row.describe().partition(" (")[0] for row in rows}
        lines = tuple(one for one in director.lines if one.text.partition(" (")[0] in done)
        undone = tuple(one for one in director.undone if any(one[0] is row for row in rows))
        return Course(figure_of(world.stage), lines, undone)


async def measured(scenario: Scenario, rows: Sequence[Row], folder: Path) -> Course:
    """What a course comes to, played on a loop of its own in a thread: the console goes on."""

    def played() -> Course:
        return asyncio.run(play_course(scenario, rows, folder))

    return await asyncio.to_thread(played)


def figure_of(stage: DrillStage) -> Micros:
    """The figure that the scenario measures, as it is now."""
    score = stage.scenario.score
    venue = VENUES[score.text("venue")]
    return sum_of(
        _figure(stage, actor.agent_id, venue, score.text("figure"))
        for actor in agents_measured(stage).values()
    )


def _figure(stage: DrillStage, agent_id: str, venue: Venue, figure: str) -> Micros:
    world = stage.world
    if venue is Venue.SIM:
        agent = world.agents[agent_id]
        return world.cash(agent) if figure == "cash" else world.exit_equity(agent)
    venues = world.venues
    if figure == "cash":
        return venues.cash(agent_id, venue)
    return venues.equity(venues.account(agent_id, venue), (world.at, world.world_at))


def currency_of(scenario: Scenario) -> str:
    """The currency of the figure that the scenario measures."""
    return MONEY_OF[VENUES[scenario.score.text("venue")]]


def rng_of(scenario: Scenario) -> random.Random:
    """A source of jitter for a drill."""
    return random.Random(scenario.seed)  # noqa: S311  (jitter)
