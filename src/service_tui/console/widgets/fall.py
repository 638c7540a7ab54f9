"""The moment after a cursor has lost its row and fallen to the neighbour: no key acts then."""

import asyncio
from typing import Final

DEAD_S: Final = 0.3
"""So long keys that act do nothing after the cursor has fallen by itself."""


class Fall:
    """When the cursor fell, if it did."""

    def __init__(self) -> None:
        self._at: float | None = None

    def begin(self) -> None:
        """It falls now."""
        self._at = asyncio.get_running_loop().time()

    def end(self) -> None:
        """The person has moved it: what it is on now is meant."""
        self._at = None

    @property
    def is_fresh(self) -> bool:
        """Whether it fell a moment ago."""
        return self._at is not None and asyncio.get_running_loop().time() - self._at < DEAD_S
