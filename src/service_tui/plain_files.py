"""Opens files of other programs safely: plain files only, and a bounded number of bytes."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE_MAX = 4_000_000
"""Bytes of a file of state; ours are far smaller."""


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a file, and wait for nobody: a pipe would be waited for for ever.

    Returns:
        The descriptor.

    Raises:
        OSError: it cannot be opened, or is no plain file.
    """
    opened = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is no plain file", str(path))


def read_plain(path: Path, most: int = FILE_MAX) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read, is no plain file, or is larger than `most`.
    """
    with os.fdopen(open_plain(path), "rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, "it is too large", str(path))
    return raw


@contextmanager
def folder_below(top: Path, folder: Path) -> Generator[int]:
    """A folder in a place that others write too, open; neither it nor what leads to it is a link.

    Yields:
        Its descriptor.

    Raises:
        OSError: it cannot be opened, or a part of the way is a link.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(top, flags)
    try:
        for part in folder.relative_to(top).parts:
            deeper = os.open(part, flags, dir_fd=opened)
            os.close(opened)
            opened = deeper
        yield opened
    finally:
        os.close(opened)


def open_below(top: Path, path: Path, flags: int) -> int:
    """Open a file in a place that others write too: no link leads elsewhere.

    Returns:
        The descriptor.

    Raises:
        OSError: it cannot be opened, is no plain file, or a part of the way is a link; to write,
            also where the file has another name.
    """
    with folder_below(top, path.parent) as folder:
        try:
            opened = _opened_in(folder, path, flags)
        except OSError as error:
            raise OSError(error.errno, _said(error), str(path)) from error
    status = os.fstat(opened)
    is_alone = status.st_nlink <= 1 or not flags & (os.O_WRONLY | os.O_RDWR)
    if stat.S_ISREG(status.st_mode) and is_alone:
        return opened
    os.close(opened)
    problem = "it has another name" if stat.S_ISREG(status.st_mode) else "it is no plain file"
    raise OSError(errno.EINVAL, problem, str(path))


def write_below(top: Path, path: Path, data: bytes, draft: str = ".new") -> None:
    """Write a file whole or not at all, in a place that others write too.

    `draft` ends the name of what is written first; two writers take one each.

    Raises:
        OSError: the disk refuses, or a part of the way is a link.
    """
    beside = path.with_suffix(draft)
    with folder_below(top, path.parent) as folder:
        with suppress(FileNotFoundError):
            os.unlink(beside.name, dir_fd=folder)
        opened = _opened_in(folder, beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside.name, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def _opened_in(folder: int, path: Path, flags: int) -> int:
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path.name, flags, 0o644, dir_fd=folder)


def _said(error: OSError) -> str:
    return "it is a link" if error.errno == errno.ELOOP else error.strerror or "refused"
