"""Files of this machine that may be anything: only a plain one is read, and no more than asked."""

import errno
import os
import stat
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
