"""Address and key of a service, from arguments and the environment."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from service_tui.clock import Clock, SystemClock
from service_tui.config import (
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    KEY_VARIABLE,
    NOW_VARIABLE,
    TRUE_VALUES,
    URL_VARIABLE,
    WALLET_VARIABLE,
)
from service_tui.pasted import api_key as pasted_key
from service_tui.signing.book import ExchangeVersion, exchange_of
from service_tui.units import Timestamp

CAP_VARIABLE: Final = "EXPOSURE_CAP_USD"
_PRIVATE_KEY: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")
SKIP_VARIABLE: Final = "SERVICE_SKIP_PREFLIGHT"
"""Source: wire reference, 4.1."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Settings with which a client opens. The key never shows in a repr.

    `exposure_cap` is in units of money; None is no cap.
    """

    base_url: str
    api_key: str = field(repr=False)
    allow_insecure: bool = False
    skip_preflight: bool = False
    exposure_cap: float | None = None
    exchange: ExchangeVersion = ExchangeVersion.V1


def opening_of(api_key: str | None, base_url: str | None, environ: Mapping[str, str]) -> Opening:
    """The settings of a client: arguments first, then the environment.

    Args:
        api_key: or SERVICE_API_KEY.
        base_url: or SERVICE_API_URL.
        environ: the environment.

    Returns:
        What to open.

    Raises:
        ValueError: key or address are missing, or the cap is no amount.
    """
    key = pasted_key(api_key or environ.get(KEY_VARIABLE, ""))
    if not key:
        raise ValueError(f"no API key: pass api_key or set {KEY_VARIABLE}")
    return Opening(
        base_url=address_of(base_url, environ),
        api_key=key,
        allow_insecure=may_be_plain(environ),
        skip_preflight=environ.get(SKIP_VARIABLE, "").lower() in TRUE_VALUES,
        exposure_cap=_cap(environ.get(CAP_VARIABLE, "")),
        exchange=exchange_of(environ.get(EXCHANGE_VARIABLE, "")),
    )


def clock_of(environ: Mapping[str, str]) -> Clock:
    """The clock of a client: the machine's, or one that stands where a trial of a skill is.

    Raises:
        ValueError: the time in the environment is none.
    """
    given = environ.get(NOW_VARIABLE, "")
    if not given:
        return SystemClock()
    try:
        return TrialClock(float(given))
    except ValueError:
        raise ValueError(f"{NOW_VARIABLE} is no time: Unix seconds") from None


class TrialClock(SystemClock):
    """A clock whose time of day was handed in; it measures and waits as the machine does."""

    def __init__(self, now: float) -> None:
        if not math.isfinite(now):
            raise ValueError("a time is a finite number")
        self._now = now

    def now(self) -> Timestamp:
        """The time that was handed in."""
        return Timestamp(self._now)


def address_of(base_url: str | None, environ: Mapping[str, str]) -> str:
    """The base address that was passed, else the environment's.

    Returns:
        The address as given.

    Raises:
        ValueError: there is neither.
    """
    address = base_url or environ.get(URL_VARIABLE)
    if not address:
        raise ValueError(f"no base address: pass base_url or set {URL_VARIABLE}")
    return address


def may_be_plain(environ: Mapping[str, str]) -> bool:
    """True when unencrypted http is accepted to any host, not to loopback only."""
    return environ.get(INSECURE_VARIABLE, "").lower() in TRUE_VALUES


def signing_key(private_key: str | None, environ: Mapping[str, str]) -> str:
    """The key to sign with, passed or in the environment.

    Returns:
        64 hex digits; empty where there is none.

    Raises:
        ValueError: it is not 64 hex digits. The text is not repeated.
    """
    key = private_key or environ.get(WALLET_VARIABLE, "")
    if key and not _PRIVATE_KEY.fullmatch(key):
        raise ValueError(f"private_key or {WALLET_VARIABLE} is not 64 hex digits")
    return key


def _cap(text: str) -> float | None:
    """The cap on exposure that the environment sets.

    Returns:
        Units of money, or None.

    Raises:
        ValueError: the text is no positive number.
    """
    if not text:
        return None
    try:
        cap = float(text)
    except ValueError:
        cap = 0.0
    if not 0 < cap < float("inf"):
        raise ValueError(f"{CAP_VARIABLE} is no positive number")
    return cap
