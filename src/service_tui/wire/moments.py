"""Times in a request, in the formats that programs use."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import AwareDatetime, BeforeValidator, Field

EXAMPLE: Final = "2026-11-21T08:00:00Z"

MOMENT_MS_MAX: Final = 253_402_300_799_000
"""The last second of the year 9999, Unix milliseconds."""

_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_LAST: Final = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=MOMENT_MS_MAX)
"""The ends of the calendar in UTC; the last second is whole, so that a fraction may be added."""

_NUMBER: Final = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_MS: Final = re.compile(r"[0-9]{1,15}")
_LOST_PLUS: Final = re.compile(
    r"(\d[Tt ]\d{2}:?\d{2}(?::?\d{2}(?:[.,]\d+)?)?) (\d{2}(?::?\d{2})?)\Z"
)
"""A zone whose plus was read as a blank, as it is in a query unless the program encodes it."""

_MIDNIGHT: Final = re.compile(r"([Tt ])24(:?00(?::?00(?:[.,]0+)?)?)(?=[Zz+-]|\Z)")
"""The end of a day, which ISO 8601 writes so and Python does not read."""


def read_moment(text: str) -> datetime:
    """The moment that a text names, with its zone.

    Taken is what ISO 8601 allows and what can mean one moment only: a blank where the plus of a
    zone was, `24:00:00Z`, small letters. A day, and a time without a zone, are several moments.

    Raises:
        ValueError: it is none, has no zone, or lies beyond the calendar; shows how it is written.
    """
    given = text.strip()
    if _NUMBER.fullmatch(given):
        # It would be taken for seconds since 1970.
        raise ValueError(f"a moment is written as {EXAMPLE}")
    given = _LOST_PLUS.sub(r"\1+\2", given)
    ended = _MIDNIGHT.search(given)
    if ended is not None:
        given = f"{given[: ended.start()]}{ended[1]}00{ended[2]}{given[ended.end() :]}"
    try:
        found = datetime.fromisoformat(given.upper())
        found += timedelta(days=1 if ended is not None else 0)
    except (ValueError, OverflowError):
        raise ValueError(f"a moment is written as {EXAMPLE}") from None
    if found.tzinfo is None:
        # ours: no zone is guessed; a program's clock may be that of its own machine.
        raise ValueError(f"a moment has a zone, as {found.isoformat()}Z")
    if not _FIRST <= found <= _LAST:
        raise ValueError("a moment lies in the years 1 to 9999 of UTC")
    return found


def read_moment_or_ms(text: str) -> datetime:
    """The same, or the moment of so many Unix milliseconds."""
    given = text.strip()
    if not _MS.fullmatch(given):
        return read_moment(given)
    with suppress(ValueError, OverflowError):
        if int(given) <= MOMENT_MS_MAX:
            return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(given))
    raise ValueError(
        f"a moment is written as {EXAMPLE}, or as Unix milliseconds up to the year 9999"
    )


def _read(value: object) -> object:
    return read_moment(value) if isinstance(value, str) else value


def _read_or_ms(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return read_moment_or_ms(str(value)) if isinstance(value, str) or is_number else value


RequestedMoment = Annotated[
    AwareDatetime, Field(description="ISO 8601 with a zone"), BeforeValidator(_read)
]
"""A moment of a request."""

MomentOrMs = Annotated[
    AwareDatetime,
    Field(description="ISO 8601 with a zone, or Unix milliseconds"),
    BeforeValidator(_read_or_ms),
]
"""A moment of a request that counts in milliseconds. Source: decisions, "Times of candles"."""
