"""Replaces the database with a copy or an empty one, and keeps the old file.

Everything here blocks, and belongs to the lock's holder.
"""

from pathlib import Path

from service_tui.storage.db.backups import backups_of, copy_whole, new_copy, stamp
from service_tui.storage.db.connection import COMPANIONS, DATABASE_FILE
from service_tui.storage.db.inspection import DamageFound
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.db.schema import sync_directory
from service_tui.storage.db.wal import look
from service_tui.storage.errors import (
    DamagedFileError,
    DamagedRowsError,
    ForeignSchemaError,
    StorageError,
    as_storage_error,
)
from service_tui.storage.recovery.damage import answer, free_name, keep_question, move_aside
from service_tui.storage.recovery.salvage import Copy, examined


def back_up(directory: Path, to: Path | None, *, now: float) -> Copy:
    """Copy the database while it is in use, and verify the copy.

    Args:
        directory: the data directory.
        to: a new file; None for one beside the daily copies, which is never thrown away.
        now: seconds since 1970, for the name.

    Returns:
        The copy.

    Raises:
        StorageError: there is none, it cannot be copied, or the copy is damaged as the database.
    """
    path = directory / DATABASE_FILE
    if not path.exists():
        raise StorageError(f"there is no database in {directory}")
    if to is None:
        to = new_copy(directory, "kept", now=now)
    elif to.exists():
        raise StorageError(f"{to} is there already: nothing is written over it")
    with as_storage_error():
        copy_whole(path, to)
    try:
        return examined(to)
    except (DamageFound, DamagedFileError, DamagedRowsError) as damage:
        to.unlink(missing_ok=True)
        raise StorageError(f"{path} is damaged ({damage}); no copy was made") from damage
    except ForeignSchemaError as foreign:
        to.unlink(missing_ok=True)
        raise ForeignSchemaError(path, foreign.problem) from None


def restore(lock: DataDirLock, source: Path, *, now: float) -> tuple[Copy, Path | None]:
    """Put a copy in the place of the database, and keep what was there.

    Args:
        lock: held for the data directory.
        source: a whole database of ours; it stays where it is.
        now: seconds since 1970, for the name of what is replaced.

    Returns:
        What stands there now, and where the replaced one is; None where nothing was there.

    Raises:
        StorageError: it is no whole database; then nothing was changed.
    """
    path = lock.directory / DATABASE_FILE
    if source.resolve() == path.resolve():
        raise StorageError(f"{source} is the database itself: give one of its copies")
    draft = path.with_name(f"{path.name}.restored")
    try:
        copy = _fetched(source, draft)
        replaced = _replaced(path, f"{source} was about to take its place", now=now)
        draft.rename(path)
        sync_directory(path.parent)
    finally:
        draft.unlink(missing_ok=True)
    answer(path)
    return Copy(path, copy.seq, copy.at), replaced


def begin_anew(lock: DataDirLock, *, now: float) -> Path | None:
    """Make room for an empty database, which the next start makes.

    Returns:
        Where the one is kept that was there, None where there was none.
    """
    path = lock.directory / DATABASE_FILE
    replaced = _replaced(path, "a new desk was about to take its place", now=now)
    answer(path)
    return replaced


def copies_in(directory: Path) -> list[tuple[Path, Copy | str]]:
    """Every copy beside the database, newest first: its reach, or its problem."""
    copies: list[tuple[Path, Copy | str]] = []
    for path in backups_of(directory):
        try:
            copies.append((path, examined(path)))
        except (DamageFound, StorageError) as error:
            copies.append((path, str(error)))
    return copies


def _fetched(source: Path, draft: Path) -> Copy:
    """A copy of the source that is known to be whole."""
    if not source.is_file():
        raise StorageError(f"{source} is not there, or no file")
    odd = look(source).damage
    try:
        with as_storage_error():
            if not odd:
                copy_whole(source, draft)
                return examined(draft)
    except (DamageFound, DamagedFileError, DamagedRowsError) as damage:
        odd = str(damage.__cause__ or damage)
    except ForeignSchemaError as foreign:
        raise ForeignSchemaError(source, foreign.problem) from None
    raise StorageError(f"{source} is damaged ({odd}); nothing was changed")


def _replaced(path: Path, why: str, *, now: float) -> Path | None:
    """Rename what exists.

    Killed from here on, a start raises the question and makes nothing new.
    """
    if not any(path.with_name(path.name + suffix).exists() for suffix in ("", *COMPANIONS)):
        return None
    ending = f"replaced-{stamp(now)}"
    keep_question(path, reason=f"it is incomplete: {why}", kept_as=free_name(path, ending))
    return move_aside(path, ending)
