"""Garbage collection: none at a start, then full collections while the keyboard is idle.

A full collection stops everything. Young objects are collected as usual, within a moment.
"""

import gc
from typing import Final

EVERY: Final = 10
AT_LEAST_EVERY: Final = 60
"""Calls, one a second, between two full collections: while the person rests, and without rest."""

SETTLED: Final = 2
"""Full collections after which everything has been opened: the objects of then stay for good."""

NEVER: Final = 1_000_000_000


def collect_from_now() -> None:
    """Switch the collector on, which the command line left off.

    What is loaded by now stays for good: the collector skips it.
    """
    gc.freeze()
    gc.enable()


class Collecting:
    """Runs full collections at idle moments; the automatic ones are off."""

    def __init__(self) -> None:
        self._waited = 0
        self._done = 0

    def begin(self) -> None:
        """Switch automatic full collections off."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)

    def collect(self, *, idle: bool) -> None:
        """Collect if it is time; `idle` is True while nothing waits for the screen."""
        self._waited += 1
        if not gc.isenabled() or self._waited < (EVERY if idle else AT_LEAST_EVERY):
            return
        self._waited = 0
        gc.collect()
        self._done += 1
        if self._done <= SETTLED:
            gc.freeze()
