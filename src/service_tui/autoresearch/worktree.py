"""A git worktree on a branch for experiments: commits kept ones, reverts the others.

Hooks are off, nothing goes through a shell, only listed paths are touched: never what git ignores,
never `autoresearch.*`, never a path outside of the worktree. Before every revert what is there is
kept under a ref. A command that runs may commit, reset, rebase or switch by itself: where the last
logged result left the branch is therefore a ref of ours, and so is every kept result. Source:
failures, T-17; decisions, "Experiments" and "What a run committed itself".
"""

import asyncio
import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from service_tui import pinned_git
from service_tui.autoresearch.errors import ToolError
from service_tui.plain_files import open_below, read_plain, write_below
from service_tui.wire.text import line

PLACE: Final = ".autoresearch"
OWN: Final = "autoresearch."
BRANCH: Final = "autoresearch"
REFS: Final = "refs/autoresearch"
BACKUPS: Final = f"{REFS}/backup"
KEPT: Final = f"{REFS}/kept"
TIPS: Final = f"{REFS}/tip"
NAMED: Final = 5
COMMON: Final = "commondir"
"""By this file git finds, from what belongs to one worktree, what all of them share."""

LOOKS: Final = 3
"""Rounds of a revert: ignore rules that it restores may show files which a run had hidden."""

ASIDE: Final = "aside"
LOCK_S: Final = 1.0
LOOK_S: Final = 0.1
"""A lock that is still there after the first of these, looked for each of the second, is stale."""

IDENTITY: Final = ("service-tui autoresearch", "autoresearch@localhost")
UNFINISHED: Final = {
    "MERGE_HEAD": ("a merge", "merge --abort"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "cherry-pick --abort"),
    "REVERT_HEAD": ("a revert", "revert --abort"),
    "rebase-merge": ("a rebase", "rebase --abort"),
    "rebase-apply": ("a rebase", "rebase --abort"),
    "BISECT_LOG": ("a bisection", "bisect reset"),
}
"""What git is in the middle of by the files it leaves, and the command that aborts it."""

SUBMODULE: Final = "160000 "
"""Begins the line of a submodule in an index."""

NO_REPOSITORY: Final = "not a git repository"
INIT_FIX: Final = "run 'git init', commit the skill, then start again"
FIXES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), fix)
    for pattern, fix in (
        (
            r"dubious ownership in repository at '(?P<path>.*)'",
            "if you trust its owner, run 'git config --global --add safe.directory {path}'",
        ),
        (r"bad config line", "mend that line of the file, then start again"),
        (r"bad \w+ config value", "mend that value with 'git config', then start again"),
        (
            r"unknown repository extension|Expected git repo version",
            "install a git that knows it, or work in a clone without it",
        ),
        (
            r"must be run in a work tree|cannot use bare repository",
            "there is no working tree here: start the server in a clone, or a 'git worktree'",
        ),
        (r"invalid gitfile format|not a git repository: ", "mend its .git file, or clone it anew"),
        (
            r"'refs/heads/(?P<name>[^']+)' exists; cannot create",
            "two branches cannot be named so: run 'git branch -m {name} ANOTHER-NAME'",
        ),
        (
            r"(?:already checked out|already used by worktree) at '(?P<path>.*)'",
            "switch that worktree to another branch: 'git -C {path} switch --detach'",
        ),
        (r"\.lock': File exists", "if no git works there, remove that file"),
        (r"filter '?.*'? failed", "install that filter, or take it out of .gitattributes"),
        (
            r"could not fetch|missing blob|unable to read sha1 file",
            "it is a partial clone: fetch what it lacks with 'git fetch --refetch --no-filter'",
        ),
        (r"No space left on device", "make room, then try again"),
        (
            r"Permission denied|Read-only file system|insufficient permission",
            "give the server a repository that it may write",
        ),
    )
)
"""What to do about what git says."""


class GitError(ToolError):
    """Git refused; `reason` is its own, as harmless text."""

    def __init__(self, reason: str, problem: str, fix: str = "") -> None:
        super().__init__(problem, fix)
        self.reason = reason


