"""Errors of storage, each a sentence with its fix.

```
StorageError
├── StorageFullError         the disk is full; nothing was written
├── FileRemovedError         the database was removed while it was in use; nothing was kept
├── StorageBusyError         another program holds the database, or too many writes wait
├── OtherWorldError          the directory holds another world than the one that was asked for
├── OtherConsoleError        the database of another console is there and cannot be read
├── DirectoryLockedError     another process works in this data directory: holder
├── LockUnavailableError     this file system cannot lock
├── UnreadableDirectoryError not ours, or open to others
├── NewerSchemaError         written by a newer program: found, known
├── ForeignSchemaError       something is declared in it that is not ours
├── CorruptDatabaseError     damaged, and nothing chosen yet: kept_as, backups, had
├── DamagedFileError         a page is broken, met while reading or writing
├── DamagedRowsError         rows that are missing or make no sense, in a file that is whole
├── LostLogError             an unclean end, and the log is gone since: copy, backups
├── JournalOrderError        a gap or a repetition in the journal
├── DuplicateAnswerError     this idempotency key is already answered
├── UnknownTicketError       no such ticket
├── TicketStateError         a ticket does not go from this state to that
├── TakenError             this once-key is taken
└── BudgetExceededError      the intent is larger than what is left: reserved, asked, maximum
```
"""

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final


class StorageError(Exception):
    """A read or write failed; the text is the problem with its fix."""


class StorageFullError(StorageError):
    """The disk is full; nothing was written."""


class FileRemovedError(StorageError):
    """The database, or its log, was removed or exchanged while it was in use."""


class OtherWorldError(StorageError):
    """The data directory contains another world than the requested one."""


class FileGoneError(OSError):
    """The name of an open file now has no file, or another one."""


class StorageBusyError(StorageError):
    """Another process kept the database locked for too long; nothing was written."""


class OtherConsoleError(StorageError):
    """The database of another console of the directory, at `path`, is there and cannot be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"kept tokens of another console cannot be read ({path})")
        self.path = path


@dataclass(frozen=True, slots=True)
class Holder:
    """Process that works in a data directory, by its lock file.

    `pid` and `since` (seconds since 1970) are None where the file cannot be read;
    `address` is None until the holder has published where it serves.
    """

    pid: int | None
    since: float | None
    address: str | None

    def describe(self) -> str:
        """Describe the process and its start, in local time."""
        name = f"process {self.pid or 'unknown'}"
        try:
            since = datetime.fromtimestamp(self.since or 0.0, tz=UTC).astimezone()
        except (OverflowError, OSError, ValueError):
            return name
        return f"{name} since {since:%Y-%m-%d %H:%M:%S}" if self.since else name


class DirectoryLockedError(StorageError):
    """Another process, `holder`, works in the data directory."""

    def __init__(self, directory: Path, holder: Holder) -> None:
        super().__init__(f"{directory} is in use by {holder.describe()}")
        self.holder = holder


class LockUnavailableError(StorageError):
    """The file system cannot lock files: open without a lock, which is slower."""


class UnreadableDirectoryError(StorageError):
    """The data directory, or a file in it, is not ours alone to write."""


class SameAddressError(StorageError):
    """Two processes of a shared desk say that they are reached at one address."""


class NewerSchemaError(StorageError):
    """A newer program wrote this database; nothing was written to it."""

    def __init__(self, database: Path | str, *, found: int, known: int) -> None:
        super().__init__(
            f"{database} has schema {found} and this program knows {known}; "
            "install the newer program, or choose another data directory"
        )
        self.found = found
        self.known = known


class ForeignSchemaError(StorageError):
    """A database declares what this program never did; nothing was written to it."""

    def __init__(self, database: Path | str, problem: str) -> None:
        super().__init__(
            f"{database} is not as this program makes it: {problem}; remove that, or use a copy "
            "from before"
        )
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Rest:
    """A whole copy to continue with: its reach, and a description of what is missing."""

    path: Path
    reach: str
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Had:
    """Replacements for a damaged database.

    `rest` is made of what is left of it, `backup` the newest backup that is whole; None for none.
    """

    rest: Rest | None = None
    backup: Rest | None = None


class CorruptDatabaseError(StorageError):
    """The database is damaged. It was moved aside, never overwritten, and nothing took its place.

    `kept_as` is where the damaged file is now; `backups` are older whole copies, newest first;
    `had` is what a person can choose to go on with.
    """

    def __init__(
        self, database: Path, *, reason: str, kept_as: Path, backups: tuple[Path, ...], had: Had
    ) -> None:
        parts = [f"{database} is damaged ({reason})", f"it is kept as {kept_as}"]
        if had.rest is not None:
            rest = had.rest
            parts.append(f"salvaged: {rest.path} ({rest.reach}; missing: {rest.missing})")
        elif had.backup is not None:
            parts.append("nothing salvaged beyond the backup")
        else:
            parts.append("nothing salvaged")
        if had.backup is not None:
            parts.append(f"newest intact backup: {had.backup.path} ({had.backup.reach})")
        else:
            parts.append("no intact backup" if backups else "there is no backup yet")
        super().__init__("; ".join(parts))
        self.database = database
        self.kept_as = kept_as
        self.backups = backups
        self.had = had


class DamagedFileError(StorageError):
    """SQLite met a page that is broken, in the middle of its work.

    Whoever opened the database closes it; a start that meets this keeps it aside, and after any
    other end the next start looks at every page.
    """


class DamagedRowsError(StorageError):
    """Rows are missing or make no sense, although every page of the file is whole.

    Whoever opened the database closes it and moves it aside. `seq` is the first row that makes no
    sense, None where rows or snapshots are missing.
    """

    def __init__(self, sentence: str, *, seq: int | None = None) -> None:
        super().__init__(sentence)
        self.seq = seq


class LostLogError(StorageError):
    """The last use ended uncleanly, and the writes that its log still contained are lost.

    Raised once: `copy` is what is left, whole, and the next start goes on with it. `backups` are
    older whole copies, newest first.
    """

    def __init__(self, database: Path, *, copy: Path, backups: tuple[Path, ...]) -> None:
        names = ", ".join(str(backup) for backup in backups) or "none"
        super().__init__(
            f"{lost_log(database)}; what is left is kept as {copy} too; backups: {names}"
        )
        self.copy = copy
        self.backups = backups


def lost_log(database: Path) -> str:
    """Error for a database whose log was removed after an unclean end."""
    return (
        f"the last orders and trades may be missing: the program was killed, and {database.name}"
        f"-wal is gone from {database.parent} since"
    )


class JournalOrderError(StorageError):
    """The journal takes rows without gap and without repetition."""

    def __init__(self, *, expected: int, seq: int) -> None:
        super().__init__(f"the journal expects row {expected}, not row {seq}; reopen it")
        self.expected = expected
        self.seq = seq


class DuplicateAnswerError(StorageError):
    """This agent's idempotency key already has an answer; nothing was written."""


