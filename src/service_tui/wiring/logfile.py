"""The log on disk: for its owner's eyes only.

Knows files and modes. Must not know who logs.
Used by cli.
"""

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

LOG_BYTES: Final = 2_000_000
LOGS_KEPT: Final = 2


def keep_log(path: Path) -> None:
    """Log to a file from now on, making its folder where there is none.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = PrivateLog(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # The HTTP library would log whole addresses, queries included.
    logging.getLogger("httpx").setLevel(logging.WARNING)


class PrivateLog(RotatingFileHandler):
    """A log that nobody else can read, from its first byte and after each rotation."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors="backslashreplace")
