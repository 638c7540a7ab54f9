"""Repositories in which somebody is in the middle of something: left as they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, git, new_repository
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import Worktree, check_idle, repository_at

pytestmark = pytest.mark.process


def in_the_middle_of_a_merge(folder: Path) -> None:
    """A real one, in conflict, with a part that was resolved already."""
    git(folder, "switch", "--quiet", "-c", "theirs")
    (folder / "skill.py").write_text("theirs\n")
    (folder / "more.py").write_text("more\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "theirs")
    git(folder, "switch", "--quiet", "-")
    (folder / "skill.py").write_text("ours\n")
    git(folder, "commit", "--quiet", "-am", "ours")
    refused = subprocess.run(
        ("git", "merge", "theirs"), cwd=folder, capture_output=True, check=False
    )
    assert refused.returncode


def state_of(folder: Path) -> tuple[str, str, str]:
    status = git(folder, "status", "--porcelain", "--untracked-files=all")
    return git(folder, "rev-parse", "HEAD"), status, (folder / "skill.py").read_text()


async def test_a_repository_in_the_middle_of_a_merge_is_left_as_it_is(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    in_the_middle_of_a_merge(folder)
    before = state_of(folder)
    with pytest.raises(ToolError, match="in the middle of a merge; finish or abort it"):
        await check_idle(await repository_at(folder))
    assert state_of(folder) == before


async def test_a_worktree_in_the_middle_of_a_merge_is_left_as_it_is(tmp_path: Path) -> None:
    worktree = Worktree(await repository_at(new_repository(tmp_path / "skill")), SKILL)
    await worktree.open()
    in_the_middle_of_a_merge(worktree.folder)
    before = state_of(worktree.folder)
    with pytest.raises(ToolError, match="in the middle of a merge"):
        await worktree.open()
    assert state_of(worktree.folder) == before


async def test_worktrees_of_the_person_that_are_away_stay_known(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    theirs = tmp_path / "stick" / "theirs"
    git(folder, "worktree", "add", "--quiet", "-b", "theirs", str(theirs))
    (theirs / "skill.py").write_text("not committed\n")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    # The stick is pulled out, and our own folder removed by hand.
    theirs.parent.rename(tmp_path / "away")
    shutil.rmtree(worktree.folder)
    await worktree.open()
    assert (worktree.folder / "skill.py").exists()
    (tmp_path / "away").rename(theirs.parent)
    assert git(theirs, "status", "--porcelain").split() == ["M", "skill.py"]


async def test_a_branch_that_somebody_has_checked_out_is_not_taken_twice(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    worktree = Worktree(await repository_at(folder), SKILL)
    git(folder, "worktree", "add", "--quiet", "-b", worktree.branch, str(tmp_path / "theirs"))
    with pytest.raises(ToolError, match="theirs"):
        await worktree.open()


async def test_what_git_says_is_told_by_its_reason_and_not_by_its_advice(tmp_path: Path) -> None:
    worktree = Worktree(await repository_at(new_repository(tmp_path / "skill")), SKILL)
    await worktree.open()
    (worktree.folder / "skill.py").write_text("better = True\n")
    lock = worktree.repository.store / "worktrees" / SKILL / "index.lock"
    lock.touch()
    with pytest.raises(ToolError, match=r"Unable to create .*index\.lock"):
        await worktree.prepare("kept")
    lock.unlink()
    assert (worktree.folder / "skill.py").read_text() == "better = True\n"
    await worktree.advance(await worktree.prepare("kept"))
    assert git(worktree.folder, "log", "-1", "--format=%s") == "kept"
