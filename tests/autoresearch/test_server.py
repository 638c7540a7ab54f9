"""The MCP server as a client meets it: a real one, in a process of its own."""

import shutil
import sys
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, driving, git, new_repository

pytestmark = pytest.mark.process


@pytest.mark.slow
async def test_a_session_from_its_start_to_its_cap(  # noqa: PLR0915  (one long walk)
    tmp_path: Path,
) -> None:
    repository = new_repository(tmp_path / "skill")
    before = git(repository, "rev-parse", "HEAD")
    async with driving(
        repository, tmp_path / "data", env={"AUTORESEARCH_MAX_EXPERIMENTS": "5"}
    ) as driver:
        tools = {tool.name for tool in (await driver.client.list_tools()).tools}
        assert tools == {
            "init_experiment", "run_experiment", "log_experiment", "backtest_experiment"
        }  # fmt: skip
        assert "call init_experiment" in await driver.refused("run_experiment", command="true")

        begun = await driver.init()
        assert (begun["state"], begun["next_experiment"]) == ("running", 1)
        assert Path(begun["worktree"]) == driver.worktree
        assert git(driver.worktree, "rev-parse", "--abbrev-ref", "HEAD") == f"autoresearch/{SKILL}"

        ran = await driver.call("run_experiment", command="python3 skill.py")
        assert ran["succeeded"], ran
        assert '{"pnl": 3.75}' in ran["output"]
        first = await driver.log("keep", 3.75, "as it came", secondary_metrics={"edge": 0.05})
        assert (first["experiment"], first["baseline"], first["best"]) == (1, 3.75, 3.75)
        assert driver.subjects()[0] == "as it came"
        assert 'Result: {"status": "keep", "score": 3.75, "edge": 0.05}' in git(
            driver.worktree, "log", "-1", "--format=%b"
        )

        script = driver.worktree / "skill.py"
        script.write_text(script.read_text().replace("0.05", "0.3", 1))
        (driver.worktree / "notes").mkdir()
        (driver.worktree / "notes" / "new.txt").write_text("new")
        (driver.worktree / "run.log").write_text("ignored")
        kept = await driver.log("keep", 10.0, "edge at 0.3", secondary_metrics={"edge": 0.3})
        assert kept["is_new_best"] is True
        assert driver.dirt() == ""
        assert set(git(driver.worktree, "show", "--format=", "--name-only").split()) == {
            "skill.py", "notes/new.txt"
        }  # fmt: skip
        assert driver.results()[1]["commit"] == kept["commit"]

        script.write_text("broken = (")
        (driver.worktree / "more.txt").write_text("more")
        dropped = await driver.log("discard", 1.0, "worse", secondary_metrics={"edge": 0.4})
        assert driver.dirt() == ""
        assert "0.3" in script.read_text()
        assert not (driver.worktree / "more.txt").exists()
        assert (driver.worktree / "run.log").read_text() == "ignored"
        shown = git(driver.worktree, "show", f"{dropped['backup']}:more.txt")
        assert shown == "more"

        script.write_text("raise SystemExit(3)")
        crashed = await driver.call("run_experiment", command="python3 skill.py")
        assert crashed["exit_code"] == 3
        near = await driver.log("crash", 0, "it ended", secondary_metrics={"edge": 0})
        assert near["crashes_in_row"] == 1
        assert any("4 of 5" in one for one in near["warnings"])
        assert driver.results()[3]["metric"] is None
        last = await driver.log("discard", 2.0, "again", secondary_metrics={"edge": 0.2})
        assert last["state"] == "capped"
        full = await driver.refused("run_experiment", command="true")
        assert "5 of 5" in full

        again = await driver.init(name="second")
        assert (again["state"], again["experiments"], again["next_experiment"]) == ("running", 0, 6)
    assert git(repository, "rev-parse", "HEAD") == before
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.slow
async def test_crashes_pause_and_a_new_name_clears(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with driving(repository, tmp_path / "data") as driver:
        await driver.init()
        assert (await driver.log("crash", 0))["state"] == "paused"
        assert "misconfigured" in await driver.refused("run_experiment", command="true")
        assert (await driver.init())["state"] == "paused"
        assert (await driver.init(name="second"))["state"] == "running"
        await driver.log("keep", 1)
        for count in (1, 2, 3):
            said = await driver.log("crash", 0)
            assert said["crashes_in_row"] == count
        assert said["state"] == "paused"
        assert "crashed in a row" in await driver.refused("run_experiment", command="true")
    async with driving(repository, tmp_path / "data") as driver:
        assert "paused" in await driver.refused("run_experiment", command="true")
        resumed = await driver.init(name="third")
        assert (resumed["state"], resumed["next_experiment"]) == ("running", 6)


@pytest.mark.slow
async def test_numbering_goes_on_without_the_file(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with driving(repository, tmp_path / "data") as driver:
        await driver.init()
        await driver.log("keep", 1)
        await driver.log("discard", 0.5)
    (repository / "autoresearch.jsonl").unlink()
    async with driving(repository, tmp_path / "data") as driver:
        assert (await driver.init(name="other"))["next_experiment"] == 3


async def test_without_leave_no_command_runs(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    async with driving(repository, tmp_path / "data", allow_shell=False) as driver:
        await driver.init()
        said = await driver.refused("run_experiment", command="touch /tmp/never-there")
        assert "--allow-shell" in said


@pytest.mark.slow
async def test_python_in_a_command_is_the_one_that_has_the_library(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    git_alone = tmp_path / "bin"
    git_alone.mkdir()
    (git_alone / "git").symlink_to(shutil.which("git") or "")
    for chosen in ({}, {"VIRTUAL_ENV": str(tmp_path)}):
        env = {"PATH": str(git_alone), **chosen}
        async with driving(repository, tmp_path / "data", env=env) as driver:
            await driver.init()
            ran = await driver.call("run_experiment", command="command -v python || echo none")
            own = str(Path(sys.executable).with_name("python"))
            assert ran["output"].strip() == ("none" if chosen else own)


@pytest.mark.parametrize("state", ["changed", "new", "merging"])
async def test_what_was_there_before_is_not_touched(tmp_path: Path, state: str) -> None:
    repository = new_repository(tmp_path / "skill")
    if state == "changed":
        (repository / "skill.py").write_text("mine")
    elif state == "new":
        (repository / "mine.txt").write_text("mine")
    else:
        (repository / ".git" / "MERGE_HEAD").write_text(git(repository, "rev-parse", "HEAD"))
    async with driving(repository, tmp_path / "data") as driver:
        said = await driver.refused("init_experiment", name="a", skill_slug=SKILL, metric_name="b")
        wanted = "in the middle of a merge" if state == "merging" else "git stash -u"
        assert wanted in said
        assert not (repository / "autoresearch.jsonl").exists()
