"""Repairs a damaged database: restores a copy or starts a new desk, by choice or command."""

import os
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from service_tui.clock import SystemClock
from service_tui.console.closed_desk import Act, DeskClosedError, RecoveryOption
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import (
    CorruptDatabaseError,
    StorageError,
    as_storage_error,
)
from service_tui.storage.recovery import restoring


def restore(data_dir: Path, source: Path) -> tuple[str, ...]:
    """Replace the database with a copy; the replaced one is kept.

    Returns:
        Lines with how far the copy goes, and the path of the replaced database.

    Raises:
        StorageError: it is no whole copy, or the directory is in use; then nothing was changed.
    """
    with _locked(data_dir) as lock, as_storage_error():
        copy, replaced = restoring.restore(lock, source, now=SystemClock().now())
    return (f"restored: {copy.reach}", *_replaced(replaced))


def begin_anew(data_dir: Path) -> tuple[str, ...]:
    """Make room for a new desk; the present database is kept.

    Returns:
        Lines that confirm it.

    Raises:
        StorageError: the directory is in use.
    """
    with _locked(data_dir) as lock, as_storage_error():
        replaced = restoring.begin_anew(lock, now=SystemClock().now())
    return ("the next start opens a new desk", *_replaced(replaced))


def choices_for(error: CorruptDatabaseError) -> tuple[RecoveryOption, ...]:
    """The choices in place of a damaged database, best first."""
    data_dir = error.database.parent
    offered: list[RecoveryOption] = []
    for source, rest in (("what was salvaged", error.had.rest), ("backup", error.had.backup)):
        if rest is not None:
            missing = f"; missing: {rest.missing}" if rest.missing else ""
            about = f"{source}, {rest.reach}{missing}\n{rest.path}"
            offered.append(
                RecoveryOption("restore", about, _as_closed(partial(restore, data_dir, rest.path)))
            )
    about = "a new, empty desk; the damaged database is kept"
    offered.append(RecoveryOption("start anew", about, _as_closed(partial(begin_anew, data_dir))))
    return tuple(offered)


def recovery_commands(error: CorruptDatabaseError) -> str:
    """The choices as commands, for a program without a person."""
    had = (error.had.rest, error.had.backup)
    files = [shlex.quote(str(rest.path)) for rest in had if rest is not None]
    where = f"--data-dir {shlex.quote(str(error.database.parent))}"
    commands = [f"'service-tui restore {source} {where}'" for source in (*files, "--empty")]
    return f"choose one first: {', or '.join(commands)} for a new desk"


def _as_closed(action: Act) -> Act:
    """The same action, with storage errors as DeskClosedError."""

    def run() -> tuple[str, ...]:
        try:
            return action()
        except StorageError as error:
            raise DeskClosedError(str(error), "start again to choose another way") from error

    return run


@contextmanager
def _locked(data_dir: Path) -> Generator[DataDirLock]:
    lock = DataDirLock.acquire(data_dir, pid=os.getpid(), now=SystemClock().now())
    try:
        yield lock
    finally:
        lock.release()


def _replaced(path: Path | None) -> tuple[str, ...]:
    return () if path is None else (f"the old database is kept as {path}",)
