"""Git that runs no program of a repository's choice: every call of git goes through here.

A repository is the work of others. Its configuration and attributes may name programs for a dozen
purposes; of those git starts only what the person's own configuration names in the same words.
"""

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service_tui.inherited import GIT_SET_UP, inherited_by_git

WITHIN_S: Final = 60.0
ENDING_S: Final = 0.5
READ_BYTES: Final = 64 * 1024
WRONG_MAX: Final = 64 * 1024
CODE_NO_PROGRAM: Final = 127
"""Exit status of a shell that finds no program."""

_PINNED: Final = {
    "advice.detachedHead": "false",
    "color.ui": "never",
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.editor": "true",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.submodule": "short",
    "format.pretty": "medium",
    "gc.auto": "0",
    "gpg.program": "false",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "status.relativePaths": "false",
    "submodule.recurse": "false",
}
"""What a repository cannot change: git reads the command line last."""

_VARIABLES: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}
"""No question, no lock for a reading, no other machine: what a partial clone lacks is not fetched,
as each way there is a program that the repository may name."""

WORK_TREE: Final = "GIT_WORK_TREE"

_PERSONS: Final = frozenset({"system", "global", "command"})
"""Whence git reads what the person has set up, as `git config --show-scope` names it."""

_PROGRAMS: Final = re.compile(
    r"filter\..*\.(clean|smudge|process|required)"
    r"|diff\..*\.(command|textconv)|merge\..*\.driver"
    r"|core\.(gitproxy|sshcommand|editor|pager|askpass|alternaterefscommand)"
    r"|gpg\.(.*\.)?(program|defaultkeycommand)|credential\.(.*\.)?helper"
    r"|hook\..*\.(command|event|enabled)|sequence\.editor|interactive\.difffilter"
    r"|trailer\..*\.(command|cmd)|pager\..*",
    re.DOTALL,
)
"""Names of settings by which git finds a program. Source: git-config(1)."""

_SWITCHES: Final = frozenset({"required", "enabled"})
"""Of these, those that hold yes or no."""


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What a call of git gave: its exit status, its output, and what it complained of."""

    code: int
    output: bytes
    wrong: str
    is_late: bool = False


def at_place(folder: Path, own: Path, common: Path) -> dict[str, str]:
    """The variables of a git that works in a known place.

    Neither `core.worktree` nor a `.git` or `commondir` file, which a run may write, leads it away.

    Args:
        folder: its working tree.
        own: where git keeps what it knows of that.
        common: where it keeps what all working trees share.
    """
    return {"GIT_DIR": str(own), "GIT_COMMON_DIR": str(common), WORK_TREE: str(folder)}


def _tree_at(folder: Path | str) -> dict[str, str]:
    tree = Path(folder).absolute()
    return {WORK_TREE: str(tree)} if os.path.lexists(tree / ".git") else {}


async def call(
    folder: Path | str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    at: Mapping[str, str] | None = None,
    given: bytes = b"",
    output_max: int | None = None,
) -> GitAnswer:
    """Have git do something in a folder, within a deadline; nothing of it runs on afterwards.

    Args:
        folder: where.
        arguments: the words after `git`.
        env: variables for this call.
        at: where its files are, of `at_place`; empty has git look for them itself. By default it
            looks for its store, and works in this folder if a repository begins here.
        given: its standard input.
        output_max: bytes of output that are read at most; git ends there.

    Returns:
        How it ended.

    Raises:
        OSError: there is no git, or it cannot be started there.
    """
    at = _tree_at(folder) if at is None else at
    variables = inherited_by_git(os.environ) | _VARIABLES | {**at, **(env or {})}
    place = ("git", "-C", str(folder))
    listing = (*place, "config", "--list", "--show-scope", "--includes", "-z")
    listed = await _called(listing, variables, b"", None)
    if listed.code:
        return listed
    pins = tuple(word for name, value in _PINNED.items() for word in ("-c", f"{name}={value}"))
    words = ("git", "--no-pager", *pins, *place[1:], *arguments)
    return await _called(words, without_programs(listed.output, variables), given, output_max)


def without_programs(listed: bytes, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a git that starts no program of a repository's choice.

    Args:
        listed: what `git config --list --show-scope -z` gives there.
        variables: its other variables.

    Returns:
        These, with a setting for each of the repository's that names a program: the person's own
        where there is one, else none.
    """
    parts = listed.decode(errors="surrogateescape").split("\0")
    own: dict[str, str] = {}
    foreign: dict[str, None] = {}
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        name, _, value = entry.partition("\n")
        if not _PROGRAMS.fullmatch(name):
            continue
        if scope in _PERSONS:
            own[name] = value
        else:
            foreign[name] = None
            if name.startswith("hook."):
                foreign[f"{name.rpartition('.')[0]}.enabled"] = None
    number = variables.get(f"{GIT_SET_UP}_COUNT", "")
    count = int(number) if number.isascii() and number.isdigit() else 0
    added: dict[str, str] = {}
    for name in foreign:
        nothing = "false" if name.rpartition(".")[2] in _SWITCHES else ""
        added[f"{GIT_SET_UP}_KEY_{count}"] = name
        added[f"{GIT_SET_UP}_VALUE_{count}"] = own.get(name, nothing)
        count += 1
    return {**variables, **added, f"{GIT_SET_UP}_COUNT": str(count)}


