"""Copies of the database, the way back to one, and a check of all that a data directory keeps."""

import os
import shlex
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from service_tui.clock import SystemClock
from service_tui.console.doors import Act, DeskClosedError, RecoveryOption
from service_tui.server.books import books_of
from service_tui.storage.action_log import FILE, verify
from service_tui.storage.db.backups import FOLDER, copy_whole, stamp
from service_tui.storage.db.connection import BUSY_TIMEOUT_S, DATABASE_FILE
from service_tui.storage.db.inspection import DamageFound
from service_tui.storage.db.lock import DataDirLock, holder_of
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DamagedRowsError,
    StorageError,
    as_storage_error,
    lost_log,
)
from service_tui.storage.opening import look_at, open_for_reading
from service_tui.storage.recovery import restoring
from service_tui.storage.recovery.damage import open_question
from service_tui.storage.recovery.salvage import Copy, examined
from service_tui.wiring.topics import load_topics

Line = tuple[bool, str]
"""Whether it is well, and what is said of it."""

_NAMES: Final = ("database", "journal", "ledger", "actions")
_WHOLE: Final[Line] = (True, "every page is whole")
_NOT_KNOWN: Final[Line] = (False, "not known, as the database is damaged")


@dataclass(frozen=True, slots=True)
class KeepingRequest:
    """What the words say: the door, and what was given with it."""

    door: str
    folder: Path | None = None
    to: Path | None = None
    file: Path | None = None
    empty: bool | None = None


def said(data_dir: Path, asked: KeepingRequest) -> tuple[tuple[str, ...], bool]:
    """Do what is asked of a data directory.

    Returns:
        Lines for a person, and whether all is well.

    Raises:
        StorageError: it cannot be done; says why.
    """
    if asked.door == "verify":
        found = checked(data_dir)
        lines = tuple(f"{'' if is_well else 'PROBLEM '}{line}" for is_well, line in found)
        return lines, all(is_well for is_well, _ in found)
    if asked.door == "backup":
        return back_up(data_dir, asked.folder, asked.to), True
    if asked.empty:
        return begin_anew(data_dir), True
    return (copies(data_dir) if asked.file is None else restore(data_dir, asked.file)), True


def back_up(data_dir: Path, folder: Path | None, to: Path | None) -> tuple[str, ...]:
    """Copy the database, also while it is in use; keys and the action log are no part of it.

    Args:
        data_dir: the data directory.
        folder: where a copy with a name of its own is put; None with `to`, or for its own folder.
        to: the new file.

    Returns:
        Lines that tell where it is and how far it goes.

    Raises:
        StorageError: there is none, or it is damaged, or the copy cannot be written.
    """
    now = SystemClock().now()
    if folder is not None:
        with as_storage_error():
            folder.mkdir(parents=True, exist_ok=True)
        to = folder / f"desk-{stamp(now)}.sqlite3"
    copy = restoring.back_up(data_dir, to, now=now)
    return (f"{copy.path}", f"  whole, {copy.reach}")


def restore(data_dir: Path, source: Path) -> tuple[str, ...]:
    """Put a copy in the place of the database, which is kept.

    Returns:
        Lines that tell how far it goes, and where the replaced one is.

    Raises:
        StorageError: it is no whole copy, or the directory is in use; then nothing was changed.
    """
    with _held(data_dir) as lock, as_storage_error():
        copy, replaced = restoring.restore(lock, source, now=SystemClock().now())
    return (f"restored: {copy.reach}", *_replaced(replaced))


def begin_anew(data_dir: Path) -> tuple[str, ...]:
    """Make room for a new desk; what is there is kept.

    Returns:
        Lines that tell so.

    Raises:
        StorageError: the directory is in use.
    """
    with _held(data_dir) as lock, as_storage_error():
        replaced = restoring.begin_anew(lock, now=SystemClock().now())
    return ("the next start begins a new desk", *_replaced(replaced))


def copies(data_dir: Path) -> tuple[str, ...]:
    """What there is to restore: each copy, how far it goes, or what is wrong with it."""
    lines = [
        f"{path}\n  {found.reach if isinstance(found, Copy) else f'NOT WHOLE: {found}'}"
        for path, found in restoring.copies_in(data_dir)
    ]
    return tuple(lines) or (f"there is no copy in {data_dir / FOLDER}",)


