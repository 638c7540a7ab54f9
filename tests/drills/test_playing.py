"""The clock of a drill: when it plays, when it ends, and what is kept of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.clock import ManualClock
from service_tui.desk.changes import Changed
from service_tui.desk.facts import Noticed
from service_tui.desk.slices.drill import DrillLine, DrillPhase, DrillView
from service_tui.drills import play as room
from service_tui.drills.courses import Course
from service_tui.drills.play import STEP_S, WORLD, Game, _Play, drill_desk, first_state_of
from service_tui.drills.scenario import Row, Scenario
from service_tui.units import ONE, Micros, Timestamp

SCENARIO = Scenario(
    "flood", "The flood", "Read this.", minutes=1, seed=7, speed=1, wallet="service",
    score=Row(1, {"figure": "cash", "venue": "sim", "of": "you"}),
    best=(Row(2, {"at": 1.0}, "halt"),), worst=(Row(3, {"at": 2.0}, "resume"),),
)  # fmt: skip
BEST = Course(Micros(300 * ONE), (DrillLine(4.0, "best", "did"),))
WORST = Course(Micros(100 * ONE), ())


class Playing:
    """A drill whose desk, world and director only take notes."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = ManualClock()
        self.game = Game(SCENARIO, tmp_path, self.clock, run="flood-1")
        self.drill: DrillView | None = self.game.view()
        self.facts: list[Any] = []
        self.done: list[Any] = []
        self.fault: OSError | None = None
        self.line = SimpleNamespace(now_s=None)
        self.desk: Any = SimpleNamespace(
            state=self, ports=SimpleNamespace(emit=self.emit), write_log=self.write_log
        )
        world: Any = SimpleNamespace(
            stage="stage", database=SimpleNamespace(path=tmp_path / "world" / "desk.sqlite3")
        )
        lines = [DrillLine(9.0, "later", "x"), DrillLine(1.0, "soon", "x")]
        director = SimpleNamespace(play_until=self.play_until, lines=lines)
        monkeypatch.setattr(room, "Director", lambda *given: self.done.append(given) or director)
        monkeypatch.setattr(room, "measured", self.measured)
        monkeypatch.setattr(room, "figure_of", lambda stage: Micros(200 * ONE * (stage == "stage")))
        monkeypatch.setattr(room, "person_lines", self.person_lines)
        monkeypatch.setattr(
            room, "advice_for", lambda _, did, score: [f"{len(did)} done, {score} points"]
        )
        monkeypatch.setattr(room, "keep", self.keep)
        self.play = _Play(self.game, world, self.line, self.desk)  # type: ignore[arg-type]
        assert self.done.pop() == ("stage", self.line, SCENARIO.events)

    def emit(self, fact: Any) -> None:
        self.facts.append(fact)
        if isinstance(fact, Changed) and isinstance(fact.row, DrillView):
            self.drill = fact.row

    async def write_log(self) -> None:
        self.done.append("log written")

    async def play_until(self, elapsed_s: float) -> None:
        self.done.append(elapsed_s)

    async def measured(self, scenario: Scenario, rows: Any, folder: Path) -> Course:
        assert (scenario, folder.parent) == (SCENARIO, self.game.folder)
        assert rows is {"best": SCENARIO.best, "worst": SCENARIO.worst}[folder.name]
        return {"best": BEST, "worst": WORST}[folder.name]

    def person_lines(self, folder: Path, began_at: Timestamp) -> list[tuple[str, DrillLine]]:
        self.done.append((folder.name, began_at))
        return [("halt", DrillLine(5.0, "you", "halt"))]

    def keep(self, folder: Path, result: object) -> Path:
        self.done.append((folder, result))
        if self.fault is not None:
            raise self.fault
        return folder / "flood-1.json"

    def turn(self, phase: DrillPhase, began_at: Timestamp | None = None) -> None:
        assert self.drill is not None
        self.drill = replace(self.drill, phase=phase, began_at=began_at)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.play.run())
            await self.clock.advance(0.0)
            yield task
            task.cancel()


@pytest.fixture
def it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Playing:
    return Playing(tmp_path, monkeypatch)


def test_a_run_lies_in_a_folder_of_its_own_below_the_drills(it: Playing, tmp_path: Path) -> None:
    assert it.game.folder == tmp_path / room.FOLDER / "flood-1"
    assert it.game.view() == DrillView("flood", "The flood", "Read this.", 1)
    named = Game(SCENARIO, tmp_path, it.clock)
    assert named.run
    assert named.run != "flood-1"


def test_of_the_persons_console_a_drill_takes_the_looks_alone(it: Playing) -> None:
    state = first_state_of(it.game, {"theme": "paper", "privacy": "on", "halt": "1"})
    assert state.preferences == {"welcome": "seen", "theme": "paper", "privacy": "on"}
    assert state.drill == it.game.view()
    assert state.service.embedded
    assert first_state_of(it.game, {}).preferences == {"welcome": "seen"}


