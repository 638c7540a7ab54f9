"""`service-tui drill`: play a scenario, list scenarios and results, export a result."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from service_tui.app.closed import explain_closed_desk
from service_tui.app.collecting import Collecting
from service_tui.app.logfile import note_stacks
from service_tui.clock import SystemClock
from service_tui.commands.json_text import json_text
from service_tui.console.app import ConsoleApp
from service_tui.console.closed_desk import DeskClosedError
from service_tui.console.desk_api import DeskApi
from service_tui.console.key_file import OwnKeys, read_own_keys
from service_tui.console.shell.ending import Ending
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.slices.drill import DrillResult
from service_tui.drills.courses import Course, currency_of, play_course
from service_tui.drills.play import WORLD, Game, drill_desk, first_state_of
from service_tui.drills.results import (
    FOLDER,
    RESULTS,
    as_json,
    as_text,
    kept_results,
    results_folder,
    score_lines,
)
from service_tui.drills.scenario import Scenario, ScenarioError
from service_tui.drills.shipped import scenario_named, shipped_scenarios
from service_tui.drills.values import clock_text
from service_tui.settings import KEY_FILE
from service_tui.storage.cached_state import read_preferences
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import StorageError
from service_tui.units import decimal

NAME_WIDTH: Final = 18
SHOWN_MAX: Final = 5
"""Results of one scenario that the list shows, newest first."""


class DrillError(Exception):
    """A drill that cannot be played, listed or exported; plain sentences."""


# -- play -----------------------------------------------------------------------------------------


def console_of(
    game: Game, own_keys: OwnKeys | None = None, themes: Path | None = None
) -> ConsoleApp:
    """A console on the drill's own world; nothing of it reaches another data directory."""
    initial = first_state_of(game, read_preferences(game.home / DATABASE_FILE))

    @asynccontextmanager
    async def opened() -> AsyncGenerator[DeskApi]:
        try:
            async with AsyncExitStack() as stack:
                # Only the opening is explained so: an error in an open desk is a bug.
                with explain_closed_desk():
                    desk = await stack.enter_async_context(drill_desk(game, initial))
                yield desk
        except ScenarioError as error:
            raise DeskClosedError(str(error), "") from error

    return ConsoleApp(
        open_desk=opened,
        initial=initial,
        now=game.clock.now,
        themes=load_themes(shipped_folder(), *([] if themes is None else [themes])),
        log_path=str(game.home / FOLDER),
        data_path=str(game.folder),
        first="portfolio",
        own_keys=own_keys,
    )


class DrillExit(NamedTuple):
    """How a drill at the terminal ended: the exit code, and what the shell shows."""

    code: int
    lines: tuple[str, ...]


def play(data_dir: Path, config_dir: Path, name: str) -> DrillExit:
    """Play a drill at the terminal until the person leaves.

    Returns:
        Its end.

    Raises:
        DrillError: there is no such scenario, or its file is none.
    """
    remove_leftovers(data_dir)
    game = Game(_scenario(name), data_dir, SystemClock())
    app = console_of(game, read_own_keys(config_dir / KEY_FILE), config_dir / "themes")
    app.ending = Ending(note=note_stacks)
    collecting = Collecting()
    collecting.begin()
    app.housekeeping = collecting.collect
    app.run()
    return DrillExit(app.return_code or 0, tuple(_ended(game)))


def _scenario(name: str) -> Scenario:
    try:
        return scenario_named(name)
    except ScenarioError as error:
        raise DrillError(str(error)) from error


def remove_leftovers(data_dir: Path) -> None:
    """Remove the worlds of runs whose process was killed; one that still runs is left alone."""
    folder = data_dir / FOLDER
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name == RESULTS or not path.is_dir() or path.is_symlink():
            continue
        try:
            is_played = holder_of(path / WORLD) is not None
        except StorageError:
            is_played = True
        if not is_played:
            shutil.rmtree(path, ignore_errors=True)


def replace_by_drill(data_dir: Path, name: str, argv: Sequence[str]) -> NoReturn:
    """Replace this process by one that plays a drill, and then opens the console again.

    Not in this process: its end is bounded, and its modules are set up for one console.
    """
    _replace("drill", name, "--data-dir", str(data_dir), "--return", *argv)


