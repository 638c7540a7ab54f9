"""The session machine on a real repository and a real service, broken off at every step."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.examples import every
from kit.service.stage import Stage, open_stage
from kit.terminal.research import SKILL, git, new_repository
from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, turn_off
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.result_sender import ResultSender
from service_tui.autoresearch.runner import Ran
from service_tui.autoresearch.session import (
    COMMAND_MAX,
    Means,
    Session,
    after,
    description_of,
    message_of,
    segment_after,
    shortened,
)
from service_tui.autoresearch.worktree import Repository, Worktree, repository_at
from service_tui.client.errors import Called, UnreachableError
from service_tui.experiments import Result, standing
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import Config, Logged
from service_tui.terms import Direction, ExperimentStatus
from service_tui.wire.endpoints.research import EXPERIMENTS, RESEARCH_STATE
from service_tui.wire.research import StateBody, StateQuery
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
        "cap": 50, "allows_shell": True, "mark": f"test-{os.getpid()}",
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


@pytest.mark.slow
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


# -- what a run committed itself ---------------------------------------------------------------

COMMITS = "echo committed > skill.py && git commit --quiet -am itself"
BRANCH_OF = f"autoresearch/{SKILL}"


def tip_of(repository: Path) -> str:
    return git(repository, "rev-parse", f"refs/heads/{BRANCH_OF}")


async def with_a_kept_best(session: Session, repository: Path) -> str:
    """A session whose second result is a kept best; its commit."""
    await session.init(FIRST)
    await session.log(result("keep"))
    (tree_of(repository) / "skill.py").write_text("best\n")
    await session.log(result("keep", 2.0, "the best"))
    return tip_of(repository)


WHAT_RUNS_DO: dict[str, tuple[str, str]] = {
    # What a command does, and what must be found under the backup that the answer names.
    "a commit": (COMMITS, "committed"),
    "two commits": (f"{COMMITS}; echo again > skill.py; git commit --quiet -am twice", "again"),
    "a commit and a change": (f"{COMMITS}; echo more > skill.py", "more"),
    "an amended best": ("echo amended > skill.py; git commit --quiet --amend -am x", "amended"),
    "a commit on no branch": (f"git switch --quiet --detach; {COMMITS}", "committed"),
    "a branch that is gone": (
        f"git switch --quiet --detach; git branch --quiet -D {BRANCH_OF}; {COMMITS}", "committed",
    ),
    "a rebased branch": (
        f"git reset --quiet --hard HEAD~1; {COMMITS}; echo re > skill.py; git commit -qam re", "re",
    ),
    "a commit of what it lets git ignore": (
        f"{COMMITS}; echo '*.py' > .gitignore; touch a.py; git add -f a.py; git commit -qam hides",
        "committed",
    ),
    "a link in place of a file": ("rm skill.py; ln -s SKILL.md skill.py", "SKILL.md"),
}  # fmt: skip


@pytest.mark.parametrize("status", every(2, ["discard", "crash"]))
@pytest.mark.parametrize("what", every(2, WHAT_RUNS_DO))
@pytest.mark.process
async def test_what_a_run_committed_is_off_the_branch_and_under_the_ref_that_is_named(
    tmp_path: Path, what: str, status: str
) -> None:
    command, held = WHAT_RUNS_DO[what]
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
        assert (await session.run(RunArguments(command=command)))["succeeded"]
        said = await session.log(result(status, 0.5))
        assert tip_of(repository) == best
        tree = tree_of(repository)
        assert git(tree, "symbolic-ref", "HEAD") == f"refs/heads/{BRANCH_OF}"
        assert git(tree, "status", "--porcelain") == ""
        assert (tree / "skill.py").read_text() == "best\n"
        assert held in git(repository, "show", f"{said['backup']}:skill.py")
        # The next result builds on what was logged, and on nothing else.
        (tree / "skill.py").write_text("next\n")
        await session.log(result("keep", 3.0, "the next"))
        assert git(tree, "rev-parse", "HEAD~1") == best
        assert git(tree, "diff", "--name-only", "HEAD~1", "HEAD") == "skill.py"


UNDOES = {
    "a reset": "git reset --quiet --hard HEAD~1",
    "a reset on no branch": "git switch --quiet --detach HEAD~1",
    "a branch set back": "git update-ref refs/heads/{branch} HEAD~1 && git reset --quiet --hard",
    "another branch": "git switch --quiet -c mine HEAD~1",
}


@pytest.mark.parametrize("status", every(2, ["discard", "crash", "keep"]))
@pytest.mark.parametrize("what", UNDOES)
@pytest.mark.process
async def test_a_kept_result_that_a_run_undid_stays_on_the_branch(
    tmp_path: Path, what: str, status: str
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
        ran = await session.run(RunArguments(command=UNDOES[what].format(branch=BRANCH_OF)))
        assert ran["succeeded"]
        await session.log(result(status, 0.5, "after it"))
        kept = git(repository, "for-each-ref", "--contains", best, "--format=%(refname)").split()
        assert f"refs/heads/{BRANCH_OF}" in kept
        tree = tree_of(repository)
        assert git(tree, "symbolic-ref", "HEAD") == f"refs/heads/{BRANCH_OF}"
        assert git(tree, "status", "--porcelain") == ""
        if status == "keep":
            # What ran is what is kept: without the best, which is the commit before.
            assert (git(tree, "rev-parse", "HEAD~1"), git(tree, "log", "-1", "--format=%s")) == (
                best, "after it",
            )  # fmt: skip
            assert "MIN_EDGE" in (tree / "skill.py").read_text()
        else:
            assert tip_of(repository) == best


@pytest.mark.process
async def test_a_run_that_commits_and_is_kept_leaves_its_commits_on_the_branch(
    tmp_path: Path,
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
        await session.run(RunArguments(command=COMMITS))
        said = await session.log(result("keep", 3.0, "kept"))
        subjects = git(tree_of(repository), "log", "--format=%s", f"{best}..HEAD").splitlines()
        assert (subjects, said["backup"]) == (["kept", "itself"], None)


@pytest.mark.process
async def test_an_amended_best_that_is_kept_leaves_the_best_below_it(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
        await session.run(RunArguments(command=WHAT_RUNS_DO["an amended best"][0]))
        amended = tip_of(repository)
        said = await session.log(result("keep", 3.0, "kept"))
        assert git(tree_of(repository), "rev-parse", "HEAD~1") == best
        assert git(tree_of(repository), "show", "HEAD:skill.py") == "amended"
        assert git(repository, "rev-parse", str(said["backup"])) == amended


@pytest.mark.process
async def test_every_kept_result_has_a_ref_whatever_becomes_of_the_branch(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
    git(repository, "worktree", "remove", "--force", str(tree_of(repository)))
    git(repository, "branch", "--quiet", "-D", BRANCH_OF)
    git(repository, "reflog", "expire", "--expire=now", "--all")
    git(repository, "gc", "--quiet", "--prune=now")
    assert git(repository, "rev-parse", f"refs/autoresearch/kept/{SKILL}/2") == best


@pytest.mark.process
async def test_a_session_goes_on_where_a_run_removed_the_link_to_its_repository(
    tmp_path: Path,
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        best = await with_a_kept_best(session, repository)
        await session.run(RunArguments(command="rm .git; echo broken > skill.py"))
        await session.log(result("crash", 0.0))
        assert tip_of(repository) == best
        assert (tree_of(repository) / "skill.py").read_text() == "best\n"


@pytest.mark.parametrize("status", ["keep", "discard"])
@pytest.mark.process
async def test_a_repository_that_a_run_made_stops_no_result_and_is_named(
    tmp_path: Path, status: str
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        await session.run(RunArguments(command="git init --quiet inner; echo a > skill.py"))
        said = await session.log(result(status, 3.0))
        (warning,) = said["warnings"]
        assert str(warning).startswith("neither kept nor reverted: inner/ (a repository of its own")
        text = "a\n" if status == "keep" else "best\n"
        assert (tree_of(repository) / "skill.py").read_text() == text


@pytest.mark.parametrize("status", ["keep", "discard"])
@pytest.mark.process
async def test_files_and_folders_that_change_places_with_links_are_kept_and_reverted(
    tmp_path: Path, status: str
) -> None:
    repository = new_repository(tmp_path / "skill")
    (repository / "folder").mkdir()
    (repository / "folder" / "file").write_text("in it\n")
    git(repository, "add", "folder")
    git(repository, "commit", "--quiet", "-m", "a folder")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("not ours\n")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        command = (
            f"rm -r folder && ln -s {elsewhere} folder && rm skill.py && mkdir skill.py && "
            "echo new > skill.py/new"
        )
        assert (await session.run(RunArguments(command=command)))["succeeded"]
        said = await session.log(result(status, 3.0))
        tree = tree_of(repository)
        assert git(tree, "status", "--porcelain") == ""
        assert (elsewhere / "file").read_text() == "not ours\n"
        if status == "keep":
            assert git(tree, "show", "HEAD:skill.py/new") == "new"
            assert git(tree, "show", "HEAD:folder") == str(elsewhere)
        else:
            assert (tree / "skill.py").read_text() == "best\n"
            assert (tree / "folder" / "file").read_text() == "in it\n"
            assert git(tree, "show", f"{said['backup']}:skill.py/new") == "new"


@pytest.mark.process
async def test_files_that_a_run_hid_by_its_own_ignore_rules_do_not_come_into_the_next_result(
    tmp_path: Path,
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        await session.run(RunArguments(command="echo '*' > .gitignore; echo a > hidden.py"))
        said = await session.log(result("discard", 0.5))
        tree = tree_of(repository)
        assert git(tree, "status", "--porcelain") == ""
        assert not (tree / "hidden.py").exists()
        assert git(tree, "show", f"{said['backup']}:hidden.py") == "a"


@pytest.mark.process
async def test_a_sparse_and_shallow_repository_keeps_and_reverts_as_any_other(
    tmp_path: Path,
) -> None:
    whole = new_repository(tmp_path / "whole")
    for name in ("in", "out"):
        (whole / name).mkdir()
        (whole / name / "file").write_text(f"{name}\n")
    git(whole, "add", ".")
    git(whole, "commit", "--quiet", "-m", "folders")
    repository = tmp_path / "skill"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{whole}", str(repository))
    git(repository, "config", "user.name", "Ann")
    git(repository, "config", "user.email", "ann@example.org")
    git(repository, "sparse-checkout", "set", "in")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        tree = tree_of(repository)
        for status in ("keep", "discard"):
            command = f"mkdir -p out; echo {status} > out/new; echo {status} > in/file"
            assert (await session.run(RunArguments(command=command)))["succeeded"]
            said = await session.log(result(status, 3.0))
            assert git(tree, "status", "--porcelain") == ""
            where = "HEAD" if status == "keep" else said["backup"]
            assert git(tree, "show", f"{where}:out/new") == status
            assert git(tree, "show", f"{where}:out/file") == "out"


@pytest.mark.process
async def test_a_submodule_that_a_run_changed_is_named_and_left(tmp_path: Path) -> None:
    repository, inner = new_repository(tmp_path / "skill"), new_repository(tmp_path / "inner")
    allowed = ("-c", "protocol.file.allow=always")
    git(repository, *allowed, "submodule", "--quiet", "add", str(inner), "inner")
    git(repository, "commit", "--quiet", "-m", "a submodule")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        git(tree_of(repository), *allowed, "submodule", "--quiet", "update", "--init")
        await session.run(RunArguments(command="echo a > inner/skill.py; echo b > skill.py"))
        said = await session.log(result("discard", 0.5))
        assert (tree_of(repository) / "skill.py").read_text() == "best\n"
        assert (tree_of(repository) / "inner" / "skill.py").read_text() == "a\n"
        assert any("neither kept nor reverted: inner " in str(one) for one in said["warnings"])


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
async def test_a_new_session_runs_at_once_on_the_service_too(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):

        async def state() -> StateBody:
            query = StateQuery(skill_slug=SKILL)
            return (await stage.client.call(RESEARCH_STATE, query=query)).answer

        await session.init(FIRST)
        assert (await state()).session == "first"
        await session.log(result("crash", 0.0))
        assert (await state()).state == "paused"
        await session.init(FIRST.model_copy(update={"name": "second"}))
        found = await state()
        assert (found.state, found.session, found.experiment_count) == ("running", "second", 0)
        await session.log(result("crash", 0.0))
        # One that a person begins beside the server is known with the next command.
        begin_beside(await repository_at(repository), fresh(session.notes, "", 5), 50, 5)
        await session.run(RunArguments(command="true"))
        found = await state()
        assert (found.state, found.session) == ("running", "second @5")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
async def test_a_session_file_that_leads_elsewhere_is_not_written(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    elsewhere = tmp_path / "elsewhere"
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await changed(session, repository)
        file = repository / notebook.FILE
        text = file.read_text()
        elsewhere.write_text(text)
        for make in (file.symlink_to, file.hardlink_to):
            file.unlink()
            make(elsewhere)
            with pytest.raises(ToolError, match="cannot be"):
                await session.log(result("keep", 2.0))
            assert elsewhere.read_text() == text
        file.unlink()
        file.write_text(text)
        assert (await session.log(result("keep", 2.0)))["experiment"] == 2


@pytest.mark.process
async def test_a_folder_of_notes_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repository / ".git" / "autoresearch").symlink_to(elsewhere)
    async with open_stage(tmp_path / "served", speed=0) as stage:
        with pytest.raises(ToolError, match="cannot be written"):
            async with opened(stage, repository, tmp_path):
                pass
    assert not [*elsewhere.iterdir()]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# -- values ------------------------------------------------------------------------------------

KEEP, DROP = ExperimentStatus.KEEP, ExperimentStatus.DISCARD
CRASH = ExperimentStatus.CRASH
NOW_MS = 1_500
ENDED = Ran(0, timed_out=False, took_s=1.23456, tail="the end", size=99)
BEFORE = Config("before", SKILL, "score", "", Direction.HIGHER, 4, NOW_MS, 50)


@pytest.mark.parametrize(
    ("before", "state", "segment"),
    [
        (None, None, 0),
        (None, StateBody(), 0),
        (None, StateBody(last_experiment_number=1, current_segment=2, session="first"), 2),
        (None, StateBody(last_experiment_number=1, current_segment=2, session="x"), 3),
        (None, StateBody(last_experiment_number=0, current_segment=2, session="x"), 0),
        (BEFORE, None, 5),
        (BEFORE, StateBody(last_experiment_number=1, current_segment=2, session="first"), 5),
        (BEFORE, StateBody(last_experiment_number=5, current_segment=7, session="first"), 8),
    ],
)
def test_a_new_session_has_a_segment_that_nobody_has_had(
    before: Config | None, state: StateBody | None, segment: int
) -> None:
    assert segment_after(before, state, "first") == segment


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


def test_the_message_of_a_commit_names_the_result() -> None:
    config = Config("first", "tides", "score", "", Direction.LOWER, 0)
    one = Logged(4, "", 1.5, {"trades": 2.0}, KEEP, "tried it", 0, 0, config)
    text = '{"status": "keep", "score": 1.5, "trades": 2.0}'
    assert message_of(one) == f"tried it\n\nExperiment: 4\nResult: {text}\n"


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


# -- all of a session --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.process
async def test_a_session_goes_on_until_it_is_full(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path, cap=5) as session,
    ):
        with pytest.raises(ToolError, match="no session; call init_experiment first"):
            await session.run(RunArguments(command="true"))
        with pytest.raises(ToolError, match="no session; call init_experiment first"):
            await session.log(result("keep"))
        assert session.description() == {"session": None}
        begun = await session.init(FIRST)
        assert (begun["session"], begun["resumed"], begun["next_experiment"]) == (
            "first", False, 1,
        )  # fmt: skip
        assert (begun["worktree"], begun["branch"]) == (
            str(tree_of(repository)), f"autoresearch/{SKILL}",
        )  # fmt: skip
        assert (await session.init(FIRST))["resumed"]
        with pytest.raises(ToolError, match="the session first measures score, higher is"):
            await session.init(FIRST.model_copy(update={"metric_name": "pnl"}))
        said = await session.run(RunArguments(command="echo it runs; exit 3", timeout=7))
        assert (said["exit_code"], said["succeeded"], said["output"]) == (3, False, "it runs")
        assert "log it as crash" in str(said["say"])
        # A crash has no figure, a result of 0 is one, and both leave the branch as it was.
        for metric in (9.0, 8.0, 7.0):
            logged = await session.log(result("discard", metric))
            assert (logged["commit"], logged["kept"]) == (None, 0)
        kept = await session.log(result("keep", 1.0))
        assert (kept["experiment"], kept["is_new_best"]) == (4, True)
        assert [one.confidence for one in session.notes.results] == [None, None, None, 8.0]
        assert "4 of 5 experiments are done: a command runs up to 5" in str(kept["warnings"])
        await session.log(result("crash", 0.0))
        assert session.notes.results[-1].metric is None
        with pytest.raises(ToolError, match="the session is capped"):
            await session.run(RunArguments(command="true"))


@pytest.mark.slow
@pytest.mark.process
async def test_a_reset_counts_anew_and_no_command_runs_where_nobody_allows_it(
    tmp_path: Path,
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with open_stage(tmp_path / "served", speed=0) as stage:
        async with opened(stage, repository, tmp_path) as session:
            await session.init(FIRST)
            said = await session.reset("")
            assert str(said["session"]).startswith("first @")
            assert session.notes.configs[-1].segment == 1
            await session.log(result("crash"))
            with pytest.raises(ToolError, match="the session is paused: the first experiment"):
                await session.run(RunArguments(command="true"))
        async with opened(stage, repository, tmp_path, allows_shell=False) as session:
            await session.init(FIRST.model_copy(update={"name": "third"}))
            with pytest.raises(ToolError, match="not allowed on this server"):
                await session.run(RunArguments(command="true"))


@pytest.mark.slow
@pytest.mark.process
async def test_a_line_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await changed(session, repository)
        place = await repository_at(repository)
        text = place.file.read_text()
        place.file.unlink()
        place.file.mkdir()
        with pytest.raises(ToolError):
            await session.log(result("keep", 2.0))
        assert [one.run for one in session.notes.results][:1] == [1]
        assert await numbers(stage) == [1]
        place.file.rmdir()
        place.file.write_text(text)
        assert (await session.log(result("keep", 2.0)))["experiment"] == 2


# -- what a run left where git works ------------------------------------------------------------

LEFT: dict[str, str] = {
    "a lock of the index": "touch $(git rev-parse --git-dir)/index.lock",
    "a lock of the branch": "touch $(git rev-parse --git-common-dir)/refs/heads/"
    "$(git branch --show-current).lock",
    "a lock of HEAD": "touch $(git rev-parse --git-dir)/HEAD.lock",
    "a repository in a folder": "git init --quiet folder; echo a > folder/new; "
    "git -C folder add . && git -C folder -c user.name=a -c user.email=b commit -qm inner",
    "a repository in place of a folder": "rm -r folder; git init --quiet folder; "
    "cd folder; echo a > file; git add .; git -c user.name=a -c user.email=b commit -qm inner",
    "a repository without a commit": "rm -r folder; git init --quiet folder; echo a > folder/file",
    "a repository in place of the worktree": "rm .git; git init --quiet; echo a > new",
    "a folder in place of a link": "rm .git; mkdir .git; echo a > .git/HEAD",
    "a link to another repository": "rm .git; git init --quiet ../other; ln -s ../other/.git .git",
    "a link in place of a folder": "mv folder other; ln -s other folder",
    "a link to itself": "rm -r folder; ln -s folder folder",
    "a link in place of the worktree": "cd ..; mv edge-picker moved; ln -s moved edge-picker",
    "a folder that nobody may write": "chmod 500 folder",
}


@pytest.mark.parametrize("status", every(2, ["keep", "discard"]))
@pytest.mark.parametrize("left", every(2, LEFT))
@pytest.mark.process
async def test_what_a_run_left_where_git_works_stops_no_result(
    tmp_path: Path, left: str, status: str
) -> None:
    repository = new_repository(tmp_path / "skill")
    (repository / "folder").mkdir()
    (repository / "folder" / "file").write_text("in it\n")
    git(repository, "add", "folder")
    git(repository, "commit", "--quiet", "-m", "a folder")
    async with (
        open_stage(tmp_path / "served", speed=0) as stage,
        opened(stage, repository, tmp_path) as session,
    ):
        await with_a_kept_best(session, repository)
        assert (await session.run(RunArguments(command=LEFT[left])))["succeeded"]
        await session.log(result(status, 3.0))
        await session.run(RunArguments(command="echo next > skill.py"))
        await session.log(result("keep", 4.0))
        assert (tree_of(repository) / "skill.py").read_text() == "next\n"
        assert git(tree_of(repository), "show", f"{BRANCH_OF}:skill.py") == "next"
        assert [one.run for one in notebook.read(repository / notebook.FILE).results] == [
            1,
            2,
            3,
            4,
        ]
