"""Blocks row keys for a second after the cursor's row has gone and a neighbour is highlighted."""

import asyncio
from typing import Final

from textual.widget import Widget

from service_tui.console.key_queue import pressed_at

DEAD_S: Final = 1.0
"""How long row keys do nothing after the cursor lost its row: a person has to see it first."""


class CursorLoss:
    """The time when the cursor of a list lost its row, if it did."""

    def __init__(self, of: Widget) -> None:
        self._of = of
        self._at: float | None = None

    def begin(self) -> None:
        """Note that the cursor loses its row now."""
        self._at = asyncio.get_running_loop().time()

    def end(self) -> None:
        """Forget the loss: the person has moved the cursor and means its present row."""
        self._at = None

    @property
    def is_recent(self) -> bool:
        """True if the row went less than `DEAD_S` before the present key was pressed, or after it.

        The press counts, not the clock: on a busy machine a key waits for its turn, and was meant
        for the row that was highlighted when it was pressed.
        """
        return self._at is not None and pressed_at(self._of) - self._at < DEAD_S
