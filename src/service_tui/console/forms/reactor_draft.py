"""What was typed for the reactor, judged: sizes, a fraction, a wallet, or why it is none."""

import re
from dataclasses import dataclass
from typing import Final, TypeVar

from service_tui.addresses import checked_address, checksummed, is_address
from service_tui.console.forms.order_draft import DraftError, read_amount, typed
from service_tui.desk.commands.reactor import SetReactorConfig
from service_tui.desk.slices.reactor import WALLETS_MAX, ReactorConfigView
from service_tui.units import Micros

Value = TypeVar("Value")

PERCENT: Final = 100.0
FRACTION_MAX: Final = 100.0
BUFFER_MAX: Final = 20.0
"""Percent. Source: spec, "Reactor config"."""

LABEL_MAX: Final = 32
"""Letters of a wallet's name that fit beside its trades."""

_PERCENT: Final = re.compile(r"([0-9]{0,6})(?:\.([0-9]{0,4}))?")
_SIGNED: Final = ("-", "+", "\N{MINUS SIGN}")


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of the config form: its name, its unit, what it may be and what it means."""

    name: str
    label: str
    unit: str
    span: str


LINES: Final = (
    Line("fraction", "mirror", "% of the source", "0 to 100"),
    Line("min", "ignore below", "shares of source", "0 or more"),
    Line("max", "one mirror", "shares at most", "0 or more"),
    Line("cap", "a day", "$ at most", "0 or more"),
    Line("buffer", "price", "% above source", "0 to 20"),
)
"""The figures, in the order in which they are asked."""


def read_size(text: str, what: str, *, decimals: int) -> Micros:
    """Shares or money as they were typed.

    Returns:
        Micros, 0 or more.

    Raises:
        DraftError: it is no such figure; `what` names it.
    """
    given = text.strip()
    if not given:
        raise DraftError(f"{what}: type a figure, 0 is one")
    if given.startswith(_SIGNED):
        raise DraftError(f"{what}: 0 or more: leave out the sign")
    if given.strip("0") in {"", "."} and given != ".":
        return Micros(0)
    try:
        return read_amount(given, decimals=decimals)
    except DraftError as refused:
        raise DraftError(f"{what}: {refused}") from refused


def read_percent(text: str, what: str, most: float) -> float:
    """A fraction as it was typed, in percent.

    Returns:
        The fraction, 0 to `most` percent.

    Raises:
        DraftError: it is none; `what` names it.
    """
    given = text.strip().removesuffix("%").rstrip()
    found = _PERCENT.fullmatch(given)
    if found is None or not given.strip("."):
        raise DraftError(f"{what}: 0 to {most:.0f} percent, such as {most / 10:g}")
    value = float(given)
    if not 0 <= value <= most:
        raise DraftError(f"{what}: 0 to {most:.0f} percent")
    return value / PERCENT


def percent_text(fraction: float) -> str:
    """A fraction as a person would type it in percent."""
    return f"{fraction * PERCENT:.4f}".rstrip("0").rstrip(".")


def size_text(amount: Micros, *, decimals: int) -> str:
    """Shares or money as a person would type it."""
    text = typed(amount, decimals=decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_wallet(text: str, followed: frozenset[str]) -> str:
    """An address as it was typed or pasted, with its checksum.

    Args:
        text: the line.
        followed: checksummed addresses that are followed already.

    Returns:
        The address, checksummed.

    Raises:
        DraftError: it is none, its checksum is wrong, it is followed, or there are too many.
    """
    given = text.strip()
    if not given:
        raise DraftError("choose a wallet with the arrows, or type its address")
    if not is_address(given):
        digits = given.removeprefix("0x").removeprefix("0X")
        said = f", this has {len(digits)}" if given[:2] in {"0x", "0X"} else ""
        raise DraftError(f"an address is 0x and 40 hex digits{said}")
    try:
        address = checked_address(given)
    except ValueError as refused:
        raise DraftError("its checksum is wrong: a digit or a capital is mistyped") from refused
    if address in followed:
        raise DraftError("this wallet is followed already")
    if len(followed) >= WALLETS_MAX:
        raise DraftError(f"at most {WALLETS_MAX} wallets: unfollow one first")
    return address


def read_label(text: str) -> str:
    """A name for a wallet as it was typed.

    Returns:
        The name on one line; empty is none.

    Raises:
        DraftError: it is too long.
    """
    label = " ".join(text.split())
    if len(label) > LABEL_MAX:
        raise DraftError(f"a name has at most {LABEL_MAX} letters")
    return label


def checked_or_as_is(text: str) -> str:
    """An address with its checksum; what is none as it is."""
    return checksummed(text) if is_address(text) else text


def changes(before: ReactorConfigView, wanted: ReactorConfigView) -> SetReactorConfig:
    """The command that turns one config into the other: only what differs is sent."""
    return SetReactorConfig(
        min_size=_new(before.min_size, wanted.min_size),
        max_size=_new(before.max_size, wanted.max_size),
        mirror_fraction=_new(before.mirror_fraction, wanted.mirror_fraction),
        daily_cap=_new(before.daily_cap, wanted.daily_cap),
        venue=_new(before.venue, wanted.venue),
        enabled=_new(before.enabled, wanted.enabled),
        price_buffer=_new(before.price_buffer, wanted.price_buffer),
    )


def _new(before: Value, wanted: Value) -> Value | None:
    return None if wanted == before else wanted
