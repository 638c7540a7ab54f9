"""Checks whether a disk accepts writes, and copies a database elsewhere if it does not.

SQLite wants some bytes beside a database with a log even to read it.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service_tui.storage.db.connection import COMPANIONS
from service_tui.storage.errors import StorageFullError, as_storage_error

NEEDED: Final = 65_536
"""Twice what SQLite makes for the index of a log. Source: sqlite.org/walformat.html, 2.1."""

_INDEX: Final = "-shm"
"""Made again by SQLite."""

_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def has_room(folder: Path) -> bool:
    """True if a few bytes can be written in a folder: not on a full disk, nor over a quota."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(NEEDED))
            file.flush()
    except OSError:
        return False
    return True


@contextmanager
def copied_elsewhere(database: Path) -> Generator[Path]:
    """Copy a database with its log to where there is room; nobody writes it meanwhile.

    Yields:
        A folder with the copy, which is removed at the end.

    Raises:
        StorageFullError: there is no room elsewhere either.
    """
    with tempfile.TemporaryDirectory(prefix="service-tui-", dir=with_room()) as name:
        folder = Path(name)
        with as_storage_error():
            names = [f"{database.name}{suffix}" for suffix in ("", *COMPANIONS) if suffix != _INDEX]
            for part in filter(Path.exists, map(database.with_name, names)):
                shutil.copyfile(part, folder / part.name)
        yield folder


def with_room() -> Path:
    """A folder for temporary files that takes something.

    Raises:
        StorageFullError: there is none.
    """
    try:
        usual = Path(tempfile.gettempdir())
    except OSError:
        usual = _IN_MEMORY
    for folder in (usual, _IN_MEMORY):
        if folder.is_dir() and has_room(folder):
            return folder
    raise StorageFullError("no disk of this machine has room for a copy; make room and try again")
