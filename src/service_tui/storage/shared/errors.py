"""PostgreSQL's errors as ours, each a sentence with its fix."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg import errors

from service_tui.storage.errors import StorageBusyError, StorageError, StorageFullError


class NotLeadingError(StorageError):
    """This process does not lead the world, or is not certain of it; nothing was written."""


_GONE: Final = "the database does not answer; nothing was acknowledged"
_FULL: Final = "the database's disk is full, nothing was written; make room and try again"
_BUSY: Final = "the database was too busy, nothing was written; try again"
_RIGHTS: Final = "this user of the database lacks a right; grant it, then start again"
_REFUSED: Final = "the database refused; nothing was acknowledged"


def shared_error(error: psycopg.Error) -> StorageError:
    """Our error, with a plain sentence, for one of PostgreSQL's or of its driver's."""
    kind, sentence = _named(error)
    mapped = kind(f"{sentence} ({_first_line(error)})")
    mapped.__cause__ = error
    return mapped


def _named(error: psycopg.Error) -> tuple[type[StorageError], str]:
    if isinstance(error, errors.DiskFull):
        return StorageFullError, _FULL
    if isinstance(error, errors.InsufficientPrivilege):
        return StorageError, _RIGHTS
    if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled | errors.DeadlockDetected):
        return StorageBusyError, _BUSY
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StorageError, _GONE
    return StorageError, _REFUSED


def _first_line(error: psycopg.Error) -> str:
    """Error text of the server or the driver, in one line; it never contains a password."""
    if error.diag.message_primary:
        # The whole text goes on with the place in the statement: its last line is a "^".
        return error.diag.message_primary.splitlines()[0]
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # Each address that was tried has a line of its own; the last one is the reason.
    text = lines[0] if len(lines) == 1 or "FATAL" in lines[0] else lines[-1]
    return text.rpartition("FATAL:")[2].strip() or text


@contextmanager
def as_shared_error() -> Generator[None]:
    """Turn what PostgreSQL's driver raises inside into an error of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise shared_error(error) from error
