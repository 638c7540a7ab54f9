"""Pieces of one line; the less important are cut where room is short."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

GAP: Final = 2
"""Blank cells between two pieces."""


@dataclass(frozen=True, slots=True)
class Bit:
    """One piece of a line.

    Args:
        text: the full text.
        rank: the order of cutting: the highest first; rank 0 is never cut.
        short: the text after the first cut; None: none.
        short_rank: the order of the second cut, of short texts; 0: it stays.
        right: at the right edge instead of the left.
        key: id of the action of a click on it; empty: none.
    """

    text: Text
    rank: int = 0
    short: Text | None = None
    short_rank: int = 0
    right: bool = False
    key: str = ""


def fitted_bits(
    bits: Sequence[Bit], width: int, gap: int = GAP
) -> tuple[tuple[int, int, Text], ...]:
    """The displayed pieces and their places, with `gap` blank cells between two of them.

    Returns:
        Index of the piece, its first cell, its text; in the order of the line.
    """
    kept = dict(enumerate(bits))
    while _needed(kept, gap) > width:
        index = max(kept, key=lambda i: (kept[i].rank, i))
        bit = kept[index]
        if bit.rank == 0:
            break
        if bit.short is None:
            del kept[index]
        else:
            kept[index] = replace(bit, text=bit.short, short=None, rank=bit.short_rank)
    placed: list[tuple[int, int, Text]] = []
    left = 0
    for index, bit in kept.items():
        if not bit.right:
            placed.append((index, left, bit.text))
            left += bit.text.cell_len + gap
    right = {index: bit for index, bit in kept.items() if bit.right}
    left = max(left, width - _needed(right, gap))
    for index, bit in right.items():
        placed.append((index, left, bit.text))
        left += bit.text.cell_len + gap
    return tuple(placed)


def bit_at(bits: Sequence[Bit], width: int, x: int, gap: int = GAP) -> int | None:
    """The index of the piece displayed at a cell; None between pieces."""
    for index, left, text in fitted_bits(bits, width, gap):
        if left <= x < left + text.cell_len:
            return index
    return None


def spare(bits: Sequence[Bit], width: int, gap: int = GAP) -> int:
    """Cells left beside all full pieces and a gap; below 0: they do not fit."""
    return width - _needed(dict(enumerate(bits)), gap) - gap


def joined(placed: Sequence[tuple[int, int, Text]], width: int) -> Text:
    """The pieces as one line of at most `width` cells."""
    line = Text(no_wrap=True)
    for _, left, text in placed:
        line.append(" " * (left - line.cell_len))
        line.append_text(text)
    line.truncate(width, overflow="ellipsis")
    return line


def meter(fraction: float, width: int) -> Text:
    """The used part of a limit, as a bar of `width` cells.

    Args:
        fraction: 0 is none, 1 is all; more is shown as all.
        width: cells.

    Returns:
        A line that turns from accent to warn at 80 % and to loss at 100 %; the free part is
        thin, so that it differs without colours.
    """
    part = min(1.0, fraction) if fraction > 0 else 0.0
    filled = round(part * width)
    if part > 0 and filled == 0:
        # A small use is visible.
        filled = 1
    tone = "loss" if part >= 1 else "warn" if part >= WARN_FROM else "accent"
    return Text.assemble(("━" * filled, tone), ("─" * (width - filled), "faint"))


WARN_FROM: Final = 0.8
"""Part of a limit from which it is shown."""


def _needed(bits: dict[int, Bit], gap: int) -> int:
    return sum(bit.text.cell_len for bit in bits.values()) + gap * max(0, len(bits) - 1)
