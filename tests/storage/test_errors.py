"""What an error of the disk or of the database becomes."""

import errno
import sqlite3

import pytest

from service_tui.storage.errors import (
    DamagedFileError,
    FileGoneError,
    FileRemovedError,
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
