"""The terminal of a command: whether there is one, and reading keys and secrets from it."""

import getpass
import os
import sys
from typing import Final, TextIO

from service_tui.cli.begin import CannotError

FRAMES: Final = "240"
"""Paints a second at most; so many are never wanted, but a key waits for no more than two."""

TURN_S: Final = 0.001
"""How long one thread runs while another waits."""

SCREENLESS: Final = frozenset({"dumb", "unknown"})
"""Kinds of terminals that print escape sequences instead of obeying them."""


def require_terminal() -> None:
    """Raise CannotError unless a person sits at a terminal that has a screen."""
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise CannotError("the console needs a terminal; see --help")
    if (kind := os.environ.get("TERM", "")) in SCREENLESS:
        raise CannotError(
            f"TERM={kind} is a terminal without a screen: 'service-tui --plain' gives lines of text"
        )
    # A shell exports the size of another window, and the terminal knows its own.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


def prepare_for_keys() -> None:
    """Set the process up for a console: keys wait for nothing."""
    # After a paint the next one may wait two frames: so would a key.
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    # The thread that reads the keyboard gets its turn as soon.
    sys.setswitchinterval(TURN_S)


def is_terminal(stream: TextIO | None) -> bool:
    """True if a stream leads to a terminal; Python sets a closed one to None."""
    return stream is not None and stream.isatty()


def read_secret(prompt: str) -> str:
    """A secret typed unseen, or one line from a pipe."""
    try:
        if is_terminal(sys.stdin):
            return getpass.getpass(prompt)
        # A file that another system's editor saved begins with a mark of its byte order.
        return sys.stdin.readline().rstrip("\r\n").removeprefix("\ufeff") if sys.stdin else ""
    except EOFError:
        return ""
    except UnicodeDecodeError:
        raise CannotError("the input is not UTF-8 text; nothing stored") from None
