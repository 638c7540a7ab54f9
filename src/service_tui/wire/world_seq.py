"""The journal row that an answer includes, or that a caller requires."""

from typing import Final

WORLD_SEQ: Final = "X-World-Seq"
"""Of an answer: every row up to this one is in it. Of a request: the least that is wanted."""

LATEST: Final = "latest"
"""What a caller sends who does not know what became of its own write: the leader answers it."""

DIGITS_MAX: Final = 18


def seq_of(text: str) -> int | None:
    """The row that a header names; None for anything but a number."""
    known = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return int(text) if known else None