def checked(data_dir: Path) -> list[Line]:
    """Check the database, the journal, the ledger and the action log, also beside a running desk.

    Returns:
        A line each.
    """
    path = data_dir / DATABASE_FILE
    if not path.exists():
        asked = open_question(path)
        said = (True, "not made yet") if asked is None else (False, str(asked))
        rest = said if asked is None else _NOT_KNOWN
        return _named([said, rest, rest, _actions(data_dir)])
    if holder_of(data_dir) is None:
        return _named([*_of_database(data_dir), _actions(data_dir)])
    # A copy stays as it is, while the desk goes on writing.
    with tempfile.TemporaryDirectory(prefix="service-tui-") as folder:
        copy = Path(folder) / DATABASE_FILE
        with as_storage_error():
            copy_whole(path, copy)
        return _named([*_of_database(Path(folder)), _actions(data_dir)])


def choices_for(error: CorruptDatabaseError) -> tuple[RecoveryOption, ...]:
    """What a person can choose in place of a damaged database, best first."""
    data_dir = error.database.parent
    offered: list[RecoveryOption] = []
    for what, rest in (("what is left of it", error.had.rest), ("backup", error.had.backup)):
        if rest is not None:
            missing = f"; missing: {rest.missing}" if rest.missing else ""
            told = f"{what}, {rest.reach}{missing}\n{rest.path}"
            offered.append(
                RecoveryOption("restore", told, _act(partial(restore, data_dir, rest.path)))
            )
    told = "a new desk with nothing in it; the damaged one stays where it is kept"
    offered.append(RecoveryOption("begin anew", told, _act(partial(begin_anew, data_dir))))
    return tuple(offered)


def words_for(error: CorruptDatabaseError) -> str:
    """The same as commands, where nobody can be asked."""
    had = (error.had.rest, error.had.backup)
    files = [shlex.quote(str(rest.path)) for rest in had if rest is not None]
    where = f"--data-dir {shlex.quote(str(error.database.parent))}"
    acts = [f"'service-tui restore {what} {where}'" for what in (*files, "--empty")]
    return f"nothing goes on before you choose: {', or '.join(acts)} for a new desk"


def _act(do: Act) -> Act:
    """The same, but what cannot be done is said in the words of a closed desk."""

    def act() -> tuple[str, ...]:
        try:
            return do()
        except StorageError as error:
            raise DeskClosedError(str(error), "start again to choose another way") from error

    return act


@contextmanager
def _held(data_dir: Path) -> Generator[DataDirLock]:
    lock = DataDirLock.acquire(data_dir, pid=os.getpid(), now=SystemClock().now())
    try:
        yield lock
    finally:
        lock.release()


def _replaced(path: Path | None) -> tuple[str, ...]:
    return () if path is None else (f"what was there is kept as {path}",)


def _named(found: list[Line]) -> list[Line]:
    named = zip(_NAMES, found, strict=True)
    return [(is_well, f"{name:<10} {said}") for name, (is_well, said) in named]


def _of_database(directory: Path) -> list[Line]:
    """What is said of database, journal and ledger, which nobody writes meanwhile."""
    path = directory / DATABASE_FILE
    try:
        is_lost = look_at(directory, timeout_s=BUSY_TIMEOUT_S).log_is_lost
        copy = examined(path)
    except DamageFound as damage:
        return [(False, str(damage)), _NOT_KNOWN, _NOT_KNOWN]
    except DamagedRowsError as damage:
        return [_WHOLE, (False, str(damage)), _NOT_KNOWN]
    except StorageError as error:
        return [(False, str(error)), _NOT_KNOWN, _NOT_KNOWN]
    database = (False, lost_log(path)) if is_lost else _WHOLE
    return [database, (True, f"whole, {copy.reach}"), _ledger(directory)]


def _ledger(directory: Path) -> Line:
    try:
        database = open_for_reading(directory)
    except StorageError as error:
        return (False, str(error))
    try:
        books = books_of(database, load_topics())
    finally:
        database.close(0.0)
    if books is None:
        return (True, "nothing has happened yet")
    if books.problem:
        return (False, books.problem)
    return (True, f"{books.accounts} accounts come to what their rows say, and to zero together")


def _actions(data_dir: Path) -> Line:
    try:
        found = verify(data_dir / FILE)
    except FileNotFoundError:
        return (True, "nothing has been logged yet")
    except OSError as error:
        return (False, f"the log cannot be read: {error.strerror}")
    if found.problem:
        return (False, f"{found.problem}; {found.count} entries before it hold")
    return (True, f"{found.count} entries, the chain holds")