async def _called(
    words: tuple[str, ...], variables: Mapping[str, str], given: bytes, output_max: int | None
) -> GitAnswer:
    process = await _started(words, variables)
    try:
        async with asyncio.timeout(WITHIN_S):
            output, wrong = await _spoken(process, given, output_max)
    except TimeoutError:
        late = f"it took longer than {WITHIN_S:.0f} s"
        return GitAnswer(CODE_NO_PROGRAM, b"", late, is_late=True)
    finally:
        await _end(process)
    code = 0 if output_max is not None and len(output) >= output_max else process.returncode or 0
    return GitAnswer(code, output, wrong.decode(errors="replace"))


async def _started(
    words: tuple[str, ...], variables: Mapping[str, str]
) -> asyncio.subprocess.Process:
    """Start a process; one that a cancel meets while it starts is ended with its whole group."""
    starting = asyncio.ensure_future(  # noqa: TID251 - a cancel would lose it, and it has a group
        asyncio.create_subprocess_exec(
            *words, env=variables, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )
    )  # fmt: skip
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        try:
            await _to_its_end(starting)
        finally:
            if starting.exception() is None:
                await _end(starting.result())
        raise


async def _spoken(
    process: asyncio.subprocess.Process, given: bytes, output_max: int | None
) -> tuple[bytes, bytes]:
    """Write and read all, or of the output as much as is wanted."""
    if output_max is None:
        return await process.communicate(given)
    if process.stdin is not None:
        process.stdin.close()
    async with asyncio.TaskGroup() as group:
        output = group.create_task(_read(process.stdout, output_max))
        wrong = group.create_task(_read(process.stderr, WRONG_MAX))
        await output
        if len(output.result()) >= output_max:
            wrong.cancel()
            return output.result(), b""
    await process.wait()
    return output.result(), wrong.result()


async def _read(stream: asyncio.StreamReader | None, most: int) -> bytes:
    parts: list[bytes] = []
    left = most
    while stream is not None and left > 0 and (part := await stream.read(min(left, READ_BYTES))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Terminate git if it still runs, and all of its group; a cancel meanwhile kills it at once.

    However often it is cancelled, it waits for the end of what it killed: else the process stays
    unread by a loop that closes meanwhile.
    """
    try:
        # SIGTERM first, so that it removes its locks.
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is not None:
                break
            _signal(process, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), ENDING_S)
    finally:
        _signal(process, signal.SIGKILL)
        # Its pipes close when what is in them has been read.
        reading = asyncio.ensure_future(_close(process))  # noqa: TID251 - a cancel would lose it
        await _to_its_end(reading)


async def _close(process: asyncio.subprocess.Process) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(process.communicate(), ENDING_S)


async def _to_its_end(task: asyncio.Future[Any]) -> None:
    """Wait for a task whatever cancels the wait, and tell of the cancel after it."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
