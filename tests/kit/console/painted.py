"""What a screen shows, row by row: the one place that asks Textual's compositor for it."""

from typing import Any

from textual.screen import Screen
from textual.strip import Strip


def strips_of(screen: Screen[Any]) -> list[Strip]:
    """The rows of a screen as they are painted, the uppermost first."""
    return screen._compositor.render_strips()
