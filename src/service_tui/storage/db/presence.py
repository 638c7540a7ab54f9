"""Checks that the files being written still exist under their names.

SQLite goes on writing to a file that was removed, and says that all is well: what it acknowledges
then is gone with the process.
"""

import os
from pathlib import Path
from typing import Self

from service_tui.storage.errors import FileGoneError

Seen = tuple[str, int, int]
"""A path with the device and inode that stood there."""


class Presence:
    """The database and its log as they were when opened."""

    def __init__(self, database: Seen, log: Seen | None) -> None:
        self._database = database
        self._log = log

    @classmethod
    def of(cls, path: Path) -> Self:
        """Record the present files; the log only if there is one."""
        log = path.with_name(f"{path.name}-wal")
        return cls(_seen(path), _seen(log) if log.exists() else None)

    def check(self) -> None:
        """Check both files after a commit.

        Raises:
            FileGoneError: one of them was removed, or another one stands in its place.
        """
        self.check_database()
        if self._log is not None:
            check_seen(self._log)

    def check_database(self) -> None:
        """Check the database alone: its log comes and goes with the writer.

        Raises:
            FileGoneError: it was removed, or another one stands in its place.
        """
        check_seen(self._database)


def _seen(path: Path) -> Seen:
    status = path.stat()
    return str(path), status.st_dev, status.st_ino


def check_seen(seen: Seen) -> None:
    """Refuse to go on where a file is gone, or another one has its name."""
    path, device, inode = seen
    try:
        status = os.stat(path)  # noqa: PTH116  (after each commit: a Path costs as much again)
    except OSError as error:
        raise FileGoneError(error.errno, "it was removed", path) from error
    if status.st_ino != inode or status.st_dev != device:
        raise FileGoneError(None, "another file stands in its place", path)
