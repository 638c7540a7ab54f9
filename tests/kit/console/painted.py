"""What a screen shows, row by row: the one place that asks Textual's compositor for it."""

from typing import Any

from textual.screen import Screen
from textual.strip import Strip


def strips_of(screen: Screen[Any]) -> list[Strip]:
    """The rows of a screen as they are painted, the uppermost first."""
    return screen._compositor.render_strips()


def words_of(screen: Screen[Any]) -> str:
    """All that a screen says, in one line, without frames and breaks."""
    text = " ".join(strip.text for strip in strips_of(screen))
    return " ".join("".join(" " if is_frame(one) else one for one in text).split())


def is_frame(letter: str) -> bool:
    """Whether a character draws a frame or a bar."""
    return 0x2500 <= ord(letter) < 0x25A0