def test_the_line_is_whole_before_and_after_the_clock_runs(it: Playing) -> None:
    past_all = SCENARIO.length_s + 1
    assert it.line.now_s() == past_all
    it.turn(DrillPhase.RUNNING, Timestamp(it.clock.now() - 9))
    assert it.line.now_s() == 9.0
    it.turn(DrillPhase.ENDING, Timestamp(it.clock.now() - 9))
    assert it.line.now_s() == past_all
    it.drill = None
    assert it.line.now_s() == past_all, "a desk that shows no drill has not begun it"


async def test_nothing_is_played_before_the_start_and_all_up_to_each_look(it: Playing) -> None:
    async with it.running():
        await it.clock.advance(10 * STEP_S)
        assert it.done == []
        it.turn(DrillPhase.RUNNING, it.clock.now())
        await it.clock.advance(3 * STEP_S)
        assert it.done == [STEP_S, 2 * STEP_S, 3 * STEP_S]
        assert it.facts == []


async def test_a_drill_ends_with_its_time_and_is_kept_with_its_score(
    it: Playing, tmp_path: Path
) -> None:
    async with it.running() as task:
        began = it.clock.now()
        it.turn(DrillPhase.RUNNING, began)
        await it.clock.advance(SCENARIO.length_s)
        assert task.done()
    ending, over = (fact.row for fact in it.facts)
    assert (ending.phase, ending.began_at, over.phase) == (
        DrillPhase.ENDING, began, DrillPhase.OVER,
    )  # fmt: skip
    result = over.result
    assert it.game.result is result is not None
    assert over.kept == str(room.results_folder(tmp_path) / "flood-1.json")
    assert (result.run, result.name, result.title, result.minutes) == (
        "flood-1", "flood", "The flood", 1,
    )  # fmt: skip
    assert (result.yours, result.best, result.worst, result.score) == (
        200 * ONE, 300 * ONE, 100 * ONE, 50,
    )  # fmt: skip
    assert (result.played_s, result.ended_at, result.figure) == (60.0, began + 60, "cash")
    assert [line.at_s for line in result.lines] == [1.0, 5.0, 9.0]
    assert (result.best_lines, result.advice) == (BEST.lines, ("1 done, 50 points",))
    steps = [one for one in it.done if not isinstance(one, float)]
    assert steps == [
        "log written", ("world", began), (room.results_folder(tmp_path), result),
    ]  # fmt: skip


async def test_who_ends_early_gets_no_score_and_no_advice(it: Playing) -> None:
    async with it.running() as task:
        it.turn(DrillPhase.RUNNING, it.clock.now())
        await it.clock.advance(10.0)
        assert it.drill is not None
        it.turn(DrillPhase.ENDING, it.drill.began_at)
        await it.clock.advance(STEP_S)
        assert task.done()
    result = it.game.result
    assert result is not None
    assert (result.score, result.advice, result.yours) == (None, (), 200 * ONE)
    assert result.played_s == pytest.approx(10.0, abs=STEP_S)


async def test_who_leaves_before_the_start_has_played_nothing(it: Playing) -> None:
    async with it.running():
        it.turn(DrillPhase.ENDING)
        await it.clock.advance(STEP_S)
    result = it.game.result
    assert result is not None
    assert (result.played_s, result.score) == (0.0, None)


async def test_a_result_that_cannot_be_kept_is_shown_all_the_same(it: Playing) -> None:
    it.fault = OSError(28, "No space left on device")
    async with it.running():
        it.turn(DrillPhase.ENDING, it.clock.now())
        await it.clock.advance(STEP_S)
    notice, over = it.facts
    why = "the result of the drill is not kept: No space left on device"
    assert notice == Noticed("bad", why)
    assert (over.row.phase, over.row.kept) == (DrillPhase.OVER, "")
    assert over.row.result is it.game.result


@pytest.mark.parametrize("fails", [False, True])
async def test_the_world_of_a_run_is_removed_at_its_end_however_that_comes(
    it: Playing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    opened: list[Any] = []

    @asynccontextmanager
    async def open_world(scenario: Scenario, folder: Path, clock: Any) -> AsyncIterator[str]:
        await asyncio.to_thread(folder.mkdir, parents=True)
        opened.append((scenario, folder, clock))
        yield "world"

    @asynccontextmanager
    async def desk_of(game: Game, world: str, initial: str) -> AsyncIterator[str]:
        opened.append((game, world, initial))
        yield "desk"

    monkeypatch.setattr(room, "open_world", open_world)
    monkeypatch.setattr(room, "_desk_of", desk_of)
    initial: Any = "initial"

    def folders() -> list[str]:
        return [one.name for one in tmp_path.rglob(WORLD)]

    async def played() -> None:
        async with drill_desk(it.game, initial) as desk:
            assert (desk, folders()) == ("desk", [WORLD])
            if fails:
                raise ValueError

    with pytest.raises(ValueError) if fails else nullcontext():  # noqa: PT011  (our own)
        await played()
    assert opened == [
        (SCENARIO, it.game.folder / WORLD, it.clock), (it.game, "world", "initial"),
    ]  # fmt: skip
    assert folders() == []
