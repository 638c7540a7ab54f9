"""The moment after a cursor has lost its row and fallen to the neighbour: no key acts then."""

import asyncio
from typing import Final

from textual.widget import Widget

from service_tui.console.key_queue import pressed_at

DEAD_S: Final = 0.3
"""So long keys that act do nothing after the cursor has fallen by itself."""


class Fall:
    """When the cursor of a list fell, if it did."""

    def __init__(self, of: Widget) -> None:
        self._of = of
        self._at: float | None = None

    def begin(self) -> None:
        """It falls now."""
        self._at = asyncio.get_running_loop().time()

    def end(self) -> None:
        """The person has moved it: what it is on now is meant."""
        self._at = None

    @property
    def is_fresh(self) -> bool:
        """Whether it fell a moment before the key was pressed that is dealt with now, or since.

        By the press and not by the clock: on a busy machine a key waits for its turn, and was meant
        for the row that was highlighted then.
        """
        return self._at is not None and pressed_at(self._of) - self._at < DEAD_S
