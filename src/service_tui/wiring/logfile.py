"""The log on disk: for its owner's eyes only."""

import faulthandler
import logging
import os
import signal
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from service_tui.storage.db.lock import open_private, private_directory
from service_tui.storage.errors import StorageError

LOG_BYTES: Final = 2_000_000
LOGS_KEPT: Final = 2
STACKS_BYTES: Final = 1_000_000
"""A file of stacks that is larger begins anew."""


class LogError(Exception):
    """A log that cannot be kept where it was wanted; one plain sentence."""


def keep_log(path: Path, level: str = "info") -> None:
    """Log to a file from now on, making its folder where there is none.

    Args:
        path: the file.
        level: error, warning, info or debug. Of libraries no more is kept than at info: what they
            say for debugging may hold what nobody is to read.

    Raises:
        LogError: folder or file is not ours alone, or cannot be written; nothing was touched.
    """
    try:
        private_directory(path.parent)
        handler = PrivateLog(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    except StorageError as error:
        raise LogError(str(error)) from error
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error.strerror}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    wanted = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(wanted, logging.INFO), handlers=[handler])
    logging.getLogger("service_tui").setLevel(wanted)
    # The HTTP library would log whole addresses, queries included.
    logging.getLogger("httpx").setLevel(max(wanted, logging.WARNING))


_stacks: list[int] = []
"""The open file of stacks, once there is one."""


def keep_stacks(path: Path) -> None:
    """Have the places of all threads written to a file: at a crash, and whenever SIGUSR1 comes.

    Places only, never a value. The program goes on after SIGUSR1.

    Raises:
        LogError: the file is not ours alone, or cannot be written.
    """
    try:
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except StorageError as error:
        raise LogError(str(error)) from error
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error.strerror}") from error
    os.fchmod(descriptor, 0o600)
    if os.fstat(descriptor).st_size > STACKS_BYTES:
        os.ftruncate(descriptor, 0)
    # Open for as long as the process lives: a crash has no time to open anything.
    _stacks[:] = [descriptor]
    faulthandler.enable(descriptor)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, descriptor)


def note_stacks() -> None:
    """Write down where all threads are now, if there is a file for it."""
    for descriptor in _stacks:
        faulthandler.dump_traceback(descriptor)


class PrivateLog(RotatingFileHandler):
    """A log that nobody else can read, from its first byte and after each rotation."""

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors="backslashreplace")
