"""Each step of a session, in its order, with a worktree and a service that only take notes."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.autoresearch import session as sessions
from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.result_sender import PROBE
from service_tui.autoresearch.runner import Output, Ran
from service_tui.autoresearch.session import (
    COMMAND_MAX,
    Means,
    Session,
    after,
    description_of,
    message_of,
    shortened,
)
from service_tui.autoresearch.worktree import Repository
from service_tui.client.errors import Called, UnreachableError
from service_tui.clock import ManualClock
from service_tui.experiments import Result, standing
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import Config, Logged
from service_tui.notes.registry import Live
from service_tui.terms import Direction, ExperimentStatus
from service_tui.wire.endpoints.public import AGENT
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.research import BacktestRequest, StateBody
from service_tui.wire.research_tools import InitArguments, LogArguments, RunArguments

KEEP, DROP = ExperimentStatus.KEEP, ExperimentStatus.DISCARD
CRASH = ExperimentStatus.CRASH
FIRST = InitArguments(
    name="first", skill_slug="tides", metric_name="score", metric_unit="pt",
    direction=Direction.LOWER,
)  # fmt: skip
NOW_MS = 1_500
AWAY = UnreachableError("nobody there", Called("GET", "/x"))
ENDED = Ran(0, timed_out=False, took_s=1.23456, tail="the end", size=99)


@dataclass
class World:
    """What was done, in order, and what worktree and service say."""

    path: Path
    done: list[tuple[Any, ...]] = field(default_factory=list)
    head: str = "a" * 40
    prepared: str = "b" * 40
    is_there: bool = True
    state: StateBody = field(default_factory=StateBody)
    failing: dict[str, Exception] = field(default_factory=dict)
    ran: Ran = ENDED
    during: Callable[[], object] = lambda: None
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW_MS / 1_000))

    async def call(self, endpoint: Any, *, query: Any = None, body: Any = None) -> Any:
        """The service."""
        if endpoint is BEGIN_SESSION:
            return SimpleNamespace(answer=self.state)
        name = {
            AGENT: "agent", RESEARCH_STATE: "state", EXPERIMENTS: "known",
            POST_EXPERIMENT: "post", BACKTEST: "backtest",
        }[endpoint]  # fmt: skip
        said = query.skill_slug if name in {"state", "known"} else getattr(
            body, "experiment_number", None
        )  # fmt: skip
        self.done.append((name, said))
        if name in self.failing:
            raise self.failing[name]
        answers = {
            "agent": SimpleNamespace(agent_id="ada"), "state": self.state,
            "known": SimpleNamespace(experiments=[]), "backtest": "tested",
            "post": SimpleNamespace(is_new_best=True),
        }  # fmt: skip
        return SimpleNamespace(answer=answers[name])

    def session(self, **other: Any) -> Session:
        means: dict[str, Any] = {
            "repository": self.repository, "remote": Remote(self),  # type: ignore[arg-type]
            "clock": self.clock, "data_dir": self.path / "data",
            "environment": {"PATH": "/bin"}, "cap": 50, "allows_shell": True, "mark": "mark-1",
            "api": lambda: {"SERVICE_API_KEY": "k"},
        }  # fmt: skip
        return Session(Means(**(means | other)))

    @property
    def repository(self) -> Repository:
        return Repository(self.path, self.path / "git")

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = self.repository.file.read_text() if self.repository.file.exists() else ""
        return [json.loads(one) for one in text.splitlines() if one[0] == "{"]

    def names(self) -> list[str]:
        return [one[0] for one in self.done]

    def entry(self) -> registry.RegistryEntry:
        found = registry.read(registry.path_of(self.path / "data", self.path))
        assert found is not None
        return found


async def nothing(_: object) -> tuple[str, ...]:
    """Nothing is wrong, and nothing left."""
    return ()


def worktree_of(world: World) -> type:
    class Tree:
        """A worktree that takes notes."""

        def __init__(self, repository: Repository, skill: str) -> None:
            self.skill = skill
            self.folder = repository.place_of(skill)
            self.branch = f"autoresearch/{skill}"

        async def open(self) -> None:
            world.done.append(("open", self.skill))

        check_branch = nothing

        async def tip(self) -> str:
            return world.head

        untouched = nothing

        async def prepare(self, message: str) -> str:
            world.done.append(("prepare", message.partition("\n")[0]))
            return world.prepared

        async def advance(self, commit: str, _: str) -> str:
            world.done.append(("advance", commit, len(world.lines)))
            world.head = commit
            return ""

        async def full_hash(self, short: str) -> str:
            return short * world.is_there

        async def revert(self, name: str) -> str:
            world.done.append(("revert", name, len(world.lines)))
            return f"refs/{name}"

    return Tree


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    (tmp_path / "git").mkdir()

    async def check_idle(_: Repository) -> None:
        made.done.append(("idle",))

    async def run(command: str, folder: Path, **more: Any) -> Ran:
        made.done.append(("run", command, folder, more["deadline_s"], more["environment"]))
        made.during()
        more["output"].take(b"on its way")
        return made.ran

    monkeypatch.setattr(sessions, "Worktree", worktree_of(made))
    monkeypatch.setattr(sessions, "check_idle", check_idle)
    monkeypatch.setattr(sessions, "run", run)
    return made


def result(status: ExperimentStatus, metric: float = 2.5, **other: Any) -> LogArguments:
    return LogArguments(status=status, metric=metric, description="tried it", **other)


async def begun(world: World, **other: Any) -> Session:
    session = world.session(**other)
    await session.open()
    await session.init(FIRST)
    world.done.clear()
    return session


# -- begin ---------------------------------------------------------------------------------


async def test_a_session_begins_with_its_line_and_says_where_it_works(world: World) -> None:
    world.state = StateBody(last_experiment_number=6, current_segment=3, session="other")
    session = world.session()
    await session.open()
    said = await session.init(FIRST)
    config = Config("first", "tides", "score", "pt", Direction.LOWER, 4, NOW_MS, 50)
    assert world.lines == [config.line()]
    assert session.notes.configs == [config]
    place = world.path / ".autoresearch" / "tides"
    assert said == {
        "session": "first", "resumed": False, "worktree": str(place),
        "branch": "autoresearch/tides", "next_experiment": 7,
        "say": f"edit the skill in {place}: experiments run there",
        **description_of(config, standing([], cap=50, direction=Direction.LOWER), 50, []),
    }  # fmt: skip
    assert world.names() == ["agent", "state", "idle", "open"]
    entry = world.entry()
    assert (entry.repository, entry.pid, entry.skill) == (str(world.path), os.getpid(), "tides")
    assert (entry.agent_id, entry.allows_shell, entry.warning) == ("ada", True, "")


@pytest.mark.parametrize(
    ("state", "segment"),
    [
        (StateBody(), 0),
        (StateBody(last_experiment_number=1, current_segment=2, session="first"), 2),
        (StateBody(last_experiment_number=1, current_segment=2, session="x"), 3),
        (StateBody(last_experiment_number=0, current_segment=2, session="x"), 0),
    ],
)
async def test_a_session_has_a_segment_that_nobody_has_had(
    world: World, state: StateBody, segment: int
) -> None:
    world.state = state
    session = world.session()
    await session.init(FIRST)
    assert world.lines[-1]["segment"] == segment


async def test_a_new_name_begins_the_next_segment_even_on_a_service_that_has_it(
    world: World,
) -> None:
    session = await begun(world)
    await session.init(FIRST.model_copy(update={"name": "second"}))
    assert world.lines[-1]["segment"] == 1
    world.state = StateBody(last_experiment_number=5, current_segment=7, session="third")
    await session.init(FIRST.model_copy(update={"name": "third"}))
    assert world.lines[-1]["segment"] == 8


async def test_a_session_of_the_same_name_goes_on_and_is_the_newest_again(world: World) -> None:
    session = await begun(world)
    said = await session.init(FIRST)
    assert (said["resumed"], len(world.lines)) == (True, 1)
    await session.init(FIRST.model_copy(update={"skill_slug": "rain"}))
    world.clock.set(world.clock.now() + 5)
    said = await session.init(FIRST)
    assert (said["resumed"], said["skill"]) == (True, "tides")
    first, _, again = world.lines
    assert again == first


@pytest.mark.parametrize("other", [{"metric_name": "pnl"}, {"direction": Direction.HIGHER}])
async def test_a_session_measures_the_same_to_its_end(world: World, other: dict[str, Any]) -> None:
    session = await begun(world)
    with pytest.raises(ToolError, match="the session first measures score, lower is better"):
        await session.init(FIRST.model_copy(update=other))
    assert len(world.lines) == 1


async def test_a_session_begins_though_the_service_does_not_answer(world: World) -> None:
    world.failing = {"state": AWAY, "agent": AWAY}
    session = world.session()
    said = await session.init(FIRST)
    assert said["next_experiment"] == 1
    (warning,) = said["warnings"]  # type: ignore[misc]
    assert "it waits in" in warning


async def test_a_reset_begins_a_fresh_baseline_of_the_same_metric(world: World) -> None:
    session = await begun(world)
    said = await session.reset("")
    assert said["session"] == f"first @{NOW_MS}"
    assert world.lines[-1] == world.lines[0] | {"name": f"first @{NOW_MS}", "segment": 1}


# -- a command -----------------------------------------------------------------------------


async def test_a_command_runs_in_the_worktree_and_is_told_whole(world: World) -> None:
    session = await begun(world)
    note = world.path / "git" / "autoresearch" / "running"
    seen: list[Any] = []

    def during() -> None:
        seen.append((json.loads(note.read_text()), world.entry().live))

    world.during = during
    said = await session.run(RunArguments(command="make test", timeout=7))
    assert world.done == [
        ("state", PROBE),
        ("open", "tides"),
        (
            "run", "make test", world.path / ".autoresearch" / "tides", 7.0,
            {"PATH": "/bin", "SERVICE_API_KEY": "k", "SERVICE_EXPERIMENT": "mark-1",
             "TERM": "dumb"},
        ),
    ]  # fmt: skip
    ((kept, live),) = seen
    assert kept == {"mark": "mark-1", "command": "make test"}
    assert live == Live("make test", NOW_MS / 1_000, 7.0)
    assert not note.exists()
    ended = world.entry().live
    assert ended == replace(live, tail="on its way", ended_at=NOW_MS / 1_000, exit_code=0)
    expected = {
        "exit_code": 0, "succeeded": True, "timed_out": False, "duration_seconds": 1.235,
        "output": "the end", "output_bytes": 99, "say": "log it as keep or discard",
    }  # fmt: skip
    assert {name: said[name] for name in expected} == expected
    assert (said["session"], said["experiments"], said["warnings"]) == ("first", 0, [])


async def test_a_command_that_is_cut_off_is_no_longer_shown_as_running(world: World) -> None:
    session = await begun(world)

    def during() -> None:
        raise KeyboardInterrupt

    world.during = during
    with pytest.raises(KeyboardInterrupt):
        await session.run(RunArguments(command="make test"))
    assert not (world.path / "git" / "autoresearch" / "running").exists()
    live = world.entry().live
    assert live is not None
    assert (live.ended_at, live.exit_code) == (NOW_MS / 1_000, None)


async def test_output_is_shown_now_and_then(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await begun(world)
    tails: list[str] = []

    async def run(_command: str, _folder: Path, *, output: Output, **_: Any) -> Ran:
        for text, passed in ((b"one ", 0.3), (b"two ", 0.2), (b"three", 0.1)):
            world.clock.set(world.clock.now() + passed)
            output.take(text)
            live = world.entry().live
            assert live is not None
            tails.append(live.tail)
        return world.ran

    monkeypatch.setattr(sessions, "run", run)
    await session.run(RunArguments(command="make"))
    assert tails == ["one", "one", "one two three"]


async def test_no_command_runs_where_nobody_allows_it_or_the_session_rests(world: World) -> None:
    session = await begun(world, allows_shell=False)
    with pytest.raises(ToolError, match="not allowed on this server; a person allows them"):
        await session.run(RunArguments(command="true"))
    await session.log(result(CRASH))
    with pytest.raises(ToolError, match="the session is paused: the first experiment crashed"):
        await session.run(RunArguments(command="true"))
    assert "run" not in world.names()


async def test_no_command_runs_without_a_session(world: World) -> None:
    session = world.session()
    for call in (session.run(RunArguments(command="true")), session.log(result(KEEP))):
        with pytest.raises(ToolError, match="no session; call init_experiment first"):
            await call
    assert session.description() == {"session": None}
    assert world.done == []


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        ({}, "log it as keep or discard"),
        ({"exit_code": 1}, "it failed: log it as crash, or fix it and run it again"),
        (
            {"timed_out": True},
            "it took longer than 7.5 s and was ended; log it as crash or discard",
        ),
    ],
)
def test_the_next_step_follows_from_the_end(ran: dict[str, Any], said: str) -> None:
    assert after(replace(ENDED, **ran), 7.5) == said


@pytest.mark.parametrize(("over", "is_cut"), [(0, False), (1, True)])
def test_a_command_is_shortened_to_what_a_sentence_holds(over: int, *, is_cut: bool) -> None:
    text = "a" * (COMMAND_MAX + over)
    assert shortened(text) == ("a" * COMMAND_MAX + "..." if is_cut else text)
    assert shortened("make\n   test ") == "make test"


# -- a result ------------------------------------------------------------------------------


async def test_what_is_kept_is_committed_after_its_line_and_then_sent(world: World) -> None:
    session = await begun(world)
    said = await session.log(result(KEEP, secondary_metrics={"trades": 4.0}, asi={"why": "so"}))
    assert world.done == [
        ("open", "tides"), ("prepare", "tried it"), ("advance", "b" * 40, 2), ("post", 1),
    ]  # fmt: skip
    assert world.lines[1] == {
        "run": 1, "commit": "b" * 7, "metric": 2.5, "metrics": {"trades": 4.0}, "status": "keep",
        "description": "tried it", "timestamp": NOW_MS, "segment": 0, "confidence": None,
        "asi": {"why": "so"},
    }  # fmt: skip
    (kept,) = session.notes.results
    assert kept.commit == "b" * 40
    expected = {
        "experiment": 1, "status": "keep", "commit": "b" * 7, "backup": None, "is_new_best": True,
        "warnings": [], "experiments": 1, "kept": 1, "best": 2.5, "baseline": 2.5,
    }  # fmt: skip
    assert {name: said[name] for name in expected} == expected
    assert not list((world.path / "git" / "autoresearch").glob("*.pending"))


@pytest.mark.parametrize("status", [DROP, CRASH])
async def test_what_is_not_kept_is_reverted_after_its_line(
    world: World, status: ExperimentStatus
) -> None:
    session = await begun(world)
    await session.log(result(KEEP))
    world.done.clear()
    world.head = "c" * 40
    said = await session.log(result(status, 0.0))
    assert world.done == [("open", "tides"), ("revert", "2", 3), ("post", 2)]
    assert (world.lines[2]["run"], world.lines[2]["commit"]) == (2, "c" * 7)
    # A crash has no figure; a result of 0 is one.
    assert world.lines[2]["metric"] == (None if status is CRASH else 0.0)
    assert (said["commit"], said["backup"]) == (None, "refs/2")


async def test_a_crash_may_have_a_figure(world: World) -> None:
    session = await begun(world)
    await session.log(result(CRASH, 3.0))
    assert world.lines[1]["metric"] == 3.0


async def test_the_confidence_of_a_result_is_that_of_its_series(world: World) -> None:
    session = await begun(world)
    for metric in (9.0, 8.0, 7.0):
        await session.log(result(DROP, metric))
    await session.log(result(KEEP, 1.0))
    # Median 7.5, deviations 1.5 0.5 0.5 6.5: their median is 1; from 9 to 1 are 8 of them.
    assert [one["confidence"] for one in world.lines[1:]] == [None, None, None, 8.0]


@pytest.mark.parametrize(
    ("metrics", "more", "problem"),
    [
        ({"trades": 1.0}, {}, ""),
        ({}, {}, "secondary metrics are missing: trades; give them as before"),
        (
            {"trades": 1.0, "b": 1.0, "a": 1.0}, {},
            "secondary metrics are new: a, b; give force=true to take them in",
        ),
        ({"b": 1.0}, {"force": True}, ""),
        ({"b": 1.0}, {"status": CRASH}, ""),
    ],
)  # fmt: skip
async def test_secondary_metrics_are_those_of_before(
    world: World, metrics: dict[str, float], more: dict[str, Any], problem: str
) -> None:
    session = await begun(world)
    await session.log(result(KEEP))
    await session.log(result(CRASH, secondary_metrics={"other": 1.0}))
    await session.log(result(KEEP, secondary_metrics={"trades": 1.0}))
    given = result(KEEP, metrics=metrics).model_copy(update=more)
    if not problem:
        await session.log(given)
        assert world.lines[-1]["metrics"] == metrics
        return
    with pytest.raises(ToolError, match=problem):
        await session.log(given)
    assert len(world.lines) == 4


async def test_a_line_that_cannot_be_written_keeps_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await begun(world)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(notebook, "append", full)
        with pytest.raises(ToolError, match=r"cannot be written \(No space left on device\)"):
            await session.log(result(KEEP))
    assert session.notes.results == []
    assert world.names() == ["open", "prepare"]


def test_the_message_of_a_commit_names_the_result() -> None:
    config = Config("first", "tides", "score", "", Direction.LOWER, 0)
    one = Logged(4, "", 1.5, {"trades": 2.0}, KEEP, "tried it", 0, 0, config)
    text = '{"status": "keep", "score": 1.5, "trades": 2.0}'
    assert message_of(one) == f"tried it\n\nExperiment: 4\nResult: {text}\n"


async def test_a_backtest_is_the_services_and_says_why_there_is_none(world: World) -> None:
    session = world.session()
    request = BacktestRequest(skill_slug="tides", config={"min_edge": 0.1})
    assert await session.backtest(request) == "tested"  # type: ignore[comparison-overlap]
    world.failing = {"backtest": AWAY}
    with pytest.raises(ToolError, match="the service did not answer"):
        await session.backtest(request)


# -- a description -------------------------------------------------------------------------


def test_a_description_has_every_figure_of_the_series() -> None:
    config = Config("first", "tides", "score", "pt", Direction.LOWER, 4, NOW_MS, 50)
    rows = [(KEEP, 9.0), (DROP, 8.0), (KEEP, 7.0), (KEEP, 2.0), (DROP, 7.5), (CRASH, None)]
    series = standing(
        [Result(*row) for row in rows], cap=7, direction=Direction.LOWER
    )  # fmt: skip
    assert description_of(config, series, 7, ["one"]) == {
        "skill": "tides", "session": "first", "state": "running", "why": None, "experiments": 6,
        "max_experiments": 7, "kept": 3, "discarded": 2, "crashed": 1, "crashes_in_row": 1,
        "metric": "score", "direction": "lower", "baseline": 9.0, "best": 2.0,
        "confidence": series.confidence,
        "warnings": ["one", "6 of 7 experiments are done: a command runs up to 7"],
    }  # fmt: skip
    full = standing([Result(KEEP, 1.0)] * 3, cap=3, direction=Direction.LOWER)
    said = description_of(config, full, 3, [])
    assert (said["state"], said["warnings"]) == ("capped", [])
    assert said["why"] == "3 of 3 experiments are done; a session with a new name counts anew"


async def test_lines_that_cannot_be_read_and_a_full_session_are_told(world: World) -> None:
    session = await begun(world, cap=5)
    with world.repository.file.open("a") as file:
        file.write("nonsense\n")
    for _ in range(4):
        said = await session.log(result(KEEP))
    told = [str(one) for one in said["warnings"]]  # type: ignore[attr-defined]
    assert told == [
        f"1 lines of {world.repository.file} cannot be read",
        "4 of 5 experiments are done: a command runs up to 5",
    ]
    assert world.entry().warning == "4 of 5 experiments are done"


# -- a person beside it --------------------------------------------------------------------


async def test_a_session_that_a_person_turned_off_does_nothing_more(world: World) -> None:
    session = await begun(world)
    notebook.append(world.repository.file, {"type": "off", "skillSlug": "tides"})
    with pytest.raises(ToolError, match="autoresearch was turned off for tides; a person did"):
        await session.log(result(KEEP))
    with pytest.raises(ToolError, match="no session"):
        await session.log(result(KEEP))
    assert world.done == []
    assert world.session().description() == {"session": None}
    said = await session.init(FIRST)
    assert (said["resumed"], world.lines[-1]["segment"]) == (False, 1)


async def test_a_session_that_a_person_began_beside_it_is_the_one_that_goes_on(
    world: World,
) -> None:
    session = await begun(world)
    other = Config("mine", "rain", "edge", "$", Direction.HIGHER, 0, 5, 50)
    notebook.append(world.repository.file, other.line())
    await session.log(result(KEEP))
    assert world.done[0] == ("open", "rain")
    assert session.notes.results[0].config == other


# -- an earlier server ---------------------------------------------------------------------


async def test_only_one_server_works_in_a_repository(world: World) -> None:
    first, second = world.session(), world.session()
    await first.open()
    with pytest.raises(BusyError, match="another autoresearch server"):
        await second.open()
    first.close()
    assert world.entry().pid == 0
    await second.open()
    assert world.entry().pid == os.getpid()
    second.close()
    second.close()


async def test_a_folder_that_cannot_be_written_is_named(world: World) -> None:
    (world.path / "git" / "autoresearch").write_text("a file")
    with pytest.raises(ToolError, match=r"autoresearch.* cannot be written|exists"):
        await world.session().open()


async def left(world: World, status: ExperimentStatus, *, has_line: bool, is_done: bool) -> None:
    """What a server left that was killed while it kept its second result."""
    session = await begun(world)
    await session.log(result(KEEP))
    result_of = session.notes.results[0]
    other = replace(result_of, run=2, status=status, commit=world.prepared, timestamp_ms=7)
    if has_line:
        notebook.append(world.repository.file, other.line())
    session._begun.note(other, is_done=is_done)
    session.close()
    world.done.clear()


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_kept_result_that_has_its_line_is_committed_by_the_next_server(
    world: World, *, is_there: bool
) -> None:
    await left(world, KEEP, has_line=True, is_done=False)
    world.head, world.is_there = "d" * 40, is_there
    session = world.session()
    await session.open()
    steps = [("open", "tides"), *([("advance", "b" * 40, 3)] if is_there else [])]
    assert world.done == [*steps, ("agent", None), ("known", "tides"), ("post", 1), ("post", 2)]
    assert session.description()["warnings"] == [
        "experiment 2 (keep: tried it) was kept before the server ended: do not log it again"
    ]
    assert not list((world.path / "git" / "autoresearch").glob("*.pending"))
    # It is told once, and then the session goes on.
    said = await session.log(result(DROP))
    assert (said["experiment"], said["warnings"]) == (3, [])


async def test_a_result_that_is_not_kept_is_reverted_by_the_next_server(world: World) -> None:
    await left(world, DROP, has_line=True, is_done=False)
    await world.session().open()
    assert world.done[:2] == [("open", "tides"), ("revert", "2", 3)]


async def test_a_result_that_is_carried_out_is_only_told(world: World) -> None:
    await left(world, KEEP, has_line=True, is_done=True)
    session = world.session()
    await session.open()
    assert "advance" not in world.names()
    (warning,) = session.description()["warnings"]  # type: ignore[misc]
    assert "experiment 2" in warning


async def test_a_result_without_its_line_was_never_kept(world: World) -> None:
    await left(world, KEEP, has_line=False, is_done=False)
    session = world.session()
    await session.open()
    assert world.names() == ["agent", "known", "post"]
    assert session.description()["warnings"] == []
    assert not list((world.path / "git" / "autoresearch").glob("*.pending"))


async def test_a_command_of_a_server_that_was_killed_is_ended_and_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await begun(world)
    session._begun.note_run("mark-0", "make   long")
    session.close()
    ended: list[str] = []
    monkeypatch.setattr(sessions, "end_marked", lambda mark: ended.append(mark) or 2)
    session = world.session()
    await session.open()
    assert ended == ["mark-0"]
    (warning,) = session.description()["warnings"]  # type: ignore[misc]
    assert warning == (
        "the server ended while 'make long' ran, and the command was stopped: "
        "its result is unknown; run it again, or log it as crash"
    )
    assert session._begun.run() is None
    said = await session.run(RunArguments(command="true"))
    assert said["warnings"] == []


@pytest.mark.parametrize("status", list(ExperimentStatus))
async def test_a_result_is_carried_out_and_noted_as_done(status: ExperimentStatus) -> None:
    steps: list[Any] = []

    class Tree:
        """A worktree that notes what becomes of it."""

        async def advance(self, commit: str, name: str) -> str:
            steps.append(("advance", commit))
            return f"ref of {name}"

        async def revert(self, name: str) -> str:
            steps.append(("revert", name))
            return f"ref of {name}"

    made: Any = SimpleNamespace(status=status, commit="c0ffee", run=3)
    noted: Any = SimpleNamespace(
        _begun=SimpleNamespace(
            note=lambda one, *, is_done: steps.append(("noted", one is made, is_done))
        )
    )
    tree: Any = Tree()
    backup = await sessions.Session._carry_out(noted, tree, made)
    keeps = status is ExperimentStatus.KEEP
    did = ("advance", "c0ffee") if keeps else ("revert", "3")
    assert (steps, backup) == ([did, ("noted", True, True)], "ref of 3")