class UnknownTicketError(StorageError):
    """No ticket has this id."""


class TicketStateError(StorageError):
    """A ticket does not go from this state to that, or exists already."""


class TakenError(StorageError):
    """The action of this once-key is done or in flight; nothing was written."""


class BudgetExceededError(StorageError):
    """An intent is larger than what its budget has left; all in micros. Nothing was written."""

    def __init__(self, *, reserved: int, requested: int, maximum: int) -> None:
        super().__init__(f"{requested} micros asked, {reserved} of {maximum} already reserved")
        self.reserved = reserved
        self.requested = requested
        self.maximum = maximum


_PRIMARY_CODE: Final = 0xFF
"""The lower byte of an extended result code is its family. Source: sqlite.org/rescode.html."""

FULL: Final = "the disk is full, nothing was written; make room and try again"
_BUSY: Final = "another program holds the database, nothing was written; try again"
_DAMAGED: Final = "the database is damaged; close the program and start again to have it checked"

_REMOVED: Final = (
    "the desk's file was removed, nothing was traded; end the program and start it again"
)
_REFUSED: Final = "the disk or the database refused; nothing was acknowledged"

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

_BY_CODE: Final[dict[int, tuple[type[StorageError], str]]] = {
    sqlite3.SQLITE_FULL: (StorageFullError, FULL),
    sqlite3.SQLITE_BUSY: (StorageBusyError, _BUSY),
    sqlite3.SQLITE_LOCKED: (StorageBusyError, _BUSY),
    sqlite3.SQLITE_CORRUPT: (DamagedFileError, _DAMAGED),
    sqlite3.SQLITE_NOTADB: (DamagedFileError, _DAMAGED),
    sqlite3.SQLITE_IOERR: (StorageError, _REFUSED),
    sqlite3.SQLITE_READONLY: (StorageError, "the database is open for reading only"),
    sqlite3.SQLITE_CANTOPEN: (StorageError, "the database file cannot be opened"),
}


def result_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 where Python itself raised the error."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def storage_error(error: sqlite3.Error | OSError) -> StorageError:
    """Our error, with a plain sentence, for one of SQLite's or of the system's."""
    kind: type[StorageError]
    if isinstance(error, FileGoneError):
        kind, sentence = FileRemovedError, _REMOVED
    elif isinstance(error, OSError):
        is_full = error.errno in _NO_ROOM
        kind, sentence = (StorageFullError, FULL) if is_full else (StorageError, _REFUSED)
    else:
        kind, sentence = _BY_CODE.get(result_code(error), (StorageError, _REFUSED))
    mapped = kind(f"{sentence} ({error})")
    mapped.__cause__ = error
    return mapped


@contextmanager
def as_storage_error() -> Generator[None]:
    """Turn what SQLite or the system raises inside into an error of ours."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise storage_error(error) from error
