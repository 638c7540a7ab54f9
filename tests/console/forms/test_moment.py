"""A typed moment: a duration from now, or the next time of day in UTC."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.console.fields import FieldError
from service_tui.console.forms.moment import HOW, duration_text, read_moment
from service_tui.units import Timestamp

NOON = Timestamp(datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC).timestamp())
HOUR = 3_600


@pytest.mark.parametrize(
    ("text", "after_s"),
    [
        ("45m", 2_700),
        (" 2h ", 2 * HOUR),
        ("1d12h", 36 * HOUR),
        ("1h 30M", 5_400),
        ("17:30", 5.5 * HOUR),
        ("17:30 UTC", 5.5 * HOUR),
        ("17:30 UTC ", 5.5 * HOUR),
        (" 17:30utc\t", 5.5 * HOUR),
        ("2h utc", 2 * HOUR),
        ("11:59", 24 * HOUR - 60),
        ("12:00", 24 * HOUR),
    ],
)
def test_a_moment_is_after_now_and_a_whole_second(text: str, after_s: float) -> None:
    assert read_moment(text, NOON) == NOON + after_s
    assert read_moment(text, Timestamp(NOON + 0.7)).is_integer()


def test_a_duration_is_never_shorter_than_typed() -> None:
    for part in (0.0, 0.001, 0.7, 0.999):
        now = Timestamp(NOON + part)
        assert 60 <= read_moment("1m", now) - now < 61


@pytest.mark.parametrize(
    "text", ["", "0m", "2", "h", "-2h", "24:00", "12:60", "2h45", "tomorrow", "1.5h"]
)
def test_what_is_no_moment_is_refused_with_what_one_is(text: str) -> None:
    with pytest.raises(FieldError, match=HOW):
        read_moment(text, NOON)


@given(st.integers(1, 60 * 24 * 300))
def test_a_written_duration_reads_as_itself(minutes: int) -> None:
    assert read_moment(duration_text(60.0 * minutes), NOON) == NOON + 60 * minutes
