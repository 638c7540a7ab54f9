"""The moment after a cursor has lost its row and fallen to the neighbour: keys do nothing then."""

import asyncio
from typing import Final

from textual.widget import Widget

from service_tui.console.key_queue import pressed_at

DEAD_S: Final = 1.0
"""How long keys do nothing after the cursor has fallen: a person has to see it first."""


class Fall:
    """The time when the cursor of a list fell, if it did."""

    def __init__(self, of: Widget) -> None:
        self._of = of
        self._at: float | None = None

    def begin(self) -> None:
        """Note that the cursor falls now."""
        self._at = asyncio.get_running_loop().time()

    def end(self) -> None:
        """End it: the person has moved the cursor and means its present row."""
        self._at = None

    @property
    def is_fresh(self) -> bool:
        """True if it fell a moment before the key in hand was pressed, or since.

        By the press and not by the clock: on a busy machine a key waits for its turn, and was meant
        for the row that was highlighted then.
        """
        return self._at is not None and pressed_at(self._of) - self._at < DEAD_S
