"""What an agent was worth: marks by the minute, thinned with age, and read back at a moment."""

import pytest

from service_tui.engine.agents.marks import MINUTE_S, TIERS, Mark, Marks
from service_tui.units import Micros, Timestamp

START = Timestamp(1_800_000_000.0)


def marks_of(*worths: int) -> Marks:
    """A mark a minute."""
    marks = Marks()
    for place, worth in enumerate(worths):
        at = Timestamp(START + place * MINUTE_S)
        marks.add(Mark(at, Micros(worth), Micros(worth - 1)))
    return marks


def test_the_worth_of_a_moment_is_that_before_the_next_event() -> None:
    marks = marks_of(10, 20, 30)
    for after_s, worth in ((-99.0, 10), (0.0, 10), (1.0, 20), (60.0, 20), (119.0, 30)):
        found = marks.worth_at(Timestamp(START + after_s))
        assert found is not None
        assert found.equity == worth
    assert marks.worth_at(Timestamp(START + 121.0)) is None
    assert Marks().worth_at(START) is None


def test_of_a_worth_that_stays_its_first_and_its_latest_mark_are_kept() -> None:
    marks = marks_of(10, 10, 10, 10, 20)
    assert [(one.at - START, one.equity) for one in marks.all()] == [(0, 10), (180, 10), (240, 20)]
    quiet = marks.worth_at(Timestamp(START + 100))
    assert quiet is not None
    assert quiet.equity == 10


@pytest.mark.parametrize("days", [1, 20])
def test_a_long_life_is_thinned_and_keeps_the_last_hours_by_the_minute(days: int) -> None:
    count = days * 24 * 60
    marks = marks_of(*range(count))
    every = marks.all()
    assert len(every) <= sum(most for _, most in TIERS)
    assert [one.at for one in every] == sorted({one.at for one in every})
    newest = [int(one.equity) for one in every[-TIERS[0][1] :]]
    assert newest == list(range(count - TIERS[0][1], count))
    # A day ago is known to a quarter of an hour.
    ago = Timestamp(START + (count - 1) * MINUTE_S - 86_400 + 900)
    known = marks.worth_at(ago)
    assert known is not None
    assert 0 <= known.at - ago <= 900
