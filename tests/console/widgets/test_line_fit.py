"""The pieces of one line: which cell belongs to which, and how full a limit looks."""

import pytest
from rich.text import Text

from service_tui.console.widgets.line_fit import Bit, bit_at, meter

BITS = (Bit(Text("ebb")), Bit(Text("tide")), Bit(Text("moss"), right=True))


@pytest.mark.parametrize(
    ("x", "index"),
    [(0, 0), (2, 0), (3, None), (4, None), (5, 1), (8, 1), (9, None), (16, 2), (19, 2), (20, None)],
)
def test_a_click_between_two_pieces_hits_neither(x: int, index: int | None) -> None:
    assert bit_at(BITS, 20, x) == index


@pytest.mark.parametrize(
    ("fraction", "filled", "tone"),
    [
        (float("nan"), 0, "accent"),
        (-1.0, 0, "accent"),
        (0.0, 0, "accent"),
        (0.01, 1, "accent"),
        (0.79, 8, "accent"),
        (0.8, 8, "warn"),
        (0.99, 10, "warn"),
        (1.0, 10, "loss"),
        (7.0, 10, "loss"),
    ],
)
def test_a_meter_shows_a_small_use_and_warns_from_four_fifths(
    fraction: float, filled: int, tone: str
) -> None:
    found = meter(fraction, 10)
    assert found.plain == "━" * filled + "─" * (10 - filled)
    inks = [span.style for span in found.spans if span.end > span.start]
    assert inks == [ink for ink, size in ((tone, filled), ("faint", 10 - filled)) if size]
