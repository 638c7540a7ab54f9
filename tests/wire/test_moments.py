"""Moments of a request as programs write them; what may be another moment is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from service_tui.wire.moments import read_moment, read_moment_or_ms

EIGHT = datetime(2026, 11, 28, 8, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-28T08:00:00Z", EIGHT),
        ("2026-11-28T08:00:00+00:00", EIGHT),
        # A plus arrives as a blank where a program does not encode it.
        ("2026-11-28T08:00:00 00:00", EIGHT),
        ("2026-11-28T10:00:00 02:00", EIGHT),
        ("2026-11-28T10:00:00 0200", EIGHT),
        ("2026-11-28T10:00:00 02", EIGHT),
        ("2026-11-28T10:00 02:00", EIGHT),
        ("2026-11-28T10:00:00.000000 02:00", EIGHT),
        ("2026-11-28 10:00:00 02:00", EIGHT),
        ("20261128T100000 0200", EIGHT),
        ("2026-11-28T10:00:00 +02:00", EIGHT),
        ("2026-11-28T03:00:00-05:00", EIGHT),
        ("2026-11-28 08:00:00Z", EIGHT),
        ("2026-11-28t08:00:00z", EIGHT),
        (" 2026-11-28T08:00Z\n", EIGHT),
        ("20261128T080000Z", EIGHT),
        ("2026-11-28T08:00:00.000Z", EIGHT),
        ("2026-11-27T24:00:00Z", MIDNIGHT),
        ("2026-11-27T24:00Z", MIDNIGHT),
        ("2026-11-27T24:00:00.000Z", MIDNIGHT),
        ("2026-11-27T24:00:00 00:00", MIDNIGHT),
        ("2026-12-31T24:00:00Z", datetime(2027, 1, 1, tzinfo=UTC)),
    ],
)
def test_what_can_mean_one_moment_only_is_that_moment(text: str, moment: datetime) -> None:
    assert read_moment(text) == read_moment_or_ms(text) == moment


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("2026-11-28", "2026-11-28T00:00:00Z"),
        ("2026-11-28T08:00:00", "2026-11-28T08:00:00Z"),
        ("2026-11-28 08:00", "2026-11-28T08:00:00Z"),
        ("2026-11-27T24:00:00", "2026-11-28T00:00:00Z"),
        ("1795248000", "2026-11-21T08:00:00Z"),
        ("1795248000.5", "2026-11-21T08:00:00Z"),
        ("yesterday", "2026-11-21T08:00:00Z"),
        ("", "2026-11-21T08:00:00Z"),
        ("2026-13-01T00:00:00Z", "2026-11-21T08:00:00Z"),
        ("2026-11-28T24:30:00Z", "2026-11-21T08:00:00Z"),
        ("9999-12-31T24:00:00Z", "2026-11-21T08:00:00Z"),
    ],
)
def test_what_may_be_several_moments_is_refused_with_an_example(text: str, example: str) -> None:
    with pytest.raises(ValueError, match="a moment") as refused:
        read_moment(text)
    assert example in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31T23:59:59.0001Z",
        "9999-12-31T23:59:59-00:01",
        "0001-01-01T00:00:00+00:01",
    ],
)
def test_a_moment_beyond_the_calendar_of_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a moment lies in the years 1 to 9999"):
        read_moment(text)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_the_ends_of_the_calendar_are_moments(text: str) -> None:
    assert read_moment(text) == datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1795248000000", datetime(2026, 11, 21, 8, tzinfo=UTC)),
        ("1795248000123", datetime(2026, 11, 21, 8, 0, 0, 123_000, tzinfo=UTC)),
        ("253402300799000", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_whole_number_counts_milliseconds_where_they_are_taken(
    text: str, moment: datetime
) -> None:
    assert read_moment_or_ms(text) == moment


@pytest.mark.parametrize("text", ["-1", "1.5", "253402300799001", "9" * 15, "9" * 40, "1e12"])
def test_other_numbers_are_no_moments(text: str) -> None:
    with pytest.raises(ValueError, match="a moment"):
        read_moment_or_ms(text)


def test_a_moment_keeps_its_zone() -> None:
    found = read_moment("2026-11-28T10:00:00 02:00")
    assert found.tzinfo == timezone(timedelta(hours=2))
