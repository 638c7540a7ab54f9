"""What an error of the disk or of the database becomes."""

import errno
import sqlite3
from pathlib import Path

import pytest

from service_tui.storage.errors import (
    CorruptDatabaseError,
    DamagedFileError,
    FileGoneError,
    FileRemovedError,
    Had,
    LostLogError,
    Rest,
    StorageBusyError,
    StorageError,
    StorageFullError,
    as_storage_error,
    result_code,
    storage_error,
)


def of_sqlite(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as sqlite says")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileGoneError("gone"), FileRemovedError),
        (OSError(errno.ENOSPC, "full"), StorageFullError),
        (OSError(errno.EDQUOT, "quota"), StorageFullError),
        (OSError(errno.EACCES, "no"), StorageError),
        (of_sqlite(sqlite3.SQLITE_FULL), StorageFullError),
        (of_sqlite(sqlite3.SQLITE_BUSY), StorageBusyError),
        (of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), StorageBusyError),
        (of_sqlite(sqlite3.SQLITE_LOCKED), StorageBusyError),
        (of_sqlite(sqlite3.SQLITE_CORRUPT), DamagedFileError),
        (of_sqlite(sqlite3.SQLITE_CANTOPEN), StorageError),
        (of_sqlite(999), StorageError),
        (sqlite3.ProgrammingError("ours"), StorageError),
    ],
)
def test_an_error_becomes_one_of_ours_and_keeps_its_cause(
    error: sqlite3.Error | OSError, kind: type[StorageError]
) -> None:
    found = storage_error(error)
    assert type(found) is kind
    assert found.__cause__ is error
    assert str(found).endswith(f"({error})")
    with pytest.raises(kind), as_storage_error():
        raise error


def test_an_extended_code_is_told_by_its_primary_one() -> None:
    assert result_code(of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT)) == sqlite3.SQLITE_BUSY
    assert result_code(sqlite3.ProgrammingError("ours")) == 0


def test_an_error_of_no_disk_passes_as_it_is() -> None:
    with pytest.raises(KeyError), as_storage_error():
        raise KeyError("x")


REST = Rest(Path("/d/left"), "up to row 7", "rows 8 to 9")
BACKUP = Rest(Path("/d/backup"), "up to row 5")


@pytest.mark.parametrize(
    ("had", "backups", "parts"),
    [
        (
            Had(REST, BACKUP), (BACKUP.path,),
            [
                "salvaged: /d/left (up to row 7; missing: rows 8 to 9)",
                "newest intact backup: /d/backup (up to row 5)",
            ],
        ),
        (
            Had(REST), (), [
                "salvaged: /d/left (up to row 7; missing: rows 8 to 9)", "there is no backup yet",
            ],
        ),
        (
            Had(None, BACKUP), (BACKUP.path,), [
                "nothing salvaged beyond the backup",
                "newest intact backup: /d/backup (up to row 5)",
            ],
        ),
        (Had(), (BACKUP.path,), ["nothing salvaged", "no intact backup"]),
        (Had(), (), ["nothing salvaged", "there is no backup yet"]),
    ],
)  # fmt: skip
def test_damage_says_what_can_be_had(had: Had, backups: tuple[Path, ...], parts: list[str]) -> None:
    error = CorruptDatabaseError(
        Path("/d/desk"), reason="odd", kept_as=Path("/d/kept"), backups=backups, had=had
    )
    assert str(error).split("; it is kept as /d/kept; ") == [
        "/d/desk is damaged (odd)", "; ".join(parts),
    ]  # fmt: skip
    assert (error.database, error.kept_as) == (Path("/d/desk"), Path("/d/kept"))
    assert (error.backups, error.had) == (backups, had)


@pytest.mark.parametrize(
    ("backups", "named"), [((), "none"), ((Path("/d/b"), Path("/d/a")), "/d/b, /d/a")]
)
def test_a_lost_log_names_the_copy_and_the_backups(backups: tuple[Path, ...], named: str) -> None:
    error = LostLogError(Path("/d/desk.sqlite3"), copy=Path("/d/copy"), backups=backups)
    assert "desk.sqlite3-wal is gone from /d since" in str(error)
    assert str(error).endswith(f"what is left is kept as /d/copy too; backups: {named}")
    assert (error.copy, error.backups) == (Path("/d/copy"), backups)
