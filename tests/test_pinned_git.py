"""What a repository names as a program is not started, by any call of git that is made."""

import asyncio
import shlex
import subprocess
import time
from pathlib import Path
from typing import Final

import psutil
import pytest

from kit.terminal.research import SKILL, git, new_repository, sh
from service_tui import pinned_git
from service_tui.autoresearch.worktree import Worktree, changes_in, check_idle, repository_at

pytestmark = pytest.mark.process

SHOW: Final = ("show", "--no-ext-diff", "--no-textconv", "--stat", "--patch", "HEAD", "--")

KEYS: Final = (
    "core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass",
    "core.gitProxy", "core.alternateRefsCommand", "filter.evil.clean", "filter.evil.smudge",
    "filter.evil.process", "filter.a=b.clean", "filter.A b.clean", "diff.external",
    "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "gpg.program",
    "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "gpg.x509.program",
    "credential.helper", "sequence.editor", "interactive.diffFilter", "trailer.evil.command",
    "pager.show", "pager.status", "uploadpack.packObjectsHook", "hook.evil.command",
    "alias.status", "alias.show", "remote.origin.uploadpack",
)  # fmt: skip
"""Settings by which git starts a program."""

OTHERS: Final = {
    "log.showSignature": "true", "format.pretty": "%G?%n%s", "filter.evil.required": "false",
    "commit.gpgSign": "true", "hook.evil.event": "post-index-change", "submodule.recurse": "true",
    "diff.submodule": "diff", "protocol.allow": "always", "protocol.ext.allow": "always",
    "core.untrackedCache": "true", "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none", "maintenance.auto": "true", "gc.auto": "1",
}  # fmt: skip
"""Settings by which it wants to."""


def hostile(folder: Path, ran: Path, place: str) -> None:
    """Name a program for everything, in one of the places where a repository may do so."""
    program = folder.parent / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(ran))}\ncat 2>/dev/null\n')
    program.chmod(0o755)
    if place == "worktree":
        git(folder, "config", "extensions.worktreeConfig", "true")
    where = {
        "local": ("--local",),
        "worktree": ("--worktree",),
        "included": ("--file", str(folder / ".git" / "more")),
        "included if": ("--file", str(folder / ".git" / "more")),
    }[place]
    for number, key in enumerate(KEYS):
        # The first is a path, the others are lines of a shell.
        line = str(program) if key.startswith("gpg") else f"{program} {number} {shlex.quote(key)}"
        git(folder, "config", *where, key, line)
    for key, value in OTHERS.items():
        git(folder, "config", *where, key, value)
    url = f"ext::{program} remote"
    git(folder, "config", *where, "remote.origin.url", url)
    if place == "included":
        git(folder, "config", "include.path", "more")
    if place == "included if":
        git(folder, "config", f"includeIf.gitdir:{folder.parent}/**.path", "more")
    hooks = folder / ".git" / "hooks"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)


def git_as_it_is(folder: Path, *words: str) -> None:
    subprocess.run(
        ("git", *words), cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL
    )


ATTRIBUTES: Final = '* filter=evil diff=evil merge=evil\n*.txt filter=a=b\n*.md filter="A b"\n'


async def every_call(folder: Path) -> None:
    """What the server does in a session, and the console for a diff."""
    repository = await repository_at(folder)
    await check_idle(repository)
    worktree = Worktree(repository, SKILL)
    await worktree.open()
    (worktree.folder / "skill.py").write_text("kept = 1\n")
    (worktree.folder / "new.txt").write_text("new\n")
    await worktree.advance(await worktree.prepare("kept"), "1")
    (worktree.folder / "skill.py").write_text("left = 1\n")
    (worktree.folder / "more.md").write_text("new\n")
    await worktree.revert("2")
    await changes_in(folder)
    await worktree.open()
    called = await pinned_git.call(worktree.folder, *SHOW, output_max=100_000)
    assert (called.code, "+kept = 1" in called.output.decode()) == (0, True), called.wrong
    called = await pinned_git.call(worktree.folder, "show", "--stat", "HEAD", "--")
    assert called.code == 0, called.wrong


@pytest.mark.parametrize("place", ["local", "worktree", "included", "included if"])
@pytest.mark.parametrize("attributes", [".gitattributes", ".git/info/attributes"])
async def test_no_program_that_a_repository_names_is_started(
    tmp_path: Path, place: str, attributes: str
) -> None:
    folder = new_repository(tmp_path / "repositories" / "skill")
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / attributes).write_text(ATTRIBUTES)
    if attributes == ".gitattributes":
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", "attributes")
    ran = tmp_path / "ran"
    hostile(folder, ran, place)
    # The fixture bites: a git that is not pinned starts them.
    git_as_it_is(folder, "status")
    assert ran.exists()
    ran.unlink()
    await every_call(folder)
    assert not ran.exists(), ran.read_text()


