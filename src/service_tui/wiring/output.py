"""What is said on stdout: the one place that sees a full disk, or a reader who has left."""

import os
import sys
from contextlib import suppress


class OutputError(Exception):
    """What was to be said could not be written; one plain sentence."""


def say(*lines: str) -> None:
    """Write lines, there at once; OutputError where they cannot be written."""
    tell("".join(f"{line}\n" for line in lines))


def tell(text: str) -> None:
    """Write a text as it is, there at once; none only brings out what still waits.

    Raises:
        OutputError: it cannot be written, whole.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as error:
        _lead_nowhere()
        raise OutputError(f"the output cannot be written: {error.strerror}") from error
    if sys.stdout is None and text:
        # What Python makes of a stream that was closed before the start.
        raise OutputError("the output cannot be written: it is closed")


def _lead_nowhere() -> None:
    """Let what is left in the buffer go: on its way out Python would try it once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # A stream that stands for no file has nowhere to lead to.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
