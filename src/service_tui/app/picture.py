"""The console's last picture, shown dimmed and marked while the console loads.

The file holds our own screen as plain text; control characters are removed before it is
drawn.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from service_tui.console.shell.ending import KILLED, Signals
from service_tui.storage.db.lock import open_private, refuse_foreign_directory
from service_tui.storage.errors import StorageError

PICTURE_FILE: Final = "last-screen.txt"
PICTURE_MAX: Final = 200_000
BADGE: Final = " opening: last known state "

_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H\x1b[2m"
_LEAVE: Final = "\x1b[0m"
_BACK: Final = "\x1b[?1049l\x1b[?25h"
"""Alternate screen (the console enters it again and leaves it once), no cursor, dim."""


def show(data_dir: Path) -> bool:
    """Draw the last picture if it was taken at this size.

    Returns:
        True if a picture was drawn.
    """
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
        descriptor = open_private(data_dir / PICTURE_FILE, os.O_RDONLY)
        with os.fdopen(descriptor, encoding="utf-8") as file:
            header, *lines = file.read(PICTURE_MAX).splitlines()
    except (OSError, ValueError, StorageError):
        return False
    if header != f"{size.columns}x{size.lines}":
        return False
    drawn = [_printable(line)[: size.columns] for line in lines[: size.lines]]
    margin = max(0, size.columns - len(BADGE))
    badge = f"\x1b[1;{margin + 1}H\x1b[0;7m{BADGE[: size.columns]}{_LEAVE}"
    sys.stderr.write(_ENTER + "\r\n".join(drawn) + badge)
    sys.stderr.flush()
    return True


@contextmanager
def shown(data_dir: Path) -> Generator[None]:
    """Show the last picture; restore the terminal if the console never starts.

    Until the console handles them itself, a signal ends the program at once.
    """
    signals = Signals()
    signals.answer(_give_back_and_end)
    drawn = show(data_dir)
    try:
        yield
    except BaseException:
        if drawn:
            sys.stderr.write(_BACK)
        raise
    finally:
        signals.leave()


def _give_back_and_end(number: int) -> None:
    # Straight to the terminal: the signal may have interrupted a write to the stream.
    # Switching off a mode that is off changes nothing.
    with suppress(OSError):
        os.write(2, f"{_LEAVE}{_BACK}".encode())
    # Not by an exception: a module that is being imported may swallow it.
    os._exit(KILLED + number)


def keep(data_dir: Path, lines: tuple[str, ...]) -> None:
    """Store the screen for the next start; a disk error is ignored."""
    if not lines:
        return
    path = data_dir / PICTURE_FILE
    fresh = path.with_name(f".{PICTURE_FILE}.{os.getpid()}")
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
        refuse_foreign_directory(data_dir)
        fresh.unlink(missing_ok=True)
        descriptor = open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except (OSError, ValueError, StorageError):
        return
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("\n".join((f"{size.columns}x{size.lines}", *map(_printable, lines))))
        fresh.replace(path)
    except (OSError, ValueError):
        with suppress(OSError):
            fresh.unlink()


def _printable(line: str) -> str:
    return "".join(letter for letter in line if letter.isprintable())
