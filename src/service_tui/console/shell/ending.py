"""Ends the program after a key, a signal or a lost terminal, within a time limit."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Timer
from typing import Final

BOUND_S: Final = 5.0
"""From the request to end until the end. Source: failures, F-23."""

KILLED: Final = 128
"""Added to a signal's number it is the exit status of a forced end. Source: sh(1)."""

SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in (
        "SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF",
        "SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT",
    )
    if hasattr(signal, name)
)  # fmt: skip
"""Each signal that would end the process by itself, and leave the terminal as the console has it.

SIGUSR1 writes the stacks of all threads down, SIGPIPE is Python's own, SIGKILL nobody's.
"""

Step = Callable[[], object]


class Ending:
    """Forces the process to end if it has not ended within the bound.

    Args:
        end: takes the exit status and does not return.
        note: writes down what kept the program, for a later investigation.
        bound_s: seconds that an orderly end may take.
    """

    def __init__(
        self,
        end: Callable[[int], object] = os._exit,
        *,
        note: Step = int,
        bound_s: float = BOUND_S,
    ) -> None:
        self._end = end
        self._note = note
        self._bound_s = bound_s
        self._timer: Timer | None = None

    def begin(self, code: int, give_back: Step) -> None:
        """Start the bound; only the first call counts.

        Args:
            code: the exit status of a forced end.
            give_back: restores the terminal without waiting.
        """
        if self._timer is None:
            # A thread, because the loop may be stuck; a daemon, so that it delays no exit.
            self._timer = Timer(self._bound_s, self._force, (code, give_back))
            self._timer.daemon = True
            self._timer.start()

    def _force(self, code: int, give_back: Step) -> None:
        for step in (self._note, give_back):
            # Nothing may come between here and the end.
            with suppress(Exception):
                step()
        self._end(code)


class Signals:
    """The signals that end a program, handled for a while."""

    def __init__(self) -> None:
        self._before: dict[int, object] = {}

    def answer(self, answer: Callable[[int], None]) -> None:
        """Handle these signals, between two steps of the main thread.

        Not by the loop: it does not run while a write to a stopped terminal waits.
        """
        for number in SIGNALS:
            # Only the main thread receives them.
            with suppress(ValueError):
                self._before[number] = signal.signal(number, lambda sent, _: answer(sent))

    def leave(self) -> None:
        """Restore the former handlers."""
        for number, before in self._before.items():
            with suppress(ValueError):
                # None is a handler that Python does not know: better the usual one.
                signal.signal(number, before or signal.SIG_DFL)  # pyright: ignore[reportArgumentType]
        self._before.clear()
