"""Output of every command: the one place that handles a full disk or a closed pipe.

Names and texts of others go through here as well: a terminal obeys nothing of them.
"""

import os
import re
import sys
from contextlib import suppress


class OutputError(Exception):
    """The output could not be written; one plain sentence."""


def print_lines(*lines: str) -> None:
    """Print lines, flushed; OutputError if they cannot be written."""
    print_text("".join(f"{line}\n" for line in lines))


def print_text(text: str) -> None:
    """Print a text, flushed; an empty one only flushes. Nothing in it is obeyed by a terminal.

    Raises:
        OutputError: it cannot be written, whole.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.write(_shown(text))
            sys.stdout.flush()
    except OSError as error:
        _lead_nowhere()
        raise OutputError(f"cannot write the output: {error.strerror}") from error
    if sys.stdout is None and text:
        # Python sets a stream that was closed before the start to None.
        raise OutputError("cannot write the output: it is closed")


def print_error(text: str) -> None:
    """Print a text on stderr, flushed, as `print_text` does; where that is closed, nothing."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(_shown(text))
            sys.stderr.flush()


def print_progress(text: str) -> None:
    """Print how far a long command is, on a terminal alone: in a log each line would stay."""
    if sys.stderr is not None and sys.stderr.isatty():
        print_error(f"{text}\n")


def _shown(text: str) -> str:
    # Most of it is plain, and a start waits for no import that it can do without.
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    from service_tui.wire.text import on_terminal  # noqa: PLC0415

    # Line by line: whether one is JSON shows at its beginning.
    return "".join(on_terminal(line) for line in re.split(r"(?<=\n)", text))


def _lead_nowhere() -> None:
    """Redirect stdout to nowhere: at exit Python would write the rest of the buffer once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # A stream without a file needs no redirection.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