def signed(folder: Path) -> str:
    """A commit with a signature, which somebody would have to check."""
    body = git(folder, "cat-file", "commit", "HEAD")
    head, _, text = body.partition("\n\n")
    lines = ("gpgsig -----BEGIN PGP SIGNATURE-----", " ", " abc", " -----END PGP SIGNATURE-----")
    made = subprocess.run(
        ("git", "hash-object", "-t", "commit", "-w", "--stdin"), cwd=folder, check=True,
        input="\n".join((head, *lines)) + f"\n\n{text}\n", capture_output=True, text=True,
    )  # fmt: skip
    return made.stdout.strip()


async def test_no_signature_is_checked_and_nothing_is_fetched(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repositories" / "skill")
    ran = tmp_path / "ran"
    hostile(folder, ran, "local")
    commit = signed(folder)
    git_as_it_is(folder, "show", commit)
    assert "--verify" in ran.read_text()
    ran.unlink()
    called = await pinned_git.call(folder, "show", "--no-ext-diff", "--no-textconv", commit, "--")
    assert (called.code, called.wrong) == (0, "")
    # What a partial clone lacks: git would ask its remote.
    lost = git(folder, "rev-parse", "HEAD:skill.py")
    (folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    git(folder, "config", "extensions.partialClone", "origin")
    (folder / "skill.py").unlink()
    called = await pinned_git.call(folder, "checkout", ".")
    assert called.code
    assert not ran.exists(), ran.read_text()


async def test_the_settings_of_a_submodule_start_nothing(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    inner = new_repository(folder / "inner")
    git(folder, "add", "inner")
    git(folder, "commit", "--quiet", "-m", "with a submodule")
    ran = tmp_path / "ran"
    git(inner, "config", "core.fsmonitor", f"echo ran >> {ran}; false")
    (inner / "skill.py").write_text("changed\n")
    git(folder, "status")
    assert ran.exists()
    ran.unlink()
    await changes_in(folder)
    assert not ran.exists()


async def test_a_filter_of_the_person_works_and_no_repository_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / ".gitattributes").write_text("*.up filter=up\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    git(folder, "config", "--global", "filter.up.clean", "tr a-z A-Z")
    git(folder, "config", "filter.up.clean", f"touch {tmp_path / 'ran'}; cat")
    git(folder, "config", "filter.up.required", "true")
    (folder / "a.up").write_text("loud\n")
    called = await pinned_git.call(folder, "add", "a.up", ".gitattributes")
    assert called.code == 0, called.wrong
    assert not (tmp_path / "ran").exists()
    assert git(folder, "cat-file", "blob", ":a.up") == "LOUD"


async def test_nothing_that_a_filter_starts_outlives_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / ".gitattributes").write_text("*.py filter=slow\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    left = f"(sleep 60 >/dev/null 2>&1 </dev/null & echo $! > {tmp_path / 'pid'}); cat"
    git(folder, "config", "--global", "filter.slow.clean", left)
    (folder / "skill.py").write_text("changed\n")
    await pinned_git.call(folder, "add", "skill.py")
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not is_running(pid):
            break
        await asyncio.sleep(0.05)
    assert not is_running(pid)


@pytest.mark.parametrize("times", [2, 3, 4])
async def test_a_call_that_is_cancelled_often_ends_after_its_git(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / ".gitattributes").write_text("*.py filter=deaf\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    deaf = f"trap '' TERM; echo $$ > {tmp_path / 'pid'}; while :; do sleep 0.1; done"
    git(folder, "config", "--global", "filter.deaf.clean", deaf)
    (folder / "skill.py").write_text("changed\n")
    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(pinned_git.call(folder, "add", "skill.py"))
        pid = await asyncio.to_thread(pid_in, tmp_path / "pid")
        git_pid = psutil.Process(pid).ppid()
        for _ in range(times):
            calling.cancel()
            await asyncio.sleep(0)
    assert calling.cancelled()
    # Not even as one that nobody has waited for.
    assert not psutil.pid_exists(git_pid)
    for _ in range(100):
        if not is_running(pid):
            break
        await asyncio.sleep(0.05)
    assert not is_running(pid)


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_call_that_is_cancelled_as_it_starts_ends_after_its_git(
    times: int, tmp_path: Path
) -> None:
    folder = new_repository(tmp_path / "skill")
    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(pinned_git.call(folder, "log"))
        for _ in range(times):
            await asyncio.sleep(0)
            calling.cancel()
    assert calling.cancelled()
    assert not [child for child in psutil.Process().children() if "git" in child.name()]


def pid_in(file: Path) -> int:
    for _ in range(1_000):
        if file.exists() and file.read_text().strip():
            break
        time.sleep(0.02)  # noqa: TID251  (in a thread of its own)
    return int(file.read_text())


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_of_a_long_output_as_much_is_read_as_is_wanted(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / "skill.py").write_text("line\n" * 1_000_000)
    git(folder, "commit", "--quiet", "-am", "long")
    called = await pinned_git.call(folder, *SHOW, output_max=1_000)
    assert (called.code, len(called.output)) == (0, 1_000)


# -- where git works -----------------------------------------------------------------------------

LEADING_AWAY: Final = {
    "a setting of the worktree": "git config extensions.worktreeConfig true; "
    "git config --worktree core.worktree {away}",
    "a setting of the repository": "git config core.worktree {away}",
    "a bare one": "git config core.bare true",
    "a file in the place of its link": "echo 'gitdir: {other}/.git' > .git",
    "another common store": "echo {other}/.git > $(git rev-parse --git-dir)/commondir; "
    "git -C {other} config core.worktree {away}",
}
"""What a run does so that git takes its files from, or puts them in, another folder."""


@pytest.mark.parametrize("how", LEADING_AWAY)
@pytest.mark.parametrize("is_opened_again", [False, True])
async def test_no_run_leads_git_to_files_that_are_not_in_its_worktree(
    tmp_path: Path, how: str, *, is_opened_again: bool
) -> None:
    folder = new_repository(tmp_path / "skill")
    other = new_repository(tmp_path / "other")
    away = tmp_path / "away"
    away.mkdir()
    (away / "keys.json").write_text("a secret\n")
    worktree = Worktree(await repository_at(folder), SKILL)
    await worktree.open()
    (worktree.folder / "keys.json").write_text("dummy\n")
    (worktree.folder / "skill.py").write_text("changed = 1\n")
    line = LEADING_AWAY[how].format(away=away, other=other)
    sh(worktree.folder, "sh", "-c", line)
    if is_opened_again:
        await worktree.open()
    backup = await worktree.revert("1")
    (worktree.folder / "skill.py").write_text("kept = 1\n")
    kept = await worktree.prepare("kept")
    await worktree.advance(kept, "2")
    assert {one.name for one in away.iterdir()} == {"keys.json"}
    found = await pinned_git.call(worktree.folder, "show", f"{kept}:skill.py", at=at_of(worktree))
    assert found.output == b"kept = 1\n"
    found = await pinned_git.call(
        worktree.folder, "show", f"{backup}:keys.json", at=at_of(worktree)
    )
    assert found.output == b"dummy\n"


def at_of(worktree: Worktree) -> dict[str, str]:
    store = worktree.repository.store
    return pinned_git.at_place(worktree.folder, store / "worktrees" / SKILL, store)


async def test_a_call_in_a_repository_works_on_its_own_files(tmp_path: Path) -> None:
    folder, away = new_repository(tmp_path / "skill"), tmp_path / "away"
    away.mkdir()
    git(folder, "config", "core.worktree", str(away))
    called = await pinned_git.call(folder, "checkout", "--force", "HEAD")
    assert (called.code, [*away.iterdir()]) == (0, []), called.wrong


@pytest.mark.parametrize("condition", ["gitdir:**/worktrees/**", "onbranch:autoresearch/**"])
async def test_settings_that_hold_in_the_worktree_alone_start_nothing_when_it_is_made(
    tmp_path: Path, condition: str
) -> None:
    folder = new_repository(tmp_path / "skill")
    (folder / ".gitattributes").write_text("* filter=evil\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "attributes")
    ran = tmp_path / "ran"
    for name in ("smudge", "clean", "process"):
        line = f"echo {name} >> {ran}; cat"
        git(folder, "config", "--file", str(folder / ".git" / "more"), f"filter.evil.{name}", line)
    git(folder, "config", f"includeIf.{condition}.path", "more")
    await every_call(folder)
    assert not ran.exists(), ran.read_text()
    # The fixture bites.
    git_as_it_is(folder / ".autoresearch" / SKILL, "checkout-index", "--force", "--all")
    assert ran.exists()