def replace_by_console(argv: Sequence[str]) -> NoReturn:
    """Replace this process by the console in whose place the drill was played."""
    _replace(*argv)


def _replace(*argv: str) -> NoReturn:
    os.execv(sys.executable, [sys.executable, "-m", "service_tui", *argv])  # noqa: S606  (our own program)


def _ended(game: Game) -> Iterator[str]:
    """What the shell shows after a drill."""
    result, name = game.result, game.scenario.title
    if result is None:
        yield f"{name}: left before its end, nothing kept"
        return
    yield name
    yield from score_lines(result)
    yield f"  kept   {results_folder(game.home) / result.run}.txt"


def checked(name: str) -> tuple[str, ...]:
    """Read a scenario, and play its best course, its worst one, and none.

    Returns:
        What they came to, and each row of a course that had no effect.

    Raises:
        DrillError: the scenario has problems; gives lines and reasons.
    """
    scenario = _scenario(name)

    async def courses(folder: Path) -> list[Course]:
        rows = (scenario.best, scenario.worst, ())
        return [
            await play_course(scenario, each, folder / str(number))
            for number, each in enumerate(rows)
        ]

    with tempfile.TemporaryDirectory() as folder:
        try:
            best, worst, nothing = asyncio.run(courses(Path(folder)))
        except ScenarioError as error:
            raise DrillError(str(error)) from error
    money = f"{currency_of(scenario)} {scenario.score.text('figure')}"
    best_text, worst_text = f"{decimal(best.figure):,.2f}", f"{decimal(worst.figure):,.2f}"
    return (
        f"{scenario.name}: best {best_text}, worst {worst_text} {money}",
        f"{scenario.name}: doing nothing {decimal(nothing.figure):,.2f} {money}",
        *(
            f"{scenario.name}: line {row.line}: no effect at {clock_text(row.at)}: "
            f"{row.describe()}: {why}"
            for course in (best, worst)
            for row, why in course.undone
        ),
    )


# -- list and export ------------------------------------------------------------------------------


def listed(data_dir: Path) -> list[str]:
    """The scenarios, and below each its last results, comparable by their score."""
    results = kept_results(results_folder(data_dir))
    lines: list[str] = []
    known = {one.name for one in shipped_scenarios()}
    for scenario in shipped_scenarios():
        lines.append(f"{scenario.name:<{NAME_WIDTH}} {scenario.minutes:>2} min  {scenario.title}")
        lines += _runs_of(scenario.name, results)
    for name in sorted({one.name for one in results} - known):
        lines.append(f"{name:<{NAME_WIDTH}}         a file of your own")
        lines += _runs_of(name, results)
    return lines


def _runs_of(name: str, results: Sequence[DrillResult]) -> Iterator[str]:
    own = [one for one in results if one.name == name]
    for one in own[:SHOWN_MAX]:
        score = "  -" if one.score is None else f"{one.score:>3}"
        cost = f"{decimal(one.cost):,.2f} {one.currency}"
        yield f"{'':<4}score {score}  cost {cost:>16}  {one.run}"
    if own[SHOWN_MAX:]:
        yield f"{'':<4}{len(own) - SHOWN_MAX} older"


def listed_json(data_dir: Path) -> list[str]:
    """The same for programs."""
    results = kept_results(results_folder(data_dir))
    found = {
        "drills": [
            {"name": one.name, "title": one.title, "minutes": one.minutes}
            for one in shipped_scenarios()
        ],
        "results": [json.loads(as_json(one)) for one in results],
    }
    return [json_text("drills", found)]


def export(data_dir: Path, run: str, path: Path) -> None:
    """Write a result to a new file: JSON where its name ends in .json, else text.

    Raises:
        DrillError: there is no such run, or the file cannot be written.
    """
    results = kept_results(results_folder(data_dir))
    found = next((one for one in results if one.run == run), None)
    if found is None:
        newest = f"; the newest is {results[0].run}" if results else "; none is kept yet"
        raise DrillError(f"no run {run[:60]!r}{newest}")
    text = as_json(found) if path.suffix == ".json" else as_text(found)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise DrillError(f"cannot write {path}: {error.strerror}") from error
