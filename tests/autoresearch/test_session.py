"""The session machine on a real repository and a real service, broken off at every step."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.service.stage import Stage, open_stage
from kit.terminal.research import SKILL, git, new_repository
from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, turn_off
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.result_sender import ResultSender
from service_tui.autoresearch.session import Means, Session
from service_tui.autoresearch.worktree import Repository, Worktree, repository_at
from service_tui.client.errors import Called, UnreachableError
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import Config
from service_tui.terms import Direction, ExperimentStatus, Plan
from service_tui.wire.endpoints.research import EXPERIMENTS
from service_tui.wire.research import BacktestRequest, StateBody
from service_tui.wire.research_tools import (
    BacktestArguments,
    InitArguments,
    LogArguments,
    RunArguments,
)

FIRST = InitArguments(name="first", skill_slug=SKILL, metric_name="score")


class BrokeOffError(BaseException):
    """The process is gone."""


@asynccontextmanager
async def opened(
    stage: Stage, repository: Path, tmp_path: Path, **other: Any
) -> AsyncGenerator[Session]:
    means: dict[str, Any] = {
        "repository": await repository_at(repository), "remote": Remote(stage.client),
        "clock": stage.clock, "data_dir": tmp_path / "data", "environment": dict(os.environ),
        "cap": 50, "allows_shell": True, "mark": "test",
    }  # fmt: skip
    session = Session(Means(**(means | other)))
    await session.open()
    try:
        yield session
    finally:
        session.close()


def result(status: str, metric: float = 1.0, text: str = "tried", **other: Any) -> LogArguments:
    return LogArguments(status=ExperimentStatus(status), metric=metric, description=text, **other)


async def numbers(stage: Stage) -> list[int]:
    found = (await stage.client.call(EXPERIMENTS)).answer.experiments
    return [one.experiment_number for one in reversed(found)]


def tree_of(repository: Path) -> Path:
    return repository / ".autoresearch" / SKILL


async def changed(session: Session, repository: Path) -> None:
    """A session with a baseline, and a change on its way."""
    await session.init(FIRST)
    await session.log(result("keep"))
    (tree_of(repository) / "skill.py").write_text("better = True\n")
    (tree_of(repository) / "new.py").write_text("new = True\n")


BROKEN_AT: dict[str, list[tuple[Any, str]]] = {
    "line": [(notebook, "append")],
    "worktree": [(Worktree, "advance"), (Worktree, "revert")],
    "service": [(ResultSender, "send")],
}


def break_at(broken: pytest.MonkeyPatch, step: str, gone: object, gone_now: object) -> None:
    for owner, name in BROKEN_AT[step]:
        broken.setattr(owner, name, gone_now if name == "append" else gone)


@pytest.mark.parametrize("status", ["keep", "discard"])
@pytest.mark.parametrize("step", ["line", "worktree", "service"])
@pytest.mark.process
async def test_a_result_that_broke_off_is_taken_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str, step: str
) -> None:
    repository = new_repository(tmp_path / "skill")

    async def gone(*_: object) -> None:
        await asyncio.sleep(0)
        raise BrokeOffError

    def gone_now(*_: object) -> None:
        raise BrokeOffError

    async with open_stage(tmp_path / "served", speed=0) as stage:
        async with opened(stage, repository, tmp_path) as session:
            await changed(session, repository)
            with monkeypatch.context() as broken:
                break_at(broken, step, gone, gone_now)
                await broken_off(session.log(result(status, 2.0, "the change")))
        async with opened(stage, repository, tmp_path) as session:
            await check_after(stage, session, repository, status=status, is_kept=step != "line")


async def broken_off(work: Awaitable[object]) -> None:
    with pytest.raises(BrokeOffError):
        await work


async def check_after(
    stage: Stage, session: Session, repository: Path, *, status: str, is_kept: bool
) -> None:
    tree, runs = tree_of(repository), [1, 2] if is_kept else [1]
    assert await numbers(stage) == runs
    assert [one.run for one in session.notes.results] == runs
    if is_kept:
        assert git(tree, "status", "--porcelain") == ""
        assert (tree / "new.py").exists() is (status == "keep")
        subject = git(tree, "log", "-1", "--format=%s")
        assert subject == ("the change" if status == "keep" else "tried")
    else:
        # Nobody was told anything: the change is still there, and can be logged.
        assert (tree / "new.py").exists()
        await session.log(result(status, 2.0, "the change"))
        assert await numbers(stage) == [1, 2]
    said = session.description()
    assert (said["experiments"], said["state"]) == (2, "running")


@pytest.mark.process
async def test_what_an_outage_held_back_is_sent_in_order_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with open_stage(tmp_path / "served", speed=0) as stage:
        async with opened(stage, repository, tmp_path) as session:
            await session.init(FIRST)
            await session.log(result("keep"))
            with monkeypatch.context() as away:

                async def unreachable(*_: object, **__: object) -> None:
                    await asyncio.sleep(0)
                    raise UnreachableError("nobody is there", Called("POST", "x"))

                away.setattr(stage.client, "call", unreachable)
                said = await session.log(result("discard", 0.5))
                assert any("it waits in" in str(one) for one in said["warnings"])
                await session.log(result("discard", 0.6))
            assert await numbers(stage) == [1]
            await session.log(result("discard", 0.7))
            assert await numbers(stage) == [1, 2, 3, 4]
        async with opened(stage, repository, tmp_path):
            assert await numbers(stage) == [1, 2, 3, 4]


@pytest.mark.process
async def test_a_session_counts_anew_where_the_file_has_come_further_than_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        await session.log(result("keep"))
        with monkeypatch.context() as away:

            async def unreachable(*_: object, **__: object) -> None:
                await asyncio.sleep(0)
                raise UnreachableError("nobody is there", Called("POST", "x"))

            away.setattr(stage.client, "call", unreachable)
            await session.init(FIRST.model_copy(update={"name": "second"}))
            await session.log(result("keep", 2.0))
        said = await session.init(FIRST.model_copy(update={"name": "third"}))
        assert (said["session"], said["experiments"]) == ("third", 0)
        assert [one.segment for one in session.notes.configs] == [0, 1, 2]


@pytest.mark.process
async def test_a_pnl_that_the_outcomes_do_not_bear_out_is_a_warning(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(InitArguments(name="a", skill_slug=SKILL, metric_name="pnl"))
        said = await session.log(result("keep", 250.0))
        assert any("differs from the outcomes" in str(one) for one in said["warnings"])
        assert not (await session.log(result("keep", 0.5)))["warnings"]


async def test_a_pnl_is_compared_with_the_outcomes_in_both_directions(tmp_path: Path) -> None:
    config = notebook.Config("a", SKILL, "pnl", "USD", Direction.HIGHER, 0)
    async with open_stage(tmp_path, speed=0) as stage:
        outbox = ResultSender(Remote(stage.client), notebook.Notes(), tmp_path / notebook.FILE)
        warned: dict[float, int] = {}
        for metric in (-250.0, -0.5, 0.5, 250.0):
            one = notebook.Logged(
                1, "", metric, {}, ExperimentStatus.KEEP, "tried", 0, config.segment, config
            )
            warned[metric] = len(await outbox.verified(one))
    assert warned == {-250.0: 1, -0.5: 0, 0.5: 0, 250.0: 1}


@pytest.mark.process
async def test_a_free_plan_is_told_to_take_another(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0, plan=Plan.FREE) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        with pytest.raises(ToolError) as refused:
            await session.init(FIRST)
        assert refused.value.status == 403
        with pytest.raises(ToolError, match="plan"):
            await session.backtest(BacktestRequest(skill_slug=SKILL, config={}))


@pytest.mark.process
async def test_a_person_turns_off_what_a_server_is_working_at(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        await session.log(result("keep"))
        assert turn_off(await repository_at(repository), "", 1) == SKILL
        with pytest.raises(ToolError, match=f"turned off for {SKILL}; a person did that"):
            await session.run(RunArguments(command="touch never"))
        with pytest.raises(ToolError, match="no session"):
            await session.log(result("keep"))
        assert not (tree_of(repository) / "never").exists()
        again = await session.init(InitArguments(name="b", skill_slug=SKILL, metric_name="score"))
        assert (again["state"], again["experiments"], again["next_experiment"]) == ("running", 0, 2)


@pytest.mark.process
async def test_a_session_that_a_person_begins_beside_a_server_is_taken_up(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        assert (await session.log(result("crash", 0.0)))["state"] == "paused"
        place = await repository_at(repository)
        asked = fresh(notes_of(place), "", 5)
        begin_beside(place, asked, 50, 5)
        said = await session.log(result("keep", 4.0))
        assert (said["state"], said["session"]) == ("running", "first @5")
        assert (said["experiment"], said["experiments"], said["baseline"]) == (2, 1, 4.0)
        with pytest.raises(ToolError, match="give a new name"):
            begin_beside(place, asked, 50, 6)


def test_a_session_begun_beside_has_the_metric_of_before_and_results_of_its_own(
    tmp_path: Path,
) -> None:
    place = Repository(tmp_path, tmp_path / ".git")
    first = InitArguments(
        name="first", skill_slug=SKILL, metric_name="loss", metric_unit="%",
        direction=Direction.LOWER,
    )  # fmt: skip
    assert begin_beside(place, first, 50, 1).segment == 0
    begun = begin_beside(place, fresh(notes_of(place), "", 5), 20, 5)
    expected = Config("first @5", SKILL, "loss", "%", Direction.LOWER, 1, started_ms=5, cap=20)
    assert begun == notes_of(place).config_of(SKILL) == expected
    assert fresh(notes_of(place), SKILL, 6).name == "first @6"
    for other in (lambda: fresh(notes_of(place), "other", 6), lambda: turn_off(place, "other", 6)):
        with pytest.raises(ToolError, match="no session of other"):
            other()


@pytest.mark.process
async def test_a_second_server_in_a_repository_is_refused(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path),
    ):
        with pytest.raises(ToolError, match="another autoresearch server"):
            async with opened(stage, repository, tmp_path):
                pass


@pytest.mark.process
async def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    store, elsewhere = repository / ".git" / "autoresearch", tmp_path / "elsewhere"
    store.mkdir()
    (store / "lock").symlink_to(elsewhere)
    async with open_stage(tmp_path / "served", speed=0) as stage:
        with pytest.raises(ToolError, match="is not a plain file"):
            async with opened(stage, repository, tmp_path):
                pass
    assert not elsewhere.exists()


@pytest.mark.process
async def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with open_stage(tmp_path / "served", speed=0) as stage:
        async with opened(stage, repository, tmp_path) as session:
            await session.init(FIRST)
            await session.log(result("keep"))
        with (repository / "autoresearch.jsonl").open("a") as file:
            file.write('{"run": 2, "commi')
        async with opened(stage, repository, tmp_path) as session:
            said = await session.log(result("discard"))
            assert said["experiment"] == 2
            assert any("1 lines" in str(one) for one in said["warnings"])
            raw = (repository / "autoresearch.jsonl").read_text().splitlines()
            assert raw[-2] == '{"run": 2, "commi'
            assert json.loads(raw[-1])["run"] == 2


@pytest.mark.process
async def test_secondary_metrics_stay_comparable(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        await session.log(result("keep", secondary_metrics={"trades": 4.0}))
        with pytest.raises(ToolError, match="missing: trades"):
            await session.log(result("keep"))
        both = {"trades": 4.0, "edge": 0.1}
        with pytest.raises(ToolError, match="new: edge"):
            await session.log(result("keep", secondary_metrics=both))
        await session.log(result("keep", secondary_metrics=both, force=True))
        await session.log(result("keep", metrics={"trades": 4.0}))
        # A crash has none to give.
        for status in ("crash", "checks_failed", "crash"):
            await session.log(result(status, metric=0))
        with pytest.raises(ToolError, match="crash"):
            await session.run(RunArguments(command="true"))


@pytest.mark.process
async def test_secondary_metrics_are_demanded_once_they_are_named(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        await session.log(result("crash", metric=0))
        await session.log(result("keep", secondary_metrics={"trades": 4.0}))
        with pytest.raises(ToolError, match="missing: trades"):
            await session.log(result("discard"))


@pytest.mark.process
async def test_those_who_look_on_see_what_runs(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await session.init(FIRST)
        await session.run(RunArguments(command="echo hello"))
        (entry,) = registry.entries(tmp_path / "data")
        assert entry.repository == str(repository)
        assert entry.agent_id == stage.agent_id
        assert entry.live is not None
        assert (entry.live.tail.strip(), entry.live.exit_code) == ("hello", 0)


WRONG: dict[str, tuple[type[Any], dict[str, object], str]] = {
    "init without a name": (
        InitArguments, {"skill_slug": "a", "metric_name": "b"}, "name: Field required",
    ),
    "init without a skill": (InitArguments, {"name": "a", "metric_name": "b"}, "skill_slug"),
    "init without a metric": (InitArguments, {"name": "a", "skill_slug": "b"}, "metric_name"),
    "a slug that leads elsewhere": (
        InitArguments, {"name": "a", "skill_slug": "../x", "metric_name": "b"}, "skill_slug",
    ),
    "a direction": (
        InitArguments,
        {"name": "a", "skill_slug": "b", "metric_name": "c", "direction": "up"},
        "direction",
    ),
    "an unknown name": (
        InitArguments,
        {"name": "a", "skill_slug": "b", "metric_name": "c", "cap": 5},
        "cap: Extra inputs",
    ),
    "run without a command": (RunArguments, {}, "command"),
    "an empty command": (RunArguments, {"command": " "}, "command"),
    "a timeout in words": (RunArguments, {"command": "a", "timeout": "60"}, "timeout"),
    "no time at all": (RunArguments, {"command": "a", "timeout": 0}, "timeout"),
    "endless time": (RunArguments, {"command": "a", "timeout": 1e9}, "timeout"),
    "log without a status": (LogArguments, {"metric": 1, "description": "a"}, "status"),
    "another status": (
        LogArguments, {"status": "kept", "metric": 1, "description": "a"}, "status",
    ),
    "log without a metric": (LogArguments, {"status": "keep", "description": "a"}, "metric"),
    "a metric in words": (
        LogArguments, {"status": "keep", "metric": "1", "description": "a"}, "metric",
    ),
    "a metric that is none": (
        LogArguments,
        {"status": "keep", "metric": float("nan"), "description": "a"},
        "metric",
    ),
    "log without a description": (LogArguments, {"status": "keep", "metric": 1}, "description"),
    "metrics in words": (
        LogArguments,
        {"status": "keep", "metric": 1, "description": "a", "secondary_metrics": {"b": "c"}},
        "secondary_metrics",
    ),
    "backtest without a skill": (BacktestArguments, {"config": {}}, "skill_slug"),
    "backtest without a config": (BacktestArguments, {"skill_slug": "a"}, "config"),
    "31 days": (BacktestArguments, {"skill_slug": "a", "config": {}, "days": 31}, "days"),
    "another venue": (
        BacktestArguments, {"skill_slug": "a", "config": {}, "venue": "sol_venue"}, "venue",
    ),
    "a threshold in words": (
        BacktestArguments, {"skill_slug": "a", "config": {"min_edge": "1"}}, "config",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_arguments_that_are_wrong_are_named(name: str) -> None:
    kind, given, wanted = WRONG[name]
    with pytest.raises(ToolError) as refused:
        arguments(kind, given)
    assert wanted in str(refused.value)
    assert "the parameters are" in str(refused.value)


@pytest.mark.process
async def test_a_folder_without_a_repository_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="git init"):
        await repository_at(tmp_path)
    with pytest.raises(ToolError, match="is not a folder"):
        await repository_at(tmp_path / "nowhere")


@pytest.mark.process
async def test_a_machine_without_git_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="git was not found"):
        await repository_at(tmp_path)


@pytest.mark.parametrize(
    ("before", "elsewhere", "segment"),
    [
        (None, None, 0),
        (2, None, 3),
        (None, ("third", 4), 4),
        (None, ("other", 4), 5),
        (2, ("other", 4), 5),
        (2, ("third", 4), 5),
        (7, ("other", 4), 8),
    ],
)
def test_a_new_session_counts_apart_from_those_of_its_file_and_of_another_process(
    before: int | None, elsewhere: tuple[str, int] | None, segment: int
) -> None:
    session: Any = SimpleNamespace(_means=SimpleNamespace(cap=50), _now_ms=lambda: 5)
    config = None
    if before is not None:
        config = notebook.Config("second", SKILL, "score", "", Direction.HIGHER, before)
    state = None
    if elsewhere is not None:
        name, number = elsewhere
        state = StateBody(session=name, current_segment=number, last_experiment_number=9)
    asked = FIRST.model_copy(update={"name": "third"})
    assert Session._new_config(session, asked, config, state).segment == segment
