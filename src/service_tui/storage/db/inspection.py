"""Checks a database before anything is written to it."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.storage.db.conditions import DAMAGE_MET
from service_tui.storage.db.connection import connect_to_read, connect_to_write
from service_tui.storage.db.schema import Schema
from service_tui.storage.db.schema_check import ForeignSchema, MissingObject, check_schema
from service_tui.storage.db.wal import LOG_HEADER, log_of, look
from service_tui.storage.errors import ForeignSchemaError, NewerSchemaError, result_code

_MAGIC: Final = b"SQLite format 3\0"
"""Source: sqlite.org/fileformat2.html, 1.3.1."""

_MODE_AT: Final = 18
_WITH_LOG: Final = 2
"""Byte that marks a file with a write-ahead log. Source: the same."""

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


_CLOSED_AT: Final = "SELECT closed_at FROM use"


class DamageFound(Exception):
    """The file is damaged, or no database of this program; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Schema version of a database, and whether its last use was closed.

    `log_is_lost`: it was not closed, and the log that it then must have had is gone.
    """

    version: int
    ended_in_order: bool
    log_is_lost: bool


def inspect(path: Path, *, schema: Schema, timeout_s: float, is_in_use: bool = False) -> Inspection:
    """Check an existing database without writing to it.

    Args:
        path: the database.
        schema: the newest one of ours.
        timeout_s: how long to wait for another program.
        is_in_use: another process has it open, and its log changes during the check.

    Returns:
        Its state; the version is at least 1 and at most that of the schema.

    Raises:
        DamageFound: empty, cut, overwritten, or a database of another program; or its log is
            incomplete, which SQLite would not report.
        NewerSchemaError: its version is above that of the schema.
        ForeignSchemaError: it declares what is not ours.
    """
    with path.open("rb") as file:
        head = file.read(_MODE_AT + 1)
    if not head.startswith(_MAGIC):
        raise DamageFound("the file is not a database" if head else "the file is empty")
    # First of all: SQLite rewrites the log's index, and with it the evidence of a loss.
    if not is_in_use and (odd := look(path).damage):
        raise DamageFound(odd)
    needs_log = head[_MODE_AT:] == bytes((_WITH_LOG,)) and not _has_log(path)
    _finish_rollback(path, timeout_s=timeout_s)
    with _reading(path, timeout_s=timeout_s) as connection:
        version = _version(connection)
        if version > schema.version:
            raise NewerSchemaError(path, found=version, known=schema.version)
        if version <= 0:
            raise DamageFound("it is a database of another program")
        try:
            check_schema(connection, version=version, schema=schema)
        except MissingObject as missing:
            raise DamageFound(str(missing)) from None
        except ForeignSchema as foreign:
            raise ForeignSchemaError(path, str(foreign)) from None
        closed = connection.execute(_CLOSED_AT).fetchone()
        return Inspection(
            version,
            ended_in_order=closed not in {None, (None,), (DAMAGE_MET,)},
            # A use is on record here before its first write is in the log: see `port_to`.
            log_is_lost=needs_log and closed == (None,),
        )


def check_pages(path: Path, *, timeout_s: float, thorough: bool = False) -> None:
    """Read every page of a database; thoroughly, also whether each index fits its table.

    Raises:
        DamageFound: a page is not as it must be.
    """
    with _reading(path, timeout_s=timeout_s) as connection:
        check = "integrity_check" if thorough else "quick_check"
        (verdict,) = connection.execute(f"PRAGMA {check}(1)").fetchone()
        if verdict != "ok":
            raise DamageFound(str(verdict))


def is_damage(error: BaseException | None) -> bool:
    """True if SQLite reports that the file itself is damaged."""
    return isinstance(error, sqlite3.Error) and result_code(error) in _DAMAGE


@contextmanager
def _reading(path: Path, *, timeout_s: float) -> Generator[sqlite3.Connection]:
    """A reading connection; errors that mean damage are raised as `DamageFound`."""
    try:
        with closing(connect_to_read(path, timeout_s=timeout_s)) as connection:
            yield connection
    except UnicodeDecodeError as error:
        raise DamageFound("its text is not readable") from error
    except sqlite3.Error as error:
        # Our own statements fail only if tables or columns are missing.
        if is_damage(error) or result_code(error) in {0, sqlite3.SQLITE_ERROR}:
            raise DamageFound(str(error)) from error
        raise


def _has_log(path: Path) -> bool:
    """True if there is a log with content; readers may leave an empty one."""
    try:
        return log_of(path).stat().st_size > LOG_HEADER
    except FileNotFoundError:
        return False


def _finish_rollback(path: Path, *, timeout_s: float) -> None:
    """Roll back the unfinished transaction of a killed program, which a reader cannot do."""
    if path.with_name(f"{path.name}-journal").exists():
        with closing(connect_to_write(path, with_wal=False, timeout_s=timeout_s)) as connection:
            _version(connection)


def _version(connection: sqlite3.Connection) -> int:
    # The count makes SQLite read the whole schema, and with it the size of the file.
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
