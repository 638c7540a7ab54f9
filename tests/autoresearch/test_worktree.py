"""Repositories in which somebody is in the middle of something: left as they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from autoresearch.driven import SKILL, git, new_repository
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import Worktree, check_calm, repository_at


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
        await check_calm(await repository_at(folder))
    assert state_of(folder) == before


async def test_a_worktree_in_the_middle_of_a_merge_is_left_as_it_is(tmp_path: Path) -> None:
    worktree = Worktree(await repository_at(new_repository(tmp_path / "skill")), SKILL)
    await worktree.open()
    in_the_middle_of_a_merge(worktree.folder)
    before = state_of(worktree.folder)
    with pytest.raises(ToolError, match="in the middle of a merge"):
        await worktree.open()
    assert state_of(worktree.folder) == before


async def test_a_lost_folder_is_made_anew_and_another_of_the_person_is_not_forgotten(
    tmp_path: Path,
) -> None:
    folder = new_repository(tmp_path / "repo")
    work = Worktree(await repository_at(folder), SKILL)
    await work.open()
    away = tmp_path / "disk" / "away"
    git(folder, "worktree", "add", "--quiet", "--detach", str(away))
    (tmp_path / "disk").rename(tmp_path / "unmounted")
    shutil.rmtree(work.folder)
    await work.open()
    assert (work.folder / ".git").exists()
    (tmp_path / "unmounted").rename(tmp_path / "disk")
    assert git(away, "rev-parse", "HEAD") == git(folder, "rev-parse", "HEAD")


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
