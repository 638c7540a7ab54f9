"""Copies of the database, restoring one, and a check of all files of a data directory."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.app.histories import topics_for
from service_tui.app.restoring import begin_anew, restore
from service_tui.clock import SystemClock
from service_tui.server.books import BooksCheck, books_of
from service_tui.storage.action_log import FILE, verify
from service_tui.storage.db.backups import FOLDER, copy_whole, stamp
from service_tui.storage.db.connection import BUSY_TIMEOUT_S, DATABASE_FILE
from service_tui.storage.db.inspection import DamageFound
from service_tui.storage.db.lock import holder_of
from service_tui.storage.db.room import has_room, with_room
from service_tui.storage.errors import (
    DamagedRowsError,
    StorageError,
    as_storage_error,
    lost_log,
)
from service_tui.storage.opening import look_at, open_for_reading
from service_tui.storage.recovery import restoring
from service_tui.storage.recovery.damage import open_question
from service_tui.storage.recovery.salvage import Copy, examined

Finding = tuple[bool, str]
"""Whether it is well, and the text of the finding."""

_NAMES: Final = ("database", "journal", "ledger", "actions")

_WHOLE: Final[Finding] = (True, "all pages intact")

_UNKNOWN: Final[Finding] = (False, "unknown: the database is damaged")


@dataclass(frozen=True, slots=True)
class DatabaseRequest:
    """The command and its arguments."""

    command: str
    folder: Path | None = None
    to: Path | None = None
    file: Path | None = None
    empty: bool | None = None


def run_command(data_dir: Path, request: DatabaseRequest) -> tuple[tuple[str, ...], bool]:
    """Run a command on the copies of a data directory.

    Returns:
        Lines for a person, and True if all is well.

    Raises:
        StorageError: it cannot be done; gives the reason.
    """
    if request.command == "verify":
        findings = checked(data_dir)
        lines = tuple(f"{'' if is_well else 'PROBLEM '}{line}" for is_well, line in findings)
        return lines, all(is_well for is_well, _ in findings)
    if request.command == "backup":
        return back_up(data_dir, request.folder, request.to), True
    if request.empty:
        return begin_anew(data_dir), True
    return (copies(data_dir) if request.file is None else restore(data_dir, request.file)), True


def back_up(data_dir: Path, folder: Path | None, to: Path | None) -> tuple[str, ...]:
    """Copy the database, also while it is in use; keys and the action log are no part of it.

    Args:
        data_dir: the data directory.
        folder: where to put a copy with a generated name; None with `to`, or for the default.
        to: the new file.

    Returns:
        Lines with its path and how far it goes.

    Raises:
        StorageError: there is no database, it is damaged, or the copy cannot be written.
    """
    now = SystemClock().now()
    if folder is not None:
        with as_storage_error():
            folder.mkdir(parents=True, exist_ok=True)
        to = folder / f"desk-{stamp(now)}.sqlite3"
    copy = restoring.back_up(data_dir, to, now=now)
    return (f"{copy.path}", f"  whole, {copy.reach}")


def copies(data_dir: Path) -> tuple[str, ...]:
    """The copies that can be restored, each with its reach or its damage."""
    lines = [
        f"{path}\n  {result.reach if isinstance(result, Copy) else f'DAMAGED: {result}'}"
        for path, result in restoring.copies_in(data_dir)
    ]
    return tuple(lines) or (f"no copy in {data_dir / FOLDER}",)


def checked(data_dir: Path) -> list[Finding]:
    """Check the database, the journal, the ledger and the action log, also beside a running desk.

    Returns:
        One finding for each.
    """
    path = data_dir / DATABASE_FILE
    if not path.exists():
        question = open_question(path)
        finding = (True, "none yet") if question is None else (False, str(question))
        rest = finding if question is None else _UNKNOWN
        return _named([finding, rest, rest, _actions(data_dir)])
    if holder_of(data_dir) is None and has_room(data_dir):
        return _named([*_of_database(data_dir, data_dir), _actions(data_dir)])
    # A copy stays as it is while the desk goes on writing.
    with tempfile.TemporaryDirectory(prefix="service-tui-", dir=with_room()) as folder:
        copy = Path(folder) / DATABASE_FILE
        with as_storage_error():
            copy_whole(path, copy)
        return _named([*_of_database(Path(folder), data_dir), _actions(data_dir)])


def _named(findings: list[Finding]) -> list[Finding]:
    named = zip(_NAMES, findings, strict=True)
    return [(is_well, f"{name:<10} {text}") for name, (is_well, text) in named]


def _of_database(directory: Path, data_dir: Path) -> list[Finding]:
    """Findings on database, journal and ledger; no process may write them at the time.

    The `directory` has them, or a copy of them; `data_dir` the histories.
    """
    path = directory / DATABASE_FILE
    try:
        is_lost = look_at(directory, timeout_s=BUSY_TIMEOUT_S).log_is_lost
        copy = examined(path)
    except DamageFound as damage:
        return [(False, str(damage)), _UNKNOWN, _UNKNOWN]
    except DamagedRowsError as damage:
        return [_WHOLE, (False, str(damage)), _UNKNOWN]
    except StorageError as error:
        return [(False, str(error)), _UNKNOWN, _UNKNOWN]
    database = (False, lost_log(path)) if is_lost else _WHOLE
    return [database, (True, f"whole, {copy.reach}"), _ledger(directory, data_dir)]


def _ledger(directory: Path, data_dir: Path) -> Finding:
    try:
        database = open_for_reading(directory)
    except StorageError as error:
        return (False, str(error))
    try:
        books = books_of(database, topics_for(data_dir))
    finally:
        database.close(0.0)
    return ledger_finding(books)


def ledger_finding(books: BooksCheck | None) -> Finding:
    """Whether the postings of a directory add up."""
    if books is None:
        return (True, "no entries yet")
    if books.problem:
        return (False, books.problem)
    return (True, f"{books.accounts} accounts match their postings, and sum to zero")


def _actions(data_dir: Path) -> Finding:
    try:
        chain = verify(data_dir / FILE)
    except FileNotFoundError:
        return (True, "no entries yet")
    except OSError as error:
        return (False, f"cannot read the log: {error.strerror}")
    if chain.problem:
        return (False, f"{chain.problem}; the {chain.count} entries before it are verified")
    return (True, f"{chain.count} entries, log verified")
