"""Times of retries: pure arithmetic."""

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from service_tui.client.errors import (
    RateLimitedError,
    ServiceError,
    ServiceFaultError,
    UnreachableError,
)
from service_tui.units import Timestamp

TRIES: Final = 3
"""How often a read is sent at most. Source: style, line 38."""

FIRST_DELAY_S: Final = 0.25
"""ours: a dropped keep-alive line is back at once; two such waits fit into any deadline."""

WAIT_MIN_S: Final = 1.0
WAIT_MAX_S: Final = 60.0
"""What is honoured of a Retry-After. Source: failures, T-12."""

BACK_OFF_MAX_S: Final = 30.0
"""Source: failures, F-08."""

_SECONDS: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


def may_retry(error: ServiceError) -> bool:
    """True when the same read may succeed a moment later; never true for a write in doubt."""
    return error.called.reads and isinstance(
        error, (UnreachableError, ServiceFaultError, RateLimitedError)
    )


def retry_delay(error: ServiceError, tries: int, rng: random.Random) -> float | None:
    """Pause before a failed call is retried; None if it is not.

    Args:
        error: how the last try ended.
        tries: how often it has been sent, >= 1.
        rng: jitter: half to all of an exponential delay; the wait of the service is the least.

    Returns:
        Seconds, or None when it is not sent again.
    """
    if tries >= TRIES or not may_retry(error):
        return None
    delay_s = FIRST_DELAY_S * 2 ** (tries - 1) * rng.uniform(0.5, 1.0)
    requested_s = (
        error.retry_after_s if isinstance(error, (ServiceFaultError, RateLimitedError)) else None
    )
    return delay_s if requested_s is None else clamp_wait(requested_s) + delay_s


def next_delay(failures: int, rng: random.Random) -> float:
    """Seconds, 1 to 30, that a poller rests after so many failures in a row, >= 1."""
    doubled = 2.0 ** min(max(failures, 1) - 1, 10)
    return max(WAIT_MIN_S, min(BACK_OFF_MAX_S, doubled) * rng.uniform(0.5, 1.0))


def clamp_wait(wait_s: float) -> float:
    """A requested wait within 1 to 60 s; 60 if it is no number."""
    if not wait_s <= WAIT_MAX_S:
        return WAIT_MAX_S
    return max(WAIT_MIN_S, wait_s)


def retry_after(header: str | None, at: Timestamp) -> float | None:
    """The wait of a Retry-After header, clamped.

    Args:
        header: its text, seconds or an HTTP date.
        at: the time of the answer by the sender's own clock, to which a date is relative.

    Returns:
        Seconds, 1 to 60; None when there is no header or it is neither of the two.
    """
    if header is None:
        return None
    text = header.strip()
    if _SECONDS.fullmatch(text):
        return clamp_wait(float(text))
    date = http_date(text)
    return None if date is None else clamp_wait(date - at)


def http_date(header: str | None) -> Timestamp | None:
    """The moment that a Date header names, or None when it names none."""
    if header is None:
        return None
    try:
        date = parsedate_to_datetime(header)
        aware = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return Timestamp((aware - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
