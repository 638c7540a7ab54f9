"""The highest mark of each position over the last minutes."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.desk.shown_marks import REMEMBERED_S, ShownMarks
from service_tui.desk.slices.positions import PositionView

ONE: PositionView = sample_state().positions[0]
LATE = REMEMBERED_S + 1


@pytest.mark.parametrize(
    ("shown", "highest"),
    [
        ([], 0.0),
        ([(0, 0.5)], 0.5),
        ([(0, 0.5), (1, 0.1)], 0.5),
        ([(0, 0.1), (1, 0.5), (2, 0.3)], 0.5),
        ([(0, 0.5), (REMEMBERED_S, 0.1)], 0.5),
        # It follows step by step, as each higher mark grows old.
        ([(0, 0.5), (300, 0.4), (LATE, 0.1)], 0.4),
        ([(0, 0.5), (300, 0.4), (LATE, 0.1), (300 + LATE, 0.1)], 0.1),
        # A mark that stays is as new as its newest reading.
        ([(0, 0.5), (300, 0.5), (LATE, 0.1)], 0.5),
        ([(0, 0.5), (1, 0.0)], 0.5),
        ([(0, 0.5), (LATE, 0.0)], 0.0),
    ],
)
def test_the_highest_mark_of_the_last_ten_minutes_counts(
    shown: list[tuple[float, float]], highest: float
) -> None:
    marks = ShownMarks()
    for at, price in shown:
        marks.note((replace(ONE, mark_price=price),), at)
    assert marks.highest(ONE.key) == highest
    assert marks.highest("another") == 0.0
