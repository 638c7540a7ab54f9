"""The server is killed at every step, as a machine kills: nothing is lost, nothing is doubled."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from mcp import MCPError

from kit.terminal.research import Driver, driving, git, new_repository
from service_tui.autoresearch.worktree import BACKUPS
from service_tui.notes import registry

pytestmark = [pytest.mark.process, pytest.mark.slow]


KILLED_AT = str(Path(__file__).resolve().parents[1] / "kit" / "programs" / "killed_at.py")


async def numbers(driver: Driver) -> list[int]:
    """The results that the service has, asked for by another client of the data directory."""
    return [one["experiment_number"] for one in await driver.told_by_the_service()]


async def killed(driver: Driver, status: str) -> None:
    with pytest.raises(MCPError):
        await driver.log(status, 2.0, "the change")


@pytest.mark.parametrize(
    ("step", "status"),
    [
        ("line", "keep"), ("service", "discard"),
        *(
            pytest.param(*each, marks=pytest.mark.deep)
            for each in (
                ("tree", "keep"), ("service", "keep"), ("answer", "keep"), ("tree", "discard"),
            )
        ),
    ],
)  # fmt: skip
async def test_a_result_survives_the_death_of_its_server(
    tmp_path: Path, step: str, status: str
) -> None:
    repository = new_repository(tmp_path / "skill")
    async with driving(repository, tmp_path / "data", lead=(KILLED_AT, step)) as driver:
        await driver.init()
        await driver.log("keep", 1.0, "as it came")
        (driver.worktree / "skill.py").write_text("better = True\n")
        (driver.worktree / "new.py").write_text("new = True\n")
        await killed(driver, status)
    async with driving(repository, tmp_path / "data") as driver:
        again = await driver.init()
        is_kept = step != "line"
        assert again["experiments"] == (2 if is_kept else 1)
        assert any("do not log it again" in one for one in again["warnings"]) is is_kept
        if not is_kept:
            # Nobody heard anything: the change is where it was, and can be logged.
            assert (driver.worktree / "new.py").exists()
            await driver.log(status, 2.0, "the change")
        assert [line["run"] for line in driver.results()] == [1, 2]
        assert await numbers(driver) == [2, 1]
        assert driver.dirt() == ""
        assert (driver.worktree / "new.py").exists() is (status == "keep")
        wanted = ["the change", "as it came"] if status == "keep" else ["as it came"]
        assert driver.subjects()[: len(wanted)] == wanted
        if status == "discard":
            refs = git(repository, "for-each-ref", "--format=%(refname)", BACKUPS)
            assert git(repository, "show", f"{refs.split()[0]}:new.py") == "new = True"
            assert len(refs.split()) == 1
        third = await driver.log("discard", 1.5, "after it")
        assert third["experiment"] == 3
        assert not any("log it again" in one for one in third["warnings"])


def runs(pid: int) -> bool:
    """Whether a process runs; what has ended may wait for whoever reaps it."""
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


async def test_a_command_does_not_outlive_its_server(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    # Beside the data directory, which is closed to the command, it can make nothing.
    pid_file = tmp_path / "told" / "pid"
    pid_file.parent.mkdir()
    command = (
        f'echo half > skill.py; setsid bash -c \'trap "" TERM; echo $$ > {pid_file}.new; '
        f"mv {pid_file}.new {pid_file}; sleep 600' & wait"
    )
    async with driving(repository, tmp_path / "data") as driver:
        await driver.init()
        await driver.log("keep", 1.0)

        async def kill() -> None:
            while not pid_file.exists():  # noqa: ASYNC110  (another process makes it)
                await asyncio.sleep(0.05)
            (entry,) = registry.entries(tmp_path / "data")
            os.kill(entry.pid, signal.SIGKILL)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(kill())
            with pytest.raises(MCPError):
                await driver.call("run_experiment", command=command)
    # Its guard ends it, and waits for no next server.
    survivor = int(pid_file.read_text())
    async with asyncio.timeout(30):
        while runs(survivor):  # noqa: ASYNC110  (the guard is still at it)
            await asyncio.sleep(0.05)
    async with driving(repository, tmp_path / "data") as driver:
        again = await driver.init()
        assert any("run it again, or log it as crash" in one for one in again["warnings"])
        assert (driver.worktree / "skill.py").read_text() == "half\n"
        said = await driver.log("crash", 0, "its server was killed")
        assert said["experiment"] == 2
        assert "MIN_EDGE = 0.05" in (driver.worktree / "skill.py").read_text()
        assert [one["run"] for one in driver.results()] == [1, 2]
        assert await numbers(driver) == [2, 1]
