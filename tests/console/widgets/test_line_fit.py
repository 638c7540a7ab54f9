"""The pieces of one line: which cell belongs to which, and how full a limit looks."""

import pytest
from rich.text import Text

from service_tui.console.widgets.line_fit import GAP, Bit, bit_at, meter, spare
from service_tui.console.widgets.sums_bar import SumsBar

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


def test_a_line_of_sums_holds_the_bits_that_fit() -> None:
    bar = SumsBar(id="sums")
    bar.show((Bit(Text("total 12")), Bit(Text("fees 3"), rank=1)))
    assert bar.drawn(40, 1).plain.split() == ["total", "12", "fees", "3"]
    assert bar.drawn(10, 1).plain.split() == ["total", "12"]


@pytest.mark.parametrize("left", [14, 0, -6])
def test_what_is_spare_is_behind_all_pieces_and_a_gap(left: int) -> None:
    shown = (Bit(Text("abcdefgh")), Bit(Text("xy")))
    assert spare(shown, 8 + GAP + 2 + GAP + left) == left
