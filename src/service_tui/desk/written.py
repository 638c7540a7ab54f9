"""Files that a person asked for: each whole or not there, for nobody else, over nothing.

Knows files. Must not know what is in them.
Used by the handler of exports and by the command line.
"""

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write all of them, or, where one of the names is taken, none.

    Raises:
        FileExistsError: a file of that name is there; nothing was written over it.
        OSError: the disk refuses; files that were written whole before that stay.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in files:
        if os.path.lexists(folder / name):
            raise FileExistsError(f"{folder / name} is there already: nothing was written")
    for name, text in files.items():
        write_new(folder / name, text)


def write_new(path: Path, text: str) -> None:
    """Write one file whole, readable for its owner alone, and never over another one.

    Raises:
        FileExistsError: a file of that name is there.
        OSError: the disk refuses; nothing is left of it.
    """
    if not path.name:
        raise OSError(errno.EINVAL, "it names no file", str(path))
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        _write_draft(draft, path, text)
    except OSError as error:
        # The person knows the file that was asked for, and no draft of it.
        if error.filename != str(draft):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _write_draft(draft: Path, path: Path, text: str) -> None:
    """Write beside the file, then give it its name; no draft is left."""
    made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(made, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _give_name(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _give_name(draft: Path, path: Path) -> None:
    """Rename where the name is free: a second name is made and the first goes away."""
    try:
        # Unlike a rename, a link never takes the place of what came there in the meantime.
        os.link(draft, path, follow_symlinks=False)
    except FileExistsError:
        raise FileExistsError(f"{path} is there already: nothing was written") from None
    except OSError:
        # Some file systems know no second name.
        if os.path.lexists(path):
            raise FileExistsError(f"{path} is there already: nothing was written") from None
        draft.replace(path)
