"""Opens a data directory's database: checks it, then migrates it to today's schema.

Everything here blocks.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from service_tui.storage.db.backups import back_up_before_migration, back_up_without_log, backups_of
from service_tui.storage.db.connection import (
    BUSY_TIMEOUT_S,
    COMPANIONS,
    DATABASE_FILE,
    connect_to_write,
)
from service_tui.storage.db.database import Database, note_end, port_to
from service_tui.storage.db.inspection import (
    DamageFound,
    Inspection,
    check_pages,
    inspect,
    is_damage,
)
from service_tui.storage.db.lock import (
    DataDirLock,
    holder_of,
    private_directory,
    refuse_foreign_file,
)
from service_tui.storage.db.room import has_room
from service_tui.storage.db.schema import SCHEMA, Schema, create, migrate
from service_tui.storage.errors import (
    FULL,
    LockUnavailableError,
    LostLogError,
    StorageError,
    StorageFullError,
    as_storage_error,
)
from service_tui.storage.recovery.damage import open_question, set_aside


def open_database(
    directory: Path,
    *,
    now: float,
    lock: DataDirLock | None,
    timeout_s: float = BUSY_TIMEOUT_S,
    schema: Schema = SCHEMA,
) -> Database:
    """Open the directory's database for writing, making it where there is none. Blocks.

    Fails with `CorruptDatabaseError` when it was damaged, and is moved aside, and again until
    somebody has chosen what takes its place (`restoring`); with
    `NewerSchemaError` when a newer program wrote it; with `LostLogError`, once, when its log was
    removed after an unclean end; with `UnreadableDirectoryError` when others may write in it; with
    another `StorageError` for all that the disk refuses.

    Args:
        directory: the data directory.
        now: seconds since 1970, for the names of copies.
        lock: held for this directory; None where the file system cannot lock, which costs speed.
        timeout_s: how long a write waits for another program.
        schema: what this program knows; another one in tests.

    Returns:
        The database, with its writer running.

    Raises:
        LockUnavailableError: the lock is released or belongs to another directory.
    """
    if lock is not None and not _holds(lock, directory):
        raise LockUnavailableError(f"the lock of {directory} is not held")
    path = _guarded(directory)
    with_wal = lock is not None
    with _named_full(directory), _damage_moved_aside(path, now=now), as_storage_error():
        _prepare(path, now=now, is_alone=with_wal, timeout_s=timeout_s, schema=schema)
        port = port_to(path, with_wal=with_wal, timeout_s=timeout_s)
    return Database(path, port=port, with_wal=with_wal, timeout_s=timeout_s)


def open_for_reading(
    directory: Path, *, timeout_s: float = BUSY_TIMEOUT_S, schema: Schema = SCHEMA
) -> Database:
    """Open a database that another process may be writing. Blocks.

    Returns:
        The database; everything that writes is refused.

    Raises:
        StorageError: there is none, or it is damaged, of an older schema, or, as a subclass, of a
            newer one; it is left as it is.
    """
    seen = look_at(directory, timeout_s=timeout_s, schema=schema)
    path = directory / DATABASE_FILE
    if seen.version < schema.version:
        raise StorageError(f"{path} has an older schema; open it for writing once")
    return Database(path, port=None, with_wal=False, timeout_s=timeout_s)


def look_at(directory: Path, *, timeout_s: float, schema: Schema = SCHEMA) -> Inspection:
    """Check a database that another process may be writing. Blocks.

    Returns:
        Its schema version and last use.

    Raises:
        StorageError: there is none, or it is damaged or, as a subclass, of a newer schema; it is
            left as it is.
    """
    path = _guarded(directory)
    try:
        with as_storage_error():
            is_in_use = holder_of(directory) is not None
            return inspect(path, schema=schema, timeout_s=timeout_s, is_in_use=is_in_use)
    except DamageFound as damage:
        todo = "the next start keeps it aside and asks what goes on"
        raise StorageError(f"{path} is damaged ({damage}); {todo}") from damage


@contextmanager
def _named_full(directory: Path) -> Generator[None]:
    """Context that names the full disk, of which SQLite often knows no more than a failed write."""
    try:
        yield
    except StorageError as error:
        if type(error) is StorageError and not has_room(directory):
            raise StorageFullError(FULL) from error
        raise


@contextmanager
def _damage_moved_aside(path: Path, *, now: float) -> Generator[None]:
    """Context that moves a database aside if it turns out to be damaged."""
    try:
        yield
    except DamageFound as damage:
        raise set_aside(path, reason=str(damage), now=now) from damage
    except StorageError as error:
        if is_damage(error.__cause__):
            raise set_aside(path, reason=str(error.__cause__), now=now) from error
        raise


def _holds(lock: DataDirLock, directory: Path) -> bool:
    return lock.is_ours and lock.directory.resolve() == directory.resolve()


def _guarded(directory: Path) -> Path:
    """The database's path, once directory and files are known to be ours alone."""
    private_directory(directory)
    path = directory / DATABASE_FILE
    for suffix in ("", *COMPANIONS):
        refuse_foreign_file(path.with_name(path.name + suffix))
    return path


def _prepare(path: Path, *, now: float, is_alone: bool, timeout_s: float, schema: Schema) -> None:
    """Leave a whole database of today's schema at `path`."""
    question = open_question(path)
    if question is not None:
        raise question
    if not path.exists():
        if any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-journal")):
            raise DamageFound("the file is gone, its log is still here")
        create(path, version=schema.version)
        return
    seen = inspect(path, schema=schema, timeout_s=timeout_s)
    # Without the lock, one may have ended in order while another did not.
    if not (is_alone and seen.ended_in_order):
        check_pages(path, timeout_s=timeout_s)
    if seen.log_is_lost:
        backups = backups_of(path.parent)
        copy = back_up_without_log(path.parent, now=now)
        # Said once: the next start goes on.
        note_end(path, with_wal=is_alone, timeout_s=timeout_s, now=now)
        raise LostLogError(path, copy=copy, backups=backups)
    if seen.version < schema.version:
        back_up_before_migration(path.parent, version=seen.version, now=now)
        connection = connect_to_write(path, with_wal=is_alone, timeout_s=timeout_s)
        try:
            migrate(connection, found=seen.version, schema=schema)
        finally:
            connection.close()
