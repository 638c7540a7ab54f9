"""When garbage is collected: while nobody types, for a whole collection stops everything.

Young objects are collected as ever, in a moment.
"""

import gc
from typing import Final

EVERY: Final = 10
AT_LEAST_EVERY: Final = 60
"""Calls between two whole collections: when the person rests, and when they never do."""

SETTLED: Final = 2
"""Whole collections after which everything has been opened: what is there then stays for good."""

NEVER: Final = 1_000_000_000


class Collecting:
    """Collects what is old; until then the collector itself leaves that alone."""

    def __init__(self) -> None:
        self._waited = 0
        self._done = 0

    def begin(self) -> None:
        """Take the old objects from the collector."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)

    def look(self, *, idle: bool) -> None:
        """Collect if it is time to; `idle` is whether nobody would notice."""
        self._waited += 1
        if not gc.isenabled() or self._waited < (EVERY if idle else AT_LEAST_EVERY):
            return
        self._waited = 0
        gc.collect()
        self._done += 1
        if self._done <= SETTLED:
            gc.freeze()
