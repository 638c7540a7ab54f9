"""Lock of the data directory: private, with one owner at a time.

The kernel drops the lock of a dead process, so that what the file holds is news, never the lock
itself. `storage.database` asks for the lock before it turns on WAL.
"""

import fcntl
import json
import logging
import math
import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG, S_IWGRP, S_IWOTH
from typing import Final, Self

from service_tui.storage.errors import (
    DirectoryLockedError,
    Holder,
    LockUnavailableError,
    UnreadableDirectoryError,
)

log = logging.getLogger(__name__)

LOCK_FILE: Final = "desk.lock"

_OPEN_TO_OTHERS: Final = S_IWGRP | S_IWOTH
_LINE_MAX: Final = 4096
"""Bytes of the lock file that are read; ours has under 200."""

_UNKNOWN_HOLDER: Final = Holder(None, None, None)


class DataDirLock:
    """The right to write in a data directory, held until `release` or the end of the process."""

    def __init__(self, directory: Path, descriptor: int, holder: Holder) -> None:
        self.directory = directory
        self.holder = holder
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, directory: Path, *, pid: int, now: float) -> Self:
        """Acquire the lock; makes the directory (0700) if missing.

        Args:
            directory: the data directory.
            pid: this process, shown where the lock is taken.
            now: seconds since 1970.

        Returns:
            The lock, held. What a dead process left in the file is overwritten.

        Raises:
            DirectoryLockedError: another process, or another lock of this one, holds it.
            LockUnavailableError: the file system cannot lock.
            UnreadableDirectoryError: the directory or its lock file is not ours alone to write.
        """
        private_directory(directory)
        path = directory / LOCK_FILE
        try:
            descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise UnreadableDirectoryError(f"{path} cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _read(descriptor)
            os.close(descriptor)
            raise DirectoryLockedError(directory, holder) from error
        except OSError as error:
            os.close(descriptor)
            raise LockUnavailableError(f"{path} cannot be locked: {error.strerror}") from error
        lock = cls(directory, descriptor, Holder(pid, now, None))
        lock.publish(None)
        return lock

    @property
    def is_ours(self) -> bool:
        """False once released."""
        return self._descriptor is not None

    def publish(self, address: str | None) -> None:
        """Publish the address where this process serves; None removes it.

        A disk that has no byte for it is no reason to stop: the lock holds, and others find no
        address.
        """
        if self._descriptor is None:
            raise LockUnavailableError(f"the lock of {self.directory} is released already")
        self.holder = Holder(self.holder.pid, self.holder.since, address)
        body = {
            "pid": self.holder.pid,
            "started_at": self.holder.since,
            "address": address,
        }
        line = json.dumps(body).encode() + b"\n"
        try:
            # One write, then the cut: a reader between the two sees a whole first line.
            os.pwrite(self._descriptor, line, 0)
            os.ftruncate(self._descriptor, len(line))
        except OSError as error:
            log.warning("the lock file does not name this process: %s", error.strerror)
            # What stands there may be the address of another one.
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)

    def release(self) -> None:
        """Let the next process in. A second call does nothing.

        The file stays: to remove it would let two processes lock two files of one name.
        """
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def holder_of(directory: Path) -> Holder | None:
    """Current owner of a data directory; changes nothing.

    What a dead process left in the file does not count: the kernel dropped its lock.

    Returns:
        The owner, as far as its file names it; None if the directory has none.

    Raises:
        UnreadableDirectoryError: the lock file is not ours alone to write, or cannot be read.
    """
    path = directory / LOCK_FILE
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableDirectoryError(f"{path} cannot be read: {error.strerror}") from error
    try:
        # Shared, and dropped at once: a process that takes the lock in this moment tries again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    except OSError:
        # A file system that cannot lock: no process has published anything.
        return None
    else:
        return None
    finally:
        os.close(descriptor)


def private_directory(directory: Path) -> None:
    """Make a directory for us alone (0700), or check that the existing one is.

    Raises:
        UnreadableDirectoryError: it cannot be made, is no directory, belongs to another user, or
            others may write in it.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableDirectoryError(
            f"{directory} cannot be used as a data directory: {error.strerror}"
        ) from error
    refuse_foreign_directory(directory)


def refuse_foreign_directory(directory: Path) -> None:
    """Check that an existing directory is ours, that we can and others cannot write in it.

    Raises:
        UnreadableDirectoryError: it is not.
    """
    try:
        status = directory.stat()
    except OSError as error:
        raise UnreadableDirectoryError(
            f"{directory} cannot be used as a data directory: {error.strerror}"
        ) from error
    _refuse_foreign(directory, status)
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise UnreadableDirectoryError(f"{directory} is not ours to write; chmod 700 {directory}")


def refuse_foreign_file(path: Path) -> None:
    """Raise unless a file is missing, or ours and writable by no other user.

    Raises:
        UnreadableDirectoryError: it belongs to another user, others may write it, or it is no
            plain file.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnreadableDirectoryError(f"{path} cannot be read: {error.strerror}") from error
    _refuse_odd(path, status)


def open_private(path: Path, flags: int) -> int:
    """Open a plain file of ours; made (0600) if `flags` allow; nothing else is touched.

    Returns:
        The descriptor. Neither a link nor a pipe in place of the file is followed or waited for.

    Raises:
        UnreadableDirectoryError: it belongs to another user, others may write it, or it is no
            plain file.
        OSError: it cannot be opened.
    """
    refuse_foreign_file(path)
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        # Once more, now that it cannot be exchanged any longer.
        _refuse_odd(path, os.fstat(descriptor))
    except UnreadableDirectoryError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_odd(path: Path, status: os.stat_result) -> None:
    if not S_ISREG(status.st_mode):
        raise UnreadableDirectoryError(f"{path} is not a plain file; move it away")
    _refuse_foreign(path, status)


def _refuse_foreign(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise UnreadableDirectoryError(f"{path} belongs to another user; use a directory of yours")
    if status.st_mode & _OPEN_TO_OTHERS:
        raise UnreadableDirectoryError(f"others may write {path}; chmod go-w {path}")


def _read(descriptor: int) -> Holder:
    """Owner that the lock file names; unknown if it is empty or not readable."""
    try:
        first, _, _ = os.pread(descriptor, _LINE_MAX, 0).partition(b"\n")
        match json.loads(first):
            case {"pid": int(pid), "started_at": int() | float() as since, "address": address} if (
                type(pid) is int and type(since) in {int, float} and math.isfinite(since)
            ):
                return Holder(pid, float(since), address if isinstance(address, str) else None)
            case _:
                return _UNKNOWN_HOLDER
    except (OSError, ValueError, OverflowError, RecursionError):
        return _UNKNOWN_HOLDER
