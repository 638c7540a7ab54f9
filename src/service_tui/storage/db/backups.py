"""Whole copies of the database: one a day, and one before a change of schema."""

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Final

from service_tui.storage.db.connection import BUSY_TIMEOUT_S, DATABASE_FILE, connect_to_read
from service_tui.storage.db.lock import holder_of, private_directory
from service_tui.storage.db.room import copied_elsewhere, has_room
from service_tui.storage.db.schema import sync_directory

KEPT_DAYS: Final = 7
"""Source: failures, F-15."""

FOLDER: Final = "backups"
"""Where the copies lie, below the data directory."""
_DAILY: Final = re.compile(r"desk-\d{4}-\d\d-\d\d\.sqlite3")


def back_up_daily(directory: Path, *, now: float) -> Path | None:
    """Copy the database once a UTC day and keep the last seven; blocks until the copy is on disk.

    Safe while others write. Meets `sqlite3.Error` and `OSError`; then nothing is left behind and
    the older copies stay.

    Returns:
        The new copy, None where the day has one already.
    """
    copy = directory / FOLDER / f"desk-{datetime.fromtimestamp(now, UTC):%Y-%m-%d}.sqlite3"
    if copy.exists():
        return None
    _copy(directory / DATABASE_FILE, copy)
    daily = sorted(path for path in copy.parent.iterdir() if _DAILY.fullmatch(path.name))
    for old in daily[:-KEPT_DAYS]:
        old.unlink()
    return copy


def back_up_before_migration(directory: Path, *, version: int, now: float) -> Path:
    """Copy the database as it is before its schema changes; such a copy is never thrown away.

    Returns:
        The copy, named after the schema version in it.
    """
    copy = directory / FOLDER / f"desk-schema-{version}-{stamp(now)}.sqlite3"
    _copy(directory / DATABASE_FILE, copy)
    return copy


def back_up_without_log(directory: Path, *, now: float) -> Path:
    """Copy a database whose log was removed; such a copy is never deleted.

    Returns:
        The copy.
    """
    copy = directory / FOLDER / f"desk-without-log-{stamp(now)}.sqlite3"
    _copy(directory / DATABASE_FILE, copy)
    return copy


def backups_of(directory: Path) -> tuple[Path, ...]:
    """Every whole copy, newest first."""
    copies = (directory / FOLDER).glob("desk-*.sqlite3")
    return tuple(sorted(copies, key=lambda path: path.stat().st_mtime, reverse=True))


def new_copy(directory: Path, what: str, *, now: float) -> Path:
    """A name that no copy has yet, in the folder of the copies, which is made."""
    folder = directory / FOLDER
    private_directory(folder)
    name = f"desk-{what}-{stamp(now)}"
    return first_free(lambda number: folder / f"{name}{number}.sqlite3")


def first_free(named: Callable[[str], Path]) -> Path:
    """The first path that nothing has yet: made without a number, then with `-2`, `-3`."""
    numbers = chain(("",), (f"-{number}" for number in count(2)))
    return next(path for one in numbers if not (path := named(one)).exists())


def stamp(now: float) -> str:
    """A time as part of a file name, to the second, UTC."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"


def copy_whole(database: Path, copy: Path) -> None:
    """Make `copy`, whole or not at all, readable by us alone and complete without a log.

    Safe while others write. Meets `sqlite3.Error` and `OSError`; then nothing is left behind. The
    folder is that of the caller, who has made sure of it.
    """
    try:
        _copy_pages(database, copy)
    except sqlite3.OperationalError:
        if has_room(database.parent) or holder_of(database.parent) is not None:
            raise
        # Nobody has it open, and there is no byte for SQLite's index of its log.
        with copied_elsewhere(database) as folder:
            _copy_pages(folder / database.name, copy)


def _copy_pages(database: Path, copy: Path) -> None:
    unfinished = copy.with_name(f"{copy.name}.part")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with (
            closing(connect_to_read(database, timeout_s=BUSY_TIMEOUT_S)) as source,
            closing(sqlite3.connect(unfinished, isolation_level=None)) as target,
        ):
            # All pages in one step: one moment of the database, and no start over when it changes.
            source.backup(target, pages=-1)
            target.execute("PRAGMA journal_mode=DELETE")
        _sync(unfinished)
        unfinished.replace(copy)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(copy.parent)


def _copy(database: Path, copy: Path) -> None:
    # A directory that was removed while in use must not come back without what was in it.
    database.stat()
    private_directory(copy.parent)
    copy_whole(database, copy)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
