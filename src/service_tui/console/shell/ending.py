"""The end of the program: begun by a key, a signal or a lost terminal, over within a bound."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Timer
from typing import Final

BOUND_S: Final = 5.0
"""From the wish to end until the end. Source: failures, F-23."""

KILLED: Final = 128
"""Added to a signal's number it is the exit status of what did not end in order. Source: sh(1)."""

SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")
    if hasattr(signal, name)
)

Step = Callable[[], object]


class Ending:
    """Ends the process if it has not ended by itself within the bound.

    Args:
        end: takes the exit status and does not return.
        note: writes down, for who looks into it, what kept the program.
        bound_s: seconds that an end in order may take.
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
        """The end has begun; only the first call counts.

        Args:
            code: the exit status, should it be needed.
            give_back: restores the terminal without waiting for anybody.
        """
        if self._timer is None:
            # A thread, because the loop may be what is stuck; a daemon, so that it holds nobody.
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
    """The signals that end a program, answered by it for a while."""

    def __init__(self) -> None:
        self._before: dict[int, object] = {}

    def answer(self, answer: Callable[[int], None]) -> None:
        """Have these signals answered, between two steps of the main thread.

        Not by the loop: it hears nothing while a write to a stopped terminal waits.
        """
        for number in SIGNALS:
            # In another thread than the main one nobody sends them.
            with suppress(ValueError):
                self._before[number] = signal.signal(number, lambda sent, _: answer(sent))

    def leave(self) -> None:
        """Leave the signals as they were."""
        for number, before in self._before.items():
            with suppress(ValueError):
                # None is a handler that Python does not know: better the usual one.
                signal.signal(number, before or signal.SIG_DFL)  # pyright: ignore[reportArgumentType]
        self._before.clear()
