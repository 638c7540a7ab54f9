"""Output on stdout: the one place that handles a full disk or a closed pipe."""

import os
import sys
from contextlib import suppress


class OutputError(Exception):
    """The output could not be written; one plain sentence."""


def print_lines(*lines: str) -> None:
    """Print lines, flushed; OutputError if they cannot be written."""
    print_text("".join(f"{line}\n" for line in lines))


def print_text(text: str) -> None:
    """Print a text as it is, flushed; an empty one only flushes.

    Raises:
        OutputError: it cannot be written, whole.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as error:
        _lead_nowhere()
        raise OutputError(f"cannot write the output: {error.strerror}") from error
    if sys.stdout is None and text:
        # Python sets a stream that was closed before the start to None.
        raise OutputError("cannot write the output: it is closed")


def _lead_nowhere() -> None:
    """Redirect stdout to nowhere: at exit Python would write the rest of the buffer once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # A stream without a file needs no redirection.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
