"""Parsing of a typed moment: a duration from now, or a time of day in UTC."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from service_tui.console.fields import FieldError
from service_tui.units import Timestamp

_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60}
_DURATION: Final = re.compile(r"(?:([0-9]{1,3})d)?(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m)?")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_HOURS: Final = 24
_MINUTES: Final = 60

HOW: Final = "Enter a duration or a time in UTC, such as 45m, 2h or 17:30"


def read_moment(text: str, now: Timestamp) -> Timestamp:
    """Parse a moment after now: `45m`, `2h`, `1d12h`, or the next `17:30` in UTC.

    Returns:
        A whole second; of a duration never less than was typed.

    Raises:
        FieldError: it is none; the sentence gives the fix.
    """
    given = "".join(text.casefold().split()).removesuffix("utc")
    if clock := _CLOCK.fullmatch(given):
        hour, minute = int(clock.group(1)), int(clock.group(2))
        if hour < _HOURS and minute < _MINUTES:
            return _next(hour, minute, now)
    spans = _DURATION.fullmatch(given)
    if spans is None or not given:
        raise FieldError(HOW)
    lengths = zip(spans.groups(), _UNITS.values(), strict=True)
    seconds = sum(int(number or 0) * unit for number, unit in lengths)
    if not seconds:
        raise FieldError(HOW)
    return Timestamp(float(math.ceil(now) + seconds))


def _next(hour: int, minute: int, now: Timestamp) -> Timestamp:
    """The next time at which a clock in UTC shows this."""
    today = datetime.fromtimestamp(now, UTC)
    at = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if at.timestamp() <= now:
        at += timedelta(days=1)
    return Timestamp(at.timestamp())


def duration_text(seconds: float) -> str:
    """A duration to the minute as a person types it, rounded up: `1d2h`, `45m`."""
    left, written = -(-int(max(0.0, seconds)) // _MINUTES) * _MINUTES, ""
    for unit, length in _UNITS.items():
        count, left = divmod(left, length)
        written += f"{count}{unit}" if count else ""
    return written or "0m"
