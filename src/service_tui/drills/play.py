"""A drill at the console: its world, its desk, its clock, and the result at the end."""

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from service_tui.app.exits_desk import desk_context, listen_to
from service_tui.app.renewal import client_keys
from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.desk.changes import Changed
from service_tui.desk.desk import Desk
from service_tui.desk.facts import Noticed
from service_tui.desk.opening import open_desk
from service_tui.desk.slices.drill import DrillPhase, DrillResult, DrillView
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.state import DeskState
from service_tui.desk.vault import Vault
from service_tui.drills.courses import (
    Course,
    OpenWorld,
    currency_of,
    figure_of,
    measured,
    open_world,
    rng_of,
)
from service_tui.drills.director import Director
from service_tui.drills.line import BrokenLine, listening
from service_tui.drills.results import (
    FOLDER,
    advice_for,
    keep,
    person_lines,
    results_folder,
    run_name,
    score_of,
)
from service_tui.drills.scenario import Scenario
from service_tui.drills.stage import signer_of
from service_tui.server.embedded import BASE_URL
from service_tui.terms import Mode, Venue
from service_tui.units import Micros, Timestamp

log = logging.getLogger(__name__)

STEP_S: Final = 0.25
"""How often the clock of a drill is looked at; what happens falls on whole seconds."""

WORLD: Final = "world"
"""Folder of the world that the person plays in, below that of the run."""

KEPT: Final = ("theme", "privacy")
"""Preferences of the person's own console that a drill takes over."""


@dataclass(slots=True)
class Game:
    """One run of a scenario.

    Attributes:
        scenario: what is played.
        home: the person's data directory; a drill writes below its `drills` alone.
        clock: wall time.
        result: once it has ended, or was left.
    """

    scenario: Scenario
    home: Path
    clock: Clock
    run: str = ""
    result: DrillResult | None = None

    def __post_init__(self) -> None:
        """Name the run."""
        folder = results_folder(self.home)
        self.run = self.run or run_name(folder, self.scenario, self.clock.now())

    @property
    def folder(self) -> Path:
        """The data directory of the run's own world; removed at its end."""
        return self.home / FOLDER / self.run

    def view(self) -> DrillView:
        """The drill before its start."""
        one = self.scenario
        return DrillView(one.name, one.title, one.brief, one.minutes)


def first_state_of(game: Game, preferences: dict[str, str]) -> DeskState:
    """The state of the first paint: nothing is known but the drill and the looks of the console."""
    service = ServiceView("embedded", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING)
    looks = {name: preferences[name] for name in KEPT if name in preferences}
    preferences = {"welcome": "seen", **looks}
    return DeskState(service=service, drill=game.view(), preferences=preferences)


@asynccontextmanager
async def drill_desk(game: Game, initial: DeskState) -> AsyncGenerator[Desk]:
    """The desk of a drill on its own world; the drill goes on while the context lasts.

    Yields:
        The desk.

    Raises:
        ScenarioError: the world does not take what the scenario begins with.
    """
    try:
        async with (
            open_world(game.scenario, game.folder / WORLD, game.clock) as world,
            _desk_of(game, world, initial) as desk,
        ):
            yield desk
    finally:
        await asyncio.to_thread(shutil.rmtree, game.folder, ignore_errors=True)


@asynccontextmanager
async def _desk_of(game: Game, world: OpenWorld, initial: DeskState) -> AsyncGenerator[Desk]:
    """A desk on the drill's world, and beside it the drill's clock."""
    line = BrokenLine(world.sim.transport, game.clock)
    rng = rng_of(game.scenario)
    api_keys = client_keys(world.api_keys, BASE_URL)
    signer = await asyncio.to_thread(signer_of, game.scenario)
    async with Client(line, BASE_URL, api_keys, clock=game.clock, rng=rng) as client:
        context = replace(
            desk_context(client, world.database, game.clock, rng),
            listen=listening(listen_to(world.sim), line),
            vault=Vault(None, signer),
        )
        async with open_desk(initial, context) as desk, asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(_Play(game, world, line, desk).run())
            try:
                yield desk
            finally:
                playing.cancel()


class _Play:
    """The clock of a drill beside its desk."""

    def __init__(self, game: Game, world: OpenWorld, line: BrokenLine, desk: Desk) -> None:
        self._game = game
        self._world = world
        self._desk = desk
        self._director = Director(world.stage, line, game.scenario.events)
        line.now_s = self._now_s

    def _view(self) -> DrillView:
        view = self._desk.state.drill
        return self._game.view() if view is None else view

    def _now_s(self) -> float:
        view = self._view()
        now_s = view.elapsed_s(self._game.clock.now())
        return now_s if view.phase is DrillPhase.RUNNING else self._game.scenario.length_s + 1

    async def run(self) -> None:
        """Measure the courses, follow the clock to the end, and keep the result."""
        async with asyncio.TaskGroup() as tasks:
            courses = tasks.create_task(self._courses())
            await self._follow()
            yours, ended_at = figure_of(self._world.stage), self._game.clock.now()
        await self._finish(yours, ended_at, courses.result())

    async def _courses(self) -> tuple[Course, Course]:
        """The best and the worst course, played while the person reads the brief."""
        scenario, folder = self._game.scenario, self._game.folder
        best = await measured(scenario, scenario.best, folder / "best")
        return best, await measured(scenario, scenario.worst, folder / "worst")

    async def _follow(self) -> None:
        """Play what is due until the time is over or the person ends it."""
        while True:
            view = self._view()
            if view.phase is DrillPhase.RUNNING:
                elapsed_s = view.elapsed_s(self._game.clock.now())
                await self._director.play_until(elapsed_s)
                if elapsed_s >= self._game.scenario.length_s:
                    self._desk.ports.emit(Changed(replace(view, phase=DrillPhase.ENDING)))
                    return
            elif view.phase is DrillPhase.ENDING:
                return
            await self._game.clock.sleep(STEP_S)

    async def _finish(
        self, yours: Micros, ended_at: Timestamp, courses: tuple[Course, Course]
    ) -> None:
        game, view = self._game, self._view()
        await self._desk.write_log()
        result = self._result(yours, ended_at, courses)
        game.result = result
        kept = ""
        try:
            kept = str(await asyncio.to_thread(keep, results_folder(game.home), result))
        except OSError as error:
            why = f"the result of the drill is not kept: {error.strerror}"
            self._desk.ports.emit(Noticed("bad", why))
        over = replace(view, phase=DrillPhase.OVER, result=result, kept=kept)
        self._desk.ports.emit(Changed(over))

    def _result(
        self, yours: Micros, ended_at: Timestamp, courses: tuple[Course, Course]
    ) -> DrillResult:
        game, scenario, (best, worst) = self._game, self._game.scenario, courses
        began_at = self._view().began_at or ended_at
        did = person_lines(self._world.database.path.parent, began_at)
        played_s = min(scenario.length_s, max(0.0, ended_at - began_at))
        is_whole = played_s >= scenario.length_s
        score = score_of(yours, best.figure, worst.figure)
        lines = (*self._director.lines, *(line for _, line in did))
        return DrillResult(
            run=game.run,
            name=scenario.name,
            title=scenario.title,
            ended_at=ended_at,
            minutes=scenario.minutes,
            played_s=played_s,
            figure=scenario.score.text("figure"),
            currency=currency_of(scenario),
            yours=yours,
            best=best.figure,
            worst=worst.figure,
            score=score if is_whole else None,
            lines=tuple(sorted(lines, key=lambda line: line.at_s)),
            best_lines=best.lines,
            advice=tuple(advice_for(scenario, did, score)) if is_whole else (),
        )
