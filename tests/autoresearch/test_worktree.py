"""Real repositories, in every state: what is kept, reverted, left as it is, and refused why."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, git, new_repository
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import (
    Changes,
    Repository,
    Worktree,
    changes_in,
    check_idle,
    fix_of,
    reason_of,
    repository_at,
)

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


@pytest.mark.slow
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


@pytest.mark.slow
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
    await worktree.advance(await worktree.prepare("kept"), "1")
    assert git(worktree.folder, "log", "-1", "--format=%s") == "kept"
    assert git(worktree.folder, "rev-parse", "HEAD") == git(
        worktree.folder, "rev-parse", f"refs/autoresearch/kept/{SKILL}/1"
    )


# -- what git says -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("hint: look\nfatal: no such ref\nhint: more", "fatal: no such ref"),
        ("one\ntwo\n", "two"),
        ("", "refused"),
        ("error: broken\nfatal: worse", "error: broken"),
        ("fatal: extension found:\n\tfoo\nmore", "fatal: extension found: foo"),
        ("fatal: in '/a\x1b]0;title\x07b'", "fatal: in '/ab'"),
    ],
)  # fmt: skip
def test_of_what_git_says_the_reason_is_told(output: str, reason: str) -> None:
    assert reason_of(output) == reason


FIXED_BY = {
    "fatal: detected dubious ownership in repository at '/r'": "safe.directory /r'",
    "fatal: bad config line 3 in file .git/config": "mend that line",
    "fatal: bad boolean config value 'maybe' for 'core.bare'": "mend that value",
    "fatal: bad numeric config value 'x' for 'core.y' in file z": "mend that value",
    "fatal: unknown repository extension found: foo": "install a git that knows it",
    "fatal: Expected git repo version <= 1, found 9": "install a git that knows it",
    "fatal: this operation must be run in a work tree": "start the server in a clone",
    "fatal: invalid gitfile format: /r/.git": "mend its .git file",
    "fatal: not a git repository: /nowhere": "mend its .git file",
    "fatal: cannot lock ref 'refs/heads/autoresearch/a': 'refs/heads/autoresearch' exists; "
    "cannot create 'refs/heads/autoresearch/a'": "'git branch -m autoresearch ANOTHER-NAME'",
    "fatal: 'autoresearch/a' is already checked out at '/theirs'": "'git -C /theirs switch",
    "fatal: Unable to create '/r/.git/index.lock': File exists.": "remove that file",
    "fatal: a.bin: clean filter 'lfs' failed": "install that filter",
    "error: external filter 'x' failed": "install that filter",
    "error: unable to write file a: No space left on device": "make room",
    "fatal: cannot mkdir x: Read-only file system": "that it may write",
    "fatal: no such ref": "",
}


@pytest.mark.parametrize("reason", FIXED_BY)
def test_of_a_known_reason_it_is_told_what_to_do(reason: str) -> None:
    fix = FIXED_BY[reason]
    assert fix_of(reason) == fix if not fix else fix in fix_of(reason)


@pytest.mark.parametrize(
    ("reason", "command"),
    [
        (
            "fatal: detected dubious ownership in repository at '/r/it's $(x); y'",
            "git config --global --add safe.directory %s'",
        ),
        ("fatal: 'a' is already checked out at '/r/it's $(x); y'", "'git -C %s switch --detach'"),
        ("fatal: 'refs/heads/$(x);y' exists; cannot create 'z'", "git branch -m '$(x);y' ANOTHER"),
    ],
)
def test_a_command_that_is_told_takes_a_name_as_one_word(reason: str, command: str) -> None:
    assert command.replace("%s", shlex.quote("/r/it's $(x); y")) in fix_of(reason)


async def test_a_folder_in_a_command_that_is_told_is_one_word(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "my skill;x")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    git(worktree.folder, "switch", "--quiet", "-c", "mine")
    with pytest.raises(ToolError) as refused:
        await worktree.check_branch()
    assert f"git -C '{worktree.folder}' switch" in str(refused.value)
    (folder / ".git" / "MERGE_HEAD").touch()
    with pytest.raises(ToolError) as refused:
        await check_idle(await repository_at(folder))
    assert f"git -C '{folder}' merge --abort" in str(refused.value)


# -- repositories that cannot be used ------------------------------------------------------


def with_config(text: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        with (folder / ".git" / "config").open("a") as file:
            file.write(text)

    return change


def without_last_commit(folder: Path) -> None:
    name = git(folder, "rev-parse", "HEAD")
    (folder / ".git" / "objects" / name[:2] / name[2:]).unlink()


def leading_nowhere(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text("gitdir: /x/y")


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "none": (lambda folder: shutil.rmtree(folder / ".git"), "not in a git repository; run 'git in"),
    "broken config": (with_config("[bad\n"), "bad config line .*; mend that line"),
    "wrong config": (with_config("[core]\nbare = maybe\n"), "bad boolean .*'maybe'.*; mend that v"),
    "unknown extension": (
        with_config("[core]\nrepositoryformatversion = 1\n[extensions]\nfoo = bar\n"),
        "unknown repository extension found: foo; install a git",
    ),
    "newer format": (with_config("[core]\nrepositoryformatversion = 9\n"), "found 9; install a gi"),
    "bare": (with_config("[core]\nbare = true\n"), "run in a work tree; there is no working tree"),
    "a link to nowhere": (leading_nowhere, "not a git repository: /x/y; mend its .git file"),
    "no commit": (
        lambda folder: git(folder, "update-ref", "-d", "HEAD"), "no commit yet; commit the skill",
    ),
    "a lost commit": (without_last_commit, "cannot read the last commit of .*; 'git fsck'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
async def test_a_repository_that_git_refuses_is_told_with_its_own_reason_and_fix(
    tmp_path: Path, what: str
) -> None:
    change, told = REFUSED[what]
    folder = new_repository(tmp_path / "skill")
    change(folder)
    with pytest.raises(ToolError, match=told):
        await repository_at(folder)


async def test_the_inside_of_git_is_no_working_tree(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    with pytest.raises(ToolError, match="no working tree here"):
        await repository_at(folder / ".git")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to somebody else")
@pytest.mark.parametrize("kept_as", ["GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL"])
async def test_a_repository_of_somebody_else_is_usable_where_the_person_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_as: str
) -> None:
    folder = new_repository(tmp_path / "skill")
    os.chown(folder, 65534, 65534)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with pytest.raises(ToolError, match=rf"dubious ownership .*; if you trust .*{folder}'"):
        await repository_at(folder)
    if kept_as == "GIT_CONFIG_COUNT":
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(folder))
    else:
        (tmp_path / "config").write_text(f"[safe]\ndirectory = {folder}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert (await repository_at(folder)).root == folder


@pytest.mark.parametrize("name", ["autoresearch", f"autoresearch/{SKILL}/mine"])
async def test_a_branch_that_bars_ours_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    folder = new_repository(tmp_path / "skill")
    git(folder, "branch", name)
    worktree = Worktree(await repository_at(folder), SKILL)
    with pytest.raises(ToolError, match=f"run 'git branch -m {name} ANOTHER-NAME'"):
        await worktree.open()
    git(folder, "branch", "-m", name, "theirs")
    await worktree.open()
    assert git(worktree.folder, "symbolic-ref", "HEAD") == f"refs/heads/{worktree.branch}"


async def test_a_worktree_of_the_person_is_a_repository_like_any_other(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    git(folder, "worktree", "add", "--quiet", "-b", "theirs", str(tmp_path / "theirs"))
    found = await repository_at(tmp_path / "theirs")
    assert found == Repository(tmp_path / "theirs", folder / ".git")
    worktree = Worktree(found, SKILL)
    await worktree.open()
    assert git(tmp_path / "theirs", "status", "--porcelain") == ""
    assert worktree.folder == tmp_path / "theirs" / ".autoresearch" / SKILL


@pytest.mark.parametrize(
    ("count", "named"), [(1, "f0"), (5, "f0, f1, f2, f3, f4"), (7, "f0, f1, f2, f3, f4 and 2 more")]
)
async def test_work_of_the_person_that_is_not_committed_is_named(
    tmp_path: Path, count: int, named: str
) -> None:
    folder = new_repository(tmp_path / "skill")
    repository = await repository_at(folder)
    await check_idle(repository)
    for place in range(count):
        (folder / f"f{place}").touch()
    with pytest.raises(ToolError, match=f"before the session: {named};"):
        await check_idle(repository)


async def test_a_name_of_a_changed_file_is_told_as_harmless_text(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / "a\x1b[2Jb\nc\u202e").touch()
    with pytest.raises(ToolError) as refused:
        await check_idle(await repository_at(folder))
    assert "before the session: ab c;" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MERGE_HEAD", "a merge; finish or abort it .*merge --abort"),
        ("CHERRY_PICK_HEAD", "a cherry-pick; finish or abort it .*cherry-pick --abort"),
        ("REVERT_HEAD", "a revert; finish or abort it .*revert --abort"),
        ("rebase-merge", "a rebase; finish or abort it .*rebase --abort"),
        ("rebase-apply", "a rebase; finish or abort it .*rebase --abort"),
        ("BISECT_LOG", "a bisection; finish or abort it .*bisect reset"),
    ],
)
async def test_what_the_person_is_in_the_middle_of_is_named(
    tmp_path: Path, name: str, told: str
) -> None:
    repository = await repository_at(new_repository(tmp_path / "skill"))
    (repository.store / name).touch()
    with pytest.raises(ToolError, match=f"in the middle of {told}"):
        await check_idle(repository)


# -- a worktree ----------------------------------------------------------------------------


async def opened(tmp_path: Path) -> Worktree:
    worktree = Worktree(await repository_at(new_repository(tmp_path / "skill")), SKILL)
    await worktree.open()
    return worktree


async def test_what_is_ours_is_excluded_once_and_behind_what_stands_there(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    exclude = folder / ".git" / "info" / "exclude"
    exclude.write_text("*.log")
    worktree = Worktree(await repository_at(folder), SKILL)
    for _ in range(2):
        await worktree.open()
        assert exclude.read_text() == "*.log\n/autoresearch.*\n/.autoresearch/\n"


async def test_changes_are_told_by_whether_git_knows_the_file_and_ours_are_none(
    tmp_path: Path,
) -> None:
    folder = (await opened(tmp_path)).folder
    (folder / "skill.py").write_text("changed")
    (folder / "SKILL.md").unlink()
    (folder / "sub").mkdir()
    for name in ("new.py", "with space.py", "sub/autoresearch.py", "autoresearch.jsonl", "a.log"):
        (folder / name).touch()
    new_repository(folder / "inner")
    assert await changes_in(folder) == Changes(
        ("SKILL.md", "skill.py"), ("new.py", "sub/autoresearch.py", "with space.py"), ("inner/",)
    )


async def test_a_worktree_that_is_gone_is_made_anew_on_its_branch(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    (worktree.folder / "skill.py").write_text("kept\n")
    await worktree.advance(await worktree.prepare("kept"), "1")
    shutil.rmtree(worktree.folder)
    await worktree.open()
    assert (worktree.folder / "skill.py").read_text() == "kept\n"


async def test_a_worktree_on_another_branch_is_named(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    await worktree.check_branch()
    git(worktree.folder, "switch", "--quiet", "-c", "mine")
    with pytest.raises(ToolError, match=f"is on mine, not on autoresearch/{SKILL}; switch it"):
        await worktree.check_branch()
    git(worktree.folder, "switch", "--quiet", "--detach")
    with pytest.raises(ToolError, match="is on no branch, not on"):
        await worktree.check_branch()


async def test_who_has_no_name_in_git_commits_under_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await opened(tmp_path)
    for name in ("user.name", "user.email"):
        git(worktree.folder, "config", "--unset", name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    commit = await worktree.prepare("a message")
    assert git(worktree.folder, "log", "-1", "--format=%an %ae %s", commit) == (
        "service-tui autoresearch autoresearch@localhost a message"
    )


async def test_a_commit_moves_the_branch_only_later_and_once(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    before = await worktree.head()
    (worktree.folder / "new.py").touch()
    commit = await worktree.prepare("a message")
    assert await worktree.head() == before == await worktree.tip()
    for _ in range(2):
        assert await worktree.advance(commit, "1") == ""
        assert await worktree.head() == commit == await worktree.tip()
    refs = git(worktree.folder, "for-each-ref", "--format=%(refname)", "refs/autoresearch").split()
    assert refs == [f"refs/autoresearch/kept/{SKILL}/1", f"refs/autoresearch/tip/{SKILL}"]


async def test_two_kept_results_of_one_number_have_a_ref_each(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    kept: list[str] = []
    for text in ("a", "b"):
        (worktree.folder / "skill.py").write_text(text)
        kept.append(await worktree.prepare(text))
        await worktree.advance(kept[-1], "1")
    folder = worktree.folder
    assert kept == [
        git(folder, "rev-parse", f"refs/autoresearch/kept/{SKILL}/{name}") for name in ("1", "1-2")
    ]


async def test_a_hash_is_whole_or_empty(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    head = await worktree.head()
    assert await worktree.full_hash(head[:8]) == head
    assert await worktree.full_hash("bbbbbbbb") == ""


async def test_a_revert_keeps_what_is_there_and_touches_nothing_else(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    folder = worktree.folder
    script = (folder / "skill.py").read_text()
    for place in (1, 2):
        (folder / "sub" / "deep").mkdir(parents=True)
        (folder / "sub" / "deep" / "new.py").write_text("new")
        (folder / "skill.py").write_text(f"changed {place}")
        (folder / "kept.log").touch()
        ref = await worktree.revert("5")
        assert ref == f"refs/autoresearch/backup/{SKILL}/5" + ("" if place == 1 else "-2")
        assert git(folder, "show", f"{ref}:sub/deep/new.py") == "new"
        assert git(folder, "show", f"{ref}:skill.py") == f"changed {place}"
        assert git(folder, "log", "-1", "--format=%s", ref) == "what 5 left behind"
        assert (folder / "skill.py").read_text() == script
        assert (folder / "kept.log").exists()
        assert not (folder / "sub").exists()
    assert await worktree.revert("6") == ""


async def test_no_file_outside_of_the_worktree_is_removed(tmp_path: Path) -> None:
    worktree = await opened(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.py").touch()
    (worktree.folder / "link").symlink_to(outside)
    await worktree.revert("5")
    assert (outside / "mine.py").exists()
    assert not (worktree.folder / "link").is_symlink()


def test_the_places_of_a_repository() -> None:
    repository = Repository(Path("/r"), Path("/r/.git"))
    assert repository.file == Path("/r/autoresearch.jsonl")
    tree = Worktree(repository, "tides")
    assert (tree.folder, tree.branch) == (Path("/r/.autoresearch/tides"), "autoresearch/tides")
    assert Changes(("a",), ("b",), ("c/",)).paths == ("a", "b")


# -- links that lead elsewhere -------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    [
        ".git/info/exclude", ".git/logs/refs/heads/autoresearch/edge-picker", ".git/packed-refs",
        ".git/worktrees/edge-picker/index", ".git/worktrees/edge-picker/logs/HEAD",
        ".git/worktrees/edge-picker/HEAD", ".git/refs/heads/autoresearch/edge-picker",
    ],
)  # fmt: skip
async def test_nothing_is_written_through_a_link_that_a_run_made(tmp_path: Path, link: str) -> None:
    folder = new_repository(tmp_path / "skill")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of the person\n")
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).unlink(missing_ok=True)
    (folder / link).symlink_to(elsewhere)
    with pytest.raises(ToolError, match=rf"{link}.*link"):
        await worktree.open()
    assert elsewhere.read_text() == "of the person\n"


@pytest.mark.parametrize(
    "link",
    [
        ".autoresearch", ".git/refs/autoresearch", ".git/info", ".git/autoresearch",
        ".git/objects/ff",
    ],
)  # fmt: skip
async def test_no_worktree_is_made_where_a_link_stands_for_a_folder(
    tmp_path: Path, link: str
) -> None:
    folder, elsewhere = new_repository(tmp_path / "skill"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "keys.lock").touch()
    place = await repository_at(folder)
    shutil.rmtree(folder / link, ignore_errors=True)
    (folder / link).symlink_to(elsewhere)
    with pytest.raises(ToolError, match=rf"{link} is a link"):
        await Worktree(place, SKILL).open()
    assert [one.name for one in elsewhere.iterdir()] == ["keys.lock"]


async def test_a_worktree_that_its_store_does_not_know_is_refused(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    shutil.rmtree(folder / ".git" / "worktrees")
    (worktree.folder / ".git").write_text(f"gitdir: {new_repository(tmp_path / 'other')}/.git\n")
    for called in (worktree.open(), worktree.revert("1"), worktree.prepare("kept")):
        with pytest.raises(ToolError, match=r"knows no worktree .*; move that folder away"):
            await called


async def test_a_setting_that_leads_to_another_folder_makes_no_repository_of_it(
    tmp_path: Path,
) -> None:
    folder, away = new_repository(tmp_path / "skill"), tmp_path / "away"
    (folder / "inner").mkdir()
    away.mkdir()
    git(folder, "config", "core.worktree", str(away))
    for place in (folder, folder / "inner"):
        with pytest.raises(ToolError, match=rf"core.worktree of .* leads to {away}"):
            await repository_at(place)


async def test_a_store_that_leads_to_another_is_refused(tmp_path: Path) -> None:
    folder, other = new_repository(tmp_path / "skill"), new_repository(tmp_path / "other")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    (folder / ".git" / "commondir").write_text(f"{other}/.git\n")
    with pytest.raises(ToolError, match="leads git to another repository; remove it"):
        await worktree.open()
    with pytest.raises(ToolError, match="leads git to another repository; remove it"):
        await repository_at(folder)


async def test_a_worktree_without_its_files_yet_gets_them(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    worktree = Worktree(await repository_at(folder), SKILL)
    words = ("worktree", "add", "--quiet", "--no-checkout", "-b", worktree.branch)
    git(folder, *words, str(worktree.folder))
    await worktree.open()
    assert (worktree.folder / "skill.py").exists()
    assert await worktree.untouched() == ()
