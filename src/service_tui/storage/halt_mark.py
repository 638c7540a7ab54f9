"""The mark of a halt: an empty file, written even if the disk is full or the database damaged.

It says that this directory is halted since the time of the file. A later word in the database
counts over it.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from service_tui.storage.db.lock import open_private, private_directory
from service_tui.storage.errors import as_storage_error

HALT_MARK: Final = "halted"


def mark_halt(directory: Path, at: float) -> None:
    """Mark a directory as halted since `at`; it is made where there is none.

    Raises:
        StorageError: not even an empty file can be made.
    """
    private_directory(directory)
    path = directory / HALT_MARK
    with as_storage_error():
        os.close(open_private(path, os.O_WRONLY | os.O_CREAT))
        # ours: the name is not synced to disk, which a full one may refuse.
        os.utime(path, (at, at))


def clear_halt(directory: Path) -> None:
    """Remove the mark. One that stays is older than the end of the halt, and counts no more."""
    with suppress(OSError):
        (directory / HALT_MARK).unlink(missing_ok=True)


def marked_at(directory: Path) -> float | None:
    """Since when a directory is marked as halted; None where it is not.

    Whatever stands at the place of the mark counts: only a missing one is none.
    """
    try:
        return (directory / HALT_MARK).lstat().st_mtime
    except FileNotFoundError:
        return None
    except OSError:
        return None
