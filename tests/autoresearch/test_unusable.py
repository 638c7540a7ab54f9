"""Places in which no session can be: the client hears why, and nothing there is changed."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, driving, new_repository

pytestmark = pytest.mark.process


ASKED = {"name": "a", "skill_slug": SKILL, "metric_name": "b"}
ORDINARY: Sequence[str] = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
)
"""Root may write everywhere, but for one who has given that up."""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_protect(folder: Path, *, is_so: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o500 if is_so else 0o700)


@pytest.mark.skipif(bool(ORDINARY) and shutil.which("setpriv") is None, reason="root needs setpriv")
@pytest.mark.parametrize("place", ["the repository", "its store"])
async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    repository = new_repository(tmp_path / "skill")
    closed = repository if place == "the repository" else repository / ".git"
    before = files(repository)
    write_protect(closed, is_so=True)
    try:
        async with driving(repository, tmp_path / "data", around=ORDINARY) as driver:
            said = await driver.refused("init_experiment", **ASKED)
            assert "cannot be written" in said
            assert "a repository that it may write" in said
            # The person opens it, and the same server goes on.
            write_protect(closed, is_so=False)
            assert (await driver.init())["next_experiment"] == 1
    finally:
        write_protect(closed, is_so=False)
    assert before.items() <= {**files(repository), **config_of(before)}.items()


def config_of(before: dict[str, bytes]) -> dict[str, bytes]:
    """Files of git itself, in which a worktree leaves its place."""
    return {path: text for path, text in before.items() if path.endswith("info/exclude")}


async def test_a_folder_without_a_repository_is_named_until_there_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    async with driving(folder, tmp_path / "data") as driver:
        assert "git init" in await driver.refused("init_experiment", **ASKED)
        assert "git init" in await driver.refused("log_experiment", status="keep")
        assert len((await driver.client.list_tools()).tools) == 4
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


async def test_a_machine_without_git_is_named(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "skill")
    before = files(repository)
    async with driving(repository, tmp_path / "data", env={"PATH": str(tmp_path)}) as driver:
        assert "git was not found; install git" in await driver.refused("init_experiment", **ASKED)
    assert files(repository) == before
