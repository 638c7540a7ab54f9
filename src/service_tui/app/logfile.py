"""The log on disk, readable by its owner alone."""

import faulthandler
import json
import logging
import os
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Final

from service_tui.storage.db.lock import open_private, private_directory
from service_tui.storage.errors import StorageError
from service_tui.wire.text import line

LOG_BYTES: Final = 2_000_000
LOGS_KEPT: Final = 2
MESSAGE_MAX: Final = 4_000
"""Letters of a record's message; what is longer is cut."""

STACKS_BYTES: Final = 1_000_000
"""A file of stacks that is larger is started again."""


ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
"""What `sys.exc_info` gives."""


class LogError(Exception):
    """The log cannot be written to its path; one plain sentence."""


def keep_log(path: Path, level: str = "info") -> None:
    """Log to a file from now on; its folder is created if needed.

    Args:
        path: the file.
        level: error, warning, info or debug. Libraries log info at most: their debug output may
        hold secrets.

    Raises:
        LogError: folder or file is not ours alone, or cannot be written; nothing was touched.
    """
    try:
        private_directory(path.parent)
        handler = PrivateLog(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    except StorageError as error:
        raise LogError(str(error)) from error
    except OSError as error:
        raise LogError(f"cannot write {path}: {error.strerror}") from error
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s %(message)s"))
    # No traceback of its own on the terminal, which belongs to the console.
    logging.raiseExceptions = False
    threshold = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(threshold, logging.INFO), handlers=[handler])
    logging.getLogger("service_tui").setLevel(threshold)
    # The HTTP library would log whole addresses, queries included.
    logging.getLogger("httpx").setLevel(max(threshold, logging.WARNING))


def log_to_output() -> None:
    """Log to standard output as well from now on, for a collector of logs."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLine())
    logging.getLogger().addHandler(handler)


_stacks: list[int] = []
"""The open file of stacks, if there is one."""


def keep_stacks(path: Path) -> None:
    """Write the stacks of all threads to a file at a crash, and on each SIGUSR1.

    Places only, never a value. The program goes on after SIGUSR1.

    Raises:
        LogError: the file is not ours alone, or cannot be written.
    """
    try:
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except StorageError as error:
        raise LogError(str(error)) from error
    except OSError as error:
        raise LogError(f"cannot write {path}: {error.strerror}") from error
    os.fchmod(descriptor, 0o600)
    if os.fstat(descriptor).st_size > STACKS_BYTES:
        os.ftruncate(descriptor, 0)
    # Open for as long as the process lives: a crash has no time to open anything.
    _stacks[:] = [descriptor]
    faulthandler.enable(descriptor)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, descriptor)


def note_stacks() -> None:
    """Write the current stacks of all threads, if there is a file for them."""
    for descriptor in _stacks:
        faulthandler.dump_traceback(descriptor)


class OneLine(logging.Formatter):
    """One line for each record, whatever text of others is in it: none can forge the next one.

    The lines of a traceback follow indented.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """The record's line; its message as harmless text."""
        record.message = line(record.message, MESSAGE_MAX)
        return super().formatMessage(record)

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's own name
        """The traceback, none of whose lines looks like a record's."""
        return "\n".join(
            f"  {line(one, MESSAGE_MAX)}" for one in super().formatException(ei).splitlines()
        )


class JsonLine(OneLine):
    """An object for each record, on one line; its traceback is a text of it.

    `fields` of a record, as `extra` gives them, are fields of the object.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        fields = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": line(record.getMessage(), MESSAGE_MAX),
            **record.__dict__.get("fields", {}),
        }
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields)


class PrivateLog(RotatingFileHandler):
    """A log that others cannot read, from its first byte and after each rotation.

    A disk that refuses a record costs that record: it is said once, and never with a traceback,
    which would be written over the console.
    """

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's own
        """Say once that the log cannot be written."""
        error = sys.exception()
        if self._has_failed or error is None:
            return
        self._has_failed = True
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        with suppress(OSError, ValueError):
            sys.stderr.write(f"service-tui: the log cannot be written ({reason})\n")

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors="backslashreplace")
