"""What a worktree asks of git, word by word, and what it makes of the answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from service_tui.autoresearch import worktree as module
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import (
    Changes,
    Repository,
    Worktree,
    changes_in,
    check_idle,
    repository_at,
)

HEAD: Final = "a" * 40
NEXT: Final = "b" * 40


class Git:
    """A git that answers from a table, and notes its calls."""

    def __init__(self) -> None:
        self.answers: dict[str, str | ToolError] = {}
        self.calls: list[tuple[str, ...]] = []
        self.given: dict[str, bytes] = {}
        self.env: dict[str, Mapping[str, str]] = {}

    async def __call__(
        self, folder: Path, *words: str, env: Mapping[str, str] | None = None, given: bytes = b""
    ) -> bytes:
        self.calls.append((folder.name, *words))
        self.given[words[0]] = given
        self.env[words[0]] = dict(env or {})
        text = " ".join(words)
        found = next((one for key, one in self.answers.items() if text.startswith(key)), "")
        if isinstance(found, ToolError):
            raise found
        return found.encode()

    @property
    def words(self) -> list[str]:
        return [" ".join(call[1:]) for call in self.calls]


@pytest.fixture
def git(monkeypatch: pytest.MonkeyPatch) -> Git:
    made = Git()
    made.answers = {"rev-parse HEAD": f"{HEAD}\n", "rev-parse --abbrev-ref": "autoresearch/tides\n"}
    monkeypatch.setattr(module, "git", made)
    return made


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    store = tmp_path / "store"
    store.mkdir()
    return Worktree(Repository(tmp_path, store), "tides")


def status(*entries: str) -> str:
    return "".join(f"{entry}\0" for entry in entries)


def test_a_repository_names_its_places() -> None:
    repository = Repository(Path("/r"), Path("/s"))
    assert repository.file == Path("/r/autoresearch.jsonl")
    assert repository.place_of("tides") == Path("/r/.autoresearch/tides")
    tree = Worktree(repository, "tides")
    assert (tree.folder, tree.branch) == (Path("/r/.autoresearch/tides"), "autoresearch/tides")
    assert Changes(("a",), ("b",)).paths == ("a", "b")


async def test_changes_are_told_by_whether_git_knows_the_file_and_ours_are_none(
    git: Git, tmp_path: Path
) -> None:
    git.answers["status"] = status(
        " M a.py", "?? new.py", "D  gone.py", "?? autoresearch.jsonl", " M .autoresearch/x/y",
        "?? sub/autoresearch.py", "?? with space.py",
    )  # fmt: skip
    assert await changes_in(tmp_path) == Changes(
        ("a.py", "gone.py"), ("new.py", "sub/autoresearch.py", "with space.py")
    )
    assert git.words == ["status --porcelain=v1 -z --untracked-files=all --no-renames"]


@pytest.mark.parametrize(
    ("count", "named"), [(1, "f0"), (5, "f0, f1, f2, f3, f4"), (7, "f0, f1, f2, f3, f4 and 2 more")]
)
async def test_work_of_the_person_that_is_not_committed_is_named(
    git: Git, tree: Worktree, count: int, named: str
) -> None:
    git.answers["rev-parse --absolute-git-dir"] = str(tree.repository.store)
    await check_idle(tree.repository)
    git.answers["status"] = status(*(f" M f{n}" for n in range(count)))
    with pytest.raises(ToolError, match=f"before the session: {named};"):
        await check_idle(tree.repository)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("BISECT_LOG", "a bisection"),
    ],
)
async def test_what_the_person_is_in_the_middle_of_is_named(
    git: Git, tree: Worktree, name: str, operation: str
) -> None:
    git.answers["rev-parse --absolute-git-dir"] = f"{tree.repository.store}\n"
    (tree.repository.store / name).touch()
    with pytest.raises(ToolError, match=f"in the middle of {operation}; finish or abort it"):
        await check_idle(tree.repository)


async def test_a_repository_is_found_from_any_folder_in_it(git: Git, tmp_path: Path) -> None:
    git.answers |= {
        "rev-parse --show-toplevel": "/the/root\n", "rev-parse --git-common-dir": "../.git\n"
    }  # fmt: skip
    found = await repository_at(tmp_path)
    assert found == Repository(Path("/the/root"), (tmp_path.parent / ".git").resolve())
    assert git.words[-1] == "rev-parse --verify HEAD^{commit}"
    assert git.calls[-1][0] == "root"


REFUSALS: Final = [
    ("rev-parse --show-toplevel", "git was not found", "git was not found"),
    ("rev-parse --show-toplevel", "no", "is not in a git repository; run 'git init'"),
    ("rev-parse --verify", "no", "has no commit yet; commit the skill first"),
]


@pytest.mark.parametrize("case", REFUSALS)
async def test_a_folder_that_cannot_be_worked_in_is_told_why(
    git: Git, tmp_path: Path, case: tuple[str, str, str]
) -> None:
    asked, says, told = case
    git.answers[asked] = ToolError(says)
    with pytest.raises(ToolError, match=told):
        await repository_at(tmp_path)
    with pytest.raises(ToolError, match="is not a folder"):
        await repository_at(tmp_path / "nothing")


async def test_a_new_worktree_begins_a_branch_at_the_last_commit(git: Git, tree: Worktree) -> None:
    await tree.open()
    folder, store = tree.folder, tree.repository.store
    assert git.words[-1] == (f"worktree add --quiet -b autoresearch/tides {folder} HEAD")
    assert folder.parent.is_dir()
    exclude = store / "info" / "exclude"
    assert exclude.read_text() == "/autoresearch.*\n/.autoresearch/\n"
    exclude.write_text("/autoresearch.*\n*.log")
    await tree.open()
    assert exclude.read_text() == "/autoresearch.*\n*.log\n/.autoresearch/\n"
    await tree.open()
    assert exclude.read_text() == "/autoresearch.*\n*.log\n/.autoresearch/\n"


async def test_a_branch_of_before_is_taken_up_and_a_worktree_that_is_gone_made_anew(
    git: Git, tree: Worktree
) -> None:
    git.answers["branch --list"] = "autoresearch/tides\n"
    await tree.open()
    assert git.words[-1] == f"worktree add --quiet {tree.folder} autoresearch/tides"
    git.answers["worktree list"] = f"worktree /x\nworktree {tree.folder}\nHEAD {HEAD}\n"
    await tree.open()
    assert git.words[-1] == f"worktree add --quiet --force {tree.folder} autoresearch/tides"


async def test_a_worktree_that_is_there_is_used_on_its_own_branch_alone(
    git: Git, tree: Worktree
) -> None:
    (tree.folder / ".git").mkdir(parents=True)
    git.answers["rev-parse --absolute-git-dir"] = str(tree.repository.store)
    await tree.open()
    assert not any(words.startswith("worktree") for words in git.words)
    (tree.repository.store / "MERGE_HEAD").touch()
    with pytest.raises(ToolError, match="in the middle of a merge"):
        await tree.open()
    git.answers["rev-parse --abbrev-ref"] = "main\n"
    with pytest.raises(ToolError, match="is on main, not on autoresearch/tides"):
        await tree.open()


async def test_a_commit_is_made_of_every_change_and_moves_the_branch_later(
    git: Git, tree: Worktree
) -> None:
    git.answers |= {
        "status": status(" M a.py", "?? b.py"), "write-tree": "t1\n", "commit-tree": f"{NEXT}\n"
    }  # fmt: skip
    assert await tree.prepare("a message") == NEXT
    assert git.words[1:] == [
        "add --pathspec-from-file=- --pathspec-file-nul", "write-tree",
        "var GIT_COMMITTER_IDENT", "commit-tree t1 -p HEAD -F -",
    ]  # fmt: skip
    assert git.given["add"] == b"a.py\0b.py"
    assert git.given["commit-tree"] == b"a message"
    assert git.env["commit-tree"] == {}


async def test_who_has_no_name_in_git_commits_under_ours(git: Git, tree: Worktree) -> None:
    git.answers |= {"var": ToolError("who are you"), "commit-tree": NEXT}
    await tree.prepare("a message")
    name, address = "service-tui autoresearch", "autoresearch@localhost"
    assert git.env["commit-tree"] == {
        "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address,
    }  # fmt: skip
    assert not any(words.startswith("add") for words in git.words)


async def test_a_branch_is_moved_from_where_it_was_and_once(git: Git, tree: Worktree) -> None:
    await tree.advance(HEAD)
    assert git.words == ["rev-parse HEAD"]
    await tree.advance(NEXT)
    assert git.words[2:] == [
        f"update-ref -m autoresearch: keep HEAD {NEXT} {HEAD}", "reset --quiet --mixed HEAD"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parent", "is_next"), [(HEAD, True), (NEXT, False), (ToolError("no"), False)]
)
async def test_a_commit_is_the_next_one_on_the_last_one_alone(
    git: Git, tree: Worktree, parent: Any, *, is_next: bool
) -> None:
    git.answers[f"rev-parse --verify {NEXT}^"] = parent
    assert await tree.is_next(NEXT) is is_next


async def test_a_hash_is_whole_or_empty(git: Git, tree: Worktree) -> None:
    git.answers["rev-parse --verify aaa^{commit}"] = f"{HEAD}\n"
    assert await tree.full_hash("aaa") == HEAD
    git.answers["rev-parse --verify"] = ToolError("no")
    assert await tree.full_hash("bbb") == ""


async def test_a_revert_keeps_what_is_there_and_touches_nothing_else(
    git: Git, tree: Worktree
) -> None:
    (tree.folder / "sub" / "deep").mkdir(parents=True)
    for name in ("a.py", "sub/deep/new.py", "kept.py"):
        (tree.folder / name).touch()
    git.answers |= {
        "status": status(" M a.py", "?? sub/deep/new.py"), "write-tree": "t1",
        "commit-tree": NEXT, "rev-parse --verify refs": ToolError("no"),
    }  # fmt: skip
    ref = "refs/autoresearch/backup/tides/5"
    assert await tree.revert("5") == ref
    assert git.words[0] == "reset --quiet --mixed HEAD"
    assert git.words[2:5] == [
        "read-tree HEAD", "add --pathspec-from-file=- --pathspec-file-nul", "write-tree"
    ]  # fmt: skip
    assert list(git.env["write-tree"]) == ["GIT_INDEX_FILE"]
    assert git.env["read-tree"] == git.env["add"] == git.env["write-tree"]
    assert git.given["commit-tree"] == b"what 5 left behind"
    assert git.words[-2:] == [
        f"update-ref -m autoresearch: backup {ref} {NEXT}",
        "checkout --quiet HEAD --pathspec-from-file=- --pathspec-file-nul",
    ]
    assert git.given["checkout"] == b"a.py"
    assert sorted(one.name for one in tree.folder.iterdir()) == ["a.py", "kept.py"]


async def test_a_backup_takes_a_name_that_is_free(git: Git, tree: Worktree) -> None:
    git.answers |= {
        "status": status("?? new.py"), "commit-tree": NEXT,
        "rev-parse --verify refs/autoresearch/backup/tides/5-3": ToolError("no"),
        "rev-parse --verify refs": HEAD,
    }  # fmt: skip
    assert await tree.revert("5") == "refs/autoresearch/backup/tides/5-3"
    assert not any(words.startswith("checkout") for words in git.words)


async def test_where_nothing_changed_nothing_is_kept(git: Git, tree: Worktree) -> None:
    assert await tree.revert("5") == ""
    assert len(git.words) == 2


async def test_no_file_outside_of_the_worktree_is_removed(
    git: Git, tree: Worktree, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.py").touch()
    tree.folder.mkdir(parents=True)
    (tree.folder / "link").symlink_to(outside)
    (tree.folder / "folder").mkdir()
    git.answers |= {
        "status": status("?? link/mine.py", "?? folder/"), "commit-tree": NEXT,
        "rev-parse --verify refs": ToolError("no"),
    }  # fmt: skip
    await tree.revert("5")
    assert (outside / "mine.py").exists()
    assert (tree.folder / "folder").is_dir()


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("hint: look\nfatal: no such ref\nhint: more", "fatal: no such ref"),
        ("one\ntwo\n", "two"),
        ("", "refused"),
        ("error: broken\nfatal: worse", "error: broken"),
    ],
)
def test_of_what_git_says_the_reason_is_told(output: str, reason: str) -> None:
    assert module._reason(output) == reason