async def git(
    folder: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    at: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> bytes:
    """Have git do something; `at` as for `pinned_git.call`.

    Returns:
        Its standard output.

    Raises:
        GitError: it refuses.
        ToolError: there is no git, or it cannot be started there.
    """
    try:
        called = await pinned_git.call(folder, *arguments, env=env, at=at, given=given)
    except FileNotFoundError as error:
        raise ToolError("git was not found", "install git, or put it on the PATH") from error
    except OSError as error:
        raise ToolError(f"{folder} cannot be used ({error.strerror})") from error
    if called.is_late:
        raise ToolError(f"git {arguments[0]} took longer than {pinned_git.WITHIN_S:.0f} s")
    if called.code:
        reason = reason_of(called.wrong)
        raise GitError(reason, f"git {arguments[0]}: {reason}", fix_of(reason))
    return called.output


def reason_of(output: str) -> str:
    """The line of git's output that names the problem, without advice, as harmless text.

    A line that ends in a colon announces what stands in the next.
    """
    lines = output.strip().splitlines() or ["refused"]
    first = next(
        (n for n, one in enumerate(lines) if one.startswith(("fatal:", "error:"))), len(lines) - 1
    )
    named = lines[first + 1 : first + 2] if lines[first].endswith(":") else []
    return line(" ".join((lines[first], *named)))


def fix_of(reason: str) -> str:
    """What to do about a reason of git's; empty where it is not known.

    Its commands can be pasted into a shell, whatever the names in them hold.
    """
    for pattern, fix in FIXES:
        if found := pattern.search(reason):
            named = found.groupdict()
            return fix.format(**{name: shlex.quote(text) for name, text in named.items()})
    return ""


def named_among(paths: Sequence[str]) -> str:
    """The first paths as harmless text, and how many more there are."""
    named = ", ".join(line(one) for one in paths[:NAMED])
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return f"{named}{more}"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes since the last commit: tracked paths, and new files.

    `nested` are repositories of their own that lie in it: git takes no file of theirs.
    """

    tracked: tuple[str, ...]
    new: tuple[str, ...]
    nested: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All changed paths, without nested repositories."""
        return (*self.tracked, *self.new)


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository of the person: `root` is its working tree, `store` where git keeps it.

    `own` is where git keeps what belongs to this working tree alone; None for the store itself.
    """

    root: Path
    store: Path
    own: Path | None = field(default=None, compare=False)

    @property
    def at(self) -> dict[str, str]:
        """The variables by which git works here, whatever a run makes of its files."""
        return pinned_git.at_place(self.root, self.own or self.store, self.store)

    @property
    def file(self) -> Path:
        """Path of its session file."""
        return self.root / "autoresearch.jsonl"

    def place_of(self, skill: str) -> Path:
        """The worktree in which a skill's experiments run."""
        return self.root / PLACE / skill


async def repository_at(folder: Path) -> Repository:
    """Find the repository around a folder.

    Returns:
        The repository.

    Raises:
        ToolError: there is none, git refuses it, or it has no working tree or no commit yet.
    """
    if not os.path.isdir(folder):  # noqa: ASYNC240, PTH112  (once, before anything else)
        raise ToolError(f"{folder} is not a folder", "start the server in the skill's repository")
    try:
        root, own, store = [
            (await git(folder, "rev-parse", word, at={})).decode().strip()
            for word in ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        ]
    except GitError as error:
        if NO_REPOSITORY in error.reason and not fix_of(error.reason):
            raise ToolError(f"{folder} is not in a git repository", INIT_FIX) from error
        raise ToolError(f"git cannot use {folder}: {error.reason}", fix_of(error.reason)) from error
    repository = _checked(folder, Path(root), Path(own), folder / store)
    await _check_commit(repository)
    return repository


def _checked(folder: Path, root: Path, own: Path, store: Path) -> Repository:
    """Refuse a working tree that a setting, not the place of its `.git`, makes one."""
    own, store = own.resolve(), store.resolve()
    _refuse_other_store(own if own.parent.name != "worktrees" else store)
    link = root / ".git"
    around = folder.resolve()
    is_there = link.resolve() == own if link.is_dir() else _leads_to(link, own)
    if is_there and root in (around, *around.parents):
        return Repository(root, store, own)
    raise ToolError(
        f"core.worktree of {own} leads to {root}, where that repository does not lie",
        "take that setting out: 'git config --unset core.worktree', also with --worktree",
    )


async def _check_commit(repository: Repository) -> None:
    """Refuse a repository without a commit, or whose last commit is lost."""
    root = repository.root
    try:
        await git(root, "rev-parse", "--verify", "HEAD", at=repository.at)
    except GitError as error:
        raise ToolError("the repository has no commit yet", "commit the skill first") from error
    try:
        await git(root, "rev-parse", "--verify", "HEAD^{tree}", at=repository.at)
    except GitError as error:
        raise ToolError(
            f"git cannot read the last commit of {root}: {error.reason}",
            "'git fsck' names what is lost; fetch it again, or clone the repository anew",
        ) from error


async def check_idle(repository: Repository) -> None:
    """Refuse a repository in which the person is in the middle of something.

    Raises:
        ToolError: there are uncommitted changes, or a merge or the like is unfinished.
    """
    await _check_finished(repository.root, repository.at)
    changed = await changes_in(repository.root, repository.at)
    if changed.paths:
        raise ToolError(
            f"there are uncommitted changes from before the session: {named_among(changed.paths)}",
            "commit them, or put them away with 'git stash -u', then call init_experiment again",
        )


async def _check_finished(folder: Path, at: Mapping[str, str]) -> None:
    store = Path((await git(folder, "rev-parse", "--absolute-git-dir", at=at)).decode().strip())
    for name, (operation, end) in UNFINISHED.items():
        if (store / name).exists():
            raise ToolError(
                f"{folder} is in the middle of {operation}",
                f"finish or abort it ('git -C {shlex.quote(str(folder))} {end}'), try again",
            )


async def changes_in(folder: Path, at: Mapping[str, str] | None = None) -> Changes:
    """Changes since the last commit, without ignored files and ours; `at` as for `git`."""
    output = await git(
        folder,
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        # Of a submodule its commit alone: git would look into it with its settings.
        "--ignore-submodules=dirty",
        at=at,
    )
    tracked: list[str] = []
    new: list[str] = []
    nested: list[str] = []
    for entry in output.decode(errors="surrogateescape").split("\0"):
        state, path = entry[:2], entry[3:]
        if not path or _is_ours(path):
            continue
        if path.endswith("/"):
            nested.append(path)
        else:
            (new if state == "??" else tracked).append(path)
    tracked += [one for one in await _changed_submodules(folder, at) if one not in tracked]
    return Changes(tuple(tracked), tuple(new), tuple(nested))


async def _changed_submodules(folder: Path, at: Mapping[str, str] | None) -> list[str]:
    """Submodules with changes of their own, each looked into with its own settings pinned."""
    output = await git(folder, "ls-files", "--stage", "-z", at=at)
    listed = output.decode(errors="surrogateescape")
    changed: list[str] = []
    for entry in listed.split("\0"):
        state, _, path = entry.partition("\t")
        if not state.startswith(SUBMODULE) or _is_ours(path):
            continue
        inner = folder / path
        if inner.is_symlink() or not (inner / ".git").exists():
            continue
        try:
            is_changed = bool((await changes_in(inner)).paths)
        except GitError:
            is_changed = True
        if is_changed:
            changed.append(path)
    return changed


def _is_ours(path: str) -> bool:
    first = PurePosixPath(path).parts[0]
    return first.startswith(OWN) or first == PLACE


@dataclass(frozen=True, slots=True)
class Worktree:
    """Worktree of a skill's experiments."""

    repository: Repository
    skill: str

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.repository.place_of(self.skill)

    @property
    def branch(self) -> str:
        """The branch on which it commits."""
        return f"{BRANCH}/{self.skill}"

    @property
    def _branch_ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def _tip_ref(self) -> str:
        return f"{TIPS}/{self.skill}"

    def _at(self) -> dict[str, str]:
        """Where git works: by what its store says of this folder, not by a file in the folder."""
        own = self._own_store()
        if own is None:
            raise ToolError(
                f"git knows no worktree {self.folder}, though something is there",
                "move that folder away, then try again",
            )
        store = self.repository.store
        shared = own / COMMON
        if not _is_text_of(shared, store):
            # Git finds its refs by this file alone, and a run may have led it elsewhere.
            try:
                write_below(store, shared, b"../..\n")
            except OSError as error:
                raise ToolError(f"{shared} cannot be written ({error.strerror})") from error
        return pinned_git.at_place(self.folder, own, store)

    async def _git(
        self, *arguments: str, env: Mapping[str, str] | None = None, given: bytes = b""
    ) -> bytes:
        return await git(self.folder, *arguments, env=env, at=self._at(), given=given)

    async def open(self) -> None:
        """Make the worktree, or use the existing one.

        Raises:
            ToolError: the folder cannot be written, is in the middle of a merge, or git refuses.
        """
        root, at = self.repository.root, self.repository.at
        self._refuse_links()
        _refuse_other_store(self.repository.store)
        try:
            _exclude(self.repository.store)
            self.folder.parent.mkdir(exist_ok=True)
            await self._set_right()
        except OSError as error:
            raise ToolError(
                f"{error.filename or root} cannot be written ({error.strerror})",
                "give the server a repository that it may write",
            ) from error
        listed = (await git(root, "worktree", "list", "--porcelain", at=at)).decode(
            errors="replace"
        )
        is_known = f"worktree {self.folder}" in listed.split("\n")
        if is_known and self.folder.is_dir() and not (self.folder / ".git").exists():
            # A command removed the link by which git finds its way back; the files are all there.
            with suppress(GitError):
                await git(root, "worktree", "repair", str(self.folder), at=at)
        if (self.folder / ".git").exists():
            await self._open_again()
            return
        # Known and removed by hand: taken anew. Others that are away now stay known to git.
        anew = ("--force",) if is_known else ()
        known = await _hash_of(self._branch_ref, root, at)
        new = () if known else ("-b", self.branch)
        target = (self.branch,) if known else ("HEAD",)
        # Settings may hold in that folder alone: the files come only after they are listed there.
        words = ("worktree", "add", "--quiet", "--no-checkout", *anew, *new)
        await git(root, *words, str(self.folder), *target, at=at)
        await self._git("reset", "--quiet", "--hard")
        if not known or not await self.full_hash(self._tip_ref):
            await self._point(self._tip_ref, await self.head())

    async def _set_right(self) -> None:
        """Undo what a run did to the files by which git finds this worktree, and to its locks.

        A git of the person has a moment to give its locks back.
        """
        own = self._linked()
        waited = 0.0
        while locks := self._locks(own):
            if waited >= LOCK_S:
                for one in locks:
                    one.unlink(missing_ok=True)
                return
            await asyncio.sleep(LOOK_S)
            waited += LOOK_S

    def _linked(self) -> Path | None:
        """Where git keeps what it knows of this worktree, to which its link leads again.

        What a run put in the link's place is set aside, in the repository's store.
        """
        if self.folder.is_symlink():
            # Whatever lies behind it is none of ours; the folder is made anew.
            self.folder.unlink()
        own = self._own_store()
        if own is None:
            return None
        link = self.folder / ".git"
        if os.path.lexists(link) and not _leads_to(link, own):
            place = self.repository.store / BRANCH / ASIDE
            place.mkdir(parents=True, exist_ok=True)
            taken = len([*place.iterdir()])
            link.rename(place / f"{self.skill}-{taken + 1}")
        if self.folder.is_dir() and not os.path.lexists(link):
            text = f"gitdir: {own}\n".encode(errors="surrogateescape")
            write_below(self.repository.root, link, text)
        return own

    def _locks(self, own: Path | None) -> list[Path]:
        """Locks of its index, its HEAD, its branch and our refs."""
        store = self.repository.store
        found = [store / f"{self._branch_ref}.lock", *(store / REFS).rglob("*.lock")]
        found += [] if own is None else own.glob("*.lock")
        return [one for one in found if one.is_file()]

    def _own_store(self) -> Path | None:
        """Where git keeps what it knows of this worktree; None before it knows it."""
        wanted = str(self.folder / ".git")
        for one in sorted((self.repository.store / "worktrees").glob("*/gitdir")):
            with suppress(OSError, ValueError):
                text = one.read_text(encoding="utf-8", errors="surrogateescape").strip()
                is_ours = os.path.normpath(one.parent / text) == wanted
                if is_ours and not one.parent.is_symlink():
                    return one.parent
        return None

    def _refuse_links(self) -> None:
        """Refuse links where git or this program would write: they may lead to anywhere."""
        store = self.repository.store
        notes = store / BRANCH
        named = [self.folder.parent, notes, notes / ASIDE, store / "info", store / "packed-refs"]
        named += [store / "objects", *(store / "objects").glob("*")]
        walked = [store / "refs", store / "logs", store / "worktrees"]
        below = (
            Path(folder) / name
            for one in walked
            for folder, folders, files in os.walk(one)
            for name in (*folders, *files)
        )
        for path in (*named, *walked, *below):
            if path.is_symlink():
                raise ToolError(
                    f"{path} is a link: what is written there would land elsewhere",
                    "remove that link, then try again",
                )

    async def _open_again(self) -> None:
        own = self._own_store()
        if own is not None and not (own / "index").exists() and not self._has_files():
            # A server ended between making the worktree and taking its files out.
            await self._git("reset", "--quiet", "--hard")
        # A revert would undo a resolved conflict, a commit forget what was merged.
        await _check_finished(self.folder, self._at())
        tip = await self.tip()
        if tip and not await self.full_hash("HEAD"):
            await self._point(self._branch_ref, tip)
        await self._point(self._tip_ref, tip or await self.head())

    def _has_files(self) -> bool:
        return any(one.name != ".git" for one in self.folder.iterdir())

    async def check_branch(self) -> None:
        """Refuse a worktree that was switched to another branch.

        Raises:
            ToolError: it is not on its own.
        """
        here = await self._on()
        if here != self._branch_ref:
            named = here.removeprefix("refs/heads/") or "no branch"
            where = shlex.quote(str(self.folder))
            raise ToolError(
                f"{self.folder} is on {named}, not on {self.branch}",
                f"switch it back with 'git -C {where} switch {self.branch}', or log the "
                "experiment, which does it",
            )

    async def head(self) -> str:
        """The hash of its last commit."""
        return (await self._git("rev-parse", "HEAD")).decode().strip()

    async def tip(self) -> str:
        """The commit at which the last logged result left the branch; empty where there is none.

        Before the first result it is where the branch began.
        """
        return await self.full_hash(self._tip_ref) or await self.full_hash(self._branch_ref)

    async def _on(self) -> str:
        """The ref of the branch that it is on; empty where HEAD is detached."""
        try:
            output = await self._git("symbolic-ref", "--quiet", "HEAD")
        except GitError:
            return ""
        return output.decode(errors="replace").strip()

    async def untouched(self) -> tuple[str, ...]:
        """What is changed still after a result: other repositories in it, and what resists."""
        changed = await changes_in(self.folder, self._at())
        return (*changed.nested, *changed.paths)

    async def prepare(self, message: str) -> str:
        """Commit of every change, to which the branch does not point yet.

        It follows what a run committed itself, unless that left out what was logged before.

        Returns:
            Its hash.
        """
        tree = await self._tree((await changes_in(self.folder, self._at())).paths, Path())
        tip, head = await self.tip(), await self.head()
        return await self._commit(tree, message, (tip if await self._lost(tip, (head,)) else head,))

    async def advance(self, commit: str, name: str) -> str:
        """Move the branch to a prepared commit and give it a ref; harmless if that is done.

        Returns:
            The ref of commits that the branch leaves behind; empty where there are none.
        """
        await self._point(await self._free_ref(f"{KEPT}/{self.skill}/{name}", commit), commit)
        backup = await self._back_up_strays(commit, name)
        await self._stand_at(commit)
        return backup

    async def full_hash(self, short: str) -> str:
        """The whole hash of a commit; empty where there is none."""
        return await _hash_of(short, self.folder, self._at())

    async def revert(self, name: str) -> str:
        """Make everything as the last logged result left it, after keeping what is there.

        Returns:
            The ref under which it is kept; empty where nothing had changed.
        """
        tip = await self.tip()
        before = await self._tree_of("HEAD")
        ref = await self._back_up_strays(tip, name)
        await self._stand_at(tip)
        with tempfile.TemporaryDirectory() as folder:
            index = Path(folder) / "index"
            await self._git("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
            for _ in range(LOOKS):
                changed = await changes_in(self.folder, self._at())
                if not changed.paths:
                    break
                tree = await self._tree(changed.paths, index)
                if tree != before:
                    ref = await self._back_up(tree, ref, tip, name)
                    before = tree
                await self._restore(changed)
        return ref

    async def _restore(self, changed: Changes) -> None:
        if changed.tracked:
            await self._git("checkout", "--quiet", "HEAD", "--pathspec-from-file=-",
                "--pathspec-file-nul", given=_listed(changed.tracked),
            )  # fmt: skip
        for path in changed.new:
            self._remove(path)

    async def _stand_at(self, commit: str) -> None:
        """Be on the branch, at a commit, as of which the next result counts; no file is changed."""
        await self._point(self._branch_ref, commit)
        if await self._on() != self._branch_ref:
            await self._git("symbolic-ref", "-m", BRANCH, "HEAD", self._branch_ref)
        await self._git("reset", "--quiet", "--mixed", "HEAD")
        await self._point(self._tip_ref, commit)

    async def _point(self, ref: str, commit: str) -> None:
        if await self.full_hash(ref) != commit:
            await self._git("update-ref", "-m", f"{BRANCH}: {ref}", ref, commit)

    # -- what would be lost ----------------------------------------------------------------

    async def _lost(self, commit: str, kept: Sequence[str], *patterns: str) -> bool:
        """True if neither some commits nor refs of these patterns lead to a commit."""
        refs = (f"--glob={pattern}" for pattern in patterns)
        return bool(
            await self._git("rev-list", "--max-count=1", commit, "--not", *kept, *refs
            )
        )  # fmt: skip

    async def _back_up_strays(self, target: str, name: str) -> str:
        """Keep commits that the branch and a detached HEAD leave behind on the way to `target`.

        Another branch to which a run switched keeps its own.
        """
        at = [await self.full_hash(self._branch_ref)]
        if not await self._on():
            at.append(await self.full_hash("HEAD"))
        strays = [
            one
            for one in dict.fromkeys(at)
            if one and await self._lost(one, (target,), f"{REFS}/*")
        ]
        if not strays:
            return ""
        commit = strays[0]
        if len(strays) > 1:
            tree = await self._tree_of(strays[-1])
            commit = await self._commit(tree, f"what {name} committed", strays)
        return await self._keep_backup(commit, name)

    async def _back_up(self, tree: str, ref: str, tip: str, name: str) -> str:
        """Keep a tree under a ref, after what that holds already."""
        commit = await self._commit(tree, f"what {name} left behind", (ref or tip,))
        if not ref:
            return await self._keep_backup(commit, name)
        await self._point(ref, commit)
        return ref

    async def _keep_backup(self, commit: str, name: str) -> str:
        ref = await self._free_ref(f"{BACKUPS}/{self.skill}/{name}")
        await self._point(ref, commit)
        return ref

    async def _free_ref(self, ref: str, same: str = "") -> str:
        """A ref that points nowhere, or to `same` already."""
        place = 1
        while True:
            one = ref if place == 1 else f"{ref}-{place}"
            if await self.full_hash(one) in {"", same}:
                return one
            place += 1

    async def _tree_of(self, commit: str) -> str:
        output = await self._git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")
        return output.decode().strip()

    async def _tree(self, paths: Sequence[str], index: Path) -> str:
        """A tree of what an index holds, git's own by default, with these paths as they are now."""
        env = {"GIT_INDEX_FILE": str(index)} if index.name else {}
        # What is gone leaves first: a folder may have become a link, a file a folder. Not `add`:
        # that refuses what lies beyond a link, and outside of a sparse checkout.
        gone = [path for path in paths if not self._is_there(path)]
        there = [path for path in paths if self._is_there(path)]
        for kind, some in (("--force-remove", gone), ("--add", there)):
            if some:
                await self._git("update-index", "--replace", kind, "-z", "--stdin", env=env,
                    given=_listed(some),
                )  # fmt: skip
        return (await self._git("write-tree", env=env)).decode().strip()

    def _is_there(self, path: str) -> bool:
        """True if a path is a file, a link or a submodule, and no link leads to it."""
        full = self.folder / path
        inside = full.parents[: len(PurePosixPath(path).parts) - 1]
        if any(parent.is_symlink() for parent in inside):
            return False
        return full.is_symlink() or full.is_file() or (full / ".git").exists()

    async def _commit(self, tree: str, message: str, parents: Sequence[str]) -> str:
        env: dict[str, str] = {}
        try:
            await self._git("var", "GIT_COMMITTER_IDENT")
        except ToolError:
            name, address = IDENTITY
            env = {
                "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address,
                "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address,
            }  # fmt: skip
        follows = [word for parent in parents for word in ("-p", parent)]
        output = await self._git("commit-tree", tree, *follows, "-F", "-", env=env,
            given=message.encode(errors="replace"),
        )  # fmt: skip
        return output.decode().strip()

    def _remove(self, path: str) -> None:
        """Remove a new file, and the folders that it leaves empty; what resists is left."""
        full = self.folder / path
        if (
            self.folder.resolve() not in full.parent.resolve().parents
            and full.parent.resolve() != self.folder.resolve()
        ):
            return
        try:
            full.unlink()
            for parent in full.parents:
                if parent == self.folder:
                    return
                parent.rmdir()
        except OSError:
            return


async def _hash_of(short: str, folder: Path, at: Mapping[str, str]) -> str:
    words = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{short}^{{commit}}")
    try:
        return (await git(folder, *words, at=at)).decode().strip()
    except GitError:
        return ""


def _is_text_of(file: Path, folder: Path) -> bool:
    """True for a file that names a folder, from where it lies."""
    try:
        text = read_plain(file).decode(errors="surrogateescape").strip()
        return (file.parent / text).resolve() == folder
    except (OSError, ValueError):
        return False


def _refuse_other_store(store: Path) -> None:
    if os.path.lexists(store / COMMON):
        raise ToolError(
            f"{store / COMMON} leads git to another repository", "remove it, then try again"
        )


def _leads_to(link: Path, store: Path) -> bool:
    """True for the file by which git finds the store of a worktree."""
    if link.is_symlink() or not link.is_file():
        return False
    text = link.read_text(encoding="utf-8", errors="surrogateescape")
    named = text.removeprefix("gitdir: ").strip()
    return text != named and (link.parent / named).resolve() == store.resolve()


def _listed(paths: Sequence[str]) -> bytes:
    return "\0".join(paths).encode(errors="surrogateescape")


def _exclude(store: Path) -> None:
    """Have git pass over what is ours, on this machine only."""
    path = store / "info" / "exclude"
    path.parent.mkdir(exist_ok=True)
    text = read_plain(path).decode(errors="replace") if path.exists() else ""
    missing = [line for line in (f"/{OWN}*", f"/{PLACE}/") if line not in text.splitlines()]
    if missing:
        lead = "" if not text or text.endswith("\n") else "\n"
        opened = open_below(store, path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(lead + "".join(f"{line}\n" for line in missing))
