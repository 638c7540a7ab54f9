"""A market's question as a table shows it: without what every row has, or a column says."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from service_tui.console.formats import TEXT_MAX, plain
from service_tui.units import Timestamp

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_MONTH: Final = r"(?P<{0}>(?:" + "|".join(month.capitalize() for month in _MONTHS) + r")[a-z]*)"
_DEADLINE: Final = re.compile(
    r"\s+(?:by|at|on|before)\s+"
    r"(?:(?P<clock>[0-2]?\d:[0-5]\d) UTC(?: on (?P<clock_day>\d{1,2}) "
    + _MONTH.format("clock_month")
    + r")?|(?P<day>\d{1,2}) "
    + _MONTH.format("month")
    + r"(?:,? (?P<year>\d{4}))?|"
    + _MONTH.format("us_month")
    + r" (?P<us_day>\d{1,2})(?:,? (?P<us_year>\d{4}))?)$"
)
_WILL: Final = re.compile(
    r"^Will (?!(?:it|there|they|he|she|we|you|this|that|these|those|one|any\w*|some\w*)\b)",
    re.IGNORECASE,
)
"""A "Will" that a headline does without; before a pronoun it stays: "it rain" is no English."""

_NEAR_S: Final = 36 * 3_600
"""How far the end may be from the day named: a venue closes a market in another zone's night."""


@lru_cache(maxsize=8_192)
def short_question(question: str, ends_at: Timestamp | None = None) -> str:
    """The question without "Will" and the question mark, and without a deadline of a column.

    Args:
        question: as the service has it; cleaned here.
        ends_at: the end that a column of the same row shows; None: there is no such column, and
            the deadline stays.

    Returns:
        One line that begins with a capital; the deadline goes only where it is that end.
    """
    text = plain(question, TEXT_MAX).plain
    shorter = _WILL.sub("", text).removesuffix("?").rstrip()
    if ends_at is not None:
        found = _DEADLINE.search(shorter)
        if found is not None and _is_at(found, datetime.fromtimestamp(ends_at, UTC)):
            shorter = shorter[: found.start()]
    return shorter[:1].upper() + shorter[1:] if shorter else text


def _is_at(deadline: re.Match[str], end: datetime) -> bool:
    """True if the deadline names this end."""
    named = deadline.groupdict()
    if named["clock"] is not None:
        hour, minute = map(int, named["clock"].split(":"))
        if (hour, minute) != (end.hour, end.minute):
            return False
        return named["clock_day"] is None or _is_near(named["clock_day"], named["clock_month"], end)
    day, month = named["day"] or named["us_day"], named["month"] or named["us_month"]
    return _is_near(day, month, end, year=named["year"] or named["us_year"])


def _is_near(day: str, month: str, end: datetime, *, year: str | None = None) -> bool:
    number = _MONTHS.index(month[:3].lower()) + 1
    years = (end.year - 1, end.year, end.year + 1) if year is None else (int(year),)
    for each in years:
        try:
            start = datetime(each, number, int(day), tzinfo=UTC)
        except ValueError:
            continue
        # The day named, or the moment at which it begins or ends.
        if -_NEAR_S <= (end - start).total_seconds() <= _NEAR_S:
            return True
    return False
