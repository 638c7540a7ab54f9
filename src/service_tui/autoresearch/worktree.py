"""Git worktree of experiments on a branch of its own: keep commits, other results revert.

Hooks are off, nothing goes through a shell, only listed paths are touched: never what git ignores,
never `autoresearch.*`, never a path outside of the worktree. Before every revert what is there is
kept under a ref. Source: failures, T-17; decisions, "Experiments".
"""

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from service_tui.autoresearch.errors import ToolError

PLACE: Final = ".autoresearch"
OWN: Final = "autoresearch."
BRANCH: Final = "autoresearch"
BACKUPS: Final = "refs/autoresearch/backup"
NAMED: Final = 5
GIT_WITHIN_S: Final = 60.0
ENDING_S: Final = 0.5
IDENTITY: Final = ("service-tui autoresearch", "autoresearch@localhost")
UNFINISHED: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
_SILENT: Final = ("-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
                  "-c", "advice.detachedHead=false", "-c", "gc.auto=0")  # fmt: skip


async def git(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, given: bytes = b""
) -> bytes:
    """Have git do something.

    Returns:
        Its standard output.

    Raises:
        ToolError: there is no git, or it refuses.
    """
    variables = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    variables |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "1"}
    variables |= env or {}
    try:
        process = await asyncio.create_subprocess_exec(
            "git", *_SILENT, "-C", str(folder), *arguments, env=variables,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise ToolError("git was not found", "install git, or put it on the PATH") from error
    except OSError as error:
        raise ToolError(f"{folder} cannot be used ({error.strerror})") from error
    try:
        async with asyncio.timeout(GIT_WITHIN_S):
            output, wrong = await process.communicate(given)
    except TimeoutError as error:
        raise ToolError(f"git {arguments[0]} took longer than {GIT_WITHIN_S:.0f} s") from error
    finally:
        await _ended(process)
    if process.returncode:
        raise ToolError(f"git {arguments[0]}: {_reason(wrong.decode(errors='replace'))}")
    return output


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Terminate git if it still runs; SIGTERM first, so that it removes its locks."""
    for end in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        end()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDING_S)


def _reason(output: str) -> str:
    """The line of git's output that names the problem, without advice."""
    lines = output.strip().splitlines() or ["refused"]
    return next((one for one in lines if one.startswith(("fatal:", "error:"))), lines[-1])


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes since the last commit: tracked paths, and new files."""

    tracked: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """All changed paths."""
        return (*self.tracked, *self.new)


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository of the person: `root` is its working tree, `store` where git keeps it."""

    root: Path
    store: Path

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
        ToolError: there is none, or it has no working tree or no commit yet.
    """
    if not os.path.isdir(folder):  # noqa: ASYNC240, PTH112  (once, before anything else)
        raise ToolError(f"{folder} is not a folder", "start the server in the skill's repository")
    try:
        root = (await git(folder, "rev-parse", "--show-toplevel")).decode().strip()
        store = (await git(folder, "rev-parse", "--git-common-dir")).decode().strip()
    except ToolError as error:
        if "not found" in str(error):
            raise
        raise ToolError(
            f"{folder} is not in a git repository",
            "run 'git init', commit the skill, then start again",
        ) from error
    try:
        await git(Path(root), "rev-parse", "--verify", "HEAD^{commit}")
    except ToolError as error:
        raise ToolError("the repository has no commit yet", "commit the skill first") from error
    return Repository(Path(root), (folder / store).resolve())


async def check_idle(repository: Repository) -> None:
    """Refuse a repository in which the person is in the middle of something.

    Raises:
        ToolError: there are uncommitted changes, or a merge or the like is unfinished.
    """
    await _check_finished(repository.root)
    changed = await changes_in(repository.root)
    if changed.paths:
        named = ", ".join(changed.paths[:NAMED])
        more = f" and {len(changed.paths) - NAMED} more" if len(changed.paths) > NAMED else ""
        raise ToolError(
            f"there are uncommitted changes from before the session: {named}{more}",
            "commit them, or put them away with 'git stash -u', then call init_experiment again",
        )


async def _check_finished(folder: Path) -> None:
    store = Path((await git(folder, "rev-parse", "--absolute-git-dir")).decode().strip())
    for name, operation in UNFINISHED.items():
        if (store / name).exists():
            raise ToolError(
                f"{folder} is in the middle of {operation}", "finish or abort it, try again"
            )


async def changes_in(folder: Path) -> Changes:
    """Changes since the last commit, without ignored files and ours."""
    output = await git(
        folder, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"
    )
    tracked: list[str] = []
    new: list[str] = []
    for entry in output.decode(errors="surrogateescape").split("\0"):
        state, path = entry[:2], entry[3:]
        if not path or _is_ours(path):
            continue
        (new if state == "??" else tracked).append(path)
    return Changes(tuple(tracked), tuple(new))


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

    async def open(self) -> None:
        """Make the worktree, or use the existing one.

        Raises:
            ToolError: the folder cannot be written, is in the middle of a merge, or git refuses.
        """
        root = self.repository.root
        try:
            _exclude(self.repository.store)
            self.folder.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise ToolError(
                f"{error.filename or root} cannot be written ({error.strerror})",
                "give the server a repository that it may write",
            ) from error
        if (self.folder / ".git").exists():
            here = (await git(self.folder, "rev-parse", "--abbrev-ref", "HEAD")).decode().strip()
            if here != self.branch:
                raise ToolError(
                    f"{self.folder} is on {here}, not on {self.branch}",
                    f"switch it back with 'git -C {self.folder} switch {self.branch}'",
                )
            # A revert would undo a resolved conflict, a commit forget what was merged.
            await _check_finished(self.folder)
            return
        listed = (await git(root, "worktree", "list", "--porcelain")).decode(errors="replace")
        # Known and removed by hand: taken anew. Others that are away now stay known to git.
        is_known = f"worktree {self.folder}" in listed.split("\n")
        anew = ("--force",) if is_known else ()
        known = await git(root, "branch", "--list", "--format=%(refname:short)", self.branch)
        new = () if known.strip() else ("-b", self.branch)
        target = (self.branch,) if known.strip() else ("HEAD",)
        await git(root, "worktree", "add", "--quiet", *anew, *new, str(self.folder), *target)

    async def head(self) -> str:
        """The hash of its last commit."""
        return (await git(self.folder, "rev-parse", "HEAD")).decode().strip()

    async def prepare(self, message: str) -> str:
        """Commit of every change, to which the branch does not point yet.

        Returns:
            Its hash.
        """
        tree = await self._tree((await changes_in(self.folder)).paths, Path())
        return await self._commit(tree, message)

    async def advance(self, commit: str) -> None:
        """Move the branch to a prepared commit; harmless if it is there already."""
        head = await self.head()
        if head == commit:
            return
        await git(self.folder, "update-ref", "-m", "autoresearch: keep", "HEAD", commit, head)
        await git(self.folder, "reset", "--quiet", "--mixed", "HEAD")

    async def is_next(self, commit: str) -> bool:
        """True if a commit's parent is the branch's last commit."""
        try:
            parent = await git(self.folder, "rev-parse", "--verify", f"{commit}^")
        except ToolError:
            return False
        return parent.decode().strip() == await self.head()

    async def full_hash(self, short: str) -> str:
        """The whole hash of a commit; empty where there is none."""
        try:
            output = await git(self.folder, "rev-parse", "--verify", f"{short}^{{commit}}")
        except ToolError:
            return ""
        return output.decode().strip()

    async def revert(self, name: str) -> str:
        """Make everything as it was at the last commit, after keeping what is there under a ref.

        Returns:
            The ref; empty where nothing had changed.
        """
        await git(self.folder, "reset", "--quiet", "--mixed", "HEAD")
        changed = await changes_in(self.folder)
        if not changed.paths:
            return ""
        ref = await self._back_up(changed.paths, name)
        if changed.tracked:
            await git(
                self.folder, "checkout", "--quiet", "HEAD", "--pathspec-from-file=-",
                "--pathspec-file-nul", given=_listed(changed.tracked),
            )  # fmt: skip
        for path in changed.new:
            self._remove(path)
        return ref

    async def _back_up(self, paths: Sequence[str], name: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            tree = await self._tree(paths, Path(folder) / "index")
        commit = await self._commit(tree, f"what {name} left behind")
        ref = f"{BACKUPS}/{self.skill}/{name}"
        place = 1
        while await self.full_hash(ref if place == 1 else f"{ref}-{place}"):
            place += 1
        ref = ref if place == 1 else f"{ref}-{place}"
        await git(self.folder, "update-ref", "-m", "autoresearch: backup", ref, commit)
        return ref

    async def _tree(self, paths: Sequence[str], index: Path) -> str:
        """A tree of the last commit with these paths as they are now."""
        env = {"GIT_INDEX_FILE": str(index)} if index.name else {}
        if index.name:
            await git(self.folder, "read-tree", "HEAD", env=env)
        if paths:
            await git(
                self.folder, "add", "--pathspec-from-file=-", "--pathspec-file-nul", env=env,
                given=_listed(paths),
            )  # fmt: skip
        return (await git(self.folder, "write-tree", env=env)).decode().strip()

    async def _commit(self, tree: str, message: str) -> str:
        env: dict[str, str] = {}
        try:
            await git(self.folder, "var", "GIT_COMMITTER_IDENT")
        except ToolError:
            name, address = IDENTITY
            env = {
                "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address,
                "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address,
            }  # fmt: skip
        output = await git(
            self.folder, "commit-tree", tree, "-p", "HEAD", "-F", "-", env=env,
            given=message.encode(errors="replace"),
        )  # fmt: skip
        return output.decode().strip()

    def _remove(self, path: str) -> None:
        """Remove a new file, and the folders that it leaves empty; what resists is left."""
        full = self.folder / path
        if path.endswith("/") or (
            self.folder.resolve() not in full.parent.resolve().parents
            and (full.parent.resolve() != self.folder.resolve())
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


def _listed(paths: Sequence[str]) -> bytes:
    return "\0".join(paths).encode(errors="surrogateescape")


def _exclude(store: Path) -> None:
    """Have git pass over what is ours, on this machine only."""
    path = store / "info" / "exclude"
    path.parent.mkdir(exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in (f"/{OWN}*", f"/{PLACE}/") if line not in text.splitlines()]
    if missing:
        lead = "" if not text or text.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(lead + "".join(f"{line}\n" for line in missing))
